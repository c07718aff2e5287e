//! Numbers with fractions in a program's source, before they have a type.
//!
//! A literal takes the type of the value beside it: its nearest stored number there, in a tie the
//! even one; without a neighbour it takes the smallest type that holds it exactly. A warning
//! reports a literal that had to be rounded.
//!
//! A single number is an exact ratio, the value of Python's `Fraction`, of `Decimal` and of the
//! printed form of a `float`; elements of an array are `f64`.

use crate::decimal::{self, Nearest, NotStored};
use crate::float;
use crate::types::{Data, Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Result};
use sealane_numeric::Format;
use std::fmt;

/// Largest denominator of a ratio: room for its remainder times ten in `u128`.
pub const MAX_DENOMINATOR: u128 = 1 << 124;
/// Most digits behind the point of a ratio that prints as a decimal.
const MAX_DIGITS: usize = 40;

/// An exact number: a ratio of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real {
    numerator: i128,
    denominator: u128,
}

/// One number of a literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A ratio.
    Ratio(Real),
    /// An element of an array of floats.
    Float(f64),
}

/// A number, or an array of them, in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// Its dimensions; none for a single number.
    pub shape: Vec<u64>,
    /// Its elements, row-major; as many as the product of the shape.
    pub numbers: Vec<Number>,
}

/// A literal with a type.
#[derive(Clone)]
pub struct Typed {
    /// The stored numbers.
    pub data: Data,
    /// Warning that some of them are rounded.
    pub warning: Option<Diagnostic>,
}

/// Neighbours of a literal in a type.
pub struct Between {
    /// Largest numbers that are not above it.
    pub below: Data,
    /// Smallest numbers that are not below it.
    pub above: Data,
    /// Number of elements that equal neither.
    pub apart: usize,
}

impl Real {
    /// The number `numerator / denominator`; `None` for a denominator of 0 or above
    /// [`MAX_DENOMINATOR`].
    pub fn new(numerator: i128, denominator: u128) -> Option<Real> {
        (1..=MAX_DENOMINATOR)
            .contains(&denominator)
            .then_some(Real {
                numerator,
                denominator,
            })
    }

    /// The nearest stored number with `fraction` bits behind the point.
    ///
    /// # Errors
    /// No type holds it.
    pub fn nearest(self, fraction: u8) -> Result<Nearest, NotStored> {
        let (floor, rest) = self.divided(fraction)?;
        let up = 2 * rest > self.denominator || (2 * rest == self.denominator && floor % 2 == 1);
        self.stored(floor, up, rest == 0)
    }

    /// Returns the largest stored number with `fraction` bits after the binary point that is not
    /// above it, and whether it is equal.
    ///
    /// # Errors
    /// No type holds it.
    pub fn floor(self, fraction: u8) -> Result<Nearest, NotStored> {
        let (floor, rest) = self.divided(fraction)?;
        self.stored(floor, self.numerator < 0 && rest != 0, rest == 0)
    }

    /// The stored number of floating point that is nearest to it.
    pub fn nearest_float(self, format: Format) -> Nearest {
        float::from_ratio(self.numerator, self.denominator, format)
    }

    /// Its magnitude times `2^fraction`, rounded down, and the rest in parts of the denominator.
    fn divided(self, fraction: u8) -> Result<(u128, u128), NotStored> {
        let magnitude = self.numerator.unsigned_abs();
        let mut floor = magnitude / self.denominator;
        let mut rest = magnitude % self.denominator;
        for _ in 0..fraction {
            rest *= 2;
            let bit = u128::from(rest >= self.denominator);
            rest -= bit * self.denominator;
            floor = floor.checked_mul(2).ok_or(self.too_large())? + bit;
        }
        Ok((floor, rest))
    }

    /// Applies the sign of this number to a magnitude, or to one more.
    fn stored(self, magnitude: u128, more: bool, exact: bool) -> Result<Nearest, NotStored> {
        let stored = i128::try_from(magnitude).ok();
        let stored = stored.and_then(|stored| stored.checked_add(more.into()));
        let stored = stored.ok_or(self.too_large())?;
        let stored = if self.numerator < 0 { -stored } else { stored };
        Ok(Nearest { stored, exact })
    }

    fn too_large(self) -> NotStored {
        let negative = self.numerator < 0;
        NotStored::TooLarge { negative }
    }
}

