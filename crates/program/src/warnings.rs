//! Warnings about programs that are allowed but probably not intended.

mod inputs;
mod products;
mod rounding;
mod undone;

use crate::graph::{Graph, Input, Program};
use crate::kind::Form;
use sealane_diagnostic::{Code, Diagnostic, Span};
use std::collections::BTreeMap;

/// Least number of operations of one source line that suggests an unrolled loop.
pub const UNROLLED: usize = 1000;

/// The warnings about a sound program.
pub(crate) fn all(program: &Program) -> Vec<Diagnostic> {
    let mut warnings = unrolled(program);
    warnings.extend(unused(program));
    warnings.extend(inputs::shown(program));
    warnings.extend(rounding::sums(program));
    warnings.extend(products::sums(program));
    warnings
}

/// Source lines that were traced very often.
fn unrolled(program: &Program) -> Vec<Diagnostic> {
    let mut lines = BTreeMap::new();
    tally(&program.main, &mut lines);
    let large = lines.into_values().filter(|(count, _)| *count > UNROLLED);
    large
        .map(|(count, span)| {
            let message = format!("this line became {count} operations");
            Diagnostic::new(Code::UnrolledLoop, message)
                .at(Some(span))
                .because("a Python loop is traced once for each turn, and the plan grows with it")
                .hint("work on whole tensors, or use `sl.map` or `sl.scan`, which trace once")
        })
        .collect()
}

/// Counts operations by source line, and keeps the first span of each.
fn tally<'a>(graph: &'a Graph, lines: &mut BTreeMap<(&'a str, u32), (usize, &'a Span)>) {
    for value in &graph.values {
        if let Some(span) = &value.span {
            lines.entry((&span.file, span.line)).or_insert((0, span)).0 += 1;
        }
        if let Some(body) = value.op.body() {
            tally(body, lines);
        }
    }
}

/// Inputs on which no result depends.
fn unused(program: &Program) -> Vec<Diagnostic> {
    let mut needed = vec![false; program.main.values.len()];
    for reveal in &program.results {
        needed[reveal.value.0 as usize] = true;
    }
    for (index, value) in program.main.values.iter().enumerate().rev() {
        if needed[index] {
            value
                .op
                .operands()
                .iter()
                .for_each(|id| needed[id.0 as usize] = true);
        }
    }
    let inputs = program.inputs.iter().zip(&needed);
    // The mask of a nullable input is no input of its own to its author.
    let is_mask = |input: &Input| matches!(input.kind.form, Form::Missing(_));
    let mask_counts = |name: &str| {
        let of = |input: &Input| matches!(&input.kind.form, Form::Missing(of) if of == name);
        inputs.clone().any(|(input, needed)| *needed && of(input))
    };
    inputs
        .clone()
        .filter(|(input, needed)| !**needed && !is_mask(input))
        .map(|(input, _)| {
            let (what, hint) = if mask_counts(&input.name) {
                (
                    "the cells of ",
                    "give a column that says which cells are missing",
                )
            } else {
                ("", "leave it out of the signature")
            };
            let message = format!("no result depends on {what}input `{}`", input.name);
            Diagnostic::new(Code::UnusedInput, message)
                .at(input.span.as_ref())
                .hint(hint)
        })
        .collect()
}
