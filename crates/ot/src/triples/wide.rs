//! Wide triples: one bit by many.

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
use std::cell::RefCell;
use std::ops::Range;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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
        let empty = || vec![Block::ZERO; packed_blocks(count)];
        let planes = || (0..checked(width)).map(|_| empty()).collect();
        let mut triples = WideTriples {
            count,
            a: empty(),
            b: planes(),
            c: planes(),
        };
        let WideTriples { a, b, c, .. } = &mut triples;
        // Both directions add to the same shares.
        let shares = RefCell::new(&mut *c);
        self.each_way(
            mesh,
            |sender, mesh| send(sender, mesh, count, [&mut shares.borrow_mut(), b]),
            |receiver, mesh| receive(receiver, mesh, count, &mut shares.borrow_mut(), a),
        )?;
        for (c, b) in c.iter_mut().zip(b) {
            for ((c, &a), &b) in c.iter_mut().zip(&*a).zip(&*b) {
                *c ^= a & b;
            }
        }
        Ok(triples)
    }
}

/// These blocks of all planes.
fn parts(planes: &mut [Vec<Block>], blocks: Range<usize>) -> Vec<&mut [Block]> {
    let planes = planes.iter_mut();
    planes.map(|plane| &mut plane[blocks.clone()]).collect()
}

/// Adds to planes the keys of choice 0, and their sums with those of choice 1.
fn send<S: CotSender>(
    HashedSender { cot, hasher }: &mut HashedSender<S>,
    mesh: &mut Mesh,
    count: usize,
    [zeros, sums]: [&mut [Vec<Block>]; 2],
) -> Result<()> {
    let mut scratch = Zeroizing::default();
    for (now, blocks) in chunks(0..count) {
        let (q, seconds) = cot.next_keys(mesh, now, &mut scratch)?;
        mesh.flush()?;
        let (mut zeros, mut sums) = (parts(zeros, blocks.clone()), parts(sums, blocks));
        hasher.pair_planes(&seconds, q, [&mut zeros, &mut sums]);
    }
    Ok(())
}

/// Adds keys to planes, and fills the choices.
fn receive<R: CotReceiver>(
    HashedReceiver { cot, hasher }: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    count: usize,
    keys: &mut [Vec<Block>],
    choices: &mut [Block],
) -> Result<()> {
    let mut scratch = Zeroizing::default();
    for (now, blocks) in chunks(0..count) {
        let t = cot.next_rows(mesh, now, &mut choices[blocks.clone()], &mut scratch)?;
        // The peer works on this chunk while this party is at the next one.
        mesh.flush()?;
        hasher.planes(t, &mut parts(keys, blocks));
    }
    Ok(())
}
