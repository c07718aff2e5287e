//! Many messages at once: lane `l` works on a message of its own, and takes the next one of the
//! queue when it is done.
//!
//! All lanes advance by as many units as the one with the fewest has left; there, the lanes that
//! are done share a tail, and those that take new messages share a head. Order decides how often
//! this happens: with messages of about the same length side by side, seldom.

use sealane_block::lanes::{MAX_LANES, SPARE_BYTES, Streams};
use sealane_block::{Block, Kernel, Lanes};
use subtle::ConstantTimeEq;

use super::data::Many;
use super::keys::{Each, Keys};
use super::mode::wipe;
use super::tail::Bytes;
use super::{Count, Facts, Material, Mode, Params, State, Tail, Wave, head};

/// Vectors of a wave: as many as keep the AES units busy.
pub(crate) const VECTORS: usize = 8;

/// A message for the lanes.
pub(crate) struct Job<'a, M: Mode> {
    pub(crate) material: &'a Material<M>,
    pub(crate) facts: Facts<'a>,
    /// The text, and as many bytes of what is made of it.
    pub(crate) text: &'a mut [u8],
    /// The rest of the sealed message.
    pub(crate) tag: &'a mut [u8],
    /// Whether the message is authentic; true when sealing.
    pub(crate) authentic: bool,
    /// Bytes of padding at the end of the text, when opening.
    pub(crate) padding: usize,
}

/// Seals or opens all messages, in the order that `order` gives.
pub(crate) struct Lockstep<'j, 'a, M: Mode, const OPEN: bool> {
    pub(crate) params: Params,
    pub(crate) jobs: &'j mut [Job<'a, M>],
    pub(crate) order: &'j [u32],
}

/// What a lane is doing.
struct Work<'a> {
    job: usize,
    facts: Facts<'a>,
    text: &'a mut [u8],
    /// Units that are done, of this pass.
    units: usize,
    /// Units there are.
    all: usize,
}

impl<M: Mode, const OPEN: bool> Kernel for Lockstep<'_, '_, M, OPEN> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let lanes = Wave::<L, VECTORS>::LANES;
        let mut keys = Each::<L, M, VECTORS>::new(l, self.params);
        let mut state = M::Words::filled(Wave::zero(l));
        let mut spare = [0; SPARE_BYTES];
        let mut work: [Option<Work<'_>>; MAX_LANES] = [const { None }; MAX_LANES];
        let mut queue = self.order.iter();
        loop {
            let mut fresh = [None; MAX_LANES];
            let mut count = 0;
            for lane in 0..lanes {
                if work[lane].is_none()
                    && let Some(&job) = queue.next()
                {
                    let from = &mut self.jobs[job as usize];
                    keys.set(lane, from.material);
                    fresh[lane] = Some(from.facts);
                    count += 1;
                    let whole = from.text.len() - M::rest(from.text.len());
                    work[lane] = Some(Work {
                        job: job as usize,
                        facts: from.facts,
                        text: std::mem::take(&mut from.text),
                        units: 0,
                        all: whole / (16 * M::UNIT),
                    });
                }
            }
            if count > 0 {
                let begun = head::run::<L, M, VECTORS>(&keys, &fresh);
                merge::<L, M>(&mut state, &begun, &fresh, count == lanes);
                for pass in 1..M::PASSES {
                    advance_all::<L, M, OPEN>(
                        &keys,
                        &mut state,
                        &mut work,
                        &fresh,
                        &mut spare,
                        pass - 1,
                    );
                    let mut turned = state;
                    M::turn(&keys, &mut turned);
                    merge::<L, M>(&mut state, &turned, &fresh, count == lanes);
                }
            }
            if work.iter().all(|work| work.is_none()) {
                break;
            }
            advance::<L, M, OPEN>(
                &keys,
                &mut state,
                &mut work[..lanes],
                &mut spare,
                M::PASSES - 1,
            );
            finish::<L, M, OPEN>(&keys, &state, &mut work[..lanes], self.jobs);
        }
        keys.wipe();
        for word in state.as_mut() {
            wipe::<L>(&mut word.v);
        }
    }
}

