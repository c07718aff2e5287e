//! State of a party that both walks use, and what both parties expand from public randomness.

use crate::bits::Wire;
use crate::products::{Begun, Products};
use crate::sums::{Challenges, Sum};
use sealane_block::{Block, Cpu, Prg};
use sealane_circuit::Tape;
use sealane_garble::authenticated::Walks;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Purpose, Result, Start, Toss, check_digests};
use sealane_protocol::{Demand, Setting};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// The coin of the set-up.
const SET_UP: Purpose = Purpose {
    name: "auth: set-up",
    number: 0,
    check: "a check of the set-up",
};

/// Role of the party that garbles; that of the other one is 1.
pub(crate) const GARBLER: usize = 0;

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
    pub(crate) peer: PartyId,
    pub(crate) products: P,
    pub(crate) walks: Walks,
    /// Labels of the masked values of inputs, at both parties alike.
    labels: Prg,
    challenges: Challenges,
    /// Number of the next opening, at both parties alike.
    openings: u64,
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

/// Garbler and evaluator.
pub(crate) fn roles(setting: &Setting) -> [PartyId; 2] {
    [setting.player(GARBLER), setting.player(1)]
}

impl<P: Products> Common<P> {
    /// Sets up a party: both toss a coin, from which they expand everything public.
    pub(crate) fn set_up(
        mut start: Start<'_>,
        demand: &Demand,
        mesh: &mut Mesh,
    ) -> Result<Common<P>> {
        let (me, cpu, session) = (start.me, start.cpu, start.session);
        let [garbler, evaluator] = roles(start.setting);
        let garbles = me == garbler;
        let peer = if garbles { evaluator } else { garbler };
        let toss = Toss::commit(SET_UP, &[peer], &mut start.coins, mesh)?;
        mesh.flush()?;
        let toss = toss.hear(mesh)?.open(mesh)?;
        mesh.flush()?;
        let nonce = toss.finish(mesh)?;
        let seed = nonce.stream("auth: hash", session.as_bytes()).block();
        let mut labels = nonce.stream("auth: labels of inputs", session.as_bytes());
        let challenges = Challenges::new(cpu, session, nonce);
        let begun = Begun {
            cpu,
            session,
            nonce,
            garbles,
            peer,
            setting: start.setting,
            coins: start.coins,
            challenges: challenges.clone(),
        };
        Ok(Common {
            cpu,
            garbles,
            me,
            peer,
            products: P::set_up(begun, demand, mesh)?,
            walks: Walks::new(cpu, seed),
            labels: labels.prg(cpu),
            challenges,
            openings: 0,
            tapes: Vec::new(),
            #[cfg(test)]
            omits: None,
            #[cfg(test)]
            trusts_lines: false,
        })
    }

    /// Draws active labels of the next inputs, with a bit 0 of 0.
    pub(crate) fn input_labels(&mut self, count: usize) -> Vec<Block> {
        let mut labels = vec![Block::ZERO; count];
        self.labels.fill(&mut labels);
        let all = labels.iter_mut();
        all.for_each(|label| *label = *label & Block::new(!1));
        labels
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

    /// A public bit.
    pub(crate) fn constant(&self, bit: u8) -> Wire {
        let label = self.input_label(Block::ZERO, bit);
        Wire {
            label,
            ..Wire::default()
        }
    }

    /// Numbers an opening.
    pub(crate) fn opening(&mut self, place: Place) -> Opening {
        let number = self.openings;
        self.openings += 1;
        Opening { place, number }
    }

    /// Begins the sum of an opening in which a party tells these bits.
    pub(crate) fn sum(&self, of: Opening, from: PartyId, bits: &[u8]) -> Sum {
        let garbler = (from == self.me) == self.garbles;
        self.challenges
            .sum(of.place as u8, of.number, garbler, bits)
    }

    /// Compares the sum of the other party with that which it has to be.
    ///
    /// # Errors
    /// [`Fault::Deviated`] if they differ.
    pub(crate) fn compare(&self, place: Place, theirs: Block, ours: Block) -> Result<()> {
        #[cfg(test)]
        if self.omits == Some(place) {
            return Ok(());
        }
        compare(theirs, ours, self.peer, place)
    }

    /// Reads the digest of what crossed, and compares it.
    ///
    /// # Errors
    /// [`Fault::Altered`] if it differs.
    pub(crate) fn check_digest(&self, mesh: &mut Mesh) -> Result<()> {
        let checked = check_digests(mesh, [self.peer]);
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
