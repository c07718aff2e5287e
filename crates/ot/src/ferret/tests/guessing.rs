//! A sender that guesses the path of a tree: the leak that the check leaves, and no more.

use sealane_block::Block;
use sealane_block::silent::trees::TREES;

use super::support::*;
use crate::ferret::places::Places;
use crate::ferret::run::Batch;
use crate::ferret::{Noise, Params};
use crate::{OtError, Security};

/// The pair of leaves that the sender guesses to be at the end of the first tree's path.
const GUESS: usize = 5;
/// The amount by which its message of the last level is wrong.
const ERROR: Block = Block::new(0x1234_5678 << 40);

/// A sender whose message makes both leaves at the end of the path wrong, wherever that is, and
/// whose proof is right if they are the pair that it guesses.
struct Guessing {
    params: Params,
    /// Rows that are wrong if the guess is right.
    wrong: Vec<Block>,
    batches: usize,
}

impl Guessing {
    fn new(params: Params) -> Guessing {
        let mut wrong = vec![Block::ZERO; params.first().rows()];
        for leaf in [2 * GUESS, 2 * GUESS + 1] {
            wrong[leaf * TREES] = ERROR;
        }
        Guessing {
            params,
            wrong,
            batches: 0,
        }
    }
}

impl Hooks for Guessing {
    fn places(&mut self, places: &Places) {
        let leaves = self.wrong[..self.params.first().batch_leaves()].to_vec();
        self.wrong.fill(Block::ZERO);
        places.scatter(0, &leaves, &mut self.wrong);
    }

    fn levels(&mut self, levels: &mut [Block], _: Batch<'_>) {
        if self.batches == 0 {
            let last = levels.len() - TREES;
            levels[last] ^= ERROR;
        }
        self.batches += 1;
    }

    fn rows(&mut self, rows: &mut [Block], _: &[Block]) {
        for (row, wrong) in rows.iter_mut().zip(&self.wrong) {
            *row ^= *wrong;
        }
    }
}

/// An honest receiver: tells the pair of leaves at the end of the first tree's path.
#[derive(Default)]
struct Path<'a>(Option<&'a mut usize>);

impl Hooks for Path<'_> {
    fn levels(&mut self, levels: &mut [Block], _: Batch<'_>) {
        if let Some(pair) = self.0.take() {
            // It turns away from the choices of the correlations.
            let of_tree = levels[..levels.len() - TREES].iter().step_by(TREES);
            *pair = of_tree.fold(0, |path, level| 2 * path + usize::from(level.lsb() ^ 1));
        }
    }
}

#[test]
fn a_guess_passes_exactly_if_it_is_right() {
    let runs = 160;
    for params in tiny(Security::Malicious) {
        let mut passed = 0;
        for number in 0..runs {
            let mut pair = usize::MAX;
            let hooks = (Guessing::new(params), Path(Some(&mut pair)));
            let (_, result) = hooked(params, number, 0, hooks);
            let result = result.map(drop);
            let is_right = pair == GUESS;
            match result {
                Ok(()) => assert!(is_right, "run {number}"),
                Err(OtError::CheckFailed(party)) => {
                    assert!(!is_right && party == SENDER, "run {number}");
                }
                Err(error) => panic!("{error}"),
            }
            passed += usize::from(is_right);
        }
        // One pair in 16 of them: 10, with a standard deviation of 3. Of the bins 40 in 96 have an
        // error, at one in 16 pairs: 4, with a standard deviation of 2.
        let most = match params.first().noise() {
            Noise::Regular => 22,
            Noise::Uniform => 13,
        };
        assert!((1..=most).contains(&passed), "{passed} of {runs}");
    }
}
