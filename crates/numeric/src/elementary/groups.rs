//! Functions by binades: polynomials in the fraction of an operand, with the exponent as an index.
//!
//! A function of the size of its operand has a polynomial on each part of a binade that gives the
//! value over the power of two of the exponent, as precise as its result has to be. There is no
//! shift into a fixed-point number, and none back of more than a few bits.

use crate::elementary::reduce::Precision;
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap, plus};
use crate::pack::Special;
use crate::poly::Piecewise;
use crate::real::Real;
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

/// `function(group, fraction)`: a piecewise polynomial for each value of the word `group`.
pub(crate) struct Grouped {
    fit: Arc<Piecewise>,
    index: Word,
    rest: Word,
    digits: i32,
}

impl Grouped {
    /// The polynomials of a function, which `name` identifies, and their operands.
    pub fn new(
        (name, format, precision): (&'static str, Format, Precision),
        group: &[Wire],
        fraction: &[Wire],
        function: &dyn Fn(usize, &Real) -> Real,
    ) -> Grouped {
        let (index, degree, digits) = (precision.index, precision.degree, precision.digits);
        let shape = format.fraction << 8 | group.len();
        let fit = Piecewise::known((name, [index, degree, digits as usize, shape]), || {
            Piecewise::fit(1 << (index + group.len()), degree, &|segment, t| {
                let place = &Real::of((segment % (1 << index)) as i64) + t;
                function(segment >> index, &place.shifted(-(index as i64)))
            })
        });
        let (rest, top) = fraction.split_at(fraction.len() - index);
        Grouped {
            fit,
            index: [top, group].concat(),
            rest: rest.to_vec(),
            digits,
        }
    }

    /// The value.
    pub fn value(&self, b: &mut Builder) -> Fixed {
        self.fit.value(b, &self.index, &self.rest, self.digits)
    }

    /// The value, as a sum to which more may be added.
    pub fn heap(&self, b: &mut Builder) -> Heap {
        self.fit.heap(b, &self.index, &self.rest, self.digits)
    }
}

/// The number `2^exponent (1 + fraction)`.
pub(crate) fn number(exponent: i64, fraction: &Real) -> Real {
    (&Real::of(1) + fraction).shifted(exponent)
}

/// A number that is not negative, in so many bits: the largest one if it needs more.
pub(crate) fn clip(b: &mut Builder, x: &[Wire], bits: usize) -> Word {
    let (low, high) = x.split_at(bits.min(x.len()));
    let beyond = b.any(high);
    low.iter().map(|&bit| b.or(bit, beyond)).collect()
}

impl Arithmetic {
    /// The exponent of a number that is not below `2^first`, from there on.
    pub(crate) fn binade(self, b: &mut Builder, parts: &Parts, first: i32) -> Word {
        let width = self.format.exponent;
        let first = b.constant((self.format.bias() + first).into(), width);
        b.sub(Int::unsigned(&parts.exponent), Int::unsigned(&first), width)
    }

    /// 1 for numbers of at least `2^exponent`.
    pub(crate) fn at_least(self, b: &mut Builder, parts: &Parts, exponent: i32) -> Wire {
        let limit = b.constant((self.format.bias() + exponent).into(), self.format.exponent);
        let below = b.lt(Int::unsigned(&parts.exponent), Int::unsigned(&limit));
        !below
    }

    /// A word of the width of exponents: the exponent of a number where `own` is 1, else the
    /// biased form of another.
    pub(crate) fn exponent_or(
        self,
        b: &mut Builder,
        (own, parts): (Wire, &Parts),
        other: &Fixed,
    ) -> Word {
        let width = self.exponent_width();
        let other = plus(b, other, self.format.bias().into(), width);
        let field = Int::unsigned(&parts.exponent).resize(width);
        b.select(own, &field, &other)
    }

    /// The exponent below which an odd function is x, if it differs from x by x^3 / 3 at most.
    pub(crate) fn first_binade(self) -> i32 {
        -(self.format.fraction as i32 / 2 + 1)
    }
}

/// A special result for operands that are NaN, and no others.
pub(crate) fn nan_only(b: &mut Builder, parts: &Parts) -> Special {
    let ones = b.all(&parts.exponent);
    let fraction = b.any(&parts.fraction);
    let nan = b.and(ones, fraction);
    Special::nan_or_zero(nan, Wire::ZERO)
}

/// The exponent 0.
pub(crate) fn no_exponent() -> Fixed {
    Fixed::new(vec![Wire::ZERO], 0)
}
