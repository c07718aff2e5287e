//! `asinh`, `acosh` and `atanh`.
//!
//! Small operands are done by binades; so are those of `acosh` near 1, by binades of `x - 1`, with
//! the square root of a power of two in place of the power. All others are a multiple of the
//! logarithm of 2 and a term that the binade has a polynomial for: `asinh(2^e (1 + f))` is
//! `(e + 1) log 2` and a term that for large e is `log(1 + f)`; `acosh` likewise; and
//! `2 atanh(1 - 2^-n (1 + g))` is `n log 2 + log(2 - 2^-n (1 + g)) - log(1 + g)`.

use crate::elementary::groups::{Grouped, clip, nan_only, no_exponent, number};
use crate::elementary::logarithm::lead;
use crate::elementary::reduce::{Precision, Short};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::{Fixed, Heap};
use crate::pack::Special;
use crate::real::Real;
use crate::word::{layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

fn precision(format: Format, short: Short) -> Precision {
    Precision::of(format, short, [(3, 5, 28), (4, 10, 58)])
}

/// One of two operands of polynomials: a group and a fraction.
type GroupFraction = (Word, Word);

impl Arithmetic {
    /// The inverse of the hyperbolic sine.
    pub fn asinh(self, b: &mut Builder, x: &[Wire]) -> Word {
        let parts = self.format.split(x);
        let first = self.first_binade();
        let near = !self.at_least(b, &parts, -1);
        let bits = self.group_bits();
        let above = self.binade(b, &parts, -1);
        let far = clip(b, &above, bits);
        let small = self.binade(b, &parts, first);
        let small = clip(b, &small, bits);
        let mut group = b.select(near, &small, &far);
        group.push(near);
        let precision = precision(self.format, [(3, 3, 20), (2, 3, 16)]);
        let form = ("asinh", self.format, precision);
        let half = 1 << bits;
        let function = |group: usize, fraction: &Real| {
            if group < half {
                let exponent = group as i64 - 1;
                let value = asinh(&number(exponent, fraction));
                &value - &(&Real::of(exponent + 1) * &Real::ln2())
            } else {
                let exponent = ((group - half) as i64 + i64::from(first)).min(-2);
                asinh(&number(exponent, fraction)).shifted(-exponent)
            }
        };
        let polynomial = Grouped::new(form, &group, &parts.fraction, &function);
        let times = Fixed::unsigned(&mask(b, !near, &above), 0);
        let value = self.with_logarithm(b, &polynomial, &times, &Real::ln2());
        let exponent = self.exponent_or(b, (near, &parts), &no_exponent());
        let special = Special {
            not_finite: b.all(&parts.exponent),
            ..nan_only(b, &parts)
        };
        let number = self.settle_large(b, &value, -2, &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// The inverse of the hyperbolic cosine.
    pub fn acosh(self, b: &mut Builder, x: &[Wire]) -> Word {
        let parts = self.format.split(x);
        let fraction = self.format.fraction;
        let near = !self.at_least(b, &parts, 1);
        // The binade of x - 1, by the zeros of the fraction.
        let (leading, zeros) = lead(b, &parts.fraction, fraction, fraction);
        let one = !leading[fraction - 1];
        let mut less = vec![Wire::ZERO];
        less.extend_from_slice(&leading[..fraction - 1]);
        let bits = zeros.len().max(self.group_bits());
        let above = self.binade(b, &parts, 1);
        let far = clip(b, &above, bits);
        let small = Int::unsigned(&zeros).resize(bits);
        let (group, rest) = choose(b, near, (small, less), (far, parts.fraction.clone()));
        let precision = precision(self.format, [(2, 4, 18), (2, 3, 12)]);
        let form = ("acosh", self.format, precision);
        let half = 1 << bits;
        let function = |group: usize, fraction: &Real| {
            if group < half {
                let exponent = group as i64 + 1;
                let value = acosh(&(&number(exponent, fraction) - &Real::of(1)));
                &value - &(&Real::of(exponent + 1) * &Real::ln2())
            } else {
                // Zeros beyond the fraction do not occur.
                let exponent = -((group - half).min(64) as i64) - 1;
                acosh(&number(exponent, fraction)).shifted(-exponent.div_euclid(2))
            }
        };
        let polynomial = Grouped::new(form, &group, &rest, &function);
        // x is 2^(e + 1), for the e + 1 that is two more than the binade.
        let mut times = Heap::new(0);
        times.unsigned(&above, 0, false);
        times.constant(&Real::of(2));
        let times = times.sum(b, above.len() + 1);
        let times = Fixed::unsigned(&mask(b, !near, &times), 0);
        let value = self.with_logarithm(b, &polynomial, &times, &Real::ln2());
        let width = self.exponent_width();
        let mut exponent = Heap::new(0);
        exponent.unsigned(&mask(b, near, &zeros[1..]), 0, true);
        exponent.bit(near, 0, true);
        exponent.constant(&Real::of(self.format.bias().into()));
        let exponent = exponent.sum(b, width);
        let special = self.special_acosh(b, &parts, (near, one));
        self.settle_large(b, &value, 0, &exponent, Wire::ZERO, special)
    }

    /// The inverse of the hyperbolic tangent.
    pub fn atanh(self, b: &mut Builder, x: &[Wire]) -> Word {
        let parts = self.format.split(x);
        let fraction = self.format.fraction;
        let first = self.first_binade();
        let near = !self.at_least(b, &parts, -1);
        // 1 - |x|, for numbers from 1/2 on.
        let mut rest = Heap::new(0);
        rest.unsigned(&parts.fraction, 0, true);
        rest.constant(&Real::scaled(1, fraction as i64));
        let rest = rest.sum(b, fraction + 1);
        let (leading, zeros) = lead(b, &rest, fraction + 1, fraction + 1);
        let bits = zeros.len().max(self.group_bits());
        let small = self.binade(b, &parts, first);
        let small = clip(b, &small, bits);
        let far = Int::unsigned(&zeros).resize(bits);
        let rest = leading[..fraction].to_vec();
        let (group, rest) = choose(b, near, (small, parts.fraction.clone()), (far, rest));
        let precision = precision(self.format, [(2, 3, 18), (2, 3, 14)]);
        let form = ("atanh", self.format, precision);
        let half = 1 << bits;
        let function = |group: usize, fraction: &Real| {
            if group < half {
                let rest = number(-1 - group as i64, fraction);
                let one = &Real::of(1) + fraction;
                (&(&Real::of(2) - &rest).ln() - &one.ln()).shifted(-1)
            } else {
                let exponent = ((group - half) as i64 + i64::from(first)).min(-2);
                let x = number(exponent, fraction);
                let quotient = &(&Real::of(1) + &x) / &(&Real::of(1) - &x);
                quotient.ln().shifted(-exponent - 1)
            }
        };
        let polynomial = Grouped::new(form, &group, &rest, &function);
        let mut times = Heap::new(0);
        times.unsigned(&zeros, 0, false);
        times.constant(&Real::of(1));
        let times = times.sum(b, zeros.len() + 1);
        let times = Fixed::unsigned(&mask(b, !near, &times), 0);
        let value = self.with_logarithm(b, &polynomial, &times, &Real::ln2().shifted(-1));
        let exponent = self.exponent_or(b, (near, &parts), &no_exponent());
        let special = self.special_atanh(b, &parts);
        let number = self.settle_large(b, &value, -1, &exponent, parts.sign, special);
        self.tiny_or(b, &parts, -first, &number)
    }

    /// Bits for the binades of small operands, and for those of large ones up to the last one that
    /// differs from others.
    fn group_bits(self) -> usize {
        layers(self.first_binade().unsigned_abs() as usize).max(4)
    }

    /// The value of polynomials and a multiple of a constant.
    fn with_logarithm(
        self,
        b: &mut Builder,
        polynomial: &Grouped,
        times: &Fixed,
        constant: &Real,
    ) -> Fixed {
        let mut heap = polynomial.heap(b);
        heap.times(times, constant, times.bits.len() as i32 - heap.low());
        let width = (self.format.exponent as i32 - heap.low()) as usize;
        heap.fixed(b, width)
    }

    /// [`Arithmetic::settle`] of a value up to the largest logarithm.
    fn settle_large(
        self,
        b: &mut Builder,
        value: &Fixed,
        least: i32,
        exponent: &[Wire],
        sign: Wire,
        special: Special,
    ) -> Word {
        // The logarithm of the largest number is less than the bias.
        let most = self.format.exponent as i32 - 2;
        let bits = value.bits(value.low, most + 1);
        self.settle(b, (&bits, most, least), exponent, sign, special)
    }

    fn special_acosh(self, b: &mut Builder, parts: &Parts, (near, one): (Wire, Wire)) -> Special {
        let special = nan_only(b, parts);
        let below = !self.at_least(b, parts, 0);
        let nan = b.any(&[special.nan, parts.sign, below]);
        let ones = b.all(&parts.exponent);
        Special::new(b.and(near, one), b.or(ones, nan), nan)
    }

    fn special_atanh(self, b: &mut Builder, parts: &Parts) -> Special {
        let one = b.constant(self.format.bias().into(), self.format.exponent);
        let exponent = Int::unsigned(&parts.exponent);
        let one = b.eq(exponent, Int::unsigned(&one));
        let some = b.any(&parts.fraction);
        let pole = b.and(one, !some);
        let outside = self.at_least(b, parts, 0);
        Special::new(Wire::ZERO, outside, b.and(outside, !pole))
    }
}

/// The first place where `condition` is 1, with that as another bit of the group, else the second.
fn choose(
    b: &mut Builder,
    condition: Wire,
    yes: GroupFraction,
    no: GroupFraction,
) -> GroupFraction {
    let mut group = b.select(condition, &yes.0, &no.0);
    group.push(condition);
    (group, b.select(condition, &yes.1, &no.1))
}

fn asinh(x: &Real) -> Real {
    // log(x + root) loses digits of a small x, of which there are more than are needed.
    let root = (&(x * x) + &Real::of(1)).sqrt();
    (x + &root).ln()
}

/// `acosh(1 + t)`.
fn acosh(t: &Real) -> Real {
    let root = (t * &(t + &Real::of(2))).sqrt();
    (&(&Real::of(1) + t) + &root).ln()
}
