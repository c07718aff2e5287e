//! Crate `clear`: the reference protocol: the same trait **without any secrecy**.
//!
//! Every party learns every input and computes everything itself. It is the oracle of every test
//! and the protocol of `--clear`; its name is part of the job's hash, so no party runs it by
//! accident. It also computes the local part of any run, on inputs that are secret: so values are
//! erased.
#![forbid(unsafe_code)]

use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, NoOffline, Opened, Outcome, Party, Planes, Progress, Shares, Start, Step, Steps,
    from_planes, to_planes,
};
use sealane_protocol::{
    Algebra, Cost, Demand, Domain, DomainProfile, Goal, Kernel, Message, Profile, Protocol,
    Setting, StepShape, TapeShape,
};
use std::mem;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The values themselves, one bit a byte.
pub type Bits = Planes<u8>;

/// A gate on 64 lanes, or on fewer: measured order of magnitude.
const GATE_WORD: Kernel = Kernel::ns("clear_gate_word", 1);

/// The protocol, as plans see it.
pub enum Clear {}

/// One party of a run without secrets.
pub struct ClearParty {
    me: PartyId,
    setting: Setting,
}

/// A step that has begun.
pub enum ClearPending {
    /// This party's own input, which it has sent.
    Own(Bits),
    /// The owner's bits have not arrived yet.
    Input(PartyId, usize, usize),
}

impl Protocol for Clear {
    fn profile() -> Profile {
        Profile {
            name: "clear",
            assumption: "none: every party sees every input",
            ..Profile::HIDES_NOTHING
        }
    }

    fn domain(_: Algebra) -> Domain {
        Domain::public(Algebra::Z2)
    }

    fn domain_profile(_: Domain, _: usize) -> DomainProfile {
        DomainProfile {
            goal: Goal::Size,
            share_bits: 8,
        }
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        match work {
            StepShape::Input(input) => {
                let (from, bytes) = (input.owner, (input.elements * input.bits).div_ceil(8));
                let message = |to| Message { from, to, bytes };
                Cost::of(vec![setting.others(from).map(message).collect()])
            }
            StepShape::Tape(TapeShape { tape, lanes, .. }) => {
                let ands = tape.ands.len() as u64 * lanes;
                let gates = (tape.ands.len() + tape.xors.len()) as u64;
                Cost {
                    ands,
                    work: GATE_WORD.times(gates * lanes.div_ceil(64)),
                    ..Cost::default()
                }
            }
            StepShape::Product(_)
            | StepShape::Ring(_)
            | StepShape::Shuffle(_)
            | StepShape::Sort(_)
            | StepShape::Convert(_)
            | StepShape::Settle { .. }
            | StepShape::Open { .. } => Cost::default(),
        }
    }
}

impl Party for ClearParty {
    type Protocol = Clear;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, _: &Demand, _: &mut Mesh) -> Result<ClearParty, Fault> {
        Ok(ClearParty {
            me: start.me,
            setting: start.setting.clone(),
        })
    }
}

impl Steps for ClearParty {
    type Share = Bits;
    type Pending<'a> = ClearPending;
    type Material = ();
    type Output = ();
    type Check = ();

    fn constant(&mut self, _: Domain, bits: usize, values: &[u64]) -> Bits {
        planes(bits, values)
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault> {
        Ok(match step {
            Step::Input {
                owner,
                bits,
                values: Some(values),
                ..
            } if owner == self.me => {
                let own = planes(bits, &values);
                let packed = pack_bytes(own.data());
                for to in self.setting.others(owner) {
                    mesh.send(to, &packed)?;
                }
                Progress::More(ClearPending::Own(own))
            }
            Step::Input {
                owner,
                elements,
                bits,
                ..
            } => Progress::More(ClearPending::Input(owner, elements, bits)),
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => Progress::share(evaluate(tape, lanes, &operands)),
            Step::Convert { share, .. } => Progress::share(share.resize(0, share.planes(), false)),
            Step::Product { .. } | Step::Ring { .. } => {
                return Err(Fault::internal("clear has no arithmetic"));
            }
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                return Err(Fault::internal("clear sorts by networks, in copies"));
            }
            Step::Settle { .. } => Progress::Done(Outcome::Settled(())),
            Step::Open { results } => {
                let own = |result: &Opened<Bits>| {
                    let (bits, planes) = (result.share.data(), result.share.planes());
                    result
                        .to
                        .contains(self.me)
                        .then(|| from_planes(bits, planes))
                };
                Progress::Done(Outcome::Opened(results.iter().map(own).collect(), ()))
            }
        })
    }

    fn advance<'a>(
        &mut self,
        pending: ClearPending,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault> {
        Ok(Progress::share(match pending {
            ClearPending::Own(bits) => bits,
            ClearPending::Input(owner, elements, planes) => {
                let mut bytes = Zeroizing::new(vec![0; (elements * planes).div_ceil(8)]);
                mesh.recv(owner, &mut bytes)?;
                let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1;
                Planes::new(planes, elements, (0..elements * planes).map(bit).collect())
            }
        }))
    }
}

/// The lowest bits of values, one bit a byte.
fn planes(bits: usize, values: &[u64]) -> Bits {
    let mut planes = to_planes(values, bits);
    Planes::new(bits, values.len(), mem::take(&mut *planes))
}

/// Bits, one a byte, packed eight a byte, first bit lowest.
fn pack_bytes(bits: &[u8]) -> Zeroizing<Vec<u8>> {
    let byte = |chunk: &[u8]| chunk.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
    Zeroizing::new(bits.chunks(8).map(byte).collect())
}

/// Runs a tape on all lanes, as many at a time as the crate `circuit` evaluates.
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
