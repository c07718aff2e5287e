//! Functions that a program calls by name: their signatures.
//!
//! * A function of bytes works along the last axis of each operand; the axes before it broadcast,
//!   so one call serves a batch. Its semantics are those of its standard.
//! * A function of floating point works element by element, and its operands broadcast. Crate
//!   `numeric` has the list of them, with their semantics. Of several results, a call gives the one
//!   whose number its name ends with: `frexp_0`.
//! * Some of these functions take fixed point as well: see [`OfFixed`] and [`OfPower`].
//! * A product in GF(2^k) works element by element on unsigned integers: see [`of_field`].

mod field;
mod fixed;
mod power;

pub use field::{field_product, of_field};
pub use fixed::{OfFixed, functions_of_fixed, of_fixed};
pub use power::{OfPower, of_power};

use crate::graph::ValueId;
use crate::infer::{Meta, Scope, invalid, no_common_type, no_such_type, shape};
use crate::types::{Dim, Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result, counted};
use sealane_numeric::ValueKind;

/// A function of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in the text form and in Python.
    pub name: &'static str,
    /// Length in bytes of each operand; `None` for any length from 1 to [`MAX_MESSAGE_BYTES`].
    pub operands: &'static [Option<u64>],
    /// Length in bytes of the result.
    pub result: u64,
}

/// All functions of bytes.
pub const FUNCTIONS: [Function; 2] = [
    // FIPS 197: key, block.
    Function {
        name: "aes128",
        operands: &[Some(16), Some(16)],
        result: 16,
    },
    // FIPS 180-4: message.
    Function {
        name: "sha256",
        operands: &[None],
        result: 32,
    },
];

/// Functions that planning takes in place of `aes128` where blocks have a key in common: the keys
/// of all rounds, 176 bytes, of a key, and a block under these. No program calls them.
pub const AES128_KEYS: &str = "aes128_keys";
/// See [`AES128_KEYS`].
pub const AES128_ROUNDS: &str = "aes128_rounds";

/// Longest operand of a function that takes any length.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 16;

/// Names of all functions of floating point, with their numbers of results, and whether they have a
/// correctly rounded form as well, of which the name ends with `_exact`.
pub fn functions_of_floats() -> impl Iterator<Item = (&'static str, usize, bool)> {
    sealane_numeric::functions().map(|function| {
        let exact = sealane_numeric::exact(function.name).is_some();
        (function.name, function.results.len(), exact)
    })
}

/// Returns the function of floating point of that name, and the number of the result that a call of
/// it gives.
pub fn of_floats(name: &str) -> Option<(&'static sealane_numeric::Function, usize)> {
    let single = sealane_numeric::function(name).filter(|function| function.results.len() == 1);
    let of_several = || {
        let (name, result) = name.rsplit_once('_')?;
        let function = sealane_numeric::function(name)?;
        let all = 0..function.results.len();
        let result = all.clone().find(|index| index.to_string() == result)?;
        (all.len() > 1).then_some((function, result))
    };
    let exact = || Some((sealane_numeric::exact(name.strip_suffix(EXACT)?)?, 0));
    let found = single.map(|function| (function, 0));
    found.or_else(of_several).or_else(exact)
}

/// End of the names of correctly rounded forms.
const EXACT: &str = "_exact";

/// The function of bytes of that name.
pub fn function(name: &str) -> Result<Function> {
    FUNCTIONS
        .into_iter()
        .find(|function| function.name == name)
        .ok_or_else(|| {
            let known = FUNCTIONS.map(|function| function.name).join(", ");
            Diagnostic::new(Code::Name, format!("there is no function `{name}`")).hint(format!(
                "the functions are {known}, and those of floating point in `sealane.math`"
            ))
        })
}

/// Returns whether a function of that name works on bytes along an axis; others work element by
/// element.
pub fn of_bytes(name: &str) -> bool {
    let planned = [AES128_KEYS, AES128_ROUNDS].contains(&name);
    planned || FUNCTIONS.iter().any(|function| function.name == name)
}

/// Infers the type of a call's result.
pub(crate) fn infer(scope: &Scope, name: &str, operands: &[ValueId], wanted: Type) -> Result<Meta> {
    if let (Some(call), &[of]) = (of_fixed(name), operands)
        && scope.value(of)?.ty.is_fixed()
    {
        return call.infer(scope, of, wanted);
    }
    if let (Some(call), &[x, y]) = (of_power(name), operands)
        && (scope.value(x)?.ty.is_fixed() || scope.value(y)?.ty.is_fixed())
    {
        return call.infer(scope, [x, y], wanted);
    }
    if let Some((function, result)) = of_floats(name) {
        let meta = infer_floats(scope, function, result, operands)?;
        return match meta.ty.bits() {
            33.. if name.ends_with(EXACT) => Err(no_exact_form(function.name, meta.ty)),
            _ => Ok(meta),
        };
    }
    if let Some(field) = of_field(name) {
        return field::infer(scope, &field, operands);
    }
    let function = function(name)?;
    if operands.len() != function.operands.len() {
        return Err(invalid(&format!(
            "`{name}` takes {} operands",
            function.operands.len()
        )));
    }
    let mut joint: Option<Meta> = None;
    for (index, (id, length)) in operands.iter().zip(function.operands).enumerate() {
        let value = scope.value(*id)?;
        if value.ty != Type::U8 {
            let message = format!("`{name}` takes bytes, not {}", value.ty);
            return Err(Diagnostic::new(Code::TypeMismatch, message).hint("write `.astype(sl.u8)`"));
        }
        let leading = leading(scope, name, index, &value.shape, *length)?;
        joint = Some(match joint {
            None => value.meta().with_shape(leading),
            Some(meta) => joined(scope, meta, &value.meta().with_shape(leading))?,
        });
    }
    let mut meta = joint.ok_or_else(|| invalid("a call without operands"))?;
    meta.range = Type::U8.range();
    meta.shape.fixed.push(function.result);
    Ok(meta)
}

