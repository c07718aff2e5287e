//! Operands of tests, and numbers of small formats as numbers of the machine.

use crate::common::Random;
use sealane_numeric::{Format, measure};

/// The number of a machine that the bits stand for; every format of up to 52 bits of fraction and
/// 10 of exponent, and [`Format::F64`], is part of f64.
pub fn decode(format: Format, bits: u128) -> f64 {
    measure::value(format, bits as u64)
}

/// The bits of a number that the format holds exactly, with the canonical NaN.
pub fn encode(format: Format, number: f64) -> u128 {
    if number.is_nan() {
        return format.nan();
    }
    let sign = u128::from(number.is_sign_negative()) << (format.bits() - 1);
    // The magnitudes of a format are in the order of their bits.
    let (mut low, mut high) = (0, format.infinity());
    while low < high {
        let middle = low + (high - low) / 2;
        if decode(format, middle) < number.abs() {
            low = middle + 1
        } else {
            high = middle
        }
    }
    let found = decode(format, low);
    assert_eq!(found, number.abs(), "{number:e} is no number of {format:?}");
    sign | low
}

/// Subnormal numbers as zeros of their sign.
pub fn flush(format: Format, bits: u128) -> u128 {
    match bits & format.infinity() {
        0 => bits >> (format.bits() - 1) << (format.bits() - 1),
        _ => bits,
    }
}

/// All numbers of a format.
pub fn all(format: Format) -> Vec<Vec<u128>> {
    (0..1 << format.bits()).map(|bits| vec![bits]).collect()
}

/// All pairs of numbers of a format.
pub fn pairs(format: Format) -> Vec<Vec<u128>> {
    let all = 0..1 << format.bits();
    let with = |x| all.clone().map(move |y| vec![x, y]);
    all.clone().flat_map(with).collect()
}

/// The numbers at which something changes: zeros, ends of subnormal and normal numbers, powers of
/// 2 with their neighbours, halves, infinities, NaN with several payloads; both signs.
pub fn edges(format: Format) -> Vec<u128> {
    let infinity = format.infinity();
    let negative = 1 << (format.bits() - 1);
    let mut edges = vec![0, 1, 2, 3, infinity - 1, infinity, infinity + 1];
    edges.extend([format.nan(), format.nan() + 1, negative - 1]);
    for exponent in 1..(1 << format.exponent) - 1 {
        let power: u128 = exponent << format.fraction;
        let near = exponent.abs_diff(format.bias() as u128) < 70;
        if near || exponent < 4 || exponent + 4 > 1 << format.exponent || exponent % 16 == 0 {
            let half = 1 << (format.fraction - 1);
            edges.extend([power - 1, power, power + 1, power + half, power + half - 1]);
            edges.push(power + half + 1);
        }
    }
    edges.iter().flat_map(|&x| [x, x | negative]).collect()
}

/// Random numbers of all kinds: any bits, subnormal ones, some near 1, some with few bits set.
pub fn random(format: Format, random: &mut Random, count: usize) -> Vec<u128> {
    let mask = (1 << format.bits()) - 1;
    let any = |random: &mut Random| random.wide() & mask;
    (0..count)
        .map(|i| {
            let fraction = any(random) & ((1 << format.fraction) - 1);
            let sign = any(random) & 1 << (format.bits() - 1);
            let near = |random: &mut Random, by: u64| {
                let exponent = format.bias() as i64 + random.below(2 * by) as i64 - by as i64;
                (exponent.clamp(0, (1 << format.exponent) - 1) as u128) << format.fraction
            };
            match i % 5 {
                0 => any(random),
                1 => sign | fraction,
                2 => sign | fraction | near(random, format.fraction as u64 + 8),
                3 => {
                    let cut = random.below(format.fraction as u64 + 1);
                    sign | fraction >> cut << cut | near(random, format.fraction as u64 + 8)
                }
                _ => sign | fraction | near(random, 3),
            }
        })
        .collect()
}

/// Edges and random numbers, one a row.
pub fn singles(format: Format, count: usize) -> Vec<Vec<u128>> {
    let mut numbers = edges(format);
    numbers.extend(random(format, &mut Random::new(7), count));
    numbers.into_iter().map(|x| vec![x]).collect()
}

/// Pairs of edges and of random numbers, some of them equal or neighbours.
pub fn doubles(format: Format, count: usize) -> Vec<Vec<u128>> {
    let mut source = Random::new(11);
    let edges = edges(format);
    let x = random(format, &mut source, count);
    let y = random(format, &mut source, count);
    let mask = (1 << format.bits()) - 1;
    x.into_iter()
        .zip(y)
        .enumerate()
        .map(|(i, (x, y))| {
            let edge = |source: &mut Random| edges[source.below(edges.len() as u64) as usize];
            match i % 6 {
                0 => vec![x, y],
                1 => vec![edge(&mut source), edge(&mut source)],
                2 => vec![x, edge(&mut source)],
                3 => vec![x, x],
                4 => vec![x, x ^ 1 << (format.bits() - 1)],
                _ => vec![x, (x + 1) & mask],
            }
        })
        .collect()
}

#[test]
fn the_machine_decodes_single_precision_in_the_same_way() {
    let same = |bits: u32| {
        let (decoded, native) = (decode(Format::F32, bits.into()), f32::from_bits(bits));
        let alike = decoded.to_bits() == f64::from(native).to_bits();
        assert!(alike || decoded.is_nan() && native.is_nan(), "{bits:#x}");
    };
    for number in 0..1 << 16_u32 {
        same(number << 16 | number);
        // Subnormal numbers.
        same(number << 7);
    }
}
