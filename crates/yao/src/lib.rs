//! Crate `yao`: garbled circuits between two parties, semi-honest. Other parties may own inputs and
//! learn results.
//!
//! The protocol is Yao's in the form of Lindell and Pinkas ("A Proof of Security of Yao's Protocol
//! for Two-Party Computation", J. Cryptology 2009, section 4) with free XOR, half gates and the
//! multi-instance hash of crate `garble`. The messages and their flights are in [`cost`](self);
//! steps are numbered here:
//!
//! 1. *Set-up.* The garbler sends a public nonce; base OTs, if the evaluator has inputs and none of
//!    a pool; on them a silent extension, where [`Setting::silent`] says so. From the nonce and the
//!    identifier of the session, both expand the public seed S of the hash and a generator of input
//!    labels. An owner of inputs without a role sends the garbler a seed.
//! 2. *Input of the garbler.* Both expand active labels from the generator of input labels; the
//!    garbler derives each zero label as `active ^ bit * delta`. Nothing is sent: active labels are
//!    public values that depend neither on the bits nor on `delta`, as the simulation of the
//!    evaluator's view requires; the hash is robust for labels that the evaluator knows. Their
//!    permute bits are 0.
//! 3. *Input of the evaluator.* Correlated OT with offset `delta` and the evaluator's choices, by
//!    the malicious form of SoftSpoken OT, or of Ferret, whose OTs are made in refills; or from
//!    random OTs of a pool, which the garbler turns to `delta` by an answer of one block each. Both
//!    then clear the permute bit of the zero label. With such permute bits, an AND with an operand
//!    known to its owner takes half a table (`garble::known_operand`).
//!
//!    *Input of a party without a role.* The owner shares each bit by XOR: the garbler's share
//!    comes from the seed and goes through step 2, the other one is sent to the evaluator and goes
//!    through step 3. Labels of the input are the XOR of those of its shares.
//! 4. *Tape.* The garbler streams tables while the evaluator evaluates.
//! 5. *Settle.* Each party sends a digest of all that it sent; the other compares it with what it
//!    received. This detects accidental corruption, not a malicious party.
//! 6. *Open.* To the evaluator: hashes of both labels of each output bit. To the garbler: hashes
//!    of the active labels. To a party without a role: the former from the garbler and the latter
//!    from the evaluator. An output is accepted only if it matches one of the two labels.
//!
//! Security: semi-honest, one party, with a role or without; parties without a role may collude
//! with each other and with one of the two that have a role, who then sees their inputs and results
//! as if these were its own. Assumes that the hash is a circular correlation
//! robust multi-instance hash (ideal cipher) and strong Diffie-Hellman in ristretto255 in the
//! random oracle model for base OTs. A malicious garbler can garble another function. A malicious
//! evaluator that tries to learn `c` bits of the offset through the OTs is caught with probability
//! `1 - 2^-c`. See SECURITY.md.
#![forbid(unsafe_code)]

mod common;
mod cost;
mod evaluator_side;
mod garbler_side;
mod opening;
mod ots;
mod outside;
mod ports;
mod references;
pub mod sides;
mod steps;
mod tables;

use evaluator_side::EvaluatorSide;
use garbler_side::GarblerSide;
use outside::Outside;
use ports::PairPorts;
use sealane_block::{Block, Erased};
use sealane_circuit::Tape;
use sealane_garble::Scheme;
use sealane_net::Mesh;
use sealane_ot::forms::OffsetRequest;
use sealane_parties::PartyId;
use sealane_party::papers::{OT_CHECK_BITS, SILENT_CHECK_BITS};
use sealane_party::{Fault, NoOffline, Opened, Party, Planes, Result, Start};
use sealane_protocol::{
    Algebra, Basis, Correlation, Corruption, Cost, Demand, Domain, DomainProfile, Goal, Paper,
    Profile, Protocol, Role, SecurityLevel, Setting, Sharing, StepShape, Threshold,
};
use std::marker::PhantomData;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

pub use tables::{IncomingTables, OutgoingTables};

/// Wire labels: zero labels at the garbler, active labels at the evaluator.
pub type Labels = Planes<Block>;

/// The protocol under one garbling scheme, as plans see it.
pub struct Yao<G = MultiInstance>(PhantomData<G>);

/// One party of a run, with tables garbled under one scheme.
pub struct YaoParty<G = MultiInstance> {
    me: PartyId,
    setting: Setting,
    side: Side,
    garbling: PhantomData<G>,
}

/// The choice of garbling scheme, which distinguishes the protocols of this crate.
pub trait Garbling: Send + 'static {
    /// The scheme.
    const SCHEME: Scheme;
    /// The name of the protocol.
    const NAME: &'static str;
    /// The assumption on the hash.
    const HASH: &'static str;
    /// The assumptions on the hash and on base OTs.
    const ASSUMPTION: &'static str;
    /// The building blocks of the protocol, with their papers.
    const REFERENCES: &'static [Paper];
}

/// Half gates under the multi-instance hash: the protocol `yao`.
pub struct MultiInstance;

/// Three-halves: the protocol `yao-three-halves`, for networks on which bytes cost more than AES.
pub struct ThreeHalves;

/// The constants of a scheme whose hash has this assumption.
macro_rules! assumptions {
    ($hash:literal) => {
        const HASH: &'static str = $hash;
        const ASSUMPTION: &'static str = concat!($hash, "; ", sealane_party::of_base_ots!());
    };
}

impl Garbling for MultiInstance {
    const SCHEME: Scheme = Scheme::Mi;
    const NAME: &'static str = "yao";
    assumptions!("the MI hash is circular correlation robust (ideal cipher)");
    const REFERENCES: &'static [Paper] = references::MULTI_INSTANCE;
}

