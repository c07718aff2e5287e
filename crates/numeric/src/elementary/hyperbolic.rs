//! `sinh`, `cosh`, `tanh` and the logistic function `sigmoid`.
//!
//! `tanh` is a function by binades. The others are written with `e^x = 2^k e^r`: `2 cosh(x)` is
//! `2^k (e^r + 4^-k e^-r)`, a polynomial in r for each k up to the one from which the second term
//! does not matter; likewise `2 sinh(x)`, which below 1/2 is a function by binades with the same
//! polynomials; and the logistic function `e^x / (1 + e^x)`, over 2^k for negative k.

use crate::elementary::exponential::{UNROUNDED_OFFSET, beyond};
use crate::elementary::groups::{Grouped, clip, nan_only, no_exponent, number};
use crate::elementary::logarithm::lead;
use crate::elementary::reduce::{Precision, Short, complement_if, quotient, rest};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap, plus};
use crate::pack::{Special, Unrounded};
use crate::real::Real;
use crate::word::mask;
use sealane_circuit::{Builder, Wire, Word};

/// Polynomials for the logistic function in short formats.
const SIGMOID: Short = [(3, 5, 28), (3, 4, 27)];

fn precision(format: Format, short: Short) -> Precision {
    Precision::of(format, short, [(3, 5, 28), (4, 9, 58)])
}

/// An operand as `2^quotient e^rest`.
struct Power {
    quotient: Fixed,
    rest: Word,
    too_large: Wire,
}

impl Arithmetic {
    /// The hyperbolic tangent.
    pub fn tanh(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.tanh_with(b, x, precision(self.format, [(3, 4, 21), (3, 2, 14)]))
    }

    /// The same by polynomials of some precision.
    pub(crate) fn tanh_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        // The last binade in which the tangent is not 1 throughout.
        let first = self.first_binade();
        let (last, bits) = match self.format.fraction {
            ..8 => (1, 3),
            8..11 => (2, 4),
            11..24 => (3, 4),
            _ => (4, 5),
        };
        debug_assert!(last - first < 1 << bits);
        let binade = self.binade(b, &parts, first);
        let form = ("tanh", self.format, precision);
        // Numbers beyond the last binade are in its last segment, where the tangent is near 1.
        let place = [&parts.fraction[..], &binade].concat();
        let (low, place) = place.split_at(self.format.fraction - precision.index);
        let place = clip(b, place, precision.index + bits);
        let (top, binade) = place.split_at(precision.index);
        let fraction = [low, top].concat();
        let value = Grouped::new(form, binade, &fraction, &|group, fraction| {
            let exponent = group as i64 + i64::from(first);
            let power = number(exponent + 1, fraction).exp();
            let tangent = &(&power - &Real::of(1)) / &(&power + &Real::of(1));
            tangent.shifted(-exponent.min(0))
        });
        let value = value.value(b);
        let large = self.at_least(b, &parts, 0);
        let exponent = self.exponent_or(b, (!large, &parts), &no_exponent());
        let special = nan_only(b, &parts);
        let digits = precision.digits + 1;
        let bits = value.bits(-digits, 1);
        let number = self.settle(b, (&bits, 0, -1), &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// The hyperbolic cosine.
    pub fn cosh(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.cosh_with(b, x, precision(self.format, [(2, 4, 19), (3, 3, 17)]))
    }

    /// The same by polynomials of some precision.
    pub(crate) fn cosh_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        let power = self.power_of_e(b, &parts, false, precision);
        let form = ("cosh", self.format, precision);
        let group = group_of(b, &power.quotient, precision);
        let value = Grouped::new(form, &group, &power.rest, &|group, rest| {
            let other = (-rest).exp().shifted(2 - 2 * group as i64);
            &rest.exp() + &other
        });
        let value = value.value(b);
        let exponent = self.one_less(b, &power.quotient);
        let magnitude = Parts::new(parts.fraction, parts.exponent, Wire::ZERO);
        let special = beyond(b, &magnitude, power.too_large);
        let bits = value.bits(-precision.digits, 3);
        let none = Wire::ZERO;
        let exponent = self.exponent_or(b, (none, &magnitude), &exponent);
        self.settle(b, (&bits, 2, 0), &exponent, none, special)
    }

    /// The hyperbolic sine.
    pub fn sinh(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.sinh_with(b, x, precision(self.format, [(3, 3, 20), (3, 3, 17)]))
    }

