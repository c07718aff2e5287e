//! Sine, cosine and tangent.
//!
//! Arguments of all sizes are reduced exactly (Payne and Hanek, "Radian reduction for trigonometric
//! functions", SIGNUM Newsletter 18, 1983): a number is its significand times a power of two, and
//! the bits of 2/pi that matter for that power are a table entry. Their product modulo 4 is the
//! quadrant and the position in it. The significand is read in digits 1 and -1, so that a row of
//! the product is the entry or its complement and costs its addition alone.
//!
//! A position `r` in [0, 1) has so many bits that even the argument nearest to a multiple of pi/2
//! leaves enough of them. `sin(pi/2 r)` is `r`, normalised, times `sin(pi/2 r) / r`, a smooth
//! function of a fixed-point number. Arguments so small that the result is nearest to them are
//! handed on.

use crate::curve::{Curve, Estimate, product, select};
use crate::format::{Arithmetic, Format, Parts};
use crate::heap::Fixed;
use crate::pack::Special;
use crate::real::Real;
use crate::real::special::two_over_pi;
use crate::word::{bit, flip_if, layers, normalise_near};
use num_bigint::BigInt;
use sealane_circuit::{Builder, Int, Wire, Word};
use std::sync::Arc;

/// Bits of a position beyond those that the argument nearest to a multiple of pi/2 needs.
const ROWS_GUARD: usize = 2;

/// A function of the position in a quadrant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Circular {
    Sine,
    Cosine,
    Tangent,
}

/// An argument modulo a full turn.
struct Turn {
    /// The number of quarter turns, modulo 4.
    quadrant: [Wire; 2],
    /// The rest in quarter turns, bits behind the point; it counts with another half of its last
    /// bit, so its complement is the rest to the next quarter.
    position: Word,
}

/// Such that no number of the format is nearer than `2^-closest` to a multiple of pi/2, in units of
/// pi/2, but those near 0. By continued fractions.
pub(crate) fn closest(format: Format) -> usize {
    match format {
        Format::F16 => 17,
        Format::BF16 => 14,
        Format::F32 => 30,
        Format::F64 => 62,
        _ => format.fraction + format.exponent + 4,
    }
}

impl Arithmetic {
    /// The sine.
    pub fn sin(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.sin_with(b, x, self.work_for([25, 25]))
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn sin_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        self.circular(b, x, Circular::Sine, work)
    }

    /// The cosine.
    pub fn cos(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.cos_with(b, x, self.work_for([29, 22]))
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn cos_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        self.circular(b, x, Circular::Cosine, work)
    }

    /// The tangent.
    pub fn tan(self, b: &mut Builder, x: &[Wire]) -> Word {
        self.tan_with(b, x, self.work_for([28, 24]))
    }

    /// The same by intermediate results of `work` bits.
    pub(crate) fn tan_with(self, b: &mut Builder, x: &[Wire], work: usize) -> Word {
        self.circular(b, x, Circular::Tangent, work)
    }

    /// The exponent of the least arguments that are reduced; smaller ones are their own sine.
    pub(crate) fn least(self) -> i32 {
        -((self.precision() as i32 + 2) / 2)
    }

    /// A function by intermediate results of `work` bits.
    fn circular(self, b: &mut Builder, x: &[Wire], function: Circular, work: usize) -> Word {
        let parts = self.format.split(x);
        let turn = self.reduce(b, &parts, work);
        let [odd, half] = turn.quadrant;
        // The cosine is the sine of a quarter turn more, and the tangent turns to one over it.
        let (falls, sign) = match function {
            Circular::Sine => (odd, b.xor(half, parts.sign)),
            Circular::Cosine => (!odd, b.xor(half, odd)),
            Circular::Tangent => (odd, b.xor(odd, parts.sign)),
        };
        let position = flip_if(b, falls, &turn.position);
        let estimate = match function {
            Circular::Tangent => self.tangent(b, &position, work),
            _ => self.sine(b, &position, work),
        };
        let magnitude = self.nearest_of_near(b, &estimate);
        let nan = b.all(&parts.exponent);
        if function == Circular::Cosine {
            return self.signed_or_nan(b, &magnitude, sign, nan);
        }
        let reduced = self.at_least(b, &parts, self.least());
        let small = self.read_magnitude(b, &parts);
        let magnitude = b.select(reduced, &magnitude, &small);
        let sign = b.mux(reduced, sign, parts.sign);
        self.signed_or_nan(b, &magnitude, sign, nan)
    }

