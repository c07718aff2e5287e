//! Smooth functions of a fixed-point operand, and the last steps of functions made of them.
//!
//! A [`Curve`] is a function on an interval [0, 1) whose operand is a word: the highest bits name
//! the segment, the others are the position in it. The number of segments and the degree are chosen
//! for the fewest ANDs.

use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap};
use crate::known::Known;
use crate::pack::{Special, Unrounded};
use crate::poly::Piecewise;
use crate::real::Real;
use crate::word::{bit, mask};
use num_bigint::BigInt;
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

/// A function on [0, 1) or the beginning of that, as polynomials on segments of equal width.
pub(crate) struct Curve {
    fit: Piecewise,
    /// Bits of the operand that name the segment.
    index: usize,
    /// Digits behind the point that the value has.
    digits: i32,
    /// For each segment, the power of two to multiply the value with; none where all are 0.
    pub exponents: Vec<i64>,
}

impl Curve {
    /// The curve of a name and a number of digits, which is made once in a process.
    pub fn known(name: &'static str, digits: i32, make: impl FnOnce(i32) -> Curve) -> Arc<Curve> {
        static KNOWN: Known<(&str, i32), Curve> = Known::new();
        KNOWN.get((name, digits), || make(digits))
    }

    /// A fit of `function` on [0, end), `end` at most 1, that allows values with an error below
    /// `2^-digits`.
    pub fn new(digits: i32, end: &Real, function: &dyn Fn(&Real) -> Real) -> Curve {
        let options = (3..=9).map(|index| (index, segment_count(end, index)));
        Curve::cheapest(digits, options, &|index, segment, t| {
            function(&place(segment, t, index))
        })
    }

    /// The cheapest of fits of a function of the number of bits that name a segment, the segment
    /// and the position in it, for some such numbers of bits, each with its number of segments.
    pub fn cheapest(
        digits: i32,
        options: impl Iterator<Item = (usize, usize)>,
        function: &dyn Fn(usize, usize, &Real) -> Real,
    ) -> Curve {
        let options = options.filter_map(|(index, count)| {
            let [a, b, c, d] = [1, 2, 4, 6].map(|eighths| count * eighths / 8);
            let samples = [0, 1.min(count - 1), a, b, c, d, count - 1];
            let on = |segment: usize, t: &Real| function(index, segment, t);
            let degree = degree(digits, &samples, &on)?;
            Some((price(digits, count, index, degree), index, degree, count))
        });
        let best = options.min();
        let (_, index, degree, count) = best.expect("a function that polynomials can follow");
        let on = |segment: usize, t: &Real| function(index, segment, t);
        // Samples may miss the segment that is hardest to follow.
        let fits = (degree..=17).map(|degree| Piecewise::fit(count, degree, &on));
        let most = Real::scaled(1, i64::from(-digits) - 1);
        let fit = fits.into_iter().find(|fit| fit.error() < &most);
        Curve {
            fit: fit.expect("polynomials of a higher degree"),
            index,
            digits,
            exponents: Vec::new(),
        }
    }

    /// A fit of a function of the segment, named by `index` bits, and the position in it, that is
    /// already divided by the power of two that `exponents` has for the segment.
    pub fn scaled(
        digits: i32,
        index: usize,
        exponents: Vec<i64>,
        function: &dyn Fn(usize, &Real) -> Real,
    ) -> Curve {
        let count = exponents.len();
        let step = (count / 24).max(1);
        let samples: Vec<usize> = (0..count).step_by(step).chain([count - 1]).collect();
        let degree = degree(digits, &samples, function);
        let degree = degree.expect("a function that polynomials can follow");
        Curve {
            fit: Piecewise::fit(count, degree, function),
            index,
            digits,
            exponents,
        }
    }

    /// The biased exponent at `x`, a signed word; those of values far outside of all numbers of the
    /// format are cut off.
    pub fn exponent(&self, b: &mut Builder, x: &[Wire], arithmetic: Arithmetic) -> Word {
        let bias = i64::from(arithmetic.format.bias());
        let least = -(2 * arithmetic.precision() as i64 + 3);
        let exponents = self.exponents.iter();
        let exponents = exponents.map(|exponent| (exponent + bias).clamp(least, 2 * bias + 3));
        let exponents: Vec<BigInt> = exponents.map(BigInt::from).collect();
        let hot = b.demux(&x[x.len() - self.index..]);
        select(b, &hot, &exponents, arithmetic.exponent_width())
    }

