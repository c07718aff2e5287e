//! Numbers taken apart before an operation, and results rounded and put together after it.
//!
//! [`Arithmetic::unpack`] gives a [`Number`] whose significand has its 1 on top, also for subnormal
//! operands. [`Arithmetic::pack`] takes the exact result, or so many of its bits that nothing but
//! "more than 0 was cut off" is left to say, and rounds it once. The rounding carry runs from the
//! fraction into the exponent. Where subnormal numbers are flushed, results are rounded as if the
//! exponent had no lower bound, and zeros of their sign replace those that are then below the
//! normal numbers.

use crate::format::{Arithmetic, Parts, Subnormals};
use crate::word::{
    Advanced, all_any, any_of_fraction, bit, flip_if, increment, mask, normalise, shift_layers,
    shift_right_sticky,
};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

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
    /// The class with these bits.
    pub(crate) fn new(zero: Wire, not_finite: Wire, nan: Wire) -> Class {
        Class {
            zero,
            not_finite,
            nan,
        }
    }

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

impl Special {
    /// NaN where a bit is 1; where another is, zero.
    pub(crate) fn nan_or_zero(nan: Wire, zero: Wire) -> Special {
        Special::new(zero, nan, nan)
    }
}

/// A result before rounding.
#[derive(Clone, Debug)]
pub(crate) struct Unrounded {
    /// 1 for negative results, zeros and infinities as well.
    pub sign: Wire,
    /// The biased exponent less `offset`, a signed word that is wide enough for the exponent, too.
    pub exponent: Word,
    /// The missing part of the exponent.
    pub offset: i128,
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

impl Unrounded {
    /// A result that has all its bits and its whole exponent.
    pub(crate) fn whole(sign: Wire, exponent: Word, significand: Word) -> Unrounded {
        Unrounded {
            sign,
            exponent,
            offset: 0,
            above: Wire::ZERO,
            significand,
            sticky: Wire::ZERO,
            carries: true,
        }
    }
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
        let shift = crate::word::layers(self.precision());
        self.format.exponent.max(shift + 1) + 2
    }

    /// A constant of the width of exponents.
    pub(crate) fn exponent(self, b: &Builder, value: i128) -> Word {
        b.constant(value, self.exponent_width())
    }

    /// The class of a number, from its fields.
    pub(crate) fn classify(self, b: &mut Builder, parts: &Parts) -> Class {
        let (ones, normal) = all_any(b, &parts.exponent);
        let fraction = any_of_fraction(b, &parts.fraction);
        let nan = b.and(ones, fraction);
        let zero = match self.subnormals {
            Subnormals::Flushed => !normal,
            Subnormals::Kept => !b.or(normal, fraction),
        };
        Class::new(zero, ones, nan)
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
        let (exponent, amount) = (Int::unsigned(&exponent), Int::unsigned(&amount));
        let exponent = b.sub(exponent, amount, self.exponent_width());
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
        let (significand, low) = self.shorten(b, &result.significand);
        let sticky = b.or(low, result.sticky);
        if self.is_flushed() {
            let (fraction, carry) = self.round(b, &significand, sticky);
            let carry = if result.carries { carry } else { Wire::ZERO };
            let field = advance(b, &result.exponent, result.offset, result.above, carry);
            return self.assemble(b, result.sign, fraction, field, Low::Flushed, special);
        }
        // Below 0 the complement of the exponent less 2 is the shift that makes the significand of
        // a subnormal number.
        let (offset, above) = (result.offset - 2, result.above);
        let (exponent, _) = advance(b, &result.exponent, offset, above, Wire::ZERO);
        let (&negative, size) = exponent.split_last().expect("an exponent");
        let amount: Word = size.iter().map(|&bit| b.and(!bit, negative)).collect();
        let layers = shift_layers(b, &amount, significand.len());
        let (significand, lost) = shift_right_sticky(b, &significand, &layers);
        let sticky = b.or(sticky, lost);
        let (fraction, carry) = self.round(b, &significand, sticky);
        // A significand that is shifted by 0 or 1 leads to field 1 or 0, with its carry one more,
        // as if it were not subnormal. One that is shifted further has no carry, and the field is
        // then negative, in place of 0.
        let field = advance(b, &exponent, 2, Wire::ZERO, carry);
        let empty = field.0[exponent.len() - 1];
        self.assemble(b, result.sign, fraction, field, Low::Empty(empty), special)
    }

    /// The number of a rounded fraction and a biased exponent, a signed word, where subnormal
    /// numbers are flushed or do not occur; or a special one.
    pub(crate) fn finish(
        self,
        b: &mut Builder,
        sign: Wire,
        fraction: Word,
        field: &[Wire],
        special: Special,
    ) -> Word {
        let field = (field.to_vec(), Wire::ZERO);
        self.assemble(b, sign, fraction, field, Low::Flushed, special)
    }

