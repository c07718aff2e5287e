//! Functions of two f16 on all pairs of numbers, many lanes at a time, against f64.
//!
//! `SEALANE_FUNCTIONS=f16.add,f16.div` names functions, which are all of them otherwise. As f64 has
//! more than twice the precision of f16, rounding twice is as good as once (see [`crate::half`]).
//! Powers, lengths and angles of f64 are off by less than a unit there, so that those that are
//! numbers, or middles between two, are exact.

use crate::common::{Form, GOALS, asked, both, each_block, forms_asked, names};
use crate::half::{narrow, wide};
use crate::scale::{next, next_flushed};
use crate::values::{doubles, edges, flush};
use sealane_numeric::measure::{BLOCK, ROW, Runner, Scan};
use sealane_numeric::{Arithmetic, Format, Subnormals, function};
use std::cmp::Ordering;

/// Results in other words.
#[derive(Clone, Copy)]
enum Reference {
    /// A number, rounded once.
    Number(fn(f64, f64) -> f64),
    /// A truth value.
    Truth(fn(f64, f64) -> bool),
    /// A function on the bits of numbers.
    Bits(fn(Arithmetic, u128, u128) -> u128),
}

use Reference::{Bits, Number, Truth};

/// All functions of two numbers.
const PAIRS: &[(&str, Reference)] = &[
    ("f16.add", Number(|x, y| x + y)),
    ("f16.sub", Number(|x, y| x - y)),
    ("f16.mul", Number(|x, y| x * y)),
    ("f16.div", Number(|x, y| x / y)),
    ("f16.fmod", Number(|x, y| x % y)),
    ("f16.remainder", Number(libm::remainder)),
    ("f16.eq", Truth(|x, y| x == y)),
    ("f16.ne", Truth(|x, y| x != y)),
    ("f16.lt", Truth(|x, y| x < y)),
    ("f16.le", Truth(|x, y| x <= y)),
    ("f16.gt", Truth(|x, y| x > y)),
    ("f16.ge", Truth(|x, y| x >= y)),
    ("f16.fmin", Number(|x, y| chosen(x, y, Ordering::is_le))),
    ("f16.fmax", Number(|x, y| chosen(x, y, Ordering::is_ge))),
    ("f16.fdim", Number(|x, y| if x <= y { 0.0 } else { x - y })),
    ("f16.copysign", Bits(|_, x, y| x & 0x7fff | y & 0x8000)),
    ("f16.nextafter", Bits(neighbour)),
    ("f16.pow", Number(f64::powf)),
    ("f16.hypot", Number(f64::hypot)),
    ("f16.atan2", Number(f64::atan2)),
];

/// The first number if its order says so, else the second; of a NaN and a number the number. The
/// order of IEEE 754 section 5.10 is stable on zeros; NaN are left out first.
pub fn chosen(x: f64, y: f64, first: fn(Ordering) -> bool) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (_, true) => x,
        _ if first(x.total_cmp(&y)) => x,
        _ => y,
    }
}

fn neighbour(of: Arithmetic, x: u128, y: u128) -> u128 {
    match of.subnormals {
        Subnormals::Kept => next(of.format, &[x, y])[0],
        Subnormals::Flushed => {
            let operands = [x, y].map(|x| flush(of.format, x));
            flush(of.format, next_flushed(of.format, &operands)[0])
        }
    }
}

/// Both forms of a function in some arithmetic, and the values of all numbers as it reads them.
struct Forms {
    of: Arithmetic,
    reference: Reference,
    values: Vec<f64>,
    runners: [Runner; 2],
}

impl Forms {
    fn of(name: &str, reference: Reference) -> [Forms; 2] {
        let function = name.strip_prefix("f16.").and_then(function);
        let function = function.unwrap_or_else(|| panic!("no function {name}"));
        both(Format::F16).map(|of| Forms {
            of,
            reference,
            values: (0..1 << 16).map(|bits| wide(of, bits)).collect(),
            runners: GOALS.map(|goal| Runner::new(function, of, goal)),
        })
    }

