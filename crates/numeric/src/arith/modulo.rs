//! Remainders of C: exact for all operands.
//!
//! With significands m and n, x mod y is m 2^d mod n, where d, the difference of the exponents, may
//! be 277 in f32 and 2098 in f64. That is a power modulo n: of the upper bits of d it is a one-hot
//! number, divided; then each lower bit squares it, divides and, if 1, doubles; the last product is
//! with m. A division by n takes an AND for each bit of it and each bit of the quotient; long
//! division would take d of those, a power has the logarithm of d squares. Where depth counts, the
//! inverse of n is computed once, and serves all divisions.

use crate::arith::divide::{division_step, leading};
use crate::arith::inverse::Inverse;
use crate::format::Arithmetic;
use crate::pack::{Number, Special, Unrounded};
use crate::word::{mask, normalise};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

impl Arithmetic {
    /// x - n y for the whole number n next to x / y in the direction of zero.
    pub fn fmod(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let (x, y) = (self.unpack(b, x), self.unpack(b, y));
        let width = self.exponent_width();
        let [size, modulus] = [&x, &y].map(|number| leading(&number.significand));
        let apart = b.sub(Int::signed(&x.exponent), Int::signed(&y.exponent), width);
        let rest = self.rest(b, &size, &modulus, &apart);
        // Of a larger y the remainder is x.
        let small = apart[width - 1];
        let significand = b.select(small, &size, &rest);
        let [from, to] = [&x, &y].map(|number| Int::signed(&number.exponent).resize(width));
        let exponent = b.select(small, &from, &to);
        self.pack_rest(b, (&x, &y), x.sign, &exponent, &significand)
    }

    /// x - n y for the whole number n nearest to x / y, of two the even one.
    pub fn remainder(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let (x, y) = (self.unpack(b, x), self.unpack(b, y));
        let (p, width) = (self.precision(), self.exponent_width());
        let [size, modulus] = [&x, &y].map(|number| leading(&number.significand));
        // The remainder of 2 y, then y once or twice off: all in halves of the last place of y.
        let lower = b.sub(Int::signed(&y.exponent), Int::unsigned(&[Wire::ONE]), width);
        // x - y - 1, as -y - 1 is the complement of y.
        let below: Word = y.exponent.iter().map(|&bit| !bit).collect();
        let apart = b.sum(&[Int::signed(&x.exponent), Int::signed(&below)], width);
        let rest = self.rest(b, &size, &modulus, &apart);
        // Below 2 y, x is itself the rest; below y / 2 it is the result.
        let small = apart[width - 1];
        let less: Word = apart[..width - 1].iter().map(|&bit| !bit).collect();
        let tiny = b.any(&less[1..]);
        let tiny = b.and(tiny, small);
        let once = b.any(&[less[0], tiny]);
        let plain = Int::unsigned(&size);
        let unit = b.select(once, &plain.resize(p + 2), &plain.shl(1, p + 2));
        let start = b.select(small, &unit, &Int::unsigned(&rest).shl(2, p + 2));

        let fixed = b.or(tiny, y.class.not_finite);
        let above = b.lt(Int::unsigned(&modulus), Int::unsigned(&start));
        let first = b.and(above, !fixed);
        let once = mask(b, first, &modulus);
        let once = Int::unsigned(&once).shl(1, p + 1);
        let next = b.sub(Int::unsigned(&start), Int::unsigned(&once), p + 3);
        let short = b.lt(Int::signed(&next), Int::unsigned(&modulus));
        let second = b.and(first, !short);
        let twice = mask(b, second, &modulus);
        let twice = Int::unsigned(&twice).shl(1, p + 1);
        let last = b.sub(Int::signed(&next), Int::unsigned(&twice), p + 3);
        let negative = b.and(last[p + 2], !x.class.zero);
        let size = b.abs(Int::signed(&last), p);

        let from = Int::signed(&x.exponent).resize(width);
        let exponent = b.select(tiny, &from, &lower);
        let sign = b.xor(x.sign, negative);
        self.pack_rest(b, (&x, &y), sign, &exponent, &size)
    }

