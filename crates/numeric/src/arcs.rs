//! Inverse trigonometric functions.
//!
//! Each is an angle `a` that is small where the result may be small, or a constant plus or minus
//! it. The angle is a product, so its relative error is small, too:
//!
//! * of a quotient `t` of the smaller by the larger coordinate, and `atan(t) / t`;
//! * of the argument below 1/2, and `asin(x) / x`; beyond, of the root of `1 - x`, which is exact,
//!   and `acos(x) / sqrt(1 - x)`. Both quotients of smooth functions are one table.
//!
//! In f16 and bf16 the arcs of one number are functions by binades instead.

use crate::arith::divide::divide;
use crate::curve::{Curve, Estimate, product};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::Fixed;
use crate::pack::Special;
use crate::real::Real;
use crate::trig::twice_inverse;
use crate::word::{bit, flip_if, mask, normalise, swap_if};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

/// How a result comes from an angle.
struct AngleMap {
    /// It is the angle.
    direct: Wire,
    /// Otherwise the angle is subtracted from the base, or else added.
    minus: Wire,
    /// The base is pi, or else pi/2.
    half_turn: Wire,
    /// The angle is 0.
    vanishes: Wire,
}

impl AngleMap {
    /// The angle, or where a bit is 1 a quarter of a turn less it.
    fn quarter_turn_less(less: Wire, vanishes: Wire) -> AngleMap {
        AngleMap {
            direct: !less,
            minus: Wire::ONE,
            half_turn: Wire::ZERO,
            vanishes,
        }
    }
}

impl Arithmetic {
    /// The arc tangent of y/x in the quadrant of the point (x, y).
    pub fn atan2(self, b: &mut Builder, y: &[Wire], x: &[Wire]) -> Word {
        // Angles come as near as 2^-26.6 units of f16, and 2^-23.5 of bf16, to the middle of two
        // numbers, by all quotients of significands.
        let work = self.work_for([39, 30]);
        let [y, x] = [y, x].map(|bits| self.format.split(bits));
        let (y_sign, x_sign) = (y.sign, x.sign);
        let [y, x] = [y, x].map(|parts| self.read_magnitude(b, &parts));
        let swapped = b.lt(Int::unsigned(&x), Int::unsigned(&y));
        let (larger, smaller) = swap_if(b, swapped, &x, &y);
        let positive = |word: Word| [word, vec![Wire::ZERO]].concat();
        let larger = self.unpack(b, &positive(larger));
        let smaller = self.unpack(b, &positive(smaller));
        let width = self.exponent_width();
        let (high, low) = (&larger.exponent, &smaller.exponent);
        let distance = b.sub(Int::signed(high), Int::signed(low), width);
        let significands = [&smaller.significand[..], &larger.significand];
        let angle = self.slope_angle(b, significands, &distance, work);
        let far = b.and(larger.class.not_finite, !smaller.class.not_finite);
        let place = AngleMap {
            direct: b.and(!swapped, !x_sign),
            minus: !b.and(swapped, x_sign),
            half_turn: !swapped,
            vanishes: b.or(far, smaller.class.zero),
        };
        let result = self.placed(b, &angle, &place, work);
        let nan = b.or(larger.class.nan, smaller.class.nan);
        let special = Special::nan_or_zero(nan, b.and(place.direct, place.vanishes));
        self.nearest_or(b, y_sign, &result, special)
    }

    /// The arc tangent.
    pub fn atan(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.format {
            Format::F16 | Format::BF16 => self.atan_by_binades(b, x),
            _ => self.atan_with(b, x, self.work()),
        }
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn atan_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        let parts = self.format.split(x);
        let width = self.exponent_width();
        let swapped = self.at_least(b, &parts, 0);
        let over = mask(b, !swapped, &parts.fraction);
        let under = b.zip(&parts.fraction, &over, Builder::xor);
        let [over, under] = [over, under].map(|word| [word, vec![Wire::ONE]].concat());
        let bias = b.constant(i128::from(self.format.bias()), width);
        let power = b.sub(Int::unsigned(&parts.exponent), Int::unsigned(&bias), width);
        let distance = b.neg_if(!swapped, Int::signed(&power), width);
        let angle = self.slope_angle(b, [&over, &under], &distance, work);
        let place = AngleMap::quarter_turn_less(swapped, Wire::ZERO);
        let result = self.placed(b, &angle, &place, work);
        self.own_if_small(b, &parts, &result)
    }

    /// The arc sine.
    pub fn asin(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.format {
            Format::F16 | Format::BF16 => self.asin_by_binades(b, x),
            _ => self.asin_with(b, x, self.work()),
        }
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn asin_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        let parts = self.format.split(x);
        let (angle, steep, bounds) = self.chord_angle(b, &parts, work);
        let place = AngleMap::quarter_turn_less(steep, bounds.one);
        let result = self.placed(b, &angle, &place, work);
        let own = self.own_if_small(b, &parts, &result);
        let (magnitude, _) = own.split_at(own.len() - 1);
        self.signed_or_nan(b, magnitude, parts.sign, bounds.beyond)
    }

