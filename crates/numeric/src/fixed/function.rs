//! The list of functions of fixed point: names, domains, and what their results can be.
//!
//! A result is off by less than a unit in the last place: by half a unit of its rounding, and a
//! quarter of everything else. Nothing overflows unseen: of the operands' range follows that of
//! the results, and what does not fit its type is refused, or stops at its ends where that is asked
//! for.

use self::CurveShape::{Arc, Circular, Even, Odd, Rising};
use self::Domain::{Above, All, NotNegative, Within};
use super::Fixed;
use super::body::MOST_ENTRIES;
use crate::real::Real;
use num_bigint::BigInt;

/// A function of one fixed-point number.
pub struct FixedFunction {
    /// Its name in C.
    pub name: &'static str,
    /// Its value at a number of its domain.
    pub(super) value: fn(&Real) -> Real,
    pub(super) shape: CurveShape,
    domain: Domain,
}

/// How a function is computed, and where its largest and smallest values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveShape {
    /// It grows, and polynomials follow it on segments of equal width.
    Rising,
    /// The same, but its least value is that at 0, and it is even.
    Even,
    /// It repeats itself after a turn; the least number above 0 with an extreme value is this many
    /// quarter turns, at which it is largest for 1.
    Circular(i64),
    /// It grows for operands above 0, or falls: polynomials on segments of every binade.
    Binades {
        /// Added to the operand.
        offset: i64,
        /// It falls.
        falls: bool,
    },
    /// It grows, and is odd: a function of the magnitude by binades.
    Odd,
    /// The arc sine, or with `true` the rest of it to a quarter turn: a function of the distance of
    /// the magnitude from 1 by binades.
    Arc(bool),
}

/// The numbers at which a function has values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    All,
    /// Numbers above this one.
    Above(i64),
    /// Zero and numbers above it.
    NotNegative,
    /// Numbers of at most so many halves, with either sign.
    Within(i64),
}

/// Operands and results of a function, as stored numbers: the values times a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Points {
    /// The least operand.
    pub lo: i128,
    /// The largest operand.
    pub hi: i128,
    /// Bits behind the point of operands.
    pub fraction: usize,
    /// The type of results.
    pub to: Fixed,
    /// Operands outside of the domain count as the nearest one in it, and results stop at the ends
    /// of their type.
    pub saturate: bool,
}

/// The reason why a function is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has no value at some operand, but at those between these two, in words.
    Domain(&'static str),
    /// Its stored results are from the first number to the second, or beyond them.
    Range(i128, i128),
    /// It takes more bits than its circuits are made for.
    Bits,
}

/// Operands and results that the gates of a function are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The operands that are told apart; others count as the nearest of them.
    pub operands: [i128; 2],
    /// The range of results, before they stop at the ends of a type.
    pub results: [i128; 2],
}

/// Results that no type holds, in bits: powers beyond are not computed.
pub(super) const HUGE: i64 = 160;

impl FixedFunction {
    /// The range of the stored results.
    ///
    /// # Errors
    /// If a result may be outside of its type and is not to stop at its ends, if an operand may be
    /// outside of the domain, and if results have too many bits.
    pub fn results(&self, points: &Points) -> Result<(i128, i128), Refused> {
        let ends = points.to.ends();
        let [lo, hi] = self.span(points)?.results;
        let inside = (lo.clamp(ends[0], ends[1]), hi.clamp(ends[0], ends[1]));
        Ok(if points.saturate { inside } else { (lo, hi) })
    }

