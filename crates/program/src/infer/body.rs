//! Inference of `map`, `scan`, `sort` and `prefix`: operands and results of bodies.
//!
//! A scan's carry may hold any value of its type in the body, since nothing bounds the number of
//! iterations. The value that the body returns for it must then fit that type: an operation that
//! could overflow is refused at its place, so the invariant holds for every number of iterations.

use super::{Meta, Scope, infer, invalid, order, shape};
use crate::decimal::range_text;
use crate::graph::{Graph, Loop, Op, ValueId, Visibility};
use crate::types::{Dim, Range, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Checks a body and returns the type of part 0.
pub fn whole(scope: &Scope, op: &Op, of: &Loop) -> Result<Meta> {
    let (body, expected) = (&of.body, params(scope, op)?);
    let header = Scope {
        inputs: &[],
        ..*scope
    };
    graph(&header, body, &expected)?;
    match op {
        Op::Scan(_) => carries_close(scope, body, &of.init)?,
        Op::Sort(..) => decides(scope, body)?,
        Op::Prefix(_) => combines(scope, body, &of.over)?,
        _ => {}
    }
    result(scope, op, 0, everything(scope, op)?)
}

/// Result number `index` of an operation with parts that has been inferred.
pub fn part(scope: &Scope, of: ValueId, index: u32) -> Result<Meta> {
    match scope.values.get(of.0 as usize) {
        // The dependencies of the whole operation have been joined once, not for each part.
        Some(whole) => match &whole.op {
            Op::Compact { over, .. } => order::kept(scope, over, index, whole.visibility),
            op if op.has_parts() => result(scope, op, index, whole.visibility),
            _ => Err(invalid("a part of an operation that has none")),
        },
        None => Err(invalid("a part of an operation that has none")),
    }
}

/// Properties of each parameter of the body of a `map`, `scan` or `sort`.
pub fn params(scope: &Scope, op: &Op) -> Result<Vec<Meta>> {
    let of = looped(op)?;
    walked(scope, &of.over)?;
    let visibility = everything(scope, op)?;
    let mut params = Vec::new();
    for id in &of.init {
        let start = scope.value(*id)?.meta();
        params.push(carried(start, visibility));
    }
    let pairs = matches!(op, Op::Sort(..) | Op::Prefix(_));
    let times = if pairs { 2 } else { 1 };
    for id in of.over.iter().cycle().take(times * of.over.len()) {
        let tensor = scope.value(*id)?.meta();
        let (shape, range) = (tensor.shape.without(0), met(op, &tensor));
        params.push(tensor.with_shape(shape).with_range(range));
    }
    for id in &of.captured {
        params.push(scope.value(*id)?.meta());
    }
    Ok(params)
}

/// Checks that a graph agrees with inference, given its parameters.
pub fn graph(header: &Scope, graph: &Graph, params: &[Meta]) -> Result<()> {
    if graph.params as usize != params.len() || params.len() > graph.values.len() {
        return Err(invalid(
            "a graph has another number of parameters than it is given",
        ));
    }
    for (index, value) in graph.values.iter().enumerate() {
        let scope = Scope {
            values: &graph.values[..index],
            ..*header
        };
        let inferred = match (params.get(index), &value.op) {
            (Some(param), Op::Param(number)) if *number as usize == index => {
                shape::bounded(&scope, &param.shape).map(|()| param.clone())
            }
            (Some(_), _) => Err(invalid("a graph does not begin with its parameters")),
            (None, op) => infer(&scope, op, value.ty),
        };
        let located = |error: Diagnostic| error.at(value.span.as_ref());
        let inferred = inferred.map_err(located)?;
        if inferred != value.meta() {
            let (wrong, right) = (value.meta(), inferred);
            let range = |m: &Meta| range_text(m.range, m.ty);
            let say = |m: &Meta| format!("{}{} in {}", m.ty, scope.shape(&m.shape), range(m));
            return Err(located(
                invalid(&format!("%{index} is not what its operation gives")).because(format!(
                    "it says {} ({:?}), and inference says {} ({:?})",
                    say(&wrong),
                    wrong.visibility,
                    say(&right),
                    right.visibility,
                )),
            ));
        }
    }
    Ok(())
}

fn looped(op: &Op) -> Result<&Loop> {
    op.looped()
        .ok_or_else(|| invalid("an operation without its body"))
}

/// The dimension along which all of `over` are walked.
pub(super) fn walked(scope: &Scope, over: &[ValueId]) -> Result<Dim> {
    let mut dim = None;
    for id in over {
        let shape = &scope.value(*id)?.shape;
        let Some(first) = shape.dim(0) else {
            let message = "a scalar has no elements to walk over";
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .hint("name it in the body; a body sees every value outside of it"));
        };
        if dim.is_some_and(|dim| dim != first) {
            let message = "the tensors differ in their first axis";
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because(format!("one of them has shape {}", scope.shape(shape)))
                .hint("walk those of one length; a body sees every value outside of it"));
        }
        dim = Some(first);
    }
    dim.ok_or_else(|| invalid("a map or scan over nothing"))
}

