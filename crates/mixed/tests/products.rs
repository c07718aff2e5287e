//! Products in every way in which they are computed, against plain values.

use crate::common::{Side, arbitrary, known, low, number, session, settings};
use sealane_mixed::Share;
use sealane_parties::PartyId;
use sealane_party::{Form, Selected, Shares};
use sealane_protocol::{Numbers, View};
use std::sync::Arc;

/// Inner products of elements that views select.
fn inner_products(k: u8, operands: [(&Selected<Share>, &[u64]); 2]) -> Vec<u64> {
    let [x, y] = operands.map(|(selected, values)| {
        let (elements, inner) = (selected.share.elements(), selected.inner.indices());
        let lane = |lane: usize| {
            let planes = (0..selected.share.planes()).map(|plane| plane * elements + lane);
            let places = planes.flat_map(|at| inner.iter().map(move |inner| at + inner));
            places.map(|at| values[at]).collect::<Vec<_>>()
        };
        selected
            .lanes
            .indices()
            .into_iter()
            .map(lane)
            .collect::<Vec<_>>()
    });
    let lane = |(x, y): (&Vec<u64>, &Vec<u64>)| {
        let products = x.iter().zip(y).map(|(x, y)| x.wrapping_mul(*y));
        low(products.fold(0, u64::wrapping_add), k)
    };
    x.iter().zip(&y).map(lane).collect()
}

/// Expects a product of two operands with these elements.
fn check(side: &mut Side, name: &str, k: u8, of: [(Selected<Share>, &[u64]); 2]) {
    let [(left, x), (right, y)] = of;
    let want = inner_products(k, [(&left, x), (&right, y)]);
    let product = side.product(k, [left, right]);
    side.expect_ring(format!("{name} modulo 2^{k}"), k, &product, want);
}

/// Numbers of so many bits as elements of a ring.
fn numbers(seed: u64, count: usize, (bits, signed): (usize, bool), k: u8) -> Vec<u64> {
    let mut values = arbitrary(seed, count, bits as u8);
    // The smallest and the largest.
    values[0] = 1 << (bits - 1);
    values[1] = low(u64::MAX, bits as u8) >> usize::from(signed);
    let element = |value: u64| low(number(value, (bits, signed)) as u64, k);
    values.into_iter().map(element).collect()
}

/// One of both operands, or both, as inputs of these parties.
#[test]
fn numbers_of_all_widths_that_a_party_knows() {
    for (n, setting) in settings().into_iter().enumerate() {
        session::<false>(&setting, |side| {
            for bits in (1..=64usize).filter(|bits| n < 2 || bits % 2 == n % 2) {
                for (m, signed) in [false, true].into_iter().enumerate() {
                    let k = (bits + (bits + m) % 3 * 4).min(64) as u8;
                    let held = (bits, signed);
                    let holder = setting.player((bits + n) % 2);
                    let x = numbers(bits as u64, 5, held, k);
                    let y = arbitrary(7, 5, k);
                    let input = side.input(holder, Some(k), k.into(), &x);
                    let number = known(&input, holder, held);
                    let other = side.ring(k, &y);
                    let name = format!("{held:?} of {holder:?}");
                    let right = Selected::whole(other);
                    let of = [(number, &x[..]), (right, &y)];
                    if (bits + m) % 2 == 0 {
                        check(side, &name, k, of);
                    } else {
                        let [left, right] = of;
                        check(side, &name, k, [right, left]);
                    }
                }
            }
        });
    }
}

#[test]
fn numbers_that_both_parties_know_or_one_party_does() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for (owners, widths) in [
                ([0, 1], [9, 20]),
                ([1, 0], [9, 20]),
                ([0, 0], [9, 9]),
                ([1, 1], [9, 9]),
            ] {
                let [x, y] = widths.map(|bits| numbers(bits as u64, 7, (bits, true), 24));
                let held = [(&x, 0), (&y, 1)].map(|(values, at)| {
                    let owner = setting.player(owners[at]);
                    let input = side.input(owner, Some(24), 24, values);
                    (known(&input, owner, (widths[at], true)), &values[..])
                });
                check(side, &format!("{owners:?}"), 24, held);
            }
        });
    }
}

