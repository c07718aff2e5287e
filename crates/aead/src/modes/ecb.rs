//! ECB: NIST SP 800-38A, section 6.1, for whole blocks.
//!
//! A building block, and the baseline of the other modes: it authenticates nothing, and equal
//! blocks of text stay equal.

use crate::lanes::{Data, Facts, Head, Keys, Mode, Of, OneState, Params, State};

pub(crate) struct Ecb;

impl Mode for Ecb {
    type Schedules = Of<2>;
    type Constants = Of<0>;
    type Words = Of<0>;
    const PARALLEL: bool = true;

    /// There is no head or tail worth sharing.
    const ALONE_BYTES: usize = 0;

    fn head_blocks(_params: &Params, _message: &Facts<'_>) -> usize {
        0
    }

    #[inline(always)]
    fn absorb<K: Keys>(_keys: &K, _state: &mut State<Self, K::S>, _head: &Head<'_, K::S>) {}

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, _state: &mut State<Self, K::S>, data: &mut D) {
        for unit in 0..data.units() {
            let given = data.load(keys.l(), unit, 0);
            data.store(unit, 0, keys.cipher(given));
        }
    }

    #[inline(always)]
    fn spread<K: Keys>(_keys: &K, _state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        []
    }
    #[inline(always)]
    fn fold<K: Keys>(_keys: &K, _state: &State<Self, K::S>, _next: usize) -> OneState<Self, K::S> {
        []
    }
}
