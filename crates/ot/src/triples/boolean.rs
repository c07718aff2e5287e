//! Boolean triples.

use super::chunks::{chunks, extensions};
use super::{BothWays, both_ways};
use crate::Result;
use crate::flights::Flights;
use crate::forms::{HashedReceiver, HashedSender};
use crate::traits::{
    Correlation, CorrelationSource, CotCost, CotReceiver, CotSender, packed_blocks,
};
use sealane_block::Block;
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// One party's shares of Boolean triples: random bits `a` and `b`, and `c`, the product of the
/// sums of both parties' `a` and `b`, shared alike. 128 in a block, the first in bit 0; the rest of
/// the last block is 0.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// A triple takes one correlated OT in each direction and nothing besides: 62 bits with
/// [`SoftSpoken`](crate::SoftSpoken) and `k = 4`, below one bit with [`ferret`](crate::ferret).
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BooleanTriples {
    #[zeroize(skip)]
    pub(crate) count: usize,
    /// Shares of the first factors.
    pub a: Vec<Block>,
    /// Shares of the second factors.
    pub b: Vec<Block>,
    /// Shares of the products.
    pub c: Vec<Block>,
}

impl BooleanTriples {
    /// Number of triples.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Correlation for BooleanTriples {
    type Parameters = ();

    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, (): (), count: u64) -> Flights {
        both_ways(extensions(cot, before, count))
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<BooleanTriples> for BothWays<S, R> {
    /// Memory beyond the triples does not grow with their number.
    fn make(&mut self, mesh: &mut Mesh, (): (), count: usize) -> Result<BooleanTriples> {
        let empty = || vec![Block::ZERO; packed_blocks(count)];
        let mut triples = BooleanTriples {
            count,
            a: empty(),
            b: empty(),
            c: empty(),
        };
        let mut other = Zeroizing::new(empty());
        let BooleanTriples { a, b, c, .. } = &mut triples;
        self.each_way(
            mesh,
            |sender, mesh| send(sender, mesh, count, [c, a]),
            |receiver, mesh| receive(receiver, mesh, count, [&mut other, b]),
        )?;
        // The share of the own product, and of both that take a factor of the peer.
        for (((c, &other), &a), &b) in c.iter_mut().zip(&*other).zip(&*a).zip(&*b) {
            *c ^= other ^ (a & b);
        }
        Ok(triples)
    }
}

/// Fills bits of keys of choice 0, and their sums with those of choice 1.
fn send<S: CotSender>(
    HashedSender { cot, hasher }: &mut HashedSender<S>,
    mesh: &mut Mesh,
    count: usize,
    [zeros, sums]: [&mut Vec<Block>; 2],
) -> Result<()> {
    let mut scratch = Zeroizing::default();
    for (now, blocks) in chunks(0..count) {
        let (q, seconds) = cot.next_keys(mesh, now, &mut scratch)?;
        mesh.flush()?;
        let bits = [&mut zeros[blocks.clone()], &mut sums[blocks]];
        hasher.pair_bits(&seconds, q, bits);
    }
    Ok(())
}

/// Fills bits of keys, and the choices.
fn receive<R: CotReceiver>(
    HashedReceiver { cot, hasher }: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    count: usize,
    [keys, choices]: [&mut Vec<Block>; 2],
) -> Result<()> {
    let mut scratch = Zeroizing::default();
    for (now, blocks) in chunks(0..count) {
        let t = cot.next_rows(mesh, now, &mut choices[blocks.clone()], &mut scratch)?;
        // The peer works on this chunk while this party is at the next one.
        mesh.flush()?;
        hasher.bits(t, &mut keys[blocks]);
    }
    Ok(())
}
