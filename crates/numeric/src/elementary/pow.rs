//! `pow`: the power of 2 of the exponent times the logarithm of the base.
//!
//! The logarithm has as many more digits as the product may have before its point. It is brought to
//! a significand, multiplied with that of the exponent, and shifted to a fixed-point number.
//!
//! Special cases (C99, F.9.4.4) follow from few: the logarithm of 0 is as negative, and that of an
//! infinity as large, as the format's exponents; so signs are right, and such powers have "too many
//! bits before the point", as those with an infinite exponent. Where the base is 1 or -1, or the
//! exponent 0, the product is replaced by 0. NaN comes from operands, unless the base is 1 or the
//! exponent 0, and from finite negative bases with exponents that are not whole.

use crate::elementary::logarithm::{Base, lead, magnify};
use crate::elementary::reduce::{Precision, complement_if, shift_down};
use crate::format::{Arithmetic, Format};
use crate::heap::{Fixed, Heap};
use crate::pack::{Number, Special};
use crate::real::Real;
use crate::word::flip_if;
use sealane_circuit::{Builder, Int, Wire, Word};

/// Polynomials for the logarithm, and for the power of 2.
///
/// In formats of 16 bits, digits suffice to tell exact middles of two numbers, such as squares,
/// from all other values.
fn precisions(format: Format) -> (Precision, Precision) {
    match format.fraction {
        ..=10 => (Precision::new(7, 6, 56), Precision::new(7, 4, 46)),
        11..=23 => (Precision::new(8, 3, 37), Precision::new(7, 2, 27)),
        _ => (Precision::new(8, 7, 70), Precision::new(8, 5, 57)),
    }
}

impl Arithmetic {
    /// `x` to the power of `y`.
    pub fn pow(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let (x, y) = (self.unpack(b, x), self.unpack(b, y));
        let (_, precision) = precisions(self.format);
        let digits = precision.digits;
        let logarithm = self.scaled_logarithm(b, &x);
        let product = self.significands(b, &logarithm.significand, &y.significand, digits);
        let unit = b.or(logarithm.one, y.class.zero);
        let negative = b.xor(logarithm.negative, y.sign);
        // The shift that brings the product, which is less than 4, to a fixed-point number.
        let integer = self.format.exponent as i32 + 1;
        let width = self.exponent_width() + 1;
        let mut heap = Heap::new(0);
        heap.constant(&Real::of((integer - 2 + self.format.bias()).into()));
        heap.signed(&whole(&y.exponent), 0, true);
        heap.signed(&logarithm.exponent, 0, true);
        let mut shift = heap.sum(b, width);
        let too_large = shift.pop().expect("a sign");
        shift.push(unit);
        let low = integer - product.len() as i32;
        let word = Fixed::new(product, low);
        let mut size = shift_down(b, word, &shift, -digits);
        // The bits of a number of 2^exponent or more, and the sign.
        size.bits.pop();
        let highest = size.bits.pop().expect("a bit before the point");
        size.bits.push(Wire::ZERO);
        let too_large = b.or(too_large, highest);
        let exponent = complement_if(b, negative, &size);
        let special = {
            let extreme = b.or(x.class.zero, x.class.not_finite);
            let extreme = b.or(extreme, too_large);
            let extreme = b.and(extreme, !unit);
            self.special_power(b, (&x, &y), logarithm.one, (extreme, negative))
        };
        let (odd, _) = whole_and_odd(self.format, b, &y);
        let sign = b.and(x.sign, odd);
        self.power(b, precision, &exponent, sign, special)
    }

