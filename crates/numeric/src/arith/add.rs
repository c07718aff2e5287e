//! Sums and differences.
//!
//! The operand of the larger magnitude goes first; the other is aligned to it by a shift that keeps
//! two bits behind the last and ORs the rest, which is enough for the rounding of a difference that
//! moves up by a bit. A difference that moves further had a shift of at most one and is exact.

use crate::format::Arithmetic;
use crate::pack::{Special, Unrounded};
use crate::word::{
    all_any, bit, complement, flip_if, mask, normalise_sum, normalise_within, shift_layers,
    shift_right_sticky, swap_if,
};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

/// Operands, the larger magnitude first.
struct Sorted {
    /// The sign of the larger one: that of the sum.
    sign: Wire,
    /// 1 if the signs differ.
    differ: Wire,
    large: Weighed,
    small: Weighed,
    /// The layers of the shift that aligns the smaller one.
    layers: Word,
    /// The class of the sum, but for infinity minus infinity.
    special: Special,
}

/// An operand without its sign.
struct Weighed {
    significand: Word,
    /// The exponent with which the significand counts.
    exponent: Word,
    /// The exponent field is not 0.
    normal: Wire,
    /// The exponent field is that of infinity.
    not_finite: Wire,
}

impl Weighed {
    /// Both operands, exchanged where `swap` is 1.
    fn swap_if(&self, b: &mut Builder, swap: Wire, other: &Weighed) -> (Weighed, Weighed) {
        let mut each = |x: &[Wire], y: &[Wire]| swap_if(b, swap, x, y);
        let significand = each(&self.significand, &other.significand);
        let exponent = each(&self.exponent, &other.exponent);
        let flags = each(
            &[self.normal, self.not_finite],
            &[other.normal, other.not_finite],
        );
        let of = |significand, exponent, flags: Word| Weighed {
            significand,
            exponent,
            normal: flags[0],
            not_finite: flags[1],
        };
        (
            of(significand.0, exponent.0, flags.0),
            of(significand.1, exponent.1, flags.1),
        )
    }
}

