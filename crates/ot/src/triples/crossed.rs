//! Products of columns by rows in both directions, whose messages cross: the body of arithmetic and
//! matrix triples.

use super::BothWays;
use super::in_parts::InParts;
use super::outer::{OuterShape, Products, Reading, Sending, asked, parts};
use super::packing::Kept;
use crate::Result;
use crate::flights::{Flight, Flights, exchanged, then};
use crate::forms::Hasher;
use crate::source::stock::with_room;
use crate::traits::{CotCost, CotReceiver, CotSender, SecondKeys, copy_bits, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use std::ops::Range;
use zeroize::Zeroizing;

/// Products of both directions in the making: this party's columns by the peer's rows, and its rows
/// by the peer's columns.
pub(super) struct BothDirections {
    shape: OuterShape,
    count: usize,
    parts: Vec<Range<usize>>,
    sent: Products,
    received: Products,
    sending: Sending,
    reading: Reading,
    choices: Zeroizing<Vec<Block>>,
    scratch: [Zeroizing<Vec<Block>>; 2],
    /// This party's message, if its OTs came as they were made.
    kept: Option<Kept>,
    /// Rows that have come as a sender, and as a receiver.
    come: [usize; 2],
}

impl BothDirections {
    pub(super) fn new<S: CotSender, R: CotReceiver>(
        both: &BothWays<S, R>,
        shape: OuterShape,
        count: usize,
    ) -> BothDirections {
        BothDirections {
            shape,
            count,
            parts: parts(both.has_all(), shape.ots(count)).collect(),
            sent: shape.empty(count, shape.left),
            received: shape.empty(count, shape.right),
            sending: Sending::new(shape, both.peer()),
            reading: Reading::new(shape, both.peer(), count),
            choices: Zeroizing::default(),
            scratch: Default::default(),
            kept: None,
            come: [0; 2],
        }
    }

    /// Number of OTs of each direction.
    pub(super) fn ots(&self) -> usize {
        self.parts.last().map_or(0, |last| last.end)
    }

    /// Number of OTs of a direction that have not come: 0 as a sender, 1 as a receiver.
    pub(super) fn missing(&self, direction: usize) -> usize {
        self.ots() - self.come[direction]
    }

    /// Takes rows as they are made, no more than are missing, in a direction. Returns the part of
    /// OTs that is complete with them, if one is, and the number of rows taken.
    fn take(&mut self, direction: usize, rows: &[Block]) -> (Option<Range<usize>>, usize) {
        let come = self.come[direction];
        let part = self.parts.partition_point(|part| part.end <= come);
        let part = self.parts[part].clone();
        let some = rows.len().min(part.end - come);
        let held = with_room(&mut self.scratch[direction], part.len());
        held[come - part.start..][..some].copy_from_slice(&rows[..some]);
        self.come[direction] += some;
        (Some(part).filter(|part| part.end == come + some), some)
    }

    /// Takes rows of the receiver as they are made, no more than are missing, with their choices
    /// from one of these bits on: what a part of them is hashed to is in the cache.
    pub(super) fn receive_rows(
        &mut self,
        hasher: &mut Hasher,
        (choices, mut first): (&[Block], usize),
        mut t: &[Block],
    ) -> Result<()> {
        while !t.is_empty() {
            let at = self.come[1];
            let (part, some) = self.take(1, t);
            // Parts are of whole blocks of choices.
            let at = at % self.parts[0].len();
            let held = with_room(&mut self.choices, packed_blocks(self.parts[0].len()));
            if at == 0 {
                held.fill(Block::ZERO);
            }
            copy_bits(held, at, choices, first, some);
            (t, first) = (&t[some..], first + some);
            if let Some(part) = part {
                let t = &self.scratch[1][..part.len()];
                let Products { own, shares } = &mut self.received;
                asked(hasher, self.shape, part.start, (t, held), [own, shares])?;
            }
        }
        Ok(())
    }

    /// Takes rows of the sender as they are made, no more than are missing. Its message is kept
    /// until [`InParts::write`].
    pub(super) fn send_rows(
        &mut self,
        hasher: &mut Hasher,
        seconds: &SecondKeys,
        mut q: &[Block],
    ) -> Result<()> {
        while !q.is_empty() {
            let (part, some) = self.take(0, q);
            q = &q[some..];
            let Some(part) = part else { continue };
            let is_last = self.missing(0) == 0;
            let bits = self.shape.message_bits(self.count);
            let kept = self.kept.get_or_insert_with(|| Kept::new(bits));
            let q = &self.scratch[0][..part.len()];
            let Products { own, shares } = &mut self.sent;
            let to = (&mut *hasher, &mut *kept);
            (self.sending).part(to, part.start, (q, seconds), [own, shares])?;
            if is_last {
                self.sending.finish(kept, shares)?;
            }
        }
        Ok(())
    }

    /// Products that were made as the sender, and as the receiver.
    pub(super) fn finish(mut self) -> [Products; 2] {
        self.shape.reduce(&mut self.received.shares);
        [self.sent, self.received]
    }

    /// Messages of `count` products in each direction, after `before` OTs.
    pub(super) fn flights<C: CotCost + ?Sized>(
        cot: &C,
        before: u64,
        shape: OuterShape,
        count: usize,
    ) -> Flights {
        let made = cot.extend(before, shape.ots(count) as u64);
        let bytes = shape.message_bits(count).div_ceil(8);
        let cross = (bytes > 0).then_some(Flight::new(bytes, bytes));
        let made = then(made.clone(), exchanged(made));
        then(made, cross.into_iter().collect())
    }
}

impl<S: CotSender, R: CotReceiver> InParts<S, R> for BothDirections {
    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn write(&mut self, both: &mut BothWays<S, R>, mesh: &mut Mesh, part: usize) -> Result<()> {
        let is_last = part + 1 == self.parts.len();
        if let Some(kept) = &self.kept {
            mesh.send(both.peer(), kept.part(part, self.parts.len()))?;
            return if is_last { Ok(mesh.flush()?) } else { Ok(()) };
        }
        let part = self.parts[part].clone();
        let has_all = both.has_all();
        let (sender, receiver) = (&mut both.sender, &mut both.receiver);
        let choices = with_room(&mut self.choices, packed_blocks(part.len()));
        let [q, t] = &mut self.scratch;
        let keys = if both.sends_first {
            Some(sender.cot.next_keys(mesh, part.len(), q)?)
        } else {
            None
        };
        let t = receiver.cot.next_rows(mesh, part.len(), choices, t)?;
        if !has_all {
            mesh.flush()?;
        }
        let (q, seconds) = match keys {
            Some(keys) => keys,
            None => sender.cot.next_keys(mesh, part.len(), q)?,
        };
        let Products { own, shares } = &mut self.sent;
        let to = (&mut sender.hasher, &mut *mesh);
        self.sending
            .part(to, part.start, (q, &seconds), [own, shares])?;
        if is_last {
            self.sending.finish(mesh, shares)?;
            // The peer works on it while this party hashes its keys.
            mesh.flush()?;
        }
        let Products { own, shares } = &mut self.received;
        let hasher = &mut receiver.hasher;
        asked(hasher, self.shape, part.start, (t, choices), [own, shares])
    }

    fn read(&mut self, mesh: &mut Mesh, part: usize) -> Result<()> {
        let Products { own, shares } = &mut self.received;
        let part = self.parts[part].clone();
        self.reading.part(mesh, part, own, shares)
    }
}