/// Checks that the body of a sort returns one `bool`.
fn decides(scope: &Scope, body: &Graph) -> Result<()> {
    let decision = returned(scope, body, 0)?;
    if body.returns.len() == 1 && decision.ty == Type::Bool && decision.shape.rank() == 0 {
        return Ok(());
    }
    let message = "the order of a sort does not say which of two elements comes first";
    Err(Diagnostic::new(Code::Body, message)
        .because("it returns one `bool`: true if the second element belongs before the first")
        .hint("compare two numbers, such as `b < a`"))
}

/// Checks that a combination of elements has their types and shapes.
fn combines(scope: &Scope, body: &Graph, over: &[ValueId]) -> Result<()> {
    for (index, id) in over.iter().enumerate() {
        let (of, made) = (scope.value(*id)?, returned(scope, body, index as u32)?);
        let element = of.shape.without(0);
        if (of.ty, &element) != (made.ty, &made.shape) || body.returns.len() != over.len() {
            let (x, y) = (scope.shape(&element), scope.shape(&made.shape));
            let (ty, other) = (of.ty, made.ty);
            let message = format!("elements {ty}{x} are combined to {other}{y}");
            return Err(Diagnostic::new(Code::Body, message)
                .because("a combination is combined again: it has the type and shape of elements")
                .hint("convert what the function returns, or the elements before it is called"));
        }
    }
    Ok(())
}

/// Visibility of a value that depends on every operand.
pub(super) fn everything(scope: &Scope, op: &Op) -> Result<Visibility> {
    op.operands()
        .iter()
        .try_fold(Visibility::Public, |joint, id| {
            Ok(joint.join(scope.value(*id)?.visibility))
        })
}

/// Checks that the next carries have the types and shapes of the first ones.
fn carries_close(scope: &Scope, body: &Graph, init: &[ValueId]) -> Result<()> {
    for (index, id) in init.iter().enumerate() {
        let (first, next) = (scope.value(*id)?, returned(scope, body, index as u32)?);
        if (first.ty, &first.shape) != (next.ty, &next.shape) {
            let (x, y) = (scope.shape(&first.shape), scope.shape(&next.shape));
            return Err(Diagnostic::new(
                Code::Body,
                format!(
                    "carry {index} starts as {}{x} and continues as {}{y}",
                    first.ty, next.ty
                ),
            )
            .because("a carry keeps its type and shape")
            .hint(if first.ty == next.ty {
                "start with the shape of what follows, or reduce what follows to it".into()
            } else {
                format!(
                    "start with that type, `dtype={0}`, or convert: `.astype({1})`",
                    next.ty.python(),
                    first.ty.python()
                )
            }));
        }
    }
    Ok(())
}

/// Properties of a carry, given those of its initial value: it may become any number of its type.
fn carried(start: Meta, visibility: Visibility) -> Meta {
    let range = start.ty.range();
    start.with_range(range).with_visibility(visibility)
}

/// Range of elements that a body meets: those that a prefix combines may be any of their type.
fn met(op: &Op, of: &Meta) -> Range {
    match op {
        Op::Prefix(_) => of.ty.range(),
        _ => of.range,
    }
}

/// Properties of one result for the graph around the body.
fn result(scope: &Scope, op: &Op, index: u32, visibility: Visibility) -> Result<Meta> {
    let of = looped(op)?;
    let over = &of.over;
    if let Some(id) = of.init.get(index as usize) {
        let carry = scope.value(*id)?.meta();
        return Ok(carried(carry, visibility));
    }
    if let Op::Sort(..) | Op::Prefix(_) = op {
        let moved = order::moved(scope, over, index, visibility)?;
        let range = met(op, &moved);
        return Ok(moved.with_range(range));
    }
    let each = returned(scope, &of.body, index)?;
    let shape = shape::stacked(
        scope,
        walked(scope, &over[..over.len().min(1)])?,
        &each.shape,
    )?;
    Ok(each.with_shape(shape).with_visibility(visibility))
}

/// Value that the body returns at `index`.
fn returned(scope: &Scope, body: &Graph, index: u32) -> Result<Meta> {
    let Some(id) = body.returns.get(index as usize) else {
        return Err(
            Diagnostic::new(Code::Body, "the body returns too few values").hint(
                "return the next carries, then a value for each element, or at least one value",
            ),
        );
    };
    Ok(Scope {
        values: &body.values,
        inputs: &[],
        ..*scope
    }
    .value(*id)?
    .meta())
}
