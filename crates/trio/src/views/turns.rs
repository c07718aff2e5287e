//! Tests of shuffles in three turns, and of places that are opened after them.

use super::ViewTest;
use super::leak::Choices;
use super::model::{Model, Shared};
use crate::guarded::turns::{TurnProgress, Turning};
use crate::ideal::InjectedFault::{Again, Misrouted, Zero};
use crate::roles::Computing;
use sealane_party::{Form, Planes};
use std::sync::Arc;

/// Rows of the tests below.
const ROWS: usize = 2;

/// Shuffles rows of a bit, of which each role has both components.
fn turned(
    model: &mut Model,
    rows: impl Fn(&Computing) -> [Planes<u64>; 2],
) -> [[Arc<Planes<u64>>; 2]; 3] {
    model.inside(
        |party, mesh| {
            let parts = rows(party);
            Turning::begin(party, (ROWS, 1), parts, mesh)
        },
        |party, state, mesh| {
            Ok(match state.advance(party, mesh)? {
                TurnProgress::More(state) => Err(state),
                TurnProgress::Done(parts, _) => Ok(parts),
            })
        },
    )
}

/// The bits of rows, from their words.
fn gathered(model: &Model, done: &[[Arc<Planes<u64>>; 2]; 3]) -> Shared {
    let form = Form::bits(1, ROWS);
    let parts = done.each_ref().map(|parts| {
        let lanes = parts.each_ref().map(|part| {
            let bits = part.data().iter().enumerate();
            bits.fold(0, |lanes, (row, word)| lanes | (word & 1) << row)
        });
        Arc::new(form.share(lanes.map(|word| form.sum([&[word][..]]))))
    });
    model.gathered(parts.to_vec(), form)
}

fn shuffled(model: &mut Model) -> Vec<Shared> {
    let rows = model.shared(Form::bits(1, ROWS));
    let done = turned(model, |party| {
        let parts = rows.parts[party.role_index.role].components().unwrap();
        parts.map(|part| {
            let words = (0..ROWS).map(|row| part[0] >> row & 1).collect::<Vec<_>>();
            Form::bits(ROWS, 1).sum([&words[..]])
        })
    });
    let out = gathered(model, &done);
    let sorted = |of: &Shared| {
        let mut value = of.value.clone();
        value.sort_unstable();
        value
    };
    assert_eq!(sorted(&rows), sorted(&out));
    vec![out]
}

/// Each mask that is missing or drawn again, each order that all know, and each message that a
/// third role reads shows something.
#[test]
fn a_shuffle_in_turns_shows_nothing() {
    ViewTest::new(shuffled, Choices::Unknown(4)).check();
}

/// Rows that are places, which all learn. What else is in a row is hidden as above.
fn opened(model: &mut Model) -> Vec<Shared> {
    // The first row has this place, the second one the other.
    let place = model.shared(Form::bits(1, 1));
    let done = turned(model, |party| {
        let role_index = party.role_index;
        let parts = place.parts[role_index.role].components().unwrap();
        [0, 1].map(|at| {
            let one = u64::from(role_index.place_of(0) == Some(at));
            let words = [parts[at][0] & 1, (parts[at][0] ^ one) & 1];
            Form::bits(ROWS, 1).sum([&words[..]])
        })
    });
    let places = gathered(model, &done).value;
    assert!(matches!(places[..], [0, 1] | [1, 0]));
    for at in 0..3 {
        model.learns(at, &places);
    }
    vec![]
}

/// No order may be missing. Masks hide what else is in a row, for which the test above needs each
/// of them: of places alone, messages tell no more than the places that all learn.
#[test]
fn places_that_are_opened_after_a_shuffle_in_turns_show_nothing() {
    const MASKS: &str = "trio: masks of shuffles";
    let harmless = &[
        Zero((0, MASKS)),
        Zero((1, MASKS)),
        Again((0, MASKS)),
        Again((1, MASKS)),
        Misrouted([0, 1, 2]),
        Misrouted([1, 0, 2]),
        Misrouted([2, 1, 0]),
    ];
    let test = ViewTest::new(opened, Choices::Unknown(4));
    ViewTest { harmless, ..test }.check();
}
