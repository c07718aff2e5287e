//! Many messages at once: each lane processes a message of its own, and takes the next one of the
//! queue when it is done.
//!
//! All lanes advance by as many units as the one with the fewest has left; there, the lanes that
//! are done share a tail, and those that take new messages share a head. The order of messages
//! determines how often this happens: seldom, if messages of about the same length are side by
//! side.

use sealane_block::lanes::{MAX_LANES, SPARE_BYTES, Spare, Streams};
use sealane_block::{Kernel, Lanes, Tier};

use super::data::Many;
use super::keys::{Each, LaneKeys, Same};
use super::mode::lanes_of;
use super::tail::Slots;
use super::{Count, Facts, Group, KeyMaterial, Mode, Params, State, Tail, Wave, head};

/// Number of vectors of a wave: as many as keep the AES units busy.
pub(crate) const VECTORS: usize = 8;

/// Number of vectors of a wave in the portable tier, which has no units to fill: with eight lanes,
/// as many as the least of the other tiers.
pub(crate) const FEW_VECTORS: usize = 2;

/// Returns true if a tier has pipelined AES units.
pub(crate) const fn is_pipelined<L: Lanes>() -> bool {
    !matches!(L::TIER, Tier::Portable)
}

/// A message for a lane.
pub(crate) struct Job<'a, M: Mode> {
    pub(crate) material: &'a KeyMaterial<M>,
    pub(crate) facts: Facts<'a>,
    /// The text, replaced by as many bytes of output.
    pub(crate) text: &'a mut [u8],
    /// The rest of the sealed message.
    pub(crate) tag: &'a mut [u8],
}

/// The outcome of a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// True if it is authentic; true when sealing.
    pub(crate) authentic: bool,
    /// Bytes of padding at the end of the text, when opening.
    pub(crate) padding: usize,
}

/// The queue of messages, which also receives outcomes.
pub(crate) trait Queue<'a, M: Mode> {
    /// Puts the next messages into lanes of the set `free`, and returns the set of lanes used: all
    /// of them, unless there are no more messages.
    fn fill(&mut self, work: &mut LaneMessages<'a, M>, free: u32) -> u32;
    /// Reports that a message has been opened.
    fn done(&mut self, number: usize, outcome: Outcome);
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
    const VAES512: bool = M::VAES512;

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
                run::<L, M, N, OPEN>(Same { l, material }, self.queue);
            }
            _ => run::<L, M, N, OPEN>(Each::<L, M, N>::new(l, self.params), self.queue),
        }
    }
}

/// The messages of all lanes. A lane without a message has no text.
pub(crate) struct LaneMessages<'a, M: Mode> {
    /// A bit for each lane that has a message.
    busy: u32,
    /// Numbers of messages, as the queue gave them.
    number: [usize; MAX_LANES],
    material: [Option<&'a KeyMaterial<M>>; MAX_LANES],
    facts: [Facts<'a>; MAX_LANES],
    text: [&'a mut [u8]; MAX_LANES],
    tag: [&'a mut [u8]; MAX_LANES],
    /// Number of units done.
    units: [u64; MAX_LANES],
    /// Number of units in all.
    all: [u64; MAX_LANES],
}

impl<'a, M: Mode> LaneMessages<'a, M> {
    fn new() -> LaneMessages<'a, M> {
        LaneMessages {
            busy: 0,
            number: [0; MAX_LANES],
            material: [None; MAX_LANES],
            facts: [Facts::default(); MAX_LANES],
            text: std::array::from_fn(|_| <&mut [u8]>::default()),
            tag: std::array::from_fn(|_| <&mut [u8]>::default()),
            units: [0; MAX_LANES],
            all: [0; MAX_LANES],
        }
    }

    /// Gives a lane its next message.
    #[inline(always)]
    pub(crate) fn put(&mut self, lane: usize, number: usize, job: Job<'a, M>) {
        self.number[lane] = number;
        self.material[lane] = Some(job.material);
        self.facts[lane] = job.facts;
        self.units[lane] = 0;
        let whole = job.text.len() - M::rest(job.text.len());
        self.all[lane] = (whole / (16 * M::UNIT)) as u64;
        (self.text[lane], self.tag[lane]) = (job.text, job.tag);
    }

    #[inline(always)]
    fn group(&self, set: u32) -> Group<'_> {
        Group {
            facts: &self.facts,
            set,
        }
    }
}

#[inline(always)]
fn run<'a, L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    mut keys: impl LaneKeys<'a, L, M, N>,
    queue: &mut dyn Queue<'a, M>,
) {
    let every = (u64::MAX >> (64 - Wave::<L, N>::LANES)) as u32;
    let mut state = M::Words::filled(Wave::zero(keys.l()));
    let mut spare = [0; SPARE_BYTES];
    let mut slots = Slots::new(keys.l());
    let mut work = LaneMessages::new();
    loop {
        let free = every & !work.busy;
        let fresh = queue.fill(&mut work, free);
        work.busy |= fresh;
        if work.busy == 0 {
            break;
        }
        for lane in lanes_of(fresh) {
            if let Some(material) = work.material[lane] {
                keys.set(lane, material);
            }
        }
        if fresh != 0 {
            let begun = head::run::<L, M, N>(&keys, work.group(fresh));
            merge::<L, M, N>(&mut state, &begun, fresh, every);
            for pass in 1..M::PASSES {
                pass_over::<L, M, N, OPEN>(
                    &keys,
                    &mut state,
                    &mut work,
                    fresh,
                    &mut spare,
                    pass - 1,
                );
                let mut turned = state;
                M::turn(&keys, &mut turned);
                merge::<L, M, N>(&mut state, &turned, fresh, every);
            }
        }
        let busy = work.busy;
        advance::<L, M, N, OPEN>(
            &keys,
            &mut state,
            &mut work,
            busy,
            &mut spare,
            M::PASSES - 1,
        );
        finish::<L, M, N, OPEN>(&keys, &state, &mut work, &mut slots, queue);
    }
    keys.wipe();
}