/// Prints a decimal if it is one, else a ratio.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.numerator.unsigned_abs();
        let mut rest = magnitude % self.denominator;
        let mut digits = String::new();
        while rest != 0 && digits.len() < MAX_DIGITS {
            rest *= 10;
            digits.push(char::from(b'0' + (rest / self.denominator) as u8));
            rest %= self.denominator;
        }
        let sign = if self.numerator < 0 { "-" } else { "" };
        match digits.as_str() {
            _ if rest != 0 => write!(f, "{}/{}", self.numerator, self.denominator),
            "" => write!(f, "{sign}{}", magnitude / self.denominator),
            digits => write!(f, "{sign}{}.{digits}", magnitude / self.denominator),
        }
    }
}

impl Number {
    /// The nearest stored number with `fraction` bits behind the point.
    ///
    /// # Errors
    /// It is not finite, or no type holds it.
    pub fn nearest(self, fraction: u8) -> Result<Nearest, NotStored> {
        match self {
            Number::Ratio(ratio) => ratio.nearest(fraction),
            Number::Float(float) => decimal::from_f64(float, fraction),
        }
    }

    /// Returns the largest stored number with `fraction` bits after the binary point that is not
    /// above it, and whether it is equal.
    ///
    /// # Errors
    /// The errors of [`nearest`](Number::nearest).
    pub fn floor(self, fraction: u8) -> Result<Nearest, NotStored> {
        match self {
            Number::Ratio(ratio) => ratio.floor(fraction),
            Number::Float(float) => {
                let nearest = decimal::from_f64(float, fraction)?;
                // A float times a power of two is exact; one with a fraction is below 2^53.
                let above = float * 2f64.powi(fraction.into()) < nearest.stored as f64;
                Ok(Nearest {
                    stored: nearest.stored - i128::from(above && !nearest.exact),
                    ..nearest
                })
            }
        }
    }
}

impl Number {
    /// The nearest `f64`, and whether the number itself is finite.
    fn to_f64(self) -> (f64, bool) {
        match self {
            Number::Ratio(ratio) => {
                let format = Format::F64;
                let nearest = ratio.nearest_float(format);
                (float::to_f64(nearest.stored, format), true)
            }
            Number::Float(number) => (number, number.is_finite()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Ratio(ratio) => ratio.fmt(f),
            Number::Float(float) => float.fmt(f),
        }
    }
}

impl From<i128> for Number {
    fn from(whole: i128) -> Number {
        Number::Ratio(Real {
            numerator: whole,
            denominator: 1,
        })
    }
}

impl Literal {
    /// A single number.
    pub fn of(number: impl Into<Number>) -> Literal {
        Literal {
            shape: Vec::new(),
            numbers: vec![number.into()],
        }
    }

    /// The literal in type `ty`.
    ///
    /// # Errors
    /// A number is not finite, outside of the type, or has a fraction where the type has none.
    pub fn in_type(&self, ty: Type, span: At<'_>) -> Result<Typed> {
        let refused = |number: &Number| {
            let holds = decimal::range_text(ty.range(), ty);
            let message = format!("{number} is not a value of {ty}");
            Diagnostic::new(Code::ConstantRange, message)
                .because(format!("{ty} holds {holds}"))
                .hint("write a number of that range, or name another type")
                .at(span)
        };
        if let Type::Float(format) = ty {
            return self.in_format(format, span);
        }
        let mut stored = Vec::with_capacity(self.numbers.len());
        let (mut rounded, mut first) = (0, None);
        for number in &self.numbers {
            let nearest = number.nearest(ty.fraction()).map_err(|_| refused(number))?;
            if !ty.holds(Range::of(nearest.stored)) || !(nearest.exact || ty.is_fixed()) {
                return Err(refused(number));
            }
            if !nearest.exact {
                rounded += 1;
                first.get_or_insert((*number, nearest.stored));
            }
            stored.push(nearest.stored);
        }
        let warning = first.map(|first| self.rounded(ty, rounded, first).at(span));
        let data = Data::from_numbers(ty, self.shape.clone(), &stored).ok_or_else(other_size)?;
        Ok(Typed { data, warning })
    }

