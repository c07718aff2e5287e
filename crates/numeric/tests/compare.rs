//! Classes, signs, comparisons, minimum and maximum, against the machine's.

use crate::common::exact::{decode as exact, encode_value};
use crate::common::{both, runner};
use crate::lanes::{check, check_variant, variants};
use crate::pairs::chosen;
use crate::values::{decode, doubles, edges, encode, pairs};
use sealane_numeric::{Format, Subnormals, function};
use std::cmp::Ordering;

type Operator = fn(f64, f64) -> bool;
/// Of two numbers and the mask of the sign.
type OnBits = fn(u128, u128, u128) -> u128;

fn truth(bit: bool) -> Vec<u128> {
    vec![u128::from(bit)]
}

fn against_machine(format: Format, rows: &[Vec<u128>]) {
    let operators: [(&str, Operator); 6] = [
        ("eq", |x, y| x == y),
        ("ne", |x, y| x != y),
        ("lt", |x, y| x < y),
        ("le", |x, y| x <= y),
        ("gt", |x, y| x > y),
        ("ge", |x, y| x >= y),
    ];
    for (name, operator) in operators {
        check(name, format, rows, |x| {
            truth(operator(decode(format, x[0]), decode(format, x[1])))
        });
    }
    type First = fn(Ordering) -> bool;
    let chosen_by: [(&str, First); 2] = [("fmin", Ordering::is_le), ("fmax", Ordering::is_ge)];
    for (name, first) in chosen_by {
        check(name, format, rows, |x| {
            let [x, y] = [x[0], x[1]].map(|x| decode(format, x));
            vec![encode(format, chosen(x, y, first))]
        });
    }
}

#[test]
fn all_pairs_of_small_formats_are_compared() {
    for format in [Format::new(3, 3), Format::new(2, 4)] {
        against_machine(format, &pairs(format));
    }
}

#[test]
fn pairs_of_all_formats_are_compared() {
    for format in Format::ALL {
        against_machine(format, &doubles(format, 6000));
    }
}

/// The exact difference, rounded once, of numbers that are not in the order of C's definition.
#[test]
fn positive_differences() {
    for (format, rows) in [
        (Format::new(3, 3), pairs(Format::new(3, 3))),
        (Format::F32, doubles(Format::F32, 4000)),
        (Format::F64, doubles(Format::F64, 4000)),
    ] {
        for arithmetic in both(format) {
            check_variant("fdim", arithmetic, &rows, |x| {
                let [from, less] = [x[0], x[1]].map(|x| decode(format, x));
                let difference = exact(arithmetic, x[0]).add(&exact(arithmetic, x[1]).neg());
                let rounded = encode_value(arithmetic, &difference);
                vec![if from <= less { 0 } else { rounded }]
            });
        }
    }
}

#[test]
fn numbers_are_classified() {
    for format in [&Format::ALL[..], &[Format::new(3, 3)]].concat() {
        let rows: Vec<_> = edges(format).into_iter().map(|x| vec![x]).collect();
        let smallest = decode(format, 1 << format.fraction);
        let is_normal = |x: f64| x.is_finite() && x.abs() >= smallest;
        let classes: [(&str, &dyn Fn(f64) -> bool); 4] = [
            ("isnan", &f64::is_nan),
            ("isinf", &f64::is_infinite),
            ("isfinite", &f64::is_finite),
            ("isnormal", &is_normal),
        ];
        for (name, class) in classes {
            check(name, format, &rows, |x| truth(class(decode(format, x[0]))));
        }
    }
}

/// Signs move without an AND, on the bits as they are.
#[test]
fn signs_are_bits() {
    for format in Format::ALL {
        let sign = 1 << (format.bits() - 1);
        let rows = doubles(format, 2000);
        let signs: [(&str, OnBits); 4] = [
            ("fabs", |x, _, sign| x & !sign),
            ("neg", |x, _, sign| x ^ sign),
            ("copysign", |x, y, sign| x & !sign | y & sign),
            ("signbit", |x, _, sign| u128::from(x & sign != 0)),
        ];
        for (name, expected) in signs {
            let function = function(name).unwrap();
            for (goal, arithmetic) in variants(format) {
                let circuit = runner(name, arithmetic, goal);
                assert_eq!(circuit.ands, 0, "{name}");
                let operands = rows.iter().map(|x| x[..function.operands.len()].to_vec());
                let rows: Vec<_> = operands.collect();
                for (row, found) in rows.iter().zip(circuit.run(&rows)) {
                    let other = row.get(1).copied().unwrap_or(0);
                    assert_eq!(found, [expected(row[0], other, sign)], "{name} of {row:x?}");
                }
            }
        }
    }
}

/// Flushing makes zeros of subnormal numbers before they are compared.
#[test]
fn flushed_numbers_are_equal_to_zero() {
    for (goal, arithmetic) in variants(Format::F32) {
        let found = runner("eq", arithmetic, goal).run(&[vec![1, 1 << 31]]);
        let flushed = arithmetic.subnormals == Subnormals::Flushed;
        assert_eq!(found, [[u128::from(flushed)]]);
    }
}
