//! One message alone. Where its units can run side by side, they fill the lanes; otherwise one lane
//! works, and the time is that of its chain.
//!
//! Rounds of units take all lanes of the tier as long as there are enough, then those of narrower
//! tiers. So a short message is no slower on a wide tier, and a last round leaves few lanes idle.
//! All that runs in one lane is compiled for the narrowest tiers alone.

use std::iter::repeat_with;

use sealane_block::lanes::{MAX_UNIT, Streams};
use sealane_block::{Block, Cpu, Kernel, Lanes, Tier};
use zeroize::Zeroize;

use super::data::{Alone, Dealt};
use super::keys::Same;
use super::lockstep::{FEW_VECTORS, VECTORS, is_pipelined, lanes_in};
use super::mode::pass_over;
use super::tail::Slots;
use super::work::{Job, Outcome};
use super::{Count, Group, KeyMaterial, Mode, State, Tail, Vectors, Wave, head};

/// Seals or opens one message.
pub(crate) struct Single<'a, M: Mode, const OPEN: bool> {
    pub(crate) cpu: Cpu,
    pub(crate) job: Job<'a, M>,
}

/// Number of units up to which one lane is about as fast as a wave.
const FEW: usize = 2;

/// Number of rounds from which VAES-512 is worth the change to it: where it shares execution ports
/// with narrower vectors, the change alone takes as long as a round.
const LEAST_OF_512: usize = 2;

impl<M: Mode, const OPEN: bool> Kernel for Single<'_, M, OPEN> {
    type Output = Outcome;
    const WIDEST: Tier = Tier::AesNi;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Outcome {
        let job = self.job;
        let material = job.material;
        let keys = Same::<L, M, 1, OPEN> { l, material };
        let messages = Group::of_one(&job.facts);
        let mut state = head::run::<M, _>(&keys, messages);
        let rest = M::rest(job.text.len());
        let (text, rest) = job.text.split_at_mut(job.text.len() - rest);
        for pass in 0..M::PASSES {
            if pass > 0 {
                M::turn(&keys, &mut state);
            }
            if const { M::PARALLEL && (M::PORTABLE_LANES || is_pipelined::<L>()) }
                && text.len() > FEW * 16 * M::UNIT
            {
                state = if const { is_pipelined::<L>() } {
                    side_by_side::<L, M, VECTORS, OPEN>(self.cpu, &keys, state, text, pass)
                } else {
                    side_by_side::<L, M, FEW_VECTORS, OPEN>(self.cpu, &keys, state, text, pass)
                };
            } else {
                let mut alone = Alone {
                    blocks: text.as_chunks_mut().0,
                    unit: M::UNIT,
                };
                pass_over::<M, _>(&keys, &mut state, &mut alone, pass);
            }
        }
        let mut slots = Slots::new(l);
        let mut tail = Tail::new(&keys, messages, &mut slots);
        tail.take::<M, _>(&keys, 0, rest, job.tag);
        M::tail(&keys, &state, &mut tail);
        Outcome {
            authentic: tail.give::<M, _>(&keys, 0, rest, job.tag),
            padding: tail.padding[0],
        }
    }
}

/// The state of one message between two kernels.
type Carried<M> = <<M as Mode>::Words as Count>::Array<Block>;

/// Whole rounds of units of one message, side by side in all lanes of a wide tier.
struct Rounds<'a, M: Mode, const OPEN: bool> {
    material: &'a KeyMaterial<M>,
    state: &'a mut Carried<M>,
    text: &'a mut [u8],
    /// Number of units before these.
    position: u64,
    pass: usize,
}

impl<M: Mode, const OPEN: bool> Kernel for Rounds<'_, M, OPEN> {
    type Output = ();
    const WIDEST: Tier = M::WIDEST;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        if const { !is_wide(L::TIER) } {
            unreachable!("a narrow tier runs no other kernel than `Single`");
        }
        let keys = Same::<L, M, VECTORS, OPEN> {
            l,
            material: self.material,
        };
        let one = carried_in::<L, M>(l, self.state);
        let mut wide = M::spread(&keys, &one, self.position);
        let mut data = Dealt::<true> {
            streams: Streams::deal(self.text, Wave::<Vectors<L, VECTORS>>::LANES, M::UNIT),
            positions: &[self.position],
            is_even: false,
        };
        pass_over::<M, _>(&keys, &mut wide, &mut data, self.pass);
        *self.state = carried_out::<L, M>(&M::fold(&keys, &wide, 0));
    }
}

