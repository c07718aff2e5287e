//! Exponents and next numbers, against exact arithmetic and the machine's functions.

use crate::common::exact::{Value, decode as exact, encode_value};
use crate::common::{Random, both};
use crate::lanes::{check, check_variant};
use crate::values::{all, decode, doubles, encode, pairs, singles};
use sealane_numeric::Format;

/// The power of two in a number that is neither zero, infinity nor NaN: found by halving.
fn exponent(x: f64) -> i32 {
    let (mut size, mut exponent) = (x.abs(), 0);
    while size >= 2.0 {
        (size, exponent) = (size / 2.0, exponent + 1);
    }
    while size < 1.0 {
        (size, exponent) = (size * 2.0, exponent - 1);
    }
    exponent
}

fn int(n: i32) -> u128 {
    (n as u32).into()
}

fn ordinary(x: f64) -> bool {
    x.is_finite() && x != 0.0
}

fn exponents(format: Format, rows: &[Vec<u128>]) {
    check("frexp", format, rows, |x| {
        let number = decode(format, x[0]);
        if !ordinary(number) {
            return vec![encode(format, number), 0];
        }
        let exponent = exponent(number) + 1;
        let halves = exponent / 2;
        let fraction = number * 2f64.powi(-halves) * 2f64.powi(halves - exponent);
        vec![encode(format, fraction), int(exponent)]
    });
    check("ilogb", format, rows, |x| {
        let x = decode(format, x[0]);
        vec![int(match () {
            () if x.is_infinite() => i32::MAX,
            () if ordinary(x) => exponent(x),
            () => i32::MIN,
        })]
    });
    check("logb", format, rows, |x| {
        let x = decode(format, x[0]);
        let log = match () {
            () if x == 0.0 => f64::NEG_INFINITY,
            () if ordinary(x) => exponent(x).into(),
            () => x.abs(),
        };
        vec![encode(format, log)]
    });
}

#[test]
fn exponents_are_taken_out() {
    for format in [Format::F16, Format::BF16, Format::new(4, 3)] {
        exponents(format, &all(format));
    }
    for format in [Format::F32, Format::F64] {
        exponents(format, &singles(format, 3000));
    }
}

/// In all formats each number by powers that reach subnormal numbers, overflow and ties, and by
/// the largest integers.
#[test]
fn numbers_are_scaled() {
    for format in [&Format::ALL[..], &[Format::new(3, 3)]].concat() {
        let mut source = Random::new(5);
        let span = 2 * format.bias() as u64 + 2 * format.fraction as u64 + 8;
        let numbers = match format.bits() {
            ..8 => all(format),
            _ => singles(format, 2000),
        };
        let scaled = |(i, x): (usize, u128)| {
            let n = source.below(2 * span) as i64 - span as i64;
            let ends = [i32::MIN, i32::MAX, -(1 << 16), 1 << 12, 0, 1, -1];
            let n = match i % 8 {
                0 => ends[source.below(7) as usize],
                _ => n as i32,
            };
            vec![x, int(n)]
        };
        let numbers = numbers.iter().flat_map(|x| [x[0]; 4]).enumerate();
        let rows: Vec<_> = numbers.map(scaled).collect();
        for of in both(format) {
            check_variant("ldexp", of, &rows, |x| {
                let n = i64::from(x[1] as u32 as i32).clamp(-5000, 5000);
                let mut value = exact(of, x[0]);
                if let Value::Finite(_, _, exponent) = &mut value {
                    *exponent += n;
                }
                vec![encode_value(of, &value)]
            });
        }
    }
}

/// Rust's `next_up` and `next_down`; of other formats by the order of all numbers.
pub fn next(format: Format, x: &[u128]) -> Vec<u128> {
    let [from, to] = [x[0], x[1]].map(|x| decode(format, x));
    if from.is_nan() || to.is_nan() {
        return vec![format.nan()];
    }
    if from == to {
        return vec![x[1]];
    }
    if format == Format::F64 {
        let next = if from < to {
            f64::next_up
        } else {
            f64::next_down
        };
        return vec![encode(format, next(from))];
    }
    let order = |bits: u128| match bits >> (format.bits() - 1) {
        0 => bits as i64,
        _ => (1 << (format.bits() - 1)) - bits as i64,
    };
    let place = order(x[0]) + if from < to { 1 } else { -1 };
    // A zero that is reached has the sign of the number before it.
    let sign = match place {
        0 => x[0] >> (format.bits() - 1),
        _ => u128::from(place < 0),
    };
    vec![sign << (format.bits() - 1) | u128::from(place.unsigned_abs())]
}

#[test]
fn next_numbers() {
    let small = Format::new(3, 3);
    for (format, rows) in [
        (small, pairs(small)),
        (Format::F32, doubles(Format::F32, 4000)),
        (Format::F64, doubles(Format::F64, 4000)),
        (Format::BF16, doubles(Format::BF16, 4000)),
    ] {
        let [kept, flushed] = both(format);
        check_variant("nextafter", kept, &rows, |x| next(format, x));
        check_variant("nextafter", flushed, &rows, |x| next_flushed(format, x));
    }
}

/// The same without subnormal numbers, also among operands: zero and the smallest normal number are
/// neighbours.
pub fn next_flushed(format: Format, x: &[u128]) -> Vec<u128> {
    let magnitude = (1 << (format.bits() - 1)) - 1;
    let found = next(format, x)[0];
    vec![match found & magnitude {
        // One step from zero.
        1 => found & !magnitude | 1 << format.fraction,
        _ => found,
    }]
}
