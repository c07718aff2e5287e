//! CTR: NIST SP 800-38A, section 6.5, with a counter of 128 bits that wraps.
//!
//! A building block: it authenticates nothing, and two texts under one counter reveal their
//! difference.

use sealane_block::Block;

use super::shared::{add128, lane_numbers};
use crate::lanes::{Data, Head, Keys, Mode, Of, OneState, Shape, State, Tail, Wave};

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

    #[inline(always)]
    fn absorb<K: Keys>(_keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        state[COUNTER] = head.block.reversed();
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let step = Wave::splat(l, Block::new(D::STEP as u128));
        let carries = carries(state[COUNTER], data);
        // Behind barriers: otherwise the compiler builds lanes byte by byte that are read alone.
        let mut counter = state[COUNTER].optimization_barrier();
        for unit in 0..data.units() {
            let pad = keys.encrypt(0, counter.reversed());
            data.mask(unit, 0, pad);
            counter = if !carries {
                counter.add64(step)
            } else {
                add128(counter, step)
            };
        }
        state[COUNTER] = counter.optimization_barrier();
    }

    #[inline(always)]
    fn spread<K: Keys>(keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        [add128(state[COUNTER].spread(), lane_numbers(keys.l()))]
    }
    #[inline(always)]
    fn fold<K: Keys>(_keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        [state[COUNTER].pick(next)]
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        if tail.most > 0 {
            tail.made[0] = tail.given[0] ^ keys.encrypt(0, state[COUNTER].reversed());
        }
    }
}

/// Returns true if the lower half of a counter overflows on the way through these units, as it
/// hardly ever does. Counters are public.
#[inline(always)]
fn carries<S: Shape, D: Data<S>>(counter: Wave<S>, data: &D) -> bool {
    let lanes = Wave::<S>::LANES;
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
