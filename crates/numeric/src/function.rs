//! The list of functions: names, operands, results and stated errors.
//!
//! Programs, benchmarks, the page of functions and the tests all walk this list; a function that is
//! not on it does not exist.

use crate::format::{Arithmetic, Format};
use sealane_circuit::{Builder, Word};

/// The kind of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of the format.
    Float,
    /// A truth value: one bit.
    Truth,
    /// A signed integer of so many bits.
    Integer(usize),
}

impl Kind {
    /// Width in bits.
    pub const fn bits(self, format: Format) -> usize {
        match self {
            Kind::Float => format.bits(),
            Kind::Truth => 1,
            Kind::Integer(bits) => bits,
        }
    }
}

/// The error that a function promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// The exact result, rounded once (or exact, where the result is a number of the format).
    Rounded,
    /// At most so many units in the last place of the result's exact value: for formats of up to 32
    /// bits, and for f64. Formats of 16 bits are correctly rounded all the same.
    Ulp {
        /// For f32.
        single: f64,
        /// For f64.
        double: f64,
    },
    /// As [`Error::Ulp`], but in f64 the error may also be `2^-absolute` where that is more: next
    /// to zeros of the function that are no numbers of the format.
    Near {
        /// Units for f32.
        single: f64,
        /// Units for f64.
        double: f64,
        /// The negative exponent of the absolute error in f64.
        absolute: i32,
    },
}

/// Makes the gates of a function: operands and results as its kinds say.
pub type Build = fn(Arithmetic, &mut Builder, &[Word]) -> Vec<Word>;

/// A function on numbers.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name in C, also in programs.
    pub name: &'static str,
    /// Operands.
    pub operands: &'static [Kind],
    /// Results: one, but for functions such as `modf`.
    pub results: &'static [Kind],
    /// The promised error of results that are numbers.
    pub error: Error,
    /// The gates.
    pub build: Build,
}

/// One number.
pub(crate) const ONE: &[Kind] = &[Kind::Float];
/// Two numbers.
pub(crate) const TWO: &[Kind] = &[Kind::Float; 2];

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    use crate::elementary::{expm1, exponential, hyperbolic, inverse, log1p, logarithm, pow};
    let rooms: [&[Function]; 17] = [
        crate::arith::FUNCTIONS,
        crate::classify::FUNCTIONS,
        crate::compare::FUNCTIONS,
        crate::integral::FUNCTIONS,
        crate::scale::FUNCTIONS,
        exponential::FUNCTIONS,
        logarithm::FUNCTIONS,
        pow::FUNCTIONS,
        expm1::FUNCTIONS,
        log1p::FUNCTIONS,
        hyperbolic::FUNCTIONS,
        inverse::FUNCTIONS,
        crate::trig::FUNCTIONS,
        crate::roots::FUNCTIONS,
        crate::arcs::FUNCTIONS,
        crate::errors::FUNCTIONS,
        crate::gamma::FUNCTIONS,
    ];
    rooms.into_iter().flatten()
}

/// The function of a name.
pub fn function(name: &str) -> Option<&'static Function> {
    functions().find(|function| function.name == name)
}
