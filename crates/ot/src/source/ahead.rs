//! Correlated OTs that both parties make ahead, so that taking them needs no message.
//!
//! A silent extension makes an iteration at a time, in an exchange of messages. A protocol whose
//! steps share flights takes its OTs from here and refills between steps. A refill makes whole
//! iterations of a silent source, and any number of another one, so its messages depend on nothing
//! but its size. Random OTs that somebody else has made can take the place of a source.

use super::{AnyReceiver, AnySender};
use crate::ferret::{Params, Receives, Sends, in_step};
use crate::forms::{receive_correlated, send_correlated};
use crate::traits::{CotCost, CotReceiver, CotSender, CotTerms, SecondKeys};
use crate::traits::{choice, pack, packed_blocks};
use crate::{Flights, OtError, Result, Security, ferret::FerretCost};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Messages of a refill of `count` OTs, those of whole iterations.
pub fn refill(params: Params, source: impl CotCost, count: u64) -> Flights {
    FerretCost { source, params }.extend(0, count)
}

/// Bits of memory that an OT made ahead takes: its block, its choice, and its part of the rows that
/// an iteration keeps for the next one.
pub fn bits(params: &Params) -> u64 {
    (129 * params.main().rows() as u64).div_ceil(params.given() as u64)
}

/// OTs of one party.
struct Stock {
    /// Number of which a refill makes a multiple.
    unit: usize,
    /// Those that are left, the next one first.
    rows: Zeroizing<Vec<Block>>,
    /// Their choices, one a byte, at the receiver.
    choices: Zeroizing<Vec<u8>>,
    /// Number of those taken from the front.
    taken: usize,
    /// Number of the others.
    left: usize,
}

impl Stock {
    fn new(unit: usize) -> Stock {
        Stock {
            unit,
            rows: Zeroizing::default(),
            choices: Zeroizing::default(),
            taken: 0,
            left: 0,
        }
    }

    /// Makes room for a refill of `count` behind those that are left. Returns where the new ones
    /// begin; they may be taken once `left` counts them.
    ///
    /// # Panics
    /// If `count` is no multiple of the unit.
    fn grow(&mut self, count: usize) -> usize {
        assert_eq!(count % self.unit, 0, "whole units");
        let (kept, made) = (self.left, count);
        // A vector that grew by itself would leave a copy behind.
        let mut rows = Zeroizing::new(vec![Block::ZERO; kept + made]);
        rows[..kept].copy_from_slice(&self.rows[self.taken..][..kept]);
        if !self.choices.is_empty() {
            let mut choices = Zeroizing::new(Vec::with_capacity(kept + made));
            choices.extend_from_slice(&self.choices[self.taken..][..kept]);
            self.choices = choices;
        }
        (self.rows, self.taken) = (rows, 0);
        kept
    }

    /// Counts all new ones, or forgets everything if a refill failed.
    fn count(&mut self, made: bool) {
        if made {
            self.left = self.rows.len() - self.taken;
        } else {
            *self = Stock::new(self.unit);
        }
    }

    /// Takes the next `count`; returns their places.
    fn take(&mut self, count: usize) -> Result<std::ops::Range<usize>> {
        self.left = self.left.checked_sub(count).ok_or(OtError::Ended)?;
        let places = self.taken..self.taken + count;
        self.taken += count;
        Ok(places)
    }
}

/// Sender of OTs that are made ahead.
pub struct AheadSender {
    /// None if no OTs are made here.
    source: Option<AnySender>,
    /// The offset of OTs that are made of random ones.
    offset: Option<Zeroizing<Block>>,
    terms: CotTerms,
    stock: Stock,
    /// Both keys of random OTs, and the number of those taken.
    given: Option<(Zeroizing<Vec<[Block; 2]>>, usize)>,
}

impl AheadSender {
    /// OTs of a source, made in multiples of `unit`: of a silent source those of an iteration. None
    /// at first.
    pub fn new(source: AnySender, unit: usize) -> AheadSender {
        let terms = source.terms().one_way();
        AheadSender {
            terms,
            source: Some(source),
            stock: Stock::new(unit),
            ..AheadSender::none(terms.peer)
        }
    }

    /// No OTs with a peer but those that are given: it needs no set-up.
    pub fn none(peer: PartyId) -> AheadSender {
        AheadSender {
            source: None,
            offset: None,
            terms: CotTerms::new(peer, Security::Malicious).one_way(),
            stock: Stock::new(1),
            given: None,
        }
    }