/// Returns true if a tier has more lanes than the narrowest ones.
const fn is_wide(tier: Tier) -> bool {
    lanes_in(tier) > lanes_in(Tier::AesNi)
}

#[inline(always)]
fn carried_out<L: Lanes, M: Mode>(state: &State<M, Vectors<L, 1>>) -> Carried<M> {
    let mut carried = M::Words::filled(Block::ZERO);
    for (to, from) in carried.as_mut().iter_mut().zip(state.as_ref()) {
        *to = from.lanes()[0];
    }
    carried
}

#[inline(always)]
fn carried_in<L: Lanes, M: Mode>(l: L, carried: &Carried<M>) -> State<M, Vectors<L, 1>> {
    let mut state = M::Words::filled(Wave::zero(l));
    for (to, from) in state.as_mut().iter_mut().zip(carried.as_ref()) {
        // Otherwise the compiler may compute with words of the block, in all that follows.
        *to = Wave::splat(l, *from).optimization_barrier();
    }
    state
}

/// Runs a pass over whole units: rounds in all lanes of wider tiers, and the rest in those of this
/// one, where a last round may be short.
#[inline(always)]
fn side_by_side<L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    cpu: Cpu,
    keys: &Same<'_, L, M, 1, OPEN>,
    mut state: State<M, Vectors<L, 1>>,
    mut text: &mut [u8],
    pass: usize,
) -> State<M, Vectors<L, 1>> {
    let (l, material, unit) = (keys.l, keys.material, 16 * M::UNIT);
    let mut position = 0;
    for (tier, least) in [(Tier::Vaes512, LEAST_OF_512), (Tier::Vaes256, 1)] {
        let round = unit * lanes_in(tier);
        let bytes = text.len() - text.len() % round;
        if tier <= cpu.tier() && tier <= M::WIDEST && bytes >= least * round {
            let (rounds, rest) = text.split_at_mut(bytes);
            let mut carried = carried_out::<L, M>(&state);
            cpu.at_most(tier).run(Rounds::<M, OPEN> {
                material,
                state: &mut carried,
                text: rounds,
                position,
                pass,
            });
            state = carried_in::<L, M>(l, &carried);
            position += (bytes / unit) as u64;
            text = rest;
        }
    }
    if text.is_empty() {
        return state;
    }
    let lanes = Wave::<Vectors<L, N>>::LANES;
    let keys = &Same::<L, M, N, OPEN> { l, material };
    let mut wide = M::spread(keys, &state, position);
    let (rounds, short) = text.split_at_mut(text.len() / (unit * lanes) * unit * lanes);
    if !rounds.is_empty() {
        let mut data = Dealt::<true> {
            streams: Streams::deal(rounds, lanes, M::UNIT),
            positions: &[position],
            is_even: false,
        };
        pass_over::<M, _>(keys, &mut wide, &mut data, pass);
    }
    let next = short.len() / unit;
    if next > 0 {
        // Lanes without a unit have the spare memory: a copy of the others would have to reach the
        // cache before vectors of it could be read.
        let mut spare = [Block::ZERO; MAX_UNIT];
        let units = short.chunks_exact_mut(unit).map(Some);
        let units = units.chain(repeat_with(|| None)).take(lanes);
        let mut data = Dealt::<true> {
            streams: Streams::new(units, M::UNIT, bytemuck::must_cast_slice_mut(&mut spare)),
            positions: &[position + (rounds.len() / unit) as u64],
            is_even: false,
        };
        let mut after = wide;
        pass_over::<M, _>(keys, &mut after, &mut data, pass);
        bytemuck::must_cast_slice_mut::<_, u128>(&mut spare[..M::UNIT]).zeroize();
        let done = Wave::where_first(l, next);
        for (to, after) in wide.as_mut().iter_mut().zip(after.as_ref()) {
            *to = to.unless(done, *after);
        }
    }
    M::fold(keys, &wide, next)
}
