//! The logarithm of the magnitude of the gamma function.
//!
//! * From 1/2 to 5/2, where it has zeros at 1 and 2: the distance from the nearest of them times a
//!   smooth function.
//! * Elsewhere near 0: a smooth function of the place in a segment, less the logarithm of the
//!   distance from the nearest pole where there is one: of the number itself below 1/2, of the
//!   nearest whole number for negative arguments (by the reflection formula).
//! * Far from 0: Stirling's series over the power of two of the argument, and for negative
//!   arguments the reflection formula again.
//!
//! Negative arguments have zeros between the poles, one on each side of each of them. Formats of up
//! to 32 bits compute so many digits that the numbers next to zeros have relative precision. In f64
//! that would take twice the digits, so results near those zeros have an absolute error.

use super::{Argument, PARTS, SegmentTable, Segments};
use crate::curve::{Curve, Estimate, product};
use crate::elementary::groups::{Grouped, clip, number};
use crate::elementary::logarithm::lead;
use crate::elementary::reduce::{Precision, complement_if};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap, plus};
use crate::pack::Special;
use crate::real::Real;
use crate::word::mask;
use sealane_circuit::{Builder, Int, Wire, Word};

/// The sizes of all parts in a format.
#[derive(Clone, Copy)]
struct Sizes {
    /// Negative arguments of at least this power of two are far, positive ones of half of it.
    reach: usize,
    /// The logarithm of a distance.
    near: Precision,
    /// The logarithm of a far argument.
    far: Precision,
    /// The rest of Stirling's series on binades, of which so many bits are names.
    rest: (Precision, usize),
    /// Bits before the point of logarithms and their products with a significand, and a sign.
    integer: i32,
}

impl Sizes {
    fn of(format: Format) -> Sizes {
        let near = match format.bits() {
            ..=16 => Precision::new(7, 4, 38),
            _ => Precision::new(8, 5, 57),
        };
        match (format.bits(), format.exponent) {
            (..=16, _) | (_, ..=8) => Sizes {
                reach: 4,
                near,
                far: Precision::new(7, 3, 31),
                rest: (Precision::new(3, 4, 29), 4),
                integer: 9,
            },
            _ => Sizes {
                reach: 5,
                near: Precision::new(8, 6, 62),
                far: Precision::new(8, 5, 60),
                rest: (Precision::new(4, 8, 56), 5),
                integer: 12,
            },
        }
    }
}

/// The regions of an argument.
struct Regions {
    /// It is negative, also a zero.
    negative: Wire,
    /// Stirling's series serves it.
    far: Wire,
    /// It is from 1/2 to 5/2.
    factored: Wire,
    /// The logarithm of its distance from a pole counts.
    pole: Wire,
}

impl Arithmetic {
    /// The natural logarithm of the magnitude of the gamma function.
    pub fn lgamma(self, b: &mut Builder, x: &[Wire]) -> Word {
        let sizes = Sizes::of(self.format);
        let parts = self.format.split(x);
        let class = self.classify(b, &parts);
        let argument = self.argument(b, x, (sizes.reach, self.work()), false);
        let regions = self.regions(b, &parts, &argument, sizes);
        let table = self.smooth(b, &argument, &regions, sizes);
        let near = self.near(b, &argument, &regions, &table, sizes);
        let binade = self.binade(b, &parts, 0);
        let log = self.far_logarithm(b, &parts, &binade, sizes);

        // The product with the distance, or the first term of Stirling's series.
        let (distance, power) = &argument.distance;
        let distance = &distance[..parts.fraction.len()];
        let fraction = b.select(regions.far, &parts.fraction, distance);
        let significand = [&fraction[..], &[Wire::ONE]].concat();
        let significand = Fixed::unsigned(&significand, -(fraction.len() as i32));
        let unit = -(self.work() as i32) - 2;
        let log_signed = complement_if(b, regions.negative, &log);
        let [one, other] = [&log_signed, &table].map(|x| x.bits(unit - 1, sizes.integer));
        let factor = Fixed::new(b.select(regions.far, &one, &other), unit - 1);
        let top = sizes.integer + 2;
        let first = product(b, &significand, &factor, unit, top);
        let correction = self.correction(b, &parts, (&binade, &log, &near), &regions, sizes);

        let low = near.low;
        let multiplied = b.or(regions.far, regions.factored);
        let value = b.select(multiplied, &first.bits(low, top), &near.bits(low, top));
        let correction = mask(b, regions.far, &correction.bits(low, top));
        let value = b.add(Int::signed(&value), Int::signed(&correction), value.len());

        let (&below, size) = value.split_last().expect("a sign");
        let size: Word = size.iter().map(|&bit| b.xor(bit, below)).collect();
        let (leading, moved) = lead(b, &size, size.len(), self.precision() + 1);
        let width = self.exponent_width();
        let bias = self.exponent(b, self.format.bias().into());
        let base = b.select(regions.factored, &Int::signed(power).resize(width), &bias);
        let field = Int::unsigned(&parts.exponent).resize(width);
        let base = b.select(regions.far, &field, &base);
        let highest = self.exponent(b, i128::from(low) + size.len() as i128 - 1);
        let moved: Word = Int::unsigned(&moved).resize(width);
        let sum = b.add(Int::signed(&base), Int::signed(&highest), width);
        let exponent = b.sub(Int::signed(&sum), Int::unsigned(&moved), width);
        let significand = Fixed::unsigned(&leading, 1 - leading.len() as i32);
        let result = Estimate::new(exponent, significand);

        let from_one = self.at_least(b, &parts, 0);
        let pole = b.and(parts.sign, from_one);
        let pole = b.and(pole, argument.whole);
        let zero = b.and(regions.factored, argument.whole);
        let not_finite = b.any(&[class.not_finite, class.zero, pole]);
        let special = Special::new(zero, not_finite, class.nan);
        // A distance below a whole number is negative.
        let turned = b.and(regions.factored, argument.below);
        let sign = b.xor(below, turned);
        let exact = b.or(special.zero, special.not_finite);
        let sign = b.and(sign, !exact);
        self.nearest_or(b, sign, &result, special)
    }

