//! Products of columns by rows modulo `2^k`, from correlated OTs in one direction: the body of
//! OLEs, arithmetic and matrix triples, and of products with known numbers.
//!
//! The equations are those of the [module above](super). Elements of rows have `b` bits, `k` or
//! fewer. The OT of bit `i` of element `l` of row `j` has number `(j p + l) b + i`, and its keys
//! are `m` elements, cut from as many blocks of hash as they fill.

use super::Ring;
use super::chunks::{CHUNK, message};
use super::packing::{Packer, Sink, Unpacker};
use crate::Result;
use crate::flights::{Flights, then};
use crate::forms::{BATCH, HashedReceiver, HashedSender, Hasher};
use crate::source::stock::with_room;
use crate::traits::{CotCost, CotReceiver, CotSender, PACKED, SecondKeys, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::hint::black_box;
use std::ops::Range;
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

    pub(super) fn empty(self, count: usize, own: usize) -> Products {
        Products {
            own: vec![0; count * self.inner * own],
            shares: vec![0; count * self.left * self.right],
        }
    }

    /// Index of the share that the first OT of a run adds to, of the sender's element `left`; the
    /// distance to that of the next one, and the power of two by which its factor is larger.
    #[inline]
    fn share(self, run: &Run, left: usize) -> (usize, usize, u32) {
        if self.each_bit {
            (run.number * self.left + left, self.left, 0)
        } else {
            let column = (run.product * self.left + left) * self.right;
            (column + run.element, 0, 1)
        }
    }

    /// Adds to the shares what the OTs of a run have for the sender's element `left`.
    #[inline]
    fn add(self, run: &Run, left: usize, keys: impl Iterator<Item = u64>, shares: &mut [u64]) {
        let (at, step, power) = self.share(run, left);
        let keys = keys.zip(run.bits.clone());
        if step > 0 {
            for (i, (key, _)) in keys.enumerate() {
                let share = &mut shares[at + i * step];
                *share = share.wrapping_add(key);
            }
        } else {
            let sum = keys.fold(0u64, |sum, (key, bit)| {
                sum.wrapping_add(key << (power * bit))
            });
            shares[at] = shares[at].wrapping_add(sum);
        }
    }

    pub(super) fn reduce(self, shares: &mut [u64]) {
        if !self.each_bit {
            return reduce(self.ring, shares);
        }
        for (number, shares) in shares.chunks_mut(self.left).enumerate() {
            let bit = number as u32 % self.choice_bits;
            reduce(Ring::new(self.ring.bits() - bit), shares);
        }
    }

    /// Calls `each` with the OTs of `ots`, in order: all bits of an element together.
    #[inline]
    fn runs(self, ots: Range<usize>, mut each: impl FnMut(&Run) -> Result<()>) -> Result<()> {
        let b = self.choice_bits as usize;
        let elements = ots.start / b;
        let row = elements / self.right;
        let mut run = Run {
            number: ots.start,
            row,
            product: row / self.inner,
            element: elements % self.right,
            bits: 0..0,
        };
        let mut inner = row % self.inner;
        while run.number < ots.end {
            let first = run.number % b;
            run.bits = first as u32..(first + (ots.end - run.number).min(b - first)) as u32;
            each(&run)?;
            run.number += run.bits.len();
            run.element += 1;
            if run.element == self.right {
                (run.element, run.row, inner) = (0, run.row + 1, inner + 1);
            }
            if inner == self.inner {
                (inner, run.product) = (0, run.product + 1);
            }
        }
        Ok(())
    }
}

/// OTs of neighbouring bits of an element.
struct Run {
    /// Number of the first one.
    number: usize,
    /// Number of the column and row among all.
    row: usize,
    /// Number of the product that they add to.
    product: usize,
    /// Number in the row, and the bits of that element.
    element: usize,
    bits: Range<u32>,
}

impl Run {
    /// The OTs with which a number of the sender's comes: all but that which makes its factor.
    fn sent(&self) -> Run {
        let skipped = u32::from(self.element == 0 && self.bits.start == 0);
        Run {
            number: self.number + skipped as usize,
            bits: self.bits.start + skipped..self.bits.end,
            ..*self
        }
    }
}

/// The sender's side of products in the making.
pub(super) struct Sending {
    shape: OuterShape,
    packer: Packer,
    pairs: Zeroizing<[[Block; 2]; BATCH]>,
}

