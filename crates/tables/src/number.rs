//! One number as a source has it, to the stored number of an input.

use sealane_program::decimal::{self, Nearest, NotStored};
use sealane_program::types::Type;

/// A number of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number; truth values are 0 and 1.
    Int(i128),
    /// A binary floating-point number.
    Float(f64),
    /// `unscaled / 10^scale`.
    Decimal {
        /// The digits.
        unscaled: i128,
        /// How many of them stand behind the point; may be negative.
        scale: i8,
    },
}

/// Why a number is none of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It has a fraction, and the type has none.
    NotWhole,
    /// It is infinite, or marks what is missing.
    NotFinite,
    /// Beyond every type of its kind.
    TooLarge,
}

impl Number {
    /// The stored number of `ty`, which is the number itself but for fixed point. Whether the
    /// range of an input has it is for the caller to say.
    pub(crate) fn stored(self, ty: Type) -> Result<Nearest, Unfit> {
        if ty.is_fixed() {
            return self.nearest(ty.fraction());
        }
        let stored = match self {
            Number::Int(number) => Ok(number),
            Number::Float(number) if !number.is_finite() => Err(Unfit::NotFinite),
            Number::Float(number) if number.fract() != 0.0 => Err(Unfit::NotWhole),
            // 2^100 is beyond every type, and what is below converts exactly.
            Number::Float(number) if number.abs() > 2f64.powi(100) => Err(Unfit::TooLarge),
            Number::Float(number) => Ok(number as i128),
            Number::Decimal { unscaled, scale } => whole(unscaled, scale),
        };
        let exact = true;
        stored.map(|stored| Nearest { stored, exact })
    }

    fn nearest(self, fraction: u8) -> Result<Nearest, Unfit> {
        let nearest = match self {
            Number::Int(number) => {
                let stored = number.checked_mul(1 << fraction).ok_or(Unfit::TooLarge)?;
                return Ok(Nearest {
                    stored,
                    exact: true,
                });
            }
            Number::Float(number) => decimal::from_f64(number, fraction),
            Number::Decimal { unscaled, scale } => {
                decimal::parse(&format!("{unscaled}e{}", -i16::from(scale)), fraction)
            }
        };
        nearest.map_err(|error| match error {
            NotStored::NotFinite => Unfit::NotFinite,
            _ => Unfit::TooLarge,
        })
    }

    /// The number as people read it.
    pub(crate) fn text(self) -> String {
        match self {
            Number::Int(number) => number.to_string(),
            Number::Float(number) => number.to_string(),
            Number::Decimal { unscaled, scale } => decimal_text(unscaled, scale),
        }
    }
}

/// The stored number behind an element of data.
pub(crate) fn of_element(ty: Type, element: u64) -> i128 {
    match ty.is_signed() {
        true => i128::from(element as i64),
        false => i128::from(element),
    }
}

/// `unscaled / 10^scale` where it is whole.
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

    const HALF: Number = Number::Decimal {
        unscaled: -5,
        scale: 1,
    };

    fn stored(number: Number, ty: Type) -> Result<(i128, bool), Unfit> {
        let nearest = number.stored(ty)?;
        Ok((nearest.stored, nearest.exact))
    }

    #[test]
    fn whole_numbers_are_taken_from_any_kind() {
        let decimal = |unscaled, scale| Number::Decimal { unscaled, scale };
        for number in [Number::Int(-300), Number::Float(-300.0), decimal(-3, -2)] {
            assert_eq!(stored(number, Type::I64), Ok((-300, true)));
        }
        assert_eq!(stored(decimal(4200, 2), Type::I64), Ok((42, true)));
        assert_eq!(stored(decimal(0, 127), Type::I64), Ok((0, true)));
        for number in [HALF, Number::Float(0.5), decimal(1, 127)] {
            assert_eq!(stored(number, Type::I64), Err(Unfit::NotWhole));
        }
        for number in [
            Number::Float(1e300),
            decimal(1, -128),
            decimal(i128::MAX, -1),
        ] {
            assert_eq!(stored(number, Type::I64), Err(Unfit::TooLarge));
        }
        assert_eq!(
            stored(Number::Float(f64::NAN), Type::I64),
            Err(Unfit::NotFinite)
        );
    }

    #[test]
    fn fixed_point_takes_the_nearest_and_says_so() {
        let ty = Type::fixed(8, 4);
        assert_eq!(stored(Number::Int(-3), ty), Ok((-48, true)));
        assert_eq!(stored(HALF, ty), Ok((-8, true)));
        assert_eq!(stored(Number::Float(-0.5), ty), Ok((-8, true)));
        assert_eq!(stored(Number::Float(0.1), ty), Ok((2, false)));
        let tenth = Number::Decimal {
            unscaled: 1,
            scale: 1,
        };
        assert_eq!(stored(tenth, ty), Ok((2, false)));
        assert_eq!(
            stored(Number::Float(f64::INFINITY), ty),
            Err(Unfit::NotFinite)
        );
        assert_eq!(stored(Number::Int(i128::MAX), ty), Err(Unfit::TooLarge));
    }

    #[test]
    fn numbers_are_told_as_decimals() {
        let text = |unscaled, scale| Number::Decimal { unscaled, scale }.text();
        assert_eq!(text(-5, 2), "-0.05");
        assert_eq!(text(1234, 2), "12.34");
        assert_eq!(text(7, -2), "700");
        assert_eq!(Number::Float(0.1).text(), "0.1");
    }
}
