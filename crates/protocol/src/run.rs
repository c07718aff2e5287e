//! Protocol trait, and the steps that it runs.

use crate::cost::{Cost, Demand};
use crate::share::Shares;
use crate::types::{Algebra, Domain, Profile, Setting, StepShape};
use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_parties::PartySet;
use std::sync::Arc;
use zeroize::Zeroizing;

/// One party of one run of a protocol.
///
/// The functions without `self` describe the protocol and are all that planning needs; the methods
/// run it. Every message that a method writes or reads is announced by the costs, in the same
/// flight: tests compare the two byte by byte.
///
/// Set-up ([`Protocol::prepare`]) is straight-line code over blocking channels. Online steps are
/// split-phase: [`Protocol::begin`] writes the first flight, each [`Protocol::advance`] reads one
/// flight and writes the next. Neither flushes; the engine flushes once every step that can write
/// has written, so steps that do not wait for each other share rounds, whatever they are.
///
/// The parties stay synchronised by a rule without messages: a step whose cost has no flights is
/// done when it has begun; any other step takes one [`Protocol::advance`] for each flight, at every
/// party alike, whether or not that party has something to read. So all parties begin and advance
/// the same steps in the same order, and bytes need no labels.
pub trait Protocol: Sized + Send {
    /// This party's shares of a tensor. A party without a role holds shapes and no shares.
    type Share: Shares;
    /// State of a step between two flights; it may hold the step's operands.
    type Pending<'a>: Send
    where
        Self: 'a;
    /// A check that a reveal must settle first.
    type Check: Send;

    /// Description of the protocol.
    fn profile() -> Profile;
    /// Domain in which it computes in an algebra: the domain of operands and results of the steps
    /// in that algebra. Called for `Z2`, and for `Z2k` if it has arithmetic.
    fn domain(algebra: Algebra) -> Domain;
    /// Domain in which inputs arrive.
    fn input_domain(algebra: Algebra) -> Domain {
        Self::domain(algebra)
    }
    /// Exact cost of a step.
    fn cost(setting: &Setting, work: &StepShape) -> Cost;
    /// Correlations that a step needs prepared.
    fn demand(setting: &Setting, work: &StepShape) -> Demand;
    /// Exact cost of preparing a demand.
    fn prepare_cost(setting: &Setting, demand: &Demand) -> Cost;

    /// Makes this party at the start of a run.
    fn start(setting: &Setting, me: PartyId, cpu: Cpu, coins: Coins) -> Self;
    /// Prepares the correlations of the plan's demand. May flush and wait.
    fn prepare(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<(), Fault>;
    /// Makes shares of public values, given as bits plane by plane, 0 or 1 per byte. Sends no
    /// message.
    fn constant(
        &mut self,
        domain: Domain,
        planes: usize,
        elements: usize,
        bits: &[u8],
    ) -> Self::Share;
    /// Computes a sum of multiples by public factors modulo `2^k`: element `l` of the result is the
    /// sum, over all terms and all their planes `p`, of the factor times element `l` of plane `p`.
    /// Sends no message. Called only if the profile states that the protocol has arithmetic.
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
    /// Begins a step: writes its first flight, or completes it if its cost has no flights.
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

/// A step with its operands; [`StepShape`] is its shape. Operands are owned, not borrowed, since a
/// step outlives the call that begins it.
pub enum Step<'a, P: Protocol> {
    /// Shares an input.
    Input {
        /// Party that knows the values.
        owner: PartyId,
        /// Domain of the shares.
        domain: Domain,
        /// Number of values.
        elements: usize,
        /// Bits of each; in `Z_2^k` that is `k`.
        planes: usize,
        /// The values, plane by plane, 0 or 1 per byte; at the owner only.
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
    /// Computes inner products: element `l` of the result is the sum over all planes `p` of the
    /// product of both operands' elements `l` of plane `p`.
    Product {
        /// Domain of operands and result.
        domain: Domain,
        /// One operand.
        left: Arc<P::Share>,
        /// The other, of the same shape.
        right: Arc<P::Share>,
    },
    /// Converts shares to another domain.
    Convert {
        /// Source domain.
        from: Domain,
        /// Target domain.
        to: Domain,
        /// Bits that hold each value.
        bits: usize,
        /// True if those bits are two's complement.
        signed: bool,
        /// The shares.
        share: Arc<P::Share>,
    },
    /// Settles all checks, then reveals. No other step is under way.
    Reveal {
        /// Each result, with its domain and receivers.
        results: Vec<(Arc<P::Share>, Domain, PartySet)>,
        /// All pending checks.
        checks: Vec<P::Check>,
    },
}

/// A summand of [`Protocol::linear`].
pub struct Term<'a, S> {
    /// Shares of `lanes` elements, of any number of planes.
    pub share: &'a S,
    /// Factor modulo `2^k`.
    pub factor: Factor,
}

/// Public factor of a [`Term`].
pub enum Factor {
    /// One factor for all elements.
    Number(u64),
    /// One factor for each element of each plane, plane by plane.
    Table(Vec<u64>),
}

/// Progress of a step.
pub enum Progress<'a, P: Protocol + 'a> {
    /// One more flight has been written and is to be read.
    More(P::Pending<'a>),
    /// The step is finished.
    Done(Outcome<P>),
}

/// Result of a finished step.
pub enum Outcome<P: Protocol> {
    /// Shares, and checks that only a reveal settles.
    Share(P::Share, Vec<P::Check>),
    /// For each result, its bits plane by plane (`k` of them in `Z_2^k`) if this party learns it.
    Revealed(Vec<Option<Zeroizing<Vec<u8>>>>),
}

/// Runs one step to its end, with no other step under way: for the last step of a run, and for
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

/// Reason why a protocol stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Error of the network or of the peer's framing.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Message of the peer that the protocol forbids.
    #[error("party {party:?} broke the protocol: {what}")]
    Peer {
        /// The peer.
        party: PartyId,
        /// Description of the fault, without any secret.
        what: String,
    },
    /// Payload from a party that differs from the payload that it sent.
    #[error("what came from party {0:?} was altered on its way; this party reveals nothing")]
    Altered(PartyId),
    /// A check before a reveal failed: some value is not what it should be. Opaque on purpose.
    #[error("a check failed before the results were revealed; this party reveals nothing")]
    CheckFailed,
    /// Step that the protocol does not support: a bug of the engine.
    #[error("internal error: {0}")]
    Internal(String),
}
