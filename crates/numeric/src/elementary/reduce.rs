//! Operands as fixed-point numbers, and results out of them.

use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap};
use crate::poly::Piecewise;
use crate::real::Real;
use crate::word::flip_if;
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

/// Index bits, degree and digits of a function of one number of two formats: f16 and bf16.
pub(crate) type Short = [(usize, usize, i32); 2];

/// Piecewise polynomials on [0, 1): index bits, degree, and digits behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Precision {
    pub index: usize,
    pub degree: usize,
    pub digits: i32,
}

impl Precision {
    pub(crate) const fn new(index: usize, degree: usize, digits: i32) -> Precision {
        Precision {
            index,
            degree,
            digits,
        }
    }

    /// The polynomials of a function of one number in f16 and in bf16, or else others. Results of
    /// the two formats are correctly rounded: at all arguments, for the fewest gates.
    pub(crate) fn short(format: Format, [half, brain]: Short, other: Precision) -> Precision {
        let of = |(index, degree, digits)| Precision::new(index, degree, digits);
        match format {
            Format::F16 => of(half),
            Format::BF16 => of(brain),
            _ => other,
        }
    }

    /// The same, of which the others are those of f32, and of formats with longer fractions.
    pub(crate) fn of(format: Format, short: Short, [single, double]: Short) -> Precision {
        let (index, degree, digits) = if format.fraction <= 23 {
            single
        } else {
            double
        };
        Precision::short(format, short, Precision::new(index, degree, digits))
    }

    /// Polynomials for a function, which `name` identifies among all.
    pub(crate) fn fit(
        self,
        name: &'static str,
        function: &dyn Fn(&Real) -> Real,
    ) -> Arc<Piecewise> {
        let width = -(self.index as i64);
        let key = [self.index, self.degree, self.digits as usize, 0];
        Piecewise::known((name, key), || {
            Piecewise::fit(1 << self.index, self.degree, &|segment, t| {
                function(&(&Real::of(segment as i64) + t).shifted(width))
            })
        })
    }

    /// Their value at a fraction.
    pub(crate) fn heap(self, b: &mut Builder, fit: &Piecewise, x: &[Wire]) -> Heap {
        let (rest, index) = x.split_at(x.len() - self.index);
        fit.heap(b, index, rest, self.digits)
    }

    /// Their value at a fraction, added up.
    pub(crate) fn value(self, b: &mut Builder, fit: &Piecewise, x: &[Wire]) -> Fixed {
        let (rest, index) = x.split_at(x.len() - self.index);
        fit.value(b, index, rest, self.digits)
    }
}

impl Arithmetic {
    /// The magnitude of a normal number with `integer` bits before the point and `fraction` behind,
    /// further ones cut off; and 1 if it needs more bits before the point, or is no number.
    ///
    /// Subnormal numbers are read as if they were normal, below the double of the smallest one.
    pub(crate) fn magnitude(
        self,
        b: &mut Builder,
        parts: &Parts,
        integer: usize,
        fraction: usize,
    ) -> (Fixed, Wire) {
        let width = self.format.exponent + 1;
        let top = i128::from(self.format.bias()) + integer as i128 - 1;
        let top = b.constant(top, width);
        let exponent = Int::unsigned(&parts.exponent);
        let shift = b.sub(Int::unsigned(&top), exponent, width);
        let (&too_large, shift) = shift.split_last().expect("an exponent");
        let mut significand = parts.fraction.clone();
        significand.push(Wire::ONE);
        let low = integer as i32 - significand.len() as i32;
        let word = Fixed::new(significand, low);
        let bits = shift_down(b, word, shift, -(fraction as i32));
        (bits, too_large)
    }
}

/// A word without sign times `2^-amount`, cut off at `2^low`, in as many bits as reach down from
/// its highest; with a sign of 0. Layers for small amounts come first, where the word is short.
pub(crate) fn shift_down(b: &mut Builder, word: Fixed, amount: &[Wire], low: i32) -> Fixed {
    let end = word.low + word.bits.len() as i32;
    let width = (end - low).max(1) as usize;
    let layers = (width.next_power_of_two().trailing_zeros() as usize).min(amount.len());
    let (amount, beyond) = amount.split_at(layers);
    let beyond = b.any(beyond);
    let mut word = Fixed::unsigned(&word.bits, word.low);
    for (k, &shift) in amount.iter().enumerate() {
        let by = 1 << k;
        let from = (word.low - by).max(low);
        let last = k + 1 == layers;
        let (stay, go) = if last {
            (!b.or(shift, beyond), b.and(shift, !beyond))
        } else {
            (!shift, shift)
        };
        let bit = |b: &mut Builder, weight: i32| {
            let (here, above) = (word.bit(weight), word.bit(weight + by));
            match last && here != Wire::ZERO && above != Wire::ZERO {
                true => {
                    let (here, above) = (b.and(here, stay), b.and(above, go));
                    b.xor(here, above)
                }
                false if here == Wire::ZERO => b.and(above, go),
                false if above == Wire::ZERO => b.and(here, stay),
                false => b.mux(go, above, here),
            }
        };
        let bits: Word = (from..end).map(|weight| bit(b, weight)).collect();
        word = Fixed::unsigned(&bits, from);
    }
    word
}

/// The number that is one unit less than the opposite where `sign` is 1, else the number itself:
/// no AND.
pub(crate) fn complement_if(b: &mut Builder, sign: Wire, x: &Fixed) -> Fixed {
    Fixed::new(flip_if(b, sign, &x.bits), x.low)
}

/// The quotient of a number and a `constant` between 1/2 and 3/4, rounded down, or one less where
/// the rest is then at most 1.32 times the constant. Numbers are less than `2^limit`.
pub(crate) fn quotient(b: &mut Builder, x: &Fixed, constant: &Real, limit: i32) -> Fixed {
    let inverse = &Real::of(1) / constant;
    // The number is cut off behind three bits, which makes the quotient less by at most 0.18. The
    // error of the digits of the inverse times the number is less than 1/32, and so is the sum of
    // all parts of rows that are cut off and subtracted; other such parts are at most 0.05.
    let (near, unit) = (-3, -7);
    let top = Fixed::new(x.bits(near, x.low + x.bits.len() as i32), near);
    let mut heap = Heap::new(unit);
    heap.times(&top, &inverse, limit + 4);
    // Never above the exact quotient.
    heap.constant(&Real::scaled(-1, -4));
    let estimate = heap.fixed(b, (limit + 2 - unit) as usize);
    Fixed::new(estimate.bits(0, limit + 2), 0)
}

/// The fraction of `x - quotient * constant`, and of the terms of `offset`, with `fraction` bits: a
/// number that is too small by less than two units.
pub(crate) fn rest(
    b: &mut Builder,
    x: &Fixed,
    (quotient, constant): (&Fixed, &Real),
    fraction: i32,
    offset: impl Fn(&mut Heap),
) -> Word {
    let guard = 3;
    let mut heap = Heap::new(-fraction - guard);
    heap.signed(x, 0, false);
    let digits = fraction + guard + quotient.bits.len() as i32;
    heap.times(quotient, &-constant, digits);
    offset(&mut heap);
    let rest = heap.sum(b, (fraction + guard) as usize);
    rest[guard as usize..].to_vec()
}
