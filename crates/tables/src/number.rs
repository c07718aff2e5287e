//! Conversion of a source's number to the stored number of an input: one rule for all sources.
//!
//! | source | integer or truth value | stored number in fixed or floating point |
//! |---|---|---|
//! | integers, decimals and ratios | where it is whole, at any size | the nearest |
//! | floats, text with a point or an exponent | where whole and unambiguous (below) | the nearest |
//! | infinities and NaN | refused | in floating point: as they are |
//!
//! A float of `p` significant bits represents every whole number below `2^p`, and from there on
//! several round to the same one: `float(2**53 + 1)` is `2.0**53`. Accepting it could silently
//! replace the intended number, so it is refused. Programs write floats as text with a point, so
//! such text follows the rule of `f64`.

use sealane_program::decimal::{self, Nearest, NotStored};
use sealane_program::float;
use sealane_program::literal::Real;
use sealane_program::types::Type;

/// A number of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number<'a> {
    /// A whole number; truth values are 0 and 1.
    Int(i128),
    /// A binary floating-point number.
    Float {
        /// Its value.
        value: f64,
        /// Significant bits of its own type: 53 of an `f64`, 24 of an `f32`, 11 of an `f16`.
        digits: u32,
    },
    /// `unscaled / 10^scale`.
    Decimal {
        /// The digits.
        unscaled: i128,
        /// Number of digits after the decimal point; may be negative.
        scale: i8,
    },
    /// A ratio of integers.
    Ratio(Real),
    /// The text of a decimal, as [`decimal::parse`] reads it.
    Written(&'a str),
}

/// Reason why a number has no stored form in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The text is no number.
    NotANumber,
    /// It has a fraction, and the type has none.
    NotWhole,
    /// It is infinite or NaN.
    NotFinite,
    /// It exceeds every type of its kind.
    TooLarge,
    /// This whole number as a float, to which others round as well.
    Inexact(i128),
    /// This whole number in a text whose exponent abbreviates digits.
    Abbreviated(i128),
}

impl From<f64> for Number<'_> {
    fn from(value: f64) -> Self {
        let digits = f64::MANTISSA_DIGITS;
        Number::Float { value, digits }
    }
}

impl From<f32> for Number<'_> {
    fn from(value: f32) -> Self {
        let (value, digits) = (value.into(), f32::MANTISSA_DIGITS);
        Number::Float { value, digits }
    }
}

impl Number<'_> {
    /// Makes the number of an `f16` with the given value.
    pub fn half(value: f64) -> Self {
        Number::Float { value, digits: 11 }
    }

    /// Returns the stored number of `ty`, which is the number itself except for fixed point. The
    /// caller checks the range of the input.
    pub(crate) fn stored(self, ty: Type) -> Result<Nearest, Unfit> {
        match ty {
            Type::Float(format) => return self.nearest_float(format),
            Type::Fixed { fraction, .. } => return self.nearest(fraction),
            _ => {}
        }
        let stored = match self {
            Number::Int(number) => Ok(number),
            Number::Float { value, digits } => whole_float(value, digits),
            Number::Decimal { unscaled, scale } => whole(unscaled, scale),
            Number::Ratio(ratio) => match ratio.nearest(0) {
                Ok(Nearest { stored, exact }) if exact => Ok(stored),
                Ok(_) => Err(Unfit::NotWhole),
                Err(error) => Err(error.into()),
            },
            Number::Written(text) => whole_text(text),
        };
        let exact = true;
        stored.map(|stored| Nearest { stored, exact })
    }

    fn nearest(self, fraction: u8) -> Result<Nearest, Unfit> {
        let nearest = match self {
            Number::Int(number) => {
                let (stored, exact) = (number.checked_mul(1 << fraction), true);
                let stored = stored.ok_or(Unfit::TooLarge)?;
                return Ok(Nearest { stored, exact });
            }
            Number::Float { value, .. } => decimal::from_f64(value, fraction),
            Number::Decimal { unscaled, scale } => {
                decimal::parse(&format!("{unscaled}e{}", -i16::from(scale)), fraction)
            }
            Number::Ratio(ratio) => ratio.nearest(fraction),
            Number::Written(text) => decimal::parse(text, fraction),
        };
        Ok(nearest?)
    }

    /// The nearest number of floating point, which may be infinite or NaN where the source is. Only
    /// binary numbers count as rounded: a decimal stands for the number that is nearest to it.
    fn nearest_float(self, format: float::Format) -> Result<Nearest, Unfit> {
        let decimal = |Nearest { stored, .. }| {
            let exact = true;
            Nearest { stored, exact }
        };
        let (nearest, finite) = match self {
            Number::Int(number) => (float::from_whole(number, format), true),
            Number::Float { value, .. } => (float::from_f64(value, format), value.is_finite()),
            Number::Decimal { unscaled, scale } => {
                let text = format!("{unscaled}e{}", -i16::from(scale));
                (decimal(float::parse(&text, format)?), true)
            }
            Number::Ratio(ratio) => (decimal(ratio.nearest_float(format)), true),
            Number::Written(text) => (decimal(float::parse(text, format)?), false),
        };
        if finite && float::is_special(nearest.stored, format) {
            Err(Unfit::TooLarge)
        } else {
            Ok(nearest)
        }
    }

    /// Formats the number for people.
    pub(crate) fn text(self) -> String {
        match self {
            Number::Int(number) => number.to_string(),
            Number::Float { value, .. } => value.to_string(),
            Number::Decimal { unscaled, scale } => decimal_text(unscaled, scale),
            Number::Ratio(ratio) => ratio.to_string(),
            Number::Written(text) => text.to_string(),
        }
    }
}

