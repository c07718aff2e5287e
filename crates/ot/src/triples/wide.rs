//! Wide triples: one bit by many.

use super::bits::{self, BitKind, BitTriples};
use super::chunks::extensions;
use super::{BothWays, both_ways};
use crate::Result;
use crate::flights::Flights;
use crate::traits::{Correlation, CorrelationSource, CotCost, CotReceiver, CotSender};
use sealane_block::Block;
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// One party's shares of wide triples: a random bit `a`, as many random bits `b_j` as the triples
/// are wide, up to 128, and `c_j`, the products of the sums of both parties' `a` and `b_j`, shared
/// alike. Bits are packed as in [`BooleanTriples`](super::BooleanTriples).
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// A triple of any width takes what a Boolean triple does: one correlated OT in each direction and
/// nothing besides.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct WideTriples {
    #[zeroize(skip)]
    pub(crate) count: usize,
    /// Shares of the common factors.
    pub a: Vec<Block>,
    /// Shares of the other factors: `b[j]` has those with number `j` of all triples.
    pub b: Vec<Vec<Block>>,
    /// Shares of the products `a b_j`, likewise.
    pub c: Vec<Vec<Block>>,
}

impl WideTriples {
    /// Number of triples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Products of a triple.
    pub fn width(&self) -> usize {
        self.b.len()
    }
}

/// Refuses widths that one hash does not have.
fn checked(width: usize) -> usize {
    assert!((1..=128).contains(&width), "a triple is 1 to 128 wide");
    width
}

impl Correlation for WideTriples {
    /// The number of products of a triple.
    type Parameters = usize;

    fn flights<C: CotCost + ?Sized>(cot: &C, before: u64, width: usize, count: u64) -> Flights {
        checked(width);
        both_ways(extensions(cot, before, count))
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<WideTriples> for BothWays<S, R> {
    /// Memory beyond the triples does not grow with their number.
    ///
    /// # Panics
    /// If the width is 0 or over 128.
    fn make(&mut self, mesh: &mut Mesh, width: usize, count: usize) -> Result<WideTriples> {
        match bits::make(self, mesh, BitKind::Wide(checked(width)), count)? {
            BitTriples::Wide(triples) => Ok(triples),
            BitTriples::Boolean(_) => unreachable!("another kind"),
        }
    }
}
