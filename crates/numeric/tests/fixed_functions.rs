//! Functions of fixed point against values of many digits: all operands of small types, those of
//! every size in larger ones.

use num_bigint::BigInt;
use sealane_circuit::Goal;
use sealane_numeric::measure::Runner;
use sealane_numeric::real::Real;
use sealane_numeric::{Fixed, FixedFunction, Points, Refused, fixed_function, fixed_functions};

type Value = fn(&Real) -> Real;

/// Values in other words than those of the circuits' tables, where there are such.
const VALUES: &[(&str, Value)] = &[
    ("exp", Real::exp),
    ("exp2", |x| (x * &Real::of(2).ln()).exp()),
    ("expm1", |x| &x.exp() - &Real::of(1)),
    ("log", Real::ln),
    ("log2", |x| &x.ln() / &Real::of(2).ln()),
    ("log10", |x| &x.ln() / &Real::of(10).ln()),
    ("log1p", |x| (x + &Real::of(1)).ln()),
    ("sqrt", Real::sqrt),
    ("rsqrt", |x| (&Real::of(1) / x).sqrt()),
    ("cbrt", |x| match (*x == 0, x.is_negative()) {
        (true, _) => Real::of(0),
        (_, true) => -&(&(-x).ln() / &Real::of(3)).exp(),
        (_, false) => (&x.ln() / &Real::of(3)).exp(),
    }),
    ("sin", |x| x.turned().0),
    ("cos", |x| x.turned().1),
    ("tan", |x| &x.turned().0 / &x.turned().1),
    ("asin", Real::asin),
    ("acos", |x| &Real::pi().shifted(-1) - &x.asin()),
    ("atan", Real::atan),
    ("sinh", |x| (&x.exp() - &(-x).exp()).shifted(-1)),
    ("cosh", |x| (&x.exp() + &(-x).exp()).shifted(-1)),
    ("tanh", |x| {
        let power = x.shifted(1).exp();
        &(&power - &Real::of(1)) / &(&power + &Real::of(1))
    }),
    ("erf", |x| {
        if x.abs() < 12 {
            x.erf()
        } else {
            Real::ratio(if x.is_negative() { -1 } else { 1 }, 1)
        }
    }),
    ("sigmoid", |x| &Real::of(1) / &(&Real::of(1) + &(-x).exp())),
];

fn points(lo: i128, hi: i128, fraction: usize, to: Fixed, saturate: bool) -> Points {
    Points {
        lo,
        hi,
        fraction,
        to,
        saturate,
    }
}

/// The gates and the worst error, in units in the last place, of some operands.
fn worst(function: &FixedFunction, points: &Points, goal: Goal, operands: &[i128]) -> (u64, f64) {
    let width = 66;
    let runner = Runner::build(goal, &[width], |b, x| {
        vec![function.build(b, &x[0], points)]
    });
    let mask = (1u128 << width) - 1;
    let rows: Vec<Vec<u128>> = operands.iter().map(|&x| vec![x as u128 & mask]).collect();
    let (_, value) = VALUES
        .iter()
        .find(|(name, _)| *name == function.name)
        .expect("a value");
    let to = points.to;
    let range = function.results(points).expect("a range");
    let unit = 1i128 << points.fraction;
    let domain: [i128; 2] = match function.name {
        "log" | "log2" | "log10" | "rsqrt" => [1, i128::MAX],
        "log1p" => [1 - unit, i128::MAX],
        "sqrt" => [0, i128::MAX],
        "asin" | "acos" => [-unit, unit],
        "tan" => [-(unit * 3 / 2), unit * 3 / 2],
        _ => [i128::MIN, i128::MAX],
    };
    let (ends, mut most) = (ends(to), 0f64);
    for (&x, found) in operands.iter().zip(runner.run(&rows)) {
        let shift = 128 - to.bits;
        let found = match to.signed {
            true => (found[0] as i128) << shift >> shift,
            false => found[0] as i128,
        };
        assert!(
            range.0 <= found && found <= range.1,
            "{} of {x}: {found}",
            function.name
        );
        let x = Real::scaled(x.clamp(domain[0], domain[1]), -(points.fraction as i64));
        let huge = ["exp", "exp2", "expm1", "sinh", "cosh"].contains(&function.name);
        let x = match huge && x.abs() > 100 {
            true if x.is_negative() => Real::of(-100),
            true => Real::of(100),
            false => x,
        };
        let exact = value(&x).shifted(to.fraction as i64);
        let [least, largest] = ends.map(|end| Real::scaled(end, 0));
        let exact = if exact < least {
            least
        } else if exact > largest {
            largest
        } else {
            exact
        };
        let off = (&Real::scaled(BigInt::from(found), 0) - &exact).abs();
        most = most.max(off.rounded_i128(40) as f64 / 2f64.powi(40));
    }
    (runner.ands, most)
}

