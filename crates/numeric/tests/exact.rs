//! Correctly rounded forms: arguments near the middle between two results, and samples.

use crate::common::{Form, asked, each_block, forms_asked, names};
use crate::elementary::error::{error, operand, sample};
use crate::elementary::lanes::run;
use sealane_circuit::Goal;
use sealane_numeric::measure::{BLOCK, Runner, Scan, exceptions};
use sealane_numeric::real::Real;
use sealane_numeric::{Arithmetic, Format, Subnormals, exact};
use std::sync::Mutex;

/// A function, in f64 and to many digits, for arguments whose result is neither exact nor special.
type Case = (&'static str, fn(f64) -> f64, fn(&Real) -> Real);

const CASES: &[Case] = &[
    ("exp", libm::exp, Real::exp),
    ("exp2", libm::exp2, |x| (x * &Real::ln2()).exp()),
    ("log", libm::log, Real::ln),
    ("log2", libm::log2, |x| &x.ln() / &Real::ln2()),
    ("log10", libm::log10, |x| &x.ln() / &Real::of(10).ln()),
    ("expm1", libm::expm1, |x| &x.exp() - &Real::of(1)),
    ("log1p", libm::log1p, |x| (x + &Real::of(1)).ln()),
    ("sin", libm::sin, |x| x.turned().0),
    ("cos", libm::cos, |x| x.turned().1),
    ("tan", libm::tan, |x| &x.turned().0 / &x.turned().1),
    ("asin", libm::asin, Real::asin),
    ("acos", libm::acos, |x| &Real::pi().shifted(-1) - &x.asin()),
    ("atan", libm::atan, |x| {
        if x <= &Real::of(1) {
            return x.atan();
        }
        &Real::pi().shifted(-1) - &(&Real::of(1) / x).atan()
    }),
    ("sinh", libm::sinh, |x| (&x.exp() - &(-x).exp()).shifted(-1)),
    ("cosh", libm::cosh, |x| (&x.exp() + &(-x).exp()).shifted(-1)),
    ("tanh", libm::tanh, |x| {
        let power = x.shifted(1).exp();
        &(&power - &Real::of(1)) / &(&power + &Real::of(1))
    }),
    ("erf", libm::erf, Real::erf),
    ("cbrt", libm::cbrt, |x| (&x.ln() / &Real::of(3)).exp()),
    ("rsqrt", |x| 1.0 / x.sqrt(), |x| &Real::of(1) / &x.sqrt()),
];

/// Odd and even functions: the result for the other sign has the same bits but for its sign.
const SYMMETRIC: &[&str] = &[
    "sin", "cos", "tan", "asin", "atan", "sinh", "cosh", "tanh", "erf", "cbrt",
];

/// The arguments nearest to a middle, and one whose power is half way between two numbers.
const NEAREST: &[(&str, u32)] = &[
    ("exp", 0xc169_12cd),
    ("exp2", 0xbcf3_a937),
    ("exp2", 0xc316_0000),
    ("log", 0x65d8_90d3),
    ("log2", 0x3ea0_7ab9),
    ("log10", 0x6105_67e4),
    ("expm1", 0x3dc2_52dd),
    ("log1p", 0xb53f_fffd),
    ("log1p", 0x3540_0003),
    ("sin", 0x7324_3f06),
    ("cos", 0x6115_cb11),
    ("tan", 0x5ffd_33a4),
    ("asin", 0x3f08_3a1a),
    ("acos", 0x3982_6222),
    ("atan", 0x3d8d_6b23),
    ("sinh", 0x3a12_85ff),
    ("cosh", 0x3a6f_7750),
    ("tanh", 0x3ac3_7de2),
    ("erf", 0x3940_ead6),
    ("cbrt", 0x0103_53b5),
    ("rsqrt", 0x013a_18e3),
];

/// Distances from a middle, in units in the last place, that the errors of circuits are below.
const NEAR: f64 = 1.0 / (1 << 13) as f64;

/// A distance that the errors of references in f64 are far below.
const UNSURE: f64 = 1.0 / (1 << 20) as f64;

/// The forms that are tried. Flushed, the other form has the same digits.
const FORMS: [(Arithmetic, Goal); 3] = {
    let kept = Arithmetic::new(Format::F32);
    let (kept_small, flushed) = ((kept, Goal::Size), kept.flushed());
    [kept_small, (kept, Goal::Depth), (flushed, Goal::Size)]
};

/// The unit in the last place of a result of f32.
fn unit(value: f64) -> f64 {
    let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.max(-126) - 23)
}

