//! The list of functions: names, operands, results and stated errors.
//!
//! Programs, benchmarks, the page of functions and the tests all walk this list; a function that is
//! not on it does not exist.

use crate::format::{Arithmetic, Format};
use sealane_circuit::{Builder, Wire, Word};

/// The kind of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A number of the format.
    Float,
    /// A truth value: one bit.
    Truth,
    /// A signed integer of so many bits.
    Integer(usize),
}

impl ValueKind {
    /// Width in bits.
    pub const fn bits(self, format: Format) -> usize {
        match self {
            ValueKind::Float => format.bits(),
            ValueKind::Truth => 1,
            ValueKind::Integer(bits) => bits,
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
    pub operands: &'static [ValueKind],
    /// Results: one, but for functions such as `modf`.
    pub results: &'static [ValueKind],
    /// The promised error of results that are numbers.
    pub error: Error,
    /// The gates.
    pub build: Build,
}

/// Makes words of the result of a method.
trait Results {
    fn words(self) -> Vec<Word>;
}

impl Results for Word {
    fn words(self) -> Vec<Word> {
        vec![self]
    }
}

impl Results for Wire {
    fn words(self) -> Vec<Word> {
        vec![vec![self]]
    }
}

impl Results for [Word; 2] {
    fn words(self) -> Vec<Word> {
        self.to_vec()
    }
}

/// A table of functions: of each the name, the method of [`Arithmetic`] with the numbers of its
/// operands, the kinds of operands and of results, and the promised error.
macro_rules! functions {
    ($($name:literal = $method:ident($($at:literal),+) $of:ident => $to:ident, $error:ident;)*) => {
        &[$(Function {
            name: $name,
            operands: $of,
            results: $to,
            error: $error,
            build: |a, b, x| a.$method(b, $(&x[$at]),+).words(),
        }),*]
    };
}

/// One number.
pub(crate) const ONE: &[ValueKind] = &[ValueKind::Float];
const TWO: &[ValueKind] = &[ValueKind::Float; 2];
const THREE: &[ValueKind] = &[ValueKind::Float; 3];
const TRUTH: &[ValueKind] = &[ValueKind::Truth];
/// An integer of C's `int`.
const INT: &[ValueKind] = &[ValueKind::Integer(32)];
const SCALE: &[ValueKind] = &[ValueKind::Float, ValueKind::Integer(32)];

const fn ulp(single: f64, double: f64) -> Error {
    Error::Ulp { single, double }
}

const ROUNDED: Error = Error::Rounded;
const UNIT: Error = ulp(1.0, 1.0);
const UNITS: Error = ulp(1.0, 2.0);
const NEAR: Error = Error::Near {
    single: 1.0,
    double: 2.0,
    absolute: 60,
};

const FUNCTIONS: &[Function] = functions! {
    "add" = add(0, 1) TWO => ONE, ROUNDED;
    "sub" = sub(0, 1) TWO => ONE, ROUNDED;
    "mul" = mul(0, 1) TWO => ONE, ROUNDED;
    "div" = div(0, 1) TWO => ONE, ROUNDED;
    "sqrt" = sqrt(0) ONE => ONE, ROUNDED;
    "fma" = fma(0, 1, 2) THREE => ONE, ROUNDED;
    "fmod" = fmod(0, 1) TWO => ONE, ROUNDED;
    "remainder" = remainder(0, 1) TWO => ONE, ROUNDED;
    "fabs" = fabs(0) ONE => ONE, ROUNDED;
    "neg" = neg(0) ONE => ONE, ROUNDED;
    "copysign" = copysign(0, 1) TWO => ONE, ROUNDED;
    "signbit" = signbit(0) ONE => TRUTH, ROUNDED;
    "isnan" = isnan(0) ONE => TRUTH, ROUNDED;
    "isinf" = isinf(0) ONE => TRUTH, ROUNDED;
    "isfinite" = isfinite(0) ONE => TRUTH, ROUNDED;
    "isnormal" = isnormal(0) ONE => TRUTH, ROUNDED;
    "eq" = eq(0, 1) TWO => TRUTH, ROUNDED;
    "ne" = ne(0, 1) TWO => TRUTH, ROUNDED;
    "lt" = lt(0, 1) TWO => TRUTH, ROUNDED;
    "le" = le(0, 1) TWO => TRUTH, ROUNDED;
    "gt" = gt(0, 1) TWO => TRUTH, ROUNDED;
    "ge" = ge(0, 1) TWO => TRUTH, ROUNDED;
    "fdim" = fdim(0, 1) TWO => ONE, ROUNDED;
    "fmin" = fmin(0, 1) TWO => ONE, ROUNDED;
    "fmax" = fmax(0, 1) TWO => ONE, ROUNDED;
    "floor" = floor(0) ONE => ONE, ROUNDED;
    "ceil" = ceil(0) ONE => ONE, ROUNDED;
    "trunc" = trunc(0) ONE => ONE, ROUNDED;
    "round" = round_ties_away(0) ONE => ONE, ROUNDED;
    "rint" = roundeven(0) ONE => ONE, ROUNDED;
    "roundeven" = roundeven(0) ONE => ONE, ROUNDED;
    "modf" = modf(0) ONE => TWO, ROUNDED;
    "frexp" = frexp(0) ONE => SCALE, ROUNDED;
    "ldexp" = ldexp(0, 1) SCALE => ONE, ROUNDED;
    "scalbn" = ldexp(0, 1) SCALE => ONE, ROUNDED;
    "logb" = logb(0) ONE => ONE, ROUNDED;
    "ilogb" = ilogb(0) ONE => INT, ROUNDED;
    "nextafter" = nextafter(0, 1) TWO => ONE, ROUNDED;
    "exp" = exp(0) ONE => ONE, UNIT;
    "exp2" = exp2(0) ONE => ONE, UNIT;
    "log" = log(0) ONE => ONE, UNIT;
    "log2" = log2(0) ONE => ONE, UNIT;
    "log10" = log10(0) ONE => ONE, UNIT;
    "pow" = pow(0, 1) TWO => ONE, UNIT;
    "expm1" = expm1(0) ONE => ONE, UNIT;
    "log1p" = log1p(0) ONE => ONE, UNIT;
    "sinh" = sinh(0) ONE => ONE, UNIT;
    "cosh" = cosh(0) ONE => ONE, UNIT;
    "tanh" = tanh(0) ONE => ONE, UNIT;
    "sigmoid" = sigmoid(0) ONE => ONE, UNIT;
    "asinh" = asinh(0) ONE => ONE, UNIT;
    "acosh" = acosh(0) ONE => ONE, UNIT;
    "atanh" = atanh(0) ONE => ONE, UNIT;
    "sin" = sin(0) ONE => ONE, UNITS;
    "cos" = cos(0) ONE => ONE, UNITS;
    "tan" = tan(0) ONE => ONE, UNITS;
    "cbrt" = cbrt(0) ONE => ONE, UNITS;
    "rsqrt" = rsqrt(0) ONE => ONE, UNITS;
    "hypot" = hypot(0, 1) TWO => ONE, UNITS;
    "atan" = atan(0) ONE => ONE, UNITS;
    "atan2" = atan2(0, 1) TWO => ONE, UNITS;
    "asin" = asin(0) ONE => ONE, UNITS;
    "acos" = acos(0) ONE => ONE, UNITS;
    "erf" = erf(0) ONE => ONE, UNITS;
    "erfc" = erfc(0) ONE => ONE, UNITS;
    "tgamma" = tgamma(0) ONE => ONE, UNITS;
    "lgamma" = lgamma(0) ONE => ONE, NEAR;
};

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter()
}

/// The function of a name.
pub fn function(name: &str) -> Option<&'static Function> {
    functions().find(|function| function.name == name)
}
