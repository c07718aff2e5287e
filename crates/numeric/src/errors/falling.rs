//! The complement of the error function where it falls far: a power of Euler's number, whose
//! exponent has enough digits behind the point, times a smooth function of little range (Cody,
//! "Rational Chebyshev approximations for the error function", Math. Comp. 23, 1969).

use crate::curve::{Estimate, product};
use crate::elementary::exponential::natural_power;
use crate::elementary::groups::{Grouped, number};
use crate::elementary::reduce::Precision;
use crate::format::{Arithmetic, Parts};
use crate::heap::{Fixed, Heap};
use crate::pack::Special;
use crate::real::Real;
use crate::word::{bit, layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

/// From `2^REACH` on results are below all numbers of f64.
const REACH: i32 = 5;

impl Arithmetic {
    /// One less the error function: the power `e^(-x^2)` times a function that falls slowly, like
    /// `1 / x`; for negative arguments, 2 less the complement of their magnitude.
    pub(super) fn erfc_by_powers(self, b: &mut Builder, x: &[Wire]) -> Word {
        let digits = self.work() as i32 + 1;
        let parts = self.format.split(x);
        let significand = [&parts.fraction[..], &[Wire::ONE]].concat();
        let width = self.exponent_width();
        let field = Int::unsigned(&parts.exponent).resize(width);
        let behind = digits + 2;
        let word = self.aligned(b, &significand, &field, REACH, (REACH + behind) as usize);
        let size = Fixed::unsigned(&word, -behind);
        let power = self.falling_power(b, &size, digits, 2 * REACH);
        let slow = self.slow_tail(b, &parts, &word, digits);
        let tail = product(b, &power.significand, &slow.value, -digits - 3, 2);
        // In (1/2, 5/2): a place further up below 1.
        let high = b.or(tail.bit(0), tail.bit(1));
        let tail = b.select(high, &tail.bits(-digits, 2), &tail.bits(-digits - 1, 1));
        let tail = Fixed::unsigned(&tail, -digits);
        let places: Word = slow.places.iter().map(|&bit| !bit).collect();
        let (power_exponent, places) = (Int::signed(&power.exponent), Int::signed(&places));
        let exponent = b.sum(&[power_exponent, places, bit(&high)], width);

        let beyond = self.at_least(b, &parts, REACH);
        let negative = parts.sign;
        let rest = two_less(b, &tail, &exponent, beyond);
        let bias = self.exponent(b, self.format.bias().into());
        let biased = b.add(Int::signed(&exponent), Int::unsigned(&bias), width);
        let result = Estimate::new(
            b.select(negative, &bias, &biased),
            Fixed::unsigned(&b.select(negative, &rest, &tail.bits(-digits, 2)), -digits),
        );
        let nan = self.classify(b, &parts).nan;
        let special = Special::nan_or_zero(nan, b.and(beyond, !negative));
        self.nearest_or(b, Wire::ZERO, &result, special)
    }

    /// `e^(-x^2)` of a number that is not negative, in parts: exponent and significand in [1, 2).
    fn falling_power(self, b: &mut Builder, x: &Fixed, digits: i32, limit: i32) -> Estimate {
        // Cut off so far behind that all that is lost is less than a digit.
        let guard = layers(x.bits.len()) as i32;
        let mut heap = Heap::new(-digits - 1 - guard);
        heap.square(b, x);
        let square = heap.fixed(b, (limit + digits + 2 + guard) as usize);
        // The complement is off by a unit.
        let kept = square.bits(-digits - 1, limit + 1);
        let opposite = Fixed::new(kept.iter().map(|&bit| !bit).collect(), -digits - 1);
        let precision = Precision::new(8, 5, digits);
        let (quotient, mut heap) = natural_power(b, precision, &opposite, limit);
        heap.signed(&quotient, 0, false);
        let (low, width) = (heap.low(), self.exponent_width());
        let sum = heap.fixed(b, (width as i32 - low) as usize);
        let significand = [sum.bits(low, 0), vec![Wire::ONE]].concat();
        let exponent = sum.bits(0, width as i32);
        Estimate::new(exponent, Fixed::unsigned(&significand, low))
    }

    /// `e^(x^2) erfc(x)` of a magnitude that also comes as a word of fixed point.
    fn slow_tail(self, b: &mut Builder, parts: &Parts, word: &[Wire], digits: i32) -> Slow {
        let behind = word.len() - REACH as usize;
        // A group for numbers below 1, and one for each power of two from there on.
        let large = self.at_least(b, parts, 0);
        let binade = self.binade(b, parts, -1);
        let bits = layers(REACH as usize + 1);
        let group = mask(b, large, &binade[..bits]);
        let own = Int::unsigned(&parts.fraction).shl(behind - parts.fraction.len(), behind);
        let fraction = b.select(large, &own, &word[..behind]);
        let precision = Precision::new(6, 7, digits);
        let name = ("slow tail", self.format, precision);
        let slow = Grouped::new(name, &group, &fraction, &|group, fraction| match group {
            0 if fraction < &Real::ratio(1, 2) => fraction.erfcx(),
            0 => fraction.erfcx().shifted(1),
            // No number is in groups beyond.
            _ if group > REACH as usize => Real::of(1),
            _ => {
                let x = number(group as i64 - 1, fraction);
                x.erfcx().shifted(group as i64)
            }
        });
        let value = slow.value(b);
        // The place of the group, or 1 for numbers from 1/2 to 1.
        let mut places = group;
        let half = b.and(fraction[behind - 1], !large);
        places[0] = b.xor(places[0], half);
        places.push(Wire::ZERO);
        Slow { value, places }
    }
}

/// A function that falls like `1 / x`: `value / 2^places`, with a value in (1/2, 5/4).
struct Slow {
    value: Fixed,
    /// Not negative, as a signed word.
    places: Word,
}

/// 2 less a number in [1, 4) times a power of two that is not above 1, or 2 itself: the bits of
/// the weights that the number has.
fn two_less(b: &mut Builder, x: &Fixed, exponent: &[Wire], none: Wire) -> Word {
    let width = exponent.len();
    let amount = b.neg(Int::signed(exponent), width);
    let bits = x.bits(x.low, 2);
    let moved = b.shr(Int::unsigned(&bits), &amount[..width - 1], bits.len());
    let moved = mask(b, !none, &moved);
    let two = b.constant(2 << -x.low, bits.len());
    b.sub(Int::unsigned(&two), Int::unsigned(&moved), bits.len())
}
