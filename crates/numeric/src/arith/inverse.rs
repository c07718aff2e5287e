//! Quotients and roots of little depth: from a table of polynomials comes the inverse of a divisor,
//! or of a root. A product with it is off by less than half a unit, and the square or product of
//! that tells which of two results is right, as the last step of a division without restoring does.
//!
//! An inverse serves any number of dividends. A quotient of n bits takes two products of about
//! n^2 / 2 ANDs, in place of n additions that wait for each other. Of more than [`DIGITS`] digits
//! of an inverse, half come from a table, and twice as many by a step of Newton's iteration, of
//! which only the lower half has to be computed. See Markstein, "IA-64 and Elementary Functions"
//! (2000), chapters 7 to 9, for these methods in software.

use crate::curve::{Curve, product};
use crate::heap::{Fixed, Heap, truncation};
use crate::real::Real;
use crate::trig::twice_inverse;
use crate::word::{bit, layers};
use sealane_circuit::{Builder, Int, Wire, Word};

/// Digits behind the point that come from a table: twice of them are enough for f64.
const DIGITS: i32 = 32;

/// The same for so many digits of a result.
fn digits_of_table(digits: i32) -> i32 {
    DIGITS.max(digits / 2 + 3)
}

/// A divisor, a word with the highest bit 1, and its inverse.
pub(super) struct Inverse {
    divisor: Word,
    /// Twice the inverse of the divisor as a number in [1, 2).
    twice: Fixed,
}

/// A quotient and its remainder.
pub(super) struct Division {
    /// The largest whole number that is not above.
    pub quotient: Word,
    /// The remainder, or that less the divisor: a signed word, a bit wider than the divisor.
    pub rest: Word,
}

impl Inverse {
    /// The inverse for quotients of at most so many bits.
    pub fn of(b: &mut Builder, divisor: &[Wire], bits: usize) -> Inverse {
        let twice = twice_inverse_of(b, divisor, bits as i32 + 2);
        let divisor = divisor.to_vec();
        Inverse { divisor, twice }
    }

    /// The quotient of a word that is at least as wide as the divisor.
    ///
    /// Its bits are the difference of the widths, and one. What is estimated is off by less than
    /// half a unit: by an eighth for the digits of the inverse, as much for the bits of the
    /// dividend that are cut off, and as much for those of the product.
    pub fn divide(&self, b: &mut Builder, dividend: &[Wire]) -> Division {
        let n = self.divisor.len();
        let bits = dividend.len() + 1 - n;
        let from = n.saturating_sub(4).min(dividend.len());
        let top = Fixed::unsigned(&dividend[from..], from as i32 - n as i32);
        // Digits of the inverse that a shorter quotient does not need.
        let last = self.twice.low.max(-(bits as i32) - 5);
        let twice = Fixed::new(self.twice.bits(last, 3), last);
        let low = -2 - layers(top.bits.len() + 2) as i32;
        let mut heap = Heap::new(low);
        heap.product(b, &top, &twice);
        let units = truncation(top.bits.len(), twice.bits.len(), low - top.low - twice.low);
        let mean = Real::scaled(units as i64, i64::from(low) - 1);
        heap.constant(&-&(&mean + &Real::ratio(1, 2)));
        let estimate = heap.fixed(b, (bits as i32 + 1 - low) as usize);
        let estimate = estimate.bits(0, bits as i32 + 1);

        // With q y = -(-q - 1) y - y, the dividend less (q + 1) y.
        let other = Fixed::new(estimate.iter().map(|&bit| !bit).collect(), 0);
        // A unit of a half, lest a pair of bits is dropped.
        let mut heap = Heap::new(-1);
        heap.product(b, &other, &Fixed::unsigned(&self.divisor, 0));
        heap.unsigned(&dividend[..dividend.len().min(n + 1)], 0, false);
        let rest = heap.sum(b, n + 2).split_off(1);
        let up = !rest[n];
        let quotient = b.add(Int::unsigned(&estimate), bit(&up), bits);
        Division { quotient, rest }
    }
}

