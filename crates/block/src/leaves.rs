//! Streams of the leaves of a tree, summed by the bits of their numbers: the inner loop of
//! small-field VOLE.
//!
//! With `r_y` the stream of leaf `y` of `2^k`, the sums are `sum_y r_y`, and for each bit `b` of a
//! number the sum of all `r_y` whose `y` has that bit (Roy, "SoftSpokenOT", CRYPTO 2022,
//! small-field VOLE: `u` and `v` are sums of `r_y` and of `y r_y`, and a product with the constant
//! `y` of GF(2^k), in the basis of powers of x, is a choice of bits).
//!
//! Streams of sixteen leaves lie in the nearest cache, eight vectors each. Halving them, where the
//! odd ones are added to the sum of a bit first, takes two exclusive ors a leaf for all bits. With
//! more than four bits, groups of sixteen are summed first, and then the sums of groups alike.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::prg::{counter_block, keystream_vectors};
use crate::{Aes128, Block, Cpu, Kernel, Lanes, SecretStream, aes};

/// The most bits of a number of a leaf.
pub const MAX_BITS: usize = 8;

/// Bits that one pass sums.
const PASS_BITS: usize = 4;
/// Leaves of one pass.
const PASS: usize = 1 << PASS_BITS;
/// Vectors that are encrypted together.
const STATES: usize = 8;

/// Generators of all leaves of a tree, or of all but leaf 0. Each is AES-128 in counter mode, as
/// [`Prg`](crate::Prg) is.
#[derive(ZeroizeOnDrop)]
pub struct Leaves {
    #[zeroize(skip)]
    cpu: Cpu,
    /// Keys of the leaves in order.
    round_keys: Vec<[Block; 11]>,
    starts: Vec<Block>,
    #[zeroize(skip)]
    bits: usize,
    #[zeroize(skip)]
    punctured: bool,
    /// Blocks drawn so far.
    #[zeroize(skip)]
    next: u128,
}

impl Leaves {
    /// Creates the generators of all `2^bits` leaves, or of all but leaf 0, whose stream then
    /// counts as zeros.
    ///
    /// # Panics
    /// If there are neither `2^bits` nor one less, or `bits` is 0 or over [`MAX_BITS`].
    pub fn new(
        cpu: Cpu,
        bits: usize,
        leaves: impl ExactSizeIterator<Item = SecretStream>,
    ) -> Leaves {
        assert!((1..=MAX_BITS).contains(&bits), "1 to 8 bits");
        let count = leaves.len();
        let punctured = count + 1 == 1 << bits;
        assert!(punctured || count == 1 << bits, "one stream for each leaf");
        let (mut round_keys, mut starts) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for mut stream in leaves {
            let mut key = stream.block();
            round_keys.push(*Aes128::new(cpu, key).round_keys());
            key.zeroize();
            starts.push(stream.block());
        }
        Leaves {
            cpu,
            round_keys,
            starts,
            bits,
            punctured,
            next: 0,
        }
    }
}

/// Fills `by_bit`, which has room for as many blocks for each bit of a number, tree after tree,
/// with the sums of bits 0, 1 and so on of the next blocks of all streams, and `totals`, as many
/// blocks for each tree, with the sums of all. A party that knows all leaves but one has no use
/// for these.
///
/// # Panics
/// If the lengths do not fit, or a tree has drawn more blocks than another.
pub fn sums(trees: &mut [Leaves], totals: Option<&mut [Block]>, by_bit: &mut [Block]) {
    let Some(first) = trees.first() else { return };
    let bits: usize = trees.iter().map(|tree| tree.bits).sum();
    let width = by_bit.len() / bits;
    assert_eq!(by_bit.len(), width * bits, "a sum for each bit");
    if let Some(totals) = &totals {
        assert_eq!(totals.len(), width * trees.len(), "a sum for each tree");
    }
    let together = trees.iter().all(|tree| tree.next == first.next);
    assert!(together, "trees draw together");
    first.cpu.run(Sums {
        trees,
        width,
        totals,
        by_bit,
    });
    for tree in trees {
        // As `Prg` does, so that all tiers begin alike.
        tree.next += width.next_multiple_of(aes::MAX_BATCH) as u128;
    }
}

