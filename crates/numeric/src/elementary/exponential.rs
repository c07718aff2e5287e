//! `exp` and `exp2`.
//!
//! The operand becomes a fixed-point number, negative ones as the complement, which is a unit off.
//! For `exp2`, its bits before the point are the exponent, and those behind it the operand of a
//! piecewise polynomial. For `exp` a multiple of the logarithm of 2 is subtracted, which need not
//! be the largest one: the rest may be more than the logarithm, but is less than 1. An offset puts
//! the logarithm of 2 on the border of a segment. Beyond it the polynomials are those of the half,
//! and the exponent is one more, which is part of their value. So neither the multiple nor the
//! result is corrected. The exponent and the half unit of rounding are terms of the last sum.

use crate::elementary::reduce::{Precision, Short, complement_if, quotient, rest};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap};
use crate::pack::{Special, Unrounded};
use crate::real::Real;
use sealane_circuit::{Builder, Wire, Word};

/// Polynomials for the power of a rest.
fn precision(format: Format, base_two: bool, short: Short) -> Precision {
    let degree = if base_two { 2 } else { 3 };
    Precision::of(format, short, [(7, degree, 27), (8, 5, 57)])
}

impl Arithmetic {
    /// The power of 2.
    pub fn exp2(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.exp2_with(b, x, precision(self.format, true, [(7, 2, 25), (4, 2, 16)]))
    }

    /// The power of 2, by polynomials of some precision.
    pub(crate) fn exp2_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        let fraction = precision.digits as usize;
        // Results below half of the smallest subnormal number come from another bit.
        let (size, too_large) = self.magnitude(b, &parts, self.format.exponent, fraction);
        let x = complement_if(b, parts.sign, &size);
        let special = beyond(b, &parts, too_large);
        self.power(b, precision, &x, Wire::ZERO, special)
    }

    /// The power of 2 of a fixed-point number with the digits of a precision, too small by at most
    /// a unit; or a special number.
    pub(crate) fn power(
        self,
        b: &mut Builder,
        precision: Precision,
        x: &Fixed,
        sign: Wire,
        special: Special,
    ) -> Word {
        let half_unit = Real::scaled(1, i64::from(-precision.digits) - 1);
        let fit = precision.fit("power of 2", &|x| {
            &(&(x + &half_unit) * &Real::ln2()).exp() - &Real::of(1)
        });
        let heap = precision.heap(b, &fit, &x.bits(-precision.digits, 0));
        let exponent = Fixed::new(x.bits(0, x.low + x.bits.len() as i32), 0);
        // With many digits, the middle of two numbers is told from a value near it.
        let exact = precision.digits - 2;
        let exact = (exact > 4 * self.format.fraction as i32).then_some(exact);
        self.scale(b, (heap, exact), &exponent, sign, special)
    }

    /// The power of Euler's number.
    pub fn exp(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = precision(self.format, false, [(7, 2, 25), (5, 2, 21)]);
        self.exp_with(b, x, precision)
    }

    /// The power of Euler's number, by polynomials of some precision.
    pub(crate) fn exp_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        // The logarithm of the largest power of 2 is less than that.
        let integer = self.format.exponent.max(6) - 1;
        let fraction = precision.digits + 1;
        let (size, too_large) = self.magnitude(b, &parts, integer, fraction as usize);
        let x = complement_if(b, parts.sign, &size);
        let (quotient, heap) = natural_power(b, precision, &x, integer as i32);
        let special = beyond(b, &parts, too_large);
        self.scale(b, (heap, None), &quotient, Wire::ZERO, special)
    }

    /// The number `(1 + f) 2^exponent` for a sum f, of the size of 1, or a special one. If f has
    /// `exact` digits, and no others, its value is taken for that.
    pub(crate) fn scale(
        self,
        b: &mut Builder,
        (mut heap, exact): (Heap, Option<i32>),
        exponent: &Fixed,
        sign: Wire,
        special: Special,
    ) -> Word {
        let fraction = self.format.fraction as i32;
        let at_once = self.is_flushed() && exact.is_none();
        heap.signed(exponent, 0, false);
        let offset = if at_once { 0 } else { UNROUNDED_OFFSET };
        heap.constant(&Real::of(i64::from(self.format.bias()) - offset));
        // Half a unit in the last place, or of what is cut off.
        let half = if at_once {
            Some(fraction + 1)
        } else {
            exact.map(|digits| digits + 1)
        };
        if let Some(half) = half {
            heap.constant(&Real::scaled(1, i64::from(-half)));
        }
        let low = heap.low();
        let width = self.exponent_width();
        let sum = heap.fixed(b, (width as i32 - low) as usize);
        let exponent = sum.bits(0, width as i32);
        if at_once {
            let fraction = sum.bits(-fraction, 0);
            return self.finish(b, sign, fraction, &exponent, special);
        }
        // Without exact powers, none is half way between two numbers.
        let sticky = match exact {
            Some(digits) => b.any(&sum.bits(-digits, -fraction - 1)),
            None => Wire::ONE,
        };
        let mut significand = sum.bits(-fraction - 1, 0);
        significand.push(Wire::ONE);
        let mut unrounded = Unrounded::whole(sign, exponent, significand);
        (unrounded.offset, unrounded.sticky) = (offset.into(), sticky);
        self.pack(b, &unrounded, special)
    }
}

/// The power of Euler's number, of a number below `2^limit` with a digit more than a precision has:
/// `2^q (1 + f)`, as the word q and the sum f, which is 1 more than such a fraction where the power
/// of two is.
pub(crate) fn natural_power(
    b: &mut Builder,
    precision: Precision,
    x: &Fixed,
    limit: i32,
) -> (Fixed, Heap) {
    let ln2 = Real::ln2();
    let offset = precision.border();
    let quotient = quotient(b, x, &ln2, limit);
    let rest = rest(b, x, (&quotient, &ln2), precision.digits + 1, |heap| {
        heap.constant(&offset)
    });
    let fit = precision.fit("power of e", &|x| power_of_rest(precision, x));
    let heap = precision.heap(b, &fit, &rest);
    (quotient, heap)
}

/// An offset that the exponents of results lack here where they may be subnormal: `pack` would
/// only subtract it.
pub(crate) const UNROUNDED_OFFSET: i64 = 2;

impl Precision {
    /// The offset that puts the logarithm of 2 on the border of a segment.
    pub(crate) fn border(self) -> Real {
        let index = self.index as i64;
        let segments = Real::ln2().shifted(index).floor() + 1;
        &Real::scaled(segments, -index) - &Real::ln2()
    }
}

/// The fraction of `e^r`, or 1 and that of half of it if it is 2 or more, for a rest with the
/// offset of [`Precision::border`].
pub(crate) fn power_of_rest(precision: Precision, rest: &Real) -> Real {
    let offset = precision.border();
    // The rest is too small by less than two units of half of the precision.
    let unit = Real::scaled(1, i64::from(-precision.digits) - 1);
    let power = (&(rest + &unit) - &offset).exp();
    if *rest < &Real::ln2() + &offset {
        &power - &Real::of(1)
    } else {
        power.shifted(-1)
    }
}

/// The results of operands that are no numbers or have too many bits before the point.
pub(crate) fn beyond(b: &mut Builder, parts: &Parts, too_large: Wire) -> Special {
    let ones = b.all(&parts.exponent);
    let fraction = b.any(&parts.fraction);
    let nan = b.and(ones, fraction);
    let zero = b.and(too_large, parts.sign);
    let infinite = b.xor(too_large, zero);
    Special::new(zero, b.or(infinite, nan), nan)
}
