//! Products of columns by rows modulo `2^k`, from correlated OTs in one direction: the body of
//! OLEs, arithmetic and matrix triples, and of products with known numbers.
//!
//! The equations are those of the [module above](super). Elements of rows have `b` bits, `k` or
//! fewer. The OT of bit `i` of element `l` of row `j` has number `(j p + l) b + i`, and its keys
//! are `m` elements, cut from as many blocks of hash as they fill.

use super::Ring;
use super::chunks::message;
use super::packing::{Packer, Unpacker};
use crate::Result;
use crate::flights::{Flights, then};
use crate::forms::{BATCH, HashedReceiver, HashedSender};
use crate::traits::{CotCost, CotReceiver, CotSender, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::hint::black_box;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A number of products: each is the sum of `inner` columns of `left` elements, the sender's, by
/// rows of `right` elements, the receiver's.
#[derive(Clone, Copy)]
pub(super) struct OuterShape {
    pub(super) ring: Ring,
    /// Bits of an element of a row.
    pub(super) choice_bits: u32,
    /// True if there are shares for every bit of these, by its OT, each modulo `2^(k - i)`; false
    /// if those are summed up.
    pub(super) each_bit: bool,
    pub(super) left: usize,
    pub(super) inner: usize,
    pub(super) right: usize,
}

/// One party's part of them.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Products {
    /// Its factor: for each product and each of `inner`, a column or a row.
    pub(super) own: Vec<u64>,
    /// Its shares of the products: for each, `left` times `right` elements by rows.
    pub(super) shares: Vec<u64>,
}

impl OuterShape {
    /// Correlated OTs of `count` products.
    pub(super) fn ots(self, count: usize) -> usize {
        [count, self.inner, self.right]
            .into_iter()
            .try_fold(self.choice_bits as usize, usize::checked_mul)
            .expect("fewer than 2^64 transfers")
    }

    /// Bits of the sender's message.
    pub(super) fn message_bits(self, count: usize) -> u64 {
        let (k, b) = (u64::from(self.ring.bits()), u64::from(self.choice_bits));
        let each = self.right as u64 * (b * k - b * (b - 1) / 2) - k;
        (count * self.inner * self.left) as u64 * each
    }

    /// Messages of `count` products, after `before` OTs.
    pub(super) fn flights<C: CotCost + ?Sized>(
        self,
        cot: &C,
        before: u64,
        count: usize,
    ) -> Flights {
        let made = cot.extend(before, self.ots(count) as u64);
        then(made, message(self.message_bits(count)))
    }

    /// Bits of an element within a block of hash, and elements in it.
    fn elements(self) -> (u32, usize) {
        match self.ring.bits() {
            ..=32 => (32, 4),
            _ => (64, 2),
        }
    }

    fn empty(self, count: usize, own: usize) -> Products {
        Products {
            own: vec![0; count * self.inner * own],
            shares: vec![0; count * self.left * self.right],
        }
    }

    /// Index of the share that an OT adds to, of the sender's element `left`, and the power of two
    /// with which it is multiplied.
    #[inline]
    fn share(self, place: OtIndex, left: usize) -> (usize, u32) {
        if self.each_bit {
            (place.number * self.left + left, 0)
        } else {
            let column = (place.product * self.left + left) * self.right;
            (column + place.element, place.bit)
        }
    }

    fn reduce(self, shares: &mut [u64]) {
        if !self.each_bit {
            return reduce(self.ring, shares);
        }
        for (number, shares) in shares.chunks_mut(self.left).enumerate() {
            let bit = number as u32 % self.choice_bits;
            reduce(Ring::new(self.ring.bits() - bit), shares);
        }
    }

    /// Calls `each` with the numbers of a batch of OTs, in order: the place of an OT, and its
    /// index in the batch.
    fn batch(
        self,
        first: usize,
        count: usize,
        mut each: impl FnMut(usize, OtIndex) -> Result<()>,
    ) -> Result<()> {
        let b = self.choice_bits as usize;
        let mut place = OtIndex {
            number: first,
            row: first / b / self.right,
            product: first / b / self.right / self.inner,
            element: first / b % self.right,
            bit: (first % b) as u32,
        };
        let mut inner = place.row % self.inner;
        for i in 0..count {
            each(i, place)?;
            (place.number, place.bit) = (place.number + 1, place.bit + 1);
            if place.bit as usize == b {
                (place.bit, place.element) = (0, place.element + 1);
            }
            if place.element == self.right {
                (place.element, place.row, inner) = (0, place.row + 1, inner + 1);
            }
            if inner == self.inner {
                (inner, place.product) = (0, place.product + 1);
            }
        }
        Ok(())
    }
}

/// The place of an OT.
#[derive(Clone, Copy)]
struct OtIndex {
    /// Number of the OT.
    number: usize,
    /// Number of the column and row among all.
    row: usize,
    /// Number of the product that it adds to.
    product: usize,
    /// Number in the row, and bit of that element.
    element: usize,
    bit: u32,
}

impl OtIndex {
    /// Returns true if this OT makes the sender's factor, so that nothing is sent.
    fn first(self) -> bool {
        self.element == 0 && self.bit == 0
    }
}

/// Makes `count` products as the sender. The last messages are not flushed.
pub(super) fn send<S: CotSender>(
    source: &mut HashedSender<S>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
) -> Result<Products> {
    let mut products = shape.empty(count, shape.left);
    let Products { own, shares } = &mut products;
    send_to(source, mesh, shape, count, [own, shares])?;
    Ok(products)
}

