//! Quotients and square roots, digit by digit without restoring: a step adds or subtracts, as the
//! sign of the remainder says, for an AND a bit. Where depth counts, the inverse of a divisor and
//! the inverse root come from a table, and one step follows: see [`super::inverse`].
//!
//! Neither a quotient nor a root of numbers of p bits is half-way between two such numbers, nor is
//! one rounded up to a power of two: q d = a 2^k has no solution with q odd and of p + 1 bits, and
//! one just below 2 is below by more than half a unit. So the bit behind the last one rounds a
//! normal result, and only subnormal quotients need the remainder.

use crate::arith::inverse::{Division, Inverse, long_root};
use crate::format::Arithmetic;
use crate::pack::{Ends, Special, Unrounded, place};
use crate::word::{bit, flip_if};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

impl Arithmetic {
    /// x / y.
    pub fn div(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let (x, y) = (self.unpack(b, x), self.unpack(b, y));
        let p = self.precision();
        let [over, under] = [&x, &y].map(|number| leading(&number.significand));
        let (quotient, remainder) = divide(b, &over, &under, p + 2);
        // A quotient below 1 has its highest bit a place further down.
        let above = quotient[p + 1];
        let mut significand = b.select(above, &quotient[1..=p], &quotient[..p]);
        significand.push(Wire::ONE);
        let sticky = if self.is_flushed() {
            Wire::ONE
        } else {
            let last = b.and(above, quotient[0]);
            let rest = b.add(Int::unsigned(&remainder), Int::unsigned(&under), p + 1);
            let mut inexact = b.any(&rest);
            if by_inverse(b, p, p + 2) {
                // The remainder itself, if the last step subtracts.
                let other = b.any(&remainder);
                inexact = b.and(inexact, other);
            }
            b.or(inexact, last)
        };
        let sign = b.xor(x.sign, y.sign);
        let exponent = self.quotient_exponent(b, &x.exponent, &y.exponent, above);
        let mut result = Unrounded::whole(sign, exponent, significand);
        result.offset = self.format.bias().into();
        (result.sticky, result.carries) = (sticky, false);
        let (x, y) = (x.class, y.class);
        let both = [(x.zero, y.zero), (x.not_finite, y.not_finite)];
        let both = both.map(|(x, y)| b.and(x, y));
        let special = Special {
            zero: b.or(x.zero, y.not_finite),
            not_finite: b.any(&[x.not_finite, y.zero, y.nan]),
            nan: b.any(&[x.nan, y.nan, both[0], both[1]]),
        };
        self.pack(b, &result, special)
    }

    /// x - y, less one if the quotient is not `above` 1.
    fn quotient_exponent(self, b: &mut Builder, x: &[Wire], y: &[Wire], above: Wire) -> Word {
        // -y is its complement and 1.
        let width = self.exponent_width();
        let y: Word = y.iter().map(|&bit| !bit).collect();
        let terms = [Int::signed(x), Int::signed(&y), bit(&above)];
        b.sum(&terms, width)
    }

    /// The square root of x.
    pub fn sqrt(self, b: &mut Builder, x: &[Wire]) -> Word {
        let x = self.unpack(b, x);
        let p = self.precision();
        // The bias is odd, so an even exponent belongs to an odd power of two.
        let odd = !x.exponent[0];
        let significand = leading(&x.significand);
        let once = Int::unsigned(&significand);
        let radicand = b.select(odd, &once.shl(1, p + 1), &once.resize(p + 1));
        let root = root(b, &radicand, p + 1);
        let field = self.root_exponent(b, &x.exponent);
        let negative = b.and(x.sign, !x.class.zero);
        let not_finite = b.or(x.class.not_finite, negative);
        let special = Special::new(x.class.zero, not_finite, b.or(x.class.nan, negative));
        if self.is_narrow() && !self.is_flushed() {
            // Subnormal roots need the remainder, which no format of programs has.
            let square = b.mul(Int::unsigned(&root), Int::unsigned(&root), 2 * p + 2);
            let radicand = Int::unsigned(&radicand).shl(p + 1, 2 * p + 2);
            let exact = b.eq(Int::unsigned(&square), Int::unsigned(&radicand));
            let mut result = Unrounded::whole(x.sign, field, root);
            (result.sticky, result.carries) = (!exact, false);
            return self.pack(b, &result, special);
        }
        let (fraction, _) = self.round(b, &root, Wire::ONE);
        let ends = Ends {
            zero: special.zero,
            ones: special.not_finite,
        };
        let exponent = field[..self.format.exponent].to_vec();
        place(b, x.sign, (fraction, ends), (exponent, ends), special.nan)
    }

