//! The errors of results: of all numbers of 16 bits, of samples of f32, of known answers in f64.

use super::reference::Reference;
use sealane_numeric::measure::{Answer, HARD, Runner, error, operand, sample};
use sealane_numeric::{Arithmetic, Error, Format, Function};
use std::path::Path;

/// Rows of operands, each with the error of its result.
pub type Errors = Vec<(Vec<u128>, f64)>;

/// The largest error found, and the operands of it.
pub struct Worst {
    /// In units in the last place of the exact result.
    pub error: f64,
    /// None where no result has an error.
    pub operands: Vec<f64>,
}

impl Worst {
    /// The worst of several errors.
    pub fn of(errors: &Errors, arithmetic: Arithmetic) -> Worst {
        let largest = errors.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let largest = largest.filter(|(_, error)| *error > 0.0);
        let operands = largest.iter().flat_map(|(row, _)| row);
        let operands = operands.map(|&x| operand(arithmetic, x as u64));
        Worst {
            error: largest.map_or(0.0, |(_, error)| *error),
            operands: operands.collect(),
        }
    }
}

/// The errors on a sample of `count` operands of each exponent; of functions of one number of 16
/// bits on all of them.
pub fn of_samples(
    runner: &Runner,
    arithmetic: Arithmetic,
    exact: Reference,
    count: usize,
) -> Errors {
    let format = arithmetic.format;
    let all = format.bits() <= 16;
    let rows: Vec<Vec<u128>> = match exact {
        Reference::One(_) if all => (0..1 << format.bits()).map(|x| vec![x]).collect(),
        Reference::One(_) => {
            let arguments = sample(format, count, 1).into_iter();
            arguments.map(|x| vec![x.into()]).collect()
        }
        Reference::Two(_) => pairs(format, count),
    };
    judged(runner, arithmetic, exact, rows)
}

/// The errors of the results of rows of operands; rows with a NaN are left out, as functions that
/// only move bits keep those of a NaN.
fn judged(
    runner: &Runner,
    arithmetic: Arithmetic,
    exact: Reference,
    rows: Vec<Vec<u128>>,
) -> Errors {
    let results = runner.run(&rows);
    let errors = rows.into_iter().zip(results).filter_map(|(row, result)| {
        let operand = |at: usize| operand(arithmetic, row[at] as u64);
        if (0..row.len()).any(|at| operand(at).is_nan()) {
            return None;
        }
        let value = match exact {
            Reference::One(function) => function(operand(0)),
            Reference::Two(function) => function(operand(0), operand(1)),
        };
        let off = error(arithmetic, result[0] as u64, value);
        Some((row, off))
    });
    errors.collect()
}

/// Pairs of operands: each number meets others of far and of near exponents.
fn pairs(format: Format, count: usize) -> Vec<Vec<u128>> {
    let (first, second) = (sample(format, count, 1), sample(format, count, 2));
    let steps = [1, 7, second.len() / 3, second.len() / 2 + 11];
    let pair = |step: usize| {
        let second = second.iter().cycle().skip(step);
        let pairs = first.iter().zip(second);
        pairs.map(|(&x, &y)| vec![x.into(), y.into()])
    };
    steps.into_iter().flat_map(pair).collect()
}

/// The errors of a function of f32 on the arguments that are known to be hard for it.
pub fn of_hard(name: &str, runner: &Runner, exact: Reference) -> Errors {
    let hard = HARD.iter().filter(|(of, _)| *of == name);
    let rows = hard.map(|&(_, x)| vec![x.into()]).collect();
    judged(runner, Arithmetic::new(Format::F32), exact, rows)
}

/// The errors of a function of f64 on the answers of many digits in `folder`, if that has any.
/// Absolute errors that it promises next to its zeros count as none.
pub fn of_answers(
    function: &Function,
    runner: impl FnOnce() -> Runner,
    folder: &Path,
) -> Option<Errors> {
    let text = std::fs::read_to_string(folder.join(format!("{}.csv", function.name))).ok()?;
    let answers = Answer::table(&text);
    let wide = |answer: &Answer| answer.operands.iter().map(|&x| x.into()).collect();
    let rows: Vec<Vec<u128>> = answers.iter().map(wide).collect();
    let results = runner().run(&rows);
    let errors = answers.iter().zip(results);
    let allowed = match function.error {
        Error::Near { absolute, .. } => 2f64.powi(-absolute),
        _ => 0.0,
    };
    let errors = errors.map(|(answer, result)| {
        let error = answer.error(result[0] as u64);
        if error * answer.unit() > allowed {
            error
        } else {
            0.0
        }
    });
    Some(rows.into_iter().zip(errors).collect())
}
