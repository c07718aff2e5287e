//! Factors of polynomial hashes that modes of the study alone use.

use sealane_block::Lanes;

pub(super) use crate::modes::horner::*;

use crate::lanes::{Data, Keys, Wave};

/// Returns the factor from one unit of a lane to its next, prepared: the base to the number of
/// lanes if they share a message.
#[inline(always)]
pub(crate) fn stride<D: Data<L, N>, L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    _data: &D,
) -> Factor<L, N> {
    if !D::WIDE {
        return base(keys, 1);
    }
    let (l, table, at) = (keys.l(), keys.table(0), place(Wave::<L, N>::LANES));
    [table[at], table[ENTRIES + at]].map(|word| Wave::splat(l, word))
}

/// Erases factors that depend on the key alone.
#[inline(always)]
pub(crate) fn wipe<L: Lanes, const N: usize>(factor: &mut Factor<L, N>) {
    for word in factor {
        word.l.wipe(&mut word.v);
    }
}

/// In each lane the power of its number, prepared, for lanes of one message.
#[inline(always)]
pub(crate) fn rising<L: Lanes, const N: usize>(keys: &impl Keys<L, N>) -> Factor<L, N> {
    let (l, table) = (keys.l(), keys.table(0));
    let mut words = [Wave::zero(l); 2];
    for i in 0..N {
        for lane in (0..L::WIDTH).rev() {
            let at = place(i * L::WIDTH + lane);
            let here = [l.splat(table[at]), l.splat(table[ENTRIES + at])];
            for (word, here) in words.iter_mut().zip(here) {
                word.v[i] = l.previous(here, word.v[i]);
            }
        }
    }
    words
}