    /// The arc cosine.
    pub fn acos(self, b: &mut Builder, x: &[Wire]) -> Word {
        match self.format {
            Format::F16 | Format::BF16 => self.acos_by_binades(b, x),
            _ => self.acos_with(b, x, self.work()),
        }
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn acos_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        let parts = self.format.split(x);
        let (angle, steep, bounds) = self.chord_angle(b, &parts, work);
        let place = AngleMap {
            direct: b.and(steep, !parts.sign),
            minus: b.or(steep, !parts.sign),
            half_turn: steep,
            vanishes: bounds.one,
        };
        let result = self.placed(b, &angle, &place, work);
        let magnitude = self.nearest(b, &result);
        let special = Special::nan_or_zero(bounds.beyond, b.and(bounds.one, !parts.sign));
        self.or_special(b, &magnitude, Wire::ZERO, special)
    }

    /// A result with the sign of the argument, or the argument where that is the nearest; NaN for
    /// NaN.
    fn own_if_small(self, b: &mut Builder, parts: &Parts, result: &Estimate) -> Word {
        let magnitude = self.nearest(b, result);
        let computed = self.at_least(b, parts, self.least());
        let small = self.read_magnitude(b, parts);
        let magnitude = b.select(computed, &magnitude, &small);
        let nan = self.classify(b, parts).nan;
        self.signed_or_nan(b, &magnitude, parts.sign, nan)
    }

    /// The arc tangent of the quotient of two significands over `2^distance`, at most 1.
    fn slope_angle(
        self,
        b: &mut Builder,
        [over, under]: [&[Wire]; 2],
        distance: &[Wire],
        work: usize,
    ) -> Estimate {
        let p = self.precision();
        let quotient = self.quotient(b, &over[..p - 1], &under[..p - 1], work);
        let high = quotient[work - 1];
        let doubled = Int::unsigned(&quotient).shl(1, work);
        let factor = b.select(high, &quotient, &doubled);
        let factor = Fixed::unsigned(&factor, -(work as i32 - 1));
        // Twice atan(t) / t, of t / 2.
        let end = &Real::ratio(1, 2) + &Real::scaled(1, -9);
        let curve = Curve::known("atan", work as i32, |digits| {
            Curve::new(digits, &end, &|w| &w.shifted(1).atan() / w)
        });
        let (_, amount) = distance.split_last().expect("an exponent");
        let slope = b.shr(Int::unsigned(&quotient), amount, work);
        let slope = curve.value(b, &slope);
        let significand = product(b, &factor, &slope, -(work as i32), 3);
        let width = self.exponent_width();
        let bias = b.constant(i128::from(self.format.bias()) - 2, width);
        let base = b.sub(Int::unsigned(&bias), Int::signed(distance), width);
        let exponent = b.add(Int::signed(&base), bit(&high), width);
        if self.format.bits() > 16 {
            return Estimate::new(exponent, significand);
        }
        Estimate::new(
            exponent,
            self.below_slope(b, &factor, &significand, amount, work),
        )
    }

    /// The quotient of two significands, given by their fractions, with a bit before the point:
    /// digit by digit, or where depth counts by a product with the inverse.
    fn quotient(self, b: &mut Builder, over: &[Wire], under: &[Wire], work: usize) -> Word {
        let p = self.precision() as i32;
        let leading = |word: &[Wire]| [word, &[Wire::ONE]].concat();
        // Short formats have to know a quotient exactly.
        if b.goal() == Goal::Size || self.format.bits() <= 16 {
            return divide(b, &leading(over), &leading(under), work).0;
        }
        let work = work as i32;
        let inverse = twice_inverse(work + 1).value(b, under);
        let over = Fixed::unsigned(&leading(over), 1 - p);
        // Twice the quotient, in (1, 4).
        product(b, &over, &inverse, -2 - work, 3).bits(2 - work, 2)
    }

    /// The significand of an angle in short formats, which are rounded correctly: where it is just
    /// below a quotient that may be half-way between two subnormal numbers, that quotient and less.
    fn below_slope(
        self,
        b: &mut Builder,
        factor: &Fixed,
        significand: &Fixed,
        distance: &[Wire],
        work: usize,
    ) -> Fixed {
        let low = -(work as i32);
        let twice = Fixed::new(factor.bits.clone(), factor.low + 1);
        let one = [Wire::ONE];
        let below = twice.bits(low, 3);
        let below = b.sub(Int::unsigned(&below), Int::unsigned(&one), below.len());
        // A quotient of numbers of p bits is half-way only there, and nearer than 2^-(2 p + 1) to
        // that nowhere else; the angle is below by less.
        let bound = b.constant(self.precision() as i128, distance.len());
        let far = b.lt(Int::unsigned(&bound), Int::unsigned(distance));
        let bits = b.select(far, &below, &significand.bits(low, 3));
        Fixed { bits, low }
    }

