//! Room `yao`: two parties, garbled circuits, semi-honest.
//!
//! The protocol is Yao's in the form of Lindell and Pinkas ("A Proof of Security of Yao's Protocol
//! for Two-Party Computation", J. Cryptology 2009, section 4) with free XOR, half gates and the
//! multi-instance hash of room `garble`. What crosses, and in which flight, is in [`cost`](self);
//! steps are numbered here:
//!
//! 1. *Prepare.* Base OTs, if the evaluator has inputs; the garbler sends the public seed S of the
//!    hash and a seed of input labels.
//! 2. *Input of the garbler.* Both expand active labels from the seed of input labels; the garbler
//!    derives each zero label as `active ^ bit * delta`. Nothing is sent: active labels are
//!    pseudorandom whatever the bit, which is all that the evaluator's view needs.
//! 3. *Input of the evaluator.* Correlated OT with offset `delta`.
//! 4. *Tape.* The garbler streams tables while the evaluator evaluates.
//! 5. *Settle.* Each party sends a digest of all that it sent; the other compares it with what it
//!    received. This guards against accident, not against malice.
//! 6. *Reveal.* To the evaluator: hashes of both labels of each output bit. To the garbler: hashes
//!    of the active labels. An output is accepted only if it matches one of the two labels.
//!
//! Security: semi-honest, one of two parties; assumes that the hash is a circular correlation
//! robust multi-instance hash (ideal cipher) and computational Diffie-Hellman in ristretto255 in
//! the random oracle model for base OTs. A malicious garbler can garble another function; a
//! malicious evaluator can learn the other's offset bits through the OT extension. See SECURITY.md.
#![forbid(unsafe_code)]

mod cost;
mod evaluator_side;
mod garbler_side;

use evaluator_side::EvaluatorSide;
use garbler_side::GarblerSide;
use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_circuit::Tape;
use sealane_garble::Ports;
use sealane_net::Mesh;
use sealane_protocol::{
    Algebra, Corruption, Cost, Demand, Domain, Fault, Outcome, PartyId, PartySet, Planes, Profile,
    Progress, Protocol, Setting, Shares, Sharing, Step, Work,
};

/// At the garbler zero labels, at the evaluator active labels.
pub type Labels = Planes<Block>;

/// One party of a run.
pub struct Yao {
    me: PartyId,
    peer: PartyId,
    side: Side,
}

/// The two roles; a side is made by [`Protocol::prepare`].
enum Side {
    Unprepared(Box<Unprepared>),
    Garbler(Box<GarblerSide>),
    Evaluator(Box<EvaluatorSide>),
}

/// What [`Protocol::prepare`] makes a side of.
struct Unprepared {
    cpu: Cpu,
    coins: Coins,
    garbles: bool,
}

