//! Room `clear`: the reference protocol: the same trait **without any secrecy**.
//!
//! Every party learns every input and computes everything itself. It is the oracle of every test
//! and the protocol of `--clear`; its name is part of the job's hash, so no party runs it by
//! accident. It also computes the local part of any run, on inputs that are secret: so values are
//! erased.
#![forbid(unsafe_code)]

use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_protocol::{
    Algebra, Corruption, Cost, Demand, Domain, Fault, Goal, Message, Outcome, Planes, Profile,
    Progress, Protocol, Setting, Shares, Sharing, Step, StepShape,
};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The values themselves, one bit a byte.
pub type Bits = Planes<u8>;

/// One party of a run without secrets.
pub struct Clear {
    me: PartyId,
    parties: u8,
}

/// A step that has begun.
pub enum Pending {
    /// This party's own input, which it has sent.
    Own(Bits),
    /// The owner's bits have not arrived yet.
    Input(PartyId, usize, usize),
}

const PUBLIC: Domain = Domain {
    sharing: Sharing::Public,
    algebra: Algebra::Z2,
    authenticated: false,
};

impl Protocol for Clear {
    type Share = Bits;
    type Pending<'a> = Pending;
    type Check = ();

    fn profile() -> Profile {
        Profile {
            name: "clear",
            version: 1,
            roles: &[],
            outsiders: false,
            goal: Goal::Size,
            arithmetic: false,
            share_bits: 8,
            corruption: Corruption::None,
            assumption: "none: every party sees every input",
            papers: &[],
            security_bits: 0,
        }
    }

    fn domain(_: Algebra) -> Domain {
        PUBLIC
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        match work {
            StepShape::Input {
                owner,
                elements,
                bits,
                ..
            } => {
                let bytes = (elements * bits).div_ceil(8);
                let others = (0..setting.parties as u8).filter(|to| *to != owner.0);
                let message = |to| Message {
                    from: *owner,
                    to: PartyId(to),
                    bytes,
                };
                Cost::of(vec![others.map(message).collect()])
            }
            StepShape::Tape { tape, lanes } => {
                let ands = tape.ands.len() as u64 * lanes;
                // Measured order of magnitude: a gate on 64 lanes costs about a nanosecond.
                let gates = (tape.ands.len() + tape.xors.len()) as u64;
                Cost {
                    ands,
                    compute_ns: gates * lanes.div_ceil(64),
                    ..Cost::default()
                }
            }
            StepShape::Product { .. } | StepShape::Convert { .. } | StepShape::Reveal { .. } => {
                Cost::default()
            }
        }
    }

    fn demand(_: &Setting, _: &StepShape) -> Demand {
        Demand::default()
    }

    fn prepare_cost(_: &Setting, _: &Demand) -> Cost {
        Cost::default()
    }

    fn start(setting: &Setting, me: PartyId, _: Cpu, _: Coins) -> Self {
        Clear {
            me,
            parties: setting.parties as u8,
        }
    }

    fn prepare(&mut self, _: &Demand, _: &mut Mesh) -> Result<(), Fault> {
        Ok(())
    }

    fn constant(&mut self, _: Domain, planes: usize, elements: usize, bits: &[u8]) -> Bits {
        Planes::new(planes, elements, bits.to_vec())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a,
    {
        let done = |share| Progress::Done(Outcome::Share(share, vec![]));
        Ok(match step {
            Step::Input {
                owner,
                elements,
                planes,
                bits: Some(bits),
                ..
            } if owner == self.me => {
                let others = (0..self.parties).map(PartyId).filter(|to| *to != owner);
                let packed = pack_bytes(&bits);
                for to in others {
                    mesh.send(to, &packed)?;
                }
                Progress::More(Pending::Own(Planes::new(planes, elements, bits.to_vec())))
            }
            Step::Input {
                owner,
                elements,
                planes,
                ..
            } => Progress::More(Pending::Input(owner, elements, planes)),
            Step::Tape {
                tape,
                lanes,
                operands,
            } => done(evaluate(tape, lanes, &operands)),
            Step::Convert { share, .. } => done(share.resize(0, share.planes(), false)),
            Step::Product { .. } => {
                return Err(Fault::Internal("clear has no arithmetic".to_string()));
            }
            Step::Reveal { results, .. } => {
                let mine = |share: &Bits| Zeroizing::new(share.data().to_vec());
                let results = results
                    .iter()
                    .map(|(share, _, to)| to.contains(self.me).then(|| mine(share)));
                Progress::Done(Outcome::Revealed(results.collect()))
            }
        })
    }

    fn advance<'a>(
        &mut self,
        pending: Pending,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a,
    {
        let share = match pending {
            Pending::Own(bits) => bits,
            Pending::Input(owner, elements, planes) => {
                let mut bytes = Zeroizing::new(vec![0; (elements * planes).div_ceil(8)]);
                mesh.recv(owner, &mut bytes)?;
                let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1;
                Planes::new(planes, elements, (0..elements * planes).map(bit).collect())
            }
        };
        Ok(Progress::Done(Outcome::Share(share, vec![])))
    }
}

/// Bits, one a byte, packed eight a byte, first bit lowest.
fn pack_bytes(bits: &[u8]) -> Zeroizing<Vec<u8>> {
    let byte = |chunk: &[u8]| chunk.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
    Zeroizing::new(bits.chunks(8).map(byte).collect())
}

/// Runs a tape on all lanes, as many at a time as the room `circuit` evaluates.
fn evaluate(tape: &Tape, lanes: usize, operands: &[Arc<Bits>]) -> Bits {
    let mut out = Planes::zeros(tape.outputs.len(), lanes);
    let planes = operands
        .iter()
        .flat_map(|share| (0..share.planes()).map(|p| share.plane(p)));
    let planes = planes.collect::<Vec<_>>();
    for first in (0..lanes).step_by(LANES) {
        let lanes = first..lanes.min(first + LANES);
        let inputs = planes.iter().map(|plane| pack_lanes(&plane[lanes.clone()]));
        let inputs = Zeroizing::new(inputs.collect::<Vec<_>>());
        let outputs = Zeroizing::new(tape.eval(&inputs));
        for (plane, word) in outputs.iter().enumerate() {
            for (lane, bit) in out.plane_mut(plane)[lanes.clone()].iter_mut().enumerate() {
                *bit = (word[lane / 64] >> (lane % 64) & 1) as u8;
            }
        }
    }
    out
}

/// Lanes that are evaluated at once.
const LANES: usize = 512;

/// Bits, one a byte, as the lanes of one wire.
fn pack_lanes(bits: &[u8]) -> [u64; LANES / 64] {
    let mut lanes = [0; LANES / 64];
    for (lane, bit) in bits.iter().enumerate() {
        lanes[lane / 64] |= u64::from(*bit) << (lane % 64);
    }
    lanes
}