    /// The same by polynomials of some precision.
    pub(crate) fn sinh_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        let power = self.power_of_e(b, &parts, false, precision);
        let first = self.first_binade();
        let near = !self.at_least(b, &parts, -1);
        let group = group_of(b, &power.quotient, precision);
        let binade = self.binade(b, &parts, first);
        let binade = clip(b, &binade, group.len());
        let mut group = b.select(near, &binade, &group);
        let half = 1 << group.len();
        group.push(near);
        let fraction = Fixed::unsigned(&parts.fraction, -(self.format.fraction as i32));
        let fraction = fraction.bits(-(power.rest.len() as i32), 0);
        let fraction = b.select(near, &fraction, &power.rest);
        let form = ("sinh", self.format, precision);
        let value = Grouped::new(form, &group, &fraction, &|group, rest| {
            if group < half {
                let other = (-rest).exp().shifted(2 - 2 * group as i64);
                return &rest.exp() - &other;
            }
            // Binades beyond the last one are not used.
            let exponent = ((group - half) as i64 + i64::from(first)).min(-2);
            let power = number(exponent, rest).exp();
            let other = &Real::of(1) / &power;
            (&power - &other).shifted(-exponent - 1)
        });
        let value = value.value(b);
        let exponent = self.one_less(b, &power.quotient);
        let exponent = self.exponent_or(b, (near, &parts), &exponent);
        let mut magnitude = parts.clone();
        magnitude.sign = Wire::ZERO;
        let special = beyond(b, &magnitude, power.too_large);
        let bits = value.bits(-precision.digits - 1, 2);
        let number = self.settle(b, (&bits, 1, -1), &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// The logistic function, `1 / (1 + e^-x)`.
    pub fn sigmoid(self, b: &mut Builder, x: &[Wire]) -> Word {
        let parts = self.format.split(x);
        let power = self.power_of_e(b, &parts, true, precision(self.format, SIGMOID));
        let special = beyond(b, &parts, power.too_large);
        // The positive ones of the operands that are too large have the result 1.
        let special = Special::nan_or_zero(special.nan, special.zero);
        let width = power.quotient.bits.len();
        let sign = power.quotient.bits[width - 1];
        let negative = b.and(sign, !power.too_large);
        // Below that, and above the opposite, the value is a power or 1.
        let (least, bits) = match self.format.fraction {
            ..=23 => (-30, 6),
            _ => (-60, 7),
        };
        let mut group = plus(b, &power.quotient, -least, width + 1);
        let below = group.pop().expect("a sign");
        let below = b.and(below, !power.too_large);
        group.push(power.too_large);
        let group = clip(b, &group, bits);
        let group = mask(b, !below, &group);
        let mut precision = precision(self.format, SIGMOID);
        let nudged = self.format.fraction == 10;
        precision.digits += if nudged { 2 } else { 0 };
        let form = ("sigmoid", self.format, precision);
        let function = |group: usize, rest: &Real| {
            let exponent = group as i64 + least;
            let power = rest.exp();
            let sum = &Real::of(1) + &power.shifted(exponent);
            if exponent < 0 {
                &power / &sum
            } else {
                &power.shifted(exponent) / &sum
            }
        };
        // In f16, values at the smallest operands are nearer to 1/2 than the middle of two numbers,
        // by less than 2^-38. No others are that near to such a middle.
        let mut heap = Grouped::new(form, &group, &power.rest, &function).heap(b);
        if nudged {
            heap.bit(parts.sign, 3 - precision.digits, false);
            heap.constant(&Real::scaled(-1, i64::from(2 - precision.digits)));
        }
        // Less than 4.
        let width = (3 - heap.low()) as usize;
        let value = heap.fixed(b, width);
        let exponent = Fixed::new(mask(b, negative, &power.quotient.bits), 0);
        let bits = value.bits(-precision.digits - 1, 2);
        self.settle_small(b, (&bits, 1, -1), &exponent, special)
    }

    /// [`Arithmetic::settle`] of a positive number that may be subnormal, for an exponent without a
    /// bias.
    fn settle_small(
        self,
        b: &mut Builder,
        (x, most, least): (&[Wire], i32, i32),
        exponent: &Fixed,
        special: Special,
    ) -> Word {
        let width = self.precision() + 1;
        let (significand, moved) = lead(b, x, (most - least + 1) as usize, width);
        let mut heap = Heap::new(0);
        heap.signed(exponent, 0, false);
        heap.unsigned(&moved, 0, true);
        let bias = i64::from(self.format.bias() + most);
        heap.constant(&Real::of(bias - UNROUNDED_OFFSET));
        let exponent = heap.sum(b, self.exponent_width());
        let mut unrounded = Unrounded::whole(Wire::ZERO, exponent, significand);
        (unrounded.offset, unrounded.sticky) = (UNROUNDED_OFFSET.into(), Wire::ONE);
        self.pack(b, &unrounded, special)
    }

    /// The operand as a power of Euler's number; its magnitude, if not `signed`.
    fn power_of_e(
        self,
        b: &mut Builder,
        parts: &Parts,
        signed: bool,
        precision: Precision,
    ) -> Power {
        let integer = self.format.exponent.max(6) - 1;
        let fraction = precision.digits + 2;
        let (size, too_large) = self.magnitude(b, parts, integer, fraction as usize);
        let x = if signed {
            complement_if(b, parts.sign, &size)
        } else {
            size
        };
        let ln2 = Real::ln2();
        let quotient = quotient(b, &x, &ln2, integer as i32);
        let rest = rest(b, &x, (&quotient, &ln2), fraction, |_| {});
        Power {
            quotient,
            rest,
            too_large,
        }
    }

    fn one_less(self, b: &mut Builder, quotient: &Fixed) -> Fixed {
        Fixed::new(plus(b, quotient, -1, quotient.bits.len()), 0)
    }
}

/// The group of a multiple of the logarithm of 2 that is -1 or more: beyond the last one, the other
/// power does not matter.
fn group_of(b: &mut Builder, quotient: &Fixed, precision: Precision) -> Word {
    let group = plus(b, quotient, 1, quotient.bits.len());
    let bits = match precision.digits {
        ..=28 => 4,
        _ => 5,
    };
    clip(b, &group, bits)
}
