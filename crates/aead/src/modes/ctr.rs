//! CTR: NIST SP 800-38A, section 6.5, with a counter of 128 bits that wraps.
//!
//! A building block: it authenticates nothing, and two texts under one counter reveal their
//! difference.

use sealane_block::{Block, Cpu, Lanes};

use super::shared::{add128, forward, lane_numbers};
use crate::lanes::head::block_of;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Ctr;

/// The counter of the next block, as an integer.
const COUNTER: usize = 0;

impl Mode for Ctr {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<1>;
    const PARALLEL: bool = true;

    /// There is no head or tail worth sharing.
    const ALONE_BYTES: usize = 0;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Ctr> {
        KeyMaterial::new(params, [forward(cpu, key)])
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
        state[COUNTER] = block.reversed();
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let l = keys.l();
        let step = Wave::splat(l, stride(data, Wave::<L, N>::LANES));
        let carries = carries(state[COUNTER], data);
        // Behind barriers: otherwise the compiler builds lanes byte by byte that are read alone.
        let mut counter = state[COUNTER].optimization_barrier();
        for unit in 0..data.units() {
            let pad = keys.encrypt(0, counter.reversed());
            data.mask(l, unit, 0, pad);
            counter = if !carries {
                counter.add64(step)
            } else {
                add128(counter, step)
            };
        }
        state[COUNTER] = counter.optimization_barrier();
    }

    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, 1>,
        _position: u64,
    ) -> State<Self, L, N> {
        [add128(state[COUNTER].spread(), lane_numbers(keys.l()))]
    }
    #[inline(always)]
    fn fold<L: Lanes, const N: usize>(
        _keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        next: usize,
    ) -> State<Self, L, 1> {
        [state[COUNTER].pick(next)]
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        if tail.most > 0 {
            tail.made[0] = tail.given[0] ^ keys.encrypt(0, state[COUNTER].reversed());
        }
    }
}

/// Returns true if the lower half of a counter overflows on the way through these units, as it
/// hardly ever does. Counters are public.
#[inline(always)]
fn carries<L: Lanes, const N: usize, D: Data<L, N>>(counter: Wave<L, N>, data: &D) -> bool {
    let lanes = Wave::<L, N>::LANES;
    let overflows = |lane: usize, blocks: usize| {
        let lower = counter.lanes()[lane].value() as u64;
        lower.checked_add(blocks as u64).is_none()
    };
    if D::WIDE {
        overflows(0, (data.units() + 1) * lanes)
    } else {
        (0..lanes).any(|lane| overflows(lane, data.units()))
    }
}

/// The distance of block counters from one unit of a lane to the next.
#[inline(always)]
pub(crate) fn stride<L: Lanes, const N: usize, D: Data<L, N>>(_data: &D, lanes: usize) -> Block {
    Block::new(if D::WIDE { lanes as u128 } else { 1 })
}
