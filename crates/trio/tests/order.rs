//! Shuffles and sorts against plain values, between parties in any order; `common` compares their
//! traffic with their costs.

use crate::common::{Held, domain, honest, parties, setting, value};
use proptest::prelude::*;
use sealane_parties::PartyId;
use sealane_party::{Fault, KeyBit, Shares, Step, Steps};
use sealane_protocol::Setting;
use sealane_trio::Share;
use std::sync::Arc;

/// Parties with one that has no role, at any place.
const ROLES: [[u8; 3]; 3] = [[0, 1, 2], [3, 1, 0], [2, 3, 1]];

/// Rows around the ends of words, and a row alone.
const ROWS: [usize; 7] = [1, 2, 3, 63, 64, 65, 130];

/// Elements of `planes` planes, from the parts of all parties.
fn elements(setting: &Setting, held: &[Held], k: Option<u8>) -> Vec<Vec<u64>> {
    let (planes, rows) = held[0].shape;
    let all = value(setting, held, k);
    let row = |row| (0..planes).map(|plane| all[plane * rows + row]).collect();
    (0..rows).map(row).collect()
}

fn multiset(mut rows: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    rows.sort_unstable();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_shuffle_keeps_rows_together(
        order in prop::sample::select(ROLES.to_vec()),
        rows in prop::sample::select(ROWS.to_vec()),
        planes in 1..=70usize,
        ring in prop::option::of((1..=64u8, 1..=3usize)),
        seed in any::<u64>(),
    ) {
        let setting = setting(4, order);
        let (k, planes) = ring.map_or((None, planes), |(k, planes)| (Some(k), planes));
        let values = |plane: usize| {
            let word = move |row: usize| {
                let mixed = (seed ^ (plane * 131 + row) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed >> 17) & (u64::MAX >> (64 - k.unwrap_or(1)))
            };
            (0..rows).map(word).collect::<Vec<_>>()
        };
        let ends = honest(&setting, &[PartyId(0)], |side| {
            let columns: Vec<_> = (0..planes).map(|plane| match k {
                None => side.input(PartyId(0), None, 1, &values(plane)),
                Some(k) => side.integers(PartyId(0), k, &values(plane)),
            }).collect();
            let columns = columns.iter().map(Arc::as_ref).collect::<Vec<_>>();
            let share = Arc::new(Share::concatenate(&columns));
            let shuffled = side.shuffle(k, &share);
            [&share, &shuffled].map(|share| side.held(share))
        });
        let [before, after] = [0, 1].map(|at: usize| {
            let held = ends.iter().map(|ends| ends[at].clone()).collect::<Vec<_>>();
            elements(&setting, &held, k)
        });
        // Rows that all differ would stay in place once in 100! cases.
        if rows > 100 && planes > 30 {
            prop_assert_ne!(&before, &after);
        }
        prop_assert_eq!(multiset(before), multiset(after));
    }

    #[test]
    fn a_sort_is_stable(
        order in prop::sample::select(ROLES.to_vec()),
        rows in prop::sample::select(ROWS.to_vec()),
        above in 0..70usize,
        key in prop::collection::vec((0..9usize, any::<bool>()), 0..=5),
        numbers in prop::collection::vec(0..1u64 << 9, 130),
    ) {
        let setting = setting(4, order);
        let key: Vec<_> = key.into_iter().map(|(plane, inverted)| KeyBit { plane: above + plane, inverted }).collect();
        let numbers = &numbers[..rows];
        let ends = honest(&setting, &[PartyId(0)], |side| {
            // Zeros below move the key to another word; the number of the row shows its way.
            let low = Share::zeros(above, rows);
            let number = side.input(PartyId(0), None, 9, numbers);
            let places = (0..rows as u64).collect::<Vec<_>>();
            let place = side.input(PartyId(0), None, 8, &places);
            let share = Arc::new(Share::concatenate(&[&low, &number, &place]));
            let sorted = side.sort(&share, &key);
            side.held(&sorted)
        });
        let sorted = elements(&setting, &ends, None);
        let bits = |row: &[u64]| row.iter().rev().fold(0, |word, bit| word << 1 | bit);
        let sorted = sorted.iter().map(|row| (bits(&row[above..above + 9]), bits(&row[above + 9..])));
        let mut wanted = numbers.iter().copied().zip(0..).collect::<Vec<_>>();
        wanted.sort_by_key(|(number, _)| {
            let bit = |of: &KeyBit| (number >> (of.plane - above) & 1) ^ u64::from(of.inverted);
            key.iter().rev().map(bit).collect::<Vec<_>>()
        });
        prop_assert_eq!(sorted.collect::<Vec<_>>(), wanted);
    }
}

/// The orders of three rows in many sessions: each of the six comes as often as it should, within
/// six standard deviations.
#[test]
fn all_orders_are_equally_likely() {
    let setting = setting(3, [0, 1, 2]);
    const TIMES: usize = 1800;
    let ends = honest(&setting, &[], |side| {
        let rows = side.input(PartyId(0), None, 2, &[0, 1, 2]);
        let all: Vec<_> = (0..TIMES).map(|_| side.shuffle(None, &rows)).collect();
        let all = all.iter().map(Arc::as_ref).collect::<Vec<_>>();
        let all = Arc::new(Share::concat(&all));
        side.reveal(&[(&all, None, parties(1))]).swap_remove(0)
    });
    let rows = ends.into_iter();
    let rows = rows.flatten().next().expect("party 0 learns them");
    let mut counts = [0usize; 64];
    for order in rows.chunks(3) {
        counts[(order[0] << 4 | order[1] << 2 | order[2]) as usize] += 1;
    }
    let seen: Vec<_> = counts.into_iter().filter(|count| *count > 0).collect();
    assert_eq!(seen.len(), 6);
    let expected = (TIMES / 6) as f64;
    let deviation = (expected * 5.0 / 6.0).sqrt();
    for count in seen {
        assert!((count as f64 - expected).abs() < 6.0 * deviation, "{count}");
    }
}

#[test]
fn keys_that_are_not_there_are_internal_errors() {
    honest(&setting(3, [2, 0, 1]), &[], |side| {
        let share = Arc::new(side.trio.constant(domain(None), 2, &[1, 2, 3]));
        let (plane, inverted) = (2, false);
        let key = vec![KeyBit { plane, inverted }];
        let domain = domain(None);
        let step = Step::Sort { domain, share, key };
        let end = side.trio.begin(step, None, &mut side.mesh);
        assert!(matches!(end, Err(Fault::Internal(_))));
    });
}
