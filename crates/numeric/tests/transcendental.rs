//! Trigonometric functions, roots, the error function and gamma: against the machine's library in
//! double precision for f32.

use crate::elementary::error::{operand, rounded};
use crate::lanes::{Made, made};
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const F32: Arithmetic = Arithmetic::new(Format::F32);

/// The error of an f32 in units of the last place of the exact value.
pub fn ulps(found: u64, exact: f64) -> f64 {
    let found = f64::from(f32::from_bits(found as u32));
    if exact.is_nan() || (exact as f32).is_infinite() || found.is_nan() || found.is_infinite() {
        let same = found.is_nan() && exact.is_nan() || found == f64::from(exact as f32);
        return if same { 0.0 } else { f64::INFINITY };
    }
    // Signs of zeros count.
    if exact == 0.0 && found == 0.0 && exact.is_sign_negative() != found.is_sign_negative() {
        return f64::INFINITY;
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let place = f64::powi(2.0, exponent.max(-126) - 23);
    ((found - exact) / place).abs()
}

/// The worst error over arguments, with the argument.
fn worst(made: &Made, arguments: &[u64], exact: &dyn Fn(f64) -> f64) -> (f64, u64) {
    let found = made.run(arguments);
    let errors = arguments
        .iter()
        .zip(found)
        .map(|(&x, found)| (ulps(found, exact(f64::from(f32::from_bits(x as u32)))), x));
    errors.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
}

/// Arguments of every exponent and both signs, with special significands and others.
fn stratified(each: u64) -> Vec<u64> {
    let mut arguments = vec![];
    for top in 0..512u64 {
        let fractions = [
            0, 1, 2, 3, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff,
        ];
        let mixed =
            (0..each).map(|i| ((top << 20 | i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 41);
        arguments.extend(
            fractions
                .into_iter()
                .chain(mixed)
                .map(|fraction| top << 23 | fraction),
        );
    }
    arguments
}

/// Pairs of numbers: all pairs of special ones, and mixed ones of near and far exponents.
fn pairs(count: u64) -> Vec<(u64, u64)> {
    let special = [
        0,
        1,
        2,
        0x40_0000,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
        0x4049_0fdb,
        0x2f80_0000,
    ];
    let special: Vec<u64> = special.into_iter().flat_map(|x| [x, x | 1 << 31]).collect();
    let mut pairs: Vec<_> = special
        .iter()
        .flat_map(|&x| special.iter().map(move |&y| (x, y)))
        .collect();
    pairs.extend((0..count).map(|i| {
        let mix = |k: u64| (2 * i + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = mix(0) >> 20 & 0xffff_ffff;
        let y = mix(1) >> 20 & 0xffff_ffff;
        let spread = [0, 1, 2, 5, 13, 40][i as usize % 6];
        let near = (x >> 23 & 0xff)
            .saturating_add(mix(3) >> 50 & spread)
            .min(254);
        (
            x,
            if i % 7 == 0 {
                y
            } else {
                y & 0x807f_ffff | near << 23
            },
        )
    }));
    pairs
}

/// Functions of one argument, with the standard library's.
const SINGLE: [(&str, fn(f64) -> f64, f64); 8] = [
    ("atan", f64::atan, 0.6),
    ("asin", f64::asin, 0.65),
    ("acos", f64::acos, 0.6),
    ("sin", f64::sin, 0.6),
    ("cos", f64::cos, 0.6),
    ("tan", f64::tan, 0.65),
    ("cbrt", f64::cbrt, 0.6),
    ("rsqrt", |x| 1.0 / x.sqrt(), 0.6),
];

const DOUBLE: [(&str, fn(f64, f64) -> f64, f64); 2] =
    [("atan2", f64::atan2, 0.6), ("hypot", f64::hypot, 0.6)];

#[test]
fn functions_of_one_number() {
    for (name, exact, bound) in SINGLE {
        for goal in [Goal::Size, Goal::Depth] {
            let made = made(name, F32, goal);
            let worst = worst(
                &made,
                &stratified(if goal == Goal::Size { 200 } else { 10 }),
                &exact,
            );
            println!(
                "{name}: {goal:?} ANDs {} depth {} worst {worst:?} {:x}",
                made.info.ands, made.info.depth, worst.1
            );
            assert!(worst.0 < bound, "{name}: {worst:?}");
        }
    }
}

#[test]
fn functions_of_two_numbers() {
    for (name, exact, bound) in DOUBLE {
        let made = made(name, F32, Goal::Size);
        let pairs = pairs(60_000);
        let found = made.run_pairs(&pairs);
        let float = |x: u64| f64::from(f32::from_bits(x as u32));
        let mut worst = (0.0, (0, 0), 0);
        for (&(x, y), found) in pairs.iter().zip(found) {
            let error = ulps(found, exact(float(x), float(y)));
            if error > worst.0 {
                worst = (error, (x, y), found);
            }
        }
        println!(
            "{name}: ANDs {} depth {} worst {worst:x?} {} {}",
            made.info.ands,
            made.info.depth,
            float(worst.1.0),
            float(worst.1.1)
        );
        assert!(worst.0 < bound, "{name}: {worst:?}");
    }
}

/// Arguments and values of a function in the table of the special ones.
fn table(name: &str) -> Vec<(u64, f64)> {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/math/special.csv"
    ));
    let text = text.expect("testdata/math/special.csv");
    let rows = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[0] == name)
        .map(|row| {
            (
                u64::from_str_radix(row[1], 16).unwrap(),
                row[2].parse().unwrap(),
            )
        })
        .collect()
}

#[test]
fn error_functions_and_gamma() {
    for (name, bound) in [("erf", 0.65), ("erfc", 0.65), ("tgamma", 0.65)] {
        let rows = table(name);
        let arguments: Vec<u64> = rows.iter().map(|row| row.0).collect();
        for goal in [Goal::Size, Goal::Depth] {
            let start = std::time::Instant::now();
            let made = made(name, F32, goal);
            eprintln!("ANDs built {name} {:?}", start.elapsed());
            let found = made.run(&arguments);
            eprintln!("ANDs ran {name} {:?}", start.elapsed());
            let errors = rows
                .iter()
                .zip(found)
                .map(|(&(x, exact), found)| (ulps(found, exact), x, found));
            let worst = errors.fold((0.0, 0, 0), |a, b| if b.0 > a.0 { b } else { a });
            println!(
                "{name}: {goal:?} ANDs {} depth {} worst {worst:x?} {}",
                made.info.ands,
                made.info.depth,
                f32::from_bits(worst.1 as u32)
            );
            assert!(worst.0 < bound, "{name}: {worst:x?}");
        }
    }
}

/// Every argument of the functions named in `SEALANE_FUNCTIONS` (all, if it is not set), with the
/// worst error of each.
#[test]
#[ignore = "minutes to hours: all 2^32 arguments"]
fn all_arguments() {
    let chosen = std::env::var("SEALANE_FUNCTIONS").unwrap_or_default();
    for (name, exact, bound) in SINGLE {
        if !chosen.is_empty() && !chosen.split(',').any(|one| one == name) {
            continue;
        }
        let made = made(name, F32, Goal::Size);
        let next = AtomicU64::new(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let worst = Mutex::new((0.0, 0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let part = next.fetch_add(1, Relaxed);
                        if part >= 1 << 12 {
                            return;
                        }
                        let mut found = (0.0, 0);
                        for first in (part << 20..(part + 1) << 20).step_by(512) {
                            let row: Vec<u64> = (first..first + 512).collect();
                            let here = self::worst(&made, &row, &exact);
                            found = if here.0 > found.0 { here } else { found };
                        }
                        let mut worst = worst.lock().unwrap();
                        *worst = if found.0 > worst.0 { found } else { *worst };
                        if part % 64 == 0 {
                            eprintln!(
                                "{name}: {} %, {:.4} ULP at {:#010x}",
                                part * 100 >> 12,
                                worst.0,
                                worst.1
                            );
                        }
                    }
                });
            }
        });
        let worst = worst.into_inner().unwrap();
        eprintln!("{name}: {:.5} ULP at {:#010x}", worst.0, worst.1);
        assert!(worst.0 < bound, "{name}: {worst:?}");
    }
}

/// Formats of 16 bits are correctly rounded: all arguments. A result in f64 is exact enough to say
/// which number is nearest, as no exact result is so near the middle between two numbers.
#[test]
fn half_precision_is_rounded_correctly() {
    for format in [Format::F16, Format::BF16] {
        for (name, exact, _) in SINGLE {
            for arithmetic in [Arithmetic::new(format), Arithmetic::new(format).flushed()] {
                let made = made(name, arithmetic, Goal::Size);
                let arguments: Vec<u64> = (0..1 << 16).collect();
                let found = made.run(&arguments);
                let wrong = arguments.iter().zip(found).filter(|&(&x, found)| {
                    found != rounded(arithmetic, exact(operand(arithmetic, x)))
                });
                let wrong: Vec<_> = wrong.collect();
                println!(
                    "{name} {} {:?}: ANDs {} depth {}, wrong {} {:x?}",
                    format.name(),
                    arithmetic.subnormals,
                    made.info.ands,
                    made.info.depth,
                    wrong.len(),
                    wrong.iter().take(4).collect::<Vec<_>>()
                );
            }
        }
    }
}
