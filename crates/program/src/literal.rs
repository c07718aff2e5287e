//! Numbers with fractions as a program's source writes them, before they have a type.
//!
//! A literal takes the type of the value beside it: its nearest stored number there, of two that
//! are equally near the even one. Where that is not the number that was written, a warning says so.
//!
//! A single number is an exact ratio, which is what Python's `Fraction`, `Decimal` and the printed
//! form of a `float` are; elements of an array are the `f64` that they are.

use crate::decimal::{self, Nearest, NotStored};
use crate::diagnostic::{Diagnostic, Span, code};
use crate::types::{Data, Range, Type};
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

/// What a source can write that is no integer.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// One number.
    Number(Real),
    /// An array, row-major.
    Array {
        /// Its dimensions.
        shape: Vec<u64>,
        /// Its elements, as many as the product of the shape.
        numbers: Vec<f64>,
    },
}

/// A literal that has found its type.
pub struct Typed {
    /// The stored numbers.
    pub data: Data,
    /// That some of them are not the numbers that were written.
    pub warning: Option<Diagnostic>,
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
        let negative = self.numerator < 0;
        let magnitude = self.numerator.unsigned_abs();
        let mut floor = magnitude / self.denominator;
        let mut rest = magnitude % self.denominator;
        let large = NotStored::TooLarge { negative };
        for _ in 0..fraction {
            rest *= 2;
            let bit = u128::from(rest >= self.denominator);
            rest -= bit * self.denominator;
            floor = floor.checked_mul(2).ok_or(large)? + bit;
        }
        let up = 2 * rest > self.denominator || (2 * rest == self.denominator && floor % 2 == 1);
        let stored = i128::try_from(floor).ok();
        let stored = stored.and_then(|floor| floor.checked_add(up.into()));
        let stored = stored.ok_or(large)?;
        Ok(Nearest {
            stored: if negative { -stored } else { stored },
            exact: rest == 0,
        })
    }
}

/// As a decimal where it is one, else as a ratio.
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

impl Literal {
    /// The literal in fixed-point type `ty`.
    ///
    /// # Errors
    /// A number is not finite or outside of the type.
    pub fn in_type(&self, ty: Type, span: Option<&Span>) -> Result<Typed, Diagnostic> {
        let refused = |at: usize| {
            let message = format!("{} is not a value of {ty}", self.name(at));
            Diagnostic::new(code::CONSTANT_RANGE, message)
                .because(format!(
                    "{ty} holds {}",
                    decimal::range_text(ty.range(), ty)
                ))
                .at(span)
        };
        let (mut numbers, mut rounded) = (Vec::with_capacity(self.count()), Vec::new());
        for at in 0..self.count() {
            let nearest = self.nearest(at, ty.fraction()).map_err(|_| refused(at))?;
            if !ty.holds(Range::of(nearest.stored)) {
                return Err(refused(at));
            }
            if !nearest.exact {
                rounded.push(at);
            }
            numbers.push(nearest.stored);
        }
        let first = rounded.first().map(|at| (*at, numbers[*at]));
        let warning = first.map(|first| self.rounded(ty, rounded.len(), first).at(span));
        let data = Data::from_numbers(ty, self.shape().to_vec(), &numbers);
        let data = data.ok_or_else(|| refused(0))?;
        Ok(Typed { data, warning })
    }

    /// The literal in the smallest fixed-point type that holds it exactly, if there is one.
    pub fn exactly(&self) -> Option<Data> {
        let stored = |at| self.nearest(at, 64).ok().filter(|nearest| nearest.exact);
        let numbers = (0..self.count()).map(|at| stored(at).map(|nearest| nearest.stored));
        let mut numbers = numbers.collect::<Option<Vec<i128>>>()?;
        let zeros = numbers.iter().map(|number| number.trailing_zeros()).min()?;
        let zeros = zeros.min(64);
        numbers.iter_mut().for_each(|number| *number >>= zeros);
        let fraction = 64 - zeros as u8;
        let like = Type::Fixed {
            signed: true,
            bits: fraction,
            fraction,
        };
        let ty = like.smallest_like(Range::of_all(numbers.iter().copied())?)?;
        Data::from_numbers(ty, self.shape().to_vec(), &numbers)
    }

    /// What to call it in a message.
    pub fn text(&self) -> String {
        match self {
            Literal::Number(number) => number.to_string(),
            Literal::Array { .. } => "an array of floats".into(),
        }
    }

    fn shape(&self) -> &[u64] {
        match self {
            Literal::Number(_) => &[],
            Literal::Array { shape, .. } => shape,
        }
    }

    fn count(&self) -> usize {
        match self {
            Literal::Number(_) => 1,
            Literal::Array { numbers, .. } => numbers.len(),
        }
    }

    fn nearest(&self, at: usize, fraction: u8) -> Result<Nearest, NotStored> {
        match self {
            Literal::Number(number) => number.nearest(fraction),
            Literal::Array { numbers, .. } => decimal::from_f64(numbers[at], fraction),
        }
    }

    fn name(&self, at: usize) -> String {
        match self {
            Literal::Number(number) => number.to_string(),
            Literal::Array { numbers, .. } => numbers[at].to_string(),
        }
    }

    /// The warning that `count` numbers were rounded, of which this is the first.
    fn rounded(&self, ty: Type, count: usize, (at, stored): (usize, i128)) -> Diagnostic {
        let (meant, used) = (self.name(at), decimal::text(stored, ty.fraction()));
        let message = match self {
            Literal::Number(_) => format!("{meant} is taken for {used}"),
            Literal::Array { numbers, .. } => format!(
                "{count} of {} numbers of an array are rounded; {meant} is taken for {used}",
                numbers.len()
            ),
        };
        Diagnostic::new(code::LITERAL_ROUNDED, message)
            .because(format!(
                "{ty} holds multiples of 2^-{}, and this is the nearest",
                ty.fraction()
            ))
            .hint(
                "write the number that is meant, or one with a type of more bits behind the \
                 point: `sl.fixed(16, 32)(0.1)`",
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(numerator: i128, denominator: u128) -> Literal {
        Literal::Number(Real::new(numerator, denominator).unwrap())
    }

    #[test]
    fn a_ratio_takes_its_nearest_number_and_says_so() {
        let typed = ratio(1, 10).in_type(Type::fixed(16, 16), None).unwrap();
        assert_eq!(typed.data.elements, [6554]);
        let warning = typed.warning.unwrap();
        assert_eq!(warning.message, "0.1 is taken for 0.100006103515625");
        assert!(warning.is_warning());
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
                .all(|e| e.as_ref().unwrap().code == code::CONSTANT_RANGE)
        );
        let numbers = vec![0.5, f64::NAN];
        let shape = vec![2];
        assert!(refused(Literal::Array { shape, numbers }).is_some());
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
        let (shape, numbers) = (vec![2], vec![-1.5, 0.25]);
        assert_eq!(
            own(Literal::Array { shape, numbers }).as_deref(),
            Some("fixed2.2")
        );
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
            prop_assert_eq!(number.nearest(fraction), decimal::parse(&number.to_string(), fraction));
        }
    }
}
