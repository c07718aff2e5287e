//! The gates of functions of fixed point: polynomials on segments of the operands' range, of equal
//! width, or of a number in each binade where a function is not smooth at 0. Few operands have a
//! table of their results: polynomials follow a function between operands and up to the next one
//! beyond the last, where it may have no value.

use super::Fixed as Type;
use super::function::{CurveShape, FixedFunction, Points, saturated};
use crate::curve::Curve;
use crate::heap::{Fixed, Heap};
use crate::known::Known;
use crate::real::Real;
use crate::word::{flip_if, layers, mask, normalise_near};
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

/// Bits of an operand that name a segment, at most.
const MOST_INDEX: usize = 9;

/// Operands at most whose results are a table: about an AND for each.
pub(super) const MOST_ENTRIES: i128 = 64;

impl FixedFunction {
    /// The result for an operand, a signed word in the range of `points`: a word of the type of
    /// results, off by less than a unit.
    ///
    /// # Panics
    /// If [`FixedFunction::results`] refuses the points.
    pub fn build(&self, b: &mut Builder, x: &[Wire], points: &Points) -> Word {
        let span = self.span(points).unwrap_or_else(|refused| {
            panic!("`{}` of operands that are refused: {refused:?}", self.name)
        });
        let [lo, hi] = span.operands;
        let x = clamped(b, x, [points.lo, points.hi], [lo, hi]);
        if hi - lo < MOST_ENTRIES {
            return self.tabled(b, &x, points, [lo, hi]);
        }
        let fraction = points.fraction as i32;
        let digits = points.to.fraction as i32 + 3;
        let turn = Real::pi().shifted(1);
        let long = Real::scaled(hi - lo, i64::from(-fraction)) > turn;
        let (zero, sign) = (Real::of(0), *x.last().expect("a sign"));
        // Magnitudes of operands.
        let most = hi.max(-lo);
        let least = lo.max(-hi).max(0);
        let sum = match self.shape {
            CurveShape::Circular(_) if long => {
                // The error of a part of a turn counts as the value changes with it: 2 pi times.
                let word = turns(b, &x, fraction, digits + 5);
                let curve = self.known(points, || {
                    Curve::new(digits + 1, &Real::of(1), &|w| (self.value)(&(w * &turn)))
                });
                curve.heap(b, &word)
            }
            CurveShape::Rising | CurveShape::Even | CurveShape::Circular(_) => {
                self.uniform(b, &x, (points, digits), [lo, hi])
            }
            CurveShape::Binades { offset, .. } => {
                let offset = i128::from(offset) << fraction;
                let ends = [lo + offset, hi + offset];
                let width = bits(ends[1]);
                let added = b.constant(offset, width);
                let word = b.add(Int::signed(&x), Int::unsigned(&added), width);
                let offset = Real::scaled(offset, i64::from(-fraction));
                let value = |y: &Real| (self.value)(&(y - &offset));
                let core = self.binades(b, &word, (points, digits), ends, &value);
                affine(b, &zero, &core, Wire::ZERO)
            }
            CurveShape::Odd => {
                let size = b.abs(Int::signed(&x), bits(most));
                let ends = [least, most];
                let core = self.binades(b, &size, (points, digits + 1), ends, &self.value);
                affine(b, &zero, &core, sign)
            }
            CurveShape::Arc(rest) => {
                let size = b.abs(Int::signed(&x), bits(most));
                let one = 1i128 << fraction;
                let ends = [one - most, one - least];
                let width = bits(ends[1]);
                let one = b.constant(one, width + 1);
                let distance = b.sub(Int::unsigned(&one), Int::unsigned(&size), width);
                // Beyond a distance of 1, which is a binade's first number, there are none.
                let value = |y: &Real| (&Real::of(1) - y).max(zero.clone()).asin();
                let core = self.binades(b, &distance, (points, digits + 1), ends, &value);
                let quarter = Real::pi().shifted(-1);
                let (base, sign) = if rest {
                    (&quarter, !sign)
                } else {
                    (&zero, sign)
                };
                affine(b, base, &core, sign)
            }
        };
        rounded(b, sum, span.results, points.to)
    }

    /// The nearest result at an operand in a range, from a table.
    fn tabled(&self, b: &mut Builder, x: &[Wire], points: &Points, [lo, hi]: [i128; 2]) -> Word {
        let first = b.constant(lo, x.len());
        let index = b.sub(Int::signed(x), Int::signed(&first), bits(hi - lo));
        let Type { fraction, bits, .. } = points.to;
        let ends = points.to.ends();
        let entries = (lo..=hi).map(|x| {
            let nearest = self.at(x, points.fraction).rounded(fraction as i64);
            b.constant(saturated(nearest).clamp(ends[0], ends[1]), bits)
        });
        let entries: Vec<Word> = entries.collect();
        b.lookup(&index, &entries)
    }

    /// The value at an operand in a range, by segments of equal width.
    fn uniform(
        &self,
        b: &mut Builder,
        x: &[Wire],
        (points, digits): (&Points, i32),
        [lo, hi]: [i128; 2],
    ) -> Heap {
        let width = bits(hi - lo);
        let start = b.constant(lo, x.len());
        let from = b.sub(Int::signed(x), Int::signed(&start), width);
        let unit = -(points.fraction as i64);
        let curve = self.known(points, || {
            let first = Real::scaled(lo, unit);
            let end = Real::scaled(hi - lo + 1, -(width as i64));
            Curve::new(digits, &end, &|w| {
                (self.value)(&(&first + &w.shifted(width as i64 + unit)))
            })
        });
        curve.heap(b, &padded(&from))
    }

