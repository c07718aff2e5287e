//! Sums of blocks and of bits, weighted with the powers of a point of GF(2^128) in the order
//! [`Polynomial`](crate::gf::Order::Polynomial): the value of a polynomial at a random point, which
//! two parties compare to check many correlations at once. If the coefficients are not those that
//! they should be, `n` of them, at most `n - 1` of the 2^128 points do not show it.
//!
//! A run of [`CHUNK`] coefficients is summed without a reduction, by powers that are computed once,
//! and joins the runs before it by Horner's rule.

use zeroize::Zeroizing;

use crate::gf::{self, Order, mul_prepared_lanes, prepare, prepare_whole};
use crate::gf::{add_product, reduce_whole_lanes};
use crate::lanes::MAX_WIDTH;
use crate::{Block, Cpu, Kernel, Lanes};

/// Coefficients that are summed before a reduction, and bits in a block.
pub const CHUNK: usize = 128;

/// A point at which sums are computed.
pub struct Point {
    cpu: Cpu,
    /// Of each power from `CHUNK - 1` down to 0 the two words of [`prepare_whole`], all first words
    /// first.
    powers: Vec<Block>,
    /// The same powers in the order of bits: see [`SumBits`].
    by_bits: Vec<Block>,
    /// Power `CHUNK` of the point, as [`prepare`] makes it.
    step: [Block; 2],
}

impl Point {
    /// Prepares sums at this point.
    pub fn new(cpu: Cpu, point: Block) -> Point {
        let mut list = [Block::new(1); CHUNK];
        for i in (0..CHUNK - 1).rev() {
            list[i] = gf::mul(cpu, Order::Polynomial, list[i + 1], point);
        }
        let step = gf::mul(cpu, Order::Polynomial, list[0], point);
        let prepared = list.map(|power| prepare_whole(Order::Polynomial, power));
        let words = |i: usize| prepared.iter().map(move |words| words[i]);
        Point {
            cpu,
            powers: words(0).chain(words(1)).collect(),
            by_bits: (0..CHUNK).map(|i| list[32 * (i % 4) + i / 4]).collect(),
            step: prepare(Order::Polynomial, step),
        }
    }

    /// Returns the sum of `blocks[j]` times power `n - 1 - j`, where `n` is their number.
    ///
    /// # Panics
    /// If `n` is no multiple of [`CHUNK`].
    pub fn sum(&self, blocks: &[Block]) -> Block {
        self.sum_behind(Block::ZERO, blocks)
    }

    /// Returns the same sum, of blocks that follow others with the sum `before`.
    ///
    /// # Panics
    /// As [`Point::sum`].
    pub fn sum_behind(&self, before: Block, blocks: &[Block]) -> Block {
        assert!(blocks.len().is_multiple_of(CHUNK), "whole chunks");
        let point = self;
        self.cpu.run(SumBlocks {
            point,
            before,
            blocks,
        })
    }

    /// Returns the sum of the powers `n - 1 - j` for which bit `j` is set, of the `n` bits of
    /// `bits`.
    pub fn sum_of_bits(&self, bits: &[Block]) -> Block {
        self.cpu.run(SumBits { point: self, bits })
    }
}

struct SumBlocks<'a> {
    point: &'a Point,
    before: Block,
    blocks: &'a [Block],
}

impl Kernel for SumBlocks<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let (words, more) = self.point.powers.split_at(CHUNK);
        let (words, more) = (&words[..CHUNK], &more[..CHUNK]);
        let step = self.point.step.map(|word| l.splat(word));
        let mut lanes = Zeroizing::new([Block::ZERO; MAX_WIDTH]);
        lanes[0] = self.before;
        let mut total = l.load(&lanes[..]);
        for chunk in self.blocks.chunks_exact(CHUNK) {
            let chunk = &chunk[..CHUNK];
            let mut product = [l.splat(Block::ZERO); 3];
            for at in (0..CHUNK).step_by(L::WIDTH) {
                let factor = [l.load(&words[at..]), l.load(&more[at..])];
                add_product(l, &mut product, l.load(&chunk[at..]), factor);
            }
            let risen = mul_prepared_lanes(l, Order::Polynomial, total, step);
            total = l.xor(risen, reduce_whole_lanes(l, Order::Polynomial, product));
        }
        l.sum_of_lanes(total)
    }
}

/// Sums powers by masks. Bits 0, 32, 64 and 96 of a block are the lowest of its words, which are
/// put into lanes of their own: step `i` takes bits `i`, `i + 32`, `i + 64` and `i + 96`.
struct SumBits<'a> {
    point: &'a Point,
    bits: &'a [Block],
}

impl Kernel for SumBits<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let powers = &self.point.by_bits[..CHUNK];
        let step = self.point.step.map(|word| l.splat(word));
        let mut total = l.splat(Block::ZERO);
        for bits in self.bits {
            let words = Zeroizing::new(bits.words().map(|word| Block::new(u128::from(word))));
            let mut sum = l.splat(Block::ZERO);
            for at in (0..4).step_by(L::WIDTH) {
                let mut word = l.load(&words[at..]);
                for i in 0..32 {
                    let power = l.load(&powers[4 * i + at..]);
                    sum = l.xor(sum, l.and(power, l.permute_mask(word)));
                    word = l.shr64::<1>(word);
                }
            }
            let risen = mul_prepared_lanes(l, Order::Polynomial, total, step);
            total = l.xor(risen, sum);
        }
        l.sum_of_lanes(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawn;

    #[test]
    fn sums_are_values_of_polynomials_on_every_tier() {
        for chunks in [0, 1, 2, 5] {
            let drawn = drawn(chunks * CHUNK + chunks + 1, chunks as u64);
            let (point, rest) = drawn.split_first().expect("at least the point");
            let (bits, blocks) = rest.split_at(chunks);
            for cpu in Cpu::available() {
                let times = |a, b| gf::mul(cpu, Order::Polynomial, a, b);
                let (mut of_blocks, mut of_bits) = (Block::ZERO, Block::ZERO);
                for (j, &block) in blocks.iter().enumerate() {
                    let bit = bits[j / 128].value() >> (j % 128) & 1;
                    of_blocks = times(of_blocks, *point) ^ block;
                    of_bits = times(of_bits, *point) ^ Block::new(bit);
                }
                let sums = Point::new(cpu, *point);
                let tier = cpu.tier();
                assert_eq!(sums.sum(blocks).value(), of_blocks.value(), "{tier}");
                let (first, later) = blocks.split_at(chunks / 2 * CHUNK);
                let behind = sums.sum_behind(sums.sum(first), later);
                assert_eq!(behind.value(), of_blocks.value(), "{tier}");
                assert_eq!(sums.sum_of_bits(bits).value(), of_bits.value(), "{tier}");
            }
        }
    }
}
