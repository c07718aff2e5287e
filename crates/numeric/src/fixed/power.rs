//! Powers of fixed point: `x` to the power of `y` as the power of 2 of `y log2(x)`.
//!
//! The logarithm is the number of `x`'s highest bit and a polynomial of the bits behind it. The
//! product has as many digits that a unit of the largest result is known, and its whole part shifts
//! a polynomial of its fraction. Together, errors before the last rounding are below a quarter of a
//! unit, so that results are off by less than a unit in the last place.
//!
//! As in C (F.9.4.4), any base to the power of 0 is 1, also 0. Bases are not negative: a power of
//! such a number with an exponent that is not whole has no value.

use super::Fixed as Type;
use super::body::{bits, clamped, padded, rounded, signed_bits};
use super::function::{HUGE, Refused, saturated};
use crate::curve::{Curve, product};
use crate::elementary::reduce::shift_down;
use crate::heap::{Fixed, Heap};
use crate::real::Real;
use crate::word::{layers, mask, normalise_near};
use sealane_circuit::{Builder, Int, Wire, Word};

/// Stored numbers in a range: values times a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stored {
    /// The least one.
    pub lo: i128,
    /// The largest one.
    pub hi: i128,
    /// Bits behind the point.
    pub fraction: usize,
}

/// Operands and results of a power of fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Powers {
    /// The numbers that are raised.
    pub base: Stored,
    /// The numbers to the power of which they are raised.
    pub exponent: Stored,
    /// The type of results.
    pub to: Type,
    /// Bases outside of the domain count as the nearest one in it, and results stop at the end of
    /// their type.
    pub saturate: bool,
}

/// The bases that powers take, in words.
const DOMAIN: &str = "bases above 0, and 0 with exponents from 0 on";

/// Most digits behind the point of a logarithm: with those of a product before the point, sums have
/// less than 127.
const MOST_DIGITS: i32 = 96;

/// Ranges and digits that the gates are made for.
struct Plan {
    /// Bases that are told apart.
    bases: [i128; 2],
    /// Bits of the largest result that does not stop at an end.
    top: i32,
    /// Digits of the product of exponent and logarithm.
    digits: i32,
    /// Digits of the logarithm.
    of_logarithm: i32,
    /// The range of results, before they stop at the end of a type.
    results: [i128; 2],
}

impl Powers {
    /// The range of the stored results.
    ///
    /// # Errors
    /// If a result may be outside of its type and is not to stop at its end, if a base may be
    /// outside of the domain, and if results take too many bits.
    pub fn results(&self) -> Result<(i128, i128), Refused> {
        let [lo, hi] = self.plan()?.results;
        let [least, most] = self.to.ends();
        Ok((lo.clamp(least, most), hi.clamp(least, most)))
    }

    fn plan(&self) -> Result<Plan, Refused> {
        let Powers { base, exponent, .. } = self;
        let least = i128::from(exponent.lo < 0);
        let bases = [base.lo.max(least), base.hi];
        let whole = bases == [base.lo, base.hi];
        if bases[0] > bases[1] || !whole && !self.saturate {
            return Err(Refused::Domain(DOMAIN));
        }
        // A power is monotonous in each of its operands.
        let exponents = [exponent.lo, exponent.hi];
        let corners = bases.map(|x| exponents.map(|y| self.stored(x, y)));
        let corners = corners.as_flattened();
        let lo = corners.iter().map(|ends| ends[0]).min().unwrap_or(0);
        let hi = corners.iter().map(|ends| ends[1]).max().unwrap_or(0);
        let most = self.to.ends()[1];
        if hi > most && !self.saturate {
            return Err(Refused::Range(lo, hi));
        }
        let top = bits(hi.min(most)).max(1) as i32;
        let before = bits(exponent.hi.max(-exponent.lo)) as i32 - exponent.fraction as i32;
        let digits = top + 4;
        let of_logarithm = (digits + 1 + before).max(4);
        if of_logarithm > MOST_DIGITS {
            return Err(Refused::Bits);
        }
        Ok(Plan {
            bases,
            top,
            digits,
            of_logarithm,
            results: [lo, hi],
        })
    }

    /// The stored numbers next to a power of stored numbers, or that number.
    fn stored(&self, x: i128, y: i128) -> [i128; 2] {
        let value = self.value(x, y).shifted(self.to.fraction as i64);
        // Results so near to a whole number are rounded to that; most are whole, but for the error
        // of their many digits.
        let nearest = value.rounded(0);
        let off = (&value - &Real::scaled(nearest.clone(), 0)).abs();
        let ends = if off < Real::scaled(1, -8) {
            [nearest.clone(), nearest]
        } else {
            [value.floor(), -(-&value).floor()]
        };
        ends.map(saturated)
    }

    /// A power of stored numbers; those beyond all types are not computed.
    fn value(&self, x: i128, y: i128) -> Real {
        match (x, y) {
            (_, 0) => return Real::of(1),
            (0, _) => return Real::of(0),
            _ => {}
        }
        let logarithm = Real::scaled(x, -(self.base.fraction as i64)).ln();
        let product = &logarithm * &Real::scaled(y, -(self.exponent.fraction as i64));
        let most = &Real::of(HUGE) * &Real::ln2();
        if product > most {
            return Real::scaled(1, HUGE);
        }
        if product < -&most {
            Real::of(0)
        } else {
            product.exp()
        }
    }

