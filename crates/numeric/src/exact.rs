//! Forms of elementary functions that are correctly rounded in f32.
//!
//! A result is rounded correctly if its error is less than the distance of the exact value from the
//! nearest middle between two numbers. Over all arguments of f32 that distance is some 2^-32 units
//! in the last place (the table maker's dilemma: Lefevre, Muller, Tisserand, "Toward correctly
//! rounded transcendentals", IEEE Transactions on Computers 47, 1998). Polynomials with as many
//! more digits would be right everywhere. With some fewer, about a hundred results are wrong, which
//! costs less: their arguments are matched (see [`matching`]), and bits of their results turned.
//! The tests of this room find the arguments that are near a middle among all of f32, and compare
//! the circuits' results for them with values of many digits; for all others the bounds of errors
//! suffice. Formats of 16 bits are correctly rounded by the usual forms.

mod matching;

use crate::elementary::logarithm::Base;
use crate::elementary::reduce::Precision;
use crate::format::Arithmetic;
use crate::function::{Build, Error, Function, ONE};
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
    let exceptions: Vec<(u64, u64)> = exceptions
        .map(|of| ((of.argument - first).into(), of.turned.into()))
        .collect();
    matching::entry_at(b, argument, &exceptions)
}

/// The bits to turn in the significand of a root: the digits of numbers with certain powers of 2
/// between them are the same, so that exceptions are told by the bits that follow those of 1.
fn of_root(b: &mut Builder, name: &str, argument: &[Wire]) -> Word {
    turned(b, name, argument, 1f32.to_bits())
}

const EXP: Form = Form {
    name: "exp",
    usual: Arithmetic::exp,
    fine: |a, b, x| a.exp_with(b, x, Precision::new(8, 4, 45)),
    matched: Matched::Argument,
};
const EXP2: Form = Form {
    name: "exp2",
    usual: Arithmetic::exp2,
    fine: |a, b, x| a.exp2_with(b, x, Precision::new(8, 4, 45)),
    matched: Matched::Argument,
};
const LOG: Form = Form {
    name: "log",
    usual: Arithmetic::log,
    fine: |a, b, x| a.logarithm(b, x, (Base::E, Precision::new(8, 3, 40))),
    matched: Matched::Argument,
};
const LOG2: Form = Form {
    name: "log2",
    usual: Arithmetic::log2,
    fine: |a, b, x| a.logarithm(b, x, (Base::Two, Precision::new(8, 3, 40))),
    matched: Matched::Argument,
};
const LOG10: Form = Form {
    name: "log10",
    usual: Arithmetic::log10,
    fine: |a, b, x| a.logarithm(b, x, (Base::Ten, Precision::new(8, 3, 41))),
    matched: Matched::Argument,
};
const EXPM1: Form = Form {
    name: "expm1",
    usual: Arithmetic::expm1,
    fine: |a, b, x| a.expm1_with(b, x, Precision::new(7, 4, 43)),
    matched: Matched::Argument,
};
const LOG1P: Form = Form {
    name: "log1p",
    usual: Arithmetic::log1p,
    fine: |a, b, x| a.log1p_with(b, x, Precision::new(8, 4, 43)),
    matched: Matched::Argument,
};
const SIN: Form = Form {
    name: "sin",
    usual: Arithmetic::sin,
    fine: |a, b, x| a.sin_with(b, x, 47),
    matched: Matched::Magnitude,
};
const COS: Form = Form {
    name: "cos",
    usual: Arithmetic::cos,
    fine: |a, b, x| a.cos_with(b, x, 47),
    matched: Matched::Magnitude,
};
const TAN: Form = Form {
    name: "tan",
    usual: Arithmetic::tan,
    fine: |a, b, x| a.tan_with(b, x, 47),
    matched: Matched::Magnitude,
};
const ASIN: Form = Form {
    name: "asin",
    usual: Arithmetic::asin,
    fine: |a, b, x| a.asin_with(b, x, 45),
    matched: Matched::Magnitude,
};
const ACOS: Form = Form {
    name: "acos",
    usual: Arithmetic::acos,
    fine: |a, b, x| a.acos_with(b, x, 43),
    matched: Matched::Argument,
};
const ATAN: Form = Form {
    name: "atan",
    usual: Arithmetic::atan,
    fine: |a, b, x| a.atan_with(b, x, 45),
    matched: Matched::Magnitude,
};
const SINH: Form = Form {
    name: "sinh",
    usual: Arithmetic::sinh,
    fine: |a, b, x| a.sinh_with(b, x, Precision::new(4, 5, 40)),
    matched: Matched::Magnitude,
};
const COSH: Form = Form {
    name: "cosh",
    usual: Arithmetic::cosh,
    fine: |a, b, x| a.cosh_with(b, x, Precision::new(4, 5, 40)),
    matched: Matched::Magnitude,
};
const TANH: Form = Form {
    name: "tanh",
    usual: Arithmetic::tanh,
    fine: |a, b, x| a.tanh_with(b, x, Precision::new(5, 5, 39)),
    matched: Matched::Magnitude,
};
const ERF: Form = Form {
    name: "erf",
    usual: Arithmetic::erf,
    fine: |a, b, x| a.erf_with(b, x, 47),
    matched: Matched::Magnitude,
};
const CBRT: Form = Form {
    name: "cbrt",
    usual: Arithmetic::cbrt,
    fine: |a, b, x| a.cbrt_with(b, x, (36, |b, x| of_root(b, "cbrt", x))),
    matched: Matched::Root,
};
const RSQRT: Form = Form {
    name: "rsqrt",
    usual: Arithmetic::rsqrt,
    fine: |a, b, x| a.rsqrt_with(b, x, (36, |b, x| of_root(b, "rsqrt", x))),
    matched: Matched::Root,
};