    /// (x + bias) / 2, rounded down.
    fn root_exponent(self, b: &mut Builder, x: &[Wire]) -> Word {
        let width = self.exponent_width();
        let half = b.constant((1 << (self.format.exponent - 2)) - 1, width);
        let terms = [Int::signed(&x[1..]), bit(&x[0]), Int::unsigned(&half)];
        b.sum(&terms, width)
    }
}

/// The significand of a number that is not zero.
pub(super) fn leading(significand: &[Wire]) -> Word {
    let mut significand = significand.to_vec();
    *significand.last_mut().expect("a significand") = Wire::ONE;
    significand
}

/// So many bits of x / y, one of them before the point, for numbers of the same width with the
/// highest bit 1; and a remainder, as if modulo a power of two, or that less y: for
/// [`Goal::Size`] if the last bit is 0.
pub(crate) fn divide(b: &mut Builder, x: &[Wire], y: &[Wire], bits: usize) -> (Word, Word) {
    if by_inverse(b, x.len(), bits) {
        let dividend = Int::unsigned(x).shl(bits - 1, x.len() + bits - 1);
        let Division { quotient, rest } = Inverse::of(b, y, bits).divide(b, &dividend);
        return (quotient, rest);
    }
    let width = x.len() + 1;
    let mut remainder = b.sub(Int::unsigned(x), Int::unsigned(y), width);
    let mut quotient = vec![!remainder[width - 1]];
    for _ in 1..bits {
        // The next step waits for the sign, and not for the bits below.
        remainder = b.with_slack(1, |b| division_step(b, &remainder, Wire::ZERO, y));
        quotient.insert(0, !remainder[width - 1]);
    }
    (quotient, remainder)
}

/// True if so many bits of a quotient of numbers of `width` bits come from an inverse. For a few, a
/// table is not worth its ANDs.
fn by_inverse(b: &Builder, width: usize, bits: usize) -> bool {
    b.goal() == Goal::Depth && width * bits > 600
}

/// The next remainder of a division by y, from -y to y less 1, as a signed word that is a bit wider
/// than y: with the next bit of the dividend, y is subtracted, or added to a negative one.
pub(super) fn division_step(b: &mut Builder, remainder: &[Wire], next: Wire, y: &[Wire]) -> Word {
    let width = y.len() + 1;
    let subtract = !remainder[y.len()];
    let wide = Int::unsigned(y).resize(width);
    let other = flip_if(b, subtract, &wide);
    let twice = [&[next], &remainder[..y.len()]].concat();
    let terms = [Int::unsigned(&twice), Int::unsigned(&other), bit(&subtract)];
    b.sum(&terms, width)
}

/// So many bits of the square root of a number from 1 to 4, given with two bits before the point;
/// one bit of the root is before the point.
pub(crate) fn root(b: &mut Builder, x: &[Wire], bits: usize) -> Word {
    // Shorter ones are not deep enough to be worth the ANDs of a table.
    if b.goal() == Goal::Depth && bits > 32 {
        return long_root(b, x, bits);
    }
    let mut digits = x.iter().rev().copied().chain(std::iter::repeat(Wire::ZERO));
    let mut next = || digits.next().expect("a digit");
    // The first bit is 1, and the remainder the first two digits less 1.
    let (high, low) = (next(), next());
    let mut remainder = vec![!low, b.xor(high, !low), Wire::ZERO];
    let mut root = vec![Wire::ONE];
    for _ in 1..bits {
        // With one more digit q of the root r, either 4 r + 1 is subtracted or 4 r + 3 is added:
        // the lowest two bits add 3 in both cases.
        let (high, low) = (next(), next());
        let width = root.len() + 4;
        let subtract = !remainder[remainder.len() - 1];
        let shifted = [&[low, high], &remainder[..]].concat();
        let wide = [&root[..], &[Wire::ZERO]].concat();
        let other = [&[Wire::ONE; 2], &flip_if(b, subtract, &wide)[..]].concat();
        let sum = b.add(Int::signed(&shifted), Int::signed(&other), width);
        remainder = sum[..root.len() + 3].to_vec();
        root.insert(0, !remainder[remainder.len() - 1]);
    }
    root
}
