//! Products of numbers that a party knows, bit by bit, with elements of the other party.

use super::chunks::{CHUNK, message, parts};
use super::in_parts::InParts;
use super::outer::{self, OuterShape};
use super::{BothWays, Ring};
use crate::Result;
use crate::flights::{Flights, then};
use crate::forms::{HashedReceiver, HashedSender};
use crate::traits::{Correlation, CorrelationSource, CotCost, CotReceiver, CotSender};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::ops::Range;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The choice among known products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KnownShape {
    /// The ring of elements and shares.
    pub ring: Ring,
    /// Bits of a number, `b`: from 1 to those of the ring.
    pub choice_bits: u32,
    /// Elements that a number is multiplied with.
    pub partners: usize,
}

impl KnownShape {
    fn outer(self) -> OuterShape {
        let KnownShape {
            ring,
            choice_bits,
            partners,
        } = self;
        let fits = (1..=ring.bits()).contains(&choice_bits);
        assert!(fits, "numbers have from 1 bit to those of the ring");
        assert!(partners > 0, "a number has a partner");
        OuterShape {
            ring,
            choice_bits,
            each_bit: true,
            left: partners,
            inner: 1,
            right: 1,
        }
    }

    /// Numbers of a chunk: a multiple of 8, so that messages of chunks are whole bytes.
    fn chunk(self) -> usize {
        CHUNK / self.choice_bits as usize / 8 * 8
    }

    /// The chunks of a range of numbers that begins with one.
    fn chunks(self, numbers: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (end, chunk) = (numbers.end, self.chunk());
        let range = move |first| first..end.min(first + chunk);
        numbers.step_by(chunk).map(range)
    }
}

/// One party's part of products of random numbers of `b` bits, which the receiver of the OTs, their
/// *holder*, has, with `m` random elements of the sender for each: shares of every bit by every
/// element. So the holder can replace the numbers by others, bit by bit, when it knows these.
///
/// Shares of bit `i` add up modulo `2^(k - i)` alone, and are reduced so: in a product bit `i` has
/// the weight `2^i`.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// A number takes `b` correlated OTs in one direction, and for each partner as many bits from the
/// sender as `k - i` for `i` from 1 below `b` add up to.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct KnownProducts {
    #[zeroize(skip)]
    pub(crate) shape: KnownShape,
    /// The numbers of the holder; of the other party its elements, `m` for each number.
    pub factors: Vec<u64>,
    /// Shares: of each number, of each of its bits, the lowest first, the `m` of its partners.
    pub shares: Vec<u64>,
}

impl KnownProducts {
    /// The shape of all products.
    pub fn shape(&self) -> KnownShape {
        self.shape
    }

    fn empty(shape: KnownShape, count: usize, own: usize) -> KnownProducts {
        KnownProducts {
            shape,
            factors: vec![0; count * own],
            shares: vec![0; shape.outer().ots(count) * shape.partners],
        }
    }

    /// Factors and shares of some numbers, of which this party has so many factors each.
    fn of(&mut self, numbers: &Range<usize>, own: usize) -> [&mut [u64]; 2] {
        let shares = self.shape.choice_bits as usize * self.shape.partners;
        let part = |each: usize| numbers.start * each..numbers.end * each;
        [&mut self.factors[part(own)], &mut self.shares[part(shares)]]
    }
}

impl Correlation for KnownProducts {
    type Parameters = KnownShape;

    fn flights<C: CotCost + ?Sized>(
        cot: &C,
        before: u64,
        shape: KnownShape,
        count: u64,
    ) -> Flights {
        let outer = shape.outer();
        let ots = |numbers: usize| outer.ots(numbers) as u64;
        let mut flights = Flights::new();
        for part in parts(cot.one_way(), count as usize, shape.chunk()) {
            for numbers in shape.chunks(part.clone()) {
                let made = cot.extend(before + ots(numbers.start), ots(numbers.len()));
                flights = then(flights, made);
            }
            flights = then(flights, message(outer.message_bits(part.len())));
        }
        flights
    }
}

impl<S: CotSender> CorrelationSource<KnownProducts> for HashedSender<S> {
    /// Makes the part of the other party. Memory beyond the products does not grow with their
    /// number.
    ///
    /// # Panics
    /// If numbers have no bits or more than the ring, or no partners.
    fn make(&mut self, mesh: &mut Mesh, shape: KnownShape, count: usize) -> Result<KnownProducts> {
        let mut made = KnownProducts::empty(shape, count, shape.partners);
        for numbers in shape.chunks(0..count) {
            let parts = made.of(&numbers, shape.partners);
            outer::send(self, mesh, shape.outer(), numbers.len(), parts)?;
            mesh.flush()?;
        }
        Ok(made)
    }
}

impl<R: CotReceiver> CorrelationSource<KnownProducts> for HashedReceiver<R> {
    /// Makes the part of the holder. Memory beyond the products does not grow with their number.
    ///
    /// # Panics
    /// If numbers have no bits or more than the ring, or no partners.
    fn make(&mut self, mesh: &mut Mesh, shape: KnownShape, count: usize) -> Result<KnownProducts> {
        let mut made = KnownProducts::empty(shape, count, 1);
        let (outer, terms) = (shape.outer(), self.cot.terms());
        for part in parts(terms.one_way, count, shape.chunk()) {
            for numbers in shape.chunks(part.clone()) {
                let parts = made.of(&numbers, 1);
                outer::ask(self, mesh, outer, numbers.len(), parts)?;
            }
            for numbers in shape.chunks(part) {
                outer::finish(mesh, terms.peer, outer, made.of(&numbers, 1))?;
            }
        }
        Ok(made)
    }
}

/// Known products in the making at one party.
pub(super) struct Making {
    pub(super) made: KnownProducts,
    chunks: Vec<Range<usize>>,
    /// Factors of a number, where this party is the one that multiplies it.
    partners: Option<usize>,
    peer: PartyId,
}

impl Making {
    /// # Panics
    /// As [`CorrelationSource::make`].
    pub(super) fn new(shape: KnownShape, is_holder: bool, peer: PartyId, count: usize) -> Making {
        let partners = (!is_holder).then_some(shape.partners);
        Making {
            made: KnownProducts::empty(shape, count, partners.unwrap_or(1)),
            chunks: shape.chunks(0..count).collect(),
            partners,
            peer,
        }
    }
}

impl<S: CotSender, R: CotReceiver> InParts<S, R> for Making {
    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn write(&mut self, both: &mut BothWays<S, R>, mesh: &mut Mesh, part: usize) -> Result<()> {
        let (numbers, outer) = (&self.chunks[part], self.made.shape.outer());
        let parts = self.made.of(numbers, self.partners.unwrap_or(1));
        match self.partners {
            Some(_) => {
                outer::send(&mut both.sender, mesh, outer, numbers.len(), parts)?;
                Ok(mesh.flush()?)
            }
            None => outer::ask(&mut both.receiver, mesh, outer, numbers.len(), parts),
        }
    }

    fn read(&mut self, mesh: &mut Mesh, part: usize) -> Result<()> {
        if self.partners.is_some() {
            return Ok(());
        }
        let (numbers, outer) = (&self.chunks[part], self.made.shape.outer());
        outer::finish(mesh, self.peer, outer, self.made.of(numbers, 1))
    }
}