/// True if a value is at most so many units from the middle between two numbers of f32.
fn is_hard(value: f64, near: f64) -> bool {
    if !value.is_finite() || value == 0.0 || value.abs() >= 2f64.powi(128) {
        return false;
    }
    let units = value.abs() / unit(value);
    (units - units.floor() - 0.5).abs() < near
}

/// The number of f32 nearest to the value of a function at an argument near a middle; and the
/// distance from that, in units.
fn nearest(case: &Case, x: f32) -> (u32, f64) {
    let &(_, single, many) = case;
    let value = single(f64::from(x));
    let (bits, place) = (f64::from(x.abs()).to_bits(), unit(value).log2() as i64);
    let exponent = (bits >> 52) as i64 - 1023;
    let size = Real::scaled(bits << 12 >> 12 | 1 << 52, exponent - 52);
    // Roots of numbers of any size: of those a power of 64 away.
    let by = exponent.div_euclid(6) * 6;
    let (by, back) = match case.0 {
        "cbrt" => (by, by / 3),
        "rsqrt" => (by, -by / 2),
        _ => (0, 0),
    };
    let size = size.shifted(-by);
    let negative = x < 0.0 && !SYMMETRIC.contains(&case.0);
    let argument = if negative { -&size } else { size };
    let exact = many(&argument).abs().shifted(back);
    let units = exact.shifted(-place);
    let whole = units.floor();
    let rest = &(&units - &Real::scaled(whole.clone(), 0)) - &Real::ratio(1, 2);
    let whole = i64::try_from(whole).unwrap();
    // Of two equally near numbers the even one.
    let up = if rest == 0 {
        whole & 1 == 1
    } else {
        !rest.is_negative()
    };
    let whole = whole + i64::from(up);
    let size = whole as f64 * 2f64.powi(place as i32);
    let nearest = size.copysign(value) as f32;
    let distance = rest.rounded_i128(60) as f64 / 2f64.powi(60);
    (nearest.to_bits(), distance)
}

fn runner(name: &str, arithmetic: Arithmetic, goal: Goal) -> Runner {
    let function = exact(name).expect("an exact form");
    Runner::new(function, arithmetic, goal)
}

/// True if an argument or its result is a number that is flushed.
fn flushes(arithmetic: Arithmetic, numbers: [u32; 2]) -> bool {
    let below = |&bits: &u32| bits & 0x7f80_0000 == 0;
    arithmetic.subnormals == Subnormals::Flushed && numbers.iter().any(below)
}

#[test]
fn samples_are_within_half_a_unit() {
    let arithmetic = Arithmetic::new(Format::F32);
    let arguments = sample(Format::F32, 8, 5);
    let rows: Vec<_> = arguments.iter().map(|&x| vec![x]).collect();
    for (name, single, _) in CASES {
        let runner = runner(name, arithmetic, Goal::Size);
        let results = run(&runner, &rows);
        println!("{name}: {} ANDs, depth {}", runner.ands, runner.depth);
        for (&x, found) in arguments.iter().zip(results) {
            let value = single(operand(arithmetic, x));
            let off = error(arithmetic, found, value);
            assert!(off <= 0.5 + NEAR, "{name} of {x:#x}: {off}");
        }
    }
}

/// Of arguments, those whose result is wrong in some form, with the form and the distance of the
/// value from a middle.
fn wrong(case: &Case, arguments: &[u32]) -> Vec<(u32, String, f64)> {
    let expected = arguments.iter().map(|&x| nearest(case, f32::from_bits(x)));
    let expected: Vec<(u32, f64)> = expected.collect();
    let operands: Vec<_> = arguments.iter().map(|&x| vec![x.into()]).collect();
    let mut wrong = vec![];
    for (arithmetic, goal) in FORMS {
        let results = run(&runner(case.0, arithmetic, goal), &operands);
        for ((&x, &(expected, distance)), found) in arguments.iter().zip(&expected).zip(results) {
            if found != u64::from(expected) && !flushes(arithmetic, [x, expected]) {
                let turn = found ^ u64::from(expected);
                let form = format!("{arithmetic:?} {goal:?}, turn {turn:#x}");
                wrong.push((x, form, distance.abs()));
            }
        }
    }
    wrong
}

