//! Conversions, against exact arithmetic and the machine's.

use crate::common::exact::{Value, decode as exact, encode, encode_value, power};
use crate::common::{GOALS, Random};
use crate::lanes::variants;
use crate::values::{all, decode, edges, random, singles};
use num_bigint::BigInt;
use sealane_circuit::Goal;
use sealane_numeric::measure::Runner;
use sealane_numeric::{Arithmetic, Fixed, Format, Rounding};

#[test]
fn numbers_change_their_format() {
    let small = [(3, 3), (4, 3), (3, 5), (5, 2)];
    let small = small.map(|(exponent, fraction)| Format::new(exponent, fraction));
    for from in [Format::ALL, small].concat() {
        let rows = match from.bits() {
            ..=16 => all(from),
            _ => singles(from, 4000),
        };
        for to in [Format::ALL, small].concat() {
            for (goal, arithmetic) in variants(from) {
                let circuit = Runner::build(goal, &[from.bits()], |b, x| {
                    vec![arithmetic.convert(b, &x[0], to)]
                });
                let target = Arithmetic {
                    format: to,
                    ..arithmetic
                };
                let id = format!("of {arithmetic:?} in {to:?}, {goal:?}");
                for (row, found) in rows.iter().zip(circuit.run(&rows)) {
                    let want = encode_value(target, &exact(arithmetic, row[0]));
                    assert_eq!(found, [want], "{row:x?} {id}");
                }
            }
        }
    }
}

/// The machine's own conversions of f32 and f64.
#[test]
fn f32_and_f64_convert_as_on_the_machine() {
    let (single, double) = (Format::F32, Format::F64);
    let narrow = Runner::build(Goal::Size, &[64], |b, x| {
        vec![Arithmetic::new(double).convert(b, &x[0], single)]
    });
    let rows = singles(double, 4000);
    for (row, found) in rows.iter().zip(narrow.run(&rows)) {
        let want = crate::common::bits_f32(f64::from_bits(row[0] as u64) as f32);
        assert_eq!(found, [want], "{row:x?}");
    }
}

/// Integers at which something changes, for a width.
fn integers(bits: usize, source: &mut Random) -> Vec<u128> {
    let mask = (1u128 << bits) - 1;
    let half = mask >> 1;
    let mut integers = vec![0, 1, 2, 3, mask, mask - 1, half, half + 1, mask / 3];
    for k in 0..bits {
        let power = 1u128 << k;
        integers.extend([power, power - 1, power + 1]);
        integers.extend([mask - power, mask ^ (power - 1)]);
        // Ties and their neighbours for each precision.
        for precision in [8, 11, 24, 53].into_iter().filter(|&p| k >= p) {
            let half = power | 1 << (k - precision);
            integers.extend([half, half + 1, half - 1, half | 1 << (k - precision + 1)]);
        }
    }
    integers.extend((0..40).map(|i| u128::from(source.next()) >> (i % bits)));
    integers.iter().map(|x| x & mask).collect()
}

fn signed(bits: u128, from: Fixed) -> i128 {
    if from.signed && bits >> (from.bits - 1) & 1 == 1 {
        bits as i128 - (1 << from.bits)
    } else {
        bits as i128
    }
}

#[test]
fn integers_of_all_widths_become_numbers() {
    let mut source = Random::new(3);
    let formats = [&Format::ALL[..], &[Format::new(3, 3)]].concat();
    for bits in 1..=64 {
        let integers = integers(bits, &mut source).into_iter();
        let rows: Vec<_> = integers.map(|x| vec![x]).collect();
        for (i, &format) in formats.iter().enumerate() {
            for is_signed in [false, true] {
                let fraction = (bits * (2 + i)).min(64 - (bits + i) % 7).min(bits);
                let [whole, fixed] = [Fixed::unsigned(bits), Fixed::signed(bits)];
                let fixed = fixed.with_fraction(fraction);
                let from = if is_signed { fixed } else { whole };
                // Goals and ways of subnormal numbers alternate.
                let (goal, arithmetic) = variants(format).nth((bits + i) % 4).unwrap();
                let circuit = Runner::build(goal, &[bits], |b, x| {
                    vec![arithmetic.of_fixed(b, &x[0], from)]
                });
                for (row, found) in rows.iter().zip(circuit.run(&rows)) {
                    let value = signed(row[0], from);
                    let size = BigInt::from(value.unsigned_abs());
                    let want = encode(arithmetic, value < 0, &size, &power(from.fraction as i64));
                    let id = format!("{value} of {from:?} in {arithmetic:?}, {goal:?}");
                    assert_eq!(found, [want], "{id}");
                }
            }
        }
    }
}