    /// The remainder of x and y, of which it is a multiple of the last place of one.
    fn pack_rest(
        self,
        b: &mut Builder,
        (x, y): (&Number, &Number),
        sign: Wire,
        exponent: &[Wire],
        significand: &[Wire],
    ) -> Word {
        let (significand, amount) = normalise(b, significand);
        let invalid = b.any(&[x.class.not_finite, y.class.nan, y.class.zero]);
        let zero = b.or(x.class.zero, !significand[significand.len() - 1]);
        let special = Special::nan_or_zero(invalid, zero);
        let (field, amount) = (Int::signed(exponent), Int::unsigned(&amount));
        let exponent = b.sub(field, amount, exponent.len());
        let mut result = Unrounded::whole(sign, exponent, significand);
        result.carries = false;
        self.pack(b, &result, special)
    }

    /// x 2^apart mod y, for numbers whose highest bit is 1.
    fn rest(self, b: &mut Builder, x: &[Wire], y: &[Wire], apart: &[Wire]) -> Word {
        let p = x.len();
        let lowest = if self.is_flushed() {
            1
        } else {
            1 - self.format.fraction as i32
        };
        let most = (2 * self.format.bias() - lowest) as usize;
        let bits = (usize::BITS - most.leading_zeros()) as usize;
        let divisor = Divisor::new(b, y);
        let squares = divisor.squares(most);
        let (low, high) = apart[..bits].split_at(squares);
        let power = &b.demux(high)[..(most >> squares) + 1];
        let mut rest = divisor.rest(b, power);
        for &double in low.iter().rev() {
            let size = b.abs(Int::signed(&rest), p);
            let square = b.mul(Int::unsigned(&size), Int::unsigned(&size), 2 * p);
            rest = divisor.rest(b, &square);
            let doubled = division_step(b, &rest, Wire::ZERO, y);
            rest = b.select(double, &doubled, &rest);
        }
        let power = restore(b, &rest, y);
        let product = b.mul(Int::unsigned(&power), Int::unsigned(x), 2 * p);
        let rest = divisor.rest(b, &product);
        restore(b, &rest, y)
    }
}

/// A number whose highest bit is 1, to divide by.
struct Divisor<'a> {
    number: &'a [Wire],
    /// Where depth counts.
    inverse: Option<Inverse>,
}

impl Divisor<'_> {
    fn new<'a>(b: &mut Builder, number: &'a [Wire]) -> Divisor<'a> {
        let inverse = match b.goal() {
            Goal::Size => None,
            // For few digits a table is not worth its ANDs.
            Goal::Depth if number.len() <= 8 => None,
            Goal::Depth => Some(Inverse::of(b, number, number.len() + 1)),
        };
        Divisor { number, inverse }
    }

    /// The squares on the way to a power of 2 of at most so many digits, with the fewest ANDs; or
    /// with the fewest squares, if what is divided is to have twice the bits of the divisor at
    /// most.
    fn squares(&self, most: usize) -> usize {
        let p = self.number.len();
        let mut counts = 0..usize::BITS as usize;
        let count = match self.inverse {
            None => counts.min_by_key(|&k| (most >> k) * (p + 1) + k * 2 * p * p),
            Some(_) => counts.find(|&k| most >> k < 2 * p),
        };
        count.expect("a number of squares")
    }

    /// x modulo the divisor, or that less the divisor: a signed word, a bit wider than that.
    fn rest(&self, b: &mut Builder, x: &[Wire]) -> Word {
        let y = self.number;
        if let Some(inverse) = self.inverse.as_ref().filter(|_| x.len() >= y.len()) {
            return inverse.divide(b, x).rest;
        }
        let low = x.len().saturating_sub(y.len() - 1);
        let mut rest = Int::unsigned(&x[low..]).resize(y.len() + 1);
        for &bit in x[..low].iter().rev() {
            rest = b.with_slack(1, |b| division_step(b, &rest, bit, y));
        }
        rest
    }
}

/// The remainder that is not negative.
fn restore(b: &mut Builder, rest: &[Wire], y: &[Wire]) -> Word {
    let back = mask(b, rest[y.len()], y);
    b.add(Int::signed(rest), Int::unsigned(&back), y.len())
}
