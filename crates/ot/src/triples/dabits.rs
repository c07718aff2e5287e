//! Bits that are shared in two ways.

use super::chunks::{CHUNK, chunks, each_pair, extensions, keys, message, parts};
use super::in_parts::InParts;
use super::packing::{Packer, Unpacker};
use super::{BothWays, Ring};
use crate::Result;
use crate::flights::{Flights, then};
use crate::forms::{HashedReceiver, HashedSender};
use crate::traits::{
    Correlation, CorrelationSource, CotCost, CotReceiver, CotSender, choice, packed_blocks,
};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::hint::black_box;
use std::ops::Range;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// One party's shares of random bits, of each two: a bit, of which the exclusive or of both parties
/// is the shared one, and an element of the ring, of which that is the sum modulo `2^k`.
///
/// **Semi-honest**: a party that deviates makes shares wrong, and nothing notices.
///
/// With `b_0` and `b_1` the bits of the parties, the shared one is `b_0 + b_1 - 2 b_0 b_1`, so the
/// product is needed modulo `2^(k - 1)` only: one correlated OT, from the party with the smaller
/// number if both could send it, and a message of `k - 1` bits.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct DaBits {
    #[zeroize(skip)]
    pub(crate) ring: Ring,
    /// Shares by exclusive or, 128 in a block, the first in bit 0; the rest of the last block is 0.
    pub bits: Vec<Block>,
    /// Shares by addition.
    pub elements: Vec<u64>,
}

impl DaBits {
    /// The ring of the elements.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    fn empty(ring: Ring, count: usize) -> DaBits {
        DaBits {
            ring,
            bits: vec![Block::ZERO; packed_blocks(count)],
            elements: vec![0; count],
        }
    }
}

/// Bits of the sender's message for `count` shared bits.
pub(super) fn message_bits(ring: Ring, count: usize) -> u64 {
    count as u64 * u64::from(ring.bits() - 1)
}

/// The element of the sender with this bit, by the low bits of its keys; writes its message.
pub(super) fn sent(
    (packer, mesh): (&mut Packer, &mut Mesh),
    ring: Ring,
    [zero, one]: [u64; 2],
    bit: u64,
) -> Result<u64> {
    if let bits @ 1.. = ring.bits() - 1 {
        let d = zero.wrapping_sub(one).wrapping_add(bit);
        packer.put(mesh, Ring::new(bits).reduce(d), bits)?;
    }
    Ok(ring.reduce(bit.wrapping_add(zero << 1)))
}

/// Replaces the low bits of keys by the elements of the receiver with these bits; reads the message
/// of the sender.
pub(super) fn receive_elements(
    (mesh, from): (&mut Mesh, PartyId),
    ring: Ring,
    bits: &[Block],
    elements: &mut [u64],
) -> Result<()> {
    let mut unpacker = Unpacker::new(from, message_bits(ring, elements.len()));
    for (j, element) in elements.iter_mut().enumerate() {
        let bit = u64::from(choice(bits, j));
        let d = match ring.bits() - 1 {
            0 => 0,
            bits => unpacker.take(mesh, bits)?,
        };
        // The barrier keeps the compiler from making a branch of the mask.
        let product = element.wrapping_add(d & black_box(0u64.wrapping_sub(bit)));
        *element = ring.reduce(bit.wrapping_sub(product << 1));
    }
    Ok(())
}

impl Correlation for DaBits {
    type Parameters = Ring;

    /// From the one sender of the OTs to their receiver.
    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
        let parts = parts(cot.one_way(), count as usize, CHUNK);
        parts.fold(Flights::new(), |flights, part| {
            let made = extensions(cot, before + part.start as u64, part.len() as u64);
            then(then(flights, made), message(message_bits(ring, part.len())))
        })
    }
}

