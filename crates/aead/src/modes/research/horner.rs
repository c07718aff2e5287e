//! Factors of polynomial hashes that modes of the study alone use.

use sealane_block::Lanes;

pub(super) use crate::modes::horner::*;

use crate::lanes::{Data, Keys, Shape, Wave};

/// Returns the factor from one unit of a lane to its next, prepared: the base to the number of
/// lanes if they share a message.
#[inline(always)]
pub(crate) fn stride<D: Data<K::S>, K: Keys>(keys: &K) -> Factor<K::S> {
    if !D::WIDE {
        return base(keys, 1);
    }
    let (l, table, at) = (keys.l(), keys.table(0), place(Wave::<K::S>::LANES));
    [table[at], table[ENTRIES + at]].map(|word| Wave::splat(l, word))
}

/// Erases factors that depend on the key alone.
#[inline(always)]
pub(crate) fn wipe<S: Shape>(factor: &mut Factor<S>) {
    for word in factor {
        word.l.wipe(word.v.as_mut());
    }
}

/// In each lane the power of its number, prepared, for lanes of one message.
#[inline(always)]
pub(crate) fn rising<K: Keys>(keys: &K) -> Factor<K::S> {
    let (l, table) = (keys.l(), keys.table(0));
    let mut words: Factor<K::S> = [Wave::zero(l); 2];
    for i in 0..Wave::<K::S>::VECTORS {
        for lane in (0..Wave::<K::S>::WIDTH).rev() {
            let at = place(i * Wave::<K::S>::WIDTH + lane);
            let here = [l.splat(table[at]), l.splat(table[ENTRIES + at])];
            for (word, here) in words.iter_mut().zip(here) {
                word.v[i] = l.previous(here, word.v[i]);
            }
        }
    }
    words
}