    /// The power of two operands, signed words in their ranges: a word of the type of results, off
    /// by less than a unit.
    ///
    /// # Panics
    /// If [`Powers::results`] refuses them.
    pub fn build(&self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let plan = self.plan();
        let plan = plan.unwrap_or_else(|refused| panic!("powers that are refused: {refused:?}"));
        let exponents = [self.exponent.lo, self.exponent.hi];
        let y = clamped(b, y, exponents, exponents);
        let x = clamped(b, x, [self.base.lo, self.base.hi], plan.bases);
        let (logarithm, some) = self.logarithm(b, &x[..bits(plan.bases[1])], &plan);
        let y = Fixed::new(y, -(self.exponent.fraction as i32));
        // Units of half of which the error of the digits that are cut off is less.
        let guard = 6;
        let end = |x: &Fixed| x.low + x.bits.len() as i32;
        let end = (end(&y) + end(&logarithm)).max(2);
        let low = (-plan.digits - guard).max(y.low + logarithm.low - 1);
        let product = product(b, &y, &logarithm, low, end);
        let (mut power, beyond) = self.power(b, &product, &plan);
        if self.saturate {
            let end = b.constant(self.to.ends()[1], self.to.bits);
            power = b.select(beyond, &end, &power);
        }
        self.at_zero(b, (&power, some, &y.bits), &plan)
    }

    /// The logarithm to base 2 of a number without sign; and 1 if it is not 0, in place of which it
    /// may be anything.
    fn logarithm(&self, b: &mut Builder, x: &[Wire], plan: &Plan) -> (Fixed, Wire) {
        if x.is_empty() {
            // The only base is 0.
            let bits = vec![Wire::ZERO; 2];
            return (Fixed::new(bits, 0), Wire::ZERO);
        }
        // The number of places by which the highest 1 is below the highest bit.
        let groups = x.len() - bits(plan.bases[0].max(1)) + 1;
        let (normal, places) = normalise_near(b, x, layers(groups));
        let (&some, fraction) = normal.split_last().expect("a bit");
        let curve = Curve::known("logarithm of fixed point", plan.of_logarithm, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                &(&Real::of(1) + w).ln() / &Real::ln2()
            })
        });
        let mut heap = curve.heap(b, &padded(fraction));
        let highest = x.len() as i64 - 1 - self.base.fraction as i64;
        heap.constant(&Real::of(highest));
        heap.unsigned(&places, 0, true);
        let least = highest - x.len() as i64;
        let before = signed_bits([least.into(), i128::from(highest) + 1]) as i32;
        let width = (before - heap.low()) as usize;
        (heap.fixed(b, width), some)
    }

    /// The power of 2 of a number, as a word of the type of results; and 1 if that is more than it
    /// holds, in place of which it may be anything.
    fn power(&self, b: &mut Builder, x: &Fixed, plan: &Plan) -> (Word, Wire) {
        let behind = plan.digits + 1;
        let curve = Curve::known("power of fixed point", plan.top + 4, |digits| {
            Curve::new(digits, &Real::of(1), &|w| (w * &Real::ln2()).exp())
        });
        let significand = curve.value(b, &padded(&x.bits(-behind, 0)));
        let significand = Fixed::new(significand.bits(significand.low, 2), significand.low);
        // A result is below this power of 2, or beyond.
        let most = plan.top - self.to.fraction as i32;
        let end = x.low + x.bits.len() as i32;
        let whole = x.bits(0, end.max(1));
        let width = whole.len().max(signed_bits([0, most.into()]).max(8)) + 1;
        let most_word = b.constant(most.into(), width);
        let amount = b.sub(Int::signed(&most_word), Int::signed(&whole), width);
        let (&beyond, amount) = amount.split_last().expect("a sign");
        let cut = -(self.to.fraction as i32) - 4;
        let moved = Fixed::new(significand.bits, significand.low + most);
        let moved = shift_down(b, moved, amount, cut);
        let mut heap = Heap::new(cut);
        heap.signed(&moved, 0, false);
        let largest = if self.saturate {
            1 << (plan.top + 2)
        } else {
            plan.results[1]
        };
        (rounded(b, heap, [0, largest], self.to), beyond)
    }

    /// The power where the base is not 0, and else 1 for the exponent 0, and 0 for others.
    fn at_zero(
        &self,
        b: &mut Builder,
        (power, some, y): (&[Wire], Wire, &[Wire]),
        plan: &Plan,
    ) -> Word {
        if plan.bases[0] > 0 {
            return power.to_vec();
        }
        let kept = mask(b, some, power);
        let one = (1 << self.to.fraction).min(self.to.ends()[1]);
        let one = b.constant(one, self.to.bits);
        let other = b.any(y);
        let first = !b.or(some, other);
        let one = mask(b, first, &one);
        b.zip(&kept, &one, Builder::xor)
    }
}
