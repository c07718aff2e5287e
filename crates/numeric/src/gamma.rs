//! The gamma function.
//!
//! It has poles at 0 and all negative whole numbers, and between them it is a smooth function over
//! the distance to the nearest pole. This function, and gamma itself from 1/2 on, are a table of
//! segments of both signs, with an exponent for each. The distance is exact; a division follows.

mod logarithm;

use crate::arith::divide::divide;
use crate::curve::{Curve, Estimate};
use crate::format::{Arithmetic, Format};
use crate::heap::Fixed;
use crate::pack::Special;
use crate::real::Real;
use crate::word::{bit, mask, normalise};
use sealane_circuit::{Builder, Int, Wire, Word};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Segments of one unit, as a power of two.
const PARTS: usize = 3;

/// The segments of a format.
#[derive(Clone, Copy)]
struct Segments {
    /// The name of the table.
    name: &'static str,
    /// Magnitudes of arguments in the table are below `2^reach`.
    reach: usize,
    /// From here on results are 0 or infinite in any case.
    last: i64,
}

/// An argument, as the table and the distance need it.
struct Argument {
    sign: Wire,
    /// The magnitude below the power of two that ends the table, with its whole part on top.
    word: Word,
    /// A whole number, if not below 1/2.
    whole: Wire,
    /// The lowest bit of the whole part.
    odd: Wire,
    /// The nearest whole number is above the magnitude.
    below: Wire,
    /// The distance from the nearest whole number, or the number itself below 1/2: the significand,
    /// and its biased exponent.
    distance: (Word, Word),
}

impl Arithmetic {
    /// The gamma function.
    pub fn tgamma(self, b: &mut Builder, x: &[Wire]) -> Word {
        let segments = self.gamma_segments();
        let work = self.work_for([24, 19]);
        let p = self.precision();
        let width = self.exponent_width();
        let parts = self.format.split(x);
        let class = self.classify(b, &parts);
        let argument = self.argument(b, x, (segments.reach, work), true);
        let table = Curve::known(segments.name, work as i32, |digits| {
            SegmentTable::curve(segments, digits)
        });
        let word = [&argument.word[..], &[argument.sign]].concat();
        let exponent = table.exponent(b, &word, self);
        let value = table.value(b, &word);
        // The dividend in [1, 2).
        let low = 2 - work as i32;
        let high = value.bit(1);
        let dividend = b.select(high, &value.bits(low + 1, 2), &value.bits(low, 1));
        let (distance, power) = &argument.distance;
        let divisor = Int::unsigned(distance).shl(dividend.len() - p, dividend.len());
        let (quotient, _) = divide(b, &dividend, &divisor, work);
        // In (1/2, 2), so one place further up.
        let significand = Fixed::unsigned(&quotient, low);
        let offset = b.constant(i128::from(self.format.bias()) - 1, width);
        let terms = [Int::signed(&exponent), bit(&high), Int::unsigned(&offset)];
        let lifted = b.sum(&terms, width);
        let exponent = b.sub(Int::signed(&lifted), Int::signed(power), width);

        let far = self.at_least(b, &parts, segments.reach as i32);
        let from_one = self.at_least(b, &parts, 0);
        let negative = b.and(argument.sign, !class.zero);
        let infinite = class.infinite(b);
        let pole = b.and(from_one, argument.whole);
        let pole = b.or(pole, infinite);
        let pole = b.and(negative, pole);
        let nan = b.or(class.nan, pole);
        let over = b.and(far, !negative);
        let special = Special::new(b.and(far, negative), b.any(&[nan, over, class.zero]), nan);
        let even = b.or(class.zero, !argument.odd);
        let sign = b.and(argument.sign, even);
        let result = Estimate::new(exponent, significand);
        self.nearest_or(b, sign, &result, special)
    }

    fn gamma_segments(self) -> Segments {
        let (name, reach, last) = match self.format.exponent {
            _ if self.format == Format::F16 => ("tgamma of f16", 4, 15),
            ..=8 => ("tgamma of f32", 6, 48),
            _ => ("tgamma of f64", 8, 186),
        };
        Segments { name, reach, last }
    }

