//! The trait, and what it runs.

use crate::cost::{Cost, Demand};
use crate::share::Shares;
use crate::words::{Algebra, Domain, PartySet, Profile, Setting, StepShape};
use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_net::{Mesh, NetError, PartyId};
use std::sync::Arc;
use zeroize::Zeroizing;

/// One party of one run of a protocol.
///
/// The functions without `self` describe the protocol and are all that planning needs; the methods
/// run it. Every message that a method writes or reads is one that the costs announce, in the same
/// flight: tests compare the two byte by byte.
///
/// Set-up ([`Protocol::prepare`]) is straight-line code over blocking channels. Online steps are
/// split-phase: [`Protocol::begin`] writes the first flight, each [`Protocol::advance`] reads one
/// flight and writes the next. Neither flushes; the engine does, once everything that can write has
/// written, so steps that do not wait for each other share rounds, whatever they are.
///
/// What keeps the parties in step is a rule without messages: a step whose cost has no flights is
/// done when it has begun; any other step takes one [`Protocol::advance`] for each flight, at every
/// party alike, whether or not that party has something to read. So all parties begin and advance
/// the same steps in the same order, and bytes need no labels.
pub trait Protocol: Sized + Send {
    /// This party's shares of a tensor. A party without a role holds shapes and no shares.
    type Share: Shares;
    /// What a step has begun and not finished; it may hold on to the step's operands.
    type Pending<'a>: Send
    where
        Self: 'a;
    /// A check that a reveal must settle first.
    type Check: Send;

    /// What the protocol is.
    fn profile() -> Profile;
    /// The domain in which it computes in an algebra: where steps of that algebra want their
    /// operands and leave their results. Asked for `Z2`, and for `Z2k` if it has arithmetic.
    fn domain(algebra: Algebra) -> Domain;
    /// The domain in which inputs arrive.
    fn input_domain(algebra: Algebra) -> Domain {
        Self::domain(algebra)
    }
    /// Exact cost of a step.
    fn cost(setting: &Setting, work: &StepShape) -> Cost;
    /// What a step wants prepared.
    fn demand(setting: &Setting, work: &StepShape) -> Demand;
    /// Exact cost of preparing a demand.
    fn prepare_cost(setting: &Setting, demand: &Demand) -> Cost;

    /// This party at the start of a run.
    fn start(setting: &Setting, me: PartyId, cpu: Cpu, coins: Coins) -> Self;
    /// Makes what the plan demands. May flush and wait.
    fn prepare(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<(), Fault>;
    /// Shares of public values, given as bits plane by plane, 0 or 1 a byte. No message.
    fn constant(
        &mut self,
        domain: Domain,
        planes: usize,
        elements: usize,
        bits: &[u8],
    ) -> Self::Share;
    /// A sum of multiples by public factors modulo `2^k`: element `l` of the result is the sum,
    /// over all terms and all their planes `p`, of the factor times element `l` of plane `p`. No
    /// message. Called if the profile says that the protocol has arithmetic.
    fn linear(
        &mut self,
        domain: Domain,
        lanes: usize,
        terms: &[Term<'_, Self::Share>],
    ) -> Result<Self::Share, Fault> {
        let _ = (domain, lanes, terms);
        let name = Self::profile().name;
        Err(Fault::Internal(format!("{name} has no arithmetic")))
    }
    /// Begins a step: writes its first flight, or does all of it if its cost has no flights.
    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a;
    /// Reads the flight that is due and writes the next one, if there is one.
    fn advance<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a;
}

/// A step with its operands. [`StepShape`] is its shape. Operands are held, not borrowed, since a step
/// lives on while others run.
pub enum Step<'a, P: Protocol> {
    /// Shares an input.
    Input {
        /// Who knows the values.
        owner: PartyId,
        /// Where they come to live.
        domain: Domain,
        /// Number of values.
        elements: usize,
        /// Bits of each; in `Z_2^k` that is `k`.
        planes: usize,
        /// The values, plane by plane, 0 or 1 a byte; at the owner only.
        bits: Option<Zeroizing<Vec<u8>>>,
    },
    /// Runs a tape on lanes. The planes of all operands, one after the other, are the tape's
    /// inputs; the result has one plane for each output of the tape.
    Tape {
        /// The tape.
        tape: &'a Tape,
        /// Number of lanes, which is the number of elements of each operand.
        lanes: usize,
        /// The operands.
        operands: Vec<Arc<P::Share>>,
    },
    /// Inner products: element `l` of the result is the sum over all planes `p` of the product of
    /// both operands' elements `l` of plane `p`.
    Product {
        /// Where operands and result live.
        domain: Domain,
        /// One operand.
        left: Arc<P::Share>,
        /// The other, of the same shape.
        right: Arc<P::Share>,
    },
    /// Moves shares to another domain.
    Convert {
        /// From where.
        from: Domain,
        /// To where.
        to: Domain,
        /// Bits that hold each value.
        bits: usize,
        /// Whether those bits are two's complement.
        signed: bool,
        /// The shares.
        share: Arc<P::Share>,
    },
    /// Settles all checks, then reveals. Nothing else is under way.
    Reveal {
        /// Each result: where it lives and who learns it.
        results: Vec<(Arc<P::Share>, Domain, PartySet)>,
        /// All checks that are pending.
        checks: Vec<P::Check>,
    },
}

/// A summand of [`Protocol::linear`].
pub struct Term<'a, S> {
    /// Shares of `lanes` elements, of any number of planes.
    pub share: &'a S,
    /// What they are multiplied by, modulo `2^k`.
    pub factor: Factor,
}

/// A public factor of a [`Term`].
pub enum Factor {
    /// One for all.
    Number(u64),
    /// One for each element of each plane, plane by plane.
    Table(Vec<u64>),
}

/// How far a step has come.
pub enum Progress<'a, P: Protocol + 'a> {
    /// One more flight has been written and is to be read.
    More(P::Pending<'a>),
    /// The step is finished.
    Done(Outcome<P>),
}

/// What a finished step leaves.
pub enum Outcome<P: Protocol> {
    /// Shares, and checks that only a reveal settles.
    Share(P::Share, Vec<P::Check>),
    /// For each result, its bits plane by plane (`k` of them in `Z_2^k`) if this party learns it.
    Revealed(Vec<Option<Zeroizing<Vec<u8>>>>),
}

/// Runs one step to its end, with nothing else under way: for the last step of a run, and for
/// tests of a protocol by itself.
pub fn run_alone<'a, P: Protocol + 'a>(
    party: &mut P,
    mesh: &mut Mesh,
    step: Step<'a, P>,
) -> Result<Outcome<P>, Fault> {
    let mut progress = party.begin(step, mesh)?;
    loop {
        match progress {
            Progress::Done(outcome) => return Ok(outcome),
            Progress::More(pending) => {
                mesh.flush()?;
                progress = party.advance(pending, mesh)?;
            }
        }
    }
}

/// Why a protocol stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The network or the peer's framing.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer sent something that the protocol forbids.
    #[error("party {party:?} broke the protocol: {what}")]
    Peer {
        /// Who.
        party: PartyId,
        /// What was wrong, without any secret.
        what: String,
    },
    /// What came from a party is not what it says it sent.
    #[error("what came from party {0:?} was altered on its way; this party reveals nothing")]
    Altered(PartyId),
    /// A check before a reveal failed: what was computed is not what was meant. Opaque on purpose.
    #[error("a check failed before the results were revealed; this party reveals nothing")]
    CheckFailed,
    /// The engine asked for something that the protocol does not do: a bug.
    #[error("internal error: {0}")]
    Internal(String),
}
