//! Products of columns by rows in both directions, whose messages cross: the body of arithmetic and
//! matrix triples.

use super::BothWays;
use super::in_parts::InParts;
use super::outer::{OuterShape, Products, Reading, Sending, asked, parts};
use crate::Result;
use crate::flights::{Flight, Flights, exchanged, then};
use crate::source::stock::with_room;
use crate::traits::{CotCost, CotReceiver, CotSender, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use std::ops::Range;
use zeroize::Zeroizing;

/// Products of both directions in the making: this party's columns by the peer's rows, and its rows
/// by the peer's columns.
pub(super) struct BothDirections {
    shape: OuterShape,
    parts: Vec<Range<usize>>,
    sent: Products,
    received: Products,
    sending: Sending,
    reading: Reading,
    choices: Zeroizing<Vec<Block>>,
    scratch: [Zeroizing<Vec<Block>>; 2],
}

impl BothDirections {
    pub(super) fn new<S: CotSender, R: CotReceiver>(
        both: &BothWays<S, R>,
        shape: OuterShape,
        count: usize,
    ) -> BothDirections {
        BothDirections {
            shape,
            parts: parts(both.has_all(), shape.ots(count)).collect(),
            sent: shape.empty(count, shape.left),
            received: shape.empty(count, shape.right),
            sending: Sending::new(shape, both.peer()),
            reading: Reading::new(shape, both.peer(), count),
            choices: Zeroizing::default(),
            scratch: Default::default(),
        }
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
        let (part, is_last) = (self.parts[part].clone(), part + 1 == self.parts.len());
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
