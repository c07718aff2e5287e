//! Rounding to integral values, against the machine's functions.

use crate::lanes::check;
use crate::values::{all, decode, encode, singles};
use sealane_numeric::Format;

type Function = fn(f64) -> f64;

const FUNCTIONS: [(&str, Function); 6] = [
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
    ("round", f64::round),
    ("rint", f64::round_ties_even),
    ("roundeven", f64::round_ties_even),
];

fn against_machine(format: Format, rows: &[Vec<u128>]) {
    for (name, function) in FUNCTIONS {
        check(name, format, rows, |x| {
            vec![encode(format, function(decode(format, x[0])))]
        });
    }
}

#[test]
fn all_numbers_of_small_formats_are_rounded() {
    for format in [Format::F16, Format::BF16, Format::new(3, 3)] {
        against_machine(format, &all(format));
    }
}

#[test]
fn numbers_of_large_formats_are_rounded() {
    for format in [Format::F32, Format::F64] {
        against_machine(format, &singles(format, 6000));
    }
}

/// Python's `math.modf`: both parts have the sign of the number.
#[test]
fn numbers_are_split_at_the_point() {
    let split = |format, x: &[u128]| {
        let x = decode(format, x[0]);
        let behind = if x.is_infinite() { 0.0 } else { x - x.trunc() };
        let parts = [behind.copysign(x), x.trunc()];
        parts.map(|part| encode(format, part)).to_vec()
    };
    for format in [Format::F16, Format::BF16, Format::new(4, 3)] {
        check("modf", format, &all(format), |x| split(format, x));
    }
    for format in [Format::F32, Format::F64] {
        check("modf", format, &singles(format, 6000), |x| split(format, x));
    }
}
