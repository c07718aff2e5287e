//! Functions of one f32 against the machine's in f64, whose error is far less.

use crate::elementary::error::sample;
use crate::elementary::lanes::Runner;
use sealane_numeric::Format;
use sealane_numeric::measure::HARD;

/// Name, reference and allowed error of a function.
pub type Case = (&'static str, fn(f64) -> f64, f64);

/// The functions, with the error that they may have in units in the last place.
pub const EXACT: &[Case] = &[
    ("exp", f64::exp, 0.6),
    ("exp2", f64::exp2, 0.6),
    ("log", f64::ln, 0.6),
    ("log2", f64::log2, 0.6),
    ("log10", f64::log10, 0.62),
    ("expm1", f64::exp_m1, 0.6),
    ("log1p", f64::ln_1p, 0.6),
    ("sin", f64::sin, 0.68),
    ("cos", f64::cos, 0.68),
    ("tan", f64::tan, 0.66),
    ("asin", f64::asin, 0.67),
    ("acos", f64::acos, 0.61),
    ("atan", f64::atan, 0.63),
    ("cbrt", f64::cbrt, 0.55),
    ("rsqrt", |x| 1.0 / x.sqrt(), 0.55),
    ("sinh", f64::sinh, 0.6),
    ("cosh", f64::cosh, 0.6),
    ("tanh", f64::tanh, 0.6),
    ("sigmoid", sigmoid, 0.6),
    ("asinh", asinh, 0.6),
    ("acosh", acosh, 0.6),
    ("atanh", atanh, 0.6),
];

/// The logistic function, without a loss of digits.
fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        x.exp() / (1.0 + x.exp())
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

// The inverse functions of Rust's standard library lose digits near 0 in some of its versions; the
// following lose a few units of f64 at most.

fn acosh(x: f64) -> f64 {
    let t = if x < 1.0 { f64::NAN } else { x - 1.0 };
    if t > 1e100 {
        return x.ln() + std::f64::consts::LN_2;
    }
    (t + (t * (t + 2.0)).sqrt()).ln_1p()
}

fn asinh(x: f64) -> f64 {
    let size = x.abs();
    if size > 1e100 {
        return (size.ln() + std::f64::consts::LN_2).copysign(x);
    }
    let value = (size + size * size / (1.0 + size.hypot(1.0))).ln_1p();
    value.copysign(x)
}

fn atanh(x: f64) -> f64 {
    (0.5 * (2.0 * x.abs() / (1.0 - x.abs())).ln_1p()).copysign(x)
}

#[test]
fn f32_is_near_the_exact_value() {
    let arguments = sample(Format::F32, 20, 1);
    let mut wrong = vec![];
    for &(name, exact, bound) in EXACT {
        let hard = HARD.iter().filter(|hard| hard.0 == name);
        let hard = hard.map(|&(_, x)| u64::from(x));
        let arguments = arguments.iter().copied().chain(hard);
        let arguments: Vec<_> = arguments.map(|x| vec![x]).collect();
        for runner in Runner::all(name, Format::F32) {
            let off = runner.worst(&arguments, |_, x| exact(x[0]));
            if off > bound {
                wrong.push(format!("{}: {off}", runner.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
