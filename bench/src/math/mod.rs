//! Suite `math`: size, depth and error of every function on numbers, in every format, and the
//! functions of a library of others beside ours.
//!
//! Sizes are those of the finished circuits and the same on every machine; `flat` is the form of
//! little depth, for protocols that wait for each level. Errors are the worst of a sample of all
//! exponents, against a library in f64; `argument` is where it occurs. Formats of 64 bits have no
//! error here: f64 cannot judge them, and the tests of room `numeric` do against values of many
//! digits.

mod page;
mod paper;
mod reference;

use crate::plot::Chart;
use crate::{Options, Record};
use reference::Reference;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format, Function, Kind, functions, measure};

pub use page::markdown;

/// The suite's name.
pub const SUITE: &str = "math";

/// Bytes of a garbled AND.
const BYTES: f64 = 32.0;
/// The formats that are measured.
const FORMATS: [Format; 4] = Format::ALL;

/// Measures every function in every format.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) {
    for format in FORMATS {
        for function in functions() {
            let case = format!("{}/{}", format.name(), function.name);
            if !asked(options, format, function) {
                continue;
            }
            figures(&case, format, function, options, record);
        }
    }
    for theirs in &paper::SEVENTEEN {
        let case = format!("others/{}", theirs.name);
        record(figure(case.clone(), "seconds", theirs.seconds, "s"));
        if let Some(ands) = theirs.ands {
            record(figure(case, "ands", ands, "gates"));
        }
    }
}

/// The parts of the suite: formats and functions.
pub fn parts() -> Vec<&'static str> {
    let formats = FORMATS.iter().map(|format| format.name());
    formats.chain(functions().map(|f| f.name)).collect()
}

/// Returns whether a function in a format is to be measured. Without a budget, only the smallest
/// format is: enough to see that the suite works.
fn asked(options: &Options, format: Format, function: &Function) -> bool {
    let only = |name: &str| options.only.iter().any(|part| part == name);
    let (formats, names): (Vec<_>, Vec<_>) = (options.only.iter())
        .map(String::as_str)
        .partition(|part| FORMATS.iter().any(|format| format.name() == *part));
    let in_format = formats.is_empty() || only(format.name());
    let named = names.is_empty() || only(function.name);
    let quick = options.budget.is_zero() && format != Format::BF16;
    // These have no form of f64 yet, and refuse it.
    let made = format != Format::F64 || !["erfc", "tgamma"].contains(&function.name);
    in_format && named && !quick && made
}

fn figures(
    case: &str,
    format: Format,
    function: &Function,
    options: &Options,
    record: &mut dyn FnMut(Record),
) {
    let arithmetic = Arithmetic::new(format);
    let size = measure::Runner::new(function, arithmetic, Goal::Size);
    let flat = measure::Runner::new(function, arithmetic, Goal::Depth);
    let flushed = measure::Runner::new(function, arithmetic.flushed(), Goal::Size);
    for (metric, value, unit) in [
        ("ands", size.ands as f64, "gates"),
        ("depth", size.depth as f64, "gates"),
        ("bytes", size.ands as f64 * BYTES, "bytes"),
        ("flushed_ands", flushed.ands as f64, "gates"),
        ("flat_ands", flat.ands as f64, "gates"),
        ("flat_depth", flat.depth as f64, "gates"),
    ] {
        record(figure(case.to_string(), metric, value, unit));
    }
    if format == Format::F64 || function.results != [Kind::Float] {
        return;
    }
    let Some(reference) = reference::of(function.name) else {
        return;
    };
    let worst = worst(&size, arithmetic, reference, options);
    record(figure(case.to_string(), "max_ulp", worst.error, "ULP"));
    if worst.error == 0.0 {
        return;
    }
    for (operand, metric) in worst.operands.iter().zip(["argument", "second_argument"]) {
        record(figure(case.to_string(), metric, *operand, ""));
    }
}

/// The largest error found, and the operands of it.
struct Worst {
    error: f64,
    operands: Vec<f64>,
}

fn worst(
    runner: &measure::Runner,
    arithmetic: Arithmetic,
    reference: Reference,
    options: &Options,
) -> Worst {
    let format = arithmetic.format;
    let more = match options.budget.is_zero() {
        true => 1,
        false => 64,
    };
    let first = measure::sample(format, more, 1);
    let rows: Vec<Vec<u128>> = match reference {
        Reference::One(_) => first.iter().map(|&x| vec![x.into()]).collect(),
        Reference::Two(_) => {
            // Each number meets others of far and of near exponents.
            let second = measure::sample(format, more, 2);
            let steps = [1, 7, second.len() / 3, second.len() / 2 + 11];
            let pair = |step: usize| {
                let second = second.iter().cycle().skip(step);
                first
                    .iter()
                    .zip(second)
                    .map(|(&x, &y)| vec![x.into(), y.into()])
            };
            steps.into_iter().flat_map(pair).collect()
        }
    };
    let mut worst = Worst {
        error: 0.0,
        operands: vec![],
    };
    for (row, result) in rows.iter().zip(runner.run(&rows)) {
        let operand = |at: usize| measure::operand(arithmetic, row[at] as u64);
        // Functions that only move bits keep those of a NaN.
        if (0..row.len()).any(|at| operand(at).is_nan()) {
            continue;
        }
        let exact = match reference {
            Reference::One(function) => function(operand(0)),
            Reference::Two(function) => function(operand(0), operand(1)),
        };
        let error = measure::error(arithmetic, result[0] as u64, exact);
        if error > worst.error || worst.operands.is_empty() {
            let operands = (0..row.len()).map(operand).collect();
            worst = Worst { error, operands };
        }
    }
    worst
}

fn figure(case: String, metric: &'static str, value: f64, unit: &'static str) -> Record {
    Record {
        suite: SUITE,
        case,
        tier: "any",
        metric,
        value,
        unit,
    }
}

/// Charts: gates of every function by format, and the worst errors.
pub fn charts(records: &[Record]) -> Vec<Chart> {
    let chart = |metric: &'static str, unit, title: &str| {
        Chart::of(records, title.to_string(), unit, |record| {
            let (format, name) = record.case.split_once('/')?;
            let ours = record.metric == metric && format != "others";
            ours.then(|| (name.to_string(), format.to_string()))
        })
    };
    vec![
        chart("ands", "gates", "AND gates of a function"),
        chart("max_ulp", "ULP", "Worst error of a sample"),
    ]
}