impl<S: CotSender> HashedSender<S> {
    /// Makes a chunk of shared bits, and writes the message.
    fn send_bits(
        &mut self,
        mesh: &mut Mesh,
        made: &mut DaBits,
        (now, blocks): (usize, Range<usize>),
    ) -> Result<()> {
        let HashedSender { cot, hasher } = self;
        let mut scratch = Zeroizing::default();
        let mut packer = Packer::new(cot.terms().peer);
        let (q, seconds) = cot.next_keys(mesh, now, &mut scratch)?;
        let DaBits { ring, .. } = *made;
        let elements = &mut made.elements[blocks.start * 128..];
        let bits = &mut made.bits[blocks];
        each_pair(hasher, &seconds, q, |j, [zero, one]| {
            // Of the highest bits of both keys the receiver lacks one; the others are masks.
            let bit = (zero ^ one) >> 127;
            bits[j / 128] ^= Block::new(bit << (j % 128));
            let masks = [zero as u64, one as u64];
            elements[j] = sent((&mut packer, mesh), ring, masks, bit as u64)?;
            Ok(())
        })?;
        packer.finish(mesh)?;
        Ok(mesh.flush()?)
    }
}

impl<R: CotReceiver> HashedReceiver<R> {
    /// Takes the OTs of a chunk of shared bits, with keys in place of elements.
    fn take_bits(
        &mut self,
        mesh: &mut Mesh,
        made: &mut DaBits,
        (now, blocks): (usize, Range<usize>),
    ) -> Result<()> {
        let HashedReceiver { cot, hasher } = self;
        let (mut t, first) = (Zeroizing::new(vec![Block::ZERO; now]), blocks.start * 128);
        cot.extend(mesh, &mut made.bits[blocks], &mut t)?;
        mesh.flush()?;
        keys(hasher, &mut t);
        for (element, key) in made.elements[first..].iter_mut().zip(&*t) {
            *element = key.value() as u64;
        }
        Ok(())
    }
}

impl DaBits {
    /// Makes elements of a chunk of keys by the message of the sender.
    fn read_chunk(
        &mut self,
        link: (&mut Mesh, PartyId),
        (now, blocks): (usize, Range<usize>),
    ) -> Result<()> {
        let elements = &mut self.elements[blocks.start * 128..][..now];
        receive_elements(link, self.ring, &self.bits[blocks], elements)
    }
}

impl<S: CotSender> CorrelationSource<DaBits> for HashedSender<S> {
    /// Memory beyond the shares does not grow with their number.
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<DaBits> {
        let mut made = DaBits::empty(ring, count);
        for chunk in chunks(0..count) {
            self.send_bits(mesh, &mut made, chunk)?;
        }
        Ok(made)
    }
}

impl<R: CotReceiver> CorrelationSource<DaBits> for HashedReceiver<R> {
    /// Memory beyond the shares does not grow with their number.
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<DaBits> {
        let (mut made, terms) = (DaBits::empty(ring, count), self.cot.terms());
        for part in parts(terms.one_way, count, CHUNK) {
            for chunk in chunks(part.clone()) {
                self.take_bits(mesh, &mut made, chunk)?;
            }
            for chunk in chunks(part) {
                made.read_chunk((mesh, terms.peer), chunk)?;
            }
        }
        Ok(made)
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<DaBits> for BothWays<S, R> {
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<DaBits> {
        if self.sends_first {
            self.sender.make(mesh, ring, count)
        } else {
            self.receiver.make(mesh, ring, count)
        }
    }
}

/// Shared bits in the making at one party.
pub(super) struct Making {
    pub(super) made: DaBits,
    chunks: Vec<(usize, Range<usize>)>,
    sends: bool,
    peer: PartyId,
}

impl Making {
    pub(super) fn new<S: CotSender, R: CotReceiver>(
        both: &BothWays<S, R>,
        ring: Ring,
        count: usize,
    ) -> Making {
        Making {
            made: DaBits::empty(ring, count),
            chunks: chunks(0..count).collect(),
            sends: both.sends_first,
            peer: both.peer(),
        }
    }
}

impl<S: CotSender, R: CotReceiver> InParts<S, R> for Making {
    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn write(&mut self, both: &mut BothWays<S, R>, mesh: &mut Mesh, part: usize) -> Result<()> {
        let chunk = self.chunks[part].clone();
        if self.sends {
            both.sender.send_bits(mesh, &mut self.made, chunk)
        } else {
            both.receiver.take_bits(mesh, &mut self.made, chunk)
        }
    }

    fn read(&mut self, mesh: &mut Mesh, part: usize) -> Result<()> {
        if self.sends {
            return Ok(());
        }
        self.made
            .read_chunk((mesh, self.peer), self.chunks[part].clone())
    }
}
