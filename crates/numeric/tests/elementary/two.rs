//! `pow` against the machine's in f64.

use crate::elementary::error::{rounded, sample};
use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};

/// The largest odd number.
const ODD: f32 = 16777215.0;

/// Pairs of operands: special ones, pairs of any size, and pairs with a power that is finite.
fn pairs() -> Vec<Vec<u64>> {
    let format = Format::F32;
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        -3.0,
        2.5,
        -2.5,
        1e-40,
        -1e-40,
        1e38,
        ODD,
        -ODD,
        ODD + 1.0,
        8388607.5,
        -8388607.0,
        1.0000001,
        0.99999994,
        f32::INFINITY,
        -f32::INFINITY,
        f32::NAN,
    ];
    let special = special.map(|x: f32| u64::from(x.to_bits()));
    let with = |&x: &u64| special.iter().map(move |&y| vec![x, y]);
    let mut pairs: Vec<Vec<u64>> = special.iter().flat_map(with).collect();
    let bases = sample(format, 12, 7);
    let exponents = sample(format, 12, 8);
    let count = bases.len();
    for (i, &x) in bases.iter().enumerate() {
        pairs.push(vec![x, exponents[(i * 7919 + 13) % count]]);
        pairs.push(vec![x, special[i % special.len()]]);
        // An exponent that leads to a power of 2^-150 to 2^130.
        let log = f32::from_bits(x as u32).abs().log2();
        let spread = (exponents[i] & 0xffff) as f32 / 65536.0 * 280.0 - 150.0;
        let y = spread / log;
        let y = if i % 3 == 0 { y.round() } else { y };
        pairs.push(vec![x, u64::from(y.to_bits())]);
    }
    // Bases near 1, whose logarithm is small.
    for i in 0..4000u32 {
        let x = 0x3f80_0000u32.wrapping_add_signed((i as i32 - 2000) * 37);
        let log = f32::from_bits(x).log2();
        let y = (i % 280) as f32 - 150.0;
        pairs.push(vec![x.into(), u64::from((y / log).to_bits())]);
    }
    pairs
}

#[test]
fn powers_are_near_the_exact_value() {
    let pairs = pairs();
    for runner in Runner::all("pow", Format::F32) {
        let off = runner.worst(&pairs, |_, x| x[0].powf(x[1]));
        assert!(off <= 0.6, "{}: {off}", runner.what);
    }
}

/// Powers of many operands, and of all sizes of operands with exponents with which a power may be
/// the middle of two numbers, such as a square.
#[test]
fn powers_of_16_bits_are_correctly_rounded() {
    for format in [Format::F16, Format::BF16] {
        let arithmetic = Arithmetic::new(format);
        let numbers = sample(format, if format == Format::F16 { 40 } else { 1 }, 3);
        let count = numbers.len();
        let other = |i: usize| numbers[(i * 104_729 + i / 64) % count];
        let any = (0..60_000).map(|i| vec![numbers[i * 7919 % count], other(i)]);
        let mut pairs: Vec<Vec<u64>> = any.collect();
        let small = |n: i32| rounded(arithmetic, f64::from(n) / 2.0);
        let exponents: Vec<u64> = (-4..14).map(small).collect();
        let with = |&x: &u64| exponents.iter().map(move |&y| vec![x, y]);
        pairs.extend(numbers.iter().flat_map(with));
        let runner = Runner::new("pow", arithmetic, Goal::Size);
        runner.worst(&pairs, |_, x| x[0].powf(x[1]));
    }
}