    /// The magnitude of a result. In formats of few exponents it may be subnormal near a multiple
    /// of pi/2.
    fn nearest_of_near(self, b: &mut Builder, estimate: &Estimate) -> Word {
        if (closest(self.format) as i32) < self.format.bias() - 1 {
            return self.nearest(b, estimate);
        }
        let ordinary = Special::new(Wire::ZERO, Wire::ZERO, Wire::ZERO);
        let mut number = self.nearest_or(b, Wire::ZERO, estimate, ordinary);
        number.pop();
        number
    }

    /// The tangent of a position in a quarter turn. Beyond the middle it is one over that of the
    /// rest, and both factors are inverted: the curve by its table, the position by another curve.
    fn tangent(self, b: &mut Builder, position: &[Wire], work: usize) -> Estimate {
        let (&beyond, _) = position.split_last().expect("a position");
        let mut position = flip_if(b, beyond, position);
        let half = Real::ratio(1, 2);
        let curve = Curve::known("tan", work as i32, |digits| {
            Curve::new(digits, &Real::of(1), &|w| {
                if w < &half {
                    &tangent_of(w) / w
                } else {
                    let r = w - &half;
                    (&r / &tangent_of(&r)).shifted(1)
                }
            })
        });
        let (normal, places) = normalise_near(b, &position, self.places());
        let normal = &normal[normal.len() - work..];
        let inverse = twice_inverse(work as i32);
        let inverse = inverse.value(b, &normal[..normal.len() - 1]);
        let plain = Fixed::unsigned(normal, -(work as i32 - 1));
        let low = -(work as i32);
        let bits = b.select(beyond, &inverse.bits(low, 2), &plain.bits(low, 2));
        let factor = Fixed::unsigned(&bits, low);
        *position.last_mut().expect("a position") = beyond;
        let slope = curve.value(b, &position[position.len() - (work + 2)..]);
        let significand = product(b, &factor, &slope, -(work as i32), 3);
        let width = self.exponent_width();
        let bias = b.constant(i128::from(self.format.bias()) - 1, width);
        let places = flip_if(b, !beyond, &Int::unsigned(&places).resize(width));
        let up = !beyond;
        let terms = [Int::unsigned(&bias), Int::unsigned(&places), bit(&up)];
        Estimate::new(b.sum(&terms, width), significand)
    }

    /// The sine of a position in a quarter turn.
    fn sine(self, b: &mut Builder, position: &[Wire], work: usize) -> Estimate {
        let curve = Curve::known("sin", work as i32 - 2, |digits| {
            Curve::new(digits, &Real::of(1), &|r| &sine_of(r) / r)
        });
        let top = &position[position.len() - (work + 2)..];
        let factor = curve.value(b, top);
        let (normal, places) = normalise_near(b, position, self.places());
        let normal = &normal[normal.len() - work..];
        let normal = Fixed::unsigned(normal, -(work as i32 - 1));
        let significand = product(b, &normal, &factor, -(work as i32), 2);
        // Below 1 by a place and those that were zeros.
        let width = self.exponent_width();
        let bias = b.constant(i128::from(self.format.bias()) - 1, width);
        let (bias, places) = (Int::unsigned(&bias), Int::unsigned(&places));
        Estimate::new(b.sub(bias, places, width), significand)
    }

    /// The layers of a shift by as many zeros as a position has on top; those of numbers near 0
    /// have more, but are not used.
    fn places(self) -> usize {
        layers(closest(self.format) + 2)
    }

