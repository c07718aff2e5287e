//! `expm1`.
//!
//! For operands below 1/2 the result is `x g(x)` with a polynomial `g(x) = (e^x - 1) / x`, and the
//! significand of x as the factor. For others, e^x is `2^k m`, and of `2^k m - 1` the smaller term
//! is shifted: 1 if k is not negative, else m. One piecewise polynomial serves both, with another
//! bit of its index. Operands below 2^-25 are results.

use crate::elementary::exponential::{beyond, power_of_rest};
use crate::elementary::logarithm::lead;
use crate::elementary::reduce::{Precision, Short, complement_if, quotient, rest, shift_down};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap};
use crate::pack::Special;
use crate::poly::Piecewise;
use crate::real::Real;
use crate::word::mask;
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

fn precision(format: Format, short: Short) -> Precision {
    Precision::of(format, short, [(7, 3, 28), (7, 6, 58)])
}

/// The polynomials of both kinds: those of small operands, with 1/2 added, come second.
fn fit(precision: Precision) -> Arc<Piecewise> {
    let (index, degree, digits) = (precision.index, precision.degree, precision.digits);
    let half = Real::scaled(1, -1);
    Piecewise::known(("expm1", [index, degree, digits as usize, 0]), || {
        Piecewise::fit(2 << index, degree, &|segment, t| {
            let place = |segment: usize| (&Real::of(segment as i64) + t).shifted(-(index as i64));
            match segment.checked_sub(1 << index) {
                None => power_of_rest(precision, &place(segment)),
                Some(segment) => {
                    let x = &place(segment) - &half;
                    &(&x.exp() - &Real::of(1)) / &x
                }
            }
        })
    })
}

impl Arithmetic {
    /// The power of Euler's number, less 1.
    pub fn expm1(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.expm1_with(b, x, precision(self.format, [(6, 3, 25), (5, 2, 20)]))
    }