/// Arguments next to a middle, and those whose bits are turned.
#[test]
fn known_arguments_near_a_middle_are_rounded_correctly() {
    for case in CASES {
        let nearest = NEAREST.iter().filter(|(name, _)| *name == case.0);
        let turned = exceptions(case.0).map(|of| of.argument);
        let arguments: Vec<u32> = nearest.map(|(_, x)| *x).chain(turned).collect();
        assert_eq!(wrong(case, &arguments), [], "{}", case.0);
    }
}

/// Of all arguments, those near a middle are rounded correctly; for others the bounds of errors
/// suffice.
#[test]
#[ignore = "2^32 values of each function take minutes"]
fn arguments_near_a_middle_are_rounded_correctly() {
    let mut all_wrong = vec![];
    for case in CASES.iter().filter(|case| asked(case.0)) {
        let (name, single, _) = *case;
        let last = u32::MAX >> u32::from(SYMMETRIC.contains(&name));
        let hard = (0..=last).filter(|&x| is_hard(single(f64::from(f32::from_bits(x))), NEAR));
        let hard: Vec<u32> = hard.collect();
        let distance = |&x: &u32| nearest(case, f32::from_bits(x)).1.abs();
        let nearest = hard.iter().map(|x| (distance(x), x));
        let (off, at) = nearest.min_by(|a, b| a.0.total_cmp(&b.0)).expect("some");
        let wrong = wrong(case, &hard);
        let (count, off, fails) = (hard.len(), off.log2(), wrong.len());
        println!("{name}: {count} arguments, the nearest {at:#x} at 2^{off:.2}, {fails} wrong");
        if !wrong.is_empty() {
            let lines = wrong.iter();
            let lines = lines.map(|(x, form, off)| format!("{x:#x} {form} 2^{:.2}", off.log2()));
            all_wrong.push(format!("{name}: {:#?}", lines.collect::<Vec<_>>()));
        }
    }
    assert!(all_wrong.is_empty(), "{all_wrong:#?}");
}

/// The correctly rounded result of an argument.
fn result(case: &Case, x: f32) -> u32 {
    let value = case.1(f64::from(x));
    // Most values are normal numbers of f32, and the bits that f64 has more are not near a half.
    let more = value.to_bits() & ((1 << 29) - 1);
    let normal = f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX);
    if normal.contains(&value.abs()) && more.abs_diff(1 << 28) > 1 << 9 {
        return (value as f32).to_bits();
    }
    match value.is_nan() {
        true => Format::F32.nan() as u32,
        false if is_hard(value, UNSURE) => nearest(case, x).0,
        false => (value as f32).to_bits(),
    }
}

/// The circuits themselves, on all arguments. `SEALANE_FUNCTIONS=exp_exact,log_exact` names
/// functions, which are all of them otherwise, and `SEALANE_FORMS` their forms.
#[test]
#[ignore = "takes minutes for each function: three forms at all 2^32 arguments"]
fn all_arguments_are_rounded_correctly() {
    for case in CASES {
        let name = format!("{}_exact", case.0);
        if !asked(&name) {
            continue;
        }
        let forms = forms_asked("small,flat,flushed");
        let runner = |form: &Form| runner(case.0, form.of(Format::F32), form.goal);
        let runners: Vec<Runner> = forms.iter().map(runner).collect();
        let wrong = Mutex::new(vec![]);
        let ran = each_block(&name, || {
            let mut scans: Vec<Scan> = runners.iter().map(Runner::scan).collect();
            let (mut expected, forms, wrong) = (vec![], &forms, &wrong);
            move |block| {
                let numbers = block..block + BLOCK;
                expected.clear();
                expected.extend(numbers.map(|x| result(case, f32::from_bits(x as u32))));
                for (form, scan) in forms.iter().zip(&mut scans) {
                    let of = form.of(Format::F32);
                    scan.block(block, |first, results| {
                        let expected = &expected[(first - block) as usize..];
                        for ((x, &found), &expected) in (first..).zip(results).zip(expected) {
                            if found != expected && !flushes(of, [x as u32, expected]) {
                                let line = format!("{x:#x} {}: {found:#x}, not", form.name);
                                wrong.lock().unwrap().push(format!("{line} {expected:#x}"));
                            }
                        }
                    });
                }
            }
        });
        let wrong = wrong.into_inner().unwrap();
        let forms = names(&forms);
        eprintln!("{name}, {forms}: {ran} results, {} wrong", wrong.len());
        let first = &wrong[..wrong.len().min(20)];
        assert!(wrong.is_empty(), "{name}: {first:#?}");
    }
}
