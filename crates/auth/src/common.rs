//! State of a party that both walks use, and what all parties expand from public randomness.

use crate::products::{Begun, Products};
use crate::roles::Roles;
use crate::sums::{Challenges, Sum};
use crate::wires::{Stack, Wires};
use sealane_block::{Block, Cpu, Prg};
use sealane_circuit::Tape;
use sealane_garble::authenticated::Walks;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Broadcast, Fault, Purpose, Result, Start, Toss, ZeroSeeds, Zeros, check_digests,
};
use sealane_protocol::{Demand, Setting};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// The coin of the set-up.
const SET_UP: Purpose = Purpose {
    name: "auth: set-up",
    number: 0,
    check: "a check of the set-up",
};

/// A part of the protocol in which something is opened, with the number by which challenges tell it
/// from others, and the name of its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Masks of operands, offline.
    Masks = 0,
    /// Masked values, by the evaluator.
    Values = 1,
    /// Shares of masks of ANDs, by the garbler: its table.
    Rows = 2,
    /// Masks of results.
    Results = 3,
    /// Differences of factors of products, as these are made.
    Products = 4,
}

impl Place {
    /// The name of its check, as errors have it.
    pub(crate) const fn check(self) -> &'static str {
        match self {
            Place::Masks => "a check of opened masks",
            Place::Values => "a check of masked values",
            Place::Rows => "a check of garbled rows",
            Place::Results => "a check of results",
            Place::Products => "a check of authenticated products",
        }
    }
}

/// State of a party that both walks use.
pub(crate) struct Common<P> {
    pub(crate) cpu: Cpu,
    pub(crate) garbles: bool,
    pub(crate) me: PartyId,
    pub(crate) roles: Roles,
    /// All others, in the order of MACs and keys.
    pub(crate) peers: Vec<PartyId>,
    pub(crate) products: P,
    pub(crate) walks: Walks,
    /// Labels of the masked values of inputs, at all parties alike.
    labels: Prg,
    challenges: Challenges,
    /// Number of the next opening, at all parties alike.
    openings: u64,
    /// Messages of parties to all others, which these compare where they are more than two.
    pub(crate) broadcast: Broadcast,
    /// Masks of what garblers answer, where there are several.
    zeros: Option<Zeros>,
    /// At the garbler, the tapes whose masked values it follows.
    tapes: Vec<Arc<Tape>>,
    /// A check that this party leaves out, in a test that has to notice it.
    #[cfg(test)]
    pub(crate) omits: Option<Place>,
    /// True in a test in which this party compares no digests.
    #[cfg(test)]
    pub(crate) trusts_lines: bool,
}

/// An opening: its place and number, which set its challenges apart from all others.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    place: Place,
    number: u64,
}

/// Garbler and evaluator of two parties.
pub(crate) fn roles(setting: &Setting) -> [PartyId; 2] {
    [setting.player(0), setting.player(1)]
}

impl<P: Products> Common<P> {
    /// Sets up a party: all toss a coin, from which they expand everything public.
    pub(crate) fn set_up(
        mut start: Start<'_>,
        demand: &Demand,
        mesh: &mut Mesh,
    ) -> Result<Common<P>> {
        let (me, cpu, session) = (start.me, start.cpu, start.session);
        let roles = Roles::of(start.setting);
        let peers = roles.peers(me);
        let toss = Toss::commit(SET_UP, &peers, &mut start.coins, mesh)?;
        let mut seeds = None;
        if roles.are_many() {
            seeds = Some(ZeroSeeds::send(&peers, &mut start.coins, mesh)?);
        }
        mesh.flush()?;
        let toss = toss.hear(mesh)?;
        let zeros = seeds.map(|seeds| seeds.hear("auth: zeros of answers", cpu, mesh));
        let zeros = zeros.transpose()?;
        let toss = toss.open(mesh)?;
        mesh.flush()?;
        let nonce = toss.finish(mesh)?;
        let mut broadcast = Broadcast::new(me, roles.everyone().len(), session);
        if roles.are_many() {
            // One who has opened different values to different parties has to be found now.
            broadcast.agree(nonce.as_bytes());
            let sent = broadcast.send_echo(mesh)?;
            mesh.flush()?;
            broadcast.check_echo(&sent, mesh)?;
        }
        let seed = nonce.stream("auth: hash", session.as_bytes()).block();
        let mut labels = nonce.stream("auth: labels of inputs", session.as_bytes());
        let challenges = Challenges::new(cpu, session, nonce);
        let begun = Begun {
            cpu,
            session,
            nonce,
            me,
            roles: roles.clone(),
            setting: start.setting,
            coins: start.coins,
            challenges: challenges.clone(),
        };
        Ok(Common {
            cpu,
            garbles: me != roles.evaluator(),
            me,
            peers,
            products: P::set_up(begun, demand, mesh)?,
            roles,
            walks: Walks::new(cpu, seed),
            labels: labels.prg(cpu),
            challenges,
            openings: 0,
            broadcast,
            zeros,
            tapes: Vec::new(),
            #[cfg(test)]
            omits: None,
            #[cfg(test)]
            trusts_lines: false,
        })
    }

