//! Forms of elementary functions that are correctly rounded in f32.
//!
//! A result is rounded correctly if its error is less than the distance of the exact value from the
//! nearest middle between two numbers. Over all arguments of f32 that distance is some 2^-32 units
//! in the last place (the table maker's dilemma: Lefevre, Muller, Tisserand, "Toward correctly
//! rounded transcendentals", IEEE Transactions on Computers 47, 1998). Polynomials with as many
//! more digits would be right everywhere. With some fewer, about a hundred results are wrong, which
//! costs less: their arguments are matched (see [`matching`]), and bits of their results turned.
//! The tests of this crate find the arguments that are near a middle among all of f32, and compare
//! the circuits' results for them with values of many digits; for all others the bounds of errors
//! suffice. Formats of 16 bits are correctly rounded by the usual forms.

mod matching;

use crate::elementary::logarithm::Base;
use crate::elementary::reduce::Precision;
use crate::format::Arithmetic;
use crate::function::{Error, Function, ONE};
use sealane_circuit::{Builder, Goal, Wire, Word};

/// Makes a result of an operand.
type Of = fn(Arithmetic, &mut Builder, &[Wire]) -> Word;

/// A correctly rounded form.
struct Form {
    name: &'static str,
    /// For formats of 16 bits.
    usual: Of,
    /// For f32: right but for some arguments.
    fine: Of,
    matched: Matched,
}

/// The bits of an argument by which exceptions are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matched {
    /// All of them.
    Argument,
    /// All but the sign: the function is odd or even.
    Magnitude,
    /// Those that the fine form matches itself: see [`of_root`].
    Root,
}

/// An argument for which the digits of a form do not suffice.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// The argument, a number of f32; without its sign for odd and even functions, and of all that
    /// a power of 8 lies between, or of 4, the one next above 1 for `cbrt` and `rsqrt`.
    pub argument: u32,
    /// Bits of the result that are turned.
    pub turned: u32,
    /// The goal of the form, if that of the other is right.
    pub goal: Option<Goal>,
}

/// The exceptions of all forms: function, argument, turned bits, and `small` or `flat` if there is
/// none in the other form. The tests that look for arguments near a middle print them.
const EXCEPTIONS: &str = include_str!("exact/exceptions.csv");

/// The exceptions of a function: for tests.
pub fn exceptions(name: &str) -> impl Iterator<Item = Exception> {
    let rows = EXCEPTIONS.lines().skip(1).map(|line| line.split(','));
    let rows = rows.map(Iterator::collect::<Vec<_>>);
    let hex = |cell: &str| u32::from_str_radix(cell, 16).expect("hexadecimal digits");
    rows.filter(move |cells| cells[0] == name)
        .map(move |cells| Exception {
            argument: hex(cells[1]),
            turned: hex(cells[2]),
            goal: match cells[3] {
                "small" => Some(Goal::Size),
                "flat" => Some(Goal::Depth),
                _ => None,
            },
        })
}

impl Form {
    fn build(&self, of: Arithmetic, b: &mut Builder, x: &[Wire]) -> Word {
        let bits = of.format.bits();
        assert!(bits <= 32, "exact forms are for at most 32 bits");
        if bits <= 16 {
            return (self.usual)(of, b, x);
        }
        let mut result = (self.fine)(of, b, x);
        let known = match self.matched {
            Matched::Argument => x,
            Matched::Magnitude => &x[..bits - 1],
            Matched::Root => return result,
        };
        let turned = turned(b, self.name, known, 0);
        for (bit, turned) in result.iter_mut().zip(turned) {
            *bit = b.xor(*bit, turned);
        }
        result
    }
}

/// The bits to turn in the result of a function at an argument, less `first`.
fn turned(b: &mut Builder, name: &str, argument: &[Wire], first: u32) -> Word {
    let goal = b.goal();
    let exceptions = exceptions(name).filter(|of| of.goal.is_none_or(|of| of == goal));
    let exceptions = exceptions.map(|of| ((of.argument - first).into(), of.turned.into()));
    matching::entry_at(b, argument, &exceptions.collect::<Vec<_>>())
}

/// The bits to turn in the significand of a root: the digits of numbers with certain powers of 2
/// between them are the same, so that exceptions are told by the bits that follow those of 1.
fn of_root(b: &mut Builder, name: &str, argument: &[Wire]) -> Word {
    turned(b, name, argument, 1f32.to_bits())
}

/// A table of functions by their forms: of each the name, the method of [`Arithmetic`] that is the
/// usual form, what is matched, and the fine form.
macro_rules! forms {
    ($($name:literal = $usual:ident, $matched:ident, $fine:expr;)*) => {
        &[$(Function {
            name: $name,
            operands: ONE,
            results: ONE,
            error: Error::Rounded,
            build: |a, b, x| {
                let form = Form {
                    name: $name,
                    usual: Arithmetic::$usual,
                    fine: $fine,
                    matched: Matched::$matched,
                };
                vec![form.build(a, b, &x[0])]
            },
        }),*]
    };
}

const FUNCTIONS: &[Function] = forms! {
    "exp" = exp, Argument, |a, b, x| a.exp_with(b, x, Precision::new(8, 4, 45));
    "exp2" = exp2, Argument, |a, b, x| a.exp2_with(b, x, Precision::new(8, 4, 45));
    "log" = log, Argument, |a, b, x| a.logarithm(b, x, (Base::E, Precision::new(8, 3, 40)));
    "log2" = log2, Argument, |a, b, x| a.logarithm(b, x, (Base::Two, Precision::new(8, 3, 40)));
    "log10" = log10, Argument, |a, b, x| a.logarithm(b, x, (Base::Ten, Precision::new(8, 3, 41)));
    "expm1" = expm1, Argument, |a, b, x| a.expm1_with(b, x, Precision::new(7, 4, 43));
    "log1p" = log1p, Argument, |a, b, x| a.log1p_with(b, x, Precision::new(8, 4, 43));
    "sin" = sin, Magnitude, |a, b, x| a.sin_with(b, x, 47);
    "cos" = cos, Magnitude, |a, b, x| a.cos_with(b, x, 47);
    "tan" = tan, Magnitude, |a, b, x| a.tan_with(b, x, 47);
    "asin" = asin, Magnitude, |a, b, x| a.asin_with(b, x, 45);
    "acos" = acos, Argument, |a, b, x| a.acos_with(b, x, 43);
    "atan" = atan, Magnitude, |a, b, x| a.atan_with(b, x, 45);
    "sinh" = sinh, Magnitude, |a, b, x| a.sinh_with(b, x, Precision::new(4, 5, 40));
    "cosh" = cosh, Magnitude, |a, b, x| a.cosh_with(b, x, Precision::new(4, 5, 40));
    "tanh" = tanh, Magnitude, |a, b, x| a.tanh_with(b, x, Precision::new(5, 5, 39));
    "erf" = erf, Magnitude, |a, b, x| a.erf_with(b, x, 47);
    "cbrt" = cbrt, Root, |a, b, x| a.cbrt_with(b, x, (36, |b, x| of_root(b, "cbrt", x)));
    "rsqrt" = rsqrt, Root, |a, b, x| a.rsqrt_with(b, x, (36, |b, x| of_root(b, "rsqrt", x)));
};

/// The correctly rounded form of an elementary function of that name, if there is one: for formats
/// of at most 32 bits, and its gates panic for others.
pub fn exact(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The functions that have such a form.
pub fn exact_functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter()
}
