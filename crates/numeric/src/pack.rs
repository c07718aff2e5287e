//! Numbers taken apart before an operation, and results rounded and put together after it.
//!
//! [`Arithmetic::unpack`] gives a [`Number`] whose significand has its 1 on top, also for subnormal
//! operands. [`Arithmetic::pack`] takes the exact result, or so many of its bits that nothing but
//! "more than 0 was cut off" is left to say, and rounds it once. The rounding carry runs from the
//! fraction into the exponent. Where subnormal numbers are flushed, results are rounded as if the
//! exponent had no lower bound, and zeros of their sign replace those that are then below the
//! normal numbers.

use crate::format::{Arithmetic, Parts, Subnormals};
use crate::word::{all_any, bit, mask, normalise, shift_right_sticky};
use sealane_circuit::{Builder, Int, Wire, Word};

/// The class of an operand; for a normal or subnormal number all are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// A zero of either sign; also a subnormal number, if these are flushed.
    pub zero: Wire,
    /// An infinity or a NaN.
    pub not_finite: Wire,
    /// A NaN.
    pub nan: Wire,
}

impl Class {
    /// An infinity.
    pub(crate) fn infinite(self, b: &mut Builder) -> Wire {
        b.xor(self.not_finite, self.nan)
    }
}

/// A number in parts: `(-1)^sign significand 2^(exponent - bias - fraction)`.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    /// 1 for negative numbers.
    pub sign: Wire,
    /// The biased exponent, a signed word. That of a subnormal number is as far below 1 as its
    /// significand is moved.
    pub exponent: Word,
    /// The significand, as many bits as the precision; the highest is 1 but for zeros. That of a
    /// zero, infinity or NaN may be anything, but the significand of a zero is 0 where subnormal
    /// numbers are kept.
    pub significand: Word,
    /// The class.
    pub class: Class,
}

/// The class of a result. Of several, NaN goes before infinity and infinity before zero; a NaN must
/// not be called finite.
pub(crate) type Special = Class;

/// A result before rounding.
#[derive(Clone, Debug)]
pub(crate) struct Unrounded {
    /// 1 for negative results, zeros and infinities as well.
    pub sign: Wire,
    /// The biased exponent, a signed word.
    pub exponent: Word,
    /// 1 if the exponent is more by one: only if the significand is not rounded up to the next
    /// power of two. This is so where products and quotients have their highest bit.
    pub above: Wire,
    /// The significand, of any width; the highest bit is 1.
    pub significand: Word,
    /// 1 if the significand goes on with bits that are not all 0.
    pub sticky: Wire,
    /// False if no normal result is rounded up to the next power of two.
    pub carries: bool,
}

impl Arithmetic {
    /// Bits of a significand.
    pub(crate) const fn precision(self) -> usize {
        self.format.fraction + 1
    }

    /// True if subnormal numbers are flushed.
    pub(crate) fn is_flushed(self) -> bool {
        self.subnormals == Subnormals::Flushed
    }

    /// True if the exponent has few bits for the width of the fraction, unlike in any format of
    /// programs. In all others the product of two subnormal numbers is less than half of the
    /// smallest one, the root of one is normal, and so are the distances from infinity.
    pub(crate) fn is_narrow(self) -> bool {
        self.format.bias() < self.format.fraction as i32 + 3
    }

    /// The width of a signed word that holds the sum or difference of two biased exponents and
    /// constants of their size.
    pub(crate) fn exponent_width(self) -> usize {
        self.format
            .exponent
            .max(crate::word::layers(self.precision()) + 1)
            + 2
    }

    /// A constant of the width of exponents.
    pub(crate) fn exponent(self, b: &Builder, value: i128) -> Word {
        b.constant(value, self.exponent_width())
    }

    /// The class of a number, from its fields.
    pub(crate) fn classify(self, b: &mut Builder, parts: &Parts) -> Class {
        let (ones, normal) = all_any(b, &parts.exponent);
        let fraction = b.any(&parts.fraction);
        let nan = b.and(ones, fraction);
        let zero = match self.subnormals {
            Subnormals::Flushed => !normal,
            Subnormals::Kept => !b.or(normal, fraction),
        };
        Class {
            zero,
            not_finite: ones,
            nan,
        }
    }

    /// The parts of a number, its significand with the highest bit 1.
    pub(crate) fn unpack(self, b: &mut Builder, bits: &[Wire]) -> Number {
        let parts = self.format.split(bits);
        let mut class = self.classify(b, &parts);
        let mut significand = parts.fraction;
        if self.is_flushed() {
            significand.push(Wire::ONE);
            return Number {
                sign: parts.sign,
                exponent: Int::unsigned(&parts.exponent).resize(parts.exponent.len() + 1),
                significand,
                class,
            };
        }
        let normal = b.any(&parts.exponent);
        significand.push(normal);
        let (significand, amount) = normalise(b, &significand);
        class.zero = !significand[self.format.fraction];
        let exponent = self.lift(b, normal, parts.exponent);
        let exponent = b.sub(
            Int::unsigned(&exponent),
            Int::unsigned(&amount),
            self.exponent_width(),
        );
        Number {
            sign: parts.sign,
            exponent,
            significand,
            class,
        }
    }

