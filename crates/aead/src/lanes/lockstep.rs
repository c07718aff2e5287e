//! Many messages at once: each lane processes a message of its own, and takes the next one of the
//! queue when it is done.
//!
//! All lanes advance by as many units as the one with the fewest has left; there, the lanes that
//! are done share a tail, and those that take new messages share a head. The order of messages
//! determines how often this happens: seldom, if messages of about the same length are side by
//! side.

use sealane_block::{Kernel, Lanes, Tier};

use super::data::Dealt;
use super::keys::{Each, LaneKeys, Same};
use super::mode::{lanes_of, pass_over};
use super::tail::Slots;
use super::work::{LaneMessages, Outcome, Queue};
use super::{Count, Group, KeyMaterial, Keys, Mode, Params, State, Tail, Wave, head};

/// Number of vectors of a wave: as many as keep the AES units busy.
pub(crate) const VECTORS: usize = 8;

/// Number of vectors of a wave in the portable tier, which has no units to fill: with eight lanes,
/// as many as the least of the other tiers.
pub(crate) const FEW_VECTORS: usize = 2;

/// Returns true if a tier has pipelined AES units.
pub(crate) const fn is_pipelined<L: Lanes>() -> bool {
    !matches!(L::TIER, Tier::Portable)
}

/// Returns the number of lanes that a wave of a tier has.
pub(crate) const fn lanes_in(tier: Tier) -> usize {
    match tier {
        Tier::Portable => 4 * FEW_VECTORS,
        Tier::AesNi => VECTORS,
        Tier::Vaes256 => 2 * VECTORS,
        Tier::Vaes512 => 4 * VECTORS,
    }
}

/// Returns the narrowest tier whose lanes hold so many messages, or the widest one.
pub(crate) fn tier_for(messages: usize) -> Tier {
    let tiers = [Tier::AesNi, Tier::Vaes256];
    let fits = tiers.into_iter().find(|tier| messages <= lanes_in(*tier));
    fits.unwrap_or(Tier::Vaes512)
}

/// Seals or opens all messages of a queue.
pub(crate) struct Lockstep<'q, 'a, M: Mode, const OPEN: bool> {
    pub(crate) params: Params,
    /// The key, if all messages have the same.
    pub(crate) same: Option<&'a KeyMaterial<M>>,
    pub(crate) queue: &'q mut dyn Queue<'a, M>,
}

impl<M: Mode, const OPEN: bool> Kernel for Lockstep<'_, '_, M, OPEN> {
    type Output = ();
    const PORTABLE: bool = M::PORTABLE_LANES;
    const WIDEST: Tier = M::WIDEST;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        if const { is_pipelined::<L>() } {
            self.with_vectors::<L, VECTORS>(l);
        } else {
            self.with_vectors::<L, FEW_VECTORS>(l);
        }
    }
}

impl<M: Mode, const OPEN: bool> Lockstep<'_, '_, M, OPEN> {
    #[inline(always)]
    fn with_vectors<L: Lanes, const N: usize>(self, l: L) {
        match self.same {
            // In integer code, loads of keys cost nothing beside AES, so one body suffices.
            Some(material) if const { is_pipelined::<L>() } => {
                run(Same::<L, M, N, OPEN> { l, material }, self.queue);
            }
            _ => run(Each::<L, M, N, OPEN>::new(l, self.params), self.queue),
        }
    }
}

#[inline(always)]
fn run<'a, M: Mode, K: LaneKeys<'a, M>>(mut keys: K, queue: &mut dyn Queue<'a, M>) {
    let lanes = Wave::<K::S>::LANES;
    let every = (u64::MAX >> (64 - lanes)) as u32;
    let mut state = M::Words::filled(Wave::zero(keys.l()));
    let mut slots = Slots::new(keys.l());
    let mut work = LaneMessages::new();
    loop {
        let free = every & !work.busy;
        let fresh = queue.fill(&mut work, free);
        work.busy |= fresh;
        if work.busy == 0 {
            break;
        }
        work.is_even = fresh == every && work.has_equal_lengths(lanes);
        if const { !K::SAME } {
            for lane in lanes_of(fresh) {
                if let Some(material) = work.material[lane] {
                    keys.set(lane, material);
                }
            }
        }
        if fresh != 0 {
            let begun = head::run::<M, K>(&keys, work.group(fresh));
            merge::<M, K>(&mut state, &begun, fresh, every);
            for pass in 1..M::PASSES {
                whole_pass(&keys, &mut state, &mut work, fresh, pass - 1);
                let mut turned = state;
                M::turn(&keys, &mut turned);
                merge::<M, K>(&mut state, &turned, fresh, every);
            }
        }
        let busy = work.busy;
        advance(&keys, &mut state, &mut work, busy, M::PASSES - 1);
        finish(&keys, &state, &mut work, &mut slots, queue);
    }
    keys.wipe();
}