    /// The value at `x`, a word of the bits behind the point.
    pub fn value(&self, b: &mut Builder, x: &[Wire]) -> Fixed {
        let (rest, index) = x.split_at(x.len() - self.index);
        self.fit.value(b, index, rest, self.digits)
    }

    /// The value at `x`, as a sum to which more may be added.
    pub fn heap(&self, b: &mut Builder, x: &[Wire]) -> Heap {
        let (rest, index) = x.split_at(x.len() - self.index);
        self.fit.heap(b, index, rest, self.digits)
    }
}

/// The part of the error that may come from the fit alone: an eighth.
fn allowance(digits: i32) -> Real {
    Real::scaled(1, i64::from(-digits) - 3)
}

fn segment_count(end: &Real, index: usize) -> usize {
    let count = (&end.shifted(index as i64) - &Real::scaled(1, -200)).floor();
    usize::try_from(count).expect("an end above 0") + 1
}

fn place(segment: usize, t: &Real, index: usize) -> Real {
    (&Real::of(segment as i64) + t).shifted(-(index as i64))
}

/// The least degree that suffices on some segments.
fn degree(
    digits: i32,
    samples: &[usize],
    function: &dyn Fn(usize, &Real) -> Real,
) -> Option<usize> {
    let sample = |i: usize, t: &Real| function(samples[i], t);
    let error = |degree| {
        Piecewise::fit(samples.len(), degree, &sample)
            .error()
            .clone()
    };
    (1..=16).find(|&degree| error(degree) < allowance(digits))
}

/// About the ANDs of a fit: the one-hot index, and for each power half a square of the bits that
/// its coefficient has.
fn price(digits: i32, count: usize, index: usize, degree: usize) -> usize {
    let bits = |power: usize| (digits as usize + 3).saturating_sub(power * (index + 1));
    let steps = (1..=degree).map(|power| bits(power) * bits(power) / 2 + bits(power));
    count + steps.sum::<usize>()
}

/// The product of two numbers, cut off at the unit `2^low`, with the mean of the error by cutting
/// off taken back; modulo `2^top`.
pub(crate) fn product(b: &mut Builder, x: &Fixed, y: &Fixed, low: i32, top: i32) -> Fixed {
    let mut heap = Heap::new(low);
    heap.centred_product(b, x, y);
    heap.fixed(b, (top - low) as usize)
}

/// A positive result of which no more is known than its highest bits: `2^(exponent - bias)` times
/// a significand in [1, 4), or just below 1 by its error.
pub(crate) struct Estimate {
    /// The biased exponent, if the significand is below 2: a signed word.
    pub exponent: Word,
    /// The significand.
    pub significand: Fixed,
}

impl Estimate {
    /// The estimate with this exponent and this significand.
    pub(crate) fn new(exponent: Word, significand: Fixed) -> Estimate {
        Estimate {
            exponent,
            significand,
        }
    }
}

/// Bits of work beyond the precision: enough for an error of 0.6 units in the last place, and for
/// formats of 16 bits so many that the number nearest to each result is known.
const GUARD: usize = 5;
const SHORT_GUARD: usize = 18;

/// The bits of a significand that rounding needs.
struct Leading {
    /// It is at least 2.
    high: Wire,
    /// It is less than 1, by an error, so that it will be rounded up to 1.
    below: Wire,
    /// The bits behind the highest, one more than a fraction has.
    bits: Word,
}

impl Arithmetic {
    /// Bits of intermediate results behind the point of numbers near 1.
    pub(crate) fn work(self) -> usize {
        let short = self.format.bits() <= 16;
        self.precision() + if short { SHORT_GUARD } else { GUARD }
    }

    /// [`Arithmetic::work`] of a function for which in the short formats, f16 and bf16, other
    /// numbers of bits are known to suffice at all arguments.
    pub(crate) fn work_for(self, [half, brain]: [usize; 2]) -> usize {
        match self.format {
            Format::F16 => half,
            Format::BF16 => brain,
            _ => self.work(),
        }
    }