    /// The logarithm to base 2 of a magnitude, as a significand and exponent.
    fn scaled_logarithm(self, b: &mut Builder, x: &Number) -> Logarithm {
        let (precision, _) = precisions(self.format);
        let fraction = &x.significand[..self.format.fraction];
        let centred = self.centred(b, x);
        let elsewhere = b.any(&centred.exponent.bits);
        let (near, shift) = magnify(b, &centred.t, !elsewhere);
        let base = (Base::Two, precision);
        let log = self.sum(b, base, fraction, &near, &centred.exponent);
        let moved = b.any(&near.bits);
        let (&negative, magnitude) = log.bits.split_last().expect("a sign");
        let magnitude = flip_if(b, negative, magnitude);
        let top = log.low + magnitude.len() as i32 - 1;
        let places = (top - Base::Two.least() + 1) as usize;
        let (significand, zeros) = lead(b, &magnitude, places, precision.digits as usize);
        let mut exponent = Heap::new(0);
        exponent.constant(&Real::of(top.into()));
        exponent.unsigned(&zeros, 0, true);
        exponent.unsigned(&shift, 0, true);
        Logarithm {
            significand,
            exponent: exponent.fixed(b, self.exponent_width()),
            negative,
            one: !b.or(moved, elsewhere),
        }
    }

    /// The product of two significands with the digits that the power needs, of 2 bits before the
    /// point.
    fn significands(self, b: &mut Builder, x: &[Wire], y: &[Wire], digits: i32) -> Word {
        let fixed = |bits: &[Wire]| Fixed::unsigned(bits, 1 - bits.len() as i32);
        let (x, y) = (fixed(x), fixed(y));
        let guard = (self.precision() as u32).ilog2() as i32;
        let low = -digits - self.format.exponent as i32 - guard;
        let mut heap = Heap::new(low.max(x.low + y.low - 1));
        heap.centred_product(b, &x, &y);
        let width = (2 - heap.low()) as usize;
        heap.sum(b, width)
    }

    /// The results that are special, where `extreme` powers are 0 or infinite.
    fn special_power(
        self,
        b: &mut Builder,
        (x, y): (&Number, &Number),
        base_one: Wire,
        (extreme, negative): (Wire, Wire),
    ) -> Special {
        let zero = b.and(extreme, negative);
        let infinite = b.xor(extreme, zero);
        let (_, whole) = whole_and_odd(self.format, b, y);
        // A finite negative base, and a finite exponent that is not whole.
        let base = b.or(x.class.zero, x.class.not_finite);
        let base = b.and(x.sign, !base);
        let broken = b.and(base, !whole);
        let of_base = b.and(x.class.nan, !y.class.zero);
        let positive_one = b.and(base_one, !x.sign);
        let of_exponent = b.and(y.class.nan, !positive_one);
        let nan = b.any(&[broken, of_base, of_exponent]);
        Special::new(zero, b.or(infinite, nan), nan)
    }
}

/// A logarithm in parts.
struct Logarithm {
    /// The highest bit is 1, and its weight `2^exponent`.
    significand: Word,
    exponent: Fixed,
    negative: Wire,
    /// The logarithm is 0; the significand may be anything.
    one: Wire,
}

fn whole(bits: &[Wire]) -> Fixed {
    let bits = bits.to_vec();
    Fixed::new(bits, 0)
}

/// 1 if a number is odd, and 1 if it is whole, as infinities and zeros are.
fn whole_and_odd(format: Format, b: &mut Builder, y: &Number) -> (Wire, Wire) {
    let fraction = format.fraction;
    let width = y.exponent.len() + 1;
    let bias = b.constant(format.bias().into(), width - 1);
    let exponent = b.sub(Int::signed(&y.exponent), Int::signed(&bias), width);
    let layers = crate::word::layers(fraction + 1);
    let (low, high) = exponent.split_at(layers);
    let (&negative, high) = high.split_last().expect("a sign");
    let beyond = b.any(high);
    let one_hot = b.demux(low);
    let mut below = Wire::ZERO;
    let (mut odd, mut broken) = (Word::new(), Word::new());
    for (i, &bit) in y.significand.iter().enumerate() {
        let here = one_hot[fraction - i];
        odd.push(b.and(here, bit));
        broken.push(b.and(here, below));
        below = b.or(below, bit);
    }
    let (odd, broken) = (b.parity(&odd), b.parity(&broken));
    let inside = !b.or(negative, beyond);
    let broken = b.and(inside, broken);
    let small = b.and(negative, !y.class.zero);
    let whole = !b.or(small, broken);
    let odd = b.and(odd, inside);
    (b.and(odd, whole), whole)
}