    fn regions(self, b: &mut Builder, parts: &Parts, argument: &Argument, sizes: Sizes) -> Regions {
        let reach = sizes.reach as i32;
        let [least, half_of_it] = [reach, reach - 1].map(|power| self.at_least(b, parts, power));
        let negative = parts.sign;
        let half = self.at_least(b, parts, -1);
        let positive = b.and(half, !negative);
        let four = self.at_least(b, parts, 2);
        // From 5/2 to 4: two, and one or one half.
        let point = argument.word.len() - sizes.reach;
        let more = b.or(argument.word[point], argument.word[point - 1]);
        let above = b.and(argument.word[point + 1], more);
        let above = b.or(above, four);
        Regions {
            negative,
            far: b.mux(negative, least, half_of_it),
            factored: b.and(positive, !above),
            pole: !positive,
        }
    }

    /// The smooth function. Where it only serves the reflection of far arguments, the whole part
    /// of the argument does not matter.
    fn smooth(
        self,
        b: &mut Builder,
        argument: &Argument,
        regions: &Regions,
        sizes: Sizes,
    ) -> Fixed {
        let Sizes { reach, near, .. } = sizes;
        let table = Curve::known("lgamma", near.digits, |digits| {
            let last = 1 << reach;
            let name = "lgamma";
            let table = SegmentTable::new(Segments { name, reach, last });
            let index = reach + PARTS + 1;
            let value = |segment: usize, t: &Real| table.logarithm(segment, t);
            Curve::scaled(digits, index, vec![0; 1 << index], &value)
        });
        let mut word = argument.word.clone();
        let top = word.last_mut().expect("a whole part");
        *top = b.or(*top, regions.far);
        word.push(b.and(argument.sign, !regions.far));
        table.value(b, &word)
    }

    /// The smooth function less the logarithm of the distance, if that counts.
    fn near(
        self,
        b: &mut Builder,
        argument: &Argument,
        regions: &Regions,
        table: &Fixed,
        sizes: Sizes,
    ) -> Fixed {
        let (distance, power) = &argument.distance;
        let (biased, bias) = (Fixed::new(power.clone(), 0), i64::from(self.format.bias()));
        let exponent = Fixed::new(plus(b, &biased, -bias, self.exponent_width()), 0);
        let fraction = &distance[..distance.len() - 1];
        let log = logarithm(b, sizes.near, fraction, &exponent, sizes.integer);
        let log = Fixed::new(mask(b, regions.pole, &log.bits), log.low);
        let mut heap = Heap::new(-sizes.near.digits - 2);
        heap.signed(table, 0, false);
        heap.signed(&log, 0, true);
        heap.fixed(b, (sizes.integer + sizes.near.digits + 2) as usize)
    }

