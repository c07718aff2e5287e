//! Hashes with a key of AES for every label or tweak: CIRC and MI.

use zeroize::Zeroize;

use super::each::HashEach;
use super::rows::HashPairs;
use super::tweak::high_word;
use super::{
    HashLanes, LabelHash, Tweak, Tweaked, Two, add_to_pair, add_to_quad, hash_rows, sigma_pair,
    sigma_quad, tweak_blocks,
};
use crate::fresh::{FreshCipher, FreshKeys, SlicedKeys};
use crate::lanes::{Pair, Quad};
use crate::{Block, Cpu, Lanes};

/// The hash whose AES key is the label. The seed moves the input to a fresh place in every
/// instance, so that no key search applies to two instances.
#[derive(Clone, Zeroize)]
pub struct Circ {
    seed: Block,
}

/// The multi-instance hash: a fresh AES key, seed ^ tweak, for every gate, row and part.
#[derive(Clone, Zeroize)]
pub struct Mi {
    seed: Block,
}

/// The form of [`Circ`] inside a kernel.
pub struct CircLanes<L: Lanes> {
    seed: L::V,
    cipher: FreshCipher<L>,
}

impl Mi {
    /// Fills pair `i` with the hashes of row `i` and of that row with `delta` added, both under the
    /// tweak `first` with the row `first.row + i`.
    ///
    /// # Panics
    /// If a number of a tweak is out of its bounds, or there is not a pair for each row.
    pub fn hash_pairs(
        &self,
        cpu: Cpu,
        first: Tweak,
        delta: Block,
        rows: &[Block],
        pairs: &mut [[Block; 2]],
    ) {
        first.check(rows.len());
        assert_eq!(rows.len(), pairs.len(), "a pair for each row");
        cpu.run(HashPairs {
            hash: self,
            first,
            delta,
            rows,
            pairs,
        });
    }

    /// Replaces each block by its hash under a tweak of its own, given as [`Tweak::block`].
    ///
    /// # Panics
    /// If there is not a tweak for each block.
    pub fn hash_each(&self, cpu: Cpu, tweaks: &[Block], blocks: &mut [Block]) {
        assert_eq!(tweaks.len(), blocks.len(), "a tweak for each block");
        cpu.run(HashEach {
            hash: self,
            tweaks,
            blocks,
        });
    }
}

impl LabelHash for Circ {
    type Lanes<L: Lanes> = CircLanes<L>;
    const MAX_PRECOMPUTED: usize = 0;

    #[inline]
    fn new(_: Cpu, seed: Block) -> Circ {
        Circ { seed }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> CircLanes<L> {
        CircLanes {
            seed: l.splat(self.seed),
            cipher: FreshCipher::new(l),
        }
    }
}

impl<L: Lanes> HashLanes<L> for CircLanes<L> {
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let [low, high] = labels;
        let schedules = [
            SlicedKeys::from_keys(l, low),
            SlicedKeys::from_keys(l, high),
        ];
        let inputs = add_to_pair(l, tweak_blocks(l, tweaks), self.seed);
        self.cipher.encrypt_each(l, schedules, inputs)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let both = [labels, add_to_quad(l, labels, delta)];
        let [zero, one] = self.hash_one(l, [tweak; 2], both);
        [zero, l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(&mut self, l: L, _: usize, tweaks: Two<L>, labels: Two<L>) -> Two<L> {
        let tweaks = tweaks.map(|tweak| ([tweak; 4], 0));
        let [low, high] = self.hash_one(l, tweaks, labels.map(|label| [label; 4]));
        [low[0], high[0]]
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        tweaks: Two<L>,
        delta: L::V,
        labels: Two<L>,
    ) -> [Two<L>; 2] {
        let other = labels.map(|label| l.xor(label, delta));
        [
            self.hash_precomputed(l, m, tweaks, labels),
            self.hash_precomputed(l, m, tweaks, other),
        ]
    }
}

/// The form of [`Mi`] inside a kernel.
pub struct MiLanes<L: Lanes> {
    seed_words: Quad<L>,
    cipher: FreshCipher<L>,
    /// Keys that are computed before their labels.
    keys: FreshKeys<L>,
}

impl LabelHash for Mi {
    type Lanes<L: Lanes> = MiLanes<L>;
    const MAX_PRECOMPUTED: usize = 8;

    #[inline]
    fn new(_: Cpu, seed: Block) -> Mi {
        Mi { seed }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> MiLanes<L> {
        let [w0, w1, w2, w3] = self.seed.words();
        MiLanes {
            seed_words: [
                l.splat_word(w0),
                l.splat_word(w1),
                l.splat_word(w2),
                l.splat_word(w3),
            ],
            cipher: FreshCipher::new(l),
            keys: FreshKeys::new(l),
        }
    }
}

impl<L: Lanes> MiLanes<L> {
    #[inline(always)]
    fn key(&self, l: L, ([gate, call, row, last], part): Tweaked<L>) -> SlicedKeys<L> {
        let [s0, s1, s2, s3] = self.seed_words;
        SlicedKeys::from_words(
            l,
            [
                l.xor(s0, gate),
                l.xor(s1, call),
                l.xor(s2, row),
                l.xor(s3, l.xor(last, l.splat_word(part))),
            ],
        )
    }
}

/// Tweaks are sliced like the words of keys, because the keys are made sliced.
impl<L: Lanes> HashLanes<L> for MiLanes<L> {
    /// Returns the words of the tweaks, sliced like those of keys, because the keys are made
    /// sliced.
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        let row = l.xor(l.splat_word(first_row), l.load(&L::SLICED_NUMBERS));
        let (low, high) = (l.splat_word(call as u32), l.splat_word(high_word(call)));
        [l.splat_word(gate), low, row, high]
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        l.transpose_words(l.load_quad(tweaks))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let schedules = [self.key(l, tweaks[0]), self.key(l, tweaks[1])];
        let sigma = sigma_pair(l, labels);
        self.cipher.feed_forward_each(l, schedules, sigma)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let (schedule, sigma) = (self.key(l, tweak), sigma_quad(l, labels));
        let delta = l.sigma(delta);
        self.cipher.feed_forward_and_sum(l, schedule, sigma, delta)
    }
    #[inline(always)]
    fn precompute_keys(&mut self, l: L, tweaks: [Tweaked<L>; 2]) {
        let [low, high] = [self.key(l, tweaks[0]), self.key(l, tweaks[1])];
        self.keys.expand(l, [low, high]);
    }
    #[inline(always)]
    fn hash_precomputed(&mut self, l: L, m: usize, _: Two<L>, labels: Two<L>) -> Two<L> {
        let sigma = labels.map(|label| l.sigma(label));
        let [a, b] = self.keys.encrypt_some(l, [m, 4 + m], sigma);
        [l.xor(a, sigma[0]), l.xor(b, sigma[1])]
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        m: usize,
        _: Two<L>,
        delta: L::V,
        labels: Two<L>,
    ) -> [Two<L>; 2] {
        let [a, b] = labels.map(|label| l.sigma(label));
        let delta = l.sigma(delta);
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let [a0, b0, a1, b1] = self.keys.encrypt_some(l, [m, 4 + m, m, 4 + m], all);
        [
            [l.xor(a0, all[0]), l.xor(b0, all[1])],
            [l.xor(a1, all[2]), l.xor(b1, all[3])],
        ]
    }
}
