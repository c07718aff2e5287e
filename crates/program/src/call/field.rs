//! Products in GF(2^k), element by element: `gf_mul_0x11b` in the text form, with the irreducible
//! polynomial of the field. An element is an unsigned integer of k bits, and sums are `^`.

use crate::graph::ValueId;
use crate::infer::{Meta, Scope, invalid, no_such_type, shape};
use crate::types::{Range, Type};
use sealane_circuit::function::{Field, MOST_BITS, divisor};
use sealane_diagnostic::{Code, Diagnostic, Result};
use std::sync::Arc;

/// Beginning of the names of products, before the polynomial.
const NAME: &str = "gf_mul_";

/// Returns the name of the product in the field of a polynomial.
///
/// # Errors
/// A number that is no irreducible polynomial of a degree from 1 to 8.
pub fn field_product(polynomial: i128) -> Result<String> {
    match u16::try_from(polynomial).ok().and_then(Field::of) {
        Some(field) => Ok(format!("{NAME}{:#x}", field.polynomial())),
        None => Err(no_field(polynomial)),
    }
}

/// Returns the field of which a call of this name is a product.
pub fn of_field(name: &str) -> Option<Arc<Field>> {
    let digits = name.strip_prefix(NAME)?.strip_prefix("0x")?;
    let field = Field::of(u16::from_str_radix(digits, 16).ok()?)?;
    // Each product has one name.
    (format!("{:x}", field.polynomial()) == digits).then_some(field)
}

/// Refuses what does not define a field.
fn no_field(polynomial: i128) -> Diagnostic {
    let shown = match u16::try_from(polynomial) {
        Ok(polynomial) => format!("{polynomial:#x}"),
        Err(_) => polynomial.to_string(),
    };
    let degree = u16::try_from(polynomial).ok().and_then(u16::checked_ilog2);
    let factor = match degree {
        Some(degree) if degree as usize <= MOST_BITS && degree > 0 => {
            u16::try_from(polynomial).ok().and_then(divisor)
        }
        _ => None,
    };
    let finding = Diagnostic::new(
        Code::Operand,
        format!("`polynomial={shown}` defines no field of at most 2^{MOST_BITS} elements"),
    );
    let finding = match (factor, degree) {
        (Some(factor), _) => finding.because(format!(
            "{factor:#x} divides it as a polynomial, and a field needs an irreducible one"
        )),
        (None, Some(degree)) => finding.because(format!(
            "bit i stands for x^i, so its degree is {degree}; it can be 1 to {MOST_BITS}"
        )),
        (None, None) => finding.because(format!(
            "bit i stands for x^i, and the degree can be 1 to {MOST_BITS}"
        )),
    };
    finding.hint("write `0x11b` for the field of AES, `0x13` for GF(16) or `0x7` for GF(4)")
}

/// Infers a product of two elements.
pub(super) fn infer(scope: &Scope, field: &Field, operands: &[ValueId]) -> Result<Meta> {
    let &[x, y] = operands else {
        return Err(invalid("a product in a field takes 2 operands"));
    };
    for (id, other) in [(x, "a"), (y, "b")] {
        element(scope, field, id, other)?;
    }
    let (left, right) = (scope.value(x)?, scope.value(y)?);
    let ty = Type::unsigned(field.bits() as u8);
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    Ok(Meta::new(ty, shape, ty.range(), left.joint(right)))
}

/// Refuses an operand that may be no element of the field.
fn element(scope: &Scope, field: &Field, id: ValueId, other: &str) -> Result<()> {
    let value = scope.value(id)?;
    let name = scope.name(id, other);
    let bits = field.bits();
    let last = (1 << bits) - 1;
    let because = format!("an element of GF(2^{bits}) is an integer from 0 to {last}");
    if !matches!(value.ty, Type::Int { .. }) {
        let target = Type::unsigned(bits as u8).python();
        let hint = match value.ty {
            Type::Bool => format!("write `{name}.astype(sl.u1)` for the elements 0 and 1"),
            Type::Float(_) => format!("convert it: `sl.saturate({name}, {target})`, for example"),
            _ => format!("convert it: `sl.saturate({name}, sl.i64) & {last}`, for example"),
        };
        let refused = no_such_type("gf_mul", value.ty);
        return Err(refused.because(because).hint(hint));
    }
    if (Range { lo: 0, hi: last }).contains(value.range) {
        return Ok(());
    }
    let hint = match scope.is_constant(id) {
        true => "give elements of the field, or the polynomial of a larger one".to_string(),
        false if scope.is_input(id) => format!(
            "declare `sl.between(0, {last})` for `{name}`, or take the low bits: `{name} & {last}`"
        ),
        false => format!("take the low bits: `{name} & {last}`"),
    };
    let message = format!("`{name}` may be no element of GF(2^{bits})");
    Err(Diagnostic::new(Code::TypeMismatch, message)
        .because(format!("it is in {}, and {because}", value.range))
        .hint(hint))
}
