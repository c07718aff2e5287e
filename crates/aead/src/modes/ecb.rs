//! ECB: NIST SP 800-38A, section 6.1, for whole blocks.
//!
//! A building block, and the baseline of the other modes: it authenticates nothing, and equal
//! blocks of text stay equal.

use sealane_block::{Block, Cpu, Lanes};

use super::shared::{back, forward};
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Ecb;

const FORWARD: usize = 0;
const BACK: usize = 1;

impl Mode for Ecb {
    type Schedules = Of<2>;
    type Constants = Of<0>;
    type Words = Of<0>;
    const PARALLEL: bool = true;

    /// There is no head or tail worth sharing.
    const ALONE_BYTES: usize = 0;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Ecb> {
        KeyMaterial::new(params, [forward(cpu, key), back(cpu, key)])
    }
    fn head_blocks(_params: &Params, _message: &Facts<'_>) -> usize {
        0
    }
    fn head_block(_params: &Params, _message: &Facts<'_>, _index: usize) -> Block {
        Block::ZERO
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        _keys: &impl Keys<L, N>,
        _state: &mut State<Self, L, N>,
        _block: Wave<L, N>,
        _head: &Head<'_, L, N>,
    ) {
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        _state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        for unit in 0..data.units() {
            let given = data.load(keys.l(), unit, 0);
            let made = if !OPEN {
                keys.encrypt(FORWARD, given)
            } else {
                keys.decrypt(BACK, given)
            };
            data.store(unit, 0, made);
        }
    }

    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        _keys: &impl Keys<L, N>,
        _state: &State<Self, L, 1>,
        _position: u64,
    ) -> State<Self, L, N> {
        []
    }
    #[inline(always)]
    fn fold<L: Lanes, const N: usize>(
        _keys: &impl Keys<L, N>,
        _state: &State<Self, L, N>,
        _next: usize,
    ) -> State<Self, L, 1> {
        []
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        _keys: &impl Keys<L, N>,
        _state: &State<Self, L, N>,
        _tail: &mut Tail<'_, L, N>,
    ) {
    }
}