struct Sums<'a> {
    trees: &'a [Leaves],
    /// Blocks of a sum.
    width: usize,
    totals: Option<&'a mut [Block]>,
    by_bit: &'a mut [Block],
}

/// Eight vectors of one stream, or of a sum.
type Piece<L> = [<L as Lanes>::V; STATES];

/// Streams of one pass.
type Buffer<L> = [Piece<L>; PASS];

impl Kernel for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = [l.splat(Block::ZERO); STATES];
        // Of all trees, since it takes as long to erase them as to fill them.
        let mut streams: Buffer<L> = [zero; PASS];
        let mut groups: Buffer<L> = [zero; PASS];
        let mut bits = [zero; MAX_BITS];
        let (mut totals, mut by_bit) = (self.totals, self.by_bit);
        for (i, tree) in self.trees.iter().enumerate() {
            let sums;
            (sums, by_bit) = by_bit.split_at_mut(tree.bits * self.width);
            for first in (0..self.width).step_by(STATES * L::WIDTH) {
                let counter = counter_block(tree.next + first as u128);
                let blocks = self.width.min(first + STATES * L::WIDTH) - first;
                if tree.bits == 1 {
                    // Two leaves, as in IKNP: what folds more costs as much as their streams.
                    let (mut sum, mut ones) = (zero, zero);
                    stream(l, tree, 1, counter, &mut ones);
                    store(l, &mut sums[first..][..blocks], &ones);
                    if let Some(totals) = &mut totals {
                        stream(l, tree, 0, counter, &mut sum);
                        for i in 0..STATES {
                            sum[i] = l.xor(sum[i], ones[i]);
                        }
                        store(l, &mut totals[i * self.width + first..][..blocks], &sum);
                    }
                    continue;
                }
                bits[..tree.bits].fill(zero);
                let (low, high) = bits.split_at_mut(PASS_BITS);
                let count = 1 << tree.bits;
                for group in 0..count / PASS.min(count) {
                    let leaves = group * PASS..count.min((group + 1) * PASS);
                    for y in leaves.clone() {
                        stream(l, tree, y, counter, &mut streams[y % PASS]);
                    }
                    groups[group] = fold_all(l, leaves.len(), &streams, low);
                }
                let sum = fold_all(l, count.div_ceil(PASS), &groups, high);

                if let Some(totals) = &mut totals {
                    store(l, &mut totals[i * self.width + first..][..blocks], &sum);
                }
                for (b, sum) in bits[..tree.bits].iter().enumerate() {
                    store(l, &mut sums[b * self.width + first..][..blocks], sum);
                }
            }
        }
        for buffer in [&mut streams, &mut groups] {
            buffer.iter_mut().for_each(|piece| l.wipe(piece));
        }
        bits.iter_mut().for_each(|piece| l.wipe(piece));
    }
}

/// The stream of leaf `y` from a counter on.
#[inline(always)]
fn stream<L: Lanes>(l: L, leaves: &Leaves, y: usize, counter: Block, out: &mut Piece<L>) {
    let Some(index) = y.checked_sub(usize::from(leaves.punctured)) else {
        *out = [l.splat(Block::ZERO); STATES];
        return;
    };
    *out = keystream_vectors(l, &leaves.round_keys[index], leaves.starts[index] ^ counter);
}

/// Adds the sums by bits of the first `count` pieces, a power of two, to `bits`, and returns the
/// sum of all.
#[inline(always)]
fn fold_all<L: Lanes>(l: L, count: usize, pieces: &Buffer<L>, bits: &mut [Piece<L>]) -> Piece<L> {
    match count {
        1 => pieces[0],
        2 => fold::<L, 1>(l, pieces, bits),
        4 => fold::<L, 2>(l, pieces, bits),
        8 => fold::<L, 3>(l, pieces, bits),
        _ => fold::<L, 4>(l, pieces, bits),
    }
}