impl Garbling for ThreeHalves {
    const SCHEME: Scheme = Scheme::ThreeHalves;
    const NAME: &'static str = "yao-three-halves";
    assumptions!("AES is an ideal cipher");
    const REFERENCES: &'static [Paper] = references::THREE_HALVES;
}

/// The two roles, and a party without one.
enum Side {
    Garbler(Erased<GarblerSide>),
    Evaluator(Erased<EvaluatorSide>),
    Outside(Erased<Outside>),
}

/// A step that has begun.
pub enum YaoPending<'a> {
    /// This party has finished its part.
    Done(Labels),
    /// A party without a role waits for so many flights between others. It holds the shapes of what
    /// the step makes, and whether these are columns that meet.
    Watch(usize, Vec<Labels>, bool),
    /// The owner of an input has no role, and sends a share to the evaluator.
    Shared(PartyId, Chosen),
    /// The garbler waits for the evaluator's choices.
    Choices(Chosen),
    /// The evaluator has sent its choices, and then waits for the answer to them.
    Chosen(Chosen, OffsetRequest),
    /// The evaluator waits for the answer to its choices.
    Answer(Chosen, OffsetRequest),
    /// The evaluator waits for tables.
    Tables(u64, &'a Tape, usize, Vec<Arc<Labels>>),
    /// The evaluator waits for the tables of pairs.
    Pairs(u64, &'a Tape, PairPorts),
    /// This party has run the tape of pairs.
    Met(Vec<Labels>),
    /// Both wait for the other's digest.
    Settle,
    /// A role waits for the other's hashes of labels; it keeps the numbers of its decodings.
    Hashes(Vec<Opened<Labels>>, Vec<u64>),
    /// A party without a role waits for hashes from both.
    Outside(Vec<Opened<Labels>>),
}

/// An input, or a share of one, whose labels the evaluator chooses.
pub struct Chosen {
    planes: usize,
    elements: usize,
    /// Labels of the garbler's share, if the owner has no role.
    others: Option<Labels>,
}

impl Chosen {
    fn count(&self) -> usize {
        self.planes * self.elements
    }

    /// The labels of the input, from those that the evaluator has chosen.
    fn labels(self, chosen: Vec<Block>) -> Labels {
        let mut labels = Planes::new(self.planes, self.elements, chosen);
        if let Some(others) = self.others {
            let both = labels.data_mut().iter_mut().zip(others.data());
            both.for_each(|(label, other)| *label ^= *other);
        }
        labels
    }
}

/// The domain of all values.
const LABELS: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: false,
};

const ROLES: &[Role] = &[Role::one("garbler"), Role::one("evaluator")];

impl<G: Garbling> Protocol for Yao<G> {
    fn profile() -> Profile {
        Profile {
            name: G::NAME,
            version: 6,
            roles: ROLES,
            outsiders: true,
            arithmetic: false,
            settles: false,
            offline: false,
            pools: true,
            silent: true,
            corruption: Corruption::SemiHonest(Threshold::Exactly(1)),
            assumption: G::ASSUMPTION,
            references: G::REFERENCES,
            security: SecurityLevel {
                // What the checks of oblivious transfers leave: runs without transfers have 127
                // bits, those of a label, and runs without silent transfers no statistical part.
                computational: OT_CHECK_BITS,
                statistical: SILENT_CHECK_BITS,
            },
        }
    }

    fn basis(setting: &Setting, demand: &Demand) -> Basis {
        references::basis(&Self::profile(), G::HASH, setting, demand)
    }

    fn domain(_: Algebra) -> Domain {
        LABELS
    }

    fn domain_profile(_: Domain, _: usize) -> DomainProfile {
        let (goal, share_bits) = (Goal::Size, 128);
        DomainProfile { goal, share_bits }
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(G::SCHEME, setting, work)
    }

    fn demand(setting: &Setting, work: &StepShape) -> Demand {
        cost::demand(setting, work)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, demand)
    }

    fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
        cost::pool_bits(setting, kind)
    }

    fn state_bytes(setting: &Setting, demand: &Demand) -> u64 {
        cost::state_bytes(setting, demand)
    }

    fn refill_counts(_: &Setting, lacking: &Demand) -> Demand {
        lacking.in_units(|_, _| cost::refill_unit())
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::refill_cost(setting, demand)
    }
}

impl<G: Garbling> Party for YaoParty<G> {
    type Protocol = Yao<G>;
    type Offline = NoOffline<()>;
    /// The evaluator hears the nonce before it sends choices, and the garbler these before it
    /// answers.
    const HEARS_FIRST: bool = true;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Self> {
        let [garbler, evaluator] = cost::roles(start.setting);
        let (me, setting) = (start.me, start.setting.clone());
        let scheme = (G::SCHEME, cost::garbling_roles(start.setting));
        let side = match setting.role_of(me) {
            Some(0) => {
                let side = GarblerSide::set_up(start, scheme, demand, evaluator, mesh)?;
                Side::Garbler(Erased::new(side))
            }
            Some(_) => {
                let ot = cost::transfers(demand) > 0;
                let side = EvaluatorSide::set_up(start, scheme, ot, garbler, mesh)?;
                Side::Evaluator(Erased::new(side))
            }
            None => {
                let side = Outside::set_up(start, G::SCHEME, demand, mesh)?;
                Side::Outside(Erased::new(side))
            }
        };
        Ok(YaoParty {
            me,
            setting,
            side,
            garbling: PhantomData,
        })
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let count = usize::try_from(cost::transfers(demand));
        let count = count.map_err(|_| Fault::internal("a refill beyond memory"))?;
        match &mut self.side {
            Side::Garbler(side) => side.refill(count, mesh),
            Side::Evaluator(side) => side.refill(count, mesh),
            Side::Outside(_) => Ok(()),
        }
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