    /// The argument over pi/2, modulo 4: of a number from `2^least` on. Smaller ones are 0.
    fn reduce(self, b: &mut Builder, parts: &Parts, work: usize) -> Turn {
        let p = self.precision();
        let behind = closest(self.format) + work - 3 + ROWS_GUARD;
        let bias = self.format.bias();
        let fields = (self.least() + bias).max(1)..=2 * bias;
        let windows = Windows::new(p, behind, bias);
        let hot = b.demux(&parts.exponent);
        let hot = &hot[*fields.start() as usize..=*fields.end() as usize];
        let entries: Vec<BigInt> = fields.clone().map(|field| windows.window(field)).collect();
        let constants: Vec<BigInt> = fields.map(|field| windows.constant(field)).collect();
        let width = behind + 2;
        let window = select(b, hot, &entries, width + p - 2);
        let mut rows = vec![select(b, hot, &constants, width)];
        for (i, &bit) in parts.fraction.iter().enumerate() {
            let start = p - 2 - i;
            rows.push(flip_if(b, !bit, &window[start..start + width]));
        }
        let rows: Vec<Int> = rows.iter().map(|row| Int::unsigned(row)).collect();
        let mut position = b.sum(&rows, width);
        let quadrant = position.split_off(behind);
        Turn {
            quadrant: [quadrant[0], quadrant[1]],
            position,
        }
    }
}

/// The bits of 2/pi that matter for an exponent.
struct Windows {
    two_over_pi: BigInt,
    bits: usize,
    precision: usize,
    behind: usize,
    bias: i32,
}

impl Windows {
    const MORE: usize = 64;

    fn new(precision: usize, behind: usize, bias: i32) -> Windows {
        let bits = bias as usize + behind + 2 * Windows::MORE;
        Windows {
            two_over_pi: two_over_pi(bits),
            bits,
            precision,
            behind,
            bias,
        }
    }

    /// Half of the last place of a significand over pi/2, times `2^bits`, modulo `2^(bits + 2)`.
    fn half_place(&self, field: i32, bits: usize) -> BigInt {
        let up = field - self.bias - self.precision as i32 + bits as i32 - self.bits as i32;
        let number = match up {
            0.. => &self.two_over_pi << up as usize,
            _ => &self.two_over_pi >> up.unsigned_abs() as usize,
        };
        number % (BigInt::from(1) << (bits + 2))
    }

    /// Half of the last place of a significand, with the bits of all its rows.
    fn window(&self, field: i32) -> BigInt {
        self.half_place(field, self.behind + self.precision - 2)
    }

    /// The part of the sum that does not depend on the fraction. A fraction `f` of `p - 1` bits is
    /// half the sum of its digits 1 and -1, and `(2^(p-1) - 1) / 2`; the hidden bit adds 2^(p-1).
    /// Rows are cut off at a unit, which is half a unit each in the mean.
    fn constant(&self, field: i32) -> BigInt {
        let halves = (BigInt::from(3) << (self.precision - 1)) - 1;
        let sum = self.half_place(field, self.behind + Windows::MORE) * halves;
        let rows = BigInt::from(self.precision - 1) << (Windows::MORE - 1);
        ((sum + rows) >> Windows::MORE) % (BigInt::from(1) << (self.behind + 2))
    }
}

/// `sin(pi/2 r)`.
fn sine_of(r: &Real) -> Real {
    (&Real::pi() * r).shifted(-1).sin_cos().0
}

/// `tan(pi/2 r)`.
fn tangent_of(r: &Real) -> Real {
    let (sine, cosine) = (&Real::pi() * r).shifted(-1).sin_cos();
    &sine / &cosine
}

/// `2 / (1 + f)` of a fraction.
pub(crate) fn twice_inverse(digits: i32) -> Arc<Curve> {
    Curve::known("inverse", digits, |digits| {
        Curve::new(digits, &Real::of(1), &|f| {
            &Real::of(2) / &(&Real::of(1) + f)
        })
    })
}