impl From<NotStored> for Unfit {
    fn from(error: NotStored) -> Unfit {
        match error {
            NotStored::NotADecimal | NotStored::TooLong => Unfit::NotANumber,
            NotStored::NotFinite => Unfit::NotFinite,
            NotStored::TooLarge { .. } => Unfit::TooLarge,
        }
    }
}

/// Returns a float with `digits` significant bits if it is whole and no other whole number rounds
/// to it.
fn whole_float(value: f64, digits: u32) -> Result<i128, Unfit> {
    if !value.is_finite() {
        return Err(Unfit::NotFinite);
    }
    if value.fract() != 0.0 {
        return Err(Unfit::NotWhole);
    }
    // 2^100 exceeds every type, and numbers below convert exactly.
    if value.abs() > 2f64.powi(100) {
        return Err(Unfit::TooLarge);
    }
    let whole = value as i128;
    if whole.unsigned_abs() < 1 << digits {
        Ok(whole)
    } else {
        Err(Unfit::Inexact(whole))
    }
}

/// Parses the whole number of a text. A text with a point or an exponent is taken as a float
/// written by a program; an exponent adds no digits.
fn whole_text(text: &str) -> Result<i128, Unfit> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let Nearest { stored, exact } = decimal::parse(text, 0)?;
    if !exact {
        return Err(Unfit::NotWhole);
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    let written = digits.skip_while(|digit| *digit == b'0').count();
    let magnitude = stored.unsigned_abs();
    let needed = magnitude.checked_ilog10().map_or(0, |log| log + 1);
    if written < needed as usize {
        return Err(Unfit::Abbreviated(stored));
    }
    if magnitude < 1 << f64::MANTISSA_DIGITS {
        Ok(stored)
    } else {
        Err(Unfit::Inexact(stored))
    }
}

/// Stored number of an element of data.
pub(crate) fn of_element(ty: Type, element: u64) -> i128 {
    if ty.is_signed() {
        (element as i64).into()
    } else {
        element.into()
    }
}

/// Returns `unscaled / 10^scale` if it is whole.
fn whole(unscaled: i128, scale: i8) -> Result<i128, Unfit> {
    if unscaled == 0 {
        return Ok(0);
    }
    let power = 10i128.checked_pow(scale.unsigned_abs().into());
    match power {
        Some(power) if scale <= 0 => unscaled.checked_mul(power).ok_or(Unfit::TooLarge),
        Some(power) if unscaled % power == 0 => Ok(unscaled / power),
        None if scale <= 0 => Err(Unfit::TooLarge),
        _ => Err(Unfit::NotWhole),
    }
}