    /// The literal in floating point: as in Python, each number is the `f64` nearest to it, and
    /// that is rounded to the format. Digits of a source are seldom the binary number that they
    /// stand for, so this is no reason for a warning.
    fn in_format(&self, format: Format, span: At<'_>) -> Result<Typed> {
        let ty = Type::Float(format);
        let mut stored = Vec::with_capacity(self.numbers.len());
        for number in &self.numbers {
            let (value, given) = number.to_f64();
            let nearest = float::from_f64(value, format);
            if given && float::is_special(nearest.stored, format) {
                let largest = float::text(format.infinity() as i128 - 1, format);
                let message = format!("{number} is beyond the numbers of {ty}");
                return Err(Diagnostic::new(Code::ConstantRange, message)
                    .because(format!("its largest number is {largest}"))
                    .hint("write a smaller number, `float('inf')`, or use a wider type")
                    .at(span));
            }
            stored.push(nearest.stored);
        }
        let data = Data::from_numbers(ty, self.shape.clone(), &stored).ok_or_else(other_size)?;
        Ok(Typed {
            data,
            warning: None,
        })
    }

    /// The literal in the smallest fixed-point type that holds it exactly, if there is one.
    pub fn exactly(&self) -> Option<Data> {
        let stored = |number: &Number| number.nearest(64).ok().filter(|nearest| nearest.exact);
        let numbers = self.numbers.iter().map(|n| Some(stored(n)?.stored));
        let mut numbers = numbers.collect::<Option<Vec<i128>>>()?;
        let zeros = numbers.iter().map(|number| number.trailing_zeros()).min()?;
        let zeros = zeros.min(64);
        numbers.iter_mut().for_each(|number| *number >>= zeros);
        let fraction = 64 - zeros as u8;
        let like = Type::fixed_point(true, fraction, fraction);
        let ty = like.smallest_like(Range::of_all(numbers.iter().copied())?)?;
        Data::from_numbers(ty, self.shape.clone(), &numbers)
    }

    /// Returns numbers of `ty`, or just beyond its ends, between which the literal lies: those not
    /// above it, those not below it, and how many elements differ from both. Comparing values
    /// within `range` with these is equivalent to comparing with the literal. `None` if no type
    /// holds them.
    pub fn between(&self, ty: Type, range: Range) -> Option<Between> {
        let (mut below, mut above, mut apart) = (Vec::new(), Vec::new(), 0);
        for number in &self.numbers {
            let (floor, ceiling) = match number.floor(ty.fraction()) {
                Ok(floor) => (floor.stored, floor.stored + i128::from(!floor.exact)),
                Err(NotStored::TooLarge { negative: true }) => (range.lo - 1, range.lo),
                Err(NotStored::TooLarge { .. }) => (range.hi, range.hi + 1),
                Err(_) => return None,
            };
            apart += usize::from(floor != ceiling);
            // Beyond both ends, all values are on one side.
            below.push(floor.clamp(range.lo - 1, range.hi.max(range.lo - 1)));
            above.push(ceiling.clamp(range.lo.min(range.hi + 1), range.hi + 1));
        }
        let data = |stored: &[i128]| {
            let ty = ty
                .strict()
                .smallest_like(Range::of_all(stored.iter().copied())?)?;
            Data::from_numbers(ty, self.shape.clone(), stored)
        };
        Some(Between {
            below: data(&below)?,
            above: data(&above)?,
            apart,
        })
    }

    /// Name of the literal in a message.
    pub fn text(&self) -> String {
        match (&self.shape[..], &self.numbers[..]) {
            ([], [number]) => number.to_string(),
            _ => "an array of floats".into(),
        }
    }

