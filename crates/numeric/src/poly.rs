//! Piecewise polynomials: the engine of elementary functions.
//!
//! The operand is an *index*, which names a segment, and a *rest*, the position `t` in it, a
//! fraction in [0, 1). A one-hot index takes 2^k - k - 1 ANDs for k bits, and then the coefficients
//! of all segments are free XORs. On each segment the function is a polynomial in `t - 1/2`, which
//! is the rest as a signed number, with its highest bit inverted. So a segment may be anything: the
//! part of an interval, or of a binade, or of a binade of either sign.
//!
//! ```text
//! let fit = Piecewise::fit(128, 2, &|segment, t| f(segment, t)); // once
//! let value = fit.value(&mut b, &index, &rest, 27); // |value - f| < 2^-27
//! let heap = fit.heap(&mut b, &index, &rest, 27); // the same, not yet added up
//! ```
//!
//! Polynomials are near the best ones: interpolation at Chebyshev's nodes, of one degree more, less
//! the Chebyshev polynomial of that degree; its coefficient, and a quarter for those further on, is
//! the stated error of the fit. Coefficients are rounded, and products cut off, as an explicit
//! budget allows: each step of Horner's scheme has a unit of its own, and starting from fine units
//! the planner makes one of them twice as coarse as long as the sum of all errors allows, always
//! where that saves most ANDs for the error it adds. All bounds of errors but that of the fit hold
//! for every operand.

use crate::chebyshev::{Chebyshev, dot};
use crate::heap::{Fixed, Heap, product_bits, truncation};
use crate::known::Known;
use crate::real::Real;
use sealane_circuit::{Builder, Wire, Word};
use std::sync::Arc;