const fn rounded(name: &'static str, build: Build) -> Function {
    Function {
        name,
        operands: ONE,
        results: ONE,
        error: Error::Rounded,
        build,
    }
}

const FUNCTIONS: &[Function] = &[
    rounded("exp", |a, b, x| vec![EXP.build(a, b, &x[0])]),
    rounded("exp2", |a, b, x| vec![EXP2.build(a, b, &x[0])]),
    rounded("log", |a, b, x| vec![LOG.build(a, b, &x[0])]),
    rounded("log2", |a, b, x| vec![LOG2.build(a, b, &x[0])]),
    rounded("log10", |a, b, x| vec![LOG10.build(a, b, &x[0])]),
    rounded("expm1", |a, b, x| vec![EXPM1.build(a, b, &x[0])]),
    rounded("log1p", |a, b, x| vec![LOG1P.build(a, b, &x[0])]),
    rounded("sin", |a, b, x| vec![SIN.build(a, b, &x[0])]),
    rounded("cos", |a, b, x| vec![COS.build(a, b, &x[0])]),
    rounded("tan", |a, b, x| vec![TAN.build(a, b, &x[0])]),
    rounded("asin", |a, b, x| vec![ASIN.build(a, b, &x[0])]),
    rounded("acos", |a, b, x| vec![ACOS.build(a, b, &x[0])]),
    rounded("atan", |a, b, x| vec![ATAN.build(a, b, &x[0])]),
    rounded("sinh", |a, b, x| vec![SINH.build(a, b, &x[0])]),
    rounded("cosh", |a, b, x| vec![COSH.build(a, b, &x[0])]),
    rounded("tanh", |a, b, x| vec![TANH.build(a, b, &x[0])]),
    rounded("erf", |a, b, x| vec![ERF.build(a, b, &x[0])]),
    rounded("cbrt", |a, b, x| vec![CBRT.build(a, b, &x[0])]),
    rounded("rsqrt", |a, b, x| vec![RSQRT.build(a, b, &x[0])]),
];

/// The correctly rounded form of an elementary function of that name, if there is one: for formats
/// of at most 32 bits, and its gates panic for others.
pub fn exact(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The functions that have such a form.
pub fn exact_functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter()
}
