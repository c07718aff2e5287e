//! Operations that are rounded once, against exact arithmetic and against that of the machine.

use crate::common::exact::expected;
use crate::common::{GOALS, Random, bits_f32, bits_f64, both, check_one, runner};
use sealane_numeric::{Arithmetic, Format, function};

const NAMES: [&str; 8] = [
    "add",
    "sub",
    "mul",
    "div",
    "sqrt",
    "fma",
    "fmod",
    "remainder",
];

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
        let found = runner(name, of, goal).run(vectors);
        for ((vector, found), expected) in vectors.iter().zip(found).zip(&results) {
            let id = format!("{name} in {of:?} for {goal:?} of {vector:x?}");
            assert_eq!(found, [*expected], "{id}");
        }
    }
}

#[test]
fn small_formats_are_exact_on_all_operands() {
    for format in [Format::new(3, 3), Format::new(4, 3)] {
        for of in both(format) {
            for name in NAMES {
                let operands = function(name).expect("a function").operands.len();
                let vectors = match operands {
                    3 => vectors(format, name, 1 << 15),
                    _ => all(format, operands),
                };
                check(of, name, &vectors);
            }
        }
    }
}

/// Stratified vectors of a function.
fn vectors(format: Format, name: &str, count: usize) -> Vec<Vec<u128>> {
    let operands = function(name).expect("a function").operands.len();
    Random::new(7 + name.len() as u64).vectors(format, operands, count)
}

#[test]
fn formats_of_16_bits_are_exact_on_a_sample() {
    for format in [Format::F16, Format::BF16] {
        for of in both(format) {
            for name in NAMES {
                check(of, name, &vectors(format, name, 4096));
            }
        }
    }
}

#[test]
fn f32_and_f64_without_subnormals_are_exact_on_a_sample() {
    for format in [Format::F32, Format::F64] {
        let of = Arithmetic::new(format).flushed();
        for name in NAMES {
            check(of, name, &vectors(format, name, 2048));
        }
    }
}

/// The operation of the machine, on the bits of numbers.
macro_rules! of_the_machine {
    ($float:ident, $bits:ident, $word:ident) => {
        |name: &str, operands: &[u128]| {
            let value = |i: usize| $float::from_bits(operands[i] as $word);
            $bits(match name {
                "add" => value(0) + value(1),
                "sub" => value(0) - value(1),
                "mul" => value(0) * value(1),
                "div" => value(0) / value(1),
                "fmod" => value(0) % value(1),
                "fma" => value(0).mul_add(value(1), value(2)),
                "sqrt" => value(0).sqrt(),
                _ => return None,
            })
            .into()
        }
    };
}

/// The result of a function, if the machine has that.
type Reference = dyn Fn(&str, &[u128]) -> Option<u128>;

#[test]
fn f32_and_f64_agree_with_the_machine() {
    agree_with_the_machine(&NAMES, 1 << 14);
}

#[test]
#[ignore = "millions of vectors take a minute"]
fn quotients_and_roots_agree_with_the_machine() {
    agree_with_the_machine(&["div", "sqrt", "fmod"], 1 << 21);
}

fn agree_with_the_machine(names: &[&str], count: usize) {
    let single = of_the_machine!(f32, bits_f32, u32);
    let double = of_the_machine!(f64, bits_f64, u64);
    let references: [(Format, &Reference); 2] = [(Format::F32, &single), (Format::F64, &double)];
    for (format, reference) in references {
        let of = Arithmetic::new(format);
        for name in names {
            let vectors = vectors(format, name, count);
            if reference(name, &vectors[0]).is_none() {
                check(of, name, &vectors[..2048]);
                continue;
            }
            for goal in GOALS {
                let expected = |operands: &[u128]| reference(name, operands).expect("a reference");
                check_one(name, of, goal, &vectors, expected);
            }
        }
    }
}
