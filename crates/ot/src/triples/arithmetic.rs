//! OLEs and arithmetic triples.

use super::crossed::BothDirections;
use super::outer::{self, OuterShape};
use super::{BothWays, Ring, in_parts};
use crate::Result;
use crate::flights::Flights;
use crate::forms::{HashedReceiver, HashedSender};
use crate::traits::{Correlation, CorrelationSource, CotCost, CotReceiver, CotSender};
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// One party's part of random OLEs modulo `2^k` ("oblivious linear evaluation"): its factors, and
/// its shares of their products with the factors of the peer, which add up modulo `2^k`.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// One party is the sender of the OTs beneath, the other their receiver. An OLE takes `k`
/// correlated OTs and `k (k - 1) / 2` bits from the sender. While they are made, `16 k` bytes of
/// memory are in use for each.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Ole {
    /// This party's factors.
    pub factors: Vec<u64>,
    /// Its shares of the products.
    pub shares: Vec<u64>,
}

impl Ole {
    fn empty(count: usize) -> Ole {
        let [factors, shares] = [(); 2].map(|()| vec![0; count]);
        Ole { factors, shares }
    }

    fn parts(&mut self) -> [&mut [u64]; 2] {
        [&mut self.factors, &mut self.shares]
    }
}

/// One column by one row, of one element each.
pub(super) fn single(ring: Ring) -> OuterShape {
    OuterShape {
        ring,
        choice_bits: ring.bits(),
        each_bit: false,
        left: 1,
        inner: 1,
        right: 1,
    }
}

impl Correlation for Ole {
    type Parameters = Ring;

    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
        single(ring).flights(cot, before, count as usize)
    }
}

impl<S: CotSender> CorrelationSource<Ole> for HashedSender<S> {
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<Ole> {
        let mut made = Ole::empty(count);
        outer::send(self, mesh, single(ring), count, made.parts())?;
        Ok(made)
    }
}

impl<R: CotReceiver> CorrelationSource<Ole> for HashedReceiver<R> {
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<Ole> {
        let mut made = Ole::empty(count);
        outer::ask(self, mesh, single(ring), count, made.parts())?;
        outer::finish(mesh, self.cot.terms().peer, single(ring), made.parts())?;
        Ok(made)
    }
}

/// One party's shares of triples modulo `2^k`: random `a` and `b`, and `c`, the product of the sums
/// of both parties' `a` and `b`, shared alike. All wraps around modulo `2^k`.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// A triple is an OLE in each direction: `a` of each party is its factor as a sender, `b` as a
/// receiver.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ArithmeticTriples {
    #[zeroize(skip)]
    pub(crate) ring: Ring,
    /// Shares of the first factors.
    pub a: Vec<u64>,
    /// Shares of the second factors.
    pub b: Vec<u64>,
    /// Shares of the products.
    pub c: Vec<u64>,
}

impl ArithmeticTriples {
    /// The ring of the elements.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// The triples whose products were made.
    pub(super) fn of(ring: Ring, made: BothDirections) -> ArithmeticTriples {
        let [mut sent, mut received] = made.finish();
        let mut triples = ArithmeticTriples {
            ring,
            a: std::mem::take(&mut sent.own),
            b: std::mem::take(&mut received.own),
            c: std::mem::take(&mut sent.shares),
        };
        let ArithmeticTriples { a, b, c, .. } = &mut triples;
        for (((c, &other), &a), &b) in c.iter_mut().zip(&received.shares).zip(&*a).zip(&*b) {
            *c = ring.reduce(c.wrapping_add(other).wrapping_add(a.wrapping_mul(b)));
        }
        triples
    }
}

impl Correlation for ArithmeticTriples {
    type Parameters = Ring;

    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
        BothDirections::flights(cot, before, single(ring), count as usize)
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<ArithmeticTriples> for BothWays<S, R> {
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<ArithmeticTriples> {
        let mut made = BothDirections::new(self, single(ring), count);
        in_parts::make(self, mesh, &mut [&mut made])?;
        Ok(ArithmeticTriples::of(ring, made))
    }
}
