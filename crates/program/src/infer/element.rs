//! Inference of element-wise operations.

use super::refuse::{no_common_type, no_such_type, overflow, settle, wider};
use super::{Meta, SHARINGS, Scope, fixed, float, invalid, shape};
use crate::decimal::{self, range_text};
use crate::elementwise::Family;
use crate::graph::{Binary, Unary, Value, ValueId};
use crate::types::{Range, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Range outside every type, in place of one that exceeds `i128`.
const FAR: Range = Range::new(i128::MIN, i128::MAX);

pub fn unary(scope: &Scope, op: Unary, a: ValueId) -> Result<Meta> {
    let value = scope.value(a)?;
    if value.ty.is_float() {
        return float::unary(scope, op, a);
    }
    let row = op.row();
    match (row.bits, value.ty) {
        (true, _) => whole(scope, op.name(), a)?,
        (false, Type::Bool) => return Err(no_such_type(op.name(), value.ty)),
        _ => {}
    }
    let (exact, ty) = ((row.range)(value.ty, value.range), (row.ty)(value.ty));
    let range = settle(ty, exact, || {
        let name = scope.name(a, "a");
        let hint = wider(ty, Some(exact.hull(value.range)), |wide| {
            op.python(&format!("{name}.astype({wide})"))
        });
        let (from, exact) = (range_text(value.range, ty), range_text(exact, ty));
        let given = format!("{name} in {from} gives {exact}");
        overflow(&op.python(&name), ty, given, hint)
    })?;
    Ok(value.meta().with_type(ty, range))
}

/// Infers a binary operation; `declared` is the type of a product or quotient of fixed point.
pub fn binary(scope: &Scope, op: Binary, [a, b]: [ValueId; 2], declared: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if left.ty.is_float() || right.ty.is_float() {
        return float::binary(scope, op, [a, b]);
    }
    let family = op.family();
    match op {
        Binary::Div if !fixed::applies(left.ty, right.ty, declared) => {
            return Err(no_true_division(scope, [a, b]));
        }
        Binary::Div => divisible(scope, op, a, b)?,
        _ if family == Family::Bits => {
            whole(scope, op.symbol(), a)?;
            whole(scope, op.symbol(), b)?;
        }
        _ if family == Family::Shift => whole(scope, op.symbol(), b)?,
        _ => {}
    }
    let rounds = matches!(op, Binary::Mul | Binary::Div);
    if rounds && fixed::applies(left.ty, right.ty, declared) {
        return fixed::binary(scope, op, [a, b], declared);
    }
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    let visibility = left.joint(right);
    let logical = matches!(family, Family::Bits | Family::End);
    let shift = family == Family::Shift;
    if !op.is_comparison() {
        if !shift && left.ty != right.ty {
            return Err(no_common_type(op.symbol(), left.ty, right.ty));
        }
        if !logical && left.ty == Type::Bool {
            return Err(no_such_type(op.name(), left.ty));
        }
    }
    match family {
        Family::Division => divisible(scope, op, a, b)?,
        Family::Shift => shiftable(scope, op, a, b)?,
        _ => {}
    }
    let exact = exact(scope, op, [a, b])?;
    let ty = if op.is_comparison() {
        Type::Bool
    } else {
        left.ty
    };
    let range = settle(ty, exact, || {
        let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
        let given = format!(
            "{x} in {} and {y} in {} give {}",
            range_text(left.range, left.ty),
            range_text(right.range, right.ty),
            range_text(exact, ty)
        );
        // The cast is suggested for the operand that is not a constant of the source.
        let second = scope.is_constant(a) && !shift;
        let cast = if second { right } else { left };
        let hint = wider(ty, Some(exact.hull(cast.range)), |wide| {
            if second {
                op.python(&x, &format!("{y}.astype({wide})"))
            } else {
                op.python(&format!("{x}.astype({wide})"), &y)
            }
        });
        overflow(&op.python(&x, &y), ty, given, hint)
    })?;
    Ok(Meta::new(ty, shape, range, visibility))
}

/// Range of the exact result in stored numbers. Comparisons convert both sides to the longer
/// fraction; `//` gives a whole number, in that fraction as well.
fn exact(scope: &Scope, op: Binary, [a, b]: [ValueId; 2]) -> Result<Range> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let too_wide = || fixed::too_wide(&op.python(&scope.name(a, "a"), &scope.name(b, "b")));
    let fractions = [left.ty.fraction(), right.ty.fraction()].map(i16::from);
    let (x, y) = if op.is_comparison() {
        (
            left.range.shifted((fractions[1] - fractions[0]).max(0)),
            right.range.shifted((fractions[0] - fractions[1]).max(0)),
        )
    } else {
        (Some(left.range), Some(right.range))
    };
    let (x, y) = (x.ok_or_else(too_wide)?, y.ok_or_else(too_wide)?);
    let exact = match op.row().itself {
        Some(itself) if scope.alike(a, b) => itself(x),
        _ => (op.row().range)(x, y),
    };
    match op {
        Binary::FloorDiv => exact.shifted(fractions[0]).ok_or_else(too_wide),
        _ => Ok(exact),
    }
}

