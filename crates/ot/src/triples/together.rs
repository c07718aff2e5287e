//! Correlations of integers of several kinds at once: messages of all of them cross.

use super::crossed::BothDirections;
use super::in_parts::{self, InParts};
use super::{
    ArithmeticTriples, BothWays, DaBits, KnownProducts, KnownShape, MatrixShape, MatrixTriples,
    Ring, Selects,
};
use super::{arithmetic, dabits, known, selects};
use crate::Result;
use crate::source::ahead::{AheadReceiver, AheadSender};
use sealane_net::Mesh;

/// A kind of correlation of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerKind {
    /// [`ArithmeticTriples`].
    Triples(Ring),
    /// [`MatrixTriples`].
    Matrices(MatrixShape),
    /// [`DaBits`].
    DaBits(Ring),
    /// [`Selects`].
    Selects(Ring),
    /// [`KnownProducts`], of which this party is the holder or not.
    Known(KnownShape, bool),
}

/// Correlations of a kind.
#[expect(missing_docs, reason = "the kinds of `IntegerKind`")]
pub enum Integers {
    Triples(ArithmeticTriples),
    Matrices(MatrixTriples),
    DaBits(DaBits),
    Selects(Selects),
    Known(KnownProducts),
}

/// The same in the making.
enum Making {
    Triples(Ring, BothDirections),
    Matrices(MatrixShape, BothDirections),
    DaBits(dabits::Making),
    Selects(selects::Making),
    Known(known::Making),
}

/// Correlations of integers of several kinds that have begun.
#[derive(Default)]
pub struct BegunIntegers(Vec<Making>);

impl BegunIntegers {
    /// Those that can take their OTs as these are made: products of both directions, as far as none
    /// of another kind takes OTs before them.
    pub(super) fn products(&mut self) -> impl Iterator<Item = &mut BothDirections> {
        self.0.iter_mut().map_while(|making| match making {
            Making::Triples(_, making) | Making::Matrices(_, making) => Some(making),
            _ => None,
        })
    }
}

type Both = BothWays<AheadSender, AheadReceiver>;

impl Making {
    fn new(both: &Both, kind: IntegerKind, count: usize) -> Making {
        let products = |shape| BothDirections::new(both, shape, count);
        match kind {
            IntegerKind::Triples(ring) => Making::Triples(ring, products(arithmetic::single(ring))),
            IntegerKind::Matrices(shape) => {
                Making::Matrices(shape, products(shape.checked().one_way()))
            }
            IntegerKind::DaBits(ring) => Making::DaBits(dabits::Making::new(both, ring, count)),
            IntegerKind::Selects(ring) => Making::Selects(selects::Making::new(both, ring, count)),
            IntegerKind::Known(shape, is_holder) => {
                Making::Known(known::Making::new(shape, is_holder, both.peer(), count))
            }
        }
    }

    fn in_parts(&mut self) -> &mut dyn InParts<AheadSender, AheadReceiver> {
        match self {
            Making::Triples(_, making) | Making::Matrices(_, making) => making,
            Making::DaBits(making) => making,
            Making::Selects(making) => making,
            Making::Known(making) => making,
        }
    }

    fn made(self) -> Integers {
        match self {
            Making::Triples(ring, made) => Integers::Triples(ArithmeticTriples::of(ring, made)),
            Making::Matrices(shape, made) => Integers::Matrices(MatrixTriples::of(shape, made)),
            Making::DaBits(making) => Integers::DaBits(making.made),
            Making::Selects(making) => Integers::Selects(making.made),
            Making::Known(making) => Integers::Known(making.made),
        }
    }
}

impl Both {
    /// Begins so many of each kind, which take OTs in this order.
    ///
    /// # Panics
    /// If a side of a matrix is 0, or known numbers have no bits, more than the ring, or no
    /// partners.
    pub fn begin(&self, kinds: impl IntoIterator<Item = (IntegerKind, usize)>) -> BegunIntegers {
        let kinds = kinds.into_iter();
        let all = kinds.map(|(kind, count)| Making::new(self, kind, count));
        BegunIntegers(all.collect())
    }

    /// Makes all that have begun, of OTs that were made ahead or that have come to them already.
    /// All messages cross in one flight: none depends on another, and a party reads none before it
    /// has written its own, but where they are too many bytes to be on their way at once.
    ///
    /// # Errors
    /// Too few OTs were made, or the network failed.
    pub fn make_together(
        &mut self,
        mesh: &mut Mesh,
        begun: BegunIntegers,
    ) -> Result<Vec<Integers>> {
        let BegunIntegers(mut all) = begun;
        mesh.crossing(|mesh| {
            let mut parts: Vec<_> = all.iter_mut().map(Making::in_parts).collect();
            in_parts::make(self, mesh, &mut parts)
        })?;
        Ok(all.into_iter().map(Making::made).collect())
    }
}