/// The name of a function and whatever else its polynomials depend on.
pub(crate) type Key = (&'static str, [usize; 4]);

/// A polynomial for each segment.
#[derive(Clone, Debug)]
pub(crate) struct Piecewise {
    /// For each segment, the coefficients of powers of `t - 1/2`, that of 1 first.
    segments: Vec<Vec<Real>>,
    /// The error of the fit.
    error: Real,
    /// For each power, the values of its step in Horner's scheme.
    ranges: Vec<Range>,
}

/// The values of a step, `s = c + (t - 1/2) s'`, in all segments.
#[derive(Clone, Debug)]
struct Range {
    /// 0, or a power of two near all values.
    centre: Real,
    /// A bound of their distance from it.
    radius: Real,
}

/// How a step is computed.
#[derive(Clone, Debug)]
struct Step {
    /// The exponent of the unit.
    low: i32,
    /// Bits of `s - centre`, signed.
    width: usize,
}

impl Piecewise {
    /// A bound of the difference between the function and its polynomials.
    pub fn error(&self) -> &Real {
        &self.error
    }

    /// Fits polynomials of `degree` to `function(segment, t)`, for t in [0, 1).
    pub fn fit(
        segments: usize,
        degree: usize,
        function: &dyn Fn(usize, &Real) -> Real,
    ) -> Piecewise {
        let Chebyshev { nodes, rows } = Chebyshev::new(degree + 2);
        let mut error = Real::of(0);
        let segments: Vec<Vec<Real>> = (0..segments)
            .map(|segment| {
                let values: Vec<Real> = nodes.iter().map(|t| function(segment, t)).collect();
                let mut found = rows.iter().map(|row| dot(row, &values));
                let dropped = found.next().expect("the coefficient that is dropped").abs();
                error = error.clone().max(dropped);
                found.collect()
            })
            .collect();
        let error = &error + &error.shifted(-2);
        let ranges = (0..=degree).map(|power| Range::of(&segments, power));
        let ranges = ranges.collect();
        Piecewise {
            segments,
            error,
            ranges,
        }
    }

    /// The polynomials of a key, which are computed once in a process.
    pub fn known(key: Key, fit: impl FnOnce() -> Piecewise) -> Arc<Piecewise> {
        static KNOWN: Known<Key, Piecewise> = Known::new();
        KNOWN.get(key, fit)
    }

    /// The value, off by less than `2^-digits`, with as many bits as it needs.
    ///
    /// # Panics
    /// If the fit is not that good.
    pub fn value(&self, b: &mut Builder, index: &[Wire], rest: &[Wire], digits: i32) -> Fixed {
        let heap = self.heap(b, index, rest, digits);
        let largest = &self.ranges[0].centre.abs() + &self.ranges[0].radius;
        let width = signed_bits(&largest, heap.low());
        heap.fixed(b, width)
    }

    /// The value, off by less than `2^-digits`, as a sum to which more may be added.
    ///
    /// # Panics
    /// If the fit is not that good.
    pub fn heap(&self, b: &mut Builder, index: &[Wire], rest: &[Wire], digits: i32) -> Heap {
        let one_hot = b.demux(index);
        let whole = self.segments.len() <= one_hot.len();
        assert!(whole, "an index for all segments");
        if rest.is_empty() {
            return self.first_values(b, &one_hot, digits);
        }
        let steps = self.plan(rest.len(), &Real::scaled(1, i64::from(-digits)));
        let position = centred(rest);
        let mut heap = Heap::new(0);
        for (power, step) in steps.iter().enumerate().rev() {
            let above = std::mem::replace(&mut heap, Heap::new(step.low));
            let mut bias = Real::of(0);
            if let Some(from) = steps.get(power + 1) {
                let s = above.fixed(b, from.width);
                heap.product(b, &position, &s);
                for (exponent, negative) in self.ranges[power + 1].digits() {
                    heap.signed(&position, exponent, negative);
                }
                bias = self.cut(power, &steps, rest.len()).0;
            }
            let centre = match power {
                0 => bias,
                _ => &self.ranges[power].centre + &bias,
            };
            let entry = |segment: &Vec<Real>| {
                (&segment[power] - &centre).rounded_i128(-i64::from(step.low))
            };
            let table: Vec<i128> = self.segments.iter().map(entry).collect();
            let entry = Fixed::new(entries(b, &one_hot, &table), step.low);
            heap.signed(&entry, 0, false);
        }
        heap
    }

    /// The values at the beginning of segments, from a table.
    fn first_values(&self, b: &mut Builder, one_hot: &[Wire], digits: i32) -> Heap {
        let low = -digits;
        let first = |segment: &Vec<Real>| {
            let values = segment.iter().rev();
            let value = values.fold(Real::of(0), |sum, c| c - &sum.shifted(-1));
            value.rounded_i128(digits.into())
        };
        let table: Vec<i128> = self.segments.iter().map(first).collect();
        let bits = entries(b, one_hot, &table);
        let mut heap = Heap::new(low);
        heap.signed(&Fixed { bits, low }, 0, false);
        heap
    }

    /// The units of all steps, that of the constant coefficient first, for a rest of so many bits.
    fn plan(&self, rest: usize, error: &Real) -> Vec<Step> {
        let left = error - &self.error;
        assert!(!left.is_negative(), "a fit as good as is asked for");
        let fine = left.exponent().unwrap_or(0) as i32 - 12;
        let mut lows: Vec<i32> = (fine..).take(self.ranges.len()).collect();
        let price = |lows: &[i32]| self.price(&self.steps(lows), rest);
        let (mut ands, mut off) = price(&lows).expect("a plan in fine units");
        loop {
            let coarser = |power: usize| {
                let mut lows = lows.clone();
                lows[power] += 1;
                let (fewer, more) = price(&lows)?;
                // ANDs saved for the error added, which is told in fine units.
                let added = (&more - &off).rounded_i128(-i64::from(fine) + 10).max(1);
                let gain = (ands.saturating_sub(fewer) as i128) << 64;
                (more <= left && fewer < ands).then_some((gain / added, lows, fewer, more))
            };
            let options = (0..lows.len()).filter_map(coarser);
            match options.max_by_key(|(gain, ..)| *gain) {
                Some((_, coarser, fewer, more)) => (lows, ands, off) = (coarser, fewer, more),
                None => return self.steps(&lows),
            }
        }
    }

    fn steps(&self, lows: &[i32]) -> Vec<Step> {
        let step = |(range, &low): (&Range, &i32)| Step {
            low,
            width: signed_bits(&range.radius, low),
        };
        self.ranges.iter().zip(lows).map(step).collect()
    }

    /// About the ANDs of steps, and a bound of the error of their value; `None` if a product would
    /// be less than a unit or a step would not fit its bits.
    fn price(&self, steps: &[Step], rest: usize) -> Option<(usize, Real)> {
        let mut off = Real::of(0);
        let mut ands = 0;
        for (power, step) in steps.iter().enumerate().rev() {
            let unit = |halves: i64| Real::scaled(halves, i64::from(step.low) - 1);
            off = &off.shifted(-1) + &unit(1);
            ands += step.width;
            if let Some(from) = steps.get(power + 1) {
                let first = step.low - from.low + rest as i32;
                if rest as i32 + from.width as i32 - 2 < first {
                    return None;
                }
                off = &off + &self.cut(power, steps, rest).1;
                ands += product_bits(rest, from.width, first);
            }
            let limit = Real::scaled(1, i64::from(step.low) + step.width as i64 - 1);
            if power > 0 && &self.ranges[power].radius + &off > limit {
                return None;
            }
        }
        Some((ands, off))
    }

    /// The mean and the greatest distance from it of the error that cutting off makes in a step.
    fn cut(&self, power: usize, steps: &[Step], rest: usize) -> (Real, Real) {
        let (step, from) = (&steps[power], &steps[power + 1]);
        let low = -(rest as i32);
        let above = truncation(rest, from.width, step.low - from.low - low) as i64;
        let centre = self.ranges[power + 1].digits();
        let cut = centre.filter(|(exponent, _)| exponent + low < step.low);
        // A power that is subtracted makes the sum too large.
        let (mut below, mut above) = (0, above);
        for (_, negative) in cut {
            above += i64::from(negative);
            below -= i64::from(!negative);
        }
        let half = |units: i64| Real::scaled(units, i64::from(step.low) - 1);
        (half(above + below), half(above - below))
    }
}

impl Range {
    /// The values of the step for a power.
    fn of(segments: &[Vec<Real>], power: usize) -> Range {
        let radius = |centre: &Real| {
            let sizes = segments.iter().map(|segment| {
                let constant = (&segment[power] - centre).abs();
                let rest = segment[power + 1..].iter().rev();
                let rest = rest.fold(Real::of(0), |sum, c| (&sum + &c.abs()).shifted(-1));
                &constant + &rest
            });
            sizes.max().unwrap_or(Real::of(0))
        };
        let plain = radius(&Real::of(0));
        let top = plain.exponent().unwrap_or(0);
        let none = Range {
            centre: Real::of(0),
            radius: plain,
        };
        let powers = (top - 3..=top + 1).flat_map(|e| [1, -1].map(|sign| Real::scaled(sign, e)));
        let with = powers.map(|centre| Range {
            radius: radius(&centre),
            centre,
        });
        // A centre is a row of its own, so it has to save two bits.
        let size = |range: &Range| range.radius.exponent();
        match with.min_by(|a, b| a.radius.cmp(&b.radius)) {
            Some(range) if size(&range) <= size(&none).map(|e| e - 2) => range,
            _ => none,
        }
    }

    /// The centre as a power of two: its exponent, and true if it is negative.
    fn digits(&self) -> impl Iterator<Item = (i32, bool)> {
        let exponent = self.centre.exponent().map(|e| e as i32);
        let negative = self.centre.is_negative();
        let power = move |exponent| (exponent, negative);
        exponent.map(power).into_iter()
    }
}

/// The position in a segment, less a half: the rest as a signed fraction.
pub(crate) fn centred(rest: &[Wire]) -> Fixed {
    let mut bits = rest.to_vec();
    bits.last_mut().into_iter().for_each(|top| *top = !*top);
    let low = -(rest.len() as i32);
    Fixed { bits, low }
}

/// The entry of a table of signed numbers at a one-hot index, in as few bits as all of them need.
/// An index beyond the table may give anything. No ANDs.
pub(crate) fn entries(b: &mut Builder, one_hot: &[Wire], table: &[i128]) -> Word {
    let bits = |&entry: &i128| 129 - (entry ^ entry >> 127).leading_zeros();
    let width = table.iter().map(bits).max().unwrap_or(0);
    let bit = |b: &mut Builder, i: u32| {
        let ones = table.iter().map(|entry| entry >> i.min(127) & 1 == 1);
        let ones: Vec<bool> = ones.collect();
        // The rarer value is added up.
        let rare = 2 * ones.iter().filter(|one| **one).count() <= table.len();
        let picked = one_hot.iter().zip(&ones).filter(|(_, one)| **one == rare);
        let picked: Word = picked.map(|(wire, _)| *wire).collect();
        let found = b.parity(&picked);
        if rare { found } else { !found }
    };
    (0..width).map(|i| bit(b, i)).collect()
}

/// Bits of a signed number of units of `2^low`, with room for 1/64 and a few units more than
/// `largest`.
fn signed_bits(largest: &Real, low: i32) -> usize {
    let room = &(largest + &largest.shifted(-6)) + &Real::scaled(1, i64::from(low));
    let top = room.exponent().map_or(low, |e| e as i32 + 1);
    (top - low + 1).max(2) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::{Goal, Machine, compile};

    /// The worst error of a fit of `function` on [0, 1), over all operands of `bits` bits of which
    /// `index` name the segment; and the ANDs.
    fn worst(
        (index, degree, bits, digits): (usize, usize, usize, i32),
        goal: Goal,
        function: &dyn Fn(&Real) -> Real,
    ) -> (Real, usize) {
        let segments = 1 << index;
        let width = Real::scaled(1, -(index as i64));
        let fit = Piecewise::fit(segments, degree, &|segment, t| {
            function(&(&(&Real::of(segment as i64) + t) * &width))
        });
        let mut b = Builder::for_goal(goal);
        let x = b.input(bits);
        let (rest, top) = x.split_at(bits - index);
        let Fixed { bits: value, low } = fit.value(&mut b, top, rest, digits);
        let count = value.len();
        let circuit = b.finish(vec![value]);
        let tape = compile(&circuit, &Machine::CPU);
        let mut worst = Real::of(0);
        for first in (0..1u64 << bits).step_by(512) {
            let lanes: Vec<_> = (0..bits)
                .map(|bit| {
                    let lane = |i: u64| (first + i) >> bit & 1;
                    std::array::from_fn(|w| {
                        (0..64).fold(0, |word, i| word | lane(64 * w as u64 + i) << i)
                    })
                })
                .collect();
            let out = tape.eval(&lanes);
            // A few of the lanes, as the exact values take long.
            for i in [0, 1, 77, 254, 255, 256, 301, 510, 511u64] {
                let bit = |k: usize| i128::from(out[k][i as usize / 64] >> (i % 64) & 1);
                let sum = (0..count).fold(0, |sum, k| sum | bit(k) << k);
                let found = sum << (128 - count) >> (128 - count);
                let exact = function(&Real::scaled((first + i) as i64, -(bits as i64)));
                let off = (&Real::scaled(found, i64::from(low)) - &exact).abs();
                worst = worst.max(off);
            }
        }
        (worst, circuit.info().ands as usize)
    }

    #[test]
    fn values_are_as_good_as_is_asked_for() {
        let exp = |x: &Real| x.exp();
        let negative = |x: &Real| -&(&Real::of(1) + x).ln();
        for goal in [Goal::Size, Goal::Depth] {
            for shape in [
                (3, 2, 12, 12),
                (4, 3, 14, 20),
                (2, 1, 10, 5),
                (6, 1, 12, 13),
            ] {
                for function in [&exp as &dyn Fn(&Real) -> Real, &negative] {
                    let (worst, ands) = worst(shape, goal, function);
                    let bound = Real::scaled(1, i64::from(-shape.3));
                    let id = format!("{shape:?}, {goal:?}: {:?}, {ands} ANDs", worst.exponent());
                    assert!(worst <= bound, "{id}");
                    // The budget is used: fine units would take more gates than needed.
                    assert!(worst.shifted(3) >= bound, "{id}");
                }
            }
        }
    }

    #[test]
    fn polynomials_are_their_own_fit() {
        let cubic = |_: usize, t: &Real| &(&(t * t) * t) - &Real::of(2);
        let fit = Piecewise::fit(1, 3, &cubic);
        assert!(fit.error < Real::scaled(1, -300));
        let found = &fit.segments[0];
        // (r + 1/2)^3 - 2.
        for (found, (over, under)) in found.iter().zip([(-15, 8), (3, 4), (3, 2), (1, 1)]) {
            assert!((found - &Real::ratio(over, under)).abs() < Real::scaled(1, -300));
        }
    }
}
