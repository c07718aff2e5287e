//! Exact views of one corrupted party, over small rings, with every possible randomness.
//!
//! The hybrid model: the streams of keys are independent random values (`ideal`). A gadget runs
//! once for each choice of all of them, so that what is counted are probabilities. For each party
//! and each choice of its own components of the input, the joint distribution of all that it sees
//! (the values of its keys, the messages it receives) and its own components of the output must not
//! depend on the input, nor on the output where that is random. With its own components and the
//! output given, the others' components follow, so that this is the joint distribution with all
//! outputs. A variant of each gadget whose masks or orders are known has to be caught.

use crate::form::Form;
use crate::ideal::{Seen, Three, every_choice, words};
use crate::order::Rows;
use crate::roles::Computing;
use crate::shuffle::ShuffleProgress;
use crate::sort::SortProgress;
use sealane_net::Mesh;
use sealane_party::{KeyBit, Planes};
use std::collections::BTreeMap;

/// Rows of the gadgets.
const ROWS: usize = 2;

/// A sharing: three components, each a word for each row.
type Sharing = [[u64; ROWS]; 3];

/// Counts of what a party saw and holds at the end.
type Counts = BTreeMap<(Seen, Vec<u64>), u64>;

/// For each party and its components of the input: the counts for each input and output.
type Views = BTreeMap<(usize, [[u64; ROWS]; 2]), BTreeMap<([u64; ROWS], Vec<u64>), Counts>>;

/// All sharings of bits.
fn sharings() -> impl Iterator<Item = Sharing> {
    let bit = |number: u64, at: usize| number >> at & 1;
    (0..1u64 << (3 * ROWS)).map(move |number| {
        [0, 1, 2].map(|component| [0, 1].map(|row| bit(number, ROWS * component + row)))
    })
}

fn value(sharing: &Sharing) -> [u64; ROWS] {
    [0, 1].map(|row| {
        sharing
            .iter()
            .fold(0, |sum, component| sum ^ component[row])
    })
}

/// Results of a gadget at the parties: components, and opened values.
type Ends = [([Planes<u64>; 2], Vec<u64>); 3];

