//! Functions of two numbers, the error functions and gamma, and the sizes of circuits; functions of
//! one number that the machine's library has are among those of `elementary`.

use crate::common::bits_f32;
use crate::elementary::double;
use crate::elementary::error::{rounded, sample, value};
use crate::elementary::lanes::{Runner, special};
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};

const F32: Arithmetic = Arithmetic::new(Format::F32);

/// Pairs of numbers: all pairs of special ones; mixed ones of near and of far exponents.
fn pairs(format: Format, count: usize) -> Vec<Vec<u64>> {
    let borders = sample(format, 0, 1);
    let special = borders.iter().step_by(borders.len() / 60).copied();
    let infinity = format.infinity() as u64;
    let sign = 1 << (format.bits() - 1);
    let one = format.one() as u64;
    let around = |x| [x, x + 1, x - 1];
    let ends = [vec![0, 1], around(one).to_vec(), around(infinity).to_vec()].concat();
    let ends = ends.into_iter().flat_map(|x| [x, x | sign]);
    let special: Vec<u64> = special.chain(ends).collect();
    let with = |&x: &u64| special.iter().map(move |&y| vec![x, y]);
    let mut pairs: Vec<Vec<u64>> = special.iter().flat_map(with).collect();
    let (xs, ys) = (sample(format, count, 3), sample(format, count, 4));
    for (i, &x) in xs.iter().enumerate() {
        let y = ys[(i * 7919 + 13) % ys.len()];
        let fraction = (1 << format.fraction) - 1;
        let up = ([0, 1, 2, 5, 11, 24][i % 6]) << format.fraction;
        let near = (x & (sign - 1)).saturating_add(up).min(infinity) & !fraction;
        let near = near | y & (fraction | sign);
        pairs.push(vec![x, if i % 5 == 0 { y } else { near }]);
    }
    pairs
}

/// The angle; where f64 cannot tell it from the quotient, which is larger, the number below that.
fn atan2(y: f64, x: f64) -> f64 {
    let angle = y.atan2(x);
    if angle == y / x && angle != 0.0 {
        f64::from_bits(angle.to_bits() - 1)
    } else {
        angle
    }
}

#[test]
fn functions_of_two_numbers() {
    type Exact = fn(f64, f64) -> f64;
    let functions: [(_, Exact); 2] = [("atan2", atan2), ("hypot", f64::hypot)];
    for (name, exact) in functions {
        for (format, count) in [(Format::F32, 12), (Format::F16, 150), (Format::BF16, 20)] {
            let pairs = pairs(format, count);
            for runner in Runner::all(name, format) {
                let off = runner.worst(&pairs, |_, x| exact(x[0], x[1]));
                assert!(off < 0.6, "{}: {off}", runner.what);
            }
        }
    }
}

/// Operands whose angle is less than 2^-17 units from the middle between two numbers of a short
/// format, in all quadrants: of all quotients of significands, over so many exponents that angles
/// beyond are as near to the quotient itself or to half a turn.
fn hard_angles(format: Format) -> Vec<Vec<u64>> {
    let p = format.fraction as i32 + 1;
    let sign = 1 << (format.bits() - 1);
    let numbers = || 0..1u64 << format.fraction;
    let value = |fraction: u64| 1.0 + fraction as f64 * 2f64.powi(1 - p);
    let near = |angle: f64| {
        let power = f64::from_bits(angle.to_bits() >> 52 << 52);
        let units = angle / power * 2f64.powi(p - 1);
        (units.fract() - 0.5).abs() < 2f64.powi(-17)
    };
    let bits = |fraction: u64, power: i32| {
        (fraction as i64 + (i64::from(power + format.bias()) << format.fraction)) as u64
    };
    let (half, quarter) = (std::f64::consts::PI, std::f64::consts::FRAC_PI_2);
    let mut hard = vec![];
    for power in -p - 1..=0 {
        for (m, n) in numbers().flat_map(|m| numbers().map(move |n| (m, n))) {
            let angle = (value(m) / value(n) * 2f64.powi(power)).atan();
            let (y, x) = (bits(m, power), bits(n, 0));
            hard.extend(near(angle).then(|| vec![y, x]));
            hard.extend(near(half - angle).then(|| vec![y | sign, x | sign]));
            hard.extend(near(quarter - angle).then(|| vec![x, y]));
            hard.extend(near(quarter + angle).then(|| vec![x, y | sign]));
        }
    }
    hard
}

