//! Shared bits by shared elements.

use super::chunks::{CHUNK, chunks, each_pair, extensions, keys, message, parts};
use super::dabits::{message_bits, receive_elements, sent};
use super::packing::Packer;
use super::{BothWays, Ring};
use crate::Result;
use crate::flights::{Flights, exchanged, then};
use crate::forms::HashedSender;
use crate::traits::{
    Correlation, CorrelationSource, CotCost, CotReceiver, CotSender, choice, packed_blocks,
};
use sealane_block::Block;
use sealane_net::Mesh;
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
        let parts = parts(cot.one_way(), count as usize, CHUNK);
        parts.fold(Flights::new(), |flights, part| {
            let there = extensions(cot, before + part.start as u64, part.len() as u64);
            let flights = then(then(flights, there.clone()), exchanged(there));
            then(flights, message(message_bits(ring, part.len())))
        })
    }
}

/// Rows of both directions, those of one chunk.
type Rows = Zeroizing<[Vec<Block>; 2]>;

impl<S: CotSender, R: CotReceiver> CorrelationSource<Selects> for BothWays<S, R> {
    /// Memory beyond the shares does not grow with their number.
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<Selects> {
        let mut made = Selects {
            ring,
            bits: vec![Block::ZERO; packed_blocks(count)],
            elements: vec![0; count],
            factors: vec![0; count],
            products: vec![0; count],
        };
        let mut rows = Rows::new([(); 2].map(|()| vec![Block::ZERO; count.min(CHUNK)]));
        let one_way = self.sender.cot.terms().one_way && self.receiver.cot.terms().one_way;
        for part in parts(one_way, count, CHUNK) {
            if self.sends_first {
                for (now, blocks) in chunks(part) {
                    self.first(mesh, &mut made, &mut rows, now, blocks)?;
                }
                continue;
            }
            // The first direction runs ahead, with its keys where the shares will be.
            for (now, blocks) in chunks(part.clone()) {
                let (t, first) = (&mut rows[0][..now], blocks.start * 128);
                self.receiver.cot.extend(mesh, &mut made.bits[blocks], t)?;
                mesh.flush()?;
                keys(&mut self.receiver.hasher, t);
                for (j, key) in t.iter().enumerate() {
                    made.add(first + j, key.value() as u64);
                    made.elements[first + j] = (key.value() >> 64) as u64;
                }
            }
            for (now, blocks) in chunks(part) {
                self.second(mesh, &mut made, &mut rows[0][..now], blocks)?;
            }
        }
        Ok(made)
    }
}

impl<S: CotSender, R: CotReceiver> BothWays<S, R> {
    /// A chunk at the party that sends first.
    fn first(
        &mut self,
        mesh: &mut Mesh,
        made: &mut Selects,
        rows: &mut [Vec<Block>; 2],
        now: usize,
        blocks: Range<usize>,
    ) -> Result<()> {
        let [q, t] = rows.each_mut().map(|rows| &mut rows[..now]);
        let HashedSender { cot, hasher } = &mut self.sender;
        let first = blocks.start * 128;
        let seconds = cot.extend_keys(mesh, q)?;
        self.receiver.cot.extend(mesh, &mut made.bits[blocks], t)?;
        mesh.flush()?;
        let mut packer = Packer::new(cot.terms().peer);
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
        keys(&mut self.receiver.hasher, t);
        for (j, key) in t.iter().enumerate() {
            made.add(first + j, key.value() as u64);
        }
        Ok(())
    }

    /// A chunk of the second direction at the other party.
    fn second(
        &mut self,
        mesh: &mut Mesh,
        made: &mut Selects,
        q: &mut [Block],
        blocks: Range<usize>,
    ) -> Result<()> {
        let HashedSender { cot, hasher } = &mut self.sender;
        let first = blocks.start * 128;
        let seconds = cot.extend_keys(mesh, q)?;
        mesh.flush()?;
        each_pair(hasher, &seconds, q, |j, pair| {
            let bit = choice(&made.bits, first + j).into();
            made.add_sent(first + j, pair, bit);
            Ok(())
        })?;
        let elements = &mut made.elements[first..][..q.len()];
        let link = (mesh, cot.terms().peer);
        receive_elements(link, made.ring, &made.bits[blocks], elements)
    }
}