    /// Draws active labels of the next inputs, with a bit 0 of 0: as many for each label that this
    /// party holds of a wire. All parties draw those of all garblers.
    pub(crate) fn input_labels(&mut self, count: usize) -> Vec<Vec<Block>> {
        let mut held = Vec::new();
        for garbler in self.roles.garblers() {
            let mut labels = vec![Block::ZERO; count];
            self.labels.fill(&mut labels);
            if self.garbles && garbler != self.me {
                continue;
            }
            let all = labels.iter_mut();
            all.for_each(|label| *label = *label & Block::new(!1));
            held.push(labels);
        }
        held
    }

    /// The label of an input at this party, from the active one and the masked value.
    pub(crate) fn input_label(&self, active: Block, masked: u8) -> Block {
        let active = active ^ Block::new((masked & 1).into());
        if self.garbles {
            active ^ self.products.offset().masked(masked)
        } else {
            active
        }
    }

    /// Public values, from their bits plane by plane.
    pub(crate) fn constant(&self, planes: usize, elements: usize, bits: &[u8]) -> Wires {
        let labels = [0, 1].map(|bit| self.input_label(Block::ZERO, bit));
        let labels = bits.iter().map(|bit| labels[usize::from(*bit)]);
        let labels = labels.collect::<Vec<_>>();
        let masks = (0..2 * self.peers.len()).map(|_| vec![Block::ZERO; bits.len()]);
        let parts = vec![labels; self.held_labels()].into_iter().chain(masks);
        Stack::new(planes, elements, parts.collect())
    }

    /// Labels that this party holds of a wire, which are the first parts of [`Wires`].
    pub(crate) fn held_labels(&self) -> usize {
        self.roles.labels(self.me)
    }

    /// Parts of wires.
    pub(crate) fn wire_parts(&self) -> usize {
        self.held_labels() + self.mask_parts()
    }

    /// Parts of masks: MAC and key for each other party.
    pub(crate) fn mask_parts(&self) -> usize {
        2 * self.peers.len()
    }

    /// Numbers an opening.
    pub(crate) fn opening(&mut self, place: Place) -> Opening {
        let number = self.openings;
        self.openings += 1;
        Opening { place, number }
    }

    /// Begins the sum of an opening in which a party tells these bits.
    pub(crate) fn sum(&self, of: Opening, from: PartyId, bits: &[u8]) -> Sum {
        let from = self.roles.number(from);
        self.challenges.sum(of.place as u8, of.number, from, bits)
    }

    /// Compares the sum of a party with that which it has to be.
    ///
    /// # Errors
    /// [`Fault::Deviated`] if they differ.
    pub(crate) fn compare(
        &self,
        place: Place,
        party: PartyId,
        theirs: Block,
        ours: Block,
    ) -> Result<()> {
        #[cfg(test)]
        if self.omits == Some(place) {
            return Ok(());
        }
        compare(theirs, ours, party, place)
    }

    /// MAC and key of a public 1 towards another party: it is added to the share of the first
    /// garbler, and keys of all others follow.
    pub(crate) fn one_towards(&self, peer: PartyId) -> [Block; 2] {
        let one = Block::new(1);
        match self.roles.first() {
            first if first == self.me => [one, Block::ZERO],
            first if first == peer => [Block::ZERO, self.products.offset() ^ one],
            _ => [Block::ZERO; 2],
        }
    }

    /// Adds this party's part of a sharing of zero, where there are several garblers.
    pub(crate) fn mask_answer(&mut self, answer: Block) -> Block {
        let mut masked = [answer];
        if let Some(zeros) = &mut self.zeros {
            zeros.add_to(&mut masked);
        }
        masked[0]
    }

    /// The verdict of a comparison that any of several parties may have spoilt: who, nobody knows.
    pub(crate) fn of_anyone(&self, compared: Result<()>) -> Result<()> {
        if self.roles.are_many() {
            compared.map_err(|_| Fault::CheckFailed)
        } else {
            compared
        }
    }

    /// Reads the digests of what crossed from these parties, and compares them.
    ///
    /// # Errors
    /// [`Fault::Altered`] if one differs.
    pub(crate) fn check_digests(&self, from: &[PartyId], mesh: &mut Mesh) -> Result<()> {
        let checked = check_digests(mesh, from.iter().copied());
        #[cfg(test)]
        if self.trusts_lines && matches!(checked, Err(Fault::Altered(_))) {
            return Ok(());
        }
        checked
    }

    /// The tape of a step, which a settlement needs when the step has ended. There are as many
    /// different ones as a plan has.
    pub(crate) fn kept(&mut self, tape: &Tape) -> Arc<Tape> {
        if let Some(known) = self.tapes.iter().find(|known| ***known == *tape) {
            return Arc::clone(known);
        }
        let kept = Arc::new(tape.clone());
        self.tapes.push(Arc::clone(&kept));
        kept
    }
}

/// Compares the sum of a party with that which it has to be.
///
/// # Errors
/// [`Fault::Deviated`] if they differ.
pub(crate) fn compare(theirs: Block, ours: Block, party: PartyId, place: Place) -> Result<()> {
    verdict(bool::from(theirs.ct_eq(&ours)), party, place.check())
}

/// The verdict of a check, which the run makes public.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others.
#[inline(never)]
fn verdict(right: bool, party: PartyId, check: &'static str) -> Result<()> {
    if right {
        Ok(())
    } else {
        Err(Fault::Deviated { party, check })
    }
}
