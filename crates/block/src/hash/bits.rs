//! One bit of each hash, packed, or up to 8: for uses that need no more, as Boolean triples.
//!
//! The bit of row `i` is bit `i % 128` of its hash, and every other bit is masked away. So the
//! hashes of 128 rows, which are masked and summed, are the packed bits: two operations a vector,
//! and nothing is stored, moved or transposed. Any bit of a hash is as good as any other. Further
//! planes of bits come from masks that are 16 bits further each, and are rotated back at the end.

use super::rows::batch_tweaks;
use super::{HashLanes, LabelHash, Prp, Tweak};
use crate::{Aes128Many, Block, Cpu, GROUP, Kernel, Lanes, aes};
use zeroize::Zeroize;

/// Bits of a block.
pub(super) const BITS: usize = 128;

/// The part of the tweaks that make keys.
const PART: u32 = 1;

/// Planes that come from masks, and bits between those of neighbouring planes.
pub(super) const MASKED: usize = 8;
pub(super) const STEP: usize = BITS / MASKED;

/// Block `i` has bit `i` alone, modulo 128.
static DIAGONAL: [Block; 2 * BITS] = {
    let mut diagonal = [Block::ZERO; 2 * BITS];
    let mut i = 0;
    while i < 2 * BITS {
        diagonal[i] = Block::new(1 << (i % BITS));
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
    /// is 0. A call is its number and that of the first key: the rows of a call may come in parts
    /// of whole keys, of which none comes twice.
    ///
    /// # Panics
    /// If there is not a block for 128 rows, or they or the numbers are too large for a
    /// [`Tweak`].
    pub fn hash(&self, cpu: Cpu, call: (u64, u32), rows: &[Block], bits: &mut [Block]) {
        assert_eq!(bits.len(), rows.len().div_ceil(BITS), "128 bits a block");
        let mut keys = self.keys(cpu, (call, PART), rows);
        for (rows, bit) in rows.chunks(BITS).zip(bits) {
            let hash = &keys.next();
            [[*bit], _] = cpu.run(HashBits::<false, 1> {
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
        call: (u64, u32),
        delta: Block,
        rows: &[Block],
        [zeros, sums]: [&mut [Block]; 2],
    ) {
        let blocks = rows.len().div_ceil(BITS);
        let lengths = [zeros.len(), sums.len()];
        assert_eq!(lengths, [blocks; 2], "128 bits a block, of both kinds");
        let outs = zeros.iter_mut().zip(sums);
        let mut keys = self.keys(cpu, (call, PART), rows);
        for (rows, (zero, sum)) in rows.chunks(BITS).zip(outs) {
            let hash = &keys.next();
            [[*zero], [*sum]] = cpu.run(HashBits::<true, 1> { hash, delta, rows });
        }
    }

    /// The keys of these rows of a call, from that number on, in a part of the tweaks.
    pub(super) fn keys(
        &self,
        cpu: Cpu,
        ((call, row), part): ((u64, u32), u32),
        rows: &[Block],
    ) -> Keys {
        let none = Tweak::default();
        Tweak { call, ..none }.check(BITS * row as usize + rows.len());
        Keys {
            cpu,
            seed: self.seed,
            first: Tweak {
                call,
                row,
                part,
                ..none
            },
            count: rows.len().div_ceil(BITS),
            next: 0,
            expanded: Aes128Many::new(cpu, &[]),
        }
    }
}

/// Keys of a call, one for each 128 rows. As many are expanded together as take no longer than one.
pub(super) struct Keys {
    cpu: Cpu,
    seed: Block,
    first: Tweak,
    count: usize,
    next: usize,
    expanded: Aes128Many,
}

impl Keys {
    pub(super) fn next(&mut self) -> Prp {
        if self.next.is_multiple_of(GROUP) {
            let mut keys = [Block::ZERO; GROUP];
            let keys = &mut keys[..GROUP.min(self.count - self.next)];
            for (i, key) in keys.iter_mut().enumerate() {
                let row = self.first.row + (self.next + i) as u32;
                *key = self.seed ^ Tweak { row, ..self.first }.block();
            }
            self.expanded = Aes128Many::new(self.cpu, keys);
        }
        self.next += 1;
        Prp {
            round_keys: self.expanded.round_keys((self.next - 1) % GROUP),
        }
    }
}

/// Hashes up to 128 rows to this many planes of bits; with `PAIRS`, the sums with the hashes of
/// partners, too.
pub(super) struct HashBits<'a, const PAIRS: bool, const PLANES: usize> {
    pub(super) hash: &'a Prp,
    pub(super) delta: Block,
    pub(super) rows: &'a [Block],
}

impl<const PAIRS: bool, const PLANES: usize> Kernel for HashBits<'_, PAIRS, PLANES> {
    type Output = [[Block; PLANES]; 2];

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> [[Block; PLANES]; 2] {
        let mut hash = self.hash.lanes(l);
        let mut tweak = Tweak::default();
        let delta = l.splat(self.delta);
        let batch = 2 * L::QUAD;
        let mut padded = [Block::ZERO; aes::MAX_BATCH];
        let mut bits = [[l.splat(Block::ZERO); PLANES]; 2];
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
                        for p in 0..PLANES {
                            let mask = l.load(&masks[m * L::WIDTH + p * STEP..]);
                            bits[0][p] = l.xor(bits[0][p], l.and(zeros[m], mask));
                            bits[1][p] = l.xor(bits[1][p], l.and(sums[m], mask));
                        }
                    }
                }
            } else {
                let hashes = hash.hash_one(l, tweaks, labels);
                for quad in 0..2 {
                    let masks = &masks[quad * L::QUAD..];
                    for m in 0..4 {
                        for p in 0..PLANES {
                            let mask = l.load(&masks[m * L::WIDTH + p * STEP..]);
                            // Two sums, for a shorter chain.
                            bits[quad][p] = l.xor(bits[quad][p], l.and(hashes[quad][m], mask));
                        }
                    }
                }
            }
        }
        // Rows that pad a batch have bits, too.
        let kept = Block::new(u128::MAX >> (BITS - self.rows.len()));
        padded.zeroize();
        let mut planes = [[Block::ZERO; PLANES]; 2];
        for p in 0..PLANES {
            if !PAIRS {
                bits[0][p] = l.xor(bits[0][p], bits[1][p]);
            }
            for kind in 0..2 {
                let bits = l.sum_of_lanes(bits[kind][p]).value();
                planes[kind][p] = Block::new(bits.rotate_right((p * STEP) as u32)) & kept;
            }
        }
        planes
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
                // In two parts, of which the second one begins with key number 1.
                let first = count.min(BITS);
                let (bits, later) = alone.split_at_mut(first.div_ceil(BITS));
                hash.hash(cpu, (call, 0), &rows[..first], bits);
                hash.hash(cpu, (call, 1), &rows[first..], later);
                hash.hash_pairs(cpu, (call, 0), delta, &rows, [&mut zeros, &mut sums]);
                let tier = cpu.tier();
                assert!(values(&alone) == expected[0], "{count} rows, {tier}");
                assert!(values(&zeros) == expected[0], "{count} rows, {tier}");
                assert!(values(&sums) == expected[1], "{count} rows, {tier}");
            }
        }
    }
}
