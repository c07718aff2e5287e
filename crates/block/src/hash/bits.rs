//! One bit of each hash, packed: for uses that need no more, as Boolean triples.
//!
//! The bit of row `i` is bit `i % 128` of its hash, and every other bit is masked away. So the
//! hashes of 128 rows, which are masked and summed, are the packed bits: two operations a vector,
//! and nothing is stored, moved or transposed. Any bit of a hash is as good as any other.

use super::rows::batch_tweaks;
use super::{HashLanes, LabelHash, Prp, Tweak};
use crate::{Aes128Many, Block, Cpu, GROUP, Kernel, Lanes, aes};
use zeroize::Zeroize;

/// Bits of a block.
const BITS: usize = 128;

/// Block `i` has bit `i` alone.
static DIAGONAL: [Block; BITS] = {
    let mut diagonal = [Block::ZERO; BITS];
    let mut i = 0;
    while i < BITS {
        diagonal[i] = Block::new(1 << i);
        i += 1;
    }
    diagonal
};

/// The hash of rows to one bit each: [`Prp`], with a key of AES for every 128 rows.
///
/// Keys are the seed plus a tweak, as those of [`Mi`](super::Mi). So the schedule costs next to
/// nothing, and a distinguisher of `p` evaluations of AES has an advantage of some `128 p / 2^128`
/// (paper 1 of the [module above](super), for 128 rows under one key, whatever their number). An
/// evaluation helps against one row alone, in fact: of a row there is one bit to compare with, so
/// no table of bits tells to which row it belongs.
#[derive(Clone, Zeroize)]
pub struct BitHash {
    seed: Block,
}

impl BitHash {
    /// Creates the hash of the instance with this public seed, which is a fresh random block.
    pub fn new(seed: Block) -> BitHash {
        BitHash { seed }
    }

    /// Fills `bits`, 128 a block, with one bit of the hash of each row. The rest of the last block
    /// is 0. No number of a call comes twice.
    ///
    /// # Panics
    /// If there is not a block for 128 rows, or they or the number are too large for a
    /// [`Tweak`].
    pub fn hash(&self, cpu: Cpu, call: u64, rows: &[Block], bits: &mut [Block]) {
        assert_eq!(bits.len(), rows.len().div_ceil(BITS), "128 bits a block");
        self.check(call, rows);
        let mut keys = self.keys(cpu, call, bits.len());
        for (rows, bit) in rows.chunks(BITS).zip(bits) {
            let hash = &keys.next();
            [*bit, _] = cpu.run(HashBits::<false> {
                hash,
                delta: Block::ZERO,
                rows,
            });
        }
    }

    /// As [`hash`](BitHash::hash), and fills `sums` with those bits plus the same of the row with
    /// `delta` added.
    ///
    /// # Panics
    /// As [`hash`](BitHash::hash).
    pub fn hash_pairs(
        &self,
        cpu: Cpu,
        call: u64,
        delta: Block,
        rows: &[Block],
        [zeros, sums]: [&mut [Block]; 2],
    ) {
        let blocks = rows.len().div_ceil(BITS);
        let lengths = [zeros.len(), sums.len()];
        assert_eq!(lengths, [blocks; 2], "128 bits a block, of both kinds");
        self.check(call, rows);
        let outs = zeros.iter_mut().zip(sums);
        let mut keys = self.keys(cpu, call, blocks);
        for (rows, (zero, sum)) in rows.chunks(BITS).zip(outs) {
            let hash = &keys.next();
            [*zero, *sum] = cpu.run(HashBits::<true> { hash, delta, rows });
        }
    }

    fn check(&self, call: u64, rows: &[Block]) {
        let none = Tweak::default();
        Tweak { call, ..none }.check(rows.len());
    }

    /// The keys of a call.
    fn keys(&self, cpu: Cpu, call: u64, count: usize) -> Keys {
        Keys {
            cpu,
            seed: self.seed,
            call,
            count,
            next: 0,
            expanded: Aes128Many::new(cpu, &[]),
        }
    }
}

/// Keys of a call, one for each 128 rows. As many are expanded together as take no longer than one.
struct Keys {
    cpu: Cpu,
    seed: Block,
    call: u64,
    count: usize,
    next: usize,
    expanded: Aes128Many,
}

impl Keys {
    fn next(&mut self) -> Prp {
        if self.next.is_multiple_of(GROUP) {
            let mut keys = [Block::ZERO; GROUP];
            let keys = &mut keys[..GROUP.min(self.count - self.next)];
            for (i, key) in keys.iter_mut().enumerate() {
                *key = self.seed ^ key_tweak(self.call, (self.next + i) as u32).block();
            }
            self.expanded = Aes128Many::new(self.cpu, keys);
        }
        self.next += 1;
        Prp {
            round_keys: self.expanded.round_keys((self.next - 1) % GROUP),
        }
    }
}