    /// Its domain in words.
    fn domain(&self) -> &'static str {
        match self.domain {
            All => "all numbers",
            Above(0) => "numbers above 0",
            Above(_) => "numbers above -1",
            NotNegative => "numbers from 0 on",
            Within(2) => "numbers from -1 to 1",
            Within(_) => "numbers from -1.5 to 1.5",
        }
    }

    /// The stored operands of the domain among some.
    fn inside(&self, lo: i128, hi: i128, fraction: usize) -> [i128; 2] {
        let unit = 1i128 << fraction;
        let (least, most) = match self.domain {
            All => (lo, hi),
            Above(end) => (i128::from(end) * unit + 1, hi),
            NotNegative => (0, hi),
            Within(halves) => {
                let most = i128::from(halves) * unit / 2;
                (-most, most)
            }
        };
        [lo.max(least), hi.min(most)]
    }

    pub(super) fn span(&self, points: &Points) -> Result<Span, Refused> {
        let [mut lo, mut hi] = self.inside(points.lo, points.hi, points.fraction);
        let whole = [lo, hi] == [points.lo, points.hi];
        if lo > hi || !whole && !points.saturate {
            return Err(Refused::Domain(self.domain()));
        }
        let ends = points.to.ends();
        let fits = |x: i128| {
            let [least, most] = self.stored(x, points);
            ends[0] <= least && most <= ends[1]
        };
        // The operand from which results become larger in both directions, if there are two.
        let middle = match (self.shape, self.name) {
            (Rising, "exp" | "exp2" | "sigmoid") => lo,
            (CurveShape::Binades { falls: true, .. }, _) => hi,
            (CurveShape::Binades { offset: 0, .. }, _) => 1 << points.fraction,
            _ => 0,
        };
        let middle = middle.clamp(lo, hi);
        let turns = matches!(self.shape, Circular(_));
        match fits(middle) {
            // With the first operand on each side whose result is beyond the end, as all further
            // ones are.
            true if points.saturate && !turns => {
                hi = (last(middle, hi, fits) + 1).min(hi);
                lo = (-last(-middle, -lo, |x| fits(-x)) - 1).max(lo);
            }
            // All results are beyond the end.
            false if points.saturate && self.is_power() => [lo, hi] = [middle; 2],
            _ => {}
        }
        let results = self.extremes([lo, hi], points);
        let most = (HUGE / 2) as u32;
        let bits = |x: i128| 128 - (x ^ x >> 127).leading_zeros();
        let wide = results.into_iter().map(bits).max().unwrap_or(0);
        if !points.saturate && (results[0] < ends[0] || results[1] > ends[1]) {
            return Err(Refused::Range(results[0], results[1]));
        }
        let reduced = bits(lo).max(bits(hi)) as i64 - points.fraction as i64;
        let long = turns && reduced + points.to.fraction as i64 > MOST_TURNS;
        if hi - lo >= MOST_ENTRIES && (wide > most || long) {
            return Err(Refused::Bits);
        }
        if self.shape == Rising {
            [lo, hi] = self.without_tails([lo, hi], points);
        }
        let operands = [lo, hi];
        Ok(Span { operands, results })
    }

    /// Operands between those from which on the function changes by less than an eighth of a unit,
    /// if that halves their number.
    fn without_tails(&self, [lo, hi]: [i128; 2], points: &Points) -> [i128; 2] {
        let eighth = Real::scaled(1, -(points.to.fraction as i64) - 3);
        let at = |x: i128| self.at(x, points.fraction);
        let near = |end: i128| {
            let value = at(end);
            let eighth = eighth.clone();
            move |x: i128| (&at(x) - &value).abs() < eighth
        };
        let least = last(lo, hi, near(lo));
        let upper = near(hi);
        let most = -last(-hi, -lo, |x| upper(-x));
        let halved = least < most && 2 * (most - least) <= hi - lo;
        if halved { [least, most] } else { [lo, hi] }
    }

    /// True for functions that grow as a power of their operand does.
    fn is_power(&self) -> bool {
        ["exp", "exp2", "expm1", "sinh", "cosh"].contains(&self.name)
    }

    /// The value at a stored operand; powers beyond all types are not computed.
    pub(super) fn at(&self, stored: i128, fraction: usize) -> Real {
        let x = Real::scaled(stored, -(fraction as i64));
        if self.is_power() && x.abs() > HUGE {
            let falls = x.is_negative() && self.name != "cosh";
            return match self.name {
                "exp" | "exp2" if falls => Real::of(0),
                "expm1" if falls => Real::of(-1),
                _ if falls => Real::scaled(-1, HUGE),
                _ => Real::scaled(1, HUGE),
            };
        }
        (self.value)(&x)
    }

    /// The stored numbers next to a value, or that number.
    fn stored(&self, x: i128, points: &Points) -> [i128; 2] {
        let value = self.at(x, points.fraction);
        let scaled = value.shifted(points.to.fraction as i64);
        [saturated(scaled.floor()), saturated(-(-&scaled).floor())]
    }

    /// The least and the largest stored result.
    fn extremes(&self, [lo, hi]: [i128; 2], points: &Points) -> [i128; 2] {
        let [a, b] = [self.stored(lo, points), self.stored(hi, points)];
        let (mut least, mut most) = (a[0].min(b[0]), a[1].max(b[1]));
        let one = 1i128 << points.to.fraction;
        match self.shape {
            Even if lo < 0 && hi > 0 => least = one,
            Circular(first) => {
                // Extreme values are half a turn apart, and alternate.
                let half = Real::pi().shifted(-1);
                let place = |x: i128| {
                    let quarters = &Real::scaled(x, -(points.fraction as i64)) / &half;
                    (&quarters - &Real::of(first)).shifted(-1)
                };
                let (from, to) = (-(-&place(lo)).floor(), place(hi).floor());
                let odd = |number: &BigInt| number.bit(0);
                if from <= to {
                    let (two, largest) = (from < to, !odd(&from));
                    most = if largest || two { one } else { most };
                    least = if !largest || two { -one } else { least };
                }
            }
            _ => {}
        }
        [least, most]
    }
}