    /// Makes the warning that `count` numbers were rounded, of which this is the first.
    fn rounded(&self, ty: Type, count: usize, (meant, stored): (Number, i128)) -> Diagnostic {
        let used = decimal::text(stored, ty.fraction());
        let message = match self.numbers.len() {
            1 => format!("{meant} is taken for {used}"),
            all => format!(
                "{count} of {all} numbers of an array are rounded: {meant} is taken for {used}"
            ),
        };
        Diagnostic::new(Code::LiteralRounded, message)
            .because(format!(
                "{ty} holds {}, and this is the nearest",
                match ty.fraction() {
                    0 => "whole numbers".to_string(),
                    fraction => format!("multiples of 2^-{fraction}"),
                }
            ))
            .hint(match finer(ty) {
                Some(finer) => format!(
                    "write {used}, or name a type with more bits behind the point: `{}({meant})`",
                    finer.python()
                ),
                None => format!("write {used} where that is meant"),
            })
    }
}

fn other_size() -> Diagnostic {
    let message = "a literal of another size than its shape";
    Diagnostic::new(Code::InvalidProgram, message)
        .hint("give as many numbers as the shape has elements")
}

/// The type with up to twice the bits behind the point, if there is room for more.
fn finer(ty: Type) -> Option<Type> {
    let Type::Fixed { bits, fraction, .. } = ty else {
        return None;
    };
    let more = (2 * fraction).min(64 - (bits - fraction));
    (more > fraction).then(|| {
        if ty.is_signed() {
            Type::fixed(bits - fraction, more)
        } else {
            Type::ufixed(bits - fraction, more)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(numerator: i128, denominator: u128) -> Literal {
        Literal::of(Number::Ratio(Real::new(numerator, denominator).unwrap()))
    }

    #[test]
    fn a_ratio_takes_its_nearest_number_and_says_so() {
        let typed = ratio(1, 10).in_type(Type::fixed(16, 16), None).unwrap();
        assert_eq!(typed.data.elements, [6554]);
        let warning = typed.warning.unwrap();
        assert_eq!(warning.message, "0.1 is taken for 0.100006103515625");
        assert!(warning.code.is_warning());
        assert!(warning.hint.ends_with("`sl.fixed(16, 32)(0.1)`"));
        let exact = ratio(-3, 2).in_type(Type::fixed(2, 1), None).unwrap();
        assert_eq!(exact.data.numbers().collect::<Vec<_>>(), [-3]);
        assert!(exact.warning.is_none());
    }

    #[test]
    fn what_the_type_does_not_hold_is_refused() {
        let refused = |literal: Literal| literal.in_type(Type::ufixed(1, 1), None).err();
        let codes = [ratio(2, 1), ratio(-1, 2), ratio(i128::MAX, 1)].map(refused);
        assert!(
            codes
                .iter()
                .all(|e| e.as_ref().unwrap().code == Code::ConstantRange)
        );
        let (shape, numbers) = (vec![2], [0.5, f64::NAN].map(Number::Float).to_vec());
        assert!(refused(Literal { shape, numbers }).is_some());
        assert!(ratio(1, 2).in_type(Type::U8, None).is_err());
        assert!(ratio(255, 1).in_type(Type::U8, None).is_ok());
        // Rounded up, it is 2, which is outside.
        assert!(refused(ratio(19, 10)).is_some());
    }

    #[test]
    fn an_exact_literal_finds_its_own_type() {
        let own = |literal: Literal| literal.exactly().map(|data| data.ty.to_string());
        assert_eq!(own(ratio(1, 2)).as_deref(), Some("ufixed0.1"));
        assert_eq!(own(ratio(-5, 4)).as_deref(), Some("fixed2.2"));
        assert_eq!(own(ratio(100, 1)).as_deref(), Some("ufixed7.0"));
        assert_eq!(own(ratio(0, 1)).as_deref(), Some("ufixed1.0"));
        assert_eq!(own(ratio(1, 3)), None);
        let (shape, numbers) = (vec![2], [-1.5, 0.25].map(Number::Float).to_vec());
        assert_eq!(own(Literal { shape, numbers }).as_deref(), Some("fixed2.2"));
    }

    #[test]
    fn ratios_print_as_decimals_where_they_are_some() {
        let text = |n, d| Real::new(n, d).unwrap().to_string();
        assert_eq!(text(-5, 4), "-1.25");
        assert_eq!(text(1, 3), "1/3");
        assert_eq!(text(-1, 10u128.pow(30)), format!("-0.{}1", "0".repeat(29)));
        assert!(Real::new(1, 0).is_none() && Real::new(1, MAX_DENOMINATOR + 1).is_none());
    }

    proptest! {
        /// A decimal as a ratio and as text is the same stored number.
        #[test]
        fn a_ratio_is_read_as_its_decimal(
            digits in any::<i64>(), places in 0u32..30, fraction in 0u8..=64,
        ) {
            let number = Real::new(digits.into(), 10u128.pow(places)).unwrap();
            let parsed = decimal::parse(&number.to_string(), fraction);
            prop_assert_eq!(number.nearest(fraction), parsed);
        }
    }
}