/// Takes over the states of fresh lanes.
#[inline(always)]
fn merge<L: Lanes, M: Mode>(
    state: &mut State<M, L, VECTORS>,
    from: &State<M, L, VECTORS>,
    fresh: &[Option<Facts<'_>>; MAX_LANES],
    all: bool,
) {
    if all {
        *state = *from;
        return;
    }
    for (to, from) in state.as_mut().iter_mut().zip(from.as_ref()) {
        for lane in 0..Wave::<L, VECTORS>::LANES {
            if fresh[lane].is_some() {
                to.lanes_mut()[lane] = from.lanes()[lane];
            }
        }
    }
}

/// Runs the body until some lane has come to the end of its units; lanes without work run along.
#[inline(always)]
fn advance<'a, L: Lanes, M: Mode, const OPEN: bool>(
    keys: &Each<'_, L, M, VECTORS>,
    state: &mut State<M, L, VECTORS>,
    work: &mut [Option<Work<'a>>],
    spare: &mut [u8; SPARE_BYTES],
    pass: usize,
) {
    let unit_bytes = 16 * M::UNIT;
    let left = work.iter().flatten().map(|work| work.all - work.units);
    let mut left = left.min().unwrap_or(0);
    while left > 0 {
        let mut positions = [0; MAX_LANES];
        for (position, work) in positions.iter_mut().zip(work.iter()) {
            *position = work.as_ref().map_or(0, |work| work.units as u64);
        }
        let streams = work.iter_mut().map(|work| {
            let work = work.as_mut()?;
            let from = work.units * unit_bytes;
            Some(&mut work.text[from..from + left * unit_bytes])
        });
        let mut data = Many {
            streams: Streams::new(streams, M::UNIT, spare),
            positions: &positions,
        };
        let done = data.streams.units();
        M::body::<L, VECTORS, OPEN>(keys, state, &mut data, pass);
        for work in work.iter_mut().flatten() {
            work.units += done;
        }
        left -= done;
    }
}

/// Runs a pass over the whole text of fresh lanes, which then stand at its beginning again.
#[inline(always)]
fn advance_all<'a, L: Lanes, M: Mode, const OPEN: bool>(
    keys: &Each<'_, L, M, VECTORS>,
    state: &mut State<M, L, VECTORS>,
    work: &mut [Option<Work<'a>>; MAX_LANES],
    fresh: &[Option<Facts<'_>>; MAX_LANES],
    spare: &mut [u8; SPARE_BYTES],
    pass: usize,
) {
    let mut waiting: [Option<Work<'a>>; MAX_LANES] = [const { None }; MAX_LANES];
    let mut ready: [Option<Work<'a>>; MAX_LANES] = [const { None }; MAX_LANES];
    for lane in 0..MAX_LANES {
        if fresh[lane].is_some() {
            ready[lane] = work[lane].take();
        }
    }
    let lanes = Wave::<L, VECTORS>::LANES;
    loop {
        // Lanes that have come to their end wait, with the state that they have there.
        let mut left = 0;
        for lane in 0..lanes {
            if ready[lane]
                .as_ref()
                .is_some_and(|work| work.units == work.all)
            {
                waiting[lane] = ready[lane].take();
            }
            left += usize::from(ready[lane].is_some());
        }
        if left == 0 {
            break;
        }
        let before = *state;
        advance::<L, M, OPEN>(keys, state, &mut ready[..lanes], spare, pass);
        for (after, before) in state.as_mut().iter_mut().zip(before.as_ref()) {
            for lane in 0..lanes {
                if ready[lane].is_none() {
                    after.lanes_mut()[lane] = before.lanes()[lane];
                }
            }
        }
    }
    for lane in 0..MAX_LANES {
        if let Some(mut done) = waiting[lane].take() {
            done.units = 0;
            work[lane] = Some(done);
        }
    }
}

/// Ends the messages whose units are done, and frees their lanes.
#[inline(always)]
fn finish<'a, L: Lanes, M: Mode, const OPEN: bool>(
    keys: &Each<'_, L, M, VECTORS>,
    state: &State<M, L, VECTORS>,
    work: &mut [Option<Work<'a>>],
    jobs: &mut [Job<'a, M>],
) {
    let (l, params) = (keys.l(), keys.params());
    let mut ending = [None; MAX_LANES];
    for (ending, work) in ending.iter_mut().zip(work.iter()) {
        *ending = work
            .as_ref()
            .filter(|work| work.units == work.all)
            .map(|work| work.facts);
    }
    let mut tail = Tail::<L, VECTORS>::new(l, &params, &ending);
    for lane in 0..work.len() {
        if ending[lane].is_some()
            && let Some(work) = &work[lane]
        {
            let text = &work.text[work.units * 16 * M::UNIT..];
            take_tail::<L, M, VECTORS, OPEN>(&mut tail, lane, &params, text, jobs[work.job].tag);
        }
    }
    M::tail::<L, VECTORS, OPEN>(keys, state, &mut tail);
    for lane in 0..work.len() {
        if ending[lane].is_some()
            && let Some(work) = work[lane].take()
        {
            let job = &mut jobs[work.job];
            job.text = work.text;
            let rest = &mut job.text[work.units * 16 * M::UNIT..];
            job.authentic = give_tail::<L, M, VECTORS, OPEN>(&tail, lane, &params, rest, job.tag);
            job.padding = tail.padding[lane];
        }
    }
}

/// Brings the end of a text, and the tag that came with it, to a lane.
#[inline(always)]
pub(crate) fn take_tail<L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    tail: &mut Tail<'_, L, N>,
    lane: usize,
    params: &Params,
    text: &[u8],
    tag: &[u8],
) {
    let mut bytes: Bytes = [0; 64];
    copy_short(&mut bytes, text);
    if OPEN {
        copy_short(&mut bytes[text.len()..], tag);
    }
    tail.put::<M, OPEN>(lane, params, text.len(), &bytes);
}

/// Brings what was made of it back, and says whether it is authentic.
#[inline(always)]
pub(crate) fn give_tail<L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    tail: &Tail<'_, L, N>,
    lane: usize,
    params: &Params,
    text: &mut [u8],
    tag: &mut [u8],
) -> bool {
    let mut bytes: Bytes = [0; 64];
    tail.take::<M, OPEN>(lane, params, &mut bytes);
    let rest = text.len();
    copy_short(text, &bytes[..rest]);
    if OPEN {
        tail.wrong.lanes()[lane].ct_eq(&Block::ZERO).into()
    } else {
        let len = tag.len();
        copy_short(tag, &bytes[rest..rest + len]);
        true
    }
}

/// Copies all of `from` to the start of `to`; sixteen bytes, as many as most tags have, in one go.
#[inline(always)]
fn copy_short(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<16>(), from.as_array::<16>()) {
        *to = *from;
    } else {
        to[..from.len()].copy_from_slice(from);
    }
}
