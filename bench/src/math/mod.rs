//! Suite `math`: size, depth and error of every function on numbers, in every format, and the
//! functions of a library of others beside ours.
//!
//! Sizes are those of the finished circuits and the same on every machine; `flat` is the form of
//! little depth, for protocols that wait for each level. Errors are the worst of a sample of all
//! exponents, of 16 bits of all arguments, against a library in f64; `argument` is where it occurs.
//! That library cannot judge f64: [`of_answers`] does against values of many digits, where the
//! repository is at hand. Functions of fixed point have their sizes alone.

mod errors;
mod fixed;
mod page;
mod paper;
mod pictures;
mod reference;

use crate::{Figures, Options, SuiteError};
use errors::Worst;
use sealane_circuit::Goal;
use sealane_numeric::measure::{self, Runner};
use sealane_numeric::{Arithmetic, Format, Function, ValueKind, exact_functions, functions};
use std::path::Path;

pub use page::{BEGIN, view};
pub use pictures::errors_svg;

/// The suite's name.
pub const SUITE: &str = "math";

/// Bytes of a garbled AND.
const BYTES: f64 = 32.0;
/// The formats that are measured.
const FORMATS: [Format; 4] = Format::ALL;
/// The name of the table of forms that are correctly rounded in f32.
const EXACT: &str = "f32, correctly rounded";

/// Measures every function in every format.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    for format in FORMATS {
        for function in functions().filter(|function| asked(options, format, function)) {
            measure_one(format.name(), format, function, options, figures);
        }
    }
    for function in exact_functions().filter(|function| asked(options, Format::F32, function)) {
        measure_one(EXACT, Format::F32, function, options, figures);
    }
    for table in fixed::TYPES {
        for case in fixed::CASES {
            if asked_of(options, table.0, case.name) && !options.quick() {
                case.sizes(table, figures);
            }
        }
    }
    for theirs in &paper::SEVENTEEN {
        let case = format!("others/{}", theirs.name);
        figures.add(&case, &[("seconds", theirs.seconds, "s")]);
        if let Some(ands) = theirs.ands {
            figures.add(&case, &[("ands", ands, "gates")]);
        }
    }
    Ok(())
}

/// The parts of the suite: formats and functions.
pub fn parts() -> Vec<&'static str> {
    tables().chain(functions().map(|f| f.name)).collect()
}

/// Returns whether a function in a format is to be measured. Without a budget, only the smallest
/// format is: enough to see that the suite works.
fn asked(options: &Options, format: Format, function: &Function) -> bool {
    let quick = options.quick() && format != Format::BF16;
    asked_of(options, format.name(), function.name) && !quick
}

/// Returns whether a function in a table is named, or nothing that leaves it out.
fn asked_of(options: &Options, table: &str, name: &str) -> bool {
    let only = |name: &str| options.only.iter().any(|part| part == name);
    let named = options.only.iter().map(String::as_str);
    let (of_tables, names): (Vec<_>, Vec<_>) =
        named.partition(|part| tables().any(|table| table == *part));
    (of_tables.is_empty() || only(table)) && (names.is_empty() || only(name))
}

/// The names of formats and of types of fixed point.
fn tables() -> impl Iterator<Item = &'static str> {
    let formats = FORMATS.iter().map(|format| format.name());
    formats.chain(fixed::TYPES.iter().map(|(name, _)| *name))
}

/// The cost of a function: the part of its figures that needs no sample.
fn sizes(case: &str, format: Format, function: &Function, figures: &mut Figures<'_>) -> Runner {
    let arithmetic = Arithmetic::new(format);
    let size = Runner::new(function, arithmetic, Goal::Size);
    let flat = measure::circuit(function, arithmetic, Goal::Depth).info();
    let flushed = measure::circuit(function, arithmetic.flushed(), Goal::Size).info();
    let all = [
        ("ands", size.ands as f64, "gates"),
        ("depth", size.depth as f64, "gates"),
        ("bytes", size.ands as f64 * BYTES, "bytes"),
        ("flushed_ands", flushed.ands as f64, "gates"),
        ("flat_ands", flat.ands as f64, "gates"),
        ("flat_depth", flat.depth as f64, "gates"),
    ];
    figures.add(case, &all);
    size
}

fn measure_one(
    table: &str,
    format: Format,
    function: &Function,
    options: &Options,
    figures: &mut Figures<'_>,
) {
    let case = case(table, function);
    let runner = sizes(&case, format, function, figures);
    if format == Format::F64 || function.results != [ValueKind::Float] {
        return;
    }
    let Some(reference) = reference::of(function.name) else {
        return;
    };
    let arithmetic = Arithmetic::new(format);
    let more = if options.quick() { 1 } else { 64 };
    let mut all = errors::of_samples(&runner, arithmetic, reference, more);
    if format == Format::F32 {
        all.extend(errors::of_hard(function.name, &runner, reference));
    }
    errors_of(&case, &Worst::of(&all, arithmetic), figures);
}

/// Records the worst errors of functions of f64 on the known answers in `folder`.
pub fn of_answers(folder: &Path, figures: &mut Figures<'_>) {
    let arithmetic = Arithmetic::new(Format::F64);
    for function in functions() {
        let runner = || Runner::new(function, arithmetic, Goal::Size);
        if let Some(all) = errors::of_answers(function, runner, folder) {
            let case = case(Format::F64.name(), function);
            errors_of(&case, &Worst::of(&all, arithmetic), figures);
        }
    }
}

fn errors_of(case: &str, worst: &Worst, figures: &mut Figures<'_>) {
    figures.add(case, &[("max_ulp", worst.error, "ULP")]);
    for (operand, metric) in worst.operands.iter().zip(["argument", "second_argument"]) {
        figures.add(case, &[(metric, *operand, "")]);
    }
}

/// A function in a table: `f32/exp`.
fn case(table: &str, function: &Function) -> String {
    format!("{table}/{}", function.name)
}
