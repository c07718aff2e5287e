//! CBC: NIST SP 800-38A, section 6.2, for whole blocks.
//!
//! A building block: it authenticates nothing. Sealing is a chain; opening is not.

use sealane_block::{Block, Cpu, Lanes};

use super::shared::{back, forward};
use crate::lanes::head::block_of;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Cbc;

const FORWARD: usize = 0;
const BACK: usize = 1;

/// The last block of ciphertext.
const LAST: usize = 0;

impl Mode for Cbc {
    type Schedules = Of<2>;
    type Constants = Of<0>;
    type Words = Of<1>;
    const PARALLEL: bool = false;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Cbc> {
        KeyMaterial::new(params, [forward(cpu, key), back(cpu, key)])
    }
    fn head_blocks(_params: &Params, _message: &Facts<'_>) -> usize {
        1
    }
    fn head_block(_params: &Params, message: &Facts<'_>, _index: usize) -> Block {
        block_of(message.nonce, 0)
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        _keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        _head: &Head<'_, L, N>,
    ) {
        state[LAST] = block;
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let l = keys.l();
        let mut last = state[LAST];
        for unit in 0..data.units() {
            let given = data.load(l, unit, 0);
            if OPEN {
                data.store(unit, 0, keys.decrypt_onto(BACK, given, last));
                last = given;
            } else {
                last = keys.encrypt_late(FORWARD, given, last);
                data.store(unit, 0, last);
            }
        }
        state[LAST] = last;
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        _keys: &impl Keys<L, N>,
        _state: &State<Self, L, N>,
        _tail: &mut Tail<'_, L, N>,
    ) {
    }
}