    /// No OTs but those under an offset that are made of random ones.
    pub fn under(peer: PartyId, offset: Zeroizing<Block>) -> AheadSender {
        AheadSender {
            offset: Some(offset),
            ..AheadSender::none(peer)
        }
    }

    /// Gives random OTs for [`CotSender::extend_keys`], in place of those that are left.
    pub fn give(&mut self, pairs: Zeroizing<Vec<[Block; 2]>>) {
        self.given = Some((pairs, 0));
    }

    /// Number of OTs that may be taken.
    pub fn ready(&self) -> usize {
        let given = |(pairs, taken): &(Zeroizing<Vec<_>>, usize)| pairs.len() - taken;
        self.given.as_ref().map_or(self.stock.left, given)
    }

    /// Makes `count` more under its offset, as [`send_correlated`].
    ///
    /// # Errors
    /// As [`send_correlated`].
    ///
    /// # Panics
    /// If there is no offset.
    pub fn correlate<E: From<OtError>>(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        next: impl FnMut(&mut [[Block; 2]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let delta = Zeroizing::new(self.delta());
        let first = self.stock.grow(count);
        let rows = &mut self.stock.rows[first..];
        send_correlated(*delta, mesh, self.terms.peer, rows, next)?;
        self.stock.count(true);
        Ok(())
    }

    /// Makes `count` more, a multiple of the unit.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    ///
    /// # Panics
    /// If `count` is no multiple of the unit.
    pub fn refill(&mut self, mesh: &mut Mesh, count: usize) -> Result<()> {
        let source = self.source.as_mut().ok_or(OtError::Ended)?;
        let first = self.stock.grow(count);
        let made = source.extend(mesh, &mut self.stock.rows[first..]);
        self.stock.count(made.is_ok());
        made?;
        Ok(mesh.flush()?)
    }

    /// An iteration, which goes behind those that are left.
    fn iteration(&mut self, more: bool) -> Result<Sends<'_>> {
        let Some(AnySender::Silent(cot)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        let first = self.stock.grow(self.stock.unit);
        let q = &mut self.stock.rows[first..];
        Ok(Sends { cot, q, more })
    }
}

/// The directions that run an iteration in step, the same ones at both parties.
#[derive(Clone, Copy, Debug)]
pub struct Directions {
    /// This party sends.
    pub sends: bool,
    /// Its next iteration as a sender follows, also in step.
    pub more: bool,
    /// This party receives.
    pub receives: bool,
}

/// Refills silent sources by an iteration of each of these directions, in step.
///
/// # Errors
/// The network failed, or the other party deviated; then nothing is left of either direction, also
/// of one that did not run. [`OtError::Ended`] if a source is not silent, or has failed before.
///
/// # Panics
/// If a refill of a source is no iteration.
pub fn refill_in_step(
    sender: &mut AheadSender,
    receiver: &mut AheadReceiver,
    run: Directions,
    mesh: &mut Mesh,
) -> Result<()> {
    let mut choices = Zeroizing::default();
    let sends = run.sends.then(|| sender.iteration(run.more)).transpose();
    let receives = (run.receives)
        .then(|| receiver.iteration(&mut choices))
        .transpose();
    let made = sends.and_then(|sends| in_step(mesh, sends, receives?));
    if let Err(error) = made {
        (sender.source, receiver.source) = (None, None);
        sender.stock.count(false);
        receiver.stock.count(false);
        return Err(error);
    }
    if run.sends {
        sender.stock.count(true);
    }
    if run.receives {
        receiver.stock.count(true);
        receiver.keep_choices(&choices);
    }
    Ok(())
}

impl CotSender for AheadSender {
    fn terms(&self) -> CotTerms {
        self.terms
    }

    /// # Panics
    /// If there are none.
    fn delta(&self) -> Block {
        match (&self.source, &self.offset) {
            (Some(source), _) => source.delta(),
            (None, offset) => **offset.as_ref().expect("OTs of this direction"),
        }
    }

    /// Takes OTs that were made; [`OtError::Ended`] if there are too few.
    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<()> {
        let places = self.stock.take(q.len())?;
        q.copy_from_slice(&self.stock.rows[places]);
        Ok(())
    }

    fn extend_keys(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<SecondKeys> {
        let Some((pairs, taken)) = &mut self.given else {
            self.extend(mesh, q)?;
            return Ok(SecondKeys::Offset(Zeroizing::new(self.delta())));
        };
        let pairs = pairs.get(*taken..*taken + q.len()).ok_or(OtError::Ended)?;
        *taken += q.len();
        q.iter_mut().zip(pairs).for_each(|(q, pair)| *q = pair[0]);
        let others = pairs.iter().map(|pair| pair[1]).collect();
        Ok(SecondKeys::Each(Zeroizing::new(others)))
    }
}

impl ZeroizeOnDrop for AheadSender {}

/// Receiver of OTs that are made ahead.
pub struct AheadReceiver {
    /// None if no OTs are ever made.
    source: Option<AnyReceiver>,
    terms: CotTerms,
    stock: Stock,
}

impl AheadReceiver {
    /// OTs of a source; see [`AheadSender::new`].
    pub fn new(source: AnyReceiver, unit: usize) -> AheadReceiver {
        AheadReceiver {
            terms: source.terms().one_way(),
            source: Some(source),
            stock: Stock::new(unit),
        }
    }

    /// No OTs with a peer but those that are given: it needs no set-up.
    pub fn none(peer: PartyId) -> AheadReceiver {
        AheadReceiver {
            source: None,
            terms: CotTerms::new(peer, Security::Malicious).one_way(),
            stock: Stock::new(1),
        }
    }

    /// Gives random OTs by their choices, one a byte, and the keys of these, in place of those that
    /// are left.
    ///
    /// # Panics
    /// If there are not as many of both.
    pub fn give(&mut self, choices: Zeroizing<Vec<u8>>, keys: Zeroizing<Vec<Block>>) {
        assert_eq!(choices.len(), keys.len(), "a key for each choice");
        self.stock = Stock {
            left: keys.len(),
            rows: keys,
            choices,
            ..Stock::new(1)
        };
    }

    /// Number of OTs that may be taken.
    pub fn ready(&self) -> usize {
        self.stock.left
    }

    /// Makes `count` more as [`receive_correlated`], of random OTs that `next` fills in: their
    /// choices, one a byte, and keys.
    ///
    /// # Errors
    /// As [`receive_correlated`]; the errors of `next`.
    pub fn correlate<E: From<OtError>>(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        next: impl FnOnce(&mut [u8], &mut [Block]) -> Result<(), E>,
    ) -> Result<(), E> {
        let first = self.stock.grow(count);
        let rows = &mut self.stock.rows[first..];
        let mut choices = Zeroizing::new(vec![0; count]);
        next(&mut choices, rows)?;
        let made = receive_correlated(mesh, self.terms.peer, &choices, rows);
        self.stock.count(made.is_ok());
        made?;
        self.stock.choices.reserve_exact(count);
        self.stock.choices.extend_from_slice(&choices);
        Ok(())
    }

    /// Makes `count` more, a multiple of the unit.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    ///
    /// # Panics
    /// If `count` is no multiple of the unit.
    pub fn refill(&mut self, mesh: &mut Mesh, count: usize) -> Result<()> {
        let source = self.source.as_mut().ok_or(OtError::Ended)?;
        let first = self.stock.grow(count);
        let rows = &mut self.stock.rows[first..];
        let mut choices = Zeroizing::new(vec![Block::ZERO; packed_blocks(rows.len())]);
        let made = source.extend(mesh, &mut choices, rows);
        self.stock.count(made.is_ok());
        made?;
        self.keep_choices(&choices);
        Ok(mesh.flush()?)
    }

    /// An iteration, which goes behind those that are left.
    fn iteration<'a>(&'a mut self, choices: &'a mut Zeroizing<Vec<Block>>) -> Result<Receives<'a>> {
        let Some(AnyReceiver::Silent(cot)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        let first = self.stock.grow(self.stock.unit);
        let t = &mut self.stock.rows[first..];
        *choices = Zeroizing::new(vec![Block::ZERO; packed_blocks(t.len())]);
        Ok(Receives { cot, choices, t })
    }

    /// Keeps the choices of the newest rows.
    fn keep_choices(&mut self, choices: &[Block]) {
        let made = self.stock.rows.len() - self.stock.choices.len();
        self.stock.choices.reserve_exact(made);
        (self.stock.choices).extend((0..made).map(|i| choice(choices, i)));
    }
}

impl CotReceiver for AheadReceiver {
    fn terms(&self) -> CotTerms {
        self.terms
    }

    /// Takes OTs that were made; [`OtError::Ended`] if there are too few.
    fn extend(&mut self, _: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        let places = self.stock.take(t.len())?;
        t.copy_from_slice(&self.stock.rows[places.clone()]);
        pack(&self.stock.choices[places], choices);
        Ok(())
    }
}

impl ZeroizeOnDrop for AheadReceiver {}
