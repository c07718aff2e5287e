//! Functions of f64 against mpmath's answers.

use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::real::Real;
use sealane_numeric::{Arithmetic, Format};

/// Functions whose circuits are made in little time.
const FUNCTIONS: &[&str] = &[
    "exp", "exp2", "log", "log2", "log10", "pow", "expm1", "log1p",
];

/// Functions with polynomials for a thousand segments and more.
const LARGE: &[&str] = &["sinh", "cosh", "tanh", "sigmoid", "asinh", "acosh", "atanh"];

/// Functions of `transcendental`, whose worst error is at results just below a power of two.
const FURTHER: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "cbrt", "rsqrt", "erf",
];

/// The worst error that is allowed, in units in the last place.
const WORST: f64 = 0.6;
/// The same for [`FURTHER`].
const WORST_FURTHER: f64 = 0.7;

/// The value of a finite number, in units of 2^-1074 and with `DIGITS` binary digits behind them.
fn units(bits: u64) -> (i128, i32) {
    let field = (bits >> 52 & 0x7ff) as i32;
    let low = (bits & ((1 << 52) - 1)) as i128;
    let (size, exponent) = match field {
        0 => (low, -1074),
        _ => (low | 1 << 52, field - 1075),
    };
    (if bits >> 63 == 1 { -size } else { size }, exponent)
}

/// The difference of a result and an exact value in units in the last place of that, as far as 40
/// digits tell.
fn error(found: u64, rounded: u64, exact: &str) -> f64 {
    let (size, exponent) = units(found);
    let (_, place) = units(rounded);
    let exact = decimal(exact, -place);
    let found = Real::scaled(size, i64::from(exponent - place));
    let off = (&found - &exact).abs();
    off.rounded_i128(40) as f64 / 2f64.powi(40)
}

/// A decimal number with an exponent, times `2^binary`.
fn decimal(text: &str, binary: i32) -> Real {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // As many digits as the largest integer has.
    let fraction = &fraction[..fraction.len().min(36)];
    let number: i128 = format!("{whole}{fraction}").parse().unwrap();
    let ten = exponent - fraction.len() as i64;
    // Powers of ten by logarithms would lose digits; those of five are exact and may be large.
    let mut value = Real::of(1);
    let mut shift = i64::from(binary) + ten;
    let five = Real::of(5);
    for _ in 0..ten.abs() {
        value = match ten > 0 {
            true => &value * &five,
            false => &value / &five,
        };
        // Keep the number near 1, where it has all its digits.
        let size = value.exponent().unwrap_or(0);
        value = value.shifted(-size);
        shift += size;
    }
    (&value * &Real::scaled(number, -128)).shifted(shift + 128)
}

/// The rows of a file: operands, the nearest number, and the exact value.
fn rows(text: &str) -> Vec<(Vec<u64>, u64, &str)> {
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("bits");
    let row = |line: &'_ str| -> (Vec<u64>, u64, usize) {
        let cells: Vec<&str> = line.split(',').collect();
        let operands = cells[0].split(' ').map(hex).collect();
        (operands, hex(cells[1]), line.len() - cells[2].len())
    };
    text.lines()
        .skip(1)
        .map(|line| {
            let (operands, nearest, at) = row(line);
            (operands, nearest, &line[at..])
        })
        .collect()
}

fn check(names: &[&str], goal: Goal, bound: f64) {
    let mut wrong = vec![];
    for name in names {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/math");
        let text = std::fs::read_to_string(format!("{folder}/{name}.csv")).expect("answers");
        let rows = rows(&text);
        let operands: Vec<Vec<u64>> = rows.iter().map(|row| row.0.clone()).collect();
        let runner = Runner::new(name, Arithmetic::new(Format::F64), goal);
        let results = runner.run(&operands);
        let errors = rows
            .iter()
            .zip(results)
            .map(|((operands, nearest, exact), found)| {
                let infinite = nearest << 1 == 0x7ff << 53 || found << 1 == 0x7ff << 53;
                let off = match infinite {
                    true if found == *nearest => 0.0,
                    true => f64::INFINITY,
                    false => error(found, *nearest, exact),
                };
                (off, operands)
            });
        let (off, at) = errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("rows");
        let line = format!("{name} {goal:?}: {off:.4} at {at:x?}, {} ANDs", runner.ands);
        println!("{line}, depth {}", runner.depth());
        if off > bound {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn f64_is_near_the_exact_value() {
    check(FUNCTIONS, Goal::Size, WORST);
    check(&["exp", "log"], Goal::Depth, WORST);
    check(&["sin", "cos", "atan"], Goal::Size, WORST_FURTHER);
}

#[test]
#[ignore = "polynomials for thousands of segments take seconds without optimisation"]
fn further_functions_of_f64_are_near_the_exact_value() {
    check(LARGE, Goal::Size, WORST);
    check(FUNCTIONS, Goal::Depth, WORST);
    check(LARGE, Goal::Depth, WORST);
    check(FURTHER, Goal::Size, WORST_FURTHER);
    check(FURTHER, Goal::Depth, WORST_FURTHER);
}
