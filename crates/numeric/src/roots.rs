//! Cube roots, one over square roots, and the length of a hypotenuse.
//!
//! The exponent is divided by the degree of the root; the rest of that division, in front of the
//! fraction, names the segment of a piecewise polynomial that is the whole significand of the
//! result. A hypotenuse is the digit-by-digit root of a sum of squares, relative to the larger
//! side, so nothing overflows but the result.

use crate::arith::divide::root;
use crate::curve::{Curve, Estimate};
use crate::format::Arithmetic;
use crate::heap::{Fixed, Heap};
use crate::pack::{Special, Unrounded};
use crate::real::Real;
use crate::word::{bit, mask, shift_layers, shift_right_sticky, swap_if};
use sealane_circuit::{Builder, Int, Wire, Word};

/// The bits of a result that are turned, of the fraction of a normal number and the rest of its
/// exponent, less the bias, in a division by the degree of the root.
pub(crate) type Turned = fn(&mut Builder, &[Wire]) -> Word;

const NONE: Turned = |_, _| Word::new();

/// A word with some of its lower bits turned.
fn flip(b: &mut Builder, word: &[Wire], turned: &[Wire]) -> Word {
    let mut word = word.to_vec();
    for (bit, &turned) in word.iter_mut().zip(turned) {
        *bit = b.xor(*bit, turned);
    }
    word
}

impl Arithmetic {
    /// The cube root.
    pub fn cbrt(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.cbrt_with(b, x, (self.work_for([19, 15]) as i32 - 1, NONE))
    }

    /// The cube root, from a significand with an error below `2^-digits`, and with bits turned: the
    /// same ones for all numbers with a power of 8 between them.
    pub(crate) fn cbrt_with(
        self,
        b: &mut Builder,
        x: &[Wire],
        (digits, turned): (i32, Turned),
    ) -> Word {
        let p = self.precision();
        let x = self.unpack(b, x);
        // A multiple of 3 that makes the dividend positive.
        let offset = (p as i32 + self.format.bias() + 2) / 3;
        let lift = 3 * offset - self.format.bias();
        let width = self.exponent_width();
        let lift = b.constant(i128::from(lift), width);
        let dividend = b.add(Int::signed(&x.exponent), Int::unsigned(&lift), width - 1);
        let (third, rest) = thirds(b, &dividend);
        let curve = Curve::known("cbrt", digits, |digits| {
            Curve::new(digits, &Real::ratio(3, 4), &|w| {
                let (power, fraction) = split(w, 2);
                cube_root(&(&Real::of(1) + &fraction).shifted(power))
            })
        });
        let word = [&x.significand[..p - 1], &rest].concat();
        let value = curve.value(b, &word);
        let bias = i128::from(self.format.bias());
        let base = b.constant(bias - i128::from(offset), width);
        let exponent = b.add(Int::unsigned(&third), Int::signed(&base), width);
        let low = value.low.min(-(p as i32));
        let significand = Fixed::unsigned(&value.bits(low, 1), low);
        let magnitude = self.nearest(b, &Estimate::new(exponent, significand));
        let turned = turned(b, &word);
        let magnitude = flip(b, &magnitude, &turned);
        self.or_special(b, &magnitude, x.sign, x.class)
    }

    /// One over the square root; of zeros, the infinity of their sign.
    pub fn rsqrt(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.rsqrt_with(b, x, (self.work_for([19, 16]) as i32 - 1, NONE))
    }