#[test]
fn pairs_of_shared_elements() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for k in 1..=64u8 {
                let terms = usize::from(k) % 3 + 1;
                let form = Form::ring(k.into(), terms, 9);
                let [x, y] = [1, 2].map(|salt| arbitrary(salt << 32, 9 * terms, k));
                let of = [&x, &y].map(|values| {
                    let plain = side.ring(k, values);
                    let lanes = View::whole(9);
                    let terms = View::new(0, vec![(terms, 9)]);
                    let planes = Arc::new(plain.gather(&lanes, &terms));
                    assert_eq!(planes.planes(), form.planes());
                    (Selected::whole(planes), &values[..])
                });
                check(side, "pairs", k, of);
            }
        });
    }
}

/// Operands of a matrix product: each row of the left one meets each column of the right one.
fn matrices([rows, inner, columns]: [usize; 3], operands: [Arc<Share>; 2]) -> [Selected<Share>; 2] {
    let [left, right] = operands;
    let lanes = |steps: [isize; 2]| View::new(0, vec![(rows, steps[0]), (columns, steps[1])]);
    let whole = |share, steps, step| Selected {
        lanes: lanes(steps),
        inner: View::new(0, vec![(inner, step)]),
        ..Selected::whole(share)
    };
    [
        whole(left, [inner as isize, 0], 1),
        whole(right, [0, 1], columns as isize),
    ]
}

/// Numbers of the operands, and who knows them.
fn stated(holder: Option<PartyId>) -> Numbers {
    Numbers {
        known_to: holder,
        bits: 6,
        signed: true,
    }
}

#[test]
fn products_of_matrices() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            let players = [0, 1].map(|role| Some(setting.player(role)));
            for sides in [[3, 4, 5], [1, 9, 2], [4, 1, 3], [2, 3, 1]] {
                for (left, right) in [
                    (None, None),
                    (players[0], None),
                    (players[1], None),
                    (None, players[0]),
                    (None, players[1]),
                    (players[0], players[1]),
                    (players[1], players[1]),
                ] {
                    let [rows, inner, columns] = sides;
                    let counts = [rows * inner, inner * columns];
                    let values = counts.map(|count| {
                        let mut values = numbers(count as u64, count.max(2), (6, true), 19);
                        values.truncate(count);
                        values
                    });
                    let holders = [left, right];
                    let shares = [0, 1].map(|at: usize| match holders[at] {
                        None => side.ring(19, &values[at]),
                        Some(owner) => side.input(owner, Some(19), 19, &values[at]),
                    });
                    let mut of = matrices(sides, shares);
                    for (selected, holder) in of.iter_mut().zip(holders) {
                        selected.numbers = stated(holder);
                    }
                    let [x, y] = of;
                    let name = format!("{sides:?} of {holders:?}");
                    check(side, &name, 19, [(x, &values[0]), (y, &values[1])]);
                }
            }
        });
    }
}

/// Windows of a row that overlap each other, and some that are even the same, though the plan
/// counts them as different.
#[test]
fn products_of_views_that_overlap() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            let windows = [vec![(9, 1)], vec![(3, 2), (3, 2)], vec![(9, -1)]];
            for (n, dims) in windows.into_iter().enumerate() {
                for holder in [None, Some(setting.player(0)), Some(setting.player(1))] {
                    let x = numbers(3, 20, (6, true), 19);
                    let y = arbitrary(4, 3, 19);
                    let row = match holder {
                        None => side.ring(19, &x),
                        Some(owner) => side.input(owner, Some(19), 19, &x),
                    };
                    let kernel = side.ring(19, &y);
                    let offset = if n == 2 { 10 } else { 0 };
                    let inner = View::new(0, vec![(3, 1)]);
                    let row = Selected {
                        lanes: View::new(offset, dims.clone()),
                        inner: inner.clone(),
                        numbers: stated(holder),
                        ..Selected::whole(row)
                    };
                    let kernel = Selected {
                        lanes: View::new(0, vec![(9, 0)]),
                        inner,
                        ..Selected::whole(kernel)
                    };
                    let name = format!("windows {n} of {holder:?}");
                    check(side, &name, 19, [(row, &x), (kernel, &y)]);
                }
            }
        });
    }
}
