//! One bit of each hash, packed: for uses that need no more, as Boolean triples.
//!
//! The bit of row `i` is bit `i % 128` of its hash, and every other bit is masked away. So the
//! hashes of 128 rows, which are masked and summed, are the packed bits: two operations a vector,
//! and nothing is stored, moved or transposed. Any bit of a hash is as good as any other.

use super::{HashLanes, LabelHash, Mi, Tweak, turn_tweaks};
use crate::{Block, Cpu, Kernel, Lanes, aes};
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

impl Mi {
    /// Fills `bits`, 128 a block, with one bit of the hash of each row, under the tweak `first`
    /// with the row `first.row + i`. The rest of the last block is 0.
    ///
    /// # Panics
    /// If a number of a tweak is out of its bounds, or there is not a block for 128 rows.
    pub fn hash_bits(&self, cpu: Cpu, first: Tweak, rows: &[Block], bits: &mut [Block]) {
        assert_eq!(bits.len(), rows.len().div_ceil(BITS), "128 bits a block");
        first.check(rows.len());
        cpu.run(HashBits::<false> {
            hash: self,
            first,
            delta: Block::ZERO,
            rows,
            zeros: bits,
            sums: &mut [],
        });
    }

    /// As [`hash_bits`](Mi::hash_bits), and fills `sums` with those bits plus the same of the row
    /// with `delta` added.
    ///
    /// # Panics
    /// As [`hash_bits`](Mi::hash_bits).
    pub fn hash_pair_bits(
        &self,
        cpu: Cpu,
        first: Tweak,
        delta: Block,
        rows: &[Block],
        [zeros, sums]: [&mut [Block]; 2],
    ) {
        let blocks = rows.len().div_ceil(BITS);
        assert_eq!(
            [zeros.len(), sums.len()],
            [blocks; 2],
            "128 bits a block, of both kinds"
        );
        first.check(rows.len());
        cpu.run(HashBits::<true> {
            hash: self,
            first,
            delta,
            rows,
            zeros,
            sums,
        });
    }
}

/// With `PAIRS`, the sums with the hashes of partners, too.
struct HashBits<'a, const PAIRS: bool> {
    hash: &'a Mi,
    first: Tweak,
    delta: Block,
    rows: &'a [Block],
    zeros: &'a mut [Block],
    sums: &'a mut [Block],
}

impl<const PAIRS: bool> Kernel for HashBits<'_, PAIRS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = self.first;
        let delta = l.splat(self.delta);
        let turn = 2 * L::QUAD;
        let mut padded = [Block::ZERO; aes::MAX_TURN];
        let mut lanes = [Block::ZERO; crate::lanes::MAX_WIDTH];
        for (at, rows) in self.rows.chunks(BITS).enumerate() {
            let mut bits = [l.splat(Block::ZERO); 2];
            for (i, rows) in rows.chunks(turn).enumerate() {
                let masks = &DIAGONAL[i * turn..];
                let tweaks = turn_tweaks(l, &hash, &mut tweak);
                let rows = match rows.len() == turn {
                    true => rows,
                    false => {
                        padded[..rows.len()].copy_from_slice(rows);
                        &padded[..turn]
                    }
                };
                let labels = [l.load_quad(rows), l.load_quad(&rows[L::QUAD..])];
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
            // Rows that pad a turn have bits, too.
            let kept = Block::new(u128::MAX >> (BITS - rows.len()));
            self.zeros[at] = sum_of_lanes(l, bits[0], &mut lanes) & kept;
            if PAIRS {
                self.sums[at] = sum_of_lanes(l, bits[1], &mut lanes) & kept;
            }
        }
        padded.zeroize();
        lanes.zeroize();
    }
}

#[inline(always)]
fn sum_of_lanes<L: Lanes>(l: L, v: L::V, lanes: &mut [Block]) -> Block {
    l.store(lanes, v);
    let mut sum = lanes[0];
    for lane in 1..L::WIDTH {
        sum ^= lanes[lane];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    #[test]
    fn bits_are_those_of_the_hashes_on_every_tier() {
        let delta = Block::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321 | 1);
        let hash = Mi::new(Cpu::best(), Block::new(99));
        let first = Tweak {
            call: 7,
            ..Tweak::default()
        };
        for count in [0, 1, 7, 8, 31, 127, 128, 129, 160, 256, 1000] {
            let mut rows = vec![Block::ZERO; count];
            Prg::danger_fixed(Cpu::best(), 5).fill(&mut rows);
            let mut pairs = vec![[Block::ZERO; 2]; count];
            hash.hash_pairs(Cpu::best(), first, delta, &rows, &mut pairs);
            let mut expected = [vec![0; count.div_ceil(BITS)], vec![0; count.div_ceil(BITS)]];
            for (i, [zero, one]) in pairs.iter().enumerate() {
                let bit = |block: Block| block.value() & 1 << (i % BITS);
                expected[0][i / BITS] |= bit(*zero);
                expected[1][i / BITS] |= bit(*zero ^ *one);
            }
            for cpu in Cpu::available() {
                let fresh = || vec![Block::ONES; count.div_ceil(BITS)];
                let (mut alone, mut zeros, mut sums) = (fresh(), fresh(), fresh());
                hash.hash_bits(cpu, first, &rows, &mut alone);
                hash.hash_pair_bits(cpu, first, delta, &rows, [&mut zeros, &mut sums]);
                let values = |blocks: &[Block]| -> Vec<u128> {
                    blocks.iter().map(|block| block.value()).collect()
                };
                let tier = cpu.tier();
                assert!(values(&alone) == expected[0], "{count} rows, {tier}");
                assert!(values(&zeros) == expected[0], "{count} rows, {tier}");
                assert!(values(&sums) == expected[1], "{count} rows, {tier}");
            }
        }
    }
}