/// The number in units of the last place, rounded; and if it is beyond the range or NaN.
fn fixed(of: Arithmetic, x: u128, to: Fixed, rounding: Rounding) -> (BigInt, bool) {
    let half = power(to.bits as i64 - 1);
    let least = if to.signed { -half } else { 0.into() };
    let most = &least + power(to.bits as i64) - 1;
    let (negative, size, exponent) = match exact(of, x) {
        Value::Nan => return (BigInt::from(0), true),
        Value::Infinite(true) => return (least, true),
        Value::Infinite(false) => return (most, true),
        Value::Finite(negative, size, exponent) => (negative, size, exponent),
    };
    let shift = exponent + to.fraction as i64;
    let (over, under) = match shift {
        0.. => (size * power(shift), power(0)),
        _ => (size, power(-shift)),
    };
    let mut whole = &over / &under;
    let rest = &over - &whole * &under;
    let odd = &whole % 2 == BigInt::from(1);
    let up = match rounding {
        Rounding::Zero => false,
        Rounding::Down => negative && rest > BigInt::from(0),
        Rounding::Nearest => &rest * 2 > under || (&rest * 2 == under && odd),
    };
    whole += u8::from(up);
    let whole = if negative { -whole } else { whole };
    match () {
        () if whole < least => (least, true),
        () if whole > most => (most, true),
        () => (whole, false),
    }
}

const ROUNDINGS: [Rounding; 3] = [Rounding::Zero, Rounding::Down, Rounding::Nearest];

fn to_fixed(of: Arithmetic, goal: Goal, rows: &[Vec<u128>], to: Fixed, rounding: Rounding) {
    let circuit = Runner::build(goal, &[of.format.bits()], |b, x| {
        let converted = of.to_fixed(b, &x[0], to, rounding);
        vec![converted.value, vec![converted.refused]]
    });
    for (row, found) in rows.iter().zip(circuit.run(rows)) {
        let (value, refused) = fixed(of, row[0], to, rounding);
        let value = (value + power(to.bits as i64)) % power(to.bits as i64);
        let want = [u128::try_from(value).unwrap(), u128::from(refused)];
        let id = format!("{row:x?} of {of:?} as {to:?}, {rounding:?}, {goal:?}");
        assert_eq!(found, want, "{id}");
    }
}

/// All f16, and edges of the others, at all widths; the place of the point, goals and ways of
/// subnormal numbers in turn.
#[test]
fn numbers_become_integers_of_all_widths() {
    let formats = [&Format::ALL[..], &[Format::new(3, 3)]].concat();
    for (i, format) in formats.into_iter().enumerate() {
        let mut numbers = edges(format);
        numbers.extend(random(format, &mut Random::new(9), 800));
        let rows: Vec<_> = numbers.into_iter().map(|x| vec![x]).collect();
        for bits in 1..=64 {
            for rounding in ROUNDINGS {
                let (goal, of) = variants(format).nth((bits + i) % 4).unwrap();
                let is_signed = (bits / 4 + i) % 2 == 0;
                let fraction = (bits * (3 + i)) % (bits + 1) * usize::from(bits % 3 != 0);
                let to = if is_signed {
                    Fixed::signed(bits)
                } else {
                    Fixed::unsigned(bits)
                };
                let to = to.with_fraction(fraction);
                to_fixed(of, goal, &rows, to, rounding);
            }
        }
    }
}

#[test]
fn all_small_numbers_become_integers() {
    for format in [Format::F16, Format::new(3, 3)] {
        for (goal, of) in variants(format) {
            for rounding in ROUNDINGS {
                for to in [
                    Fixed::signed(8),
                    Fixed::unsigned(8),
                    Fixed::signed(1),
                    Fixed::signed(64).with_fraction(32),
                    Fixed::unsigned(17).with_fraction(17),
                ] {
                    to_fixed(of, goal, &all(format), to, rounding);
                }
            }
        }
    }
}

/// Rust's `as` between integers of 32 and 64 bits and numbers.
#[test]
fn casts_are_those_of_the_machine() {
    for goal in GOALS {
        for (format, fixed) in [
            (Format::F32, Fixed::signed(64)),
            (Format::F64, Fixed::signed(64)),
            (Format::F64, Fixed::unsigned(64)),
            (Format::F32, Fixed::unsigned(32)),
        ] {
            let of = Arithmetic::new(format);
            let circuit = Runner::build(goal, &[format.bits()], |b, x| {
                vec![of.to_fixed(b, &x[0], fixed, Rounding::Zero).value]
            });
            let rows = singles(format, 2000);
            for (row, found) in rows.iter().zip(circuit.run(&rows)) {
                let x = decode(format, row[0]);
                let want = match (fixed.bits, fixed.signed) {
                    (64, true) => (x as i64 as u64).into(),
                    (64, false) => u128::from(x as u64),
                    _ => u128::from(x as u32),
                };
                assert_eq!(found, [want], "{x:e} as {fixed:?}");
            }
        }
    }
}