/// The tweak that makes the key of 128 rows.
fn key_tweak(call: u64, row: u32) -> Tweak {
    Tweak {
        call,
        row,
        part: 1,
        gate: 0,
    }
}

/// Hashes up to 128 rows; with `PAIRS`, the sums with the hashes of partners, too.
struct HashBits<'a, const PAIRS: bool> {
    hash: &'a Prp,
    delta: Block,
    rows: &'a [Block],
}

impl<const PAIRS: bool> Kernel for HashBits<'_, PAIRS> {
    type Output = [Block; 2];

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> [Block; 2] {
        let mut hash = self.hash.lanes(l);
        let mut tweak = Tweak::default();
        let delta = l.splat(self.delta);
        let batch = 2 * L::QUAD;
        let mut padded = [Block::ZERO; aes::MAX_BATCH];
        let mut bits = [l.splat(Block::ZERO); 2];
        for (i, rows) in self.rows.chunks(batch).enumerate() {
            let masks = &DIAGONAL[i * batch..];
            let tweaks = batch_tweaks(l, &hash, &mut tweak);
            let rows = if rows.len() == batch {
                rows
            } else {
                padded[..rows.len()].copy_from_slice(rows);
                &padded[..batch]
            };
            let labels = l.load_pair(rows);
            if PAIRS {
                for quad in 0..2 {
                    let masks = &masks[quad * L::QUAD..];
                    let [zeros, sums] = hash.hash_and_sum(l, tweaks[quad], delta, labels[quad]);
                    for m in 0..4 {
                        let mask = l.load(&masks[m * L::WIDTH..]);
                        bits[0] = l.xor(bits[0], l.and(zeros[m], mask));
                        bits[1] = l.xor(bits[1], l.and(sums[m], mask));
                    }
                }
            } else {
                let hashes = hash.hash_one(l, tweaks, labels);
                for quad in 0..2 {
                    let masks = &masks[quad * L::QUAD..];
                    for m in 0..4 {
                        let mask = l.load(&masks[m * L::WIDTH..]);
                        // Two sums, for a shorter chain.
                        bits[quad] = l.xor(bits[quad], l.and(hashes[quad][m], mask));
                    }
                }
            }
        }
        if !PAIRS {
            bits[0] = l.xor(bits[0], bits[1]);
        }
        // Rows that pad a batch have bits, too.
        let kept = Block::new(u128::MAX >> (BITS - self.rows.len()));
        padded.zeroize();
        [
            l.sum_of_lanes(bits[0]) & kept,
            l.sum_of_lanes(bits[1]) & kept,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, values};

    #[test]
    fn bits_are_those_of_the_hashes_on_every_tier() {
        let delta = Block::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);
        let seed = Block::new(99);
        let (hash, call) = (BitHash::new(seed), 7 << 33);
        for count in [0, 1, 7, 8, 31, 127, 128, 129, 160, 256, 1000] {
            let rows = drawn(count, 5);
            let mut expected = [vec![0; count.div_ceil(BITS)], vec![0; count.div_ceil(BITS)]];
            for (i, row) in rows.iter().enumerate() {
                // By its definition: the hash of a row under the key of its 128.
                let (group, part) = ((i / BITS) as u32, 1);
                let key = Tweak {
                    call,
                    row: group,
                    part,
                    gate: 0,
                };
                let prp = Prp::new(Cpu::best(), seed ^ key.block());
                let mut pair = [[*row], [*row ^ delta]];
                let (row, none) = ((i % BITS) as u32, Tweak::default());
                let tweak = Tweak { row, ..none };
                let [zero, one] = &mut pair;
                prp.hash(Cpu::best(), tweak, zero);
                prp.hash(Cpu::best(), tweak, one);
                let bit = |block: Block| block.value() & 1 << (i % BITS);
                expected[0][i / BITS] |= bit(zero[0]);
                expected[1][i / BITS] |= bit(zero[0] ^ one[0]);
            }
            for cpu in Cpu::available() {
                let fresh = || vec![Block::ONES; count.div_ceil(BITS)];
                let (mut alone, mut zeros, mut sums) = (fresh(), fresh(), fresh());
                hash.hash(cpu, call, &rows, &mut alone);
                hash.hash_pairs(cpu, call, delta, &rows, [&mut zeros, &mut sums]);
                let tier = cpu.tier();
                assert!(values(&alone) == expected[0], "{count} rows, {tier}");
                assert!(values(&zeros) == expected[0], "{count} rows, {tier}");
                assert!(values(&sums) == expected[1], "{count} rows, {tier}");
            }
        }
    }
}
