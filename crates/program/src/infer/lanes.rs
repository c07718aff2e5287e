//! Inference of operations along an axis: reductions, products, stacks.

use super::refuse::{no_common_type, no_such_type, overflow, settle, wider};
use super::{Meta, Scope, fixed, float, invalid, range, shape};
use crate::decimal::range_text;
use crate::graph::{Binary, Reduction, ValueId, Visibility};
use crate::types::{Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

pub fn reduce(scope: &Scope, op: Reduction, a: ValueId, axis: u32) -> Result<Meta> {
    let value = scope.value(a)?;
    let Some(dim) = value.shape.dim(axis as usize) else {
        let shape = scope.shape(&value.shape);
        let message = format!("there is no axis {axis} of shape {shape}");
        return Err(Diagnostic::new(Code::ShapeMismatch, message)
            .because(format!("`{}` removes one axis", op.name()))
            .hint("name an axis that is there"));
    };
    let range = match (op, value.ty) {
        (Reduction::Sum, Type::Bool) => return Err(no_such_type("sum", value.ty)),
        (Reduction::Sum, Type::Float(_)) => {
            float::countable(scope, [dim])?;
            value.ty.range()
        }
        (Reduction::Sum, ty) => sum(ty, value.range, scope.length(dim), || {
            summed(scope.name(a, "a"), &[axis], value.shape.rank())
        })?,
        (
            Reduction::Any | Reduction::All,
            Type::Int { .. } | Type::Fixed { .. } | Type::Float(_),
        ) => {
            let name = scope.name(a, "a");
            return Err(no_such_type(op.name(), value.ty)
                .hint(format!("write `sl.{}({name} != 0)`", op.name())));
        }
        _ => value.range,
    };
    let shape = value.shape.without(axis as usize);
    Ok(value.meta().with_shape(shape).with_range(range))
}

/// Range of the sum of `count` (fewest and most) elements of a range, independent of a type.
pub fn sum_range(each: Range, count: (u64, u64)) -> Range {
    range::sum(each, count.0, count.1)
}

/// Formats the argument of `sl.sum` for a value of `rank` dimensions summed along `axes`: the axis
/// is left out if there is no other.
pub fn summed(name: String, axes: &[u32], rank: usize) -> String {
    match axes {
        [axis] if rank > 1 => format!("{name}, axis={axis}"),
        _ => name,
    }
}

/// Range of the sum of `count` (fewest and most) elements of a range, refused if it exceeds the
/// type; `of` is the summed expression, as [`summed`] formats it.
pub fn sum(ty: Type, each: Range, count: (u64, u64), of: impl FnOnce() -> String) -> Result<Range> {
    let exact = range::sum(each, count.0, count.1);
    settle(ty, exact, || {
        let name = of();
        let hint = wider(ty, Some(exact.hull(each)), |wide| {
            format!("sl.sum({name}, dtype={wide})")
        });
        let many = if count.0 == count.1 { "" } else { "up to " };
        let (each, exact) = (range_text(each, ty), range_text(exact, ty));
        let given = format!("{many}{} elements in {each} give {exact}", count.1);
        overflow(&format!("sl.sum({name})"), ty, given, hint)
    })
}

/// Infers `a @ b`; `declared` is the type of the result if that, or an operand, is fixed point.
pub fn dot(scope: &Scope, a: ValueId, b: ValueId, declared: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if left.ty.is_float() || right.ty.is_float() {
        return float::dot(scope, a, b, declared);
    }
    if fixed::applies(left.ty, right.ty, declared) {
        return fixed::dot(scope, a, b, declared);
    }
    if left.ty != right.ty {
        return Err(no_common_type("@", left.ty, right.ty));
    }
    if left.ty == Type::Bool {
        return Err(no_such_type("@", left.ty));
    }
    let (shape, length) = shape::dot(scope, &left.shape, &right.shape)?;
    let range = dot_range(scope, [a, b], (length, length))?;
    Ok(Meta::new(left.ty, shape, range, left.joint(right)))
}

/// True if the products that a dot product adds are squares: of a vector and itself.
pub fn squares(scope: &Scope, [a, b]: [ValueId; 2]) -> bool {
    scope.value(a).is_ok_and(|a| a.shape.rank() == 1) && scope.alike(a, b)
}

/// Range of sums of `count` (fewest and most) products of two integers of one type, refused if it
/// exceeds the type.
pub fn dot_range(scope: &Scope, [a, b]: [ValueId; 2], count: (u64, u64)) -> Result<Range> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let products = if squares(scope, [a, b]) {
        range::square(left.range)
    } else {
        (Binary::Mul.row().range)(left.range, right.range)
    };
    let exact = range::sum(products, count.0, count.1);
    settle(left.ty, exact, || {
        let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
        let all = exact.hull(left.range).hull(right.range);
        let hint = wider(left.ty, Some(all), |wide| {
            format!("sl.dot({x}, {y}, dtype={wide})")
        });
        let many = if count.0 == count.1 { "" } else { "up to " };
        let given = format!("{many}{} products in {products} give {exact}", count.1);
        overflow(&format!("{x} @ {y}"), left.ty, given, hint)
    })
}

/// Numbers that all parties draw together.
pub fn random(bits: u8, count: u64) -> Result<Meta> {
    if !(1..=64).contains(&bits) || count == 0 {
        return Err(invalid("random numbers of no bits, or none of them"));
    }
    let ty = Type::unsigned(bits);
    let shape = Shape::fixed([count]);
    Ok(Meta::new(ty, shape, ty.range(), Visibility::Secret))
}

pub fn stack(scope: &Scope, values: &[ValueId], axis: u32) -> Result<Meta> {
    let [first, rest @ ..] = values else {
        return Err(invalid("a stack of nothing"));
    };
    let mut meta = scope.value(*first)?.meta();
    for id in rest {
        let next = scope.value(*id)?;
        if next.ty != meta.ty {
            return Err(no_common_type("stack", meta.ty, next.ty));
        }
        if next.shape != meta.shape {
            let (one, other) = (scope.shape(&meta.shape), scope.shape(&next.shape));
            let message = format!("a stack of {one} and {other}");
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
            .because("values are stacked along a new axis, so all have the same shape")
            .hint(
                "give all one shape: `x[None]` adds an axis, and `y + 0 * x` has the shape of `x`",
            ));
        }
        meta.visibility = meta.visibility.join(next.visibility);
    }
    meta.range = float::any_of(scope, values)?;
    meta.shape = shape::stack(scope, &meta.shape, values.len() as u64, axis)?;
    Ok(meta)
}
