//! Traits of a party that runs steps.

use crate::fault::{Fault, Result};
use crate::share::Shares;
use crate::step::{Outcome, Progress, Step, Term};
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::Tape;
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_protocol::{Checks, Demand, Domain, Protocol, Setting};

/// Steps of one walk over a plan: the online walk, where values are shares, or the offline one,
/// where they are masks or zero labels.
///
/// Steps are split-phase: [`Steps::begin`] writes the first flight, each [`Steps::advance`] reads
/// one flight and writes the next. Neither flushes; the engine flushes once every step that can
/// write has written, so steps that do not wait for each other share rounds, whatever they are.
///
/// The parties stay synchronised by a rule without messages: a step whose cost has no flights is
/// done when it has begun; any other step takes one [`Steps::advance`] for each flight, at every
/// party alike, whether or not that party has something to read. So all parties begin and advance
/// the same steps in the same order, and bytes need no labels.
pub trait Steps: Sized + Send + 'static {
    /// This party's part of a tensor. A party without a role holds shapes and no shares.
    type Share: Shares;
    /// State of a step between two flights; it may hold the step's operands.
    type Pending<'a>: Send;
    /// Input of a step beside its operands: online, the output of its offline part; offline,
    /// nothing.
    type Material: Send;
    /// Output of a step beside its share: offline, the material of its online part; online,
    /// nothing.
    type Output: Send;
    /// Checks of a step that have to be settled before anything is opened.
    type Check: Send;
    /// True if the party takes [`Step::CompareExchange`], and so needs no copies of elements that
    /// meet.
    const IN_PLACE: bool = false;
    /// True if the party advances in three parts, [`Steps::take`], [`Steps::work`] and
    /// [`Steps::put`]. All steps under way then do one part before any of them does the next. The
    /// walks of a protocol are split both or not at all, since reads keep the order of calls.
    const SPLIT: bool = false;

    /// Counts checks as costs do. A party without checks has none.
    fn count(_checks: &[Self::Check]) -> Checks {
        Checks::default()
    }
    /// Makes the part of public values, one word an element, of which the lowest `bits` count.
    /// Sends no message. In the offline walk a value that is opened online is not known, and given
    /// as zero.
    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Self::Share;
    /// Computes a sum of multiples by public factors modulo `2^k`: element `l` of the result is the
    /// sum, over all terms and all their planes `p`, of the factor times element `l` of plane `p`.
    /// Sends no message. Called only if the profile states that the protocol has arithmetic.
    fn linear(
        &mut self,
        domain: Domain,
        lanes: usize,
        terms: &[Term<'_, Self::Share>],
    ) -> Result<Self::Share> {
        let _ = (domain, lanes, terms);
        Err(Fault::internal("sums in a protocol without arithmetic"))
    }
    /// Begins a step: writes its first flight, or completes it if its cost has no flights.
    /// `material` is the output of the offline part of this step; none where there was no offline
    /// walk.
    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        material: Option<Self::Material>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>>;
    /// Reads the flight that is due and writes the next one, if there is one. A party that does so
    /// in parts has [`Steps::SPLIT`], and those instead.
    fn advance<'a>(
        &mut self,
        mut pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        self.take(&mut pending, mesh)?;
        self.work(&mut pending)?;
        self.put(pending, mesh)
    }
    /// Reads the flight that is due into the state of the step, and does no more.
    fn take(&mut self, pending: &mut Self::Pending<'_>, mesh: &mut Mesh) -> Result<()> {
        let _ = (pending, mesh);
        Ok(())
    }
    /// Computes on what has been read. It sees no mesh and changes this step alone, so that the
    /// steps of a step round may do so in any order, or at once.
    fn work(&self, pending: &mut Self::Pending<'_>) -> Result<()> {
        let _ = pending;
        Ok(())
    }
    /// Writes the next flight, if there is one.
    fn put<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let _ = (pending, mesh);
        Err(Fault::internal("a step that is neither whole nor split"))
    }
}