/// A step that has begun.
pub enum Pending<'a> {
    /// Nothing is to be read.
    Done(Labels),
    /// The garbler waits for the evaluator's choices.
    Choices(usize, usize),
    /// The evaluator waits for tables.
    Tables(&'a Tape, usize, Vec<&'a Labels>),
    /// Both wait for the other's digest.
    Settle(Vec<(&'a Labels, PartySet)>),
    /// Both wait for what opens their results.
    Open(Vec<(&'a Labels, PartySet)>),
}

/// The domain of all values.
const LABELS: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: false,
};

impl Protocol for Yao {
    type Share = Labels;
    type Pending<'a> = Pending<'a>;
    type Check = ();

    fn profile() -> Profile {
        Profile {
            name: "yao",
            version: 1,
            roles: &["garbler", "evaluator"],
            corruption: Corruption::SemiHonest(1),
            assumption: "the MI hash is circular correlation robust (ideal cipher); \
                         CDH in ristretto255 (random oracle)",
            papers: "Zahur, Rosulek, Evans 2015 (half gates); Guo, Katz, Wang, Weng, Yu 2020 (MI); \
                     Asharov, Lindell, Schneider, Zohner 2013 (correlated OT)",
            security_bits: 128,
        }
    }

    fn domain(_: &Work) -> Domain {
        LABELS
    }

    fn cost(setting: &Setting, work: &Work) -> Cost {
        cost::cost(setting, work)
    }

    fn demand(setting: &Setting, work: &Work) -> Demand {
        cost::demand(setting, work)
    }

    fn prepare_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::prepare_cost(setting, demand)
    }

    fn start(setting: &Setting, me: PartyId, cpu: Cpu, coins: Coins) -> Self {
        let [garbler, evaluator] = cost::roles(setting);
        let peer = if me == garbler { evaluator } else { garbler };
        let unprepared = Unprepared {
            cpu,
            coins,
            garbles: me == garbler,
        };
        Yao {
            me,
            peer,
            side: Side::Unprepared(Box::new(unprepared)),
        }
    }

    fn prepare(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<(), Fault> {
        let Side::Unprepared(unprepared) = &mut self.side else {
            return Err(Fault::Internal("prepared twice".to_string()));
        };
        let Unprepared {
            cpu,
            coins,
            garbles,
        } = &mut **unprepared;
        let (cpu, peer, ot) = (*cpu, self.peer, !demand.0.is_empty());
        self.side = if *garbles {
            Side::Garbler(Box::new(GarblerSide::prepare(cpu, coins, ot, peer, mesh)?))
        } else {
            Side::Evaluator(Box::new(EvaluatorSide::prepare(
                cpu, coins, ot, peer, mesh,
            )?))
        };
        Ok(())
    }

    fn constant(&mut self, planes: usize, elements: usize, bits: &[u8]) -> Labels {
        // As in the tape: the active label of a constant is zero, whatever its value.
        let delta = match &self.side {
            Side::Garbler(side) => side.delta(),
            _ => Block::ZERO,
        };
        let label = |bit: &u8| if *bit == 1 { delta } else { Block::ZERO };
        Planes::new(planes, elements, bits.iter().map(label).collect())
    }

    fn begin<'a>(&mut self, step: Step<'a, Self>, mesh: &mut Mesh) -> Result<Pending<'a>, Fault>
    where
        Self: 'a,
    {
        let (me, peer) = (self.me, self.peer);
        Ok(match (step, &mut self.side) {
            // Step 2.
            (
                Step::Input {
                    owner,
                    elements,
                    planes,
                    bits,
                },
                Side::Garbler(side),
            ) => match bits {
                Some(bits) if owner == me => {
                    Pending::Done(Planes::new(planes, elements, side.own_input(bits)))
                }
                _ => Pending::Choices(planes, elements),
            },
            (
                Step::Input {
                    owner,
                    elements,
                    planes,
                    bits,
                },
                Side::Evaluator(side),
            ) => {
                let labels = match bits {
                    // Step 3.
                    Some(bits) if owner == me => side.own_input(bits, mesh)?,
                    _ => side.garblers_input(planes * elements),
                };
                Pending::Done(Planes::new(planes, elements, labels))
            }
            // Step 4.
            (
                Step::Tape {
                    tape,
                    lanes,
                    operands,
                },
                Side::Garbler(side),
            ) => Pending::Done(side.garble(tape, lanes, &operands, peer, mesh)?),
            (
                Step::Tape {
                    tape,
                    lanes,
                    operands,
                },
                Side::Evaluator(_),
            ) => Pending::Tables(tape, lanes, operands),
            // Step 5.
            (Step::Reveal { results, .. }, _) => {
                let digest = mesh.digest_sent(peer);
                mesh.send(peer, &digest)?;
                Pending::Settle(results)
            }
            (Step::Convert { .. }, _) => {
                return Err(Fault::Internal("yao has one domain".to_string()));
            }
            (_, Side::Unprepared(..)) => {
                return Err(Fault::Internal("not prepared".to_string()));
            }
        })
    }

    fn advance<'a>(
        &mut self,
        pending: Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a,
    {
        let peer = self.peer;
        let share = |share| Ok(Progress::Done(Outcome::Share(share, vec![])));
        match (pending, &mut self.side) {
            (Pending::Done(labels), _) => share(labels),
            (Pending::Choices(planes, elements), Side::Garbler(side)) => {
                let labels = side.evaluators_input(planes * elements, mesh)?;
                share(Planes::new(planes, elements, labels))
            }
            (Pending::Tables(tape, lanes, operands), Side::Evaluator(side)) => {
                share(side.evaluate(tape, lanes, &operands, peer, mesh)?)
            }
            (Pending::Settle(results), side) => {
                settle(peer, mesh)?;
                match side {
                    Side::Garbler(side) => side.open(&results, peer, mesh)?,
                    Side::Evaluator(side) => side.open(&results, peer, mesh)?,
                    Side::Unprepared(..) => {}
                }
                Ok(Progress::More(Pending::Open(results)))
            }
            (Pending::Open(results), Side::Garbler(side)) => Ok(Progress::Done(Outcome::Revealed(
                side.learn(&results, peer, mesh)?,
            ))),
            (Pending::Open(results), Side::Evaluator(side)) => Ok(Progress::Done(
                Outcome::Revealed(side.learn(&results, peer, mesh)?),
            )),
            _ => Err(Fault::Internal("a step of the other role".to_string())),
        }
    }
}

/// Step 5: the peer's digest of what it sent is that of what came.
fn settle(peer: PartyId, mesh: &mut Mesh) -> Result<(), Fault> {
    let ours = mesh.digest_received(peer);
    let mut theirs = [0; 32];
    mesh.recv(peer, &mut theirs)?;
    // Both are public: a digest of what crossed in the clear of this protocol.
    if ours == theirs {
        Ok(())
    } else {
        Err(Fault::CheckFailed)
    }
}

/// The tape's inputs are the planes of the operands, one after the other.
struct TapePorts<'a> {
    inputs: Vec<&'a [Block]>,
    outputs: Labels,
}

impl<'a> TapePorts<'a> {
    fn new(tape: &Tape, lanes: usize, operands: &[&'a Labels]) -> TapePorts<'a> {
        let planes = |labels: &&'a Labels| {
            let labels = *labels;
            (0..labels.planes()).map(move |plane| labels.plane(plane))
        };
        TapePorts {
            inputs: operands.iter().flat_map(planes).collect(),
            outputs: Planes::zeros(tape.outputs.len(), lanes),
        }
    }
}

impl Ports for TapePorts<'_> {
    fn load(&self, input: usize, first_lane: usize, labels: &mut [Block]) {
        labels.copy_from_slice(&self.inputs[input][first_lane..first_lane + labels.len()]);
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let lanes = first_lane..first_lane + labels.len();
        self.outputs.plane_mut(output)[lanes].copy_from_slice(labels);
    }
}

/// Active labels of the garbler's inputs, the same at both parties.
fn input_labels(labels: &mut Prg, count: usize) -> Vec<Block> {
    let mut active = vec![Block::ZERO; count];
    labels.fill(&mut active);
    active
}