/// Refuses an operation on the bits of integers for a number with a fraction.
fn whole(scope: &Scope, operation: &str, a: ValueId) -> Result<()> {
    let value = scope.value(a)?;
    if !value.ty.is_fixed() {
        return Ok(());
    }
    let integer = value
        .range
        .converted(value.ty, Type::I64)
        .and_then(Type::smallest)
        .unwrap_or(Type::I64);
    let name = scope.name(a, "a");
    Err(no_such_type(operation, value.ty)
        .because("it works on the bits of whole numbers")
        .hint(format!(
            "round down first: `{name}.astype({})`",
            integer.python()
        )))
}

/// Makes the refusal of `/` between integers, whose result has no type.
fn no_true_division(scope: &Scope, [a, b]: [ValueId; 2]) -> Diagnostic {
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let divided = if scope.is_constant(a) { &y } else { &x };
    let converted = format!("{divided}.astype(sl.fixed(32, 16))");
    let written = if scope.is_constant(a) {
        format!("{x} / {converted}")
    } else {
        format!("{converted} / {y}")
    };
    let message = format!("`{x} / {y}` divides integers");
    Diagnostic::new(Code::TypeMismatch, message)
    .because("most quotients of integers are none, and no type says how many bits to keep")
    .hint(format!(
        "say it: `{written}`, for example; or write `{x} // {y}`, which rounds down to an integer"
    ))
}

/// Refuses a divisor that can be zero, and division modulo `2^bits`, which is ambiguous.
fn divisible(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<()> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if !left.ty.is_wrapping() && !right.range.contains(Range::of(0)) {
        return Ok(());
    }
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    if left.ty.is_wrapping() {
        let strict = left.ty.strict();
        let cast = |id, name: &str| {
            if scope.is_constant(id) {
                name.to_string()
            } else {
                format!("{name}.astype(sl.{strict})")
            }
        };
        let message = format!("`{whole}` divides in {}", left.ty);
        return Err(Diagnostic::new(Code::WrappingDivision, message)
            .because("modulo a power of two, quotients depend on which representative is meant")
            .hint(format!(
                "say it: `{}`",
                op.python(&cast(a, &x), &cast(b, &y))
            )));
    }
    // The smallest number above zero, if it is one that people would write.
    let least = decimal::text(1, right.ty.fraction().min(8));
    // The magnitude of the smallest number may need another bit.
    let magnitude = Range::new(right.range.lo, right.range.hi.max(-right.range.lo));
    let wider = if right.ty.holds(magnitude) {
        None
    } else {
        right.ty.smallest_like(magnitude)
    };
    let wide = wider.map_or(y.clone(), |ty| format!("{y}.astype({})", ty.python()));
    let hint = match (right.range.lo, right.range.hi) {
        _ if right.range == Range::of(0) => {
            "divide by another number: nothing can be divided by zero".into()
        }
        _ if scope.is_constant(b) => "leave zeros out of the array".into(),
        (0, _) => format!(
            "write `{}`",
            op.python(&x, &format!("sl.maximum({y}, {least})"))
        ),
        (_, 0) => format!(
            "write `{}`",
            op.python(&x, &format!("sl.minimum({y}, -{least})"))
        ),
        _ => format!(
            "make the sign certain: divide by `sl.maximum(sl.abs({wide}), {least})` and restore the \
             sign with `sl.where({y} < 0, …, …)`"
        ),
    };
    let message = format!("`{whole}` can divide by zero");
    Err(Diagnostic::new(Code::DivisionByZero, message)
        .because(format!("{y} is in {}", range_text(right.range, right.ty)))
        .hint(hint))
}