/// Twice the inverse of a number in [1, 2), off by less than `2^-digits`.
fn twice_inverse_of(b: &mut Builder, number: &[Wire], digits: i32) -> Fixed {
    let short = digits_of_table(digits).min(digits);
    let curve = twice_inverse(short);
    let (_, fraction) = number.split_last().expect("a number");
    let first = curve.value(b, &widened(fraction));
    if short == digits {
        return first;
    }
    // The product with the inverse is 1 and this.
    let half = first.clone().halved();
    let number = Fixed::unsigned(number, 1 - number.len() as i32);
    let low = -digits - 8;
    let mut heap = Heap::new(low);
    heap.centred_product(b, &number, &half);
    // Its digits above are those of 1.
    let off = heap.fixed(b, (3 - short - low) as usize);
    corrected(b, &first, &first, &off, digits)
}

/// A fraction with as many bits as may name a segment of a table.
fn widened(fraction: &[Wire]) -> Word {
    let more = SEGMENT.saturating_sub(fraction.len());
    Int::unsigned(fraction).shl(more, fraction.len() + more)
}

/// Bits that name a segment of a table at most.
const SEGMENT: usize = 9;

/// `x - y off`.
fn corrected(b: &mut Builder, x: &Fixed, y: &Fixed, off: &Fixed, digits: i32) -> Fixed {
    let low = -digits - 8;
    let opposite = Fixed::new(off.bits.iter().map(|&bit| !bit).collect(), off.low);
    let mut heap = Heap::new(low);
    heap.centred_product(b, y, &opposite);
    heap.signed(x, 0, false);
    heap.fixed(b, (3 - low) as usize)
}

/// So many bits, more than [`DIGITS`], of the square root of a number from 1 to 4, given with two
/// bits before the point; one bit of the root is before the point.
pub(super) fn long_root(b: &mut Builder, x: &[Wire], bits: usize) -> Word {
    let digits = bits as i32 + 3;
    let short = digits_of_table(digits);
    let curve = Curve::known("inverse root", short, |digits| {
        Curve::new(digits, &Real::ratio(3, 4), &|x| {
            &Real::of(1) / &(x + &Real::ratio(1, 4)).sqrt()
        })
    });
    // A quarter less: the highest bits are 01, 10 or 11.
    let point = x.len() - 2;
    let mut word = x.to_vec();
    let (low, high) = (x[point], x[point + 1]);
    word[point + 1] = b.and(low, high);
    word[point] = b.xor(high, word[point + 1]);
    // Twice the inverse of the root, and half of it.
    let twice = curve.value(b, &widened(&word));
    let half = twice.halved();
    let number = Fixed::unsigned(x, -(point as i32));
    // A first root r, and then (x - r^2) / 2 sqrt(x) more.
    let first = Fixed::unsigned(&number.bits(-short, 2), -short);
    let first = product(b, &first, &half, -short - 5, 3);
    let first = Fixed::unsigned(&first.bits(-short, 2), -short);
    let mut heap = Heap::new(-2 * short);
    heap.square(b, &first);
    heap.unsigned(x, number.low, true);
    let off = heap.fixed(b, (short + 6) as usize);
    let root = corrected(b, &first, &half.halved(), &off, digits);

    // The nearest number is the root, or one more.
    let unit = 1 - bits as i32;
    let mut heap = Heap::new(unit - 4);
    heap.signed(&root, 0, false);
    heap.constant(&Real::scaled(1, i64::from(unit) - 1));
    let nearest = heap.fixed(b, bits + 5).bits(unit, 1);
    let mut heap = Heap::new(-1);
    heap.square(b, &Fixed::unsigned(&nearest, 0));
    let radicand = 2 * (bits as i32 - 1) - point as i32;
    heap.unsigned(x, radicand, true);
    heap.constant(&Real::of(-1));
    let width = bits + 3;
    let square = heap.sum(b, width + 1);
    let above = !square[width];
    b.add(Int::unsigned(&nearest), Int::signed(&[above]), bits)
}
