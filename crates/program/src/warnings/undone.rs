//! Steps that anybody can undo: operations with public numbers whose operand follows from their
//! result.

use crate::float;
use crate::graph::{Binary, Value};
use crate::types::{Data, Range, Type};

/// Tells whether each number of `x` follows from its conversion to `to`.
pub(super) fn cast(x: &Value, to: Type) -> bool {
    match (x.ty, to) {
        (Type::Float(from), Type::Float(wide)) => float::common(from, wide) == wide,
        (Type::Float(_), _) => false,
        (_, Type::Float(wide)) => usize::from(x.range.bits()) <= wide.fraction,
        (from, _) if to.fraction() < from.fraction() => false,
        (from, _) if to.is_wrapping() => x.range.bits() <= to.bits() && from.fraction() == 0,
        _ => true,
    }
}

/// Tells whether each number of `x`, which stands on the `left` or on the right, follows from the
/// result of the operation with public numbers. These are not known while a program is checked if
/// they are numbers of rows.
pub(super) fn binary(
    op: Binary,
    left: bool,
    x: &Value,
    public: Option<&Data>,
    result: Type,
) -> bool {
    let Some(data) = public else {
        return matches!(op, Binary::Add | Binary::Sub | Binary::Xor) && !x.ty.is_float();
    };
    if let Type::Float(format) = x.ty {
        let zero = |number: i128| float::to_f64(number, format) == 0.0;
        let scale = |number: i128| !zero(number) && !float::is_special(number, format);
        return match op {
            Binary::Add | Binary::Sub => data.numbers().all(zero),
            Binary::Mul => data.numbers().all(scale),
            Binary::Div => left && data.numbers().all(scale),
            _ => false,
        };
    }
    let Range { lo, hi } = x.range;
    let one = 1i128 << data.ty.fraction();
    let fine = result.fraction() >= x.ty.fraction();
    // Bits that some number has.
    let used = (1i128 << x.range.bits()) - 1;
    let all = |test: &dyn Fn(i128) -> bool| data.numbers().all(test);
    let two_valued = hi - lo <= 1 && data.ty.fraction() == x.ty.fraction();
    match (op, left) {
        (Binary::Add | Binary::Sub | Binary::Xor, _) => true,
        (Binary::Mul, _) if x.ty.is_wrapping() => all(&|c| c & 1 == 1),
        (Binary::Mul, _) if x.ty.is_fixed() => fine && all(&|c| c.abs() >= one),
        (Binary::Mul, _) => all(&|c| c != 0),
        (Binary::Div, true) => fine && all(&|c| c != 0 && c.abs() <= one),
        (Binary::FloorDiv, true) => x.ty.fraction() == 0 && all(&|c| c.abs() == one),
        (Binary::Mod, true) => lo >= 0 && data.ty.fraction() == x.ty.fraction() && all(&|c| c > hi),
        (Binary::And, _) => lo >= 0 && all(&|c| c & used == used),
        (Binary::Or, _) => all(&|c| c == 0),
        (Binary::Shl, true) => all(&|c| c == 0) || !x.ty.is_wrapping(),
        (Binary::Shr, true) => all(&|c| c == 0),
        (Binary::Min, _) => all(&|c| c >= hi),
        (Binary::Max, _) => all(&|c| c <= lo),
        (Binary::Eq | Binary::Ne, _) => two_valued && all(&|c| c == lo || c == hi),
        (Binary::Lt, true) | (Binary::Gt, false) => two_valued && all(&|c| c == hi),
        (Binary::Gt, true) | (Binary::Lt, false) => two_valued && all(&|c| c == lo),
        (Binary::Le, true) | (Binary::Ge, false) => two_valued && all(&|c| c == lo),
        (Binary::Ge, true) | (Binary::Le, false) => two_valued && all(&|c| c == hi),
        (Binary::Div | Binary::FloorDiv | Binary::Mod | Binary::Shl | Binary::Shr, false) => false,
    }
}
