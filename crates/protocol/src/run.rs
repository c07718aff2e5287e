//! The trait, and what it runs.

use crate::cost::{Cost, Demand};
use crate::share::Shares;
use crate::words::{Domain, PartySet, Profile, Setting, Work};
use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_net::{Mesh, NetError, PartyId};

/// One party of one run of a protocol.
///
/// The functions without `self` describe the protocol and are all that planning needs; the methods
/// run it. Every message that a method writes or reads is one that the costs announce, in the same
/// flight: tests compare the two byte by byte.
///
/// Set-up ([`Protocol::prepare`]) is straight-line code over blocking channels. Online steps are
/// split-phase: [`Protocol::begin`] writes the first flight, each [`Protocol::advance`] reads one
/// flight and writes the next. Neither flushes; the engine does, once all steps of a batch have
/// written. Steps of one batch are begun and advanced in the same order by all parties.
pub trait Protocol: Sized + Send {
    /// This party's shares of a tensor.
    type Share: Shares;
    /// What a step has begun and not finished; it may hold on to the step's operands.
    type Pending<'a>: Send
    where
        Self: 'a;
    /// A check that a reveal must settle first.
    type Check: Send;

    /// What the protocol is.
    fn profile() -> Profile;
    /// The domain in which a step leaves its result, and in which a tape or a reveal wants its
    /// operands.
    fn domain(work: &Work) -> Domain;
    /// Exact cost of a step.
    fn cost(setting: &Setting, work: &Work) -> Cost;
    /// What a step wants prepared.
    fn demand(setting: &Setting, work: &Work) -> Demand;
    /// Exact cost of preparing a demand.
    fn prepare_cost(setting: &Setting, demand: &Demand) -> Cost;

    /// This party at the start of a run.
    fn start(setting: &Setting, me: PartyId, cpu: Cpu, coins: Coins) -> Self;
    /// Makes what the plan demands. May flush and wait.
    fn prepare(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<(), Fault>;
    /// Shares of public bits, plane by plane, 0 or 1 a byte. No message.
    fn constant(&mut self, planes: usize, elements: usize, bits: &[u8]) -> Self::Share;
    /// Begins a step: writes its first flight.
    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        mesh: &mut Mesh,
    ) -> Result<Self::Pending<'a>, Fault>
    where
        Self: 'a;
    /// Reads the flight that is due and writes the next one, if there is one. It is called once
    /// for each flight of the step's cost, and at least once.
    fn advance<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>, Fault>
    where
        Self: 'a;
}

/// A step with its operands. [`Work`] is its shape.
pub enum Step<'a, P: Protocol + 'a> {
    /// Shares an input: at the owner, `bits` holds the values plane by plane, 0 or 1 a byte.
    Input {
        /// Who knows the values.
        owner: PartyId,
        /// Number of values.
        elements: usize,
        /// Bits of each.
        planes: usize,
        /// The values, at the owner only.
        bits: Option<&'a [u8]>,
    },
    /// Runs a tape on lanes. The planes of all operands, one after the other, are the tape's
    /// inputs; the result has one plane for each output of the tape.
    Tape {
        /// The tape.
        tape: &'a Tape,
        /// Number of lanes, which is the number of elements of each operand.
        lanes: usize,
        /// The operands.
        operands: Vec<&'a P::Share>,
    },
    /// Moves shares to another domain.
    Convert {
        /// From where.
        from: Domain,
        /// To where.
        to: Domain,
        /// The shares.
        share: &'a P::Share,
    },
    /// Settles all checks, then reveals.
    Reveal {
        /// Each result and who learns it.
        results: Vec<(&'a P::Share, PartySet)>,
        /// All checks that are pending.
        checks: Vec<P::Check>,
    },
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
    /// For each result, its bits plane by plane if this party learns it.
    Revealed(Vec<Option<Vec<u8>>>),
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
    /// A check before a reveal failed: what was computed is not what was meant. Opaque on purpose.
    #[error("a check failed before the results were revealed; nothing was revealed")]
    CheckFailed,
    /// The engine asked for something that the protocol does not do: a bug.
    #[error("internal error: {0}")]
    Internal(String),
}