impl Sending {
    pub(super) fn new(shape: OuterShape, to: PartyId) -> Sending {
        Sending {
            shape,
            packer: Packer::new(to),
            pairs: Zeroizing::new([[Block::ZERO; 2]; BATCH]),
        }
    }

    /// Takes a part of the OTs, from number `start` on, by their first keys and what makes the
    /// second ones. Fills slices of zeros with its factors, and with its shares, which are not
    /// reduced before the end; writes its message of this part.
    pub(super) fn part(
        &mut self,
        (hasher, sink): (&mut Hasher, &mut impl Sink),
        start: usize,
        (q, seconds): (&[Block], &SecondKeys),
        [factors, shares]: [&mut [u64]; 2],
    ) -> Result<()> {
        let Sending {
            shape,
            packer,
            pairs,
        } = self;
        let (ring, left) = (shape.ring, shape.left);
        let (width, elements) = shape.elements();
        for (batch, q) in q.chunks(BATCH).enumerate() {
            let call = hasher.take_call();
            let pairs = &mut pairs[..q.len()];
            let begin = start + batch * BATCH;
            for (block, first) in (0..left).step_by(elements).enumerate() {
                hasher.both_keys((call, block), (seconds, batch * BATCH), q, pairs);
                let some = elements.min(left - first);
                let key = |block: Block, e: usize| (block.value() >> (width * e as u32)) as u64;
                shape.runs(begin..begin + q.len(), |run| {
                    let pairs = &pairs[run.number - begin..][..run.bits.len()];
                    let own = &mut factors[run.row * left + first..][..some];
                    let sent = run.sent();
                    if sent.number > run.number {
                        for (e, own) in own.iter_mut().enumerate() {
                            let [zero, one] = pairs[0].map(|block| key(block, e));
                            *own = ring.reduce(one.wrapping_sub(zero));
                        }
                    }
                    let pairs_sent = &pairs[sent.number - run.number..];
                    for (bit, pair) in sent.bits.zip(pairs_sent) {
                        let bits = ring.bits() - bit;
                        for (e, own) in own.iter().enumerate() {
                            let [zero, one] = pair.map(|block| key(block, e));
                            let d = zero.wrapping_sub(one).wrapping_add(*own);
                            packer.put(sink, d & u64::MAX >> (64 - bits), bits)?;
                        }
                    }
                    for e in 0..some {
                        let keys = pairs.iter().map(|[zero, _]| key(*zero, e).wrapping_neg());
                        shape.add(run, first + e, keys, shares);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Writes the end of the message, and reduces the shares.
    pub(super) fn finish(&mut self, sink: &mut impl Sink, shares: &mut [u64]) -> Result<()> {
        self.shape.reduce(shares);
        self.packer.finish(sink)
    }
}

/// The receiver's side until it reads: takes a part of the OTs, from number `start` on, by keys
/// that are not hashed and by choices. Fills slices of zeros with its factors, and with what its
/// keys add to its shares.
pub(super) fn asked(
    hasher: &mut Hasher,
    shape: OuterShape,
    start: usize,
    (t, choices): (&[Block], &[Block]),
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let (left, right) = (shape.left, shape.right);
    let (width, elements) = shape.elements();
    let mut keys = Zeroizing::new([Block::ZERO; BATCH]);
    for (batch, t) in t.chunks(BATCH).enumerate() {
        let call = hasher.take_call();
        let keys = &mut keys[..t.len()];
        let begin = start + batch * BATCH;
        for (block, first) in (0..left).step_by(elements).enumerate() {
            keys.copy_from_slice(t);
            hasher.keys(call, block, keys);
            shape.runs(begin..begin + t.len(), |run| {
                let keys = &keys[run.number - begin..][..run.bits.len()];
                for e in 0..elements.min(left - first) {
                    let key = |key: &Block| (key.value() >> (width * e as u32)) as u64;
                    shape.add(run, first + e, keys.iter().map(key), shares);
                }
                Ok(())
            })?;
        }
    }
    shape.runs(start..start + t.len(), |run| {
        let bits = bits_from(choices, run.number - start, run.bits.len());
        factors[run.row * right + run.element] |= bits << run.bits.start;
        Ok(())
    })
}

/// The receiver's side of the sender's message.
pub(super) struct Reading {
    shape: OuterShape,
    unpacker: Unpacker,
    terms: Zeroizing<[[u64; 64]; 4]>,
}

impl Reading {
    pub(super) fn new(shape: OuterShape, from: PartyId, count: usize) -> Reading {
        Reading {
            shape,
            unpacker: Unpacker::new(from, shape.message_bits(count)),
            terms: Zeroizing::new([[0; 64]; 4]),
        }
    }

    /// Reads the message of some OTs, and adds to the shares what the bits of the factors take from
    /// it. The shares are to be reduced at the end.
    pub(super) fn part(
        &mut self,
        mesh: &mut Mesh,
        ots: Range<usize>,
        factors: &[u64],
        shares: &mut [u64],
    ) -> Result<()> {
        let Reading {
            shape,
            unpacker,
            terms,
        } = self;
        let (ring, left, right) = (shape.ring, shape.left, shape.right);
        let (_, elements) = shape.elements();
        for batch in ots.clone().step_by(BATCH) {
            for first in (0..left).step_by(elements) {
                shape.runs(batch..ots.end.min(batch + BATCH), |run| {
                    let own = factors[run.row * right + run.element];
                    let some = elements.min(left - first);
                    let sent = run.sent();
                    for (i, bit) in sent.bits.clone().enumerate() {
                        // The barrier keeps the compiler from making a branch of the mask.
                        let mask = black_box(0u64.wrapping_sub(own >> bit & 1));
                        for terms in &mut terms[..some] {
                            terms[i] = unpacker.take(mesh, ring.bits() - bit)? & mask;
                        }
                    }
                    for (e, terms) in terms[..some].iter().enumerate() {
                        shape.add(&sent, first + e, terms.iter().copied(), shares);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

/// Makes `count` products as the sender, in slices of zeros for its factors and its shares. The
/// last messages are not flushed.
pub(super) fn send<S: CotSender>(
    HashedSender { cot, hasher }: &mut HashedSender<S>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let mut scratch = Zeroizing::default();
    let mut sending = Sending::new(shape, cot.terms().peer);
    for part in parts(cot.in_parts(), shape.ots(count)) {
        let (q, seconds) = cot.next_keys(mesh, part.len(), &mut scratch)?;
        let to = (&mut *hasher, &mut *mesh);
        sending.part(to, part.start, (q, &seconds), [factors, shares])?;
    }
    sending.finish(mesh, shares)
}

/// Makes the OTs of `count` products as the receiver, in slices of zeros for its factors and its
/// shares, which [`finish`] completes.
pub(super) fn ask<R: CotReceiver>(
    HashedReceiver { cot, hasher }: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    shape: OuterShape,
    count: usize,
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let (mut scratch, mut choices) = (Zeroizing::default(), Zeroizing::default());
    for part in parts(cot.in_parts(), shape.ots(count)) {
        let choices = with_room(&mut choices, packed_blocks(part.len()));
        let t = cot.next_rows(mesh, part.len(), choices, &mut scratch)?;
        mesh.flush()?;
        asked(hasher, shape, part.start, (t, choices), [factors, shares])?;
    }
    Ok(())
}

/// Reads the sender's message of products that the receiver has asked for.
pub(super) fn finish(
    mesh: &mut Mesh,
    from: PartyId,
    shape: OuterShape,
    [factors, shares]: [&mut [u64]; 2],
) -> Result<()> {
    let count = factors.len() / (shape.inner * shape.right);
    let mut reading = Reading::new(shape, from, count);
    reading.part(mesh, 0..shape.ots(count), factors, shares)?;
    shape.reduce(shares);
    Ok(())
}

/// The parts in which OTs are taken, each of whole batches: all together, if taking them sends
/// something.
pub(super) fn parts(in_parts: bool, ots: usize) -> impl Iterator<Item = Range<usize>> {
    let part = if in_parts { CHUNK } else { ots.max(1) };
    (0..ots)
        .step_by(part)
        .map(move |first| first..ots.min(first + part))
}

/// So many packed bits from number `first` on, up to 64.
fn bits_from(bits: &[Block], first: usize, count: usize) -> u64 {
    let (block, shift) = (first / PACKED, first % PACKED);
    let low = bits[block].value() >> shift;
    let high = match bits.get(block + 1) {
        Some(next) if shift > 0 => next.value() << (PACKED - shift),
        _ => 0,
    };
    (low | high) as u64 & u64::MAX >> (64 - count)
}

fn reduce(ring: Ring, values: &mut [u64]) {
    values
        .iter_mut()
        .for_each(|value| *value = ring.reduce(*value));
}
