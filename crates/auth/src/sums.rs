//! Sums of MACs, and of labels, times powers of a challenge in GF(2^128).
//!
//! A party that opens bits sends `sum of chi^i M_i` over the MACs of all of them, for a challenge
//! `chi` that is a hash of the session, of the place and of all bits that it opens there. The
//! bits are fixed before `chi` is known, so a sum that fits other bits gives away the other
//! party's offset, but for the roots of a polynomial. Each [`PIECE`] of the bits has a challenge of
//! its own, all from one hash, and a sum from zero: so a party has to try `2^114` sets of bits for
//! one that fits, however many there are.

use crate::bits::spread;
use blake3::{Hasher, OutputReader};
use sealane_block::gf::{self, Order};
use sealane_block::silent::sums::{CHUNK, Point};
use sealane_block::{Block, Cpu, Nonce, terms};
use sealane_net::SessionId;
use zeroize::{Zeroize, Zeroizing};

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
    /// in which the party of number `from` tells these bits.
    pub(crate) fn sum(&self, place: u8, number: u64, from: usize, bits: &[u8]) -> Sum {
        let mut hasher = self.context.clone();
        hasher.update(&[place, from as u8]);
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

/// A sum under way.
pub(crate) struct Sum {
    cpu: Cpu,
    challenges: OutputReader,
    challenge: Block,
    /// The challenge, prepared for sums of whole chunks.
    point: Point,
    /// Blocks that are no whole chunk yet.
    rest: Zeroizing<Vec<Block>>,
    /// Blocks of the piece that have been summed.
    summed: usize,
    /// Their sum, of which the last block has the factor 1.
    sum: Zeroizing<Block>,
    /// The sum of all pieces before.
    total: Zeroizing<Block>,
}

const _: () = assert!(PIECE.is_multiple_of(CHUNK), "pieces of whole chunks");

impl Sum {
    fn new(cpu: Cpu, mut challenges: OutputReader) -> Sum {
        let challenge = next(&mut challenges);
        Sum {
            cpu,
            challenges,
            challenge,
            point: Point::new(cpu, challenge),
            rest: Zeroizing::new(Vec::with_capacity(CHUNK)),
            summed: 0,
            sum: Zeroizing::new(Block::ZERO),
            total: Zeroizing::new(Block::ZERO),
        }
    }

    /// Adds the next blocks.
    pub(crate) fn add(&mut self, mut blocks: &[Block]) {
        while !blocks.is_empty() {
            if self.summed == PIECE {
                self.end_piece();
                self.challenge = next(&mut self.challenges);
                self.point = Point::new(self.cpu, self.challenge);
            }
            let whole = blocks.len().min(PIECE - self.summed) / CHUNK * CHUNK;
            let now;
            if self.rest.is_empty() && whole > 0 {
                (now, blocks) = blocks.split_at(whole);
                self.add_chunks(now);
                continue;
            }
            (now, blocks) = blocks.split_at(blocks.len().min(CHUNK - self.rest.len()));
            self.rest.extend_from_slice(now);
            if self.rest.len() == CHUNK {
                let mut chunk = std::mem::take(&mut self.rest);
                self.add_chunks(&chunk);
                chunk.clear();
                self.rest = chunk;
            }
        }
    }

    fn add_chunks(&mut self, chunks: &[Block]) {
        *self.sum = self.point.sum_behind(*self.sum, chunks);
        self.summed += chunks.len();
    }

    /// Adds the MACs that the other party's bits have under these keys and this party's offset;
    /// the first bit is number `at` of those.
    pub(crate) fn add_keys(&mut self, keys: &[Block], offset: Block, bits: &[u8], at: usize) {
        let [mut macs, mut choices] = [[Block::ZERO; CHUNK]; 2];
        for (run, keys) in keys.chunks(CHUNK).enumerate() {
            let (macs, choices) = (&mut macs[..keys.len()], &mut choices[..keys.len()]);
            macs.copy_from_slice(keys);
            spread(bits, at + run * CHUNK, choices);
            terms::add_one_where(self.cpu, macs, offset, choices);
            self.add(macs);
        }
        macs.zeroize();
    }

    /// Adds lists of blocks in order.
    pub(crate) fn and_all<'a>(mut self, lists: impl IntoIterator<Item = &'a [Block]>) -> Sum {
        lists.into_iter().for_each(|blocks| self.add(blocks));
        self
    }

    /// Adds lists of keys in order, as [`Sum::add_keys`] does from the first bit on.
    pub(crate) fn and_all_keys<'a>(
        mut self,
        lists: impl IntoIterator<Item = &'a [Block]>,
        offset: Block,
        bits: &[u8],
    ) -> Sum {
        let mut at = 0;
        for keys in lists {
            self.add_keys(keys, offset, bits, at);
            at += keys.len();
        }
        self
    }

    /// The sum of all blocks, the last one of each piece times its challenge.
    pub(crate) fn value(mut self) -> Block {
        let count = self.rest.len();
        if count > 0 {
            let mut chunk = Zeroizing::new([Block::ZERO; CHUNK]);
            chunk[CHUNK - count..].copy_from_slice(&self.rest);
            let risen = self.times(*self.sum, self.power(count));
            *self.sum = risen ^ self.point.sum(&chunk[..]);
        }
        self.end_piece();
        *self.total
    }

    fn end_piece(&mut self) {
        let piece = self.times(*self.sum, self.challenge);
        *self.total ^= piece;
        *self.sum = Block::ZERO;
        self.summed = 0;
    }

    /// A power of the challenge.
    fn power(&self, exponent: usize) -> Block {
        let bits = (0..usize::BITS - exponent.leading_zeros()).rev();
        bits.fold(Block::new(1), |power, bit| {
            let square = self.times(power, power);
            if exponent >> bit & 1 == 1 {
                self.times(square, self.challenge)
            } else {
                square
            }
        })
    }

    fn times(&self, a: Block, b: Block) -> Block {
        gf::mul(self.cpu, Order::Polynomial, a, b)
    }
}

/// The next challenge.
fn next(challenges: &mut OutputReader) -> Block {
    let mut challenge = [0; 16];
    challenges.fill(&mut challenge);
    Block::from_bytes(challenge)
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
            for count in [0, 1, 127, 128, 129, 300, PIECE, PIECE + 1, 2 * PIECE + 65] {
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
                // In lists of any lengths.
                for first in [0, 1, 130, count] {
                    let (first, later) = blocks.split_at(first.min(count));
                    let sum = Sum::new(cpu, hasher.finalize_xof());
                    let sum = sum.and_all([first, later]).value();
                    assert_eq!(sum.value(), slow.value(), "{count} on {}", cpu.tier());
                }
            }
        }
    }
}
