//! Functions of fixed point: their gates for operands and results of one type, in ranges that
//! leave room for the results.

use super::BYTES;
use crate::Figures;
use sealane_circuit::{Builder, Goal, Int, Word};
use sealane_numeric::{Fixed, Points, Powers, Stored, fixed_function};

/// Types of operands and results, by their names in programs.
pub const TYPES: [(&str, Fixed); 2] = [
    ("fixed16.16", Fixed::signed(32).with_fraction(16)),
    ("fixed32.32", Fixed::signed(64).with_fraction(32)),
];

/// A function and the ends of its operands' ranges, in eighths: one operand, or base and exponent.
pub struct Case {
    /// The name of the function.
    pub name: &'static str,
    operands: &'static [[i128; 2]],
}

/// All functions.
pub const CASES: &[Case] = &[
    case("exp", &[[-64, 64]]),
    case("exp2", &[[-64, 64]]),
    case("expm1", &[[-64, 64]]),
    case("log", &[[1, 800]]),
    case("log2", &[[1, 800]]),
    case("log10", &[[1, 800]]),
    case("log1p", &[[-7, 800]]),
    case("sqrt", &[[0, 800]]),
    case("rsqrt", &[[1, 800]]),
    case("cbrt", &[[-800, 800]]),
    case("sin", &[[-800, 800]]),
    case("cos", &[[-800, 800]]),
    case("tan", &[[-11, 11]]),
    case("asin", &[[-8, 8]]),
    case("acos", &[[-8, 8]]),
    case("atan", &[[-800, 800]]),
    case("sinh", &[[-64, 64]]),
    case("cosh", &[[-64, 64]]),
    case("tanh", &[[-64, 64]]),
    case("erf", &[[-64, 64]]),
    case("sigmoid", &[[-64, 64]]),
    case("pow", &[[1, 800], [-16, 16]]),
];

const fn case(name: &'static str, operands: &'static [[i128; 2]]) -> Case {
    Case { name, operands }
}

impl Case {
    /// The ranges of operands: `-8..8`.
    pub fn ranges(&self) -> String {
        let range = |[lo, hi]: &[i128; 2]| format!("{}..{}", *lo as f64 / 8.0, *hi as f64 / 8.0);
        let ranges = self.operands.iter().map(range);
        ranges.collect::<Vec<_>>().join(" and ")
    }

    fn build(&self, b: &mut Builder, of: Fixed) -> Word {
        let Fixed { bits, fraction, .. } = of;
        let operands = self.operands.iter().map(|ends| {
            let [lo, hi] = ends.map(|end| end << fraction >> 3);
            Stored { lo, hi, fraction }
        });
        let operands: Vec<Stored> = operands.collect();
        let words: Vec<Word> = operands.iter().map(|_| b.input(bits)).collect();
        let (saturate, to) = (false, of);
        let extended = |i: usize| Int::signed(&words[i]).resize(bits + 1);
        match operands[..] {
            [Stored { lo, hi, fraction }] => {
                let function = fixed_function(self.name);
                let function = function.unwrap_or_else(|| panic!("no function {}", self.name));
                let points = Points {
                    lo,
                    hi,
                    fraction,
                    to,
                    saturate,
                };
                function.build(b, &extended(0), &points)
            }
            [base, exponent] => {
                let powers = Powers {
                    base,
                    exponent,
                    to,
                    saturate,
                };
                powers.build(b, &extended(0), &extended(1))
            }
            _ => unreachable!("one or two operands"),
        }
    }

    /// Records the cost of the function in a type.
    pub fn sizes(&self, (table, of): (&str, Fixed), figures: &mut Figures<'_>) {
        let [small, flat] = [Goal::Size, Goal::Depth].map(|goal| {
            let mut b = Builder::for_goal(goal);
            let result = self.build(&mut b, of);
            b.finish(vec![result]).info()
        });
        let figures_of_both = [
            ("ands", small.ands as f64, "gates"),
            ("depth", small.depth as f64, "gates"),
            ("bytes", small.ands as f64 * BYTES, "bytes"),
            ("flat_ands", flat.ands as f64, "gates"),
            ("flat_depth", flat.depth as f64, "gates"),
        ];
        figures.add(&format!("{table}/{}", self.name), &figures_of_both);
    }
}
