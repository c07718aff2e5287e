//! One message alone. Where its units can run side by side, they fill the lanes; otherwise one lane
//! works, and the time is that of its chain.

use sealane_block::lanes::Streams;
use sealane_block::{Block, Kernel, Lanes};

use super::data::{One, Wide};
use super::keys::Same;
use super::lockstep::{FEW_VECTORS, VECTORS, is_pipelined};
use super::tail::Slots;
use super::work::{Job, Outcome};
use super::{Group, Keys, Mode, State, Tail, Wave, head};

/// Seals or opens one message.
pub(crate) struct Single<'a, M: Mode, const OPEN: bool> {
    pub(crate) job: Job<'a, M>,
}

/// Number of units up to which one lane is about as fast as a wave.
const FEW: usize = 2;

impl<M: Mode, const OPEN: bool> Kernel for Single<'_, M, OPEN> {
    type Output = Outcome;
    const VAES512: bool = M::VAES512;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Outcome {
        let job = self.job;
        let keys = Same {
            l,
            material: job.material,
        };
        let messages = Group::of_one(&job.facts);
        let mut state = head::run::<L, M, 1>(&keys, messages);
        let rest = M::rest(job.text.len());
        let (text, rest) = job.text.split_at_mut(job.text.len() - rest);
        for pass in 0..M::PASSES {
            if pass > 0 {
                M::turn::<L, 1>(&keys, &mut state);
            }
            let units = text.len() / (16 * M::UNIT);
            if M::is_parallel(OPEN) && units > FEW {
                state = if const { is_pipelined::<L>() } {
                    side_by_side::<L, M, VECTORS, OPEN>(&keys, state, text, pass)
                } else {
                    side_by_side::<L, M, FEW_VECTORS, OPEN>(&keys, state, text, pass)
                };
            } else {
                let mut one = One {
                    blocks: text.as_chunks_mut().0,
                    unit: M::UNIT,
                    position: 0,
                };
                M::body::<L, 1, OPEN>(&keys, &mut state, &mut one, pass);
            }
        }
        let params = job.material.params;
        let mut slots = Slots::new(l);
        let mut tail = Tail::<L, 1>::new(l, &params, messages, &mut slots);
        tail.take::<M, OPEN>(0, &params, rest, job.tag);
        M::tail::<L, 1, OPEN>(&keys, &state, &mut tail);
        Outcome {
            authentic: tail.give::<M, OPEN>(0, &params, rest, job.tag),
            padding: tail.padding[0],
        }
    }
}

/// Runs the body over units in all lanes, in rounds; a short last round runs on a copy.
#[inline(always)]
fn side_by_side<L: Lanes, M: Mode, const N: usize, const OPEN: bool>(
    keys: &Same<'_, L, M>,
    state: State<M, L, 1>,
    text: &mut [u8],
    pass: usize,
) -> State<M, L, 1> {
    let l = Keys::<L, N>::l(keys);
    let lanes = Wave::<L, N>::LANES;
    let round = 16 * M::UNIT * lanes;
    let mut wide = M::spread::<L, N>(keys, &state, 0);
    let (rounds, short) = text.split_at_mut(text.len() / round * round);
    let position = (rounds.len() / (16 * M::UNIT)) as u64;
    if !rounds.is_empty() {
        let mut data = Wide {
            streams: Streams::deal(rounds, lanes, M::UNIT),
            position: 0,
        };
        M::body::<L, N, OPEN>(keys, &mut wide, &mut data, pass);
    }
    let next = short.len() / (16 * M::UNIT);
    if next > 0 {
        // Two blocks for each lane, of which a unit may have one.
        let mut blocks = [[l.splat(Block::ZERO); N]; 2];
        let staged: &mut [u8] = bytemuck::must_cast_slice_mut(blocks.as_flattened_mut());
        staged[..short.len()].copy_from_slice(short);
        let mut data = Wide {
            streams: Streams::deal(&mut staged[..round], lanes, M::UNIT),
            position,
        };
        let mut after = wide;
        M::body::<L, N, OPEN>(keys, &mut after, &mut data, pass);
        short.copy_from_slice(&staged[..short.len()]);
        l.wipe(&mut blocks.as_flattened_mut()[..M::UNIT * N]);
        let done = Wave::where_first(l, next);
        for (to, after) in wide.as_mut().iter_mut().zip(after.as_ref()) {
            *to = to.unless(done, *after);
        }
    }
    M::fold::<L, N>(keys, &wide, next)
}
