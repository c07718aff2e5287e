//! Tables, and errors in their bins.

use super::*;
use crate::Security;
use crate::ferret::{Params, Set};
use sealane_block::{Coins, Cpu};
use std::collections::HashSet;

fn places(lpn: &Lpn, seed: u64) -> (Places, Prg) {
    let mut coins = Coins::danger_fixed_seed(seed);
    let places = Places::new(lpn, &mut coins.public("tables"));
    (places, coins.secret("errors").prg(Cpu::best()))
}

#[test]
fn remainders_are_those_of_division() {
    for rows in [2, 3, 1024, 2048, 69_120, 655_360, (1 << 31) - 1] {
        let modulus = Modulus::new(rows);
        let most = 2 * rows * rows - 1;
        for value in [0, 1, rows - 1, rows, rows + 1, most / 3, most - 1, most] {
            assert_eq!(modulus.reduce(value), value % rows, "{value} {rows}");
        }
        assert_eq!(below(u64::MAX, rows), rows - 1);
    }
}

/// Leaves that are their own slots come to the rows of these slots; leaf 0 comes to none.
#[test]
fn every_row_gets_its_leaf_of_each_table() {
    let params = Params::danger_tiny_uniform(Security::SemiHonest);
    for lpn in [params.first(), params.main()] {
        let (places, _) = places(&lpn, 5);
        let mut seen = vec![Vec::new(); lpn.rows()];
        for batch in 0..lpn.batches() {
            let slot = |i: usize| {
                let tree = batch * TREES + i % TREES;
                Block::new(((tree << lpn.depth()) + i / TREES) as u128)
            };
            let leaves: Vec<Block> = (0..lpn.batch_leaves()).map(slot).collect();
            let mut rows = vec![Block::ZERO; lpn.rows()];
            places.scatter(batch, &leaves, &mut rows);
            for (row, block) in rows.iter().enumerate().filter(|(_, b)| b.value() != 0) {
                seen[row].push(block.value() as u32);
            }
        }
        for (row, seen) in (0u32..).zip(&seen) {
            let expected: Vec<u32> = (0..TABLES)
                .map(|table| (table, places.place(table, row + 1)))
                .filter(|(_, (_, leaf))| *leaf > 0)
                .map(|(table, (bin, leaf))| {
                    let tree = (table * lpn.trees_of_table()) as u32 + bin;
                    (tree << lpn.depth()) + leaf
                })
                .collect();
            assert_eq!(*seen, expected, "row {row}");
        }
    }
}

/// A row without a leaf would be a public equation without an error.
#[test]
fn no_two_tables_drop_the_leaf_of_a_row() {
    let params = Params::danger_tiny_uniform(Security::SemiHonest);
    for lpn in [params.first(), params.main()] {
        for seed in 0..200 {
            let (places, _) = places(&lpn, seed);
            for row in 1..=lpn.rows() as u32 {
                let dropped = |table: &usize| places.place(*table, row).1 == 0;
                assert!((0..TABLES).filter(dropped).count() < 2, "row {row}, {seed}");
            }
        }
    }
}

/// A share of one half would be a loss of one bit of security.
#[test]
fn nearly_all_draws_fit_into_bins() {
    let [first, main] = {
        let params = Params::of(Set::Uniform, Security::SemiHonest);
        [params.first(), params.main()]
    };
    for lpn in [first, main] {
        let mut refused = 0;
        for seed in 0..16 {
            let (places, mut random) = places(&lpn, seed);
            let rows = places.distinct(&mut || random.block().value() as u64);
            refused += usize::from(places.settle(&rows).all == 0);
        }
        assert!(refused <= 1, "{refused} of 16");
    }
}

#[test]
fn bins_hold_exactly_the_errors_and_every_place_comes_up() {
    let lpn = Params::danger_tiny_uniform(Security::SemiHonest).main();
    let mut of_rows = vec![0; lpn.rows()];
    let runs = 2000;
    for seed in 0..runs {
        let (places, mut random) = places(&lpn, seed);
        let leaves = places.choose(&mut random, &[Block::ZERO]);
        let mut errors = HashSet::new();
        for (tree, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| **leaf > 0) {
            let (table, bin) = (tree / places.bins, tree % places.bins);
            let place = (bin as u32, *leaf);
            let row = (0..lpn.rows() as u32).find(|x| places.place(table, x + 1) == place);
            errors.insert(row.expect("every slot has a row"));
        }
        assert_eq!(errors.len(), lpn.errors());
        for row in errors {
            of_rows[row as usize] += 1;
        }
    }
    // Chi-square over 2048 rows: 2047 degrees of freedom, quantile at 1 - 10^-6 about 2366.
    let expected = (runs as usize * lpn.errors()) as f64 / lpn.rows() as f64;
    let chi: f64 = of_rows
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    assert!(chi < 2366.0, "{chi}");
}