    /// `asin |x|`, or `acos |x|` and 1 for numbers from 1/2 on.
    fn chord_angle(self, b: &mut Builder, parts: &Parts, work: usize) -> (Estimate, Wire, Bounds) {
        let p = self.precision();
        let width = self.exponent_width();
        let steep = self.at_least(b, parts, -1);
        let read = self.read_magnitude(b, parts);
        let normal = b.any(&parts.exponent);
        let significand = [&read[..p - 1], &[normal]].concat();
        let exponent = self.lift(b, normal, parts.exponent.clone());
        let bias = b.constant(i128::from(self.format.bias()) - 1, width);
        let amount = b.sub(Int::unsigned(&bias), Int::unsigned(&exponent), width);
        let padded = Int::unsigned(&significand).shl(work - p, work);
        let x = b.shr(Int::unsigned(&padded), &amount[..width - 1], work);
        let half = Real::ratio(1, 2);
        let curve = Curve::known("asin", work as i32, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                if w < &half {
                    return &w.asin() / w;
                }
                &arc_cosine(w) / &(&Real::of(1) - w).sqrt()
            })
        });
        let ratio = curve.value(b, &x);
        // Where x is in [1/2, 1), 1 - x is a multiple of 2^-p.
        let rest = b.neg(Int::unsigned(&significand), p);
        let (rest, places) = normalise(b, &rest);
        let odd = !places[0];
        let root = Curve::known("sqrt", work as i32, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                let twice = w.shifted(1);
                let odd = w >= &half;
                let square = if odd {
                    twice.shifted(1)
                } else {
                    &twice + &Real::of(1)
                };
                square.sqrt()
            })
        });
        let root = root.value(b, &[&rest[..p - 1], &[odd]].concat());
        let low = -(work as i32);
        let plain = Fixed::unsigned(&significand, 1 - p as i32);
        let factor = b.select(steep, &root.bits(low, 1), &plain.bits(low, 1));
        let power = b.sub(Int::unsigned(&bias), Int::unsigned(&places[1..]), width);
        let own = Int::unsigned(&exponent).resize(width);
        let exponent = b.select(steep, &power, &own);
        let significand = product(b, &Fixed::unsigned(&factor, low), &ratio, low, 2);
        let angle = Estimate::new(exponent, significand);
        let large = self.at_least(b, parts, 0);
        let one = b.constant(self.format.one() as i128, self.format.bits() - 1);
        let one = b.eq(Int::unsigned(&read), Int::unsigned(&one));
        let beyond = b.and(large, !one);
        (angle, steep, Bounds { one, beyond })
    }

    /// The result at its place.
    fn placed(self, b: &mut Builder, angle: &Estimate, place: &AngleMap, work: usize) -> Estimate {
        let width = self.exponent_width();
        let low = 1 - work as i32;
        let bias = b.constant(i128::from(self.format.bias()), width);
        let amount = b.sub(Int::unsigned(&bias), Int::signed(&angle.exponent), width);
        let amount = amount[..width - 1].iter();
        let amount: Word = amount.map(|&bit| b.or(bit, place.vanishes)).collect();
        let word = angle.significand.bits(low, 2);
        let count = word.len();
        let shifted = b.shr(Int::unsigned(&word), &amount, count);
        let shifted = flip_if(b, place.minus, &shifted);
        let base = |number: &Real| b.constant(number.rounded_i128(i64::from(-low)), count);
        let (turn, quarter) = (base(&Real::pi()), base(&Real::pi().shifted(-1)));
        let base = b.select(place.half_turn, &turn, &quarter);
        // The angle is cut off at half a unit in the mean, and so is its complement.
        let sum = b.add(Int::unsigned(&base), Int::unsigned(&shifted), count);
        let far = sum[count - 1];
        let doubled = Int::unsigned(&sum).shl(1, count);
        let sum = b.select(far, &sum, &doubled);
        let significand = b.select(place.direct, &word, &sum);
        let near = b.constant(i128::from(self.format.bias()) - 1, width);
        let near = b.add(Int::unsigned(&near), bit(&far), width);
        let exponent = b.select(place.direct, &angle.exponent, &near);
        Estimate::new(exponent, Fixed::unsigned(&significand, low))
    }
}

/// Where an argument is.
struct Bounds {
    /// Its magnitude is 1.
    one: Wire,
    /// Its magnitude is more than 1, or it is NaN.
    beyond: Wire,
}

fn arc_cosine(x: &Real) -> Real {
    let one = Real::of(1);
    (&(&one - x) / &(&one + x)).sqrt().atan().shifted(1)
}
