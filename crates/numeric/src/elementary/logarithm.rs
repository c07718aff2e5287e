//! `log`, `log2` and `log10`.
//!
//! An operand is `2^e (1 + t)` with t in [-1/4, 1/2), so that e is 0 for all operands near 1, and
//! the result is `e L + t p(t)` with the logarithm L of 2 and a polynomial `p(t) = log(1 + t) / t`.
//! Where e is 0 the result is as small as t, but has to be as precise: there, the bits of t are
//! shifted up before the product, and the exponent of the result is less by that. In both cases the
//! sum is a fixed-point number between 1/8 and the largest logarithm. The operand of the
//! polynomial is the fraction of the operand itself, of which the upper half stands for
//! negative t, so that shifts do not wait for it.

use crate::elementary::reduce::{Precision, Short};
use crate::format::{Arithmetic, Format};
use crate::heap::{Fixed, Heap};
use crate::pack::{Number, Special};
use crate::real::Real;
use crate::word::{flip_if, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

/// The base of a logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Two,
    E,
    Ten,
}

impl Base {
    fn name(self) -> &'static str {
        match self {
            Base::Two => "logarithm to base 2",
            Base::E => "logarithm to base e",
            Base::Ten => "logarithm to base 10",
        }
    }

    /// The logarithm of Euler's number.
    fn unit(self) -> Real {
        match self {
            Base::Two => &Real::of(1) / &Real::ln2(),
            Base::E => Real::of(1),
            Base::Ten => &Real::of(1) / &Real::of(10).ln(),
        }
    }

    /// The logarithm of 2.
    fn two(self) -> Real {
        &self.unit() * &Real::ln2()
    }

    /// The exponent of a power of two that is not above a logarithm.
    pub(crate) fn least(self) -> i32 {
        match self {
            Base::Two | Base::E => -2,
            Base::Ten => -3,
        }
    }
}

/// A number in [1/4, 1/2) around 1, times a power of two.
#[derive(Clone, Debug)]
pub(crate) struct Centred {
    /// `t` of `2^exponent (1 + t)`.
    pub t: Fixed,
    /// The exponent.
    pub exponent: Fixed,
}

impl Centred {
    /// The number `2^exponent (1 + fraction)`, for a fraction in [0, 1).
    pub fn of(b: &mut Builder, fraction: &[Wire], exponent: &Fixed) -> Centred {
        let (&upper, _) = fraction.split_last().expect("a fraction");
        let width = exponent.bits.len() + 1;
        let carry = Int::unsigned(std::slice::from_ref(&upper));
        let exponent = b.add(Int::signed(&exponent.bits), carry, width);
        // In the upper half t is (f - 1) / 2.
        let whole = Fixed::unsigned(fraction, -(fraction.len() as i32));
        let mut less = fraction.to_vec();
        less.push(Wire::ONE);
        let low = whole.low - 1;
        let less = Fixed::new(less, low);
        let t = b.select(upper, &less.bits(low, 0), &whole.bits(low, 0));
        let mut t = Fixed::new(t, low);
        // The highest bit is the sign, of weight 1/2: t is less than 1/2.
        *t.bits.last_mut().expect("a sign") = upper;
        Centred {
            t,
            exponent: Fixed::new(exponent, 0),
        }
    }
}

impl Arithmetic {
    /// The natural logarithm.
    pub fn log(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = precision(self.format, [(5, 2, 19), (4, 2, 18)]);
        self.logarithm(b, x, (Base::E, precision))
    }

    /// The logarithm to base 2.
    pub fn log2(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = precision(self.format, [(5, 2, 19), (5, 2, 16)]);
        self.logarithm(b, x, (Base::Two, precision))
    }

    /// The logarithm to base 10.
    pub fn log10(self, b: &mut Builder, x: &[Wire]) -> Word {
        let precision = precision(self.format, [(6, 2, 23), (5, 2, 18)]);
        self.logarithm(b, x, (Base::Ten, precision))
    }

    /// A number around 1, times a power of 2.
    pub(crate) fn centred(self, b: &mut Builder, x: &Number) -> Centred {
        let bias = b.constant(self.format.bias().into(), self.format.exponent + 1);
        let width = x.exponent.len() + 1;
        let bits = b.sub(Int::signed(&x.exponent), Int::unsigned(&bias), width);
        let fraction = &x.significand[..self.format.fraction];
        Centred::of(b, fraction, &Fixed::new(bits, 0))
    }

    /// A logarithm, by polynomials of some precision.
    pub(crate) fn logarithm(
        self,
        b: &mut Builder,
        x: &[Wire],
        (base, precision): (Base, Precision),
    ) -> Word {
        let number = self.unpack(b, x);
        let fraction = &number.significand[..self.format.fraction];
        let centred = self.centred(b, &number);
        let elsewhere = b.any(&centred.exponent.bits);
        let (near, shift) = magnify(b, &centred.t, !elsewhere);
        let form = (base, precision);
        let log = self.sum(b, form, fraction, &near, &centred.exponent);
        let one = {
            let moved = b.any(&near.bits);
            !b.or(moved, elsewhere)
        };
        let below = b.and(number.sign, !number.class.zero);
        let nan = b.or(number.class.nan, below);
        let infinite = b.or(number.class.not_finite, number.class.zero);
        let special = Special::new(one, b.or(infinite, nan), nan);
        let sign = *log.bits.last().expect("a sign");
        let sign = b.and(sign, !one);
        let negative = b.mux(infinite, number.class.zero, sign);
        self.float(b, &log, base.least(), &shift, negative, special)
    }