/// Bits before the point of an operand that is reduced by turns, and behind the point of a result.
const MOST_TURNS: i64 = 100;

/// The last of the numbers from `from` to `to` for which something holds, as it does for the first,
/// and for all up to some number.
fn last(from: i128, to: i128, holds: impl Fn(i128) -> bool) -> i128 {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = high - (high - low) / 2;
        if holds(middle) {
            low = middle
        } else {
            high = middle - 1
        }
    }
    low
}

pub(super) fn saturated(x: BigInt) -> i128 {
    let end = if x < BigInt::from(0) { -1 } else { 1 };
    i128::try_from(x).unwrap_or(end << 120)
}

impl Fixed {
    /// The least and the largest stored number.
    pub(super) fn ends(self) -> [i128; 2] {
        if self.signed {
            [-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1]
        } else {
            [0, (1 << self.bits) - 1]
        }
    }
}

type Value = fn(&Real) -> Real;

const fn function(
    name: &'static str,
    value: Value,
    shape: CurveShape,
    domain: Domain,
) -> FixedFunction {
    FixedFunction {
        name,
        value,
        shape,
        domain,
    }
}

const fn binades(offset: i64, falls: bool) -> CurveShape {
    CurveShape::Binades { offset, falls }
}

const LOGARITHM: CurveShape = binades(0, false);

const FUNCTIONS: &[FixedFunction] = &[
    function("exp", Real::exp, Rising, All),
    function("exp2", |x| (x * &Real::ln2()).exp(), Rising, All),
    function("expm1", |x| &x.exp() - &Real::of(1), Rising, All),
    function("log", Real::ln, LOGARITHM, Above(0)),
    function("log2", |x| &x.ln() / &Real::ln2(), LOGARITHM, Above(0)),
    function("log10", logarithm_to_10, LOGARITHM, Above(0)),
    function("log1p", log1p, binades(1, false), Above(-1)),
    function("sqrt", Real::sqrt, binades(0, false), NotNegative),
    function("rsqrt", inverse_root, binades(0, true), Above(0)),
    function("cbrt", cube_root, Odd, All),
    function("sin", |x| x.turned().0, Circular(1), All),
    function("cos", |x| x.turned().1, Circular(0), All),
    function("tan", tangent, Rising, Within(3)),
    function("asin", Real::asin, Arc(false), Within(2)),
    function("acos", arc_cosine, Arc(true), Within(2)),
    function("atan", Real::atan, Odd, All),
    function("sinh", hyperbolic_sine, Rising, All),
    function("cosh", hyperbolic_cosine, Even, All),
    function("tanh", hyperbolic_tangent, Rising, All),
    function("erf", error_function, Rising, All),
    function("sigmoid", sigmoid, Rising, All),
];

fn log1p(x: &Real) -> Real {
    (x + &Real::of(1)).ln()
}

fn inverse_root(x: &Real) -> Real {
    &Real::of(1) / &x.sqrt()
}

fn logarithm_to_10(x: &Real) -> Real {
    &x.ln() / &Real::of(10).ln()
}

fn arc_cosine(x: &Real) -> Real {
    &Real::pi().shifted(-1) - &x.asin()
}

fn hyperbolic_sine(x: &Real) -> Real {
    (&x.exp() - &(-x).exp()).shifted(-1)
}

fn hyperbolic_cosine(x: &Real) -> Real {
    (&x.exp() + &(-x).exp()).shifted(-1)
}

fn hyperbolic_tangent(x: &Real) -> Real {
    &sigmoid(&x.shifted(1)).shifted(1) - &Real::of(1)
}

fn cube_root(x: &Real) -> Real {
    let root = |x: &Real| (&x.ln() / &Real::of(3)).exp();
    match x.exponent() {
        None => Real::of(0),
        Some(_) if x.is_negative() => -&root(&-x),
        Some(_) => root(x),
    }
}

fn tangent(x: &Real) -> Real {
    let (sine, cosine) = x.sin_cos();
    &sine / &cosine
}

fn sigmoid(x: &Real) -> Real {
    let one = Real::of(1);
    let power = (-&x.abs()).exp();
    let above = &one / &(&one + &power);
    if x.is_negative() {
        &one - &above
    } else {
        above
    }
}

/// From 12 on, no type of 64 bits tells the value from 1.
fn error_function(x: &Real) -> Real {
    match x.abs() > 12 {
        true if x.is_negative() => Real::of(-1),
        true => Real::of(1),
        false => x.erf(),
    }
}

/// The function of fixed point of a name.
pub fn fixed_function(name: &str) -> Option<&'static FixedFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// All functions of fixed point.
pub fn fixed_functions() -> impl Iterator<Item = &'static FixedFunction> {
    FUNCTIONS.iter()
}
