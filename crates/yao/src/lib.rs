//! Room `yao`: two parties, garbled circuits, semi-honest.
//!
//! The protocol is Yao's in the form of Lindell and Pinkas ("A Proof of Security of Yao's Protocol
//! for Two-Party Computation", J. Cryptology 2009, section 4) with free XOR, half gates and the
//! multi-instance hash of room `garble`. The messages and their flights are in [`cost`](self);
//! steps are numbered here:
//!
//! 1. *Prepare.* Base OTs, if the evaluator has inputs; the garbler sends a public nonce. From it
//!    and the identifier of the session, both expand the public seed S of the hash and a generator
//!    of input labels.
//! 2. *Input of the garbler.* Both expand active labels from the generator of input labels; the
//!    garbler derives each zero label as `active ^ bit * delta`. Nothing is sent: active labels are
//!    public values that depend neither on the bits nor on `delta`, as the simulation of the
//!    evaluator's view requires; the hash is robust for labels that the evaluator knows. Their
//!    permute bits are 0.
//! 3. *Input of the evaluator.* Correlated OT with offset `delta`. Both then clear the permute bit
//!    of the zero label. With such permute bits, an AND with an operand known to its owner takes
//!    half a table (`garble::known_operand`).
//! 4. *Tape.* The garbler streams tables while the evaluator evaluates.
//! 5. *Settle.* Each party sends a digest of all that it sent; the other compares it with what it
//!    received. This detects accidental corruption, not a malicious party.
//! 6. *Reveal.* To the evaluator: hashes of both labels of each output bit. To the garbler: hashes
//!    of the active labels. An output is accepted only if it matches one of the two labels.
//!
//! Security: semi-honest, one of two parties; assumes that the hash is a circular correlation
//! robust multi-instance hash (ideal cipher) and computational Diffie-Hellman in ristretto255 in
//! the random oracle model for base OTs. A malicious garbler can garble another function; a
//! malicious evaluator can learn the other's offset bits through the OT extension. See SECURITY.md.
#![forbid(unsafe_code)]

mod common;
mod cost;
mod evaluator_side;
mod garbler_side;
mod papers;
mod tables;

use evaluator_side::EvaluatorSide;
use garbler_side::GarblerSide;
use sealane_block::{Block, Coins, Cpu, Erased};
use sealane_circuit::Tape;
use sealane_garble::{Ports, Roles, Scheme};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_protocol::{
    Algebra, Corruption, Cost, Demand, Domain, Fault, Goal, Outcome, Paper, Planes, Profile,
    Progress, Protocol, Setting, Shares, Sharing, Step, StepShape, check_digests, send_digests,
};
use std::marker::PhantomData;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

pub use tables::{IncomingTables, OutgoingTables};

/// Wire labels: zero labels at the garbler, active labels at the evaluator.
pub type Labels = Planes<Block>;

/// One party of a run, with tables garbled under one scheme.
pub struct Yao<G = MultiInstance> {
    me: PartyId,
    peer: PartyId,
    side: Side,
    garbling: PhantomData<G>,
}

/// The choice of garbling scheme, which distinguishes the protocols of this room.
pub trait Garbling: Send + 'static {
    /// The scheme.
    const SCHEME: Scheme;
    /// The name of the protocol.
    const NAME: &'static str;
    /// The assumption on the hash.
    const ASSUMPTION: &'static str;
    /// The building blocks of the protocol, with their papers.
    const PAPERS: &'static [Paper];
}

/// Half gates under the multi-instance hash: the protocol `yao`.
pub struct MultiInstance;

/// Three-halves: the protocol `yao-three-halves`, for networks on which bytes cost more than AES.
pub struct ThreeHalves;

impl Garbling for MultiInstance {
    const SCHEME: Scheme = Scheme::Mi;
    const NAME: &'static str = "yao";
    const ASSUMPTION: &'static str = "the MI hash is circular correlation robust (ideal cipher); \
                                      CDH in ristretto255 (random oracle)";
    const PAPERS: &'static [Paper] = papers::MULTI_INSTANCE;
}

impl Garbling for ThreeHalves {
    const SCHEME: Scheme = Scheme::ThreeHalves;
    const NAME: &'static str = "yao-three-halves";
    const ASSUMPTION: &'static str = "AES is an ideal cipher; CDH in ristretto255 (random oracle)";
    const PAPERS: &'static [Paper] = papers::THREE_HALVES;
}

/// The two roles; a side is made by [`Protocol::prepare`].
enum Side {
    Unprepared(Erased<Unprepared>),
    Garbler(Erased<GarblerSide>),
    Evaluator(Erased<EvaluatorSide>),
}

/// The inputs of [`Protocol::prepare`], before there is a side.
struct Unprepared {
    cpu: Cpu,
    coins: Coins,
    garbles: bool,
    roles: Roles,
}

/// A step that has begun.
pub enum Pending<'a> {
    /// This party has finished its part.
    Done(Labels),
    /// The garbler waits for the evaluator's choices.
    Choices(usize, usize),
    /// The evaluator waits for tables.
    Tables(&'a Tape, usize, Vec<Arc<Labels>>),
    /// Both wait for the other's digest.
    Settle(Vec<Opened>),
    /// Both wait for the message that opens their results.
    Open(Vec<Opened>),
}

/// A result with its domain and the parties that learn it.
type Opened = (Arc<Labels>, Domain, PartySet);

/// The domain of all values.
const LABELS: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: false,
};

impl<G: Garbling> Protocol for Yao<G> {
    type Share = Labels;
    type Pending<'a> = Pending<'a>;
    type Check = ();

