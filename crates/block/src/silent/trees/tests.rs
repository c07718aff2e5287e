//! Trees against their definition, node by node.

use super::*;
use crate::testing::{drawn, values};

const DEPTH: usize = 6;

fn rows(count: usize, number: u64) -> Vec<Block> {
    drawn(count * TREES, number)
}

fn row(number: u64) -> Row {
    let blocks = rows(1, number);
    std::array::from_fn(|tree| blocks[tree])
}

/// The hash, by the other implementation of AES.
fn hash(key: u128, x: u128) -> u128 {
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
    let (high, low) = (x >> 64, x & u128::from(u64::MAX));
    let turned = (high ^ low) << 64 | high;
    let mut block = turned.to_le_bytes().into();
    ::aes::Aes128::new(&key.to_le_bytes().into()).encrypt_block(&mut block);
    u128::from_le_bytes(block.into()) ^ turned
}

#[test]
fn children_and_sums_are_those_of_the_definition_on_every_tier() {
    for cpu in Cpu::available() {
        let trees = TreeHash::new(cpu, Block::new(17));
        for depth in 0..DEPTH {
            let parents = rows(1 << depth, depth as u64);
            let mut level = parents.clone();
            level.resize(2 * parents.len(), Block::ZERO);
            let sums = trees.expand(&mut level);
            let mut expected_sums = [0; TREES];
            for (i, parent) in parents.iter().enumerate() {
                let (row, tree) = (i / TREES, i % TREES);
                let left = hash(17, parent.value());
                expected_sums[tree] ^= left;
                let child = |side: usize| level[(2 * row + side) * TREES + tree].value();
                let tier = cpu.tier();
                assert_eq!(child(0), left, "{tier} {depth} {i}");
                assert_eq!(child(1), left ^ parent.value(), "{tier} {depth} {i}");
            }
            assert_eq!(values(&sums), expected_sums);
        }
    }
}

/// A receiver that goes down paths of its own, against one that has indices.
#[test]
fn corrections_reach_the_nodes_on_the_paths_alone() {
    for cpu in Cpu::available() {
        let trees = TreeHash::new(cpu, Block::new(17));
        let mut paths = Paths::new(DEPTH);
        for round in 0..2 {
            paths.restart();
            let mut at = [0usize; TREES];
            for level in 1..DEPTH {
                let batches = row(100 * round + level as u64).map(|block| Block::mask(block.lsb()));
                paths.descend(&batches);
                for (at, batch) in at.iter_mut().zip(&batches) {
                    *at = 2 * *at + usize::from(batch.lsb());
                }
                let parents = rows(2 << level, 7);
                let correction = row(8);

                let mut expected = parents.clone();
                for tree in 0..TREES {
                    for side in 0..2 {
                        expected[(2 * at[tree] + side) * TREES + tree] ^= correction[tree];
                    }
                }
                let mut finished = parents.clone();
                let last: Row = std::array::from_fn(|i| Block::mask((i % 2) as u8));
                trees.finish(&mut finished, &mut paths, &correction, &last);
                for (i, (leaf, corrected)) in finished.iter().zip(&expected).enumerate() {
                    let (row, tree) = (i / TREES, i % TREES);
                    let bit = u128::from(row == 2 * at[tree] + tree % 2);
                    assert_eq!(leaf.value(), corrected.value() & !1 | bit);
                }

                let mut level = parents.clone();
                expected.resize(2 * parents.len(), Block::ZERO);
                level.resize(2 * parents.len(), Block::ZERO);
                let sums = trees.expand_corrected(&mut level, &mut paths, &correction);
                let expected_sums = trees.expand(&mut expected);
                assert!(values(&level) == values(&expected), "{}", cpu.tier());
                assert_eq!(values(&sums), values(&expected_sums));
            }
        }
    }
}

#[test]
#[should_panic(expected = "whole rows")]
fn parts_of_rows_are_refused() {
    let trees = TreeHash::new(Cpu::available()[0], Block::ZERO);
    trees.expand(&mut rows(3, 1)[..20]);
}
