//! Operations that are rounded once, against exact arithmetic and against that of the machine.

use crate::common::exact::expected;
use crate::common::{GOALS, Random, Runner, bits_f32, bits_f64, both, circuit};
use sealane_numeric::{Arithmetic, Format, function};

const NAMES: &[&str] = &["mul"];

/// All vectors of so many operands.
fn all(format: Format, operands: usize) -> Vec<Vec<u128>> {
    let bits = format.bits();
    (0..1u128 << (bits * operands))
        .map(|all| {
            (0..operands)
                .map(|i| all >> (i * bits) & ((1 << bits) - 1))
                .collect()
        })
        .collect()
}

fn check(of: Arithmetic, name: &str, vectors: &[Vec<u128>]) {
    let results: Vec<u128> = vectors.iter().map(|v| expected(of, name, v)).collect();
    for goal in GOALS {
        let what = format!("{name} in {of:?} for {goal:?}");
        let found = Runner::new(name, of, goal).run(vectors);
        for ((vector, found), expected) in vectors.iter().zip(found).zip(&results) {
            assert!(
                found[0] == *expected,
                "{what} of {vector:x?} is {expected:x}, and not {:x}",
                found[0]
            );
        }
    }
}

#[test]
fn small_formats_are_exact_on_all_operands() {
    for format in [Format::new(3, 3), Format::new(4, 3)] {
        for of in both(format) {
            for name in NAMES {
                let operands = function(name).expect("a function").operands.len();
                if operands < 3 {
                    check(of, name, &all(format, operands));
                }
            }
        }
    }
}

#[test]
fn figures() {
    for name in NAMES {
        for format in [Format::F32, Format::F64] {
            for of in both(format) {
                for goal in GOALS {
                    let info = circuit(name, of, goal).info();
                    println!(
                        "{name} {} {:?} {goal:?} {} {}",
                        format.name(),
                        of.subnormals,
                        info.ands,
                        info.depth
                    );
                }
            }
        }
    }
}
