//! Rounding to integral values, and the parts before and behind the point.
//!
//! The exponent says where the point is in the fraction field. Its one-hot form gives, by XOR
//! alone, the mask of the bits behind the point. Then each direction is one addition to the bits of
//! the magnitude, with the carry running into the exponent, before the bits behind the point are
//! cleared: of the mask itself to round away from zero, of a half to round ties away, and of a half
//! less one unit plus the last bit that stays to round ties to even.

use crate::classify::Class;
use crate::fixed::at_least;
use crate::format::{Arithmetic, Parts, Subnormals};
use crate::word::{bit, mask, normalise};
use sealane_circuit::{Builder, Int, Wire, Word};

/// Directions of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
    Zero,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// To the nearest, ties to even.
    NearestEven,
}

/// The place of the point in a number.
struct Point {
    class: Class,
    /// The magnitude is below 1.
    small: Wire,
    /// For each bit of the fraction field, true if it is behind the point. For small numbers and
    /// NaN all are.
    behind: Word,
    /// The one-hot form of the number of bits of the fraction field before the point.
    before: Word,
}

impl Arithmetic {
    /// The largest integral value that is not above `x`.
    pub fn floor(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.integral(b, x, Direction::Down)
    }

    /// The smallest integral value that is not below `x`.
    pub fn ceil(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.integral(b, x, Direction::Up)
    }

    /// The integral value next to `x` towards zero.
    pub fn trunc(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.integral(b, x, Direction::Zero)
    }

    /// The nearest integral value; halves are rounded away from zero.
    pub fn round_ties_away(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.integral(b, x, Direction::NearestAway)
    }

    /// The nearest integral value; halves are rounded to the even one. This is C's `rint` in the
    /// default direction, too.
    pub fn roundeven(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.integral(b, x, Direction::NearestEven)
    }

    /// The parts of `x` behind and before the point, both with its sign: the fractional part, then
    /// the integral one. An infinity has a fractional part of zero.
    ///
    /// # Panics
    /// If the unit in the last place of 1 is not a normal number of the format.
    pub fn modf(self, b: &mut Builder, x: &[Wire]) -> [Word; 2] {
        let format = self.format;
        let normal = (format.fraction as i32) < format.bias();
        assert!(normal, "parts behind the point have to be normal numbers");
        let parts = format.split(x);
        let point = self.point(b, &parts, x);
        let lost = b.zip(&parts.fraction, &point.behind, Builder::and);
        // A number below 1 keeps its exponent: it counts as normalised.
        let (mut bits, zeros) = normalise(b, &[&lost[..], &[point.small]].concat());
        let some = bits.pop().expect("the leading bit");
        let some = match self.subnormals {
            Subnormals::Kept => some,
            Subnormals::Flushed => b.and(some, !point.class.zero),
        };
        let exponent = Int::unsigned(&parts.exponent);
        let exponent = b.sub(exponent, Int::unsigned(&zeros), format.exponent);
        let clear = b.or(!some, point.class.nan);
        let mut behind = mask(b, !clear, &[bits, exponent].concat());
        behind.push(parts.sign);
        let behind = self.or_nan(b, behind, point.class.nan);
        [behind, self.integral(b, x, Direction::Zero)]
    }

    fn integral(self, b: &mut Builder, x: &[Wire], to: Direction) -> Word {
        let (format, bits) = (self.format, self.format.fraction);
        let parts = format.split(x);
        let point = self.point(b, &parts, x);
        let (class, sign) = (point.class, parts.sign);
        let magnitude = &x[..x.len() - 1];
        // The number to add, and 1 more; and if a number below 1 becomes 1.
        let just_below = format.bias() as i128 - 1;
        let just_below = b.constant(just_below, format.exponent);
        let half = b.eq(Int::unsigned(&parts.exponent), Int::unsigned(&just_below));
        let (add, carry, one) = match to {
            Direction::Zero => (Word::new(), Wire::ZERO, Wire::ZERO),
            Direction::Down | Direction::Up => {
                let away = if to == Direction::Down { sign } else { !sign };
                let add = point.behind.iter().map(|&bit| b.and(bit, away)).collect();
                (add, Wire::ZERO, b.and(away, !class.zero))
            }
            Direction::NearestAway => {
                let halves = point.before[..bits].iter().rev().copied().collect();
                (halves, Wire::ZERO, half)
            }
            Direction::NearestEven => {
                let last = (1..bits).map(|p| b.and(point.before[p], parts.fraction[bits - p]));
                let last = [last.collect(), vec![point.before[0]]].concat();
                let (carry, add) = (b.parity(&last), point.behind[1..].to_vec());
                (add, carry, b.and(half, class.fraction))
            }
        };
        let terms = [Int::unsigned(magnitude), Int::unsigned(&add), bit(&carry)];
        // Where depth counts, one level more saves a tenth of the ANDs.
        let sum = b.with_slack(1, |b| b.sum(&terms, magnitude.len()));
        let (fraction, exponent) = sum.split_at(bits);
        let fraction = b.zip(fraction, &point.behind, |b, bit, behind| {
            b.and(bit, !behind)
        });
        let one = b.and(one, point.small);
        let exponent = exponent.iter().enumerate().map(|(i, &bit)| {
            let bit = b.and(bit, !point.small);
            let is_set = format.bias() >> i & 1 == 1;
            b.xor(bit, if is_set { one } else { Wire::ZERO })
        });
        let result = Parts::new(fraction, exponent.collect(), sign);
        self.or_nan(b, result.join(), class.nan)
    }

    /// `x`, whose fraction field is zero where `nan` is set, or the canonical NaN there.
    fn or_nan(self, b: &mut Builder, x: Word, nan: Wire) -> Word {
        let mut parts = self.format.split(&x);
        for bit in &mut parts.exponent {
            *bit = b.or(*bit, nan);
        }
        let quiet = parts.fraction.last_mut().expect("a fraction field");
        *quiet = b.xor(*quiet, nan);
        parts.sign = b.and(parts.sign, !nan);
        parts.join()
    }

    fn point(self, b: &mut Builder, parts: &Parts, x: &[Wire]) -> Point {
        let (format, bits) = (self.format, self.format.fraction);
        let class = self.class(b, x);
        let (unit, last) = (format.bias() as i128, format.bias() as i128 + bits as i128);
        let small = at_least(b, &parts.exponent, unit);
        let small = !small;
        let large = at_least(b, &parts.exponent, last);
        // The number of bits before the point, brought into 0..=bits. The low bits of the exponent
        // field differ from it by a constant, which turns its one-hot form.
        let width = (bits + 1).next_power_of_two().trailing_zeros() as usize;
        let index = Int::unsigned(&parts.exponent).resize(width);
        let (first, end) = (b.constant(unit, width), b.constant(last, width));
        let index = b.select(large, &end, &index);
        let none = b.or(small, class.nan);
        let index = b.select(none, &first, &index);
        let one_hot = b.demux(&index);
        let turned = |p: usize| one_hot[(unit as usize + p) % one_hot.len()];
        let before: Word = (0..=bits).map(turned).collect();
        let mut behind = Word::with_capacity(bits);
        let mut so_far = Wire::ZERO;
        for &bit in &before[..bits] {
            so_far = b.xor(so_far, bit);
            behind.push(so_far);
        }
        behind.reverse();
        Point {
            class,
            small,
            behind,
            before,
        }
    }
}