    /// The number of a significand that has moved up as far as its exponent allows. What is left of
    /// the exponent is less than the biased one by the highest bit of the significand. `empty` is 1
    /// where that is not so, because the significand is 0, or cannot be rounded up.
    pub(crate) fn pack_advanced(
        self,
        b: &mut Builder,
        sign: Wire,
        advanced: &Advanced,
        empty: Wire,
        special: Special,
    ) -> Word {
        let (significand, sticky) = self.shorten(b, &advanced.word);
        let lead = significand[self.precision()];
        let (fraction, carry) = self.round(b, &significand, sticky);
        let width = advanced.left.len();
        let (mut field, late) = match b.goal() {
            Goal::Size => {
                let terms = [Int::unsigned(&advanced.left), bit(&lead), bit(&carry)];
                (b.sum(&terms, width), Wire::ZERO)
            }
            Goal::Depth => (mask(b, lead, &advanced.next), carry),
        };
        field.push(Wire::ZERO);
        self.assemble(b, sign, fraction, (field, late), Low::Empty(empty), special)
    }

    /// A significand in the bits of the format and one more to round it by; and the OR of all bits
    /// behind.
    pub(crate) fn shorten(self, b: &mut Builder, significand: &[Wire]) -> (Word, Wire) {
        let (kept, width) = (self.precision() + 1, significand.len());
        if width < kept {
            let wide = Int::unsigned(significand).shl(kept - width, kept);
            return (wide, Wire::ZERO);
        }
        let (low, high) = significand.split_at(width - kept);
        (high.to_vec(), b.any(low))
    }

    /// The fraction, rounded by the lowest bit and `sticky`, and the carry.
    pub(crate) fn round(self, b: &mut Builder, significand: &[Wire], sticky: Wire) -> (Word, Wire) {
        let odd = b.or(significand[1], sticky);
        let up = b.and(significand[0], odd);
        increment(b, &significand[1..self.precision()], up)
    }

    /// The number of these parts, or a special one. The exponent field may still get a late carry
    /// from the fraction.
    fn assemble(
        self,
        b: &mut Builder,
        sign: Wire,
        fraction: Word,
        (field, late): (Word, Wire),
        low: Low,
        special: Special,
    ) -> Word {
        let fit = self.fit(b, &field);
        let (field, _) = increment(b, &field[..self.format.exponent], late);
        // A late carry leaves a fraction of zeros, so the fraction does not wait for it; and it
        // makes the exponent of infinity by itself.
        let ends = |b: &mut Builder, carry: Wire| {
            let zero = match low {
                Low::Flushed => {
                    let zero = b.and(fit.zero, !carry);
                    b.any(&[special.zero, fit.negative, zero])
                }
                Low::Empty(_) => special.zero,
            };
            // The size of the exponent is known last.
            let positive = b.and(!fit.negative, !zero);
            let over = b.and(positive, fit.large);
            let ones = b.or(special.not_finite, over);
            Ends { zero, ones }
        };
        let early = ends(b, Wire::ZERO);
        let mut last = ends(b, late);
        if let Low::Empty(empty) = low {
            last.zero = b.or(last.zero, empty);
        }
        place(b, sign, (fraction, early), (field, last), special.nan)
    }

    fn fit(self, b: &mut Builder, field: &[Wire]) -> Fit {
        let (low, high) = field.split_at(self.format.exponent);
        let (&negative, high) = high.split_last().expect("the sign of an exponent");
        let (ones, some) = all_any(b, low);
        let high = b.any(high);
        let large = b.or(ones, high);
        let some = b.or(some, high);
        Fit {
            large,
            zero: !some,
            negative,
        }
    }
}

/// An exponent, so much further, and a carry that is still to be added.
fn advance(b: &mut Builder, exponent: &[Wire], by: i128, above: Wire, carry: Wire) -> (Word, Wire) {
    let (early, late) = match b.goal() {
        // At most one of the two is 1.
        Goal::Size => (b.xor(above, carry), Wire::ZERO),
        Goal::Depth => (above, carry),
    };
    let by = b.constant(by, exponent.len());
    let terms = [Int::signed(exponent), bit(&early), Int::unsigned(&by)];
    (b.sum(&terms, exponent.len()), late)
}

/// The values that a field of a result has in place of its own.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    /// 1 for zero.
    pub zero: Wire,
    /// 1 for that of infinity, before zero.
    pub ones: Wire,
}

/// The number of a sign, a fraction and an exponent, or what replaces them.
pub(crate) fn place(
    b: &mut Builder,
    sign: Wire,
    (fraction, of_fraction): (Word, Ends),
    (exponent, of_exponent): (Word, Ends),
    nan: Wire,
) -> Word {
    let [fraction, exponent] =
        [(fraction, of_fraction), (exponent, of_exponent)].map(|(word, ends)| {
            let replaced = b.or(ends.zero, ends.ones);
            mask(b, !replaced, &word)
        });
    let mut parts = Parts {
        fraction,
        exponent: flip_if(b, of_exponent.ones, &exponent),
        sign: b.and(sign, !nan),
    };
    let top = parts.fraction.last_mut().expect("a fraction");
    *top = b.xor(*top, nan);
    parts.join()
}

/// The treatment of exponents below those of normal numbers.
#[derive(Clone, Copy)]
enum Low {
    /// The result is zero.
    Flushed,
    /// The exponent field becomes 0 where this is 1.
    Empty(Wire),
}

/// How a biased exponent fits its field.
#[derive(Clone, Copy)]
struct Fit {
    /// It is that of infinity, or larger, or it is negative.
    large: Wire,
    /// Its low bits, and all bits but the sign, are 0.
    zero: Wire,
    /// It is less than 0.
    negative: Wire,
}
