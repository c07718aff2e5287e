//! Conversions between numbers and integers, or fixed point.
//!
//! An integer becomes a number by its absolute value, shifted until its highest bit is at the top,
//! and rounded once. A number becomes an integer by a shift of its significand to the left, which
//! drops bits as soon as they can no longer reach the point, and an addition that both negates and
//! rounds: `-v` is the complement of v and 1, and `-(v + 1)` is the complement alone.

mod body;
mod function;
mod power;

pub use function::{FixedFunction, Points, Refused, fixed_function, fixed_functions};
pub use power::{Powers, Stored};

use crate::format::{Arithmetic, Subnormals};
use crate::window::grow;
use crate::word::{flip_if, layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

/// A type of fixed-point numbers: integers times 2^-`fraction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fixed {
    /// Width in bits, from 1 to 64.
    pub bits: usize,
    /// True for two's complement.
    pub signed: bool,
    /// Bits behind the binary point, at most `bits`; 0 for integers.
    pub fraction: usize,
}

impl Fixed {
    /// Signed integers.
    pub const fn signed(bits: usize) -> Fixed {
        Fixed {
            bits,
            signed: true,
            fraction: 0,
        }
    }

    /// Unsigned integers.
    pub const fn unsigned(bits: usize) -> Fixed {
        Fixed {
            bits,
            signed: false,
            fraction: 0,
        }
    }

    /// The same width with so many bits behind the point.
    pub const fn with_fraction(self, fraction: usize) -> Fixed {
        Fixed { fraction, ..self }
    }

    fn check(self) {
        let fits = (1..=64).contains(&self.bits) && self.fraction <= self.bits;
        assert!(
            fits,
            "fixed point of 1 to 64 bits, of which any number are behind the point"
        );
    }
}

/// Directions in which numbers are rounded to fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Towards zero, as conversions in C and Rust.
    Zero,
    /// Towards minus infinity.
    Down,
    /// To the nearest, ties to even.
    Nearest,
}

/// A number as fixed point.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The value, at the nearest end of the range if the number is beyond it; 0 for NaN.
    pub value: Word,
    /// True if the rounded number is beyond the range, or is NaN.
    pub refused: Wire,
}

/// A number below 1 in units of the last place, rounded.
struct Small {
    /// The number is below 1.
    is: Wire,
    /// It is rounded to 1 or -1.
    one: Wire,
}

impl Arithmetic {
    /// The number nearest to a fixed-point one; ties to even, infinity beyond the largest.
    ///
    /// # Panics
    /// If the word is not as wide as the type says.
    pub fn of_fixed(self, b: &mut Builder, x: &[Wire], from: Fixed) -> Word {
        from.check();
        assert_eq!(x.len(), from.bits, "a word of another type");
        let (bits, signed) = (x, from.signed);
        let x = Int { bits, signed };
        let sign = x.sign();
        let magnitude = b.abs(x, from.bits);
        let mut number = self.round_integer(b, &magnitude, -(from.fraction as i32));
        number.push(sign);
        number
    }

    /// The number as fixed point, rounded as asked. It saturates: beyond the range it is the
    /// nearest end, and NaN is 0; a flag says so.
    pub fn to_fixed(self, b: &mut Builder, x: &[Wire], to: Fixed, rounding: Rounding) -> Converted {
        to.check();
        let (bits, class) = (to.bits, self.class(b, x));
        let sign = self.format.split(x).sign;
        let small = self.below_unit(b, x, to, rounding);
        let large = {
            let beyond = self.reaches(b, x, bits as i32 - to.fraction as i32);
            b.or(beyond, class.special)
        };
        let (whole, guard, sticky) = self.at_point(b, x, to, rounding);
        let carry = match rounding {
            Rounding::Zero => sign,
            Rounding::Down => b.and(sign, !sticky),
            Rounding::Nearest => {
                let up = b.or(sticky, whole[0]);
                let up = b.and(up, guard);
                b.xor(sign, up)
            }
        };
        let mut whole = flip_if(b, sign, &whole);
        whole.push(sign);
        let whole = b.add(Int::signed(&whole), Int::unsigned(&[carry]), bits + 2);
        let kept = if to.signed {
            &whole[bits - 1..]
        } else {
            &whole[bits..]
        };
        let fits = if to.signed {
            let differ = [b.xor(kept[0], kept[2]), b.xor(kept[1], kept[2])];
            !b.any(&differ)
        } else {
            !b.any(kept)
        };
        // Of NaN, numbers beyond the range, numbers below 1 and the others each is one.
        let fits = b.and(fits, !large);
        let beyond = b.and(!fits, !small.is);
        let plain = b.and(fits, !small.is);
        let ends = b.and(beyond, !class.nan);
        let at_most = b.and(ends, !sign);
        let at_least = b.xor(ends, at_most);
        let minus = b.and(small.one, sign);
        let last = if to.signed {
            small.one
        } else {
            b.xor(small.one, minus)
        };
        let others = if to.signed { minus } else { Wire::ZERO };
        let value = (0..bits)
            .map(|i| {
                let saturated = if to.signed && i + 1 == bits {
                    at_least
                } else {
                    at_most
                };
                // The only positive number of one signed bit is 0.
                let one = match (i, to.signed && bits == 1) {
                    (0, false) => last,
                    _ => others,
                };
                let otherwise = b.xor(saturated, one);
                let value = b.and(whole[i], plain);
                b.xor(value, otherwise)
            })
            .collect();
        let refused = match to.signed {
            true if bits == 1 => b.xor(small.one, minus),
            true => Wire::ZERO,
            false => minus,
        };
        let refused = b.xor(refused, beyond);
        Converted { value, refused }
    }