/// Runs a gadget on some sharings, with every choice of randomness.
fn views(
    sharings: impl Iterator<Item = Sharing>,
    broken: Option<(usize, &'static str)>,
    gadget: impl Fn(&mut Three, &Sharing) -> Ends,
) -> Views {
    let mut views = Views::new();
    for sharing in sharings {
        let input = value(&sharing);
        every_choice(
            broken,
            |three| gadget(three, &sharing),
            |ends, seen| {
                // A party's first component is the sum's part that no other first one is.
                let mut output = vec![0; ends[0].0[0].data().len()];
                for (parts, _) in &ends {
                    let sum = output.iter_mut().zip(parts[0].data());
                    sum.for_each(|(sum, word)| *sum ^= word);
                }
                let ends = ends.iter().zip(seen).enumerate();
                for (role, ((parts, opened), mut seen)) in ends {
                    seen.extend(opened);
                    let own = [sharing[role], sharing[(role + 1) % 3]];
                    let of_party = views.entry((role, own)).or_default();
                    let counts = of_party.entry((input, output.clone())).or_default();
                    *counts.entry((seen, words(parts))).or_default() += 1;
                }
            },
        );
    }
    views
}

/// Returns whether no party's view depends on the input, or on the output where it is random. Of
/// each input, outputs may have different chances.
fn independent(views: &Views) -> bool {
    views.values().all(|of_party| {
        let mut distributions = of_party.values().map(|counts| {
            let all = counts.values().sum::<u64>();
            // Chances as fractions of one whole number.
            let chance = |count: &u64| u128::from(*count) * (1 << 60) / u128::from(all);
            counts
                .iter()
                .map(|(seen, count)| (seen, chance(count)))
                .collect::<Vec<_>>()
        });
        let first = distributions.next();
        distributions.all(|other| Some(&other) == first.as_ref())
    })
}

/// A shuffle of rows of one bit: hidden, opened, or both.
fn shuffle(three: &mut Three, sharing: &Sharing, hidden: bool, places: Option<Sharing>) -> Ends {
    let rows = Rows::bits(ROWS, 1);
    let ring = Rows::ring(1, 1, ROWS);
    let done = three.run(
        |party, mesh| {
            let of = |sharing: &Sharing, i: usize| sharing[(party.seat.role + i) % 3];
            let parts = [0, 1].map(|i| of(sharing, i));
            let given = hidden.then(|| (rows, parts.each_ref().map(|part| &part[..])));
            let places = places.map(|places| match party.seat.role {
                0 => [0, 1].map(|row| places[0][row] ^ places[1][row]),
                1 => places[2],
                _ => [0; ROWS],
            });
            let opened = places.as_ref().map(|part| (ring, &part[..]));
            party.shuffle(ROWS, given.as_slice(), opened, mesh)
        },
        |party, state, mesh| {
            Ok(match party.advance_shuffle(state, mesh)? {
                ShuffleProgress::More(state) => Err(state),
                ShuffleProgress::Done(hidden, opened) => Ok((hidden, opened)),
            })
        },
    );
    done.map(|(hidden, opened)| {
        let none = || [Form::ring(1, 1, 0).zeros(), Form::ring(1, 1, 0).zeros()];
        let parts = hidden.into_iter().next().unwrap_or_else(none);
        (
            parts,
            opened.map_or(vec![], |opened| opened.data().to_vec()),
        )
    })
}

fn hidden(three: &mut Three, sharing: &Sharing) -> Ends {
    shuffle(three, sharing, true, None)
}

/// The input is the places of the two rows.
fn opened(three: &mut Three, sharing: &Sharing) -> Ends {
    shuffle(three, sharing, false, Some(*sharing))
}

/// Sharings of the two permutations.
fn permutations() -> impl Iterator<Item = Sharing> {
    sharings().filter(|sharing| value(sharing) == [0, 1] || value(sharing) == [1, 0])
}

#[test]
fn a_shuffle_shows_nothing() {
    let views = views(sharings(), None, hidden);
    // Each order is as likely as the other.
    for of_party in views.values() {
        for ((input, output), counts) in of_party {
            let [a, b] = *input;
            assert!(
                output == &[a, b] || output == &[b, a],
                "{input:?} {output:?}"
            );
            let all = counts.values().sum::<u64>();
            let outputs = if a == b { 1 } else { 2 };
            assert_eq!(all * outputs, 8 << (4 * ROWS));
        }
    }
    assert!(independent(&views));
}

#[test]
fn opened_places_show_nothing() {
    let views = views(permutations(), None, opened);
    assert!(independent(&views));
    let opened = views.values().flat_map(|of_party| of_party.values());
    for counts in opened {
        let all = counts.values().sum::<u64>();
        let same = counts
            .iter()
            .filter(|((seen, _), _)| seen.ends_with(&[0, 1]));
        assert_eq!(2 * same.map(|(_, count)| count).sum::<u64>(), all);
    }
}

/// Some sharings, which are enough to find a fault.
fn few() -> impl Iterator<Item = Sharing> {
    sharings().filter(|[_, second, third]| second[1] == 0 && third[1] == 0)
}

/// Masks or an order that everybody knows, of each of the three keys.
#[test]
fn a_shuffle_without_masks_or_orders_is_caught() {
    for key in [0, 1, 2] {
        for label in ["trio: masks of shuffles", "trio: orders of shuffles"] {
            let hidden = views(few(), Some((key, label)), hidden);
            assert!(!independent(&hidden), "{label} of key {key}");
            let opened = views(permutations(), Some((key, label)), opened);
            assert!(!independent(&opened), "{label} of key {key}");
        }
    }
}

/// The places of two rows by one bit, in two parts, before they are shuffled.
fn places(three: &mut Three, sharing: &Sharing) -> Ends {
    let key = [KeyBit {
        plane: 0,
        inverted: false,
    }];
    let begin = |party: &mut Computing, mesh: &mut Mesh| {
        let form = Form::bits(1, ROWS);
        let lanes = [0, 1].map(|i| {
            let [first, second] = sharing[(party.seat.role + i) % 3];
            form.sum([&[first | second << 1][..]])
        });
        party.sort(&form.share(lanes), &key, mesh)
    };
    let form = Form::ring(1, 1, ROWS);
    let parts = three.run(
        |party, mesh| match begin(party, mesh)? {
            SortProgress::More(sorting) => Ok(sorting),
            SortProgress::Done(_) => unreachable!("two rows have an order"),
        },
        |party, sorting, mesh| match sorting.places() {
            Ok(part) => Ok(Ok(party.end_places(form, part, mesh)?)),
            Err(sorting) => match party.advance_sort(sorting, mesh)? {
                SortProgress::More(sorting) => Ok(Err(sorting)),
                SortProgress::Done(_) => unreachable!("places come first"),
            },
        },
    );
    let mut role = 0..3;
    parts.map(|part| {
        // The part of role 2 has gone to role 1.
        let part = if role.next() == Some(2) {
            form.zeros()
        } else {
            part
        };
        ([part, form.zeros()], vec![])
    })
}

#[test]
fn the_turn_of_a_sort_shows_nothing() {
    let views = views(sharings(), None, places);
    for of_party in views.values() {
        for (input, output) in of_party.keys() {
            // A zero comes before a one, and of two equal ones the first.
            let second_is_first = u64::from(*input == [1, 0]);
            assert_eq!(output, &[second_is_first, 1 - second_is_first]);
        }
    }
    assert!(independent(&views));
}

#[test]
fn a_turn_without_masks_is_caught() {
    // The mask of the bit that role 0 inputs, and that of the part of role 2. (Modulo 2 the product
    // of a conversion vanishes, and with it the need for shares of zero.)
    for broken in [
        (1, "trio: components of inputs"),
        (0, "trio: masks of shuffles"),
    ] {
        assert!(
            !independent(&views(few(), Some(broken), places)),
            "{broken:?}"
        );
    }
}