#[test]
fn angles_near_the_middle_of_two_short_numbers_are_rounded_correctly() {
    for format in [Format::F16, Format::BF16] {
        let hard = hard_angles(format);
        assert!(hard.len() > 10, "{} operands", hard.len());
        for runner in Runner::all("atan2", format) {
            runner.worst(&hard, |_, x| x[0].atan2(x[1]));
        }
    }
}

/// Arguments in f32, and values, of a function in the table of the special ones.
fn table(name: &str) -> Vec<(f32, f64)> {
    let text = double::table("special");
    let rows = text.lines().skip(1);
    let rows = rows.map(|line| line.split(',').collect::<Vec<_>>());
    let read = |row: Vec<&str>| {
        let bits = u32::from_str_radix(row[1], 16).expect("an argument");
        (f32::from_bits(bits), row[2].parse().expect("a value"))
    };
    rows.filter(|row| row[0] == name).map(read).collect()
}

/// The rows whose arguments are numbers of the format, as circuits read them.
fn rows(name: &str, arithmetic: Arithmetic) -> (Vec<Vec<u64>>, Vec<f64>) {
    let rows = table(name).into_iter().filter_map(|(x, exact)| {
        let x = f64::from(x);
        let bits = rounded(arithmetic, x);
        (value(arithmetic.format, bits) == x).then_some((vec![bits], exact))
    });
    rows.unzip()
}

#[test]
fn error_functions_and_gamma() {
    for name in ["erf", "erfc", "tgamma", "lgamma"] {
        for format in [Format::F32, Format::F16, Format::BF16] {
            for runner in Runner::all(name, format) {
                let (arguments, values) = rows(name, runner.of);
                let off = runner.worst(&arguments, |i, _| values[i]);
                assert!(off < 0.6, "{}: {off}", runner.what);
            }
        }
    }
}

/// Annex F of C99: where results are exact, infinite or not numbers.
const SPECIAL: &str = "\
    sin: inf nan, -inf nan, 0 0, -0 -0, nan nan
    cos: inf nan, 0 1, -0 1, 1e-40 1
    tan: -inf nan, -0 -0, 1e-40 1e-40
    cbrt: -0 -0, -27 -3, -inf -inf, nan nan
    rsqrt: 0 inf, -0 -inf, inf 0, -1 nan, 4 0.5
    asin: 1.0000001 nan, -0 -0, inf nan, nan nan
    acos: 1 0, -1.0000001 nan, -inf nan
    atan: -0 -0, nan nan
    erf: -0 -0, inf 1, -inf -1, nan nan, 9 1
    erfc: inf 0, -inf 2, nan nan, 0 1, -0 1, 13 0
    tgamma: 0 inf, -0 -inf, -1 nan, -2e9 nan, -inf nan, inf inf, nan nan, 5 24, 36 inf, \
        -70.5 -0, -71.5 0";

#[test]
fn special_results() {
    for (name, cases) in special::<f32>(SPECIAL) {
        let runner = Runner::new(name, F32, Goal::Size);
        let arguments = cases.iter().map(|(x, _)| vec![x.to_bits().into()]);
        let found = runner.run(&arguments.collect::<Vec<_>>());
        for ((x, expected), found) in cases.into_iter().zip(found) {
            assert_eq!(u128::from(found), bits_f32(expected), "{name}({x})");
        }
    }
}
