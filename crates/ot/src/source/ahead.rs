//! Correlated OTs that both parties make ahead, so that taking them needs no message.
//!
//! A silent extension makes an iteration at a time, in an exchange of messages. A protocol whose
//! steps share flights takes its OTs from here and refills between steps. A refill makes whole
//! iterations of a silent source, and any number of another one, so its messages depend on nothing
//! but its size. Random OTs that somebody else has made can take the place of a source.

use super::stock::{Batch, Stock, with_room};
use super::{AnyReceiver, AnySender};
use crate::ferret::{Params, Receives, Sends, in_step};
use crate::forms::{receive_correlated, send_correlated};
use crate::traits::{CotCost, CotReceiver, CotSender, CotTerms, SecondKeys};
use crate::traits::{copy_bits, pack, packed_blocks};
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
        self.given.as_ref().map_or(self.stock.left(), given)
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
        let mut batch = self.stock.room(count, false);
        send_correlated(*delta, mesh, self.terms.peer, &mut batch.rows, next)?;
        self.stock.add(batch);
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
        let mut batch = self.stock.room(count, false);
        let result = source.extend(mesh, &mut batch.rows);
        self.stock.add_if(result, batch)?;
        Ok(mesh.flush()?)
    }

    /// Makes `made` more of an extension of base OTs, and takes the next `taken` at once: calls
    /// `each` with their rows in order. What it makes of them is of no use before this returns.
    ///
    /// # Errors
    /// As [`CotSender::extend`]; [`OtError::Ended`] if there are too few.
    pub(crate) fn refill_through(
        &mut self,
        mesh: &mut Mesh,
        made: usize,
        taken: usize,
        mut each: impl FnMut(&SecondKeys, &[Block]),
    ) -> Result<()> {
        if taken == 0 {
            // Straight to where they stay.
            return match made {
                0 => Ok(()),
                made => self.refill(mesh, made),
            };
        }
        let Some(AnySender::SoftSpoken(source)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        let seconds = SecondKeys::Offset(Zeroizing::new(source.delta()));
        let mut scratch = Zeroizing::default();
        let [old, direct] = self.stock.split(made, taken)?;
        for some in parts(old) {
            each(&seconds, self.stock.take(some, &mut [], &mut scratch)?);
        }
        let (mut batch, mut at) = (self.stock.room(made - direct, false), 0);
        let result = source.stream(mesh, made, |q| {
            let (now, kept) = q.split_at((direct - at.min(direct)).min(q.len()));
            each(&seconds, now);
            let first = (at + now.len()).saturating_sub(direct);
            batch.rows[first..][..kept.len()].copy_from_slice(kept);
            at += q.len();
        });
        self.stock.add_if(result, batch)
    }

    /// An iteration, which goes to `made`.
    fn iteration<'a>(&'a mut self, made: &'a mut Batch, more: bool) -> Result<Sends<'a>> {
        let Some(AnySender::Silent(cot)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        *made = self.stock.spare();
        Ok(Sends { cot, made, more })
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
    let (mut sent, mut received) = (Batch::default(), Batch::default());
    let sends = (run.sends)
        .then(|| sender.iteration(&mut sent, run.more))
        .transpose();
    let receives = (run.receives)
        .then(|| receiver.iteration(&mut received))
        .transpose();
    let made = sends.and_then(|sends| in_step(mesh, sends, receives?));
    if let Err(error) = made {
        (sender.source, receiver.source) = (None, None);
        sender.stock.clear();
        receiver.stock.clear();
        return Err(error);
    }
    let whole = "a refill is an iteration";
    if run.sends {
        assert_eq!(sent.count, sender.stock.unit(), "{whole}");
        sender.stock.add(sent);
    }
    if run.receives {
        assert_eq!(received.count, receiver.stock.unit(), "{whole}");
        receiver.stock.add(received);
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
        let mut scratch = Zeroizing::default();
        q.copy_from_slice(self.stock.take(q.len(), &mut [], &mut scratch)?);
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

    fn in_parts(&self) -> bool {
        true
    }

    fn next_keys<'a>(
        &'a mut self,
        mesh: &mut Mesh,
        count: usize,
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<(&'a [Block], SecondKeys)> {
        if self.given.is_some() {
            let q = with_room(scratch, count);
            let seconds = self.extend_keys(mesh, q)?;
            return Ok((q, seconds));
        }
        if self.stock.left() < count {
            // Where there are none there may be no offset.
            return Err(OtError::Ended);
        }
        let seconds = SecondKeys::Offset(Zeroizing::new(self.delta()));
        Ok((self.stock.take(count, &mut [], scratch)?, seconds))
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
        self.stock = Stock::new(1);
        self.stock.add(packed(&choices, keys));
    }

    /// Number of OTs that may be taken.
    pub fn ready(&self) -> usize {
        self.stock.left()
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
        let mut rows = self.stock.room(count, false).rows;
        let mut choices = Zeroizing::new(vec![0; count]);
        next(&mut choices, &mut rows)?;
        let result = receive_correlated(mesh, self.terms.peer, &choices, &mut rows);
        Ok(self.stock.add_if(result, packed(&choices, rows))?)
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
        let mut batch = self.stock.room(count, true);
        let result = source.extend(mesh, &mut batch.choices, &mut batch.rows);
        self.stock.add_if(result, batch)?;
        Ok(mesh.flush()?)
    }

    /// Makes `made` more of an extension of base OTs, and takes the next `taken` at once: calls
    /// `each` with their choices, packed, and their rows in order.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`]; [`OtError::Ended`] if there are too few.
    pub(crate) fn refill_through(
        &mut self,
        mesh: &mut Mesh,
        made: usize,
        taken: usize,
        mut each: impl FnMut(&[Block], &[Block]),
    ) -> Result<()> {
        if taken == 0 {
            // Straight to where they stay.
            return match made {
                0 => Ok(()),
                made => self.refill(mesh, made),
            };
        }
        let Some(AnyReceiver::SoftSpoken(source)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        let mut scratch = Zeroizing::default();
        let [old, direct] = self.stock.split(made, taken)?;
        for some in parts(old) {
            let mut choices = Zeroizing::new([Block::ZERO; packed_blocks(PART)]);
            let choices = &mut choices[..packed_blocks(some)];
            let t = self.stock.take(some, choices, &mut scratch)?;
            each(choices, t);
        }
        let (mut batch, mut at) = (self.stock.room(made - direct, true), 0);
        batch.choices.fill(Block::ZERO);
        let result = source.stream(mesh, made, |choices, t| {
            let (now, kept) = t.split_at((direct - at.min(direct)).min(t.len()));
            each(choices, now);
            let first = (at + now.len()).saturating_sub(direct);
            batch.rows[first..][..kept.len()].copy_from_slice(kept);
            copy_bits(&mut batch.choices, first, choices, now.len(), kept.len());
            at += t.len();
        });
        self.stock.add_if(result, batch)?;
        Ok(mesh.flush()?)
    }

    /// An iteration, which goes to `made`.
    fn iteration<'a>(&'a mut self, made: &'a mut Batch) -> Result<Receives<'a>> {
        let Some(AnyReceiver::Silent(cot)) = &mut self.source else {
            return Err(OtError::Ended);
        };
        *made = self.stock.spare();
        Ok(Receives { cot, made })
    }
}

/// OTs that are taken at a time of those that are left.
const PART: usize = 1 << 12;

/// The numbers of OTs that are taken at a time, of `count`.
fn parts(count: usize) -> impl Iterator<Item = usize> {
    (0..count)
        .step_by(PART)
        .map(move |first| PART.min(count - first))
}

/// OTs of these keys, and choices of one byte each.
///
/// # Panics
/// If there are not as many of both.
fn packed(choices: &[u8], rows: Zeroizing<Vec<Block>>) -> Batch {
    let count = choices.len();
    assert_eq!(count, rows.len(), "a key for each choice");
    let mut blocks = Zeroizing::new(vec![Block::ZERO; packed_blocks(count)]);
    pack(choices, &mut blocks);
    Batch {
        rows,
        choices: blocks,
        count,
    }
}

impl CotReceiver for AheadReceiver {
    fn terms(&self) -> CotTerms {
        self.terms
    }

    /// Takes OTs that were made; [`OtError::Ended`] if there are too few.
    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        let mut scratch = Zeroizing::default();
        t.copy_from_slice(self.next_rows(mesh, t.len(), choices, &mut scratch)?);
        Ok(())
    }

    fn in_parts(&self) -> bool {
        true
    }

    fn next_rows<'a>(
        &'a mut self,
        _: &mut Mesh,
        count: usize,
        choices: &mut [Block],
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<&'a [Block]> {
        assert_eq!(choices.len(), packed_blocks(count), "128 choices a block");
        self.stock.take(count, choices, scratch)
    }
}

impl ZeroizeOnDrop for AheadReceiver {}