/// Takes over the states of some lanes.
#[inline(always)]
fn merge<M: Mode, K: Keys>(
    state: &mut State<M, K::S>,
    from: &State<M, K::S>,
    set: u32,
    every: u32,
) {
    if set == every {
        *state = *from;
        return;
    }
    for (to, from) in state.as_mut().iter_mut().zip(from.as_ref()) {
        for lane in lanes_of(set) {
            to.lanes_mut()[lane] = from.lanes()[lane];
        }
    }
}

/// Runs the body of some lanes until one of them reaches the end of its units; the others run
/// along, on the spare memory.
#[inline(always)]
fn advance<'a, M: Mode, K: LaneKeys<'a, M>>(
    keys: &K,
    state: &mut State<M, K::S>,
    work: &mut LaneMessages<'a, M>,
    set: u32,
    pass: usize,
) {
    let mut left = u64::MAX;
    if work.is_even {
        left = work.texts.all[0];
    } else {
        for lane in lanes_of(set) {
            left = left.min(work.texts.all[lane] - work.units[lane]);
        }
    }
    while left > 0 {
        let (lanes, is_even) = (Wave::<K::S>::LANES, work.is_even);
        let (units, spare) = (&work.units, &mut work.spare);
        let mut data = Dealt::<false> {
            streams: (work.texts).streams(lanes, set, units, left, is_even, spare),
            positions: units,
            is_even,
        };
        let done = data.streams.units() as u64;
        pass_over::<M, _>(keys, state, &mut data, pass);
        for (lane, units) in work.units.iter_mut().enumerate() {
            *units += done & u64::from(set >> lane & 1).wrapping_neg();
        }
        left -= done;
    }
}

/// Runs a pass over the whole text of fresh lanes, which then return to its beginning. Lanes at
/// their end wait there, and keep their state.
#[inline(always)]
fn whole_pass<'a, M: Mode, K: LaneKeys<'a, M>>(
    keys: &K,
    state: &mut State<M, K::S>,
    work: &mut LaneMessages<'a, M>,
    fresh: u32,
    pass: usize,
) {
    loop {
        let mut going = 0;
        for lane in lanes_of(fresh) {
            going |= u32::from(work.units[lane] < work.texts.all[lane]) << lane;
        }
        if going == 0 {
            break;
        }
        let mut moved = *state;
        advance(keys, &mut moved, work, going, pass);
        merge::<M, K>(state, &moved, going, u32::MAX);
    }
    for lane in lanes_of(fresh) {
        work.units[lane] = 0;
    }
}

/// Ends the messages whose units are done, and frees their lanes.
#[inline(always)]
fn finish<'a, M: Mode, K: LaneKeys<'a, M>>(
    keys: &K,
    state: &State<M, K::S>,
    work: &mut LaneMessages<'a, M>,
    slots: &mut Slots<K::S>,
    queue: &mut dyn Queue<'a, M>,
) {
    let is_even = work.is_even;
    let mut ending = work.busy;
    if !is_even {
        ending = 0;
        for lane in lanes_of(work.busy) {
            ending |= u32::from(work.units[lane] == work.texts.all[lane]) << lane;
        }
    }
    let group = Group {
        facts: &work.facts,
        set: ending,
        is_even,
    };
    let mut tail = Tail::new(keys, group, slots);
    // Sealing takes nothing where texts end with their units.
    if K::OPEN || !is_even || !work.texts.is_whole() {
        for lane in lanes_of(ending) {
            let (rest, tag) = work.texts.tail(lane);
            tail.take::<M, K>(keys, lane, rest, tag);
        }
    }
    M::tail(keys, state, &mut tail);
    for lane in lanes_of(ending) {
        let (rest, tag) = work.texts.tail(lane);
        let authentic = tail.give::<M, K>(keys, lane, rest, tag);
        if K::OPEN {
            let outcome = Outcome {
                authentic,
                padding: tail.padding[lane],
            };
            queue.done(work.number[lane], outcome);
        }
    }
    tail.clear(keys.l());
    work.busy &= !ending;
    work.texts.end_rows();
}