    /// The magnitude of a result that neither overflows nor underflows, rounded: fraction, then
    /// exponent field.
    pub(crate) fn nearest(self, b: &mut Builder, result: &Estimate) -> Word {
        let leading = self.leading_bits(b, &result.significand);
        let (high, below, mut fraction) = (leading.high, leading.below, leading.bits);
        let round = fraction.remove(0);
        let width = self.format.fraction + self.format.exponent;
        fraction.extend(Int::signed(&result.exponent).resize(self.format.exponent));
        let (up, down) = ([high], [below]);
        let up = Int::unsigned(&up).shl(self.format.fraction, self.format.fraction + 1);
        let down = Int::unsigned(&down).shl(self.format.fraction, self.format.fraction + 1);
        let terms = [
            Int::unsigned(&fraction),
            Int::unsigned(&up),
            Int::signed(&down),
            bit(&round),
        ];
        b.sum(&terms, width)
    }

    /// The number nearest to a result of any size, or a special one.
    pub(crate) fn nearest_or(
        self,
        b: &mut Builder,
        sign: Wire,
        result: &Estimate,
        special: Special,
    ) -> Word {
        let leading = self.leading_bits(b, &result.significand);
        let (high, below, mut significand) = (leading.high, leading.below, leading.bits);
        significand.push(Wire::ONE);
        let width = self.exponent_width();
        let below = [below];
        let terms = [
            Int::signed(&result.exponent),
            Int::signed(&below),
            bit(&high),
        ];
        let exponent = b.sum(&terms, width);
        let mut result = Unrounded::whole(sign, exponent, significand);
        result.sticky = Wire::ONE;
        self.pack(b, &result, special)
    }

    fn leading_bits(self, b: &mut Builder, significand: &Fixed) -> Leading {
        let p = self.precision() as i32;
        let (upper, lower) = (significand.bits(1 - p, 1), significand.bits(-p, 0));
        let high = significand.bit(1);
        Leading {
            high,
            below: b.and(!high, !significand.bit(0)),
            bits: b.select(high, &upper, &lower),
        }
    }

    /// The number of a magnitude and a sign, or a special one.
    pub(crate) fn or_special(
        self,
        b: &mut Builder,
        magnitude: &[Wire],
        sign: Wire,
        special: Special,
    ) -> Word {
        let (fraction, exponent) = magnitude.split_at(self.format.fraction);
        let ones = special.not_finite;
        let replaced = b.or(ones, special.zero);
        let mut fraction = mask(b, !replaced, fraction);
        let top = self.format.fraction - 1;
        fraction[top] = b.xor(fraction[top], special.nan);
        let exponent = mask(b, !replaced, exponent);
        let exponent = exponent.iter().map(|&bit| b.xor(bit, ones)).collect();
        let sign = b.and(sign, !special.nan);
        Parts::new(fraction, exponent, sign).join()
    }

    /// The number of a magnitude and a sign, or the canonical NaN.
    pub(crate) fn signed_or_nan(
        self,
        b: &mut Builder,
        magnitude: &[Wire],
        sign: Wire,
        nan: Wire,
    ) -> Word {
        let special = Special::nan_or_zero(nan, Wire::ZERO);
        self.or_special(b, magnitude, sign, special)
    }

    /// The magnitude of an operand, with subnormal numbers as this arithmetic reads them.
    pub(crate) fn read_magnitude(self, b: &mut Builder, parts: &Parts) -> Word {
        let mut fraction = parts.fraction.clone();
        if self.is_flushed() {
            let normal = b.any(&parts.exponent);
            fraction = mask(b, normal, &fraction);
        }
        fraction.extend(&parts.exponent);
        fraction
    }
}

/// The entry of a table at a one-hot index, `width` bits; 0 for none. No ANDs.
///
/// Indices are taken four at a time, so that the sums of the few of them are shared by all bits.
pub(crate) fn select(b: &mut Builder, hot: &[Wire], table: &[BigInt], width: usize) -> Word {
    let bit = |b: &mut Builder, i: usize| {
        let groups: Word = hot
            .chunks(4)
            .zip(table.chunks(4))
            .map(|(hot, table)| {
                let ones = hot
                    .iter()
                    .zip(table)
                    .filter(|(_, entry)| entry.bit(i as u64));
                let ones: Word = ones.map(|(&wire, _)| wire).collect();
                b.parity(&ones)
            })
            .collect();
        b.parity(&groups)
    };
    (0..width).map(|i| bit(b, i)).collect()
}
