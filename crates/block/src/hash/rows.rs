//! Kernels that hash neighbouring rows.

use zeroize::Zeroize;

use super::{HashLanes, LabelHash, Tweak, Tweaked};
use crate::{Block, Kernel, Lanes, aes};

pub(super) struct HashRows<'a, H> {
    pub(super) hash: &'a H,
    pub(super) first: Tweak,
    pub(super) blocks: &'a mut [Block],
}

impl<H: LabelHash> Kernel for HashRows<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = self.first;
        let mut batches = self.blocks.chunks_exact_mut(2 * L::QUAD);
        for batch in &mut batches {
            hash_batch(l, &mut hash, &mut tweak, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_BATCH];
            padded[..rest.len()].copy_from_slice(rest);
            hash_batch(l, &mut hash, &mut tweak, &mut padded[..2 * L::QUAD]);
            rest.copy_from_slice(&padded[..rest.len()]);
            padded.zeroize();
        }
    }
}

/// Hashes two quads in place, and moves the tweak behind them.
#[inline(always)]
fn hash_batch<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &mut H,
    tweak: &mut Tweak,
    batch: &mut [Block],
) {
    let labels = l.load_pair(batch);
    let hashes = hash.hash_one(l, batch_tweaks(l, hash, tweak), labels);
    l.store_pair(batch, hashes);
}

pub(super) struct HashPairs<'a, H> {
    pub(super) hash: &'a H,
    pub(super) first: Tweak,
    pub(super) delta: Block,
    pub(super) rows: &'a [Block],
    pub(super) pairs: &'a mut [[Block; 2]],
}

impl<H: LabelHash> Kernel for HashPairs<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = self.first;
        let delta = l.splat(self.delta);
        let mut rows = self.rows.chunks_exact(2 * L::QUAD);
        let mut pairs = self.pairs.chunks_exact_mut(2 * L::QUAD);
        for (rows, pairs) in (&mut rows).zip(&mut pairs) {
            pair_batch(l, &mut hash, &mut tweak, delta, rows, pairs);
        }
        let (rows, pairs) = (rows.remainder(), pairs.into_remainder());
        if !rows.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_BATCH];
            padded[..rows.len()].copy_from_slice(rows);
            let mut both = [[Block::ZERO; 2]; aes::MAX_BATCH];
            let batch = &padded[..2 * L::QUAD];
            pair_batch(l, &mut hash, &mut tweak, delta, batch, &mut both);
            pairs.copy_from_slice(&both[..pairs.len()]);
            padded.zeroize();
            both.zeroize();
        }
    }
}

/// Hashes two quads of rows and of their partners, and moves the tweak behind them.
#[inline(always)]
fn pair_batch<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &mut H,
    tweak: &mut Tweak,
    delta: L::V,
    rows: &[Block],
    pairs: &mut [[Block; 2]],
) {
    let tweaks = batch_tweaks(l, hash, tweak);
    for (quad, tweaks) in tweaks.into_iter().enumerate() {
        let labels = l.load_quad(&rows[quad * L::QUAD..]);
        let [zeros, sums] = hash.hash_and_sum(l, tweaks, delta, labels);
        for m in 0..4 {
            let out = pairs[quad * L::QUAD + m * L::WIDTH..].as_flattened_mut();
            l.store_strided(out, 2, zeros[m]);
            l.store_strided(&mut out[1..], 2, l.xor(zeros[m], sums[m]));
        }
    }
}

/// The tweaks of the next two quads of rows.
#[inline(always)]
pub(super) fn batch_tweaks<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &H,
    tweak: &mut Tweak,
) -> [Tweaked<L>; 2] {
    let first = *tweak;
    let (gate, call, row, part) = (first.gate, first.call, first.row, first.part);
    tweak.row = row.wrapping_add(2 * L::QUAD as u32);
    if row.is_multiple_of(L::QUAD as u32) {
        let high = row.wrapping_add(L::QUAD as u32);
        // Not by `map`, whose closure the compiler leaves outside the kernel.
        return [
            (hash.row_tweaks(l, gate, call, row), part),
            (hash.row_tweaks(l, gate, call, high), part),
        ];
    }
    let mut tweaks = [Block::ZERO; aes::MAX_BATCH];
    for (i, block) in tweaks[..2 * L::QUAD].iter_mut().enumerate() {
        let row = row.wrapping_add(i as u32);
        *block = Tweak::of_row(gate, call, row).block();
    }
    [
        (hash.pair_tweaks(l, &tweaks), part),
        (hash.pair_tweaks(l, &tweaks[L::QUAD..]), part),
    ]
}
