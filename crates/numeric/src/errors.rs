//! The error function and its complement.
//!
//! `erf(x)` is `x` times a smooth function below 1/2, and a smooth function beyond; in f16 and bf16
//! it is a function by binades. The complement falls by 149 powers of two before f32 ends: each
//! segment has an exponent of its own, which is free, so that what is left is a significand;
//! negative arguments have segments as well. In f64 it falls by a thousand, which would take too
//! many segments: see [`falling`].

mod falling;

use crate::curve::{Curve, Estimate, product};
use crate::elementary::groups::{Grouped, clip, number};
use crate::elementary::reduce::Precision;
use crate::format::{Arithmetic, Format};
use crate::heap::Fixed;
use crate::pack::Special;
use crate::real::Real;
use crate::word::mask;
use sealane_circuit::{Builder, Int, Wire, Word};

impl Arithmetic {
    /// The error function.
    pub fn erf(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.format {
            Format::F16 | Format::BF16 => self.erf_by_binades(b, x),
            _ => self.erf_with(b, x, self.work()),
        }
    }

    /// The error function of f16 and bf16: a function by binades, which is a multiple of the
    /// argument below the first one, and near 1 from the last one on.
    fn erf_by_binades(self, b: &mut Builder, x: &[Wire]) -> Word {
        let usual = Precision::new(3, 5, 28);
        let precision = Precision::short(self.format, [(4, 3, 21), (3, 3, 18)], usual);
        let p = self.precision();
        let first = -10;
        let bits = 4;
        let parts = self.format.split(x);
        let unpacked = self.unpack(b, x);
        let fraction = &unpacked.significand[..p - 1];
        let binade = self.binade(b, &parts, first - 1);
        let above = self.at_least(b, &parts, first);
        let binade = mask(b, above, &binade);
        // Numbers beyond the last binade are in its last segment, where the function is near 1.
        let place = [fraction, &binade].concat();
        let (low, place) = place.split_at(p - 1 - precision.index);
        let place = clip(b, place, precision.index + bits);
        let (top, group) = place.split_at(precision.index);
        let fraction = [low, top].concat();
        let form = ("erf by binades", self.format, precision);
        let value = Grouped::new(form, group, &fraction, &|group, fraction| {
            let one = Real::of(1);
            match group as i64 + i64::from(first) - 1 {
                // Below the first one, it is twice the argument over the root of pi.
                exponent if exponent < first.into() => {
                    &number(1, fraction) * &(&one / &Real::pi().sqrt())
                }
                exponent => number(exponent.min(2), fraction)
                    .erf()
                    .shifted(-exponent.min(-1)),
            }
        });
        let value = value.value(b);
        let low = value.low;
        let large = self.at_least(b, &parts, -1);
        let width = self.exponent_width();
        let near = b.constant(i128::from(self.format.bias()) - 1, width);
        let own = Int::signed(&unpacked.exponent).resize(width);
        let exponent = b.select(large, &near, &own);
        let result = Estimate::new(exponent, Fixed::unsigned(&value.bits(low, 2), low));
        let special = Special::nan_or_zero(unpacked.class.nan, unpacked.class.zero);
        self.nearest_or(b, unpacked.sign, &result, special)
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn erf_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        let p = self.precision();
        // From 2^reach on the result is 1.
        let reach = if self.format.fraction > 32 { 3 } else { 2 };
        let parts = self.format.split(x);
        let number = self.unpack(b, x);
        let bits = work + 1;
        let mut word = self.aligned(b, &number.significand, &number.exponent, reach, bits);
        let beyond = self.at_least(b, &parts, reach);
        for bit in &mut word[bits - 10..] {
            *bit = b.or(*bit, beyond);
        }
        let half = Real::ratio(1, 2);
        let curve = Curve::known("erf", work as i32, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                let x = w.shifted(i64::from(reach));
                let erf = x.erf();
                if x < half { &erf / &x } else { erf.shifted(1) }
            })
        });
        let value = curve.value(b, &word);
        let low = -(work as i32);
        let factor = Fixed::unsigned(&number.significand, 1 - p as i32);
        let small = product(b, &factor, &value, low, 2);
        let large = self.at_least(b, &parts, -1);
        let significand = b.select(large, &value.bits(low, 2), &small.bits(low, 2));
        let width = self.exponent_width();
        let near = b.constant(i128::from(self.format.bias()) - 1, width);
        let own = Int::signed(&number.exponent).resize(width);
        let exponent = b.select(large, &near, &own);
        let result = Estimate::new(exponent, Fixed::unsigned(&significand, low));
        let special = Special::nan_or_zero(number.class.nan, number.class.zero);
        self.nearest_or(b, number.sign, &result, special)
    }

    /// One less the error function.
    pub fn erfc(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.format.exponent {
            ..=8 => self.erfc_by_segments(b, x),
            _ => self.erfc_by_powers(b, x),
        }
    }

    fn erfc_by_segments(self, b: &mut Builder, x: &[Wire]) -> Word {
        let parts = self.format.split(x);
        let negative = parts.sign;
        let work = self.work_for([26, 18]);
        let tail = Curve::known("erfc", work as i32, |digits| {
            let exponents: Vec<i64> = (0..1 << Tail::INDEX).map(Tail::exponent).collect();
            let scaled =
                |segment: usize, t: &Real| Tail::value(segment, t).shifted(-exponents[segment]);
            Curve::scaled(digits, Tail::INDEX, exponents.clone(), &scaled)
        });
        let significand = [&parts.fraction[..], &[Wire::ONE]].concat();
        let bits = work + 3;
        let width = self.exponent_width();
        let field = Int::unsigned(&parts.exponent).resize(width);
        let mut word = self.aligned(b, &significand, &field, Tail::REACH, bits);
        let large = self.at_least(b, &parts, Tail::REACH - 2);
        let saturated = b.and(negative, large);
        for bit in &mut word[bits - 12..] {
            *bit = b.or(*bit, saturated);
        }
        let top = b.and(word[bits - 1], word[bits - 2]);
        for bit in &mut word[bits - 2..] {
            *bit = b.or(*bit, negative);
        }
        let exponent = tail.exponent(b, &word, self);
        let significand = tail.value(b, &word);
        let beyond = self.at_least(b, &parts, Tail::REACH);
        let beyond = b.or(beyond, top);
        let nan = self.classify(b, &parts).nan;
        let special = Special::nan_or_zero(nan, b.and(beyond, !negative));
        let result = Estimate::new(exponent, significand);
        self.nearest_or(b, Wire::ZERO, &result, special)
    }

    /// A number below `2^reach` as a fixed-point number over `2^reach`, of so many bits.
    pub(crate) fn aligned(
        self,
        b: &mut Builder,
        significand: &[Wire],
        exponent: &[Wire],
        reach: i32,
        bits: usize,
    ) -> Word {
        let width = self.exponent_width();
        let top = b.constant(i128::from(self.format.bias() - 1 + reach), width);
        let amount = b.sub(Int::unsigned(&top), Int::signed(exponent), width);
        let wide = Int::unsigned(significand).shl(bits - significand.len(), bits);
        b.shr(Int::unsigned(&wide), &amount[..width - 1], bits)
    }
}

/// The complement on all segments.
struct Tail;

impl Tail {
    /// Arguments are below `2^REACH`.
    const REACH: i32 = 4;
    /// Bits that name a segment; of those, the two highest are 1 for negative arguments.
    const INDEX: usize = 9;

    /// The exponent of the least value in a segment.
    fn exponent(segment: usize) -> i64 {
        let least = Real::of(i64::from(!Tail::is_negative(segment)));
        Tail::value(segment, &least).exponent().unwrap_or(0)
    }

    /// True if arguments in the segment are negative.
    fn is_negative(segment: usize) -> bool {
        segment >= 3 << (Tail::INDEX - 2)
    }

    fn value(segment: usize, t: &Real) -> Real {
        let x =
            (&Real::of(segment as i64) + t).shifted(i64::from(Tail::REACH) - Tail::INDEX as i64);
        let negative = Tail::is_negative(segment);
        let start = Real::of(3 << (Tail::REACH - 2));
        let x = if negative { &x - &start } else { x };
        let tail = &x.erfcx() * &(-&(&x * &x)).exp();
        if negative { &Real::of(2) - &tail } else { tail }
    }
}
