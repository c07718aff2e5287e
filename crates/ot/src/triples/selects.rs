//! Shared bits by shared elements.

use super::chunks::{chunks, each_pair, keys, message};
use super::dabits::{message_bits, receive_elements, sent};
use super::in_parts::InParts;
use super::packing::Packer;
use super::{BothWays, Ring, in_parts};
use crate::Result;
use crate::flights::{Flights, exchanged, then};
use crate::forms::{HashedReceiver, HashedSender};
use crate::source::stock::with_room;
use crate::traits::{
    Correlation, CorrelationSource, CotCost, CotReceiver, CotSender, choice, packed_blocks,
};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::hint::black_box;
use std::ops::Range;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// One party's shares of what selects one of two elements by a bit: a random bit, shared by
/// exclusive or and as an element of the ring as in [`DaBits`](super::DaBits), a random element,
/// and their product. All but the bit are shared by addition modulo `2^k`.
///
/// **Semi-honest**: a party that deviates makes shares wrong, and nothing notices.
///
/// It takes a correlated OT in each direction, and a message of `k - 1` bits from the party with
/// the smaller number. With `b_i` and `m_i` the shares of bit `b` and element, `b m_i` is `b_i m_i`
/// plus `b_j` times `m_i (1 - 2 b_i)`, where `j` is the peer, whose choice is `b_j`. So party `i`
/// takes the difference of its two keys for `m_i (1 - 2 b_i)`, which makes `m_i`, and nothing is
/// sent for the product. The element of the bit comes from other bits of the keys of one OT.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Selects {
    #[zeroize(skip)]
    pub(crate) ring: Ring,
    /// Shares of the bits by exclusive or, packed as in [`DaBits`](super::DaBits).
    pub bits: Vec<Block>,
    /// Shares of the bits by addition.
    pub elements: Vec<u64>,
    /// Shares of the random elements.
    pub factors: Vec<u64>,
    /// Shares of the products of bits and random elements.
    pub products: Vec<u64>,
}

impl Selects {
    /// The ring of the elements.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Sets the factor, and adds to the product what comes of it, by the low halves of the keys of
    /// an OT that this party has sent, and its bit.
    fn add_sent(&mut self, place: usize, [zero, one]: [u128; 2], bit: u64) {
        let (ring, zero, one) = (self.ring, zero as u64, one as u64);
        // The barrier keeps the compiler from making a branch of the mask.
        let mask = black_box(0u64.wrapping_sub(bit));
        let factor = (one.wrapping_sub(zero) ^ mask).wrapping_sub(mask);
        self.factors[place] = ring.reduce(factor);
        self.add(place, (factor & mask).wrapping_sub(zero));
    }

    fn add(&mut self, place: usize, share: u64) {
        let product = &mut self.products[place];
        *product = self.ring.reduce(product.wrapping_add(share));
    }
}

impl Correlation for Selects {
    type Parameters = Ring;

    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
        // Each party waits for the extension of the other in each chunk.
        let mut before = before;
        chunks(0..count as usize).fold(Flights::new(), |flights, (now, _)| {
            let there = cot.extend(before, now as u64);
            before += now as u64;
            let flights = then(then(flights, there.clone()), exchanged(there));
            then(flights, message(message_bits(ring, now)))
        })
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<Selects> for BothWays<S, R> {
    /// Memory beyond the shares does not grow with their number.
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<Selects> {
        let mut making = Making::new(self, ring, count);
        if self.has_all() {
            in_parts::make(self, mesh, &mut [&mut making])?;
        } else {
            // Messages of a chunk come before those of the next extension.
            for part in 0..making.chunks.len() {
                making.write(self, mesh, part)?;
                mesh.flush()?;
                InParts::<S, R>::read(&mut making, mesh, part)?;
            }
        }
        Ok(making.made)
    }
}

/// Selects in the making at one party.
pub(super) struct Making {
    pub(super) made: Selects,
    chunks: Vec<(usize, Range<usize>)>,
    sends_first: bool,
    peer: PartyId,
    rows: [Zeroizing<Vec<Block>>; 2],
}

impl Making {
    pub(super) fn new<S: CotSender, R: CotReceiver>(
        both: &BothWays<S, R>,
        ring: Ring,
        count: usize,
    ) -> Making {
        Making {
            made: Selects {
                ring,
                bits: vec![Block::ZERO; packed_blocks(count)],
                elements: vec![0; count],
                factors: vec![0; count],
                products: vec![0; count],
            },
            chunks: chunks(0..count).collect(),
            sends_first: both.sends_first,
            peer: both.peer(),
            rows: Default::default(),
        }
    }
}

impl<S: CotSender, R: CotReceiver> InParts<S, R> for Making {
    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn write(&mut self, both: &mut BothWays<S, R>, mesh: &mut Mesh, part: usize) -> Result<()> {
        let (now, blocks) = self.chunks[part].clone();
        let [q, t] = self.rows.each_mut().map(|rows| with_room(rows, now));
        let (made, first) = (&mut self.made, blocks.start * 128);
        let HashedSender { cot, hasher } = &mut both.sender;
        let HashedReceiver {
            cot: asks,
            hasher: asked,
        } = &mut both.receiver;
        if self.sends_first {
            let seconds = cot.extend_keys(mesh, q)?;
            asks.extend(mesh, &mut made.bits[blocks], t)?;
            mesh.flush()?;
            let mut packer = Packer::new(self.peer);
            each_pair(hasher, &seconds, q, |j, pair| {
                let (place, link) = (first + j, (&mut packer, &mut *mesh));
                let bit = choice(&made.bits, place).into();
                made.add_sent(place, pair, bit);
                let masks = pair.map(|key| (key >> 64) as u64);
                made.elements[place] = sent(link, made.ring, masks, bit)?;
                Ok(())
            })?;
            packer.finish(mesh)?;
            mesh.flush()?;
            keys(asked, t);
            for (j, key) in t.iter().enumerate() {
                made.add(first + j, key.value() as u64);
            }
            return Ok(());
        }
        // Keys of the first direction lie where the shares will be.
        asks.extend(mesh, &mut made.bits[blocks], t)?;
        mesh.flush()?;
        keys(asked, t);
        for (j, key) in t.iter().enumerate() {
            made.add(first + j, key.value() as u64);
            made.elements[first + j] = (key.value() >> 64) as u64;
        }
        let seconds = cot.extend_keys(mesh, q)?;
        mesh.flush()?;
        each_pair(hasher, &seconds, q, |j, pair| {
            let bit = choice(&made.bits, first + j).into();
            made.add_sent(first + j, pair, bit);
            Ok(())
        })
    }

    fn read(&mut self, mesh: &mut Mesh, part: usize) -> Result<()> {
        if self.sends_first {
            return Ok(());
        }
        let (now, blocks) = self.chunks[part].clone();
        let elements = &mut self.made.elements[blocks.start * 128..][..now];
        let link = (mesh, self.peer);
        receive_elements(link, self.made.ring, &self.made.bits[blocks], elements)
    }
}