    /// The value at a number that is not negative, by segments of its binade.
    fn binades(
        &self,
        b: &mut Builder,
        x: &[Wire],
        (points, digits): (&Points, i32),
        [lo, hi]: [i128; 2],
        value: &dyn Fn(&Real) -> Real,
    ) -> Fixed {
        debug_assert_eq!(x.len(), bits(hi));
        let unit = -(points.fraction as i64);
        // The number of places by which the highest 1 is below the highest bit names the binade.
        let groups = x.len() - bits(lo.max(1)) + 1;
        let (normal, places) = normalise_near(b, x, layers(groups));
        let (&some, fraction) = normal.split_last().expect("a number above 0");
        let curve = self.known(points, || {
            let options = (2..=6).map(|part| (part + places.len(), groups << part));
            Curve::cheapest(digits, options, &|index, segment, t| {
                let part = index - places.len();
                let place = Real::of((segment % (1 << part)) as i64);
                let fraction = (&place + t).shifted(-(part as i64));
                let exponent = (x.len() - 1) as i64 - (segment >> part) as i64 + unit;
                value(&(&Real::of(1) + &fraction).shifted(exponent))
            })
        });
        let address = [padded(fraction), places].concat();
        let found = curve.value(b, &address);
        if lo > 0 {
            return found;
        }
        let zero = value(&Real::of(0)).rounded_i128(-i64::from(found.low));
        // The value at 0 may be larger than all others.
        let width = found.bits.len().max(signed_bits([zero, zero]));
        let zero = b.constant(zero, width);
        let others = Int::signed(&found.bits).resize(width);
        let change = b.zip(&others, &zero, Builder::xor);
        let change = mask(b, some, &change);
        Fixed::new(b.zip(&zero, &change, Builder::xor), found.low)
    }

    /// The curve of a function for some points, which is made once in a process.
    fn known(&self, points: &Points, make: impl FnOnce() -> Curve) -> Arc<Curve> {
        static KNOWN: Known<(&str, Points), Curve> = Known::new();
        KNOWN.get((self.name, *points), make)
    }
}

/// Bits of a number that is not negative.
pub(super) fn bits(x: i128) -> usize {
    (128 - x.leading_zeros()) as usize
}

/// Bits of the signed numbers of a range.
pub(super) fn signed_bits([lo, hi]: [i128; 2]) -> usize {
    [lo, hi]
        .map(|end| bits(end ^ end >> 127) + 1)
        .into_iter()
        .max()
        .unwrap_or(1)
}

/// A fraction with zeros behind it, so that its bits name a segment.
pub(super) fn padded(x: &[Wire]) -> Word {
    let mut word = vec![Wire::ZERO; MOST_INDEX.saturating_sub(x.len())];
    word.extend(x);
    word
}

/// The nearest number from `lo` to `hi` of a signed word in a range, as a signed word.
pub(super) fn clamped(b: &mut Builder, x: &[Wire], range: [i128; 2], [lo, hi]: [i128; 2]) -> Word {
    let width = x.len().max(signed_bits([lo, hi]));
    let mut word = Int::signed(x).resize(width);
    if lo > range[0] {
        let end = b.constant(lo, width);
        word = b.max(Int::signed(&word), Int::signed(&end), width);
    }
    if hi < range[1] {
        let end = b.constant(hi, width);
        word = b.min(Int::signed(&word), Int::signed(&end), width);
    }
    word.truncate(signed_bits([lo, hi]));
    word
}

/// The part of a full turn that an angle has after whole turns, with `digits` bits, off by less
/// than 1.2 units.
fn turns(b: &mut Builder, x: &[Wire], fraction: i32, digits: i32) -> Word {
    let guard = 6;
    let mut heap = Heap::new(-digits - guard);
    let x = Fixed::new(x.to_vec(), -fraction);
    let before = x.bits.len() as i32 - fraction;
    let turn = &Real::of(1) / &Real::pi().shifted(1);
    // Each of at most 60 digits is cut off at a 64th of a unit.
    heap.times(&x, &turn, digits + guard + before.max(0));
    heap.constant(&Real::scaled(1, i64::from(-digits) - 1));
    heap.sum(b, (digits + guard) as usize)[guard as usize..].to_vec()
}

/// A constant, and a number, or less the number where `negative` is 1.
fn affine(b: &mut Builder, constant: &Real, x: &Fixed, negative: Wire) -> Heap {
    let mut heap = Heap::new(x.low);
    heap.constant(constant);
    let flipped = Fixed::new(flip_if(b, negative, &x.bits), x.low);
    heap.signed(&flipped, 0, false);
    heap.bit(negative, x.low, false);
    heap
}

/// The nearest number of a type, or its end, to a sum whose rounded value is in a range.
pub(super) fn rounded(b: &mut Builder, mut sum: Heap, [lo, hi]: [i128; 2], to: Type) -> Word {
    let low = -(to.fraction as i32);
    let width = signed_bits([lo, hi]);
    sum.constant(&Real::scaled(1, i64::from(low) - 1));
    let unit = sum.low();
    let value = sum.fixed(b, (low + width as i32 - unit) as usize);
    let ends = to.ends();
    let kept = [lo.max(ends[0]), hi.min(ends[1])];
    let word = clamped(b, &value.bits(low, low + width as i32), [lo, hi], kept);
    Int::signed(&word).resize(to.bits)
}