/// Arguments of a party's set-up.
pub struct Start<'a> {
    /// Roles and security parameters.
    pub setting: &'a Setting,
    /// This party.
    pub me: PartyId,
    /// Identifier of the session, which all parties have agreed on: keys, seeds and hashes are
    /// bound to it.
    pub session: SessionId,
    /// Tier of the CPU.
    pub cpu: Cpu,
    /// Randomness of this party in this session.
    pub coins: Coins,
    /// The demand of [`Setting::pooled`] parties, made before this run.
    pub stocks: Stocks,
}

/// Random OTs of a pair of parties by the role of this party in them: none of a direction of which
/// a run demands nothing. Nothing that depends on them may leave a party before the other has taken
/// its own: the engine sees to it, but for a protocol that [does itself](Party::HEARS_FIRST).
#[derive(Default)]
pub struct Stocks {
    /// OTs of which it has both keys.
    pub sender: Option<Box<dyn Stock>>,
    /// OTs of which it has a choice and its key.
    pub receiver: Option<Box<dyn Stock>>,
}

/// Random OTs of one direction between a pair of parties that were made before this run, and are
/// used in it alone. Both parties take them in the same order; each calls the method of its role.
pub trait Stock: Send {
    /// Fills `pairs` with both keys of the next OTs, at the sender.
    ///
    /// # Errors
    /// The disk fails, or there are no more.
    fn pairs(&mut self, pairs: &mut [[Block; 2]]) -> Result<()>;

    /// Fills `choices` with the random choices of the next OTs, 0 or 1, and `keys` with the keys of
    /// these, at the receiver. There are as many of both.
    ///
    /// # Errors
    /// As [`Stock::pairs`].
    fn keys(&mut self, choices: &mut [u8], keys: &mut [Block]) -> Result<()>;
}

/// One party of one run of a protocol, set up and ready. As [`Steps`] it is the online walk.
pub trait Party: Steps<Output = ()> {
    /// Description of the protocol.
    type Protocol: Protocol;
    /// Offline walk, whose outputs are the material of the online one; [`NoOffline`] for a protocol
    /// whose preparation needs counts alone.
    ///
    /// [`NoOffline`]: crate::NoOffline
    type Offline: Steps<Material = (), Output = Self::Material>;
    /// True if, of OTs of a pool in one direction alone, neither party uses any before it has read
    /// a message that the other has written in the run: the engine lets nobody wait for it then.
    const HEARS_FIRST: bool = false;

    /// Sets up a party that will consume `demand` in all. Straight-line code over blocking
    /// channels: it may flush and wait.
    ///
    /// # Errors
    /// The network fails, or a peer breaks the protocol.
    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Self>;

    /// Adds correlations to the pools, behind those that are left over or that earlier tiles have
    /// not taken yet. No step is under way, so that this too is straight-line code that may flush
    /// and wait. Called only with what [`Protocol::refill_counts`] returned.
    ///
    /// # Errors
    /// The network fails, or a peer breaks the protocol.
    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let _ = (demand, mesh);
        Err(Fault::internal("a refill of a protocol without pools"))
    }

    /// A tape that the run is to begin with so many lanes. A party may make ahead whatever it needs
    /// for it: messages of others are on their way.
    fn expect(&mut self, tape: &Tape, lanes: usize) {
        let _ = (tape, lanes);
    }

    /// The offline walk, for a protocol that has one.
    fn offline(&mut self) -> Option<&mut Self::Offline> {
        None
    }
}

/// Runs one step to its end, with no other step under way: for the last steps of a run, and for
/// tests of a protocol by itself.
///
/// # Errors
/// The errors of the step.
pub fn run_alone<'a, W: Steps>(
    party: &mut W,
    mesh: &mut Mesh,
    step: Step<'a, W>,
    material: Option<W::Material>,
) -> Result<Outcome<W>> {
    let mut progress = party.begin(step, material, mesh)?;
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
