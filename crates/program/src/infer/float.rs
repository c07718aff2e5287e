//! Inference of operations on floating point: nothing overflows there, since infinities and NaN are
//! values of each type, so ranges of results are whole and only types are judged. What passes
//! numbers on keeps the magnitudes that an input declares.

use super::refuse::{invalid, no_common_type, no_such_type};
use super::{Meta, Scope, shape};
use crate::elementwise::Family;
use crate::graph::{Binary, Op, Unary, ValueId};
use crate::types::{Dim, Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Bound on the addends of a sum.
const MOST_ADDENDS: u64 = 1 << 36;

/// `-a` and `abs(a)`; bits are refused.
pub fn unary(scope: &Scope, op: Unary, a: ValueId) -> Result<Meta> {
    let value = scope.value(a)?;
    if op.row().bits {
        return Err(on_bits(scope, op.name(), a));
    }
    Ok(value.meta())
}

/// The range of an element of one of several values of one type. Of floating point, zeros of the
/// source are in each range of magnitudes.
pub fn any_of(scope: &Scope, values: &[ValueId]) -> Result<Range> {
    let mut all: Option<Range> = None;
    for id in values {
        let value = scope.value(*id)?;
        let sign = 1u64 << (value.ty.bits() - 1);
        let zeros = match &value.op {
            Op::Const(data) => data.elements.iter().all(|bits| bits & (sign - 1) == 0),
            _ => false,
        };
        if !(value.ty.is_float() && zeros) {
            all = Some(all.map_or(value.range, |all| all.hull(value.range)));
        }
    }
    let first = || values.first().ok_or_else(|| invalid("a choice of nothing"));
    match all {
        Some(range) => Ok(range),
        None => Ok(scope.value(*first()?)?.range),
    }
}

/// An operation of two operands, at least one of floating point: both have one type.
pub fn binary(scope: &Scope, op: Binary, [a, b]: [ValueId; 2]) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    match op.family() {
        Family::Bits | Family::Shift => {
            let float = if left.ty.is_float() { a } else { b };
            return Err(on_bits(scope, op.symbol(), float));
        }
        _ if left.ty != right.ty => return Err(no_common_type(op.symbol(), left.ty, right.ty)),
        _ => {}
    }
    let ty = if op.is_comparison() {
        Type::Bool
    } else {
        left.ty
    };
    let range = match op.family() {
        Family::End => any_of(scope, &[a, b])?,
        _ => ty.range(),
    };
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    Ok(Meta::new(ty, shape, range, left.joint(right)))
}

/// A conversion from or to floating point. To integers and fixed point it stops at the ends.
pub fn cast(scope: &Scope, a: ValueId, ty: Type) -> Result<Meta> {
    let value = scope.value(a)?;
    let name = scope.name(a, "a");
    if ty == Type::Bool {
        return Err(no_such_type("astype(sl.boolean)", value.ty)
            .because("rounded towards zero, what is between -1 and 1 would be false")
            .hint(format!("write `{name} != 0`")));
    }
    if ty.is_wrapping() {
        return Err(no_such_type("a type that wraps", value.ty)
            .because("modulo a power of two, a number with a fraction means little")
            .hint(format!(
                "write `sl.saturate({name}, {})`, which stops at the ends of the type",
                ty.strict().python()
            )));
    }
    Ok(value.meta().with_type(ty, ty.range()))
}

/// A sum of products, exact and rounded once to `declared`, if that is of floating point, or else
/// to the type of the factors.
pub fn dot(scope: &Scope, a: ValueId, b: ValueId, declared: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if left.ty != right.ty {
        return Err(no_common_type("@", left.ty, right.ty));
    }
    let (shape, length) = shape::dot(scope, &left.shape, &right.shape)?;
    countable(scope, [Dim::Fixed(length)])?;
    let ty = rounded_to(declared, left.ty);
    Ok(Meta::new(ty, shape, ty.range(), left.joint(right)))
}

/// The type of a sum of numbers of a type.
fn rounded_to(declared: Type, addends: Type) -> Type {
    if declared.is_float() {
        declared
    } else {
        addends
    }
}

/// A sum of products that broadcast, along `axes`, exact and rounded once, as [`dot`] is.
pub fn sum_product(scope: &Scope, [a, b]: [ValueId; 2], axes: &[u32], to: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if left.ty != right.ty {
        return Err(no_common_type("sum of products", left.ty, right.ty));
    }
    let mut shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    shape::bounded(scope, &shape)?;
    let dims = removed(&mut shape, axes)?;
    countable(scope, dims)?;
    let ty = rounded_to(to, left.ty);
    Ok(Meta::new(ty, shape, ty.range(), left.joint(right)))
}

/// An exact mean, rounded once to `ty`.
pub fn mean(scope: &Scope, of: ValueId, axes: &[u32], ty: Type) -> Result<Meta> {
    let value = scope.value(of)?;
    if !ty.is_float() || value.ty == Type::Bool {
        return Err(no_common_type("mean", value.ty, ty));
    }
    let mut shape = value.shape.clone();
    let dims = removed(&mut shape, axes)?;
    countable(scope, dims)?;
    Ok(Meta::new(ty, shape, ty.range(), value.visibility))
}

/// Takes axes out of a shape, and returns their lengths.
fn removed(shape: &mut Shape, axes: &[u32]) -> Result<Vec<Dim>> {
    if axes.is_empty() || !axes.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(invalid("a sum along no axis, or along axes out of order"));
    }
    let mut dims = Vec::new();
    for axis in axes.iter().rev() {
        let dim = shape.dim(*axis as usize);
        dims.push(dim.ok_or_else(|| invalid("a sum along an axis that is not there"))?);
        *shape = shape.without(*axis as usize);
    }
    Ok(dims)
}

/// Refuses sums of more addends than their exact form has room for.
pub fn countable(scope: &Scope, dims: impl IntoIterator<Item = Dim>) -> Result<()> {
    let most = dims.into_iter().map(|dim| scope.length(dim).1);
    let most = most.fold(1u64, u64::saturating_mul);
    if most < MOST_ADDENDS {
        return Ok(());
    }
    let message = format!("a sum of up to {most} numbers");
    Err(Diagnostic::new(Code::Limit, message)
        .because(format!(
            "an exact sum of floating point has fewer than {MOST_ADDENDS} addends"
        ))
        .hint("declare a smaller bound of the rows"))
}

/// Makes the refusal of `astype` to a type that cannot hold every number of floating point.
pub fn unfit(scope: &Scope, a: ValueId, ty: Type) -> Diagnostic {
    match scope.value(a) {
        Ok(value) => {
            let name = scope.name(a, "a");
            let message = format!("`{name}` may not fit {ty}");
            Diagnostic::new(Code::RangeOverflow, message)
                .because(format!(
                    "{name} is {}, which holds infinities, NaN and larger numbers",
                    value.ty
                ))
                .hint(format!(
                    "write `sl.saturate({name}, {})`: it stops at the ends of the type, and takes \
                     NaN for 0",
                    ty.python()
                ))
        }
        Err(error) => error,
    }
}

/// Makes the refusal of an operation on bits.
fn on_bits(scope: &Scope, operation: &str, a: ValueId) -> Diagnostic {
    let Ok(value) = scope.value(a) else {
        return invalid("an operation refers to a value that does not precede it");
    };
    let name = scope.name(a, "a");
    no_such_type(operation, value.ty)
        .because("it works on the bits of whole numbers")
        .hint(format!(
            "convert first: `sl.saturate({name}, sl.i32)`, for example"
        ))
}
