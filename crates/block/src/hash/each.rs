//! Hashes under a tweak of each block's own.

use super::{HashLanes, LabelHash, Mi};
use crate::{Block, Kernel, Lanes, aes};
use zeroize::Zeroize;

/// See [`Mi::hash_each`].
pub(super) struct HashEach<'a> {
    pub(super) hash: &'a Mi,
    pub(super) tweaks: &'a [Block],
    pub(super) blocks: &'a mut [Block],
}

impl Kernel for HashEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let batch = 2 * L::QUAD;
        let mut padded = [[Block::ZERO; aes::MAX_BATCH]; 2];
        let batches = self.blocks.chunks_mut(batch).zip(self.tweaks.chunks(batch));
        for (blocks, tweaks) in batches {
            let count = blocks.len();
            padded[0][..count].copy_from_slice(tweaks);
            padded[1][..count].copy_from_slice(blocks);
            let [tweaks, labels] = &padded;
            let tweaks = [
                (hash.pair_tweaks(l, tweaks), 0),
                (hash.pair_tweaks(l, &tweaks[L::QUAD..]), 0),
            ];
            let hashes = hash.hash_one(l, tweaks, l.load_pair(labels));
            l.store_pair(&mut padded[1], hashes);
            blocks.copy_from_slice(&padded[1][..count]);
        }
        padded.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawn;
    use crate::{Cpu, Tweak};

    #[test]
    fn hashes_are_those_of_single_calls_on_every_tier() {
        let hash = Mi::new(Cpu::best(), Block::new(77));
        for count in [0, 1, 7, 8, 9, 31, 32, 33, 100] {
            let blocks = drawn(count, 6);
            let tweak = |i: usize| Tweak {
                gate: 3,
                call: 1 << 40 | i as u64,
                row: 5 * i as u32,
                part: i as u32 % 256,
            };
            let tweaks: Vec<Block> = (0..count).map(|i| tweak(i).block()).collect();
            for cpu in Cpu::available() {
                let mut made = blocks.clone();
                hash.hash_each(cpu, &tweaks, &mut made);
                for (i, (made, block)) in made.iter().zip(&blocks).enumerate() {
                    let mut expected = [*block];
                    hash.hash(cpu, tweak(i), &mut expected);
                    assert!(made.value() == expected[0].value(), "{i} {}", cpu.tier());
                }
            }
        }
    }
}