    fn profile() -> Profile {
        Profile {
            name: G::NAME,
            version: 3,
            roles: &["garbler", "evaluator"],
            outsiders: false,
            goal: Goal::Size,
            arithmetic: false,
            share_bits: 128,
            corruption: Corruption::SemiHonest(1),
            assumption: G::ASSUMPTION,
            papers: G::PAPERS,
            // A label has 127 random bits and a permute bit.
            security_bits: 127,
        }
    }

    fn domain(_: Algebra) -> Domain {
        LABELS
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(G::SCHEME, setting, work)
    }

    fn demand(setting: &Setting, work: &StepShape) -> Demand {
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
            roles: cost::garbling_roles(setting),
        };
        Yao {
            me,
            peer,
            side: Side::Unprepared(Erased::new(unprepared)),
            garbling: PhantomData,
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
            roles,
        } = &mut **unprepared;
        let (cpu, peer, ot) = (*cpu, self.peer, !demand.0.is_empty());
        let roles = *roles;
        self.side = if *garbles {
            let side = GarblerSide::prepare(cpu, coins, (G::SCHEME, roles), ot, peer, mesh)?;
            Side::Garbler(Erased::new(side))
        } else {
            let side = EvaluatorSide::prepare(cpu, coins, (G::SCHEME, roles), ot, peer, mesh)?;
            Side::Evaluator(Erased::new(side))
        };
        Ok(())
    }

    fn constant(&mut self, _: Domain, planes: usize, elements: usize, bits: &[u8]) -> Labels {
        // As in the tape: the active label of a constant is zero for both values.
        let delta = match &self.side {
            Side::Garbler(side) => side.delta(),
            _ => Block::ZERO,
        };
        let label = |bit: &u8| if *bit == 1 { delta } else { Block::ZERO };
        Planes::new(planes, elements, bits.iter().map(label).collect())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a,
    {
        let (me, peer) = (self.me, self.peer);
        let done = |labels| Ok(Progress::Done(Outcome::Share(labels, vec![])));
        let more = |pending| Ok(Progress::More(pending));
        match (step, &mut self.side) {
            (
                Step::Input {
                    owner,
                    elements,
                    planes,
                    bits,
                    ..
                },
                Side::Garbler(side),
            ) => match bits {
                // Step 2.
                Some(bits) if owner == me => {
                    done(Planes::new(planes, elements, side.own_input(&bits)))
                }
                _ => more(Pending::Choices(planes, elements)),
            },
            (
                Step::Input {
                    owner,
                    elements,
                    planes,
                    bits,
                    ..
                },
                Side::Evaluator(side),
            ) => match bits {
                // Step 3.
                Some(bits) if owner == me => {
                    let labels = side.own_input(&bits, mesh)?;
                    more(Pending::Done(Planes::new(planes, elements, labels)))
                }
                _ => {
                    let labels = side.garblers_input(planes * elements);
                    done(Planes::new(planes, elements, labels))
                }
            },
            // Step 4. Without an AND there is nothing to send.
            (
                Step::Tape {
                    tape,
                    lanes,
                    operands,
                },
                side,
            ) => match side {
                Side::Garbler(side) => {
                    let labels = side.garble(tape, lanes, &operands, peer, mesh)?;
                    match tape.ands.is_empty() {
                        true => done(labels),
                        false => more(Pending::Done(labels)),
                    }
                }
                Side::Evaluator(side) if tape.ands.is_empty() => {
                    done(side.evaluate(tape, lanes, &operands, peer, mesh)?)
                }
                Side::Evaluator(_) => more(Pending::Tables(tape, lanes, operands)),
                Side::Unprepared(..) => Err(Fault::Internal("not prepared".to_string())),
            },
            // Step 5.
            (Step::Reveal { results, .. }, _) => {
                send_digests(mesh, [peer])?;
                more(Pending::Settle(results))
            }
            (Step::Convert { .. } | Step::Product { .. }, _) => {
                Err(Fault::Internal("yao has one domain, of labels".to_string()))
            }
            (_, Side::Unprepared(..)) => Err(Fault::Internal("not prepared".to_string())),
        }
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
                check_digests(mesh, [peer])?;
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

/// The tape's inputs are the planes of the operands, one after the other.
struct TapePorts<'a> {
    inputs: Vec<&'a [Block]>,
    outputs: Labels,
}

impl<'a> TapePorts<'a> {
    fn new(tape: &Tape, lanes: usize, operands: &'a [Arc<Labels>]) -> TapePorts<'a> {
        let planes =
            |labels: &'a Arc<Labels>| (0..labels.planes()).map(move |plane| labels.plane(plane));
        TapePorts {
            inputs: operands.iter().flat_map(planes).collect(),
            outputs: Planes::zeros(tape.outputs.len(), lanes),
        }
    }
}

impl Ports for TapePorts<'_> {
    fn load(&self, first_lane: usize, width: usize, labels: &mut [Block]) {
        for (bit, labels) in labels.chunks_exact_mut(width).enumerate() {
            labels.copy_from_slice(&self.inputs[bit][first_lane..first_lane + width]);
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let lanes = first_lane..first_lane + labels.len();
        self.outputs.plane_mut(output)[lanes].copy_from_slice(labels);
    }
}

/// Threads for the tables of large tapes on a machine with so many cores: half of them, since
/// connections need some, and the other party needs as many if it runs here too. The number is 1, 2
/// or 4, which share a span of blocks evenly. Tables are the same on any number; only where frames
/// end may differ.
const fn table_threads(cores: usize) -> usize {
    match cores {
        0..4 => 1,
        4..8 => 2,
        _ => 4,
    }
}

/// Returns [`table_threads`] of this machine.
fn threads_here() -> usize {
    table_threads(thread::available_parallelism().map_or(1, NonZero::get))
}

/// Clears the permute bit of a label.
fn unpermuted(label: Block) -> Block {
    label & Block::new(!1)
}
