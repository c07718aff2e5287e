//! Hashes from AES under the seed of the instance: PRP and TCCR.

use zeroize::Zeroize;

use super::{
    HashLanes, LabelHash, Tweak, Tweaked, Two, add_to_pair, add_to_quad, hash_rows, row_blocks,
    sigma_pair, sigma_quad, tweak_blocks, tweak_quad, xor_pair,
};
use crate::aes::{self, Aes128, Forward};
use crate::lanes::{Pair, Quad, joined, split};
use crate::{Block, Cpu, Lanes};

/// One AES under the seed: the cheapest hash, with the weakest bound over many gates.
#[derive(Clone, Zeroize)]
pub struct Prp {
    pub(super) round_keys: [Block; 11],
}

/// Two AES under the seed: tweakable circular correlation robust.
#[derive(Clone, Zeroize)]
pub struct Tccr {
    pub(super) round_keys: [Block; 11],
}

impl LabelHash for Prp {
    type Lanes<L: Lanes> = Prp;
    const MAX_PRECOMPUTED: usize = 4;

    #[inline]
    fn new(cpu: Cpu, seed: Block) -> Prp {
        Prp {
            round_keys: *Aes128::new(cpu, seed).round_keys(),
        }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> Prp {
        self.clone()
    }
}

/// Tweaks include the first round key, which is then added to none of the hashed blocks.
impl<L: Lanes> HashLanes<L> for Prp {
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        row_blocks(l, gate, call, first_row, self.round_keys[0])
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        add_to_quad(l, l.load_quad(tweaks), l.splat(self.round_keys[0]))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let sigma = sigma_pair(l, labels);
        let begun = xor_pair(l, sigma, tweak_blocks(l, tweaks));
        let last = l.splat(self.round_keys[10]);
        xor_pair(l, finish_pair(l, &self.round_keys, begun, [last; 2]), sigma)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let sigma = sigma_quad(l, labels);
        let begun = l.xor_quad(sigma, tweak_quad(l, tweak));
        // sigma is linear, so the other label takes one addition before the cipher, and another
        // behind it, which goes with the last round key.
        let delta = l.sigma(delta);
        let last = l.splat(self.round_keys[10]);
        let both = [begun, add_to_quad(l, begun, delta)];
        let lasts = [last, l.xor(last, delta)];
        let [zero, one] = finish_pair(l, &self.round_keys, both, lasts);
        [l.xor_quad(zero, sigma), l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(&mut self, l: L, _: usize, tweaks: Two<L>, labels: Two<L>) -> Two<L> {
        let sigma = labels.map(|label| l.sigma(label));
        feed_forward_some(l, &self.round_keys, sigma, tweaks)
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: Two<L>,
        delta: L::V,
        labels: Two<L>,
    ) -> [Two<L>; 2] {
        let [a, b] = labels.map(|label| l.sigma(label));
        let delta = l.sigma(delta);
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let [t, u] = tweaks;
        let [a0, b0, a1, b1] = feed_forward_some(l, &self.round_keys, all, [t, u, t, u]);
        [[a0, b0], [a1, b1]]
    }
}

impl LabelHash for Tccr {
    type Lanes<L: Lanes> = Tccr;
    const MAX_PRECOMPUTED: usize = 4;

    #[inline]
    fn new(cpu: Cpu, seed: Block) -> Tccr {
        let Prp { round_keys } = Prp::new(cpu, seed);
        Tccr { round_keys }
    }

    fn hash(&self, cpu: Cpu, first: Tweak, blocks: &mut [Block]) {
        hash_rows(self, cpu, first, blocks);
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> Tccr {
        self.clone()
    }
}

impl Tccr {
    /// Hashes labels to which the first round key has been added.
    #[inline(always)]
    fn finish<L: Lanes>(&self, l: L, tweaks: Pair<L>, begun: Pair<L>) -> Pair<L> {
        let lasts = [l.splat(self.round_keys[10]); 2];
        let once = finish_pair(l, &self.round_keys, begun, lasts);
        let tweaked = xor_pair(l, once, tweaks);
        xor_pair(l, finish_pair(l, &self.round_keys, tweaked, lasts), once)
    }
}

/// Tweaks include the first round key, as those of [`Prp`].
impl<L: Lanes> HashLanes<L> for Tccr {
    #[inline(always)]
    fn row_tweaks(&self, l: L, gate: u32, call: u64, first_row: u32) -> Quad<L> {
        row_blocks(l, gate, call, first_row, self.round_keys[0])
    }
    #[inline(always)]
    fn pair_tweaks(&self, l: L, tweaks: &[Block]) -> Quad<L> {
        add_to_quad(l, l.load_quad(tweaks), l.splat(self.round_keys[0]))
    }
    #[inline(always)]
    fn hash_one(&mut self, l: L, tweaks: [Tweaked<L>; 2], labels: Pair<L>) -> Pair<L> {
        let begun = add_to_pair(l, labels, l.splat(self.round_keys[0]));
        self.finish(l, tweak_blocks(l, tweaks), begun)
    }
    #[inline(always)]
    fn hash_and_sum(&mut self, l: L, tweak: Tweaked<L>, delta: L::V, labels: Quad<L>) -> Pair<L> {
        let begun = add_to_quad(l, labels, l.splat(self.round_keys[0]));
        let both = [begun, add_to_quad(l, begun, delta)];
        let [zero, one] = self.finish(l, [tweak_quad(l, tweak); 2], both);
        [zero, l.xor_quad(zero, one)]
    }
    #[inline(always)]
    fn hash_precomputed(&mut self, l: L, _: usize, tweaks: Two<L>, labels: Two<L>) -> Two<L> {
        let once = aes::encrypt_some(l, &self.round_keys, labels);
        feed_forward_some(l, &self.round_keys, once, tweaks)
    }
    #[inline(always)]
    fn hash_both_precomputed(
        &mut self,
        l: L,
        _: usize,
        tweaks: Two<L>,
        delta: L::V,
        labels: Two<L>,
    ) -> [Two<L>; 2] {
        let [a, b] = labels;
        let all = [a, b, l.xor(a, delta), l.xor(b, delta)];
        let once = aes::encrypt_some(l, &self.round_keys, all);
        let [t, u] = tweaks;
        let [a0, b0, a1, b1] = feed_forward_some(l, &self.round_keys, once, [t, u, t, u]);
        [[a0, b0], [a1, b1]]
    }
}

/// Encrypts blocks to which the first round key has been added; each quad has its last round key.
#[inline(always)]
fn finish_pair<L: Lanes>(l: L, keys: &[Block; 11], begun: Pair<L>, lasts: Two<L>) -> Pair<L> {
    let mut states = joined(begun);
    l.nine_rounds(&mut states, keys);
    let [k, n] = lasts;
    aes::last_each::<L, Forward, 8>(l, &mut states, &[k, k, k, k, n, n, n, n], None);
    split(states)
}

/// Computes pi(x ^ tweak) ^ x of single vectors.
#[inline(always)]
fn feed_forward_some<L: Lanes, const N: usize>(
    l: L,
    keys: &[Block; 11],
    x: [L::V; N],
    tweaks: [L::V; N],
) -> [L::V; N] {
    let mut out = x;
    for i in 0..N {
        out[i] = l.xor(x[i], tweaks[i]);
    }
    out = aes::encrypt_some(l, keys, out);
    for i in 0..N {
        out[i] = l.xor(out[i], x[i]);
    }
    out
}