    /// The same by polynomials of some precision.
    pub(crate) fn expm1_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        let integer = self.format.exponent.max(6) - 1;
        let fraction = precision.digits + 1;
        let (size, too_large) = self.magnitude(b, &parts, integer, fraction as usize);
        let above = size.bits(-1, integer as i32);
        let above = b.any(&above);
        let near = !b.or(above, too_large);
        let x = complement_if(b, parts.sign, &size);
        let ln2 = Real::ln2();
        let times = quotient(b, &x, &ln2, integer as i32);
        let times = Fixed::new(mask(b, !near, &times.bits), 0);
        let offset = precision.border();
        let more = &Real::scaled(1, -1) - &offset;
        let rest = rest(b, &x, (&times, &ln2), fraction, |heap| {
            heap.constant(&offset);
            heap.times(&Fixed::unsigned(&[near], 0), &more, fraction + 3);
        });
        let (low, index) = rest.split_at(rest.len() - precision.index);
        let mut index = index.to_vec();
        index.push(near);
        let value = fit(precision).value(b, &index, low, precision.digits);
        let digits = precision.digits;
        let small = self.times_significand(b, &parts.fraction, &value, digits);
        let large = (parts.sign, too_large);
        let (large, exponent) = less_one(b, &value, &times, large, -digits - 1);
        let result = b.select(near, &small.bits(-digits, 2), &large.bits(-digits, 2));
        let bias = b.constant(self.format.bias().into(), exponent.len());
        let (exponent, bias) = (Int::signed(&exponent), Int::signed(&bias));
        let exponent = b.add(exponent, bias, self.exponent_width());
        let own = Int::unsigned(&parts.exponent).resize(exponent.len());
        let exponent = b.select(near, &own, &exponent);
        let special = beyond(b, &parts, too_large);
        let special = Special::new(Wire::ZERO, special.not_finite, special.nan);
        let number = self.settle(b, (&result, 1, -2), &exponent, parts.sign, special);
        self.tiny_or(b, &parts, self.format.fraction as i32 + 2, &number)
    }

    /// The product of a significand of a normal number with a factor less than 2, off by less than
    /// `2^-digits`.
    pub(crate) fn times_significand(
        self,
        b: &mut Builder,
        fraction: &[Wire],
        factor: &Fixed,
        digits: i32,
    ) -> Fixed {
        let mut significand = fraction.to_vec();
        significand.push(Wire::ONE);
        let x = Fixed::unsigned(&significand, -(fraction.len() as i32));
        let guard = (self.precision() as u32).ilog2() as i32;
        let mut heap = Heap::new((-digits - guard).max(x.low + factor.low - 1));
        heap.centred_product(b, &x, factor);
        let width = (3 - heap.low()) as usize;
        heap.fixed(b, width)
    }

    /// The number of a sum `x`, whose highest 1 is between `2^most` and `2^least`, times a power of
    /// 2 by its biased exponent; or a special one.
    pub(crate) fn settle(
        self,
        b: &mut Builder,
        (x, most, least): (&[Wire], i32, i32),
        exponent: &[Wire],
        sign: Wire,
        special: Special,
    ) -> Word {
        let width = self.format.fraction + 2;
        let (significand, moved) = lead(b, x, (most - least + 1) as usize, width);
        let low = -1 - self.format.fraction as i32;
        let mut heap = Heap::new(low);
        heap.unsigned(&significand[..width - 1], low, false);
        heap.signed(&Fixed::new(exponent.to_vec(), 0), 0, false);
        heap.unsigned(&moved, 0, true);
        heap.constant(&Real::of(most.into()));
        // Half a unit in the last place.
        heap.constant(&Real::scaled(1, low.into()));
        let sum = heap.sum(b, width - 1 + exponent.len());
        let (fraction, field) = sum[1..].split_at(width - 2);
        self.finish(b, sign, fraction.to_vec(), field, special)
    }

    /// The operand where its exponent is below `-digits`, else another number.
    pub(crate) fn tiny_or(
        self,
        b: &mut Builder,
        parts: &Parts,
        digits: i32,
        other: &[Wire],
    ) -> Word {
        let limit = (self.format.bias() - digits).max(1);
        let limit = b.constant(limit.into(), self.format.exponent);
        let tiny = b.lt(Int::unsigned(&parts.exponent), Int::unsigned(&limit));
        let mut own = parts.clone();
        if self.is_flushed() {
            let normal = b.any(&parts.exponent);
            own.fraction = mask(b, normal, &own.fraction);
        }
        b.select(tiny, &own.join(), other)
    }
}

/// The magnitude of `2^k (1 + f) - 1` times a power of 2 between 1/4 and 2, for the fraction f
/// of a value, and k that of the multiple and the bits before the point; and the exponent.
/// The sign is that of k.
fn less_one(
    b: &mut Builder,
    value: &Fixed,
    times: &Fixed,
    (negative, too_large): (Wire, Wire),
    low: i32,
) -> (Fixed, Word) {
    let width = times.bits.len();
    let carry = value.bits(0, 2);
    let k = b.add(Int::signed(&times.bits), Int::signed(&carry), width);
    // Either 1, shifted by k, or (1 + f) / 2, shifted by -k - 1.
    let fraction = value.bits(low, 0);
    let mut halves = fraction[1..].to_vec();
    halves.push(Wire::ONE);
    let mut smaller = mask(b, negative, &halves);
    smaller.push(!negative);
    let mut amount: Word = k.iter().map(|&bit| b.xor(bit, negative)).collect();
    amount.pop();
    amount.push(too_large);
    let smaller = shift_down(b, Fixed::new(smaller, low), &amount, low);
    let mut heap = Heap::new(low);
    let larger = mask(b, !negative, &fraction);
    heap.unsigned(&larger, low, false);
    heap.constant(&Real::of(1));
    heap.signed(&smaller, 0, true);
    let result = heap.fixed(b, (2 - low) as usize);
    (result, mask(b, !negative, &k))
}
