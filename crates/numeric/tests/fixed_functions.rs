//! Functions of fixed point against values of many digits: all operands of small types, those of
//! every size in larger ones.

use num_bigint::BigInt;
use sealane_circuit::Goal;
use sealane_numeric::measure::Runner;
use sealane_numeric::real::Real;
use sealane_numeric::{
    Fixed, FixedFunction, Points, Powers, Refused, Stored, fixed_function, fixed_functions,
};

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
    ("erf", |x| match (x.abs() < 12, x.is_negative()) {
        (true, _) => x.erf(),
        (false, negative) => Real::of(if negative { -1 } else { 1 }),
    }),
    ("sigmoid", |x| &Real::of(1) / &(&Real::of(1) + &(-x).exp())),
];

/// Operands from `lo` to `hi` with bits behind the point, and results that may saturate or not.
fn points([lo, hi]: [i128; 2], fraction: usize, to: Fixed, saturate: bool) -> Points {
    Points {
        lo,
        hi,
        fraction,
        to,
        saturate,
    }
}

/// Results of a function that may be off by less than 0.76 units in the last place.
fn assert_near(function: &FixedFunction, points: &Points, goal: Goal, operands: &[i128]) {
    let (ands, off) = worst(function, points, goal, operands);
    println!("{} {points:?}: {ands} ANDs, {off:.4}", function.name);
    assert!(off < 0.76, "{} {points:?}: {off}", function.name);
}

/// The bits of numbers as operands of circuits with inputs of `WIDTH` bits.
fn row<const N: usize>(numbers: [i128; N]) -> Vec<u128> {
    numbers.map(|x| x as u128 & ((1 << WIDTH) - 1)).to_vec()
}

const WIDTH: usize = 66;

/// The gates and the worst error, in units in the last place, of some operands.
fn worst(function: &FixedFunction, points: &Points, goal: Goal, operands: &[i128]) -> (u64, f64) {
    let runner = Runner::build(goal, &[WIDTH], |b, x| {
        vec![function.build(b, &x[0], points)]
    });
    let rows: Vec<Vec<u128>> = operands.iter().map(|&x| row([x])).collect();
    let value = VALUES.iter().find(|(name, _)| *name == function.name);
    let (_, value) = value.expect("a value");
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
    let mut most = 0f64;
    for (&x, found) in operands.iter().zip(runner.run(&rows)) {
        let found = stored(found[0], to);
        let within = range.0 <= found && found <= range.1;
        assert!(within, "{} of {x}: {found}", function.name);
        let x = Real::scaled(x.clamp(domain[0], domain[1]), -(points.fraction as i64));
        let huge = ["exp", "exp2", "expm1", "sinh", "cosh"].contains(&function.name);
        let x = match huge && x.abs() > 100 {
            true if x.is_negative() => Real::of(-100),
            true => Real::of(100),
            false => x,
        };
        most = most.max(off(found, &value(&x), to));
    }
    (runner.ands, most)
}

/// The stored number of the bits of a type.
fn stored(bits: u128, of: Fixed) -> i128 {
    let shift = 128 - of.bits;
    if of.signed {
        (bits as i128) << shift >> shift
    } else {
        bits as i128
    }
}

/// The error of a stored number in units in the last place, of a value or the end of its type.
fn off(found: i128, exact: &Real, of: Fixed) -> f64 {
    let exact = exact.shifted(of.fraction as i64);
    let [least, most] = ends(of).map(|end| Real::scaled(end, 0));
    let exact = exact.max(least).min(most);
    let off = (&Real::scaled(BigInt::from(found), 0) - &exact).abs();
    off.rounded_i128(40) as f64 / 2f64.powi(40)
}