    /// The exponent with which a fraction counts: 1 for subnormal numbers.
    pub(crate) fn lift(self, b: &mut Builder, normal: Wire, mut exponent: Word) -> Word {
        // All bits of the field are 0 where this changes it.
        exponent[0] = b.xor(exponent[0], !normal);
        exponent
    }

    /// The number nearest to a result, or a special one.
    pub(crate) fn pack(self, b: &mut Builder, result: &Unrounded, special: Special) -> Word {
        let (significand, sticky) = self.shorten(b, result);
        if self.is_flushed() {
            let (fraction, carry) = self.round_fraction(b, &significand, sticky);
            let carry = match result.carries {
                // At most one of the two is 1.
                true => b.xor(carry, result.above),
                false => result.above,
            };
            let field = self.advance(b, &result.exponent, 0, carry);
            let fit = self.fit(b, &field);
            let zero = b.or(special.zero, fit.under);
            let special = Special { zero, ..special };
            // Below the normal numbers all bits are cleared already.
            let fit = Fit {
                negative: Wire::ZERO,
                ..fit
            };
            return self.assemble(b, result.sign, fraction, &field, fit, special);
        }
        // Below 0 the complement of the exponent less 2 is the shift that makes the significand of a
        // subnormal number.
        let exponent = self.advance(b, &result.exponent, -2, result.above);
        let (&negative, size) = exponent.split_last().expect("an exponent");
        let amount: Word = size.iter().map(|&bit| b.and(!bit, negative)).collect();
        let (significand, lost) = shift_right_sticky(b, &significand, &amount);
        let sticky = b.or(sticky, lost);
        let (fraction, carry) = self.round_fraction(b, &significand, sticky);
        // A significand that is shifted by 0 or 1 leads to field 1 or 0, with its carry one more,
        // as if it were not subnormal. One that is shifted further has no carry, and the field is
        // then negative, in place of 0.
        let field = self.advance(b, &exponent, 2, carry);
        let fit = self.fit(b, &field);
        self.assemble(b, result.sign, fraction, &field, fit, special)
    }

    /// The significand in the bits of the format and one more to round it by; and the OR of all
    /// bits behind.
    fn shorten(self, b: &mut Builder, result: &Unrounded) -> (Word, Wire) {
        let (kept, width) = (self.precision() + 1, result.significand.len());
        if width < kept {
            return (
                Int::unsigned(&result.significand).shl(kept - width, kept),
                result.sticky,
            );
        }
        let (low, high) = result.significand.split_at(width - kept);
        let low = b.any(low);
        (high.to_vec(), b.or(low, result.sticky))
    }

    /// The fraction, rounded by the lowest bit and `sticky`, and the carry.
    pub(crate) fn round_fraction(
        self,
        b: &mut Builder,
        significand: &[Wire],
        sticky: Wire,
    ) -> (Word, Wire) {
        let odd = b.or(significand[1], sticky);
        let up = b.and(significand[0], odd);
        let fraction = Int::unsigned(&significand[1..self.precision()]);
        let mut sum = b.add(fraction, Int::unsigned(&[up]), self.precision());
        let carry = sum.pop().expect("a carry");
        (sum, carry)
    }

    /// The exponent, so much further.
    fn advance(self, b: &mut Builder, exponent: &[Wire], by: i128, carry: Wire) -> Word {
        let by = b.constant(by, exponent.len());
        let terms = [Int::signed(exponent), bit(&carry), Int::unsigned(&by)];
        b.sum(&terms, exponent.len())
    }

    fn fit(self, b: &mut Builder, field: &[Wire]) -> Fit {
        let (low, high) = field.split_at(self.format.exponent);
        let (sign, high) = high.split_last().expect("the sign of an exponent");
        let (ones, low) = all_any(b, low);
        let high = b.any(high);
        let (large, small) = (b.or(ones, high), b.or(low, high));
        Fit {
            over: b.and(!*sign, large),
            under: b.or(*sign, !small),
            negative: *sign,
        }
    }

    /// The number of these parts, or a special one.
    pub(crate) fn assemble(
        self,
        b: &mut Builder,
        sign: Wire,
        fraction: Word,
        field: &[Wire],
        fit: Fit,
        special: Special,
    ) -> Word {
        let over = b.and(fit.over, !special.zero);
        let ones = b.or(special.not_finite, over);
        let replaced = b.or(special.zero, ones);
        let mut fraction = mask(b, !replaced, &fraction);
        let top = fraction.last_mut().expect("a fraction");
        *top = b.xor(*top, special.nan);
        let replaced = b.or(replaced, fit.negative);
        let field = mask(b, !replaced, &field[..self.format.exponent]);
        Parts {
            fraction,
            exponent: field.iter().map(|&bit| b.xor(bit, ones)).collect(),
            sign: b.and(sign, !special.nan),
        }
        .join()
    }
}

/// How a biased exponent fits its field.
#[derive(Clone, Copy)]
pub(crate) struct Fit {
    /// It is that of infinity, or larger.
    pub over: Wire,
    /// It is 0 or less.
    pub under: Wire,
    /// It is less than 0.
    pub negative: Wire,
}