/// Takes over the states of some lanes.
#[inline(always)]
fn merge<L: Lanes, M: Mode, const N: usize>(
    state: &mut State<M, L, N>,
    from: &State<M, L, N>,
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
fn advance<'a, L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    keys: &impl LaneKeys<'a, L, M, N>,
    state: &mut State<M, L, N>,
    work: &mut LaneMessages<'a, M>,
    set: u32,
    spare: &mut Spare,
    pass: usize,
) {
    let unit_bytes = 16 * M::UNIT;
    let mut left = u64::MAX;
    for lane in lanes_of(set) {
        left = left.min(work.all[lane] - work.units[lane]);
    }
    while left > 0 {
        let units = &work.units;
        let streams = work.text[..Wave::<L, N>::LANES].iter_mut().enumerate();
        let streams = streams.map(|(lane, text)| {
            let from = units[lane] as usize * unit_bytes;
            let whole = set >> lane & 1 == 1;
            whole.then(|| &mut text[from..from + left as usize * unit_bytes])
        });
        let mut data = Many {
            streams: Streams::new(streams, M::UNIT, spare),
            positions: units,
        };
        let done = data.streams.units() as u64;
        M::body::<L, N, OPEN>(keys, state, &mut data, pass);
        for lane in lanes_of(set) {
            work.units[lane] += done;
        }
        left -= done;
    }
}

/// Runs a pass over the whole text of fresh lanes, which then return to its beginning. Lanes at
/// their end wait there, and keep their state.
#[inline(always)]
fn pass_over<'a, L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    keys: &impl LaneKeys<'a, L, M, N>,
    state: &mut State<M, L, N>,
    work: &mut LaneMessages<'a, M>,
    fresh: u32,
    spare: &mut Spare,
    pass: usize,
) {
    loop {
        let mut going = 0;
        for lane in lanes_of(fresh) {
            going |= u32::from(work.units[lane] < work.all[lane]) << lane;
        }
        if going == 0 {
            break;
        }
        let mut moved = *state;
        advance::<L, M, N, OPEN>(keys, &mut moved, work, going, spare, pass);
        merge::<L, M, N>(state, &moved, going, u32::MAX);
    }
    for lane in lanes_of(fresh) {
        work.units[lane] = 0;
    }
}

/// Ends the messages whose units are done, and frees their lanes.
#[inline(always)]
fn finish<'a, L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    keys: &impl LaneKeys<'a, L, M, N>,
    state: &State<M, L, N>,
    work: &mut LaneMessages<'a, M>,
    slots: &mut Slots<L, N>,
    queue: &mut dyn Queue<'a, M>,
) {
    let (l, params) = (keys.l(), keys.params());
    let mut ending = 0;
    for lane in lanes_of(work.busy) {
        ending |= u32::from(work.units[lane] == work.all[lane]) << lane;
    }
    let group = Group {
        facts: &work.facts,
        set: ending,
    };
    let mut tail = Tail::<L, N>::new(l, &params, group, slots);
    for lane in lanes_of(ending) {
        let rest = &work.text[lane][work.units[lane] as usize * 16 * M::UNIT..];
        tail.take::<M, OPEN>(lane, &params, rest, work.tag[lane]);
    }
    M::tail::<L, N, OPEN>(keys, state, &mut tail);
    for lane in lanes_of(ending) {
        let rest = &mut work.text[lane][work.units[lane] as usize * 16 * M::UNIT..];
        let authentic = tail.give::<M, OPEN>(lane, &params, rest, work.tag[lane]);
        if OPEN {
            let outcome = Outcome {
                authentic,
                padding: tail.padding[lane],
            };
            queue.done(work.number[lane], outcome);
        }
    }
    tail.clear(l);
    work.busy &= !ending;
}
