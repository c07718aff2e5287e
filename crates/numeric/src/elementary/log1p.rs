//! `log1p`.
//!
//! The sum `1 + x` is made exactly where it matters: the smaller term is shifted, and of a small x
//! only the bits are lost that the operand of a polynomial does not have. The rest is the logarithm
//! of the sum, but that its factor t is x itself where the sum is near 1. Operands below 2^-25 are
//! results.

use crate::elementary::logarithm::{Base, Centred, lead};
use crate::elementary::reduce::{Precision, Short, shift_down};
use crate::format::{Arithmetic, Format};
use crate::heap::{Fixed, Heap};
use crate::pack::Special;
use crate::real::Real;
use crate::word::{flip_if, mask};
use sealane_circuit::{Builder, Wire, Word};

fn precision(format: Format, short: Short) -> Precision {
    Precision::of(format, short, [(7, 3, 28), (8, 5, 57)])
}

impl Arithmetic {
    /// The natural logarithm of 1 more than a number.
    pub fn log1p(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.log1p_with(b, x, precision(self.format, [(7, 2, 27), (6, 2, 20)]))
    }

    /// The same by polynomials of some precision.
    pub(crate) fn log1p_with(self, b: &mut Builder, x: &[Wire], precision: Precision) -> Word {
        let parts = self.format.split(x);
        let width = self.exponent_width();
        let mut exponent = Heap::new(0);
        exponent.unsigned(&parts.exponent, 0, false);
        exponent.constant(&Real::of((-self.format.bias()).into()));
        let exponent = exponent.fixed(b, width);
        let small = exponent.bits[width - 1];
        let mut significand = parts.fraction.clone();
        significand.push(Wire::ONE);
        let sum = self.one_more(b, &significand, &exponent, parts.sign, precision.digits);
        // The highest 1 of the sum, which is less than 4, is behind the point for negative x.
        let places = self.precision() + 2;
        let (leading, moved) = lead(b, &sum, places, precision.digits as usize + 1);
        let mut place = Heap::new(0);
        place.signed(&Fixed::new(mask(b, !small, &exponent.bits), 0), 0, false);
        place.constant(&Real::of(1));
        place.unsigned(&moved, 0, true);
        let place = place.fixed(b, width);
        let fraction = &leading[..leading.len() - 1];
        let centred = Centred::of(b, fraction, &place);
        let near = !b.any(&centred.exponent.bits);
        // Half of the significand of x, with the sign of x: a complement of bits that go on far
        // enough.
        let low = centred.t.low;
        let own = Fixed::unsigned(&significand, -(significand.len() as i32));
        let own = flip_if(b, parts.sign, &own.bits(low, 1));
        let t = b.select(near, &own, &centred.t.bits(low, 1));
        let (base, t) = ((Base::E, precision), Fixed::new(t, low));
        let log = self.sum(b, base, fraction, &t, &centred.exponent);
        // The exponent of x is below -1 where the sum is near 1.
        let shift: Word = exponent.bits.iter().map(|&bit| b.and(!bit, near)).collect();
        let special = self.special_log1p(b, &parts, small, &sum);
        let negative = *log.bits.last().expect("a sign");
        let sign = b.mux(special.not_finite, parts.sign, negative);
        let number = self.float(b, &log, Base::E.least(), &shift[..width - 1], sign, special);
        self.tiny_or(b, &parts, self.format.fraction as i32 + 2, &number)
    }

    /// The sum of 1 and a number, or that over the power of 2 of the exponent if the number is not
    /// below 1: less than 4, with `digits` behind the point.
    fn one_more(
        self,
        b: &mut Builder,
        significand: &[Wire],
        exponent: &Fixed,
        sign: Wire,
        digits: i32,
    ) -> Word {
        let &small = exponent.bits.last().expect("a sign");
        let low = -(self.format.fraction as i32);
        let fraction = &significand[..self.format.fraction];
        // The smaller term: half of the significand, shifted by -exponent - 1, or 1.
        let mut smaller = mask(b, small, significand);
        smaller.push(!small);
        let amount: Word = exponent.bits.iter().map(|&bit| b.xor(bit, small)).collect();
        let word = Fixed::new(smaller, low - 1);
        let smaller = shift_down(b, word, &amount[..amount.len() - 1], -digits);
        let mut heap = Heap::new(-digits);
        let larger = mask(b, !small, fraction);
        heap.unsigned(&larger, low, false);
        heap.constant(&Real::of(1));
        // Numbers of -1 or less are special, so that the smaller term is subtracted from 1.
        let flipped = Fixed::new(flip_if(b, sign, &smaller.bits), smaller.low);
        heap.signed(&flipped, 0, false);
        heap.bit(sign, smaller.low.max(-digits), false);
        heap.sum(b, (2 + digits) as usize)
    }

    fn special_log1p(
        self,
        b: &mut Builder,
        parts: &crate::format::Parts,
        small: Wire,
        sum: &[Wire],
    ) -> Special {
        let ones = b.all(&parts.exponent);
        let fraction = b.any(&parts.fraction);
        let nan = b.and(ones, fraction);
        let below = b.and(parts.sign, !small);
        let some = b.any(sum);
        let pole = b.and(below, !some);
        let outside = b.and(below, some);
        let nan = b.or(nan, outside);
        Special::new(Wire::ZERO, b.any(&[ones, pole, nan]), nan)
    }
}