/// Refuses a shift amount outside the width.
fn shiftable(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<()> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let top = i128::from(left.ty.bits()) - 1;
    if (Range { lo: 0, hi: top }).contains(right.range) {
        return Ok(());
    }
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    let Range { lo, hi } = right.range;
    let hint = match scope.is_constant(b) {
        true if lo < 0 && hi == lo => {
            let other = if op == Binary::Shl {
                Binary::Shr
            } else {
                Binary::Shl
            };
            format!(
                "shift the other way: `{}`",
                other.python(&x, &(-lo).to_string())
            )
        }
        true if lo >= 0 => match room_for_shift(left, op, hi) {
            Some(ty) => {
                let room = format!("{x}.astype({})", ty.python());
                format!("make room first: `{}`", op.python(&room, &y))
            }
            None => format!("no type has room for it: shift by at most {top}"),
        },
        _ => format!("limit the amount: `sl.minimum(sl.maximum({y}, 0), {top})`"),
    };
    let message = format!("`{whole}` can shift by too much or backwards");
    Err(Diagnostic::new(Code::ShiftRange, message)
        .because(format!(
            "{y} is in {}, and {} takes shifts by 0..{top}",
            right.range, left.ty
        ))
        .hint(hint))
}

/// Returns the smallest type like that of a value that allows a shift by `amount` and holds its
/// result.
fn room_for_shift(of: &Value, op: Binary, amount: i128) -> Option<Type> {
    let by = i16::try_from(amount).ok()?;
    let far = Range::of(1).shifted(by)?;
    let moved = match op {
        Binary::Shl => of.range.shifted(by)?,
        _ => of.range,
    };
    let ty = of
        .ty
        .strict()
        .smallest_like(moved.hull(of.range).hull(far))?;
    Some(if of.ty.is_wrapping() {
        ty.wrapping()
    } else {
        ty
    })
}

pub fn select(scope: &Scope, condition: ValueId, yes: ValueId, no: ValueId) -> Result<Meta> {
    let range = float::any_of(scope, &[yes, no])?;
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
    let shape = shape::broadcast(scope, &condition.shape, &branches)?;
    let visibility = condition.visibility.join(yes.joint(no));
    Ok(Meta::new(yes.ty, shape, range, visibility))
}

/// The same value, whose operation is computed on shares of a kind. Where it turns out that one
/// party computes it alone, as in a run without rows, there are no shares.
pub fn share(scope: &Scope, of: ValueId, sharing: &str) -> Result<Meta> {
    if !SHARINGS.contains(&sharing) {
        let message = format!("there is no sharing `{sharing}`");
        return Err(Diagnostic::new(Code::NoSuchSharing, message)
            .hint(format!("name one of {}", SHARINGS.join(", "))));
    }
    Ok(scope.value(of)?.meta())
}

pub fn cast(scope: &Scope, a: ValueId, ty: Type) -> Result<Meta> {
    let value = scope.value(a)?;
    if !ty.is_valid() {
        return Err(invalid("a cast to a type of no possible width"));
    }
    let name = scope.name(a, "a");
    if value.ty.is_float() || ty.is_float() {
        return float::cast(scope, a, ty);
    }
    if ty == Type::Bool && value.ty.is_fixed() {
        return Err(no_such_type("astype(sl.boolean)", value.ty)
            .because("rounded down, what is between 0 and 1 would be false")
            .hint(format!("write `{name} != 0`")));
    }
    let converted = value.range.converted(value.ty, ty);
    let range = settle(ty, converted.unwrap_or(FAR), || {
        let fits = converted.and_then(|range| ty.smallest_like(range));
        let fits = fits.map_or(String::new(), |fits| format!("use `{}`, ", fits.python()));
        let hint = match ty {
            Type::Bool => format!("write `{name} != 0`"),
            Type::Int { .. } if !value.ty.is_fixed() => format!(
                "{fits}stop at its ends with `sl.saturate({name}, {0})`, or keep the low bits with \
                 `sl.wrap({name}, {0})`",
                ty.python()
            ),
            _ => format!(
                "{fits}stop at its ends with `sl.saturate({name}, {})`",
                ty.python()
            ),
        };
        Diagnostic::new(Code::RangeOverflow, format!("`{name}` may not fit {ty}"))
            .because(format!(
                "{name} is in {}, and {ty} holds {}",
                range_text(value.range, value.ty),
                range_text(ty.range(), ty)
            ))
            .hint(hint)
    })?;
    Ok(value.meta().with_type(ty, range))
}
