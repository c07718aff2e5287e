//! Sums of MACs, and of labels, times powers of a challenge in GF(2^128).
//!
//! A party that opens bits sends `sum of chi^i M_i` over the MACs of all of them, for a challenge
//! `chi` that is a hash of the session, of the place and of all bits that it opens there. The
//! bits are fixed before `chi` is known, so a sum that fits other bits gives away the other
//! party's offset, but for the roots of a polynomial: one in `2^128 / n` tries for n bits.

use sealane_block::gf::{self, Order};
use sealane_block::{Block, Cpu};
use zeroize::Zeroizing;

/// Bytes of a sum.
pub(crate) const SUM_BYTES: u64 = size_of::<Block>() as u64;

/// Blocks of which powers are at hand.
const RUN: usize = 64;

/// A sum under way.
pub(crate) struct Sum {
    cpu: Cpu,
    /// Powers 1 to [`RUN`] of the challenge.
    powers: Vec<Block>,
    /// Blocks that have no factor yet.
    run: Zeroizing<Vec<Block>>,
    sum: Zeroizing<Block>,
}

impl Sum {
    pub(crate) fn new(cpu: Cpu, challenge: Block) -> Sum {
        let mut powers = vec![challenge];
        while powers.len() < RUN {
            let highest = vec![powers[powers.len() - 1]; powers.len()];
            let mut next = powers.clone();
            gf::mul_each(cpu, Order::Polynomial, &mut next, &highest);
            powers.extend(next);
        }
        Sum {
            cpu,
            powers,
            run: Zeroizing::new(Vec::with_capacity(RUN)),
            sum: Zeroizing::new(Block::ZERO),
        }
    }

    /// Adds the next block.
    pub(crate) fn add(&mut self, block: Block) {
        self.run.push(block);
        if self.run.len() == RUN {
            self.end_run();
        }
    }

    /// Adds blocks in order.
    pub(crate) fn add_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Sum {
        blocks.into_iter().for_each(|block| self.add(block));
        self
    }

    /// The sum of all blocks, the last one times the challenge.
    pub(crate) fn value(mut self) -> Block {
        self.end_run();
        *self.sum
    }

    /// Gives the blocks of a run their factors: the last one takes the lowest power.
    fn end_run(&mut self) {
        let Some(count) = self.run.len().checked_sub(1) else {
            return;
        };
        let before = gf::mul(self.cpu, Order::Polynomial, *self.sum, self.powers[count]);
        self.run.reverse();
        let powers = &self.powers[..=count];
        gf::mul_each(self.cpu, Order::Polynomial, &mut self.run, powers);
        *self.sum = self.run.iter().fold(before, |sum, block| sum ^ *block);
        self.run.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::Coins;

    /// Horner's rule, a block at a time.
    #[test]
    fn a_sum_is_a_polynomial_of_the_challenge() {
        for cpu in Cpu::available() {
            let mut random = Coins::danger_fixed_seed(1).secret("blocks");
            let challenge = random.block();
            for count in [0, 1, 2, 63, 64, 65, 130, 200] {
                let mut blocks = vec![Block::ZERO; count];
                random.fill(&mut blocks);
                let slow = blocks.iter().fold(Block::ZERO, |sum, block| {
                    gf::mul(cpu, Order::Polynomial, sum ^ *block, challenge)
                });
                let sum = Sum::new(cpu, challenge).add_all(blocks).value();
                assert_eq!(sum.value(), slow.value(), "{count} on {}", cpu.tier());
            }
        }
    }
}
