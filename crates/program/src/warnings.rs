//! Warnings about programs that are allowed but probably not intended.

mod products;
mod rounding;

use crate::graph::{Graph, Op, Program};
use sealane_diagnostic::{Code, Diagnostic, Span};
use std::collections::BTreeMap;

/// Least number of operations of one source line that suggests an unrolled loop.
pub const UNROLLED: usize = 1000;

/// The warnings about a sound program.
pub(crate) fn all(program: &Program) -> Vec<Diagnostic> {
    let mut warnings = unrolled(program);
    warnings.extend(unused(program));
    warnings.extend(whole_inputs(program));
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
            Diagnostic::new(
                Code::UnrolledLoop,
                format!("this line became {count} operations"),
            )
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
    let inputs = program.inputs.iter().zip(needed);
    inputs
        .filter(|(_, needed)| !needed)
        .map(|(input, _)| {
            let message = format!("no result depends on input `{}`", input.name);
            Diagnostic::new(Code::UnusedInput, message)
                .at(input.span.as_ref())
                .hint("leave it out of the signature")
        })
        .collect()
}

/// Results that are another party's unchanged input.
fn whole_inputs(program: &Program) -> Vec<Diagnostic> {
    // The input behind a value, followed through conversions.
    let mut origins: Vec<Option<u32>> = Vec::with_capacity(program.main.values.len());
    for value in &program.main.values {
        origins.push(match value.op {
            Op::Param(index) => Some(index),
            Op::Cast(of) => origins[of.0 as usize],
            _ => None,
        });
    }
    let mut warnings = Vec::new();
    for reveal in &program.results {
        let origin = origins[reveal.value.0 as usize];
        let Some(input) = origin.and_then(|index| program.inputs.get(index as usize)) else {
            continue;
        };
        let Some(other) = reveal.to.iter().find(|&&party| party != input.owner) else {
            continue;
        };
        let party = |index: u8| &program.parties[usize::from(index)];
        warnings.push(
            Diagnostic::new(
                Code::RevealsInput,
                format!(
                    "`{}` shows {} the whole input `{}`",
                    reveal.name,
                    party(*other),
                    input.name
                ),
            )
            .at(program.main.values[reveal.value.0 as usize]
                .span
                .as_ref()
                .or(input.span.as_ref()))
            .because(format!(
                "it is the input of {} as it stands",
                party(input.owner)
            ))
            .hint("reveal what was computed from it, or send it without Sealane"),
        );
    }
    warnings
}
