//! Sums and differences.
//!
//! The operand of the larger magnitude goes first; the other is aligned to it by a shift that keeps
//! two bits behind the last and ORs the rest, which is enough for the rounding of a difference that
//! moves up by a bit. A difference that moves further had a shift of at most one and is exact.

use crate::format::Arithmetic;
use crate::pack::{Fit, Special, Unrounded};
use crate::word::{
    all_any, bit, complement, flip_if, normalise, normalise_within, shift_right_sticky, swap_if,
};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

/// Operands, the larger magnitude first.
struct Sorted {
    /// The sign of the larger one: that of the sum.
    sign: Wire,
    /// 1 if the signs differ.
    differ: Wire,
    /// The significand and the exponent of the larger one.
    large: (Word, Word),
    /// The significand of the smaller one.
    small: Word,
    /// The difference of the exponents; too large for any shift if the smaller one is flushed.
    apart: Word,
    /// The exponent field of the larger one is not 0.
    normal: Wire,
    /// The same for the smaller one.
    small_normal: Wire,
    /// The exponent field of the smaller one is that of infinity.
    small_infinite: Wire,
    /// The class of the sum, but for infinity minus infinity.
    special: Special,
}

impl Arithmetic {
    /// x + y.
    pub fn add(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let sorted = self.sort(b, x, y);
        let p = self.precision();
        let aligned = Int::unsigned(&sorted.small).shl(2, p + 2);
        let (aligned, lost) = shift_right_sticky(b, &aligned, &sorted.apart);
        let lost = match self.is_flushed() {
            true => b.and(lost, sorted.small_normal),
            false => lost,
        };
        // The last bit, 0, becomes the sign.
        let small = [&[lost], &aligned[..], &[Wire::ZERO]].concat();
        let small = flip_if(b, sorted.differ, &small);
        let large = Int::unsigned(&sorted.large.0).shl(3, p + 3);
        let terms = [
            Int::unsigned(&large),
            Int::signed(&small),
            bit(&sorted.differ),
        ];
        let sum = b.sum(&terms, p + 4);
        match self.is_flushed() {
            true => self.sum_flushed(b, &sorted, &sum),
            false => self.sum_kept(b, &sorted, &sum),
        }
    }

    /// x - y.
    pub fn sub(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let mut y = y.to_vec();
        let sign = y.len() - 1;
        y[sign] = !y[sign];
        self.add(b, x, &y)
    }

    /// Compares and exchanges the operands.
    fn sort(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Sorted {
        let ((x, sx), (y, sy)) = (split_sign(x), split_sign(y));
        let n = x.len();
        let differ = b.xor(sx, sy);
        // Of equal magnitudes the positive one counts as the larger: so x - x is +0.
        let complement: Word = y.iter().map(|&bit| !bit).collect();
        let positive = !sx;
        let terms = [Int::unsigned(x), Int::unsigned(&complement), bit(&positive)];
        let less = !b.sum(&terms, n + 1)[n];
        let (large, small) = swap_if(b, less, x, y);
        let change = b.and(less, differ);
        let sign = b.xor(sx, change);

        let m = self.format.fraction;
        let (ones, normal) = all_any(b, &large[m..]);
        let small_normal = b.any(&small[m..]);
        let apart = match b.goal() {
            Goal::Size => {
                let large = self.weight(b, normal, &large[m..]);
                let small = self.weight(b, small_normal, &small[m..]);
                b.sub(Int::unsigned(&large), Int::unsigned(&small), large.len())
            }
            Goal::Depth => {
                // Both differences are there before the order is known.
                let [x, y] = [x, y].map(|z| {
                    let normal = b.any(&z[m..]);
                    self.weight(b, normal, &z[m..])
                });
                let down = b.sub(Int::unsigned(&x), Int::unsigned(&y), x.len());
                let up = b.sub(Int::unsigned(&y), Int::unsigned(&x), x.len());
                b.select(less, &up, &down)
            }
        };
        let exponent = self.weight(b, normal, &large[m..]);
        let nan = b.any(&large[..m]);
        let mut sorted = Sorted {
            sign,
            differ,
            large: (large[..m].to_vec(), exponent),
            small: small[..m].to_vec(),
            apart,
            normal,
            small_normal,
            small_infinite: b.all(&small[m..]),
            special: Special {
                zero: Wire::ZERO,
                not_finite: ones,
                nan: b.and(nan, ones),
            },
        };
        let flushed = self.is_flushed();
        sorted
            .large
            .0
            .push(if flushed { Wire::ONE } else { normal });
        sorted
            .small
            .push(if flushed { Wire::ONE } else { small_normal });
        if flushed {
            sorted.apart.push(!small_normal);
            let zero = b.and(differ, !normal);
            sorted.sign = b.and(sign, !zero);
        }
        sorted
    }

    /// The exponent with which a fraction counts.
    fn weight(self, b: &mut Builder, normal: Wire, exponent: &[Wire]) -> Word {
        match self.is_flushed() {
            true => exponent.to_vec(),
            false => self.lift(b, normal, exponent.to_vec()),
        }
    }

    fn sum_flushed(self, b: &mut Builder, sorted: &Sorted, sum: &[Wire]) -> Word {
        let (significand, amount) = normalise(b, sum);
        let lead = significand[sum.len() - 1];
        // The highest bit of the sum is the one before that of the larger operand: the exponent is
        // more by 1. And -amount is its complement and 1.
        let down = complement(&amount);
        let two = b.constant(2, 3);
        let terms = [
            Int::unsigned(&sorted.large.1),
            Int::signed(&down),
            Int::signed(&two),
        ];
        let exponent = b.sum(&terms, self.exponent_width() - 1);
        let opposite = b.and(sorted.special.not_finite, !lead);
        let special = Special {
            zero: !b.and(lead, sorted.normal),
            nan: b.or(sorted.special.nan, opposite),
            ..sorted.special
        };
        let result = Unrounded {
            sign: sorted.sign,
            exponent,
            above: Wire::ZERO,
            significand,
            sticky: Wire::ZERO,
            carries: true,
        };
        self.pack(b, &result, special)
    }

    /// A sum below the normal numbers is exact: it moves up as far as the exponent allows.
    fn sum_kept(self, b: &mut Builder, sorted: &Sorted, sum: &[Wire]) -> Word {
        let (significand, exponent) = normalise_within(b, sum, &sorted.large.1);
        let (low, significand) = significand.split_at(sum.len() - self.precision() - 1);
        let sticky = b.any(low);
        let lead = significand[self.precision()];
        let (fraction, carry) = self.round_fraction(b, significand, sticky);
        let terms = [Int::unsigned(&exponent), bit(&lead), bit(&carry)];
        let field = b.sum(&terms, self.format.exponent);
        let fit = Fit {
            over: b.all(&field),
            under: Wire::ZERO,
            negative: !lead,
        };
        // Infinity minus infinity is the one sum of an infinity that is 0, or seems to be.
        let opposite = match self.is_narrow() {
            true => b.and(sorted.differ, sorted.small_infinite),
            false => b.and(sorted.special.not_finite, !lead),
        };
        let special = Special {
            nan: b.or(sorted.special.nan, opposite),
            ..sorted.special
        };
        self.assemble(b, sorted.sign, fraction, &field, fit, special)
    }
}

/// Magnitude and sign.
fn split_sign(x: &[Wire]) -> (&[Wire], Wire) {
    let (sign, magnitude) = x.split_last().expect("a number");
    (magnitude, *sign)
}
