//! Inference of operations that arrange elements, and of running sums and ends.

use super::refuse::{no_common_type, no_such_type, overflow, settle, wider};
use super::{Meta, Scope, float, invalid, range};
use crate::decimal::range_text;
use crate::graph::{Reduction, ValueId};
use crate::types::{Dim, RowId, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Infers a view. Every element that it names has to exist, and an axis of length 1 has step 0, so
/// that equal views are written alike.
pub fn view(scope: &Scope, of: ValueId, start: u64, dims: &[(u64, i64)]) -> Result<Meta> {
    let of = scope.value(of)?;
    let elements = of.shape.row_elements().unwrap_or(0);
    let (mut first, mut last) = (i128::from(start), i128::from(start));
    for (length, step) in dims {
        let reach = i128::from(length.saturating_sub(1)) * i128::from(*step);
        // Beyond this, the element does not exist, and the sum stays within `i128`.
        if reach.unsigned_abs() >= elements.into() || *length == 0 {
            return Err(invalid("a view of elements that do not exist"));
        }
        if *length == 1 && *step != 0 {
            return Err(invalid("a view with a step along a single element"));
        }
        first += reach.min(0);
        last += reach.max(0);
    }
    if first < 0 || last >= elements.into() {
        return Err(invalid("a view of elements that do not exist"));
    }
    let shape = Shape {
        rows: of.shape.rows,
        fixed: dims.iter().map(|(length, _)| *length).collect(),
    };
    Ok(Meta { shape, ..of.meta() })
}

/// Infers tensors one behind the other along an axis.
pub fn concat(scope: &Scope, values: &[ValueId], axis: u32) -> Result<Meta> {
    let [first, rest @ ..] = values else {
        return Err(invalid("a concatenation of nothing"));
    };
    let mut meta = scope.value(*first)?.meta();
    let whole = meta.shape.clone();
    let axis = axis as usize;
    match whole.dim(axis) {
        Some(Dim::Fixed(_)) => {}
        Some(Dim::Rows(_)) => return Err(invalid("a concatenation along rows")),
        None => {
            let shape = scope.shape(&whole);
            return Err(Diagnostic::new(
                Code::ShapeMismatch,
                format!("values of shape {shape} have no axis {axis}"),
            )
            .because("a concatenation keeps the number of axes")
            .hint("name an axis that is there, or join along a new one with `sl.stack([...])`"));
        }
    }
    let place = axis - usize::from(whole.rows.is_some());
    for id in rest {
        let next = scope.value(*id)?;
        if next.ty != meta.ty {
            return Err(no_common_type("concatenate", meta.ty, next.ty));
        }
        let along = next.shape.fixed.get(place).copied();
        let mut same = next.shape.clone();
        if let Some(length) = same.fixed.get_mut(place) {
            *length = whole.fixed[place];
        }
        let (Some(along), true) = (along, same == whole) else {
            let (one, other) = (scope.shape(&whole), scope.shape(&next.shape));
            let message = format!("shapes {one} and {other} cannot be joined along axis {axis}");
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because("all other axes have to be the same")
                .hint("`x[None]` adds an axis, and `sl.broadcast_to` repeats along one"));
        };
        meta.shape.fixed[place] = meta.shape.fixed[place].saturating_add(along);
        meta.visibility = meta.visibility.join(next.visibility);
    }
    meta.range = float::any_of(scope, values)?;
    Ok(meta)
}

/// Infers rows of tables one under the other. The header has their sum: see [`sum_of_rows`].
pub fn append(scope: &Scope, values: &[ValueId]) -> Result<Meta> {
    let [first, _, ..] = values else {
        return Err(invalid("rows of fewer than two tables under one another"));
    };
    let mut meta = scope.value(*first)?.meta();
    let whole = meta.shape.fixed.clone();
    let sum = sum_of_rows(scope, values)?;
    for id in values {
        let next = scope.value(*id)?;
        if next.ty != meta.ty {
            return Err(no_common_type("concatenate", meta.ty, next.ty));
        }
        if next.shape.fixed != whole {
            let (one, other) = (scope.shape(&meta.shape), scope.shape(&next.shape));
            let message = format!("rows of shapes {one} and {other} do not fit under one another");
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because("all axes but that of the rows have to be the same")
                .hint("`x[:, None]` adds an axis, and `sl.broadcast_to` repeats along one"));
        }
        meta.range = meta.range.hull(next.range);
        meta.visibility = meta.visibility.join(next.visibility);
    }
    let known = scope.rows.iter().position(|symbol| symbol.sum == sum);
    let Some(known) = known else {
        return Err(invalid(
            "rows under one another whose number is not declared",
        ));
    };
    meta.shape.rows = Some(RowId(known as u16));
    Ok(meta)
}

/// The row counts of tables that add up to that of the rows of `values` under one another.
pub(crate) fn sum_of_rows(scope: &Scope, values: &[ValueId]) -> Result<Vec<RowId>> {
    let mut sum = Vec::new();
    for id in values {
        let shape = &scope.value(*id)?.shape;
        let Some(rows) = shape.rows else {
            let shape = scope.shape(shape);
            let message =
                format!("a value of shape {shape} cannot stand under the rows of a table");
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because("what stands under rows are rows of another table, or of the same one")
                .hint("declare it with a row count, such as `\"more <= 10\"`"));
        };
        sum.extend(scope.addends(rows));
    }
    Ok(sum)
}

/// Infers the reductions of the elements up to each one.
pub fn accumulate(scope: &Scope, op: Reduction, of: ValueId, axis: u32) -> Result<Meta> {
    let value = scope.value(of)?;
    let Some(dim) = value.shape.dim(axis as usize) else {
        let shape = scope.shape(&value.shape);
        let message = format!("there is no axis {axis} of shape {shape}");
        return Err(Diagnostic::new(Code::ShapeMismatch, message)
            .because(format!("`sl.{}` runs along one axis", name(op)))
            .hint("name an axis that is there"));
    };
    let range = match (op, value.ty) {
        (Reduction::Sum, Type::Bool | Type::Float(_)) => {
            return Err(no_such_type("cumsum", value.ty));
        }
        (Reduction::Sum, ty) => {
            let most = scope.length(dim).1;
            let exact = range::sum(value.range, 1, most);
            settle(ty, exact, || {
                let called = scope.name(of, "a");
                let axis = match value.shape.rank() {
                    1 => String::new(),
                    _ => format!(", axis={axis}"),
                };
                let hint = wider(ty, Some(exact), |wide| {
                    format!("sl.cumsum({called}{axis}, dtype={wide})")
                });
                let (each, exact) = (range_text(value.range, ty), range_text(exact, ty));
                let given = format!("up to {most} elements in {each} give {exact}");
                overflow(&format!("sl.cumsum({called}{axis})"), ty, given, hint)
            })?
        }
        (Reduction::Any | Reduction::All, ty) if ty != Type::Bool => {
            return Err(no_such_type(op.name(), ty));
        }
        _ => value.range,
    };
    Ok(value.meta().with_range(range))
}

/// Name in Python after `sl.`.
fn name(op: Reduction) -> &'static str {
    match op {
        Reduction::Sum => "cumsum",
        Reduction::Min | Reduction::All => "cummin",
        Reduction::Max | Reduction::Any => "cummax",
    }
}
