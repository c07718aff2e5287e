//! Arc tangent, arc sine and arc cosine of f16 and bf16: functions by binades, the latter two from
//! 1/2 on by binades of `1 - x`. There is no quotient, no root and no product of them.

use crate::elementary::groups::{Grouped, clip, nan_only, no_exponent, number};
use crate::elementary::logarithm::lead;
use crate::elementary::reduce::Precision;
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::Heap;
use crate::pack::Special;
use crate::real::Real;
use crate::word::mask;
use sealane_circuit::{Builder, Int, Wire, Word};

/// Bits that name a binade of f16 and bf16.
const GROUP_BITS: usize = 4;

/// The least number of f16 whose arc tangent rounds to the one nearest to half of pi.
const LAST_OF_F16: u16 = 0x6405;

/// The least magnitude of a negative number of f16 whose arc cosine rounds to more than that.
const LEAST_OF_F16: i128 = 0x004b;

/// The polynomials of other formats than f16 and bf16.
const USUAL: Precision = Precision::new(3, 5, 28);

impl Arithmetic {
    /// The arc tangent of f16 and bf16: a function by binades up to the last one in which it is
    /// not half of pi, rounded, throughout.
    pub(crate) fn atan_by_binades(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = Precision::short(self.format, [(4, 3, 20), (2, 2, 13)], USUAL);
        let parts = self.format.split(x);
        let first = self.first_binade();
        let binade = self.binade(b, &parts, first);
        // Numbers beyond the last group are in its last segment.
        let place = [&parts.fraction[..], &binade].concat();
        let (low, place) = place.split_at(self.format.fraction - precision.index);
        let place = clip(b, place, precision.index + GROUP_BITS);
        let (top, group) = place.split_at(precision.index);
        let fraction = [low, top].concat();
        let form = ("atan by binades", self.format, precision);
        let value = Grouped::new(form, group, &fraction, &|group, fraction| {
            let exponent = group as i64 + i64::from(first);
            let angle = atan(&number(exponent, fraction));
            angle.shifted(-exponent.min(0))
        });
        let mut heap = value.heap(b);
        if self.format == Format::F16 {
            // Half of pi is so near to the middle of two numbers of f16 that it takes another
            // binade for results to be rounded up to it: from here on by one unit.
            let limit = b.constant(i128::from(LAST_OF_F16), self.format.bits() - 1);
            let below = b.lt(Int::unsigned(&x[..x.len() - 1]), Int::unsigned(&limit));
            heap.bit(!below, -10, false);
        }
        let width = (2 - heap.low()) as usize;
        let value = heap.fixed(b, width);
        let large = self.at_least(b, &parts, 0);
        let exponent = self.exponent_or(b, (!large, &parts), &no_exponent());
        let special = nan_only(b, &parts);
        let bits = value.bits(-precision.digits - 1, 1);
        let number = self.settle(b, (&bits, 0, -1), &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// The arc sine of f16 and bf16.
    pub(crate) fn asin_by_binades(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = Precision::short(self.format, [(3, 3, 20), (2, 3, 16)], USUAL);
        let parts = self.format.split(x);
        let first = self.first_binade();
        let far = self.far_place(b, &parts);
        let small = self.binade(b, &parts, first);
        let small = clip(b, &small, GROUP_BITS);
        let mut group = b.select(far.near, &small, &far.group);
        group.push(far.near);
        let fraction = b.select(far.near, &parts.fraction, &far.fraction);
        let half = 1 << GROUP_BITS;
        let form = ("asin by binades", self.format, precision);
        let function = |group: usize, fraction: &Real| {
            if group < half {
                return far_number(group, fraction).asin();
            }
            // Binades beyond the last one are not used.
            let exponent = ((group - half) as i64 + i64::from(first)).min(-2);
            number(exponent, fraction).asin().shifted(-exponent)
        };
        let value = Grouped::new(form, &group, &fraction, &function).value(b);
        let exponent = self.exponent_or(b, (far.near, &parts), &no_exponent());
        let special = Special::nan_or_zero(far.beyond, Wire::ZERO);
        let bits = value.bits(-precision.digits - 1, 2);
        let number = self.settle(b, (&bits, 1, -1), &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// The arc cosine of f16 and bf16.
    pub(crate) fn acos_by_binades(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = Precision::short(self.format, [(2, 4, 23), (2, 3, 16)], USUAL);
        let parts = self.format.split(x);
        let far = self.far_place(b, &parts);
        // Below that, the result is half of pi, rounded to the nearest.
        let first = -(self.format.fraction as i32) - 2;
        let above = self.at_least(b, &parts, first);
        let small = self.binade(b, &parts, first - 1);
        let small = clip(b, &small, GROUP_BITS);
        let small = mask(b, above, &small);
        let mut group = b.select(far.near, &small, &far.group);
        group.extend([far.near, parts.sign]);
        let fraction = b.select(far.near, &parts.fraction, &far.fraction);
        let form = ("acos by binades", self.format, precision);
        let half = 1 << GROUP_BITS;
        let function = |group: usize, fraction: &Real| {
            let (negative, near, group) = (group >= 2 * half, group & half != 0, group % half);
            let quarter = Real::pi().shifted(-1);
            let angle = match (near, group) {
                (true, 0) => Real::of(0),
                // Binades beyond the last one are not used.
                (true, _) => {
                    let exponent = (group as i64 + i64::from(first) - 1).min(-2);
                    number(exponent, fraction).asin()
                }
                (false, _) => far_number(group, fraction).asin(),
            };
            match (negative, near) {
                (true, _) => &quarter + &angle,
                (false, true) => &quarter - &angle,
                (false, false) if group + 1 == half => Real::of(1),
                (false, false) => (&quarter - &angle).shifted(group as i64 >> 1),
            }
        };
        let value = Grouped::new(form, &group, &fraction, &function);
        let mut heap = value.heap(b);
        if self.format == Format::F16 {
            // Half of pi is so near to the middle of two numbers of f16 that small negative
            // arguments lead to the number above: from here on.
            let normal = 1 << self.format.fraction;
            let limit = if self.is_flushed() {
                normal
            } else {
                LEAST_OF_F16
            };
            let limit = b.constant(limit, self.format.bits() - 1);
            let below = b.lt(Int::unsigned(&x[..x.len() - 1]), Int::unsigned(&limit));
            let up = b.all(&[!below, !above, parts.sign]);
            heap.bit(up, -10, false);
        }
        let width = (3 - heap.low()) as usize;
        let value = heap.fixed(b, width);
        // The root of 1 - x has half of its exponent.
        let falls = b.and(!far.near, !parts.sign);
        let mut exponent = Heap::new(0);
        exponent.unsigned(&mask(b, falls, &far.group[1..]), 0, true);
        exponent.constant(&Real::of(self.format.bias().into()));
        let exponent = exponent.sum(b, self.exponent_width());
        let special = Special::nan_or_zero(far.beyond, b.and(far.one, !parts.sign));
        let bits = value.bits(-precision.digits - 1, 2);
        self.settle(b, (&bits, 1, -1), &exponent, Wire::ZERO, special)
    }

    /// The place of an argument on the way from 1 to 1/2.
    fn far_place(self, b: &mut Builder, parts: &Parts) -> Far {
        let width = self.format.fraction;
        let near = !self.at_least(b, parts, -1);
        // 1 - |x|, for numbers from 1/2 on.
        let mut rest = Heap::new(0);
        rest.unsigned(&parts.fraction, 0, true);
        rest.constant(&Real::scaled(1, width as i64));
        let rest = rest.sum(b, width + 1);
        let (leading, zeros) = lead(b, &rest, width + 1, width + 1);
        let far = Int::unsigned(&zeros).resize(GROUP_BITS);
        let large = self.at_least(b, parts, 0);
        let one = b.constant(self.format.bias().into(), self.format.exponent);
        let one = b.eq(Int::unsigned(&parts.exponent), Int::unsigned(&one));
        let some = b.any(&parts.fraction);
        let one = b.and(one, !some);
        Far {
            near,
            group: far.iter().map(|&bit| b.or(bit, large)).collect(),
            fraction: leading[..width].to_vec(),
            one,
            beyond: b.and(large, !one),
        }
    }
}

/// An argument on the way from 1 to 1/2: `1 - |x|` is `2^(-1 - group) (1 + fraction)`.
struct Far {
    /// The magnitude is below 1/2.
    near: Wire,
    /// All ones for 1 and numbers beyond.
    group: Word,
    fraction: Word,
    /// The magnitude is 1.
    one: Wire,
    /// The magnitude is more than 1, or it is NaN.
    beyond: Wire,
}

/// The number that [`Far`] is a place of.
fn far_number(group: usize, fraction: &Real) -> Real {
    if group + 1 == 1 << GROUP_BITS {
        return Real::of(1);
    }
    &Real::of(1) - &number(-1 - group as i64, fraction)
}

fn atan(x: &Real) -> Real {
    if x <= &Real::of(1) {
        return x.atan();
    }
    &Real::pi().shifted(-1) - &(&Real::of(1) / x).atan()
}
