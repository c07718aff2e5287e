//! Inference of operations on all elements of axis 0 at once: numbers of rows, rows that move,
//! running reductions, elements that stay.

use super::body::{everything, walked};
use super::lanes;
use super::refuse::no_such_type;
use super::{Meta, Scope, invalid};
use crate::graph::{Op, Reduction, ValueId, Visibility};
use crate::types::{Dim, Range, RowId, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Most places by which rows are moved.
const MOST_PLACES: i64 = 1 << 31;

/// The numbers of the rows of a table, in the smallest type that holds them all.
pub fn row_number(scope: &Scope, rows: RowId) -> Result<Meta> {
    let symbol = scope.rows.get(usize::from(rows.0));
    let symbol = symbol.ok_or_else(|| invalid("numbers of unknown rows"))?;
    let range = Range::new(0, i128::from(symbol.bound) - 1);
    let ty = Type::smallest(range).unwrap_or(Type::I64);
    let shape = Shape::with_rows(rows, []);
    Ok(Meta::new(ty, shape, range, Visibility::Public))
}

pub fn roll(scope: &Scope, of: ValueId, by: i64) -> Result<Meta> {
    if !(-MOST_PLACES..=MOST_PLACES).contains(&by) {
        return Err(invalid("rows are moved too far"));
    }
    by_rows(scope, of)
}

pub fn head(scope: &Scope, of: ValueId, len: u64) -> Result<Meta> {
    let value = by_rows(scope, of)?;
    if len == 0 {
        return Err(invalid("the first rows are none"));
    }
    let fixed = [&[len], &value.shape.fixed[..]].concat();
    Ok(with_zero(value).with_shape(Shape { rows: None, fixed }))
}

/// The properties of a value whose axis 0 is symbolic.
fn by_rows(scope: &Scope, of: ValueId) -> Result<Meta> {
    let value = scope.value(of)?;
    match value.shape.rows {
        Some(_) => Ok(value.meta()),
        None => Err(invalid("rows are moved of a value without rows")),
    }
}

/// The properties of elements of which some may be replaced by zeros.
fn with_zero(value: Meta) -> Meta {
    if value.ty.is_float() {
        return value;
    }
    let range = value.range.hull(Range::of(0));
    value.with_range(range)
}

pub fn running(scope: &Scope, op: Reduction, of: ValueId, starts: Option<ValueId>) -> Result<Meta> {
    let value = scope.value(of)?;
    let dim = walked(scope, &[of])?;
    if value.ty.is_float() {
        return Err(no_such_type("a running reduction", value.ty)
            .because("a sum of floating point depends on the order of its terms")
            .hint("use fixed point, whose running sums are exact"));
    }
    // The type and the longest reduction are those of the reduction of the whole axis.
    let whole = lanes::reduce(scope, op, of, 0)?;
    let range = match op {
        Reduction::Sum => {
            let (_, most) = scope.length(dim);
            let any = lanes::sum_range(value.range, (1, most));
            if value.ty.is_wrapping() {
                whole.range
            } else {
                any
            }
        }
        _ => value.range,
    };
    let mut visibility = value.visibility;
    if let Some(starts) = starts {
        flag(scope, starts, dim)?;
        visibility = visibility.join(scope.value(starts)?.visibility);
    }
    let value = value.meta().with_range(range);
    Ok(value.with_visibility(visibility))
}

pub fn compact(scope: &Scope, keep: ValueId, over: &[ValueId]) -> Result<Meta> {
    flag(scope, keep, walked(scope, over)?)?;
    let op = Op::Compact {
        keep,
        over: over.to_vec(),
    };
    kept(scope, over, 0, everything(scope, &op)?)
}

/// Properties of part `index` of what stays of elements: zeros may stand for them.
pub fn kept(scope: &Scope, over: &[ValueId], index: u32, visibility: Visibility) -> Result<Meta> {
    moved(scope, over, index, visibility).map(with_zero)
}

/// Properties of part `index` of elements that have moved.
pub fn moved(scope: &Scope, over: &[ValueId], index: u32, visibility: Visibility) -> Result<Meta> {
    let id = over.get(index as usize);
    let id = id.ok_or_else(|| invalid("a part that an operation does not have"))?;
    Ok(scope.value(*id)?.meta().with_visibility(visibility))
}

/// Checks that a value is one `bool` for each element of an axis.
fn flag(scope: &Scope, id: ValueId, dim: Dim) -> Result<()> {
    let value = scope.value(id)?;
    if value.ty == Type::Bool && value.shape.rank() == 1 && value.shape.dim(0) == Some(dim) {
        return Ok(());
    }
    let shape = scope.shape(&value.shape);
    let message = format!("{}{shape} does not say yes or no of each element", value.ty);
    Err(Diagnostic::new(Code::ShapeMismatch, message)
        .because("it has to be one `bool` for each element of axis 0")
        .hint("compare a column, such as `x > 0`"))
}