impl Arithmetic {
    /// x + y.
    pub fn add(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let sorted = self.sort(b, x, y);
        let p = self.precision();
        let aligned = Int::unsigned(&sorted.small.significand).shl(2, p + 2);
        let (aligned, lost) = shift_right_sticky(b, &aligned, &sorted.layers);
        let lost = if self.is_flushed() && b.goal() == Goal::Size {
            b.and(lost, sorted.small.normal)
        } else {
            lost
        };
        // The last bit, 0, becomes the sign.
        let small = [&[lost], &aligned[..], &[Wire::ZERO]].concat();
        let small = flip_if(b, sorted.differ, &small);
        let large = Int::unsigned(&sorted.large.significand).shl(3, p + 3);
        let terms = [
            Int::unsigned(&large),
            Int::signed(&small),
            bit(&sorted.differ),
        ];
        let sum = b.sum(&terms, p + 4);
        if self.is_flushed() && b.goal() == Goal::Size {
            self.sum_flushed(b, &sorted, &sum)
        } else {
            self.sum_within(b, &sorted, &sum)
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
        let change = b.and(less, differ);
        let mut sign = b.xor(sx, change);
        let (large, small, layers) = match b.goal() {
            Goal::Size => {
                let (large, small) = swap_if(b, less, x, y);
                let (large, small) = (self.weigh(b, &large), self.weigh(b, &small));
                let layers = self.alignment(b, &large, &small);
                (large, small, layers)
            }
            Goal::Depth => {
                // Both alignments are there before the order is known.
                let (x, y) = (self.weigh(b, x), self.weigh(b, y));
                let (up, down) = (self.alignment(b, &y, &x), self.alignment(b, &x, &y));
                let layers = b.select(less, &up, &down);
                let (large, small) = x.swap_if(b, less, &y);
                (large, small, layers)
            }
        };
        if self.is_flushed() {
            let zero = b.and(differ, !large.normal);
            sign = b.and(sign, !zero);
        }
        let fraction = b.any(&large.significand[..self.format.fraction]);
        Sorted {
            sign,
            differ,
            layers,
            special: Special {
                zero: Wire::ZERO,
                not_finite: large.not_finite,
                nan: b.and(fraction, large.not_finite),
            },
            large,
            small,
        }
    }

    /// The parts of a magnitude.
    fn weigh(self, b: &mut Builder, magnitude: &[Wire]) -> Weighed {
        let (fraction, field) = magnitude.split_at(self.format.fraction);
        let (not_finite, normal) = all_any(b, field);
        let with = |hidden| [fraction, &[hidden]].concat();
        let (significand, exponent) = match b.goal() {
            Goal::Size if self.is_flushed() => (with(Wire::ONE), field.to_vec()),
            Goal::Depth if self.is_flushed() => (mask(b, normal, &with(Wire::ONE)), field.to_vec()),
            Goal::Size => (with(normal), self.lift(b, normal, field.to_vec())),
            Goal::Depth => {
                // Lest exponents wait for this, those of subnormal numbers stay 0, and not 1, and
                // their fractions move up.
                let moved = [&[Wire::ZERO], fraction].concat();
                (b.select(normal, &with(Wire::ONE), &moved), field.to_vec())
            }
        };
        Weighed {
            significand,
            exponent,
            normal,
            not_finite,
        }
    }

    /// The layers of the shift that aligns the smaller of two numbers, all of it out if it is
    /// flushed.
    fn alignment(self, b: &mut Builder, large: &Weighed, small: &Weighed) -> Word {
        let width = large.exponent.len();
        let [large, below] = [large, small].map(|z| Int::unsigned(&z.exponent));
        let mut apart = b.sub(large, below, width);
        if self.is_flushed() && b.goal() == Goal::Size {
            apart.push(!small.normal);
        }
        shift_layers(b, &apart, self.precision() + 2)
    }

    fn sum_flushed(self, b: &mut Builder, sorted: &Sorted, sum: &[Wire]) -> Word {
        let (significand, amount) = normalise_sum(b, sum, 2);
        let lead = significand[sum.len() - 1];
        // The highest bit of the sum is the one before that of the larger operand: the exponent is
        // more by 1. And -amount is its complement and 1.
        let down = complement(&amount);
        let terms = [Int::unsigned(&sorted.large.exponent), Int::signed(&down)];
        let exponent = b.sum(&terms, self.exponent_width() - 1);
        let opposite = b.and(sorted.special.not_finite, !lead);
        let special = Special {
            zero: !b.and(lead, sorted.large.normal),
            nan: b.or(sorted.special.nan, opposite),
            ..sorted.special
        };
        let mut result = Unrounded::whole(sorted.sign, exponent, significand);
        result.offset = 2;
        self.pack(b, &result, special)
    }

    /// A sum moves up as far as the exponent allows. If that is not all the way it is exact, so a
    /// carry never makes it normal.
    fn sum_within(self, b: &mut Builder, sorted: &Sorted, sum: &[Wire]) -> Word {
        let advanced = normalise_within(b, sum, 2, &sorted.large.exponent);
        let lead = advanced.word[sum.len() - 1];
        // Infinity minus infinity is the one sum of an infinity that is 0, or seems to be.
        let opposite = if self.is_narrow() {
            b.and(sorted.differ, sorted.small.not_finite)
        } else {
            b.and(sorted.special.not_finite, !lead)
        };
        let special = Special {
            zero: if self.is_flushed() {
                !b.and(lead, sorted.large.normal)
            } else {
                Wire::ZERO
            },
            nan: b.or(sorted.special.nan, opposite),
            ..sorted.special
        };
        self.pack_advanced(b, sorted.sign, &advanced, !lead, special)
    }
}

/// Magnitude and sign.
fn split_sign(x: &[Wire]) -> (&[Wire], Wire) {
    let (sign, magnitude) = x.split_last().expect("a number");
    (magnitude, *sign)
}