    /// An argument in parts, with so many bits behind the point. If so asked, the distance is 1
    /// where there is no pole: for positive numbers from 1/2 on.
    fn argument(
        self,
        b: &mut Builder,
        x: &[Wire],
        (reach, behind): (usize, usize),
        poles: bool,
    ) -> Argument {
        let p = self.precision();
        let width = self.exponent_width();
        let parts = self.format.split(x);
        let number = self.unpack(b, x);
        // A fixed-point number with p bits before the point, so that the place of 1 is never lost,
        // unless it is 0.
        let normal = b.any(&parts.exponent);
        let significand = [&parts.fraction[..], &[normal]].concat();
        let exponent = self.lift(b, normal, parts.exponent.clone());
        let wide = Int::unsigned(&significand).shl(behind, p + behind);
        let bias = self.format.bias();
        let top = b.constant(i128::from(bias) + p as i128 - 1, width);
        let amount = b.sub(Int::unsigned(&top), Int::unsigned(&exponent), width);
        let huge = amount[width - 1];
        let fixed = b.shr(Int::unsigned(&wide), &amount[..width - 1], p + behind);
        let mut word = fixed[..behind + reach.min(p)].to_vec();
        word.resize(behind + reach, Wire::ZERO);
        // From 1/2 on there are at most p bits behind the point.
        let fraction = &fixed[behind - p..behind];
        let part = b.any(fraction);
        let beyond_half = fraction[p - 1];
        let distance = b.neg_if(beyond_half, Int::unsigned(fraction), p);
        let (distance, places) = normalise(b, &distance);
        let half = self.at_least(b, &parts, -1);
        let one = if poles {
            b.and(half, !parts.sign)
        } else {
            Wire::ZERO
        };
        // Three cases: the number itself, 1, the distance.
        let rest = mask(b, !one, &distance[..p - 1]);
        let mut chosen = b.select(half, &rest, &number.significand[..p - 1]);
        chosen.push(Wire::ONE);
        let below = b.constant(i128::from(bias) - 1, width);
        let power = b.sub(Int::unsigned(&below), Int::unsigned(&places), width);
        let unit = b.constant(i128::from(bias), width);
        let power = b.select(one, &unit, &power);
        let own = Int::signed(&number.exponent).resize(width);
        Argument {
            sign: parts.sign,
            word,
            whole: b.or(!part, huge),
            odd: b.and(fixed[behind], !huge),
            below: beyond_half,
            distance: (chosen, b.select(half, &power, &own)),
        }
    }
}

/// The function on all segments: of positive arguments first, then of negative ones.
struct SegmentTable {
    segments: Segments,
    /// Gamma of numbers in [1, 2): segments have few fractions at which they are fitted.
    known: RefCell<BTreeMap<Real, Real>>,
}

impl SegmentTable {
    fn new(segments: Segments) -> SegmentTable {
        SegmentTable {
            segments,
            known: RefCell::default(),
        }
    }

    fn curve(segments: Segments, digits: i32) -> Curve {
        let table = SegmentTable::new(segments);
        let index = segments.reach + PARTS + 1;
        let ends = [0, 1, 2].map(|i| Real::ratio(i, 2));
        let exponent = |segment: usize| {
            let least = ends.iter().filter_map(|t| {
                let (value, power) = table.value(segment, t);
                Some(value.exponent()? + power)
            });
            least.min().unwrap_or(0)
        };
        let exponents: Vec<i64> = (0..1 << index).map(exponent).collect();
        let scaled = |segment: usize, t: &Real| {
            let (value, power) = table.value(segment, t);
            value.shifted(power - exponents[segment])
        };
        Curve::scaled(digits, index, exponents.clone(), &scaled)
    }

    /// Gamma of a number from 1 on.
    fn gamma(&self, x: &Real) -> Real {
        let whole = i64::try_from(x.floor()).expect("a small number");
        let first = x - &Real::of(whole - 1);
        let mut known = self.known.borrow_mut();
        let entry = known.entry(first.clone());
        let mut gamma = entry.or_insert_with(|| first.gamma()).clone();
        for i in 0..whole - 1 {
            gamma = &gamma * &(&first + &Real::of(i));
        }
        gamma
    }

    /// True if arguments are negative, and their magnitude.
    fn place(&self, segment: usize, t: &Real) -> (bool, Real) {
        let half = 1 << (self.segments.reach + PARTS);
        let magnitude = (&Real::of((segment % half) as i64) + t).shifted(-(PARTS as i64));
        (segment >= half, magnitude)
    }

    /// Of gamma, or gamma times the distance from a pole, the magnitude: a number of the size of 1
    /// or more, and the exponent of a power of two.
    fn value(&self, segment: usize, t: &Real) -> (Real, i64) {
        let (negative, x) = self.place(segment, t);
        let (half, one) = (Real::ratio(1, 2), Real::of(1));
        let x = x.min(Real::of(self.segments.last));
        match negative {
            false if x < half => (self.gamma(&(&x + &one)), 0),
            false if x < one => (&self.gamma(&(&x + &one)) / &x, 0),
            false => (self.gamma(&x), 0),
            true => {
                let nearest = Real::scaled(x.rounded(0), 0);
                let distance = (&x - &nearest).abs();
                let angle = &distance * &Real::pi();
                let at_pole = distance < Real::scaled(1, -100);
                let ratio = || &angle.sin_cos().0 / &angle;
                let sine = if at_pole { one.clone() } else { ratio() };
                // Of large numbers the inverse would have few digits.
                let gamma = self.gamma(&(&x + &one));
                let power = gamma.exponent().unwrap_or(0);
                (&one / &(&sine * &gamma.shifted(-power)), -power)
            }
        }
    }
}