fn decimal_text(unscaled: i128, scale: i8) -> String {
    if scale <= 0 {
        let zeros = if unscaled == 0 {
            0
        } else {
            scale.unsigned_abs()
        };
        return format!("{unscaled}{}", "0".repeat(zeros.into()));
    }
    let places = usize::from(scale.unsigned_abs());
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = places + 1);
    let (before, behind) = digits.split_at(digits.len() - places);
    let sign = if unscaled < 0 { "-" } else { "" };
    format!("{sign}{before}.{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Number<'_> = decimal(-5, 1);
    const fn decimal(unscaled: i128, scale: i8) -> Number<'static> {
        Number::Decimal { unscaled, scale }
    }

    fn stored(number: Number<'_>, ty: Type) -> Result<(i128, bool), Unfit> {
        let nearest = number.stored(ty)?;
        Ok((nearest.stored, nearest.exact))
    }

    #[test]
    fn whole_numbers_are_taken_from_any_kind() {
        let ratio = |over, under| Number::Ratio(Real::new(over, under).unwrap());
        let (written, huge) = (Number::Written, "9".repeat(60));
        let texts = ["-300", "-300.0", "-300.", "-3.000e2"].map(written);
        let others = [Number::Int(-300), decimal(-3, -2), ratio(-600, 2)];
        let floats = [(-300f64).into(), (-300f32).into(), Number::half(-300.0)];
        for number in texts.into_iter().chain(others).chain(floats) {
            assert_eq!(stored(number, Type::I64), Ok((-300, true)), "{number:?}");
        }
        assert_eq!(stored(decimal(4200, 2), Type::I64), Ok((42, true)));
        assert_eq!(stored(decimal(0, 127), Type::I64), Ok((0, true)));
        let texts = [
            "", ".", "12 kg", "NaN", "0x10", "1e", "1e9999", "--5", "1_000",
        ];
        let decimals = [decimal(1, -128), decimal(i128::MAX, -1)];
        for (error, numbers) in [
            (Unfit::NotWhole, &[HALF, 0.5.into(), decimal(1, 127)][..]),
            (Unfit::NotWhole, &[ratio(1, 3), written("0.5e-9")]),
            (
                Unfit::TooLarge,
                &[1e300.into(), written("1e300"), written(&huge)],
            ),
            (Unfit::TooLarge, &decimals),
            (Unfit::NotANumber, &texts.map(written)),
        ] {
            for number in numbers {
                assert_eq!(stored(*number, Type::I64), Err(error), "{number:?}");
            }
        }
        assert_eq!(stored(f64::NAN.into(), Type::I64), Err(Unfit::NotFinite));
    }

    #[test]
    fn floats_to_which_several_whole_numbers_are_rounded_are_refused() {
        let top = (1i128 << 53) - 1;
        // The first whole number that is no `f64`, and the one to which it rounds.
        assert_eq!((top + 2) as f64, (top + 1) as f64);
        for sign in [1, -1] {
            let (held, not) = (sign * top, sign * (top + 1));
            let inexact = |number| Err(Unfit::Inexact(number));
            assert_eq!(stored((held as f64).into(), Type::I64), Ok((held, true)));
            assert_eq!(stored((not as f64).into(), Type::I64), inexact(not));
            let (point, beyond) = (format!("{held}.0"), format!("{not}.0"));
            assert_eq!(stored(Number::Written(&point), Type::I64), Ok((held, true)));
            assert_eq!(stored(Number::Written(&beyond), Type::I64), inexact(not));
            let text = beyond.trim_end_matches(".0");
            assert_eq!(stored(Number::Written(text), Type::I64), Ok((not, true)));
            assert_eq!(stored(16_777_216f32.into(), Type::I64), inexact(1 << 24));
            assert_eq!(stored(Number::half(2048.0), Type::I64), inexact(2048));
            // Fixed point takes the nearest number of any kind of number.
            let fixed = stored((not as f64).into(), Type::fixed(60, 1));
            assert_eq!(fixed, Ok((2 * not, true)));
        }
    }

    #[test]
    fn an_exponent_stands_for_no_digit_that_is_not_written() {
        let read = |text| stored(Number::Written(text), Type::I64);
        assert_eq!(read("5.200000000000000000e+04"), Ok((52_000, true)));
        assert_eq!(read("0.0"), Ok((0, true)));
        assert_eq!(read("0e5"), Ok((0, true)));
        assert_eq!(read("00.7e1"), Ok((7, true)));
        // A spreadsheet's display of 123456789012.
        let short = |number| Err(Unfit::Abbreviated(number));
        assert_eq!(read("1.23457E+11"), short(123_457_000_000));
        assert_eq!(read("1e1"), short(10));
    }

    #[test]
    fn fixed_point_takes_the_nearest_and_says_so() {
        let ty = Type::fixed(8, 4);
        assert_eq!(stored(Number::Int(-3), ty), Ok((-48, true)));
        assert_eq!(stored(Number::Written("1e-2"), ty), Ok((0, false)));
        assert_eq!(stored(Number::Written("12e0"), ty), Ok((192, true)));
        assert_eq!(stored(HALF, ty), Ok((-8, true)));
        assert_eq!(stored((-0.5).into(), ty), Ok((-8, true)));
        assert_eq!(stored(0.1.into(), ty), Ok((2, false)));
        assert_eq!(stored(decimal(1, 1), ty), Ok((2, false)));
        assert_eq!(stored(f64::INFINITY.into(), ty), Err(Unfit::NotFinite));
        assert_eq!(stored(Number::Int(i128::MAX), ty), Err(Unfit::TooLarge));
    }

    #[test]
    fn numbers_are_reported_as_decimals() {
        let text = |unscaled, scale| decimal(unscaled, scale).text();
        assert_eq!(text(-5, 2), "-0.05");
        assert_eq!(text(1234, 2), "12.34");
        assert_eq!(text(7, -2), "700");
        assert_eq!(Number::from(0.1).text(), "0.1");
    }
}
