//! Boolean triples.

use super::bits::{self, BitKind, BitTriples};
use super::chunks::extensions;
use super::{BothWays, both_ways};
use crate::Result;
use crate::flights::Flights;
use crate::traits::{Correlation, CorrelationSource, CotCost, CotReceiver, CotSender};
use sealane_block::Block;
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop};

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
        match bits::make(self, mesh, BitKind::Boolean, count)? {
            BitTriples::Boolean(triples) => Ok(triples),
            BitTriples::Wide(_) => unreachable!("another kind"),
        }
    }
}