fn ends(of: Fixed) -> [i128; 2] {
    match of.signed {
        true => [-(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1],
        false => [0, (1 << of.bits) - 1],
    }
}

/// Operands next to powers of two and the ends, and others.
fn sample(lo: i128, hi: i128, count: usize) -> Vec<i128> {
    let powers = (0..64).flat_map(|k| [1i128 << k, -(1i128 << k)]);
    let near = powers.chain([0, lo, hi]).flat_map(|x| [x - 1, x, x + 1]);
    let mut state = 7u64;
    let others = (0..count).map(|i| {
        // A linear congruential generator (Knuth, MMIX), for numbers of every size.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state as i64 >> (i % 60)) as i128
    });
    let all: Vec<i128> = near.chain(others).collect();
    all.into_iter().filter(|x| (lo..=hi).contains(x)).collect()
}

/// The largest range of operands that a function takes with results in the type.
fn taken(function: &FixedFunction, fraction: usize, bits: usize, to: Fixed) -> Option<Points> {
    let sizes = (0..bits).rev().map(|k| 1i128 << k);
    let ranges = sizes.flat_map(|size| {
        [
            (-size, size - 1),
            (0, size - 1),
            (1, size),
            (size / 8, size),
        ]
    });
    let mut tasks = ranges.map(|(lo, hi)| points(lo, hi, fraction, to, false));
    tasks.find(|points| function.results(points).is_ok())
}

#[test]
fn all_operands_of_small_types() {
    for function in fixed_functions() {
        for (bits, fraction) in [(8, 4), (10, 7)] {
            let to = Fixed::signed(bits).with_fraction(fraction);
            let Some(plain) = taken(function, fraction, bits, to) else {
                panic!("no range of {} in {bits}.{fraction}", function.name)
            };
            let (lo, hi) = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
            let whole = points(lo, hi, fraction, to, true);
            let goal = if fraction == 4 {
                Goal::Size
            } else {
                Goal::Depth
            };
            for points in [plain, whole] {
                let operands: Vec<i128> = (points.lo..=points.hi).collect();
                let (ands, off) = worst(function, &points, goal, &operands);
                println!("{} {points:?}: {ands} ANDs, {off:.4}", function.name);
                assert!(off < 0.76, "{} {points:?}: {off}", function.name);
            }
        }
    }
}

/// Operands of every size, with the widest range and with all numbers of the type.
fn of_every_size(
    functions: impl Iterator<Item = &'static FixedFunction>,
    sizes: &[(usize, usize)],
) {
    for function in functions {
        for &(bits, fraction) in sizes {
            let to = Fixed::signed(bits).with_fraction(fraction);
            let plain = taken(function, fraction, bits, to).expect("a range");
            let (lo, hi) = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
            let whole = points(lo, hi, fraction, to, true);
            for points in [plain, whole] {
                let operands = sample(points.lo, points.hi, 100);
                let (ands, off) = worst(function, &points, Goal::Size, &operands);
                println!("{} {points:?}: {ands} ANDs, {off:.4}", function.name);
                assert!(off < 0.76, "{} {points:?}: {off}", function.name);
            }
        }
    }
}

#[test]
fn operands_of_every_size_in_larger_types() {
    let some = ["exp", "log", "asin", "sin"];
    let some = fixed_functions().filter(|function| some.contains(&function.name));
    of_every_size(some, &[(32, 16)]);
}

#[test]
#[ignore = "tables of many digits take a minute"]
fn operands_of_every_size_in_types_of_64_bits() {
    of_every_size(fixed_functions(), &[(32, 16), (64, 32), (64, 60)]);
}

#[test]
fn what_could_overflow_or_has_no_value_is_refused() {
    let to = Fixed::signed(32).with_fraction(16);
    let results = |name: &str, lo: i128, hi: i128, saturate: bool| {
        let function = fixed_function(name).expect("a function");
        function.results(&points(lo << 16, hi << 16, 16, to, saturate))
    };
    assert!(matches!(results("exp", 0, 11, false), Err(Refused::Range(_, hi)) if hi > 1 << 31));
    assert_eq!(results("exp", 0, 10, false), Ok((1 << 16, 1_443_526_463)));
    assert_eq!(
        results("exp", 0, 1 << 14, true),
        Ok((1 << 16, (1 << 31) - 1))
    );
    assert!(matches!(
        results("log", 0, 5, false),
        Err(Refused::Domain(_))
    ));
    assert!(matches!(
        results("log", -5, 0, true),
        Err(Refused::Domain(_))
    ));
    assert!(matches!(
        results("asin", -1, 2, false),
        Err(Refused::Domain(_))
    ));
    // An extreme value inside of the range, and none.
    assert_eq!(
        results("cosh", -1, 2, false).map(|range| range.0),
        Ok(1 << 16)
    );
    assert_eq!(
        results("sin", 1, 2, false).map(|range| range.1),
        Ok(1 << 16)
    );
    assert_eq!(results("sin", 2, 4, false), Ok((-49_598, 59_592)));
    assert_eq!(
        results("cos", 3, 4, false).map(|range| range.0),
        Ok(-(1 << 16))
    );
}
