//! Exponents: taken out of numbers, put into them, and the next number.

use crate::format::{Arithmetic, Parts};
use crate::pack::Unrounded;
use crate::word::{flip_if, layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

/// Bits of the integers here: those of C's `int`.
const INT: usize = 32;

impl Arithmetic {
    /// A number of a magnitude in [1/2, 1) and the power of two, as a signed integer of 32 bits,
    /// whose product is `x`. Of zeros, infinities and NaN the integer is 0, and the number is `x`.
    pub fn frexp(self, b: &mut Builder, x: &[Wire]) -> [Word; 2] {
        let number = self.unpack(b, x);
        let class = number.class;
        let half = i128::from(self.format.bias()) - 1;
        let fraction = mask(b, !class.nan, &number.significand[..self.format.fraction]);
        let zero = if self.is_flushed() {
            mask(b, !class.zero, &fraction)
        } else {
            fraction
        };
        let exponent = (0..self.format.exponent)
            .map(|i| {
                if half >> i & 1 == 1 {
                    !class.zero
                } else {
                    class.not_finite
                }
            })
            .collect();
        let fraction = Parts {
            fraction: self.quiet(b, zero, class.nan),
            exponent,
            sign: b.and(number.sign, !class.nan),
        };
        let width = number.exponent.len() + 1;
        let half = b.constant(half, width);
        let power = b.sub(Int::signed(&number.exponent), Int::signed(&half), width);
        let none = b.or(class.zero, class.not_finite);
        let power = mask(b, !none, &power);
        [fraction.join(), Int::signed(&power).resize(INT)]
    }

    /// `x 2^n`, rounded once, for a signed integer `n` of any width.
    pub fn ldexp(self, b: &mut Builder, x: &[Wire], n: &[Wire]) -> Word {
        let number = self.unpack(b, x);
        // Farther than from the smallest to beyond the largest number no exponent moves one.
        let farthest = layers((1 << self.format.exponent) + self.format.fraction + 4);
        let n = self.saturated(b, n, farthest + 1);
        let width = number.exponent.len().max(farthest + 1) + 1;
        let exponent = b.add(Int::signed(&number.exponent), Int::signed(&n), width);
        let mut result = Unrounded::whole(number.sign, exponent, number.significand);
        result.carries = false;
        self.pack(b, &result, number.class)
    }

    /// The exponent of a number as a number: its magnitude is in [1, 2) times that power of two.
    /// Minus infinity for zeros, infinity for infinities.
    pub fn logb(self, b: &mut Builder, x: &[Wire]) -> Word {
        let (exponent, class) = self.exponent_of(b, x);
        let sign = exponent.last().copied().unwrap_or(Wire::ZERO);
        let size = b.abs(Int::signed(&exponent), exponent.len());
        let mut parts = self.round_integer(b, &size, 0);
        let ones = b.or(class.zero, class.not_finite);
        parts = mask(b, !ones, &parts);
        let (fraction, exponent) = parts.split_at(self.format.fraction);
        let negative = b.and(sign, !class.not_finite);
        Parts {
            fraction: self.quiet(b, fraction.to_vec(), class.nan),
            exponent: exponent.iter().map(|&bit| b.xor(bit, ones)).collect(),
            sign: b.or(negative, class.zero),
        }
        .join()
    }

    /// The exponent of a number as a signed integer of 32 bits. The smallest integer for zeros and
    /// NaN, the largest for infinities: C's `FP_ILOGB0`, `FP_ILOGBNAN` and `INT_MAX`.
    pub fn ilogb(self, b: &mut Builder, x: &[Wire]) -> Word {
        let (exponent, class) = self.exponent_of(b, x);
        let least = b.or(class.zero, class.nan);
        let none = b.or(least, class.not_finite);
        let most = b.xor(none, least);
        let exponent = mask(b, !none, &exponent);
        let mut word = Int::signed(&exponent).resize(INT);
        for bit in &mut word[..INT - 1] {
            *bit = b.xor(*bit, most);
        }
        word[INT - 1] = b.xor(word[INT - 1], least);
        word
    }

    /// The number next to `x` in the direction of `y`; `y` if both are equal. Where subnormal
    /// numbers are flushed, the smallest normal numbers are next to zero.
    pub fn nextafter(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let [of, towards] = [x, y].map(|x| self.class(b, x));
        let [x, y] = [x, y].map(|x| self.format.split(x));
        let (sign, other) = (x.sign, y.sign);
        let [x, y] = [x, y].map(Parts::join);
        let up = self.below(b, &x, &y);
        let equal = self.eq(b, &x, &y);
        let nan = b.or(of.nan, towards.nan);
        let away = b.xor(up, sign);
        let away = b.or(away, of.zero);
        let (magnitude, target) = (&x[..x.len() - 1], &y[..y.len() - 1]);
        let step = [Wire::ONE, !away];
        let (size, step) = (Int::unsigned(magnitude), Int::signed(&step));
        let mut next = b.add(size, step, magnitude.len());
        if self.is_flushed() {
            let (fraction, exponent) = next.split_at(self.format.fraction);
            let mut smallest = mask(b, !of.zero, fraction);
            smallest.extend(exponent);
            let unit = &mut smallest[self.format.fraction];
            *unit = b.or(*unit, of.zero);
            next = smallest;
        }
        let next = b.select(equal, target, &next);
        let from_zero = b.or(of.zero, equal);
        let sign = b.mux(from_zero, other, sign);
        let (fraction, exponent) = next.split_at(self.format.fraction);
        let fraction = mask(b, !nan, fraction);
        let number = Parts {
            fraction: self.quiet(b, fraction, nan),
            exponent: exponent.iter().map(|&bit| b.or(bit, nan)).collect(),
            sign: b.and(sign, !nan),
        };
        if self.is_flushed() {
            self.canonical(b, &number.join(), Wire::ZERO)
        } else {
            number.join()
        }
    }

    /// The exponent of a number without its bias, for zeros, infinities and NaN anything.
    fn exponent_of(self, b: &mut Builder, x: &[Wire]) -> (Word, crate::pack::Class) {
        let number = self.unpack(b, x);
        let width = self.exponent_width();
        let bias = self.exponent(b, self.format.bias().into());
        let exponent = b.sub(Int::signed(&number.exponent), Int::signed(&bias), width);
        (exponent, number.class)
    }

    /// The fraction field with the bit of the canonical NaN set where `nan` is.
    fn quiet(self, b: &mut Builder, mut fraction: Word, nan: Wire) -> Word {
        let quiet = fraction.last_mut().expect("a fraction field");
        *quiet = b.xor(*quiet, nan);
        fraction
    }

    /// The signed integer in `width` bits, at the end of their range if it is beyond.
    fn saturated(self, b: &mut Builder, n: &[Wire], width: usize) -> Word {
        if n.len() <= width {
            return n.to_vec();
        }
        let sign = n[n.len() - 1];
        let beyond = flip_if(b, sign, &n[width - 1..n.len() - 1]);
        let beyond = b.any(&beyond);
        let mut word = b.select(beyond, &vec![!sign; width - 1], &n[..width - 1]);
        word.push(sign);
        word
    }
}