/// [`fold_all`] of `2^BITS` pieces.
#[inline(always)]
fn fold<L: Lanes, const BITS: usize>(l: L, pieces: &Buffer<L>, bits: &mut [Piece<L>]) -> Piece<L> {
    let mut total = pieces[0];
    for i in 0..STATES {
        // Half of the sums of neighbours, so that no more than eight are in registers.
        let mut live = [total[i]; PASS / 2];
        let mut odd = bits[0][i];
        for n in 0..1 << (BITS - 1) {
            odd = l.xor(odd, pieces[2 * n + 1][i]);
            live[n] = l.xor(pieces[2 * n][i], pieces[2 * n + 1][i]);
        }
        bits[0][i] = odd;
        for b in 1..BITS {
            let mut odd = bits[b][i];
            for n in 0..1 << (BITS - 1 - b) {
                odd = l.xor(odd, live[2 * n + 1]);
                live[n] = l.xor(live[2 * n], live[2 * n + 1]);
            }
            bits[b][i] = odd;
        }
        total[i] = live[0];
    }
    total
}

/// Writes the first blocks of a piece.
#[inline(always)]
fn store<L: Lanes>(l: L, out: &mut [Block], piece: &Piece<L>) {
    if out.len() == STATES * L::WIDTH {
        return l.store_vectors(out, piece);
    }
    let mut padded = [Block::ZERO; aes::MAX_BATCH];
    l.store_vectors(&mut padded, piece);
    out.copy_from_slice(&padded[..out.len()]);
    padded.zeroize();
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::testing::values;
    use crate::{Prg, Seed};

    fn stream_of(leaf: usize) -> SecretStream {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(leaf as u64).to_le_bytes());
        Seed::from_bytes(&bytes).stream("test", &[0; 32])
    }

    /// The sums by their definition, over generators of their own.
    fn reference(bits: usize, first: usize, lengths: &[usize]) -> Vec<(Vec<u128>, Vec<u128>)> {
        let cpu = Cpu::best();
        let mut prgs: Vec<Prg> = (0..1 << bits).map(|y| stream_of(y).prg(cpu)).collect();
        let sums = |&length: &usize| {
            let mut total = vec![0; length];
            let mut by_bit = vec![0; bits * length];
            for (y, prg) in prgs.iter_mut().enumerate().skip(first) {
                let mut stream = vec![Block::ZERO; length];
                prg.fill(&mut stream);
                for (i, block) in stream.iter().enumerate() {
                    total[i] ^= block.value();
                    for b in (0..bits).filter(|b| y >> b & 1 == 1) {
                        by_bit[b * length + i] ^= block.value();
                    }
                }
            }
            (total, by_bit)
        };
        lengths.iter().map(sums).collect()
    }

    #[test]
    fn sums_are_those_of_the_definition_on_every_tier() {
        let lengths = [1, 32, 5, 33, 8, 64];
        for bits in 1..=MAX_BITS {
            for first in [0, 1] {
                let expected = reference(bits, first, &lengths);
                for cpu in Cpu::available() {
                    let streams = (first..1 << bits).map(stream_of);
                    let mut leaves = Leaves::new(cpu, bits, streams);
                    for (length, (total, by_bit)) in lengths.iter().zip(&expected) {
                        let mut sum = vec![Block::ONES; *length];
                        let mut sums = vec![Block::ONES; bits * length];
                        super::sums(slice::from_mut(&mut leaves), Some(&mut sum), &mut sums);
                        let case = format!("{bits} bits from {first}, {length}, {}", cpu.tier());
                        assert!(values(&sum) == *total && values(&sums) == *by_bit, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "one stream for each leaf")]
    fn too_few_leaves_are_refused() {
        Leaves::new(Cpu::best(), 3, (0..6).map(stream_of));
    }
}
