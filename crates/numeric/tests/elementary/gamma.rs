//! Gamma, its logarithm and the error functions where other tests do not reach: f64, special
//! results, all numbers of 16 bits.

use crate::common::{GOALS, bits_f64};
use crate::elementary::double::answers;
use crate::elementary::error::{operand, value};
use crate::elementary::lanes::{Runner, special};
use sealane_circuit::Goal;
use sealane_numeric::real::Real;
use sealane_numeric::{Arithmetic, Error, Format, function};

/// Off by at most 2 units, or by 2^-60 next to zeros that are no numbers.
#[test]
#[ignore = "polynomials for hundreds of segments take seconds without optimisation"]
fn lgamma_of_f64_is_near_the_exact_value() {
    let error = function("lgamma").expect("a function").error;
    let Error::Near {
        double, absolute, ..
    } = error
    else {
        panic!("an error for zeros");
    };
    let rows = answers("lgamma");
    let operands: Vec<Vec<u64>> = rows.iter().map(|row| row.operands.clone()).collect();
    for goal in GOALS {
        let runner = Runner::new("lgamma", Arithmetic::new(Format::F64), goal);
        let (mut far, mut near) = ((0.0, 0), (0.0, 0));
        for (row, found) in rows.iter().zip(runner.run(&operands)) {
            let (units, x) = (row.error(found), row.operands[0]);
            let off = units * row.unit();
            if units > double {
                near = if off > near.0 { (off, x) } else { near };
            } else {
                far = if units > far.0 { (units, x) } else { far };
            }
        }
        let (off, at, what) = (f64::log2(near.0), near.1, &runner.what);
        println!("{what}: {far:x?} units, else 2^{off:.2} at {at:#x}");
        assert!(near.0 <= 2f64.powi(-absolute), "{near:x?}");
    }
}

/// The logarithm of the magnitude of gamma of a number that is no pole.
fn lgamma(x: f64) -> f64 {
    let size = Real::scaled((x.abs() * 2f64.powi(40)) as i64, -40);
    let mut log = size.lgamma();
    if x < 0.0 {
        let distance = (&size - &Real::scaled(size.rounded(0), 0)).abs();
        let sine = (&distance * &Real::pi()).sin_cos().0;
        log = &(&Real::pi() / &(&size * &sine)).ln() - &log;
    }
    // To 64 bits behind the highest.
    let places = 64 - log.exponent().unwrap_or(0);
    log.rounded_i128(places) as f64 * 2f64.powi(-(places as i32))
}

#[test]
#[ignore = "values of many digits of all numbers of 16 bits take a minute"]
fn lgamma_of_16_bits_is_correctly_rounded() {
    for format in [Format::F16, Format::BF16] {
        let arithmetic = Arithmetic::new(format);
        let runner = Runner::new("lgamma", arithmetic, Goal::Size);
        let (mut tried, mut wrong) = (0, vec![]);
        for first in (0..1 << 16).step_by(512) {
            for (x, found) in (first..).zip(runner.runner.row(first)) {
                let number = operand(arithmetic, x);
                let pole = number <= 0.0 && number == number.floor();
                // Smaller and larger numbers of bf16 are no multiples of 2^-40.
                let size = number.abs();
                if pole || !(size >= 2f64.powi(-30) && size < 2f64.powi(20)) {
                    continue;
                }
                tried += 1;
                let exact = lgamma(number);
                let nearest = crate::elementary::error::rounded(arithmetic, exact);
                if found != nearest && exact != 0.0 {
                    wrong.push(format!("{number}: {}, not {exact}", value(format, found)));
                }
            }
        }
        println!("{}: {tried} arguments", format.name());
        assert!(wrong.is_empty(), "{}: {wrong:#?}", format.name());
    }
}

/// Annex F of C99, and the ends of the range.
const SPECIAL: &str = "\
    erfc: inf 0, -inf 2, nan nan, 0 1, -0 1, 5e-324 1, 27.3 0, 31.99 0, 32 0, 1e300 0, -7 2, \
        -1e300 2
    tgamma: 0 inf, -0 -inf, 5e-324 inf, -5e-324 -inf, -1 nan, -2e9 nan, -inf nan, inf inf, \
        nan nan, 5 24, 172 inf, 1e300 inf, -200.5 -0, -199.5 0, -300.5 -0
    lgamma: 0 inf, -0 inf, 1 0, 2 0, -1 inf, -32 inf, -2e300 inf, -inf inf, inf inf, nan nan, \
        2.6e305 inf";

#[test]
#[ignore = "gamma of f64 takes seconds without optimisation"]
fn error_functions_and_gamma_have_their_special_results() {
    for (name, cases) in special::<f64>(SPECIAL) {
        let runner = Runner::new(name, Arithmetic::new(Format::F64), Goal::Size);
        let operands: Vec<_> = cases.iter().map(|(x, _)| vec![x.to_bits()]).collect();
        for ((x, expected), found) in cases.iter().zip(runner.run(&operands)) {
            assert_eq!(u128::from(found), bits_f64(*expected), "{name}({x})");
        }
    }
}
