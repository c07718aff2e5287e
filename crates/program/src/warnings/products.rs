//! Sums of floating-point products, of which each is rounded before it is added.
//!
//! A sum of floating point is exact and rounded once; `(x * y).sum()` is one of products that are
//! numbers already. `x @ y` and `sl.fdot` add the exact products. Products that a program also uses
//! otherwise are meant as numbers, and none is warned of.

use super::rounding::MANY;
use crate::graph::{Binary, Graph, Op, Program, Reduction, ValueId};
use crate::types::{Data, Dim, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Span};

/// The warnings about such sums along rows or many elements, one for each expression.
pub(super) fn sums(program: &Program) -> Vec<Diagnostic> {
    let mut spans = Vec::new();
    let results = program.results.iter().map(|result| result.value);
    graph(&program.main, results, &mut spans);
    let warning = |span: &At<'_>| {
        let message = "a sum of floating-point products that are each rounded first";
        Diagnostic::new(Code::RoundedSum, message)
        .at(*span)
        .because(
            "`x * y` is the number nearest to each product, and their sum is exact; `x @ y` adds \
             the products themselves",
        )
        .hint(
            "to round once, at the end, write `sl.fdot(x, y)` or `x @ y`; the sum of rounded \
             products may be what is meant",
        )
    };
    spans.iter().map(warning).collect()
}

/// Collects the places of such sums.
fn graph<'a>(
    of: &'a Graph,
    results: impl Iterator<Item = ValueId>,
    spans: &mut Vec<Option<&'a Span>>,
) {
    let operands = of.values.iter().flat_map(|value| value.op.operands());
    let mut uses = vec![0; of.values.len()];
    for id in operands.chain(results) {
        uses[id.0 as usize] += 1;
    }
    for value in &of.values {
        if let Some(body) = value.op.body() {
            graph(body, body.returns.iter().copied(), spans);
        }
        let (addends, axes) = match &value.op {
            Op::Reduce(Reduction::Sum, a, axis) => (a.0 as usize, vec![*axis]),
            // A sum along several axes.
            Op::SumProduct { a, b, axes } if is_one(of, *b) => (a.0 as usize, axes.clone()),
            _ => continue,
        };
        let used_once = uses[addends] == 1;
        let addends = &of.values[addends];
        let product = matches!(addends.op, Op::Binary(Binary::Mul, ..)) && used_once;
        let long = axes
            .iter()
            .any(|axis| match addends.shape.dim(*axis as usize) {
                Some(Dim::Rows(_)) => true,
                Some(Dim::Fixed(length)) => length >= MANY,
                None => false,
            });
        let span = value.span.as_ref();
        if addends.ty.is_float() && product && long && !spans.contains(&span) {
            spans.push(span);
        }
    }
}

/// True for the constant 1.
fn is_one(of: &Graph, id: ValueId) -> bool {
    let value = &of[id];
    match (&value.op, value.ty) {
        (Op::Const(data), Type::Float(format)) => {
            let one = Data::from_numbers(value.ty, Vec::new(), &[format.one() as i128]);
            Some(data) == one.as_ref()
        }
        _ => false,
    }
}