    /// True for numbers of at least 2^`exponent`, infinities and NaN.
    fn reaches(self, b: &mut Builder, x: &[Wire], exponent: i32) -> Wire {
        let field = self.format.split(x).exponent;
        at_least(b, &field, i128::from(exponent + self.format.bias()).max(1))
    }

    /// Numbers below the unit of the last place. Where subnormal numbers are not all below, none
    /// counts.
    fn below_unit(self, b: &mut Builder, x: &[Wire], to: Fixed, rounding: Rounding) -> Small {
        let unit = self.format.bias() - to.fraction as i32;
        if unit < 2 {
            let (is, one) = (Wire::ZERO, Wire::ZERO);
            return Small { is, one };
        }
        let parts = self.format.split(x);
        let class = self.class(b, x);
        let is = !self.reaches(b, x, -(to.fraction as i32));
        let one = match rounding {
            Rounding::Zero => Wire::ZERO,
            Rounding::Down => b.and(parts.sign, !class.zero),
            Rounding::Nearest => {
                let half = b.constant(i128::from(unit) - 1, self.format.exponent);
                let half = b.eq(Int::unsigned(&parts.exponent), Int::unsigned(&half));
                b.and(half, class.fraction)
            }
        };
        let one = b.and(one, is);
        Small { is, one }
    }

    /// The whole part of a magnitude in units of the last place, its next bit, and if that bit or
    /// any behind it is 1 (for [`Rounding::Nearest`] any behind it).
    fn at_point(
        self,
        b: &mut Builder,
        x: &[Wire],
        to: Fixed,
        rounding: Rounding,
    ) -> (Word, Wire, Wire) {
        let (format, class) = (self.format, self.class(b, x));
        let parts = format.split(x);
        let unit = format.bias() - to.fraction as i32;
        let (mut word, mut field) = (parts.fraction, parts.exponent);
        if unit >= 2 {
            word.push(Wire::ONE);
        } else {
            if self.subnormals == Subnormals::Flushed {
                word = mask(b, class.hidden, &word);
            }
            word.push(class.hidden);
            field[0] = b.xor(field[0], !class.hidden);
        }
        let layers = layers(to.bits);
        let unit = b.constant(i128::from(unit), 1 + format.exponent.max(layers));
        let places = b.sub(Int::unsigned(&field), Int::signed(&unit), layers);
        let guard_bits = usize::from(rounding == Rounding::Nearest);
        let mut behind = format.fraction;
        let mut lost = Word::new();
        for (k, &bit) in places.iter().enumerate() {
            let farthest = ((1 << layers) - (1 << k)).min(to.bits - 1) + guard_bits;
            let end = behind.saturating_sub(farthest);
            lost.extend(word.drain(..end));
            behind -= end;
            word = grow(b, &word, bit, 1 << k, behind + to.bits);
        }
        let mut whole = word.split_off(behind);
        whole.resize(to.bits, Wire::ZERO);
        let guard = match guard_bits {
            0 => Wire::ZERO,
            _ => word.pop().unwrap_or(Wire::ZERO),
        };
        lost.extend(word);
        (whole, guard, b.any(&lost))
    }
}

/// `word >= constant`, both unsigned.
pub(crate) fn at_least(b: &mut Builder, word: &[Wire], constant: i128) -> Wire {
    if constant >> word.len() > 0 {
        return Wire::ZERO;
    }
    let constant = b.constant(constant, word.len());
    !b.lt(Int::unsigned(word), Int::unsigned(&constant))
}
