//! Inference of what works element by element.

use super::refuse::{no_common_type, no_such_type, overflow, settle, wider};
use super::{Meta, Scope, invalid, range, shape};
use crate::diagnostic::{Diagnostic, code};
use crate::graph::{Binary, Unary, ValueId};
use crate::types::{Range, Type};

pub fn unary(scope: &Scope, op: Unary, a: ValueId) -> Result<Meta, Diagnostic> {
    let value = scope.value(a)?;
    let exact = range::unary(op, value.ty, value.range);
    let bits = i128::from(value.ty.bits());
    let ty = match (op, value.ty) {
        (Unary::Neg | Unary::Abs, Type::Bool) => return Err(no_such_type(op.name(), value.ty)),
        (Unary::Popcount, _) => Type::smallest(Range::of(bits)).unwrap_or(Type::U8),
        (_, ty) => ty,
    };
    let range = settle(ty, exact, || {
        let name = scope.name(a, "a");
        let hint = wider(exact.hull(value.range), |wide| {
            op.python(&format!("{name}.astype({wide})"))
        });
        let given = format!("{name} in {} gives {exact}", value.range);
        overflow(&op.python(&name), ty, given, hint)
    })?;
    Ok(Meta {
        ty,
        range,
        ..value.meta()
    })
}

pub fn binary(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<Meta, Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    let visibility = left.visibility.join(right.visibility);
    let arithmetic = !matches!(
        op,
        Binary::And | Binary::Or | Binary::Xor | Binary::Min | Binary::Max
    );
    let shift = matches!(op, Binary::Shl | Binary::Shr);
    if !op.is_comparison() {
        if !shift && left.ty != right.ty {
            return Err(no_common_type(op.symbol(), left.ty, right.ty));
        }
        if arithmetic && left.ty == Type::Bool {
            return Err(no_such_type(op.name(), left.ty));
        }
    }
    match op {
        Binary::FloorDiv | Binary::Mod => divisible(scope, op, a, b)?,
        Binary::Shl | Binary::Shr => shiftable(scope, op, a, b)?,
        _ => {}
    }
    let exact = range::binary(op, left.range, right.range);
    let ty = if op.is_comparison() {
        Type::Bool
    } else {
        left.ty
    };
    let range = settle(ty, exact, || {
        let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
        let given = format!(
            "{x} in {} and {y} in {} give {exact}",
            left.range, right.range
        );
        // The cast goes to the operand that is not a number of the source.
        let second = scope.is_constant(a) && !shift;
        let cast = if second { right } else { left };
        let hint = wider(exact.hull(cast.range), |wide| match second {
            true => op.python(&x, &format!("{y}.astype({wide})")),
            false => op.python(&format!("{x}.astype({wide})"), &y),
        });
        overflow(&op.python(&x, &y), ty, given, hint)
    })?;
    Ok(Meta {
        ty,
        shape,
        range,
        visibility,
    })
}

/// Refuses a divisor that can be zero, and division modulo `2^bits`, which has no one meaning.
fn divisible(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<(), Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if !left.ty.is_wrapping() && !right.range.contains(Range::of(0)) {
        return Ok(());
    }
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    if left.ty.is_wrapping() {
        let strict = left.ty.strict();
        let cast = |id, name: &str| match scope.is_constant(id) {
            true => name.to_string(),
            false => format!("{name}.astype(sl.{strict})"),
        };
        return Err(Diagnostic::new(
            code::WRAPPING_DIVISION,
            format!("`{whole}` divides in {}", left.ty),
        )
        .because("modulo a power of two, quotients depend on which representative is meant")
        .hint(format!(
            "say it: `{}`",
            op.python(&cast(a, &x), &cast(b, &y))
        )));
    }
    let hint = match (right.range.lo, right.range.hi) {
        (0, _) => format!("write `{}`", op.python(&x, &format!("sl.maximum({y}, 1)"))),
        (_, 0) => format!("write `{}`", op.python(&x, &format!("sl.minimum({y}, -1)"))),
        _ => format!(
            "make the sign certain: divide by `sl.maximum(sl.abs({y}), 1)` and restore the sign \
             with `sl.where({y} < 0, …, …)`"
        ),
    };
    let message = format!("`{whole}` can divide by zero");
    Err(Diagnostic::new(code::DIVISION_BY_ZERO, message)
        .because(format!("{y} is in {}", right.range))
        .hint(hint))
}

/// Refuses an amount outside of the width.
fn shiftable(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<(), Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let top = i128::from(left.ty.bits()) - 1;
    if (Range { lo: 0, hi: top }).contains(right.range) {
        return Ok(());
    }
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    Err(Diagnostic::new(
        code::SHIFT_RANGE,
        format!("`{whole}` can shift by too much or backwards"),
    )
    .because(format!(
        "{y} is in {}, and {} takes shifts by 0..{top}",
        right.range, left.ty
    ))
    .hint(format!(
        "limit the amount: `sl.minimum(sl.maximum({y}, 0), {top})`"
    )))
}

pub fn select(
    scope: &Scope,
    condition: ValueId,
    yes: ValueId,
    no: ValueId,
) -> Result<Meta, Diagnostic> {
    let (condition, yes, no) = (scope.value(condition)?, scope.value(yes)?, scope.value(no)?);
    if condition.ty != Type::Bool {
        return Err(no_such_type("where", condition.ty)
            .because("its first operand is a condition")
            .hint("write a comparison, such as `c != 0`"));
    }
    if yes.ty != no.ty {
        return Err(no_common_type("where", yes.ty, no.ty));
    }
    let branches = shape::broadcast(scope, &yes.shape, &no.shape)?;
    Ok(Meta {
        ty: yes.ty,
        shape: shape::broadcast(scope, &condition.shape, &branches)?,
        range: yes.range.hull(no.range),
        visibility: condition
            .visibility
            .join(yes.visibility)
            .join(no.visibility),
    })
}

pub fn cast(scope: &Scope, a: ValueId, ty: Type) -> Result<Meta, Diagnostic> {
    let value = scope.value(a)?;
    if !ty.is_valid() {
        return Err(invalid("a cast to a type of no possible width"));
    }
    let range = settle(ty, value.range, || {
        let name = scope.name(a, "a");
        let hint = match (ty, Type::smallest(value.range)) {
            (Type::Bool, _) => format!("write `{name} != 0`"),
            (_, Some(fits)) => format!(
                "use `sl.{fits}`, or make it fit with `sl.minimum` and `sl.maximum`; \
                 `sl.{}` keeps the low bits",
                ty.wrapping()
            ),
            (_, None) => String::new(),
        };
        Diagnostic::new(code::RANGE_OVERFLOW, format!("`{name}` may not fit {ty}"))
            .because(format!(
                "{name} is in {}, and {ty} holds {}",
                value.range,
                ty.range()
            ))
            .hint(hint)
    })?;
    Ok(Meta {
        ty,
        range,
        ..value.meta()
    })
}