    /// The logarithm of `2^exponent (1 + t)`, t as [`Centred`] by its `fraction` and once more as
    /// the factor `t`, which may be a multiple of it where the exponent is 0.
    pub(crate) fn sum(
        self,
        b: &mut Builder,
        (base, precision): (Base, Precision),
        fraction: &[Wire],
        t: &Fixed,
        exponent: &Fixed,
    ) -> Fixed {
        let unit = base.unit();
        let fit = precision.fit(base.name(), &|f| {
            let t = if f < &Real::scaled(1, -1) {
                f.clone()
            } else {
                (f - &Real::of(1)).shifted(-1)
            };
            &(&(&Real::of(1) + &t).ln() * &unit) / &t
        });
        let factor = precision.value(b, &fit, fraction);
        // The product has an error of half as many units as it has bits.
        let guard = (fraction.len() as u32).ilog2() as i32;
        let mut heap = Heap::new(-precision.digits - 1 - guard);
        heap.centred_product(b, t, &factor);
        heap.times(exponent, &base.two(), -heap.low() + 8);
        let largest = self.format.bias() + self.format.fraction as i32 + 2;
        let largest = &Real::of(largest.into()) * &base.two();
        let integer = largest.exponent().map_or(0, |e| e as i32 + 1);
        let width = (integer + 1 - heap.low()) as usize;
        heap.fixed(b, width)
    }

    /// The number of a magnitude of at least `2^least`, divided by `2^shift`, or a special one. It
    /// must not be subnormal, infinite or zero.
    pub(crate) fn float(
        self,
        b: &mut Builder,
        x: &Fixed,
        least: i32,
        shift: &[Wire],
        sign: Wire,
        special: Special,
    ) -> Word {
        let (&negative, magnitude) = x.bits.split_last().expect("a sign");
        // A complement is off by a unit, which is far behind the last place.
        let magnitude = flip_if(b, negative, magnitude);
        let top = x.low + magnitude.len() as i32 - 1;
        let places = (top - least + 1) as usize;
        let width = self.format.fraction + 2;
        let (significand, moved) = lead(b, &magnitude, places, width);
        let field = self.format.exponent;
        let mut heap = Heap::new(-1 - self.format.fraction as i32);
        heap.unsigned(&significand[..width - 1], heap.low(), false);
        heap.constant(&Real::of((self.format.bias() + top).into()));
        heap.unsigned(&moved, 0, true);
        heap.unsigned(shift, 0, true);
        // Half a unit in the last place.
        heap.constant(&Real::scaled(1, heap.low().into()));
        let sum = heap.sum(b, width - 1 + field);
        let replaced = b.or(special.zero, special.not_finite);
        let mut bits = mask(b, !replaced, &sum[1..]);
        let (fraction, exponent) = bits.split_at_mut(width - 2);
        let quiet = fraction.last_mut().expect("a fraction");
        *quiet = b.xor(*quiet, special.nan);
        for bit in exponent {
            *bit = b.xor(*bit, special.not_finite);
        }
        bits.push(b.and(sign, !special.nan));
        bits
    }
}

/// Polynomials for logarithms.
fn precision(format: Format, short: Short) -> Precision {
    Precision::of(format, short, [(7, 3, 28), (8, 5, 57)])
}

/// A signed number shifted up until its highest bit is not a copy of its sign, if `enabled`, and by
/// how much. Zero stays zero.
pub(crate) fn magnify(b: &mut Builder, x: &Fixed, enabled: Wire) -> (Fixed, Word) {
    let mut word = x.bits.clone();
    let width = word.len() - 1;
    let sign = word[width];
    let mut amount = Word::new();
    for k in (0..crate::word::layers(width)).rev() {
        let by = 1 << k;
        let top = flip_if(b, sign, &word[width - by..width]);
        let any = b.any(&top);
        let shift = b.and(!any, enabled);
        let moved = Int::unsigned(&word[..width]).shl(by, width);
        let low = b.select(shift, &moved, &word[..width]);
        word = low;
        word.push(sign);
        amount.insert(0, shift);
    }
    let bits = word;
    (Fixed::new(bits, x.low), amount)
}

/// The `width` bits from the highest 1 on, which is one of the first `places` bits; and how many
/// zeros come before it.
pub(crate) fn lead(b: &mut Builder, x: &[Wire], places: usize, width: usize) -> (Word, Word) {
    let mut word = x.to_vec();
    let mut amount = Word::new();
    let mut left = places;
    for k in (0..crate::word::layers(places)).rev() {
        let by = 1 << k;
        let shift = !b.any(&word[word.len() - by..]);
        // What lower layers may still move up.
        let keep = (width + by - 1).min(word.len());
        let from = word.len() - keep;
        let stay = &word[from..];
        let below = |i: usize| (from + i).checked_sub(by).map_or(Wire::ZERO, |i| word[i]);
        let moved: Word = (0..keep).map(below).collect();
        word = b.select(shift, &moved, stay);
        amount.insert(0, shift);
        left = left.saturating_sub(by);
    }
    (word[word.len() - width..].to_vec(), amount)
}
