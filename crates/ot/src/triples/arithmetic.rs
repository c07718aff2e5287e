//! OLEs and arithmetic triples.

use super::outer::{self, Products, Shape};
use super::{BothWays, Ring, both_ways};
use crate::OtError;
use crate::flights::Flights;
use crate::forms::Hasher;
use crate::traits::{CotCost, CotReceiver, CotSender};
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// One party's part of random OLEs modulo `2^k` ("oblivious linear evaluation"): its factors, and
/// its shares of their products with the factors of the peer, which add up modulo `2^k`.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// An OLE takes `k` correlated OTs and `k (k - 1) / 2` bits from the sender. While they are made,
/// `16 k` bytes of memory are in use for each.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Ole {
    /// This party's factors.
    pub factors: Vec<u64>,
    /// Its shares of the products.
    pub shares: Vec<u64>,
}

impl Ole {
    fn new(mut products: Products) -> Ole {
        Ole {
            factors: std::mem::take(&mut products.own),
            shares: std::mem::take(&mut products.shares),
        }
    }
}

/// One column by one row, of one element each.
fn single(ring: Ring) -> Shape {
    Shape {
        ring,
        left: 1,
        inner: 1,
        right: 1,
    }
}

/// Makes `count` OLEs as the sender of the OTs. Messages that it writes last are not flushed.
///
/// # Errors
/// As [`CotSender::extend`].
pub fn send_ole<S: CotSender>(
    cot: &mut S,
    hasher: &mut Hasher,
    mesh: &mut Mesh,
    ring: Ring,
    count: usize,
) -> Result<Ole, OtError> {
    outer::send(cot, hasher, mesh, single(ring), count).map(Ole::new)
}

/// Makes `count` OLEs as the receiver of the OTs.
///
/// # Errors
/// As [`CotReceiver::extend`].
pub fn receive_ole<R: CotReceiver>(
    cot: &mut R,
    hasher: &mut Hasher,
    mesh: &mut Mesh,
    ring: Ring,
    count: usize,
) -> Result<Ole, OtError> {
    outer::receive(cot, hasher, mesh, single(ring), count).map(Ole::new)
}

/// Messages of `count` OLEs, if the source made `before` OTs since its set-up.
pub fn ole_flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
    single(ring).flights(cot, before, count as usize)
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
    ring: Ring,
    /// Shares of the first factors.
    pub a: Vec<u64>,
    /// Shares of the second factors.
    pub b: Vec<u64>,
    /// Shares of the products.
    pub c: Vec<u64>,
}

impl ArithmeticTriples {
    /// Makes `count` triples.
    ///
    /// # Errors
    /// As [`CotSender::extend`] and [`CotReceiver::extend`].
    pub fn make<S: CotSender, R: CotReceiver>(
        both: &mut BothWays<S, R>,
        mesh: &mut Mesh,
        ring: Ring,
        count: usize,
    ) -> Result<ArithmeticTriples, OtError> {
        let (mut sent, mut received) = both.each_way(
            mesh,
            |cot, hasher, mesh| send_ole(cot, hasher, mesh, ring, count),
            |cot, hasher, mesh| receive_ole(cot, hasher, mesh, ring, count),
        )?;
        let mut triples = ArithmeticTriples {
            ring,
            a: std::mem::take(&mut sent.factors),
            b: std::mem::take(&mut received.factors),
            c: std::mem::take(&mut sent.shares),
        };
        let ArithmeticTriples { a, b, c, .. } = &mut triples;
        for (((c, &other), &a), &b) in c.iter_mut().zip(&received.shares).zip(&*a).zip(&*b) {
            *c = ring.reduce(c.wrapping_add(other).wrapping_add(a.wrapping_mul(b)));
        }
        Ok(triples)
    }

    /// The ring of the elements.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Messages of `count` triples, if each source made `before` OTs since its set-up.
    pub fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, ring: Ring, count: u64) -> Flights {
        both_ways(ole_flights(cot, before, ring, count))
    }
}