    /// One over the square root, from a significand with an error below `2^-digits`, and with bits
    /// turned: the same ones for all numbers with a power of 4 between them.
    pub(crate) fn rsqrt_with(
        self,
        b: &mut Builder,
        x: &[Wire],
        (digits, turned): (i32, Turned),
    ) -> Word {
        let p = self.precision();
        let x = self.unpack(b, x);
        let curve = Curve::known("rsqrt", digits, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                let (power, fraction) = split(w, 1);
                let square = (&Real::of(1) + &fraction).shifted(power);
                &Real::of(2) / &square.sqrt()
            })
        });
        // The bias is odd, so an even exponent belongs to an odd power of two.
        let odd = !x.exponent[0];
        let word = [&x.significand[..p - 1], &[odd]].concat();
        let significand = curve.value(b, &word);
        // bias - 1 - (x - bias - odd) / 2.
        let width = self.exponent_width();
        let base = i128::from(self.format.bias() - 1 + (self.format.bias() - 1) / 2);
        let base = b.constant(base, width);
        let base = b.add(Int::unsigned(&base), bit(&odd), width);
        let exponent = b.sub(Int::unsigned(&base), Int::signed(&x.exponent[1..]), width);
        let magnitude = self.nearest(b, &Estimate::new(exponent, significand));
        let turned = turned(b, &word);
        let magnitude = flip(b, &magnitude, &turned);
        let class = x.class;
        let negative = b.and(x.sign, !class.zero);
        let nan = b.or(class.nan, negative);
        let special = Special::new(b.and(class.not_finite, !nan), b.or(class.zero, nan), nan);
        self.or_special(b, &magnitude, x.sign, special)
    }

    /// The square root of the sum of squares, without overflow in between.
    pub fn hypot(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let p = self.precision();
        let [x, y] = [x, y].map(|number| &number[..self.format.bits() - 1]);
        let less = b.lt(Int::unsigned(x), Int::unsigned(y));
        let (x, y) = swap_if(b, less, x, y);
        let positive = |word: Word| [word, vec![Wire::ZERO]].concat();
        let (x, y) = (self.unpack(b, &positive(x)), self.unpack(b, &positive(y)));
        // Short formats are rounded correctly, so they keep all bits that count.
        let (more, low) = match p {
            ..=11 => (p + 4, None),
            _ => (4, Some(-(p as i32 + 4))),
        };
        let width = self.exponent_width();
        let distance = b.sub(Int::signed(&x.exponent), Int::signed(&y.exponent), width);
        let smaller = if self.is_flushed() {
            mask(b, !y.class.zero, &y.significand)
        } else {
            y.significand.clone()
        };
        let smaller = Int::unsigned(&smaller).shl(more, p + more);
        let layers = shift_layers(b, &distance[..width - 1], p + more);
        let (smaller, lost) = shift_right_sticky(b, &smaller, &layers);
        let larger = Fixed::unsigned(&x.significand, 1 - p as i32);
        let smaller = Fixed::unsigned(&smaller, 1 - (p + more) as i32);
        let sum = squares(b, &larger, &smaller, low.unwrap_or(2 * smaller.low));
        // The sum is in [1, 8): an even number of bits before the point, of which the first may
        // both be 0.
        let far = b.or(sum.bit(2), Wire::ZERO);
        let lows = sum.low.min(-(p as i32 + 4));
        let (near, halved) = (sum.bits(lows, 2), sum.bits(lows + 2, 4));
        let near = [vec![Wire::ZERO; 2], near].concat();
        let wide = [sum.bits(lows, lows + 2), halved].concat();
        let radicand = b.select(far, &wide, &near);
        let root = root(b, &radicand, p + 2);
        let exponent = b.add(Int::signed(&x.exponent), bit(&far), width);
        let sticky = match low {
            Some(_) => Wire::ONE,
            None => {
                let square = b.mul(Int::unsigned(&root), Int::unsigned(&root), 2 * root.len());
                let square =
                    Int::unsigned(&square).shl(radicand.len() - square.len(), radicand.len());
                let exact = b.eq(Int::unsigned(&square), Int::unsigned(&radicand));
                b.or(!exact, lost)
            }
        };
        let infinite = {
            let (one, other) = (x.class.infinite(b), y.class.infinite(b));
            b.or(one, other)
        };
        let nan = b.or(x.class.nan, y.class.nan);
        let not_finite = b.or(x.class.not_finite, y.class.not_finite);
        let special = Special::new(x.class.zero, not_finite, b.and(nan, !infinite));
        let mut result = Unrounded::whole(Wire::ZERO, exponent, root);
        result.sticky = sticky;
        self.pack(b, &result, special)
    }
}

/// The sum of two squares, cut off at the unit `2^low`.
fn squares(b: &mut Builder, x: &Fixed, y: &Fixed, low: i32) -> Fixed {
    let mut heap = Heap::new(low);
    for side in [x, y] {
        let bits = &side.bits[..side.bits.len() - 1];
        let square = b.mul(Int::unsigned(bits), Int::unsigned(bits), 2 * bits.len());
        heap.unsigned(&square, 2 * side.low, false);
    }
    heap.fixed(b, (4 - low) as usize)
}

/// A third of a word, and the rest: 0, 1 or 2. Two ANDs a bit: of twice the rest and the next bit,
/// three are taken where that is 3, 4 or 5.
fn thirds(b: &mut Builder, word: &[Wire]) -> (Word, Word) {
    let mut third = Word::new();
    let (mut one, mut two) = (Wire::ZERO, Wire::ZERO);
    for &bit in word.iter().rev() {
        let (both, stay) = (b.and(one, bit), b.and(two, bit));
        let digit = b.xor(two, both);
        let change = b.xor(both, stay);
        (one, two) = (b.xor(bit, digit), b.xor(one, change));
        third.insert(0, digit);
    }
    (third, vec![one, two])
}

/// The whole part of `w 2^bits`, and the rest.
fn split(w: &Real, bits: i64) -> (i64, Real) {
    let scaled = w.shifted(bits);
    let whole = i64::try_from(scaled.floor()).expect("a small number");
    (whole, &scaled - &Real::of(whole))
}

fn cube_root(x: &Real) -> Real {
    (&x.ln() / &Real::of(3)).exp()
}
