//! Tests of rows: shuffles, opened places, passes of a sort.

use super::leak::Choices;
use super::model::{Model, Shared};
use super::{RING, ViewTest, domain, part};
use crate::order::Rows;
use crate::roles::Computing;
use crate::shuffle::ShuffleProgress;
use crate::sort::SortProgress;
use sealane_net::Mesh;
use sealane_party::{Form, KeyBit, Step};
use std::sync::Arc;

/// Rows of the tests below.
const ROWS: usize = 2;

fn shuffled(model: &mut Model) -> Vec<Shared> {
    let rows = model.shared(Form::bits(1, ROWS));
    let out = model.made(Form::bits(1, ROWS), |at| Step::Shuffle {
        domain: domain(None),
        share: part(&rows, at),
    });
    let sorted = |of: &Shared| {
        let mut value = of.value.clone();
        value.sort_unstable();
        value
    };
    assert_eq!(sorted(&rows), sorted(&out));
    vec![out]
}

#[test]
fn a_shuffle_shows_nothing() {
    ViewTest::new(shuffled, Choices::Unknown(4)).check();
}

/// The places of rows in two parts, which are opened after a shuffle, together with the rows.
fn opened_places(model: &mut Model) -> Vec<Shared> {
    let layout = Rows::bits(ROWS, 1);
    let ring = Rows::ring(1, 1, ROWS);
    let rows = model.shared(Form::bits(1, ROWS));
    // Role 0 has the first part of both places, role 1 the second: a permutation.
    let [first, swapped] = [model.hidden(2, ROWS), model.hidden(2, 1)];
    let swapped = swapped[0];
    model.knows(0, &first);
    let second = [0, 1].map(|row| first[row] ^ swapped ^ row as u64);
    model.knows(1, &second);
    let words = |party: &Computing| {
        let role = party.role_index.role;
        [0, 1].map(|place| {
            let planes = rows.parts[role].components().unwrap()[place][0];
            (0..ROWS).map(|row| planes >> row & 1).collect::<Vec<_>>()
        })
    };
    let done = model.inside(
        |party, mesh| {
            let parts = words(party);
            let given = (layout, parts.each_ref().map(|part| &part[..]));
            let places = match party.role_index.role {
                0 => &first[..],
                1 => &second,
                _ => &[0; ROWS],
            };
            party.shuffle(ROWS, &[given], Some((ring, places)), mesh)
        },
        |party, state, mesh| {
            Ok(match party.advance_shuffle(state, mesh)? {
                ShuffleProgress::More(state) => Err(state),
                ShuffleProgress::Done(hidden, opened) => Ok((hidden, opened)),
            })
        },
    );
    let form = Form::bits(1, ROWS);
    for (at, (_, opened)) in done.iter().enumerate() {
        let places = opened.as_ref().unwrap().data();
        assert!(matches!(places, [0, 1] | [1, 0]));
        model.learns(at, places);
    }
    let parts = done.map(|(hidden, _)| {
        let lanes = hidden[0]
            .each_ref()
            .map(|part| part.data()[0] | part.data()[1] << 1);
        Arc::new(form.share(lanes.map(|word| form.sum([&[word][..]]))))
    });
    vec![model.gathered(parts.to_vec(), form)]
}

#[test]
fn opened_places_and_rows_show_nothing() {
    ViewTest::new(opened_places, Choices::Unknown(4)).check();
}

/// A whole pass of a sort by one bit, as the step runs it.
fn pass(model: &mut Model) -> Vec<Shared> {
    let rows = model.shared(Form::bits(1, ROWS));
    let out = model.made(Form::bits(1, ROWS), |at| Step::Sort {
        domain: domain(None),
        share: part(&rows, at),
        key: vec![KeyBit {
            plane: 0,
            inverted: true,
        }],
    });
    assert!(out.value[0] >= out.value[1]);
    vec![out]
}

#[test]
fn a_pass_by_one_bit_shows_nothing() {
    let test = ViewTest::new(pass, Choices::Unknown(1));
    // Modulo 2 the product of a conversion vanishes, and with it the need for shares of zero.
    let untried = Some(RING);
    ViewTest { untried, ..test }.check();
}

/// The places of rows in a pass by two bits, in two parts, before they are shuffled.
fn places(model: &mut Model) -> Vec<Shared> {
    let rows = model.shared(Form::bits(2, ROWS));
    let key = [0, 1].map(|plane| KeyBit {
        plane,
        inverted: plane == 1,
    });
    let form = Form::ring(1, 1, ROWS);
    let begin = |party: &mut Computing, mesh: &mut Mesh| match party.sort(
        &rows.parts[party.role_index.role],
        &key,
        mesh,
    )? {
        SortProgress::More(sorting) => Ok(sorting),
        SortProgress::Done(_) => unreachable!("two rows have an order"),
    };
    let parts = model.inside(begin, |party, sorting, mesh| match sorting.places() {
        Ok(part) => Ok(Ok(party.end_places(form, part, mesh)?)),
        Err(sorting) => match party.advance_sort(sorting, mesh)? {
            SortProgress::More(sorting) => Ok(Err(sorting)),
            SortProgress::Done(_) => unreachable!("places come first"),
        },
    });
    // A zero of the inverted bit, which is the higher one, comes last.
    let number = |row: usize| rows.value[row] + 2 * (1 - rows.value[ROWS + row]);
    let later = u64::from(number(0) > number(1));
    let sum = form.sum([parts[0].data(), parts[1].data()]);
    assert_eq!(sum.data(), [later, 1 - later]);
    for (at, part) in parts.iter().enumerate().take(2) {
        model.holds(at, part.data());
    }
    vec![]
}

#[test]
fn places_by_two_bits_show_nothing() {
    ViewTest::new(places, Choices::Unknown(1)).check();
}