/// As [`send`], to slices of zeros for its factor and its shares.
pub(super) fn send_to<S: CotSender>(
    HashedSender { cot, hasher }: &mut HashedSender<S>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let (ring, left) = (shape.ring, shape.left);
    let (width, elements) = shape.elements();
    let mut q = Zeroizing::new(vec![Block::ZERO; shape.ots(count)]);
    let seconds = cot.extend_keys(mesh, &mut q)?;
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; BATCH]);
    let mut packer = Packer::new(cot.terms().peer);
    for (batch, q) in q.chunks(BATCH).enumerate() {
        let call = hasher.take_call();
        for (block, first) in (0..left).step_by(elements).enumerate() {
            let pairs = &mut pairs[..q.len()];
            hasher.both_keys((call, block), (&seconds, batch * BATCH), q, pairs);
            shape.batch(batch * BATCH, q.len(), |i, place| {
                let [zero, one] = pairs[i].map(|key| key.value());
                for e in 0..elements.min(left - first) {
                    let key = |block: u128| (block >> (width * e as u32)) as u64;
                    let (zero, one) = (key(zero), key(one));
                    let own = &mut factors[place.row * left + first + e];
                    if place.first() {
                        *own = ring.reduce(one.wrapping_sub(zero));
                    } else {
                        let bits = ring.bits() - place.bit;
                        let d = zero.wrapping_sub(one).wrapping_add(*own);
                        packer.put(mesh, Ring::new(bits).reduce(d), bits)?;
                    }
                    let (at, power) = shape.share(place, first + e);
                    shares[at] = shares[at].wrapping_sub(zero << power);
                }
                Ok(())
            })?;
        }
    }
    shape.reduce(shares);
    packer.finish(mesh)
}

/// Makes `count` products as the receiver.
pub(super) fn receive<R: CotReceiver>(
    source: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
) -> Result<Products> {
    let mut products = shape.empty(count, shape.right);
    let Products { own, shares } = &mut products;
    ask(source, mesh, shape, count, [own, shares])?;
    finish(mesh, source.cot.terms().peer, shape, own, shares)?;
    Ok(products)
}

/// Makes the OTs of `count` products. Fills slices of zeros with the receiver's factor, and with
/// what its keys add to its shares.
pub(super) fn ask<R: CotReceiver>(
    HashedReceiver { cot, hasher }: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let left = shape.left;
    let (width, elements) = shape.elements();
    let ots = shape.ots(count);
    let mut choices = Zeroizing::new(vec![Block::ZERO; packed_blocks(ots)]);
    let mut t = Zeroizing::new(vec![Block::ZERO; ots]);
    cot.extend(mesh, &mut choices, &mut t)?;
    mesh.flush()?;
    for (number, factor) in factors.iter_mut().enumerate() {
        *factor = element(&choices, number, Ring::new(shape.choice_bits));
    }
    let mut keys = Zeroizing::new([Block::ZERO; BATCH]);
    for (batch, t) in t.chunks(BATCH).enumerate() {
        let call = hasher.take_call();
        for (block, first) in (0..left).step_by(elements).enumerate() {
            let keys = &mut keys[..t.len()];
            keys.copy_from_slice(t);
            hasher.keys(call, block, keys);
            shape.batch(batch * BATCH, t.len(), |i, place| {
                let key = keys[i].value();
                for e in 0..elements.min(left - first) {
                    let key = (key >> (width * e as u32)) as u64;
                    let (at, power) = shape.share(place, first + e);
                    shares[at] = shares[at].wrapping_add(key << power);
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Reads the sender's message of products that the receiver has asked for, and adds to its shares
/// what the bits of its factor take from it.
pub(super) fn finish(
    mesh: &mut Mesh,
    from: PartyId,
    shape: OuterShape,
    factors: &[u64],
    shares: &mut [u64],
) -> Result<()> {
    let (ring, left, right) = (shape.ring, shape.left, shape.right);
    let (_, elements) = shape.elements();
    let count = factors.len() / (shape.inner * right);
    let ots = shape.ots(count);
    let mut unpacker = Unpacker::new(from, shape.message_bits(count));
    for batch in (0..ots).step_by(BATCH) {
        for first in (0..left).step_by(elements) {
            shape.batch(batch, BATCH.min(ots - batch), |_, place| {
                if place.first() {
                    return Ok(());
                }
                let own = factors[place.row * right + place.element];
                // The barrier keeps the compiler from making a branch of the mask.
                let mask = black_box(0u64.wrapping_sub(own >> place.bit & 1));
                for e in 0..elements.min(left - first) {
                    let d = unpacker.take(mesh, ring.bits() - place.bit)?;
                    let (at, power) = shape.share(place, first + e);
                    shares[at] = shares[at].wrapping_add((d & mask) << power);
                }
                Ok(())
            })?;
        }
    }
    shape.reduce(shares);
    Ok(())
}

/// Element `number` of packed bits.
fn element(bits: &[Block], number: usize, ring: Ring) -> u64 {
    let first = number * ring.bits() as usize;
    let (block, shift) = (first / 128, first % 128);
    let low = bits[block].value() >> shift;
    let high = match bits.get(block + 1) {
        Some(next) if shift > 0 => next.value() << (128 - shift),
        _ => 0,
    };
    ring.reduce((low | high) as u64)
}

fn reduce(ring: Ring, values: &mut [u64]) {
    values
        .iter_mut()
        .for_each(|value| *value = ring.reduce(*value));
}