    /// The logarithm of a far argument, less 1.
    fn far_logarithm(self, b: &mut Builder, parts: &Parts, binade: &[Wire], sizes: Sizes) -> Fixed {
        let exponent = Fixed::unsigned(binade, 0);
        let log = logarithm(b, sizes.far, &parts.fraction, &exponent, sizes.integer);
        let mut heap = Heap::new(log.low);
        heap.signed(&log, 0, false);
        heap.constant(&Real::of(-1));
        heap.fixed(b, (sizes.integer - log.low) as usize)
    }

    /// The terms of Stirling's series behind the first, over the power of two of the argument:
    /// `-log/2 + c + S`, or with the other sign of all but the logarithm and the reflection for
    /// negative arguments.
    fn correction(
        self,
        b: &mut Builder,
        parts: &Parts,
        (binade, log, near): (&[Wire], &Fixed, &Fixed),
        regions: &Regions,
        sizes: Sizes,
    ) -> Fixed {
        let (precision, bits) = sizes.rest;
        let first = sizes.reach as i32 - 1;
        let group = self.binade(b, parts, first);
        let group = clip(b, &group, bits);
        let name = ("Stirling", self.format, precision);
        let last = (1 << bits) - 1;
        let rest = Grouped::new(name, &group, &parts.fraction, &|group, fraction| {
            let exponent = group as i64 + i64::from(first);
            if group == last {
                return Real::of(0);
            }
            stirling_rest(&number(exponent, fraction))
        });
        let rest = rest.value(b);
        let rest = complement_if(b, regions.negative, &rest);
        let low = -(self.work() as i32) - 2;
        let half = Real::ratio(1, 2);
        let root = Real::pi().shifted(1).ln().shifted(-1);
        let constants = [&root - &half, -&(&root + &half)];
        let [plus, minus] = constants.map(|c| {
            let units = c.rounded_i128(-i64::from(low));
            b.constant(units, (2 - low) as usize)
        });
        let constant = b.select(regions.negative, &minus, &plus);
        let reflected = mask(b, regions.negative, &near.bits(low, sizes.integer));
        let mut heap = Heap::new(low);
        heap.signed(log, -1, true);
        heap.signed(&rest, 0, false);
        heap.signed(&Fixed::new(constant, low), 0, false);
        heap.signed(&Fixed::new(reflected, low), 0, false);
        let sum = heap.sum(b, (sizes.integer + 1 - low) as usize);
        let bits = b.shr(Int::signed(&sum), binade, sum.len());
        Fixed { bits, low }
    }
}

/// The natural logarithm of `2^exponent (1 + fraction)`.
fn logarithm(
    b: &mut Builder,
    precision: Precision,
    fraction: &[Wire],
    exponent: &Fixed,
    integer: i32,
) -> Fixed {
    let fit = precision.fit("logarithm of a fraction", &|x| (&Real::of(1) + x).ln());
    let mut heap = precision.heap(b, &fit, fraction);
    let low = heap.low();
    heap.times(exponent, &Real::ln2(), -low + 8);
    heap.fixed(b, (integer - low) as usize)
}

/// The terms of Stirling's series behind the constant one.
fn stirling_rest(x: &Real) -> Real {
    let half = Real::ratio(1, 2);
    let first = &(&(x - &half) * &x.ln()) - x;
    &(&x.lgamma() - &first) - &Real::pi().shifted(1).ln().shifted(-1)
}

impl SegmentTable {
    /// The smooth function on a segment.
    fn logarithm(&self, segment: usize, t: &Real) -> Real {
        let (negative, x) = self.place(segment, t);
        let nearest = Real::scaled(x.rounded(0), 0);
        let distance = &x - &nearest;
        let reflected = || {
            let angle = &distance.abs() * &Real::pi();
            if angle < Real::scaled(1, -100) {
                return Real::of(0);
            }
            (&angle.sin_cos().0 / &angle).ln()
        };
        let log = |x: &Real| self.gamma(x).ln();
        let far = Real::scaled(1, self.segments.reach as i64 - 1);
        let half = Real::ratio(1, 2);
        match negative {
            true => -&(&reflected() + &log(&(&x + &Real::of(1)))),
            false if x < half => log(&(&x + &Real::of(1))),
            false if x < Real::ratio(5, 2) => {
                let below = |x: &Real| &log(&(x + &Real::of(1))) - &x.ln();
                let value = if x < 1 { below(&x) } else { log(&x) };
                &value / &distance
            }
            false if x < far => log(&x),
            false => -&reflected(),
        }
    }
}
