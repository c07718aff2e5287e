//! Sums of MACs, and of labels, times powers of a challenge in GF(2^128).
//!
//! A party that opens bits sends `sum of chi^i M_i` over the MACs of all of them, for a challenge
//! `chi` that is a hash of the session, of the place and of all bits that it opens there. The
//! bits are fixed before `chi` is known, so a sum that fits other bits gives away the other
//! party's offset, but for the roots of a polynomial. Each [`PIECE`] of the bits has a challenge of
//! its own, all from one hash, and a sum from zero: so a party has to try `2^114` sets of bits for
//! one that fits, however many there are.

use blake3::{Hasher, OutputReader};
use sealane_block::gf::{self, Order};
use sealane_block::{Block, Cpu, Nonce};
use sealane_net::SessionId;
use zeroize::Zeroizing;

/// The origin of the challenges of a session.
#[derive(Clone)]
pub(crate) struct Challenges {
    cpu: Cpu,
    /// Hash of the session and of public randomness.
    context: Zeroizing<Hasher>,
}

impl Challenges {
    /// The challenges of a session in which both parties have this nonce.
    pub(crate) fn new(cpu: Cpu, session: SessionId, nonce: Nonce) -> Challenges {
        let mut context = Hasher::new_derive_key("sealane 2 auth challenge");
        context.update(session.as_bytes()).update(nonce.as_bytes());
        Challenges {
            cpu,
            context: Zeroizing::new(context),
        }
    }

    /// Begins the sum of an opening, which its place and a number there set apart from all others,
    /// in which the garbler or the evaluator tells these bits.
    pub(crate) fn sum(&self, place: u8, number: u64, garbler: bool, bits: &[u8]) -> Sum {
        let mut hasher = self.context.clone();
        hasher.update(&[place, u8::from(!garbler)]);
        hasher.update(&number.to_le_bytes()).update(bits);
        Sum::new(self.cpu, hasher.finalize_xof())
    }
}

/// Blocks that share a challenge.
const PIECE: usize = 1 << 14;

/// Security of a sum: that of a piece, of which a party may try other bits until the challenge is a
/// root of the polynomial of its changes.
pub(crate) const BITS: u32 = 128 - PIECE.trailing_zeros();

/// Bytes of a sum.
pub(crate) const SUM_BYTES: u64 = size_of::<Block>() as u64;

/// Blocks of which powers are at hand.
const RUN: usize = 64;

/// A sum under way.
pub(crate) struct Sum {
    cpu: Cpu,
    challenges: OutputReader,
    /// Powers 1 to [`RUN`] of the challenge.
    powers: Vec<Block>,
    /// Blocks that have no factor yet.
    run: Zeroizing<Vec<Block>>,
    /// Blocks of the piece that have one.
    summed: usize,
    sum: Zeroizing<Block>,
    /// The sum of all pieces before.
    total: Zeroizing<Block>,
}

impl Sum {
    fn new(cpu: Cpu, challenges: OutputReader) -> Sum {
        let mut sum = Sum {
            cpu,
            challenges,
            powers: Vec::new(),
            run: Zeroizing::new(Vec::with_capacity(RUN)),
            summed: 0,
            sum: Zeroizing::new(Block::ZERO),
            total: Zeroizing::new(Block::ZERO),
        };
        sum.next_challenge();
        sum
    }

    fn next_challenge(&mut self) {
        let mut challenge = [0; 16];
        self.challenges.fill(&mut challenge);
        let mut powers = vec![Block::from_bytes(challenge)];
        while powers.len() < RUN {
            let highest = vec![powers[powers.len() - 1]; powers.len()];
            let mut next = powers.clone();
            gf::mul_each(self.cpu, Order::Polynomial, &mut next, &highest);
            powers.extend(next);
        }
        self.powers = powers;
    }

    /// Adds the next block.
    pub(crate) fn add(&mut self, block: Block) {
        if self.summed == PIECE {
            self.end_piece();
            self.next_challenge();
        }
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

    /// The sum of all blocks, the last one of each piece times its challenge.
    pub(crate) fn value(mut self) -> Block {
        self.end_run();
        self.end_piece();
        *self.total
    }

    fn end_piece(&mut self) {
        *self.total ^= *self.sum;
        *self.sum = Block::ZERO;
        self.summed = 0;
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
        self.summed += self.run.len();
        self.run.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::Coins;

    /// Horner's rule, a block at a time.
    #[test]
    fn a_sum_is_a_polynomial_of_the_challenge_of_each_piece() {
        let mut hasher = Hasher::new();
        hasher.update(b"bits");
        for cpu in Cpu::available() {
            let mut random = Coins::danger_fixed_seed(1).secret("blocks");
            for count in [0, 1, 63, 64, 65, 200, PIECE, PIECE + 1, 2 * PIECE + 65] {
                let mut blocks = vec![Block::ZERO; count];
                random.fill(&mut blocks);
                let mut challenges = hasher.finalize_xof();
                let pieces = blocks.chunks(PIECE).map(|piece| {
                    let mut challenge = [0; 16];
                    challenges.fill(&mut challenge);
                    let challenge = Block::from_bytes(challenge);
                    piece.iter().fold(Block::ZERO, |sum, block| {
                        gf::mul(cpu, Order::Polynomial, sum ^ *block, challenge)
                    })
                });
                let slow = pieces.fold(Block::ZERO, |sum, piece| sum ^ piece);
                let sum = Sum::new(cpu, hasher.finalize_xof());
                let sum = sum.add_all(blocks).value();
                assert_eq!(sum.value(), slow.value(), "{count} on {}", cpu.tier());
            }
        }
    }
}