/// Properties of operands, and of one more: their common shape and visibility.
fn joined(scope: &Scope, all: Meta, one: &Meta) -> Result<Meta> {
    let shape = shape::broadcast(scope, &all.shape, &one.shape)?;
    let visibility = all.visibility.join(one.visibility);
    Ok(all.with_shape(shape).with_visibility(visibility))
}

/// Infers a call of a function of floating point: its numbers have one type.
fn infer_floats(
    scope: &Scope,
    function: &sealane_numeric::Function,
    result: usize,
    operands: &[ValueId],
) -> Result<Meta> {
    let name = function.name;
    if operands.len() != function.operands.len() {
        let wanted = function.operands.len();
        return Err(invalid(&format!(
            "`{name}` takes {}",
            counted(wanted as u64, "operand")
        )));
    }
    let (mut joint, mut float): (Option<Meta>, Option<Type>) = (None, None);
    for (id, kind) in operands.iter().zip(function.operands) {
        let value = scope.value(*id)?;
        match kind {
            ValueKind::Float if !value.ty.is_float() => return Err(no_float(name, value.ty)),
            ValueKind::Float => {
                let first = *float.get_or_insert(value.ty);
                if first != value.ty {
                    return Err(no_common_type(name, first, value.ty));
                }
            }
            ValueKind::Truth if value.ty != Type::Bool => return Err(no_such_type(name, value.ty)),
            ValueKind::Truth => {}
            ValueKind::Integer(bits) => integer_fits(scope, name, *id, *bits)?,
        }
        joint = Some(match joint {
            None => value.meta(),
            Some(meta) => joined(scope, meta, &value.meta())?,
        });
    }
    let (Some(mut meta), Some(float)) = (joint, float) else {
        return Err(invalid("a call without operands"));
    };
    meta.ty = match function.results[result] {
        ValueKind::Float => float,
        ValueKind::Truth => Type::Bool,
        ValueKind::Integer(bits) => Type::signed(bits.clamp(1, 64) as u8),
    };
    meta.range = meta.ty.range();
    Ok(meta)
}

/// Refuses correctly rounded forms of wide types.
fn no_exact_form(name: &str, ty: Type) -> Diagnostic {
    let message = format!("`{name}` has no correctly rounded form in {ty}");
    Diagnostic::new(Code::TypeMismatch, message)
        .because("only in f32 and narrower types are all arguments near a middle known")
        .hint("leave `exact=True` out, or convert the operand: `x.astype(sl.f32)`")
}

/// A fixed-point type that holds the numbers of an integer type, as Python spells it.
pub(crate) fn fixed_like(ty: Type) -> String {
    let integer = ty.bits() + u8::from(!ty.is_signed());
    Type::fixed(integer.min(48), 16).python()
}

/// Refuses what is not floating point.
fn no_float(name: &str, ty: Type) -> Diagnostic {
    if ty.is_fixed() || of_fixed(name).is_none_or(|call| call.function.name != name) {
        let message = format!("`{name}` takes floating point, not {ty}");
        return Diagnostic::new(Code::TypeMismatch, message)
            .because("only there do results and their errors have a meaning for every number")
            .hint("convert it: `x.astype(sl.f32)`, for example");
    }
    let message = format!("`{name}` takes floating or fixed point, not {ty}");
    let fixed = fixed_like(ty);
    Diagnostic::new(Code::TypeMismatch, message)
        .because("its results have fractions, and are of the type of its operand")
        .hint(format!(
            "convert it: `x.astype(sl.f32)`, for example, or to fixed point: `x.astype({fixed})`"
        ))
}

/// Refuses an integer operand that may need more bits than the function takes.
fn integer_fits(scope: &Scope, name: &str, id: ValueId, bits: usize) -> Result<()> {
    let value = scope.value(id)?;
    let ty = Type::signed(bits.clamp(1, 64) as u8);
    let whole = matches!(value.ty, Type::Int { .. });
    if whole && ty.holds(value.range) {
        return Ok(());
    }
    let n = scope.name(id, "n");
    let Range { lo, hi } = ty.range();
    let message = format!("`{name}` takes integers of {bits} bits, not {}", value.ty);
    Err(Diagnostic::new(Code::TypeMismatch, message)
        .because(format!("it takes numbers from {lo} to {hi}"))
        .hint(format!("convert it: `sl.saturate({n}, {})`", ty.python())))
}

/// The axes before the last, which has the length that the function takes.
fn leading(
    scope: &Scope,
    name: &str,
    index: usize,
    shape: &Shape,
    length: Option<u64>,
) -> Result<Shape> {
    let last = shape
        .rank()
        .checked_sub(1)
        .and_then(|axis| Some((axis, shape.dim(axis)?)));
    match (last, length) {
        (Some((axis, Dim::Fixed(n))), Some(length)) if n == length => Ok(shape.without(axis)),
        (Some((axis, Dim::Fixed(n))), None) if n <= MAX_MESSAGE_BYTES => Ok(shape.without(axis)),
        _ => {
            let wanted = match length {
                Some(length) => format!("{length} bytes"),
                None => format!("1 to {MAX_MESSAGE_BYTES} bytes"),
            };
            let message = format!(
                "operand {index} of `{name}` has shape {}",
                scope.shape(shape)
            );
            Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because(format!("its last axis holds {wanted}"))
                .hint("give one byte to each element, and as many as that along the last axis"))
        }
    }
}