    fn expected(&self, x: u64, y: u64) -> u64 {
        let value = |x: u64| self.values[x as usize];
        match self.reference {
            Number(function) => narrow(self.of, function(value(x), value(y))) as u64,
            Truth(function) => function(value(x), value(y)).into(),
            Bits(function) => function(self.of, x.into(), y.into()) as u64,
        }
    }

    /// Asserts that each form has the expected results.
    fn check(&self, name: &str, pairs: &[[u64; 2]], found: [Vec<u64>; 2]) {
        for (i, &[x, y]) in pairs.iter().enumerate() {
            let expected = self.expected(x, y);
            for (found, goal) in found.iter().zip(GOALS) {
                let (found, subnormals) = (found[i], self.of.subnormals);
                assert!(
                    found == expected,
                    "{name} of {x:#x} and {y:#x} in {subnormals:?} for {goal:?} is {found:#x}, \
                     not {expected:#x}"
                );
            }
        }
    }
}

#[test]
fn every_function_of_two_numbers_is_listed() {
    let two = sealane_numeric::functions()
        .filter(|function| function.operands == [sealane_numeric::ValueKind::Float; 2]);
    for function in two {
        let listed = PAIRS.iter().any(|(name, _)| name[4..] == *function.name);
        assert!(listed, "{}", function.name);
    }
}

/// All kinds of edges beside all others, and numbers of all strata.
#[test]
fn edges_and_samples_of_f16_are_exact() {
    let edges = edges(Format::F16);
    let beside = |(i, &x): (usize, &u128)| {
        let others = edges.iter().skip(i % 7).step_by(7);
        others.map(move |&y| [x as u64, y as u64])
    };
    let mut pairs: Vec<[u64; 2]> = edges.iter().enumerate().flat_map(beside).collect();
    let samples = doubles(Format::F16, 6000);
    pairs.extend(samples.iter().map(|pair| [pair[0] as u64, pair[1] as u64]));
    let rows = pairs.iter().map(|pair| pair.map(u128::from).to_vec());
    let rows: Vec<Vec<u128>> = rows.collect();
    for &(name, reference) in PAIRS {
        for forms in Forms::of(name, reference) {
            let run = |runner: &Runner| -> Vec<u64> {
                let results = runner.run(&rows).into_iter();
                results.map(|row| row[0] as u64).collect()
            };
            forms.check(name, &pairs, [0, 1].map(|form| run(&forms.runners[form])));
        }
    }
}

/// `SEALANE_FORMS` names forms, which are all of them otherwise.
#[test]
#[ignore = "takes minutes for each function: all 2^32 pairs"]
fn all_pairs_of_f16() {
    for &(name, reference) in PAIRS.iter().filter(|case| asked(case.0)) {
        let all = Forms::of(name, reference);
        let forms = forms_asked("small,flat,flushed,flushed_flat");
        let ran = each_block(name, || {
            let scans = forms.iter().map(|form| {
                let forms = all.iter().find(|all| all.of.subnormals == form.subnormals);
                let forms = forms.expect("both kinds of arithmetic");
                let place = usize::from(form.goal != GOALS[0]);
                (forms, form, forms.runners[place].scan())
            });
            let mut scans: Vec<(&Forms, &Form, Scan)> = scans.collect();
            let all = &all;
            move |block| {
                let y = block >> 16;
                let expected = all.each_ref().map(|forms| -> Vec<u32> {
                    (0..BLOCK).map(|x| forms.expected(x, y) as u32).collect()
                });
                for (forms, form, scan) in &mut scans {
                    let flushed = form.subnormals == Subnormals::Flushed;
                    let expected = &expected[usize::from(flushed)];
                    scan.block(block, |first, results| {
                        let expected = &expected[(first - block) as usize..][..ROW];
                        if results != expected {
                            let pairs = (first - block..).map(|x| [x, y]).take(ROW);
                            let pairs: Vec<[u64; 2]> = pairs.collect();
                            let found: Vec<u64> = results.iter().map(|&x| x.into()).collect();
                            forms.check(name, &pairs, [found.clone(), found]);
                        }
                    });
                }
            }
        });
        eprintln!("{name}, {}: {ran} pairs are exact", names(&forms));
    }
}