fn ends(of: Fixed) -> [i128; 2] {
    if of.signed {
        [-(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1]
    } else {
        [0, (1 << of.bits) - 1]
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
    let ranges = sizes.flat_map(|n| [[-n, n - 1], [0, n - 1], [1, n], [n / 8, n]]);
    let mut tasks = ranges.map(|range| points(range, fraction, to, false));
    tasks.find(|points| function.results(points).is_ok())
}

#[test]
fn all_operands_of_small_types() {
    for function in fixed_functions() {
        for (bits, fraction, goal) in [(8, 4, Goal::Size), (10, 7, Goal::Depth)] {
            let to = Fixed::signed(bits).with_fraction(fraction);
            let Some(plain) = taken(function, fraction, bits, to) else {
                panic!("no range of {} in {bits}.{fraction}", function.name)
            };
            let whole = points(ends(to), fraction, to, true);
            for points in [plain, whole] {
                let operands: Vec<i128> = (points.lo..=points.hi).collect();
                assert_near(function, &points, goal, &operands);
            }
        }
    }
}

#[test]
fn few_operands_and_results_that_leave_a_type_and_return() {
    let wide = Fixed::signed(32).with_fraction(16);
    let (above, below) = (Fixed::unsigned(12), Fixed::signed(9));
    for (name, fraction, [lo, hi], to) in [
        ("asin", 0, [-1, 1], wide),
        ("asin", 1, [-2, 2], wide),
        ("acos", 2, [-4, 4], wide),
        ("tan", 0, [-1, 1], wide),
        ("tan", 3, [-12, 12], wide),
        ("sqrt", 6, [0, 64], wide),
        ("sin", 3, [-100, 100], above.with_fraction(8)),
        ("sin", 3, [-100, 100], below.with_fraction(8)),
        ("cos", 0, [-8, 8], above.with_fraction(8)),
        ("exp", 0, [90, 190], wide),
        ("sinh", 0, [-190, -90], above),
    ] {
        let function = fixed_function(name).expect("a function");
        let operands: Vec<i128> = (lo..=hi).collect();
        let points = points([lo, hi], fraction, to, true);
        assert_near(function, &points, Goal::Size, &operands);
    }
}

#[test]
fn zero_alone_is_an_operand() {
    let to = Fixed::signed(16).with_fraction(8);
    for name in ["sqrt", "cbrt", "atan", "log1p", "asin"] {
        let function = fixed_function(name).expect("a function");
        for lo in [0, -9] {
            let operands: Vec<i128> = (lo..=0).collect();
            let points = points([lo, 0], 8, to, true);
            assert_near(function, &points, Goal::Size, &operands);
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
            let whole = points(ends(to), fraction, to, true);
            for points in [plain, whole] {
                let operands = sample(points.lo, points.hi, 100);
                assert_near(function, &points, Goal::Size, &operands);
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
        function.results(&points([lo << 16, hi << 16], 16, to, saturate))
    };
    let (one, most) = (1 << 16, (1 << 31) - 1);
    assert!(matches!(results("exp", 0, 11, false), Err(Refused::Range(_, hi)) if hi > 1 << 31));
    assert_eq!(results("exp", 0, 10, false), Ok((one, 1_443_526_463)));
    assert_eq!(results("exp", 0, 1 << 14, true), Ok((one, most)));
    for (name, lo, hi, saturate) in [
        ("log", 0, 5, false),
        ("log", -5, 0, true),
        ("asin", -1, 2, false),
    ] {
        let refused = results(name, lo, hi, saturate);
        let domain = matches!(refused, Err(Refused::Domain(_)));
        assert!(domain, "{name}: {refused:?}");
    }
    // An extreme value inside of the range, and none.
    let range = |name, lo, hi| results(name, lo, hi, false).expect("a range");
    assert_eq!(range("cosh", -1, 2).0, one);
    assert_eq!(range("sin", 1, 2).1, one);
    assert_eq!(range("sin", 2, 4), (-49_598, 59_592));
    assert_eq!(range("cos", 3, 4).0, -one);
}

/// Powers of some operands that may be off by less than 0.76 units in the last place.
fn assert_powers_near(powers: &Powers, goal: Goal, pairs: &[[i128; 2]]) {
    let runner = Runner::build(goal, &[WIDTH; 2], |b, x| {
        vec![powers.build(b, &x[0], &x[1])]
    });
    let rows: Vec<Vec<u128>> = pairs.iter().map(|pair| row(*pair)).collect();
    let found = runner.run(&rows);
    let (lo, hi) = powers.results().expect("a range");
    let mut most = 0f64;
    for (&[x, y], found) in pairs.iter().zip(found) {
        let found = stored(found[0], powers.to);
        let within = lo <= found && found <= hi;
        assert!(within, "{x} to the power of {y}: {found}");
        let x = x.max(i128::from(powers.exponent.lo < 0));
        most = most.max(off(found, &power(x, y, powers), powers.to));
    }
    println!("{powers:?}: {} ANDs, {most:.4}", runner.ands);
    assert!(most < 0.76, "{powers:?}: {most}");
}

/// A power of stored numbers: by the machine where few bits are asked for, and by many digits, but
/// for those that no type holds.
fn power(x: i128, y: i128, of: &Powers) -> Real {
    let [base, exponent] =
        [(x, of.base), (y, of.exponent)].map(|(x, of)| x as f64 / 2f64.powi(of.fraction as i32));
    let near = base.powf(exponent);
    if of.to.bits <= 16 || near == 0.0 || near > 1e20 {
        return Real::scaled((near.min(1e30) * 2f64.powi(40)) as i128, -40);
    }
    let logarithm = Real::scaled(x, -(of.base.fraction as i64)).ln();
    (&logarithm * &Real::scaled(y, -(of.exponent.fraction as i64))).exp()
}

type Range = (i128, i128, usize);

fn powers(base: Range, exponent: Range, to: Fixed, saturate: bool) -> Powers {
    let [base, exponent] = [base, exponent].map(|(lo, hi, fraction)| Stored { lo, hi, fraction });
    Powers {
        base,
        exponent,
        to,
        saturate,
    }
}

#[test]
fn all_powers_of_small_types() {
    let to = Fixed::signed(12).with_fraction(5);
    let plain = powers((1, 63, 4), (-11, 20, 3), to, false);
    let of_zero = powers((0, 63, 4), (0, 20, 3), to, false);
    let whole = powers((-64, 63, 4), (-32, 31, 3), to, true);
    let to = Fixed::unsigned(8).with_fraction(8);
    let positive = powers((0, 16, 4), (0, 31, 3), to, true);
    let small = [plain, whole].map(|powers| (powers, Goal::Size));
    let shallow = [of_zero, positive].map(|powers| (powers, Goal::Depth));
    for (powers, goal) in small.into_iter().chain(shallow) {
        let bases = powers.base.lo..=powers.base.hi;
        let pair = |x| (powers.exponent.lo..=powers.exponent.hi).map(move |y| [x, y]);
        let pairs: Vec<[i128; 2]> = bases.flat_map(pair).collect();
        assert_powers_near(&powers, goal, &pairs);
    }
}

/// Powers of operands of every size.
fn powers_of_every_size(all: &[Powers]) {
    for powers in all {
        let Powers { base, exponent, .. } = powers;
        let bases = sample(base.lo, base.hi, 60);
        let exponents = sample(exponent.lo, exponent.hi, 60);
        let count = exponents.len();
        let pairs = bases.iter().enumerate().flat_map(|(i, &x)| {
            let some = [1, 7, 31].map(|step| [x, exponents[i * step % count]]);
            some.into_iter().chain([[x, exponent.lo], [x, exponent.hi]])
        });
        let pairs: Vec<[i128; 2]> = pairs.collect();
        assert_powers_near(powers, Goal::Size, &pairs);
    }
}

#[test]
fn powers_of_every_size_in_larger_types() {
    let (one, to) = (1 << 16, Fixed::signed(32).with_fraction(16));
    powers_of_every_size(&[
        powers((one / 8, 100 * one, 16), (-3 * one, 2 * one, 16), to, false),
        powers((-one, 1 << 31, 16), (-9 * one, 30 * one, 16), to, true),
    ]);
}

#[test]
#[ignore = "tables of many digits take a minute"]
fn powers_of_every_size_in_types_of_64_bits() {
    let one = 1 << 32;
    let (signed, unsigned) = (Fixed::signed(64).with_fraction(32), Fixed::unsigned(64));
    let near_one = unsigned.with_fraction(58);
    powers_of_every_size(&[
        powers(
            (one / 2, 2 * one, 32),
            (-30 * one, 30 * one, 32),
            signed,
            false,
        ),
        powers((1 << 58, 1 << 62, 60), (0, 2 * one, 32), near_one, false),
        powers((1, 1 << 62, 0), (0, 1 << 20, 20), unsigned, false),
    ]);
}

#[test]
fn powers_that_could_overflow_or_have_no_value_are_refused() {
    let to = Fixed::signed(32).with_fraction(16);
    let results = |(lo, hi): (i128, i128), (least, most): (i128, i128), saturate: bool| {
        powers((lo << 16, hi << 16, 16), (least, most, 0), to, saturate).results()
    };
    // Powers of whole numbers are known exactly, so that the largest one just fits or does not.
    assert_eq!(results((0, 8), (0, 4), false), Ok((0, 4096 << 16)));
    assert_eq!(results((1, 8), (-4, 4), false), Ok((16, 4096 << 16)));
    let too_large = Err(Refused::Range(1 << 16, 1 << 31));
    assert_eq!(results((1, 8), (0, 5), false), too_large);
    assert_eq!(results((1, 8), (0, 5), true), Ok((1 << 16, (1 << 31) - 1)));
    for (base, exponent, saturate) in [
        ((-1, 8), (2, 2), false),
        ((0, 8), (-1, 2), false),
        ((-8, -1), (2, 2), true),
    ] {
        let refused = results(base, exponent, saturate);
        let domain = matches!(refused, Err(Refused::Domain(_)));
        assert!(domain, "{base:?}: {refused:?}");
    }
    assert_eq!(results((-8, 2), (2, 2), true), Ok((0, 4 << 16)));
    assert_eq!(results((0, 0), (0, 3), false), Ok((0, 1 << 16)));
    assert_eq!(results((1, 2), (0, 1 << 62), true), Err(Refused::Bits));
}
