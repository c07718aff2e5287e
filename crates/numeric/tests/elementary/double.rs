//! Functions of f64 against mpmath's answers.

use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::measure::Answer;
use sealane_numeric::{Arithmetic, Format};

/// Functions whose circuits are made in little time.
const FUNCTIONS: [&str; 8] = [
    "exp", "exp2", "log", "log2", "log10", "pow", "expm1", "log1p",
];

/// Functions with polynomials for a thousand segments and more.
const LARGE: &[&str] = &["sinh", "cosh", "tanh", "sigmoid", "asinh", "acosh", "atanh"];

/// Functions of `transcendental`, whose worst error is at results just below a power of two.
const FURTHER: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "cbrt", "rsqrt", "erf", "erfc", "tgamma",
];

/// The worst error that is allowed, in units in the last place.
const WORST: f64 = 0.6;
/// The same for [`FURTHER`].
const WORST_FURTHER: f64 = 0.7;

/// A table of answers, as text.
pub fn table(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/math");
    std::fs::read_to_string(format!("{folder}/{name}.csv")).expect("answers")
}

/// The rows of a function's table.
pub fn answers(name: &str) -> Vec<Answer> {
    Answer::table(&table(name))
}

fn check(names: &[&str], goal: Goal, bound: f64) {
    let mut wrong = vec![];
    for name in names {
        let rows = answers(name);
        let operands: Vec<Vec<u64>> = rows.iter().map(|row| row.operands.clone()).collect();
        let runner = Runner::new(name, Arithmetic::new(Format::F64), goal);
        let results = runner.run(&operands);
        let errors = rows.iter().zip(results);
        let errors = errors.map(|(row, found)| (row.error(found), &row.operands));
        let (off, at) = errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("rows");
        let line = format!("{}: {off:.4} at {at:x?}", runner.what);
        println!("{line}");
        if off > bound {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn f64_is_near_the_exact_value() {
    check(&FUNCTIONS, Goal::Size, WORST);
    check(&["exp", "log"], Goal::Depth, WORST);
    check(&["sin", "cos", "atan"], Goal::Size, WORST_FURTHER);
}

#[test]
#[ignore = "polynomials for thousands of segments take seconds without optimisation"]
fn further_functions_of_f64_are_near_the_exact_value() {
    check(LARGE, Goal::Size, WORST);
    check(&FUNCTIONS, Goal::Depth, WORST);
    check(LARGE, Goal::Depth, WORST);
    check(FURTHER, Goal::Size, WORST_FURTHER);
    check(FURTHER, Goal::Depth, WORST_FURTHER);
}
