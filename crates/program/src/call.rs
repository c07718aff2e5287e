//! Functions that a program calls by name: their signatures.
//!
//! A function works along the last axis of each operand; the axes before it broadcast, so one call
//! serves a batch. Its semantics are those of its standard.

use crate::graph::ValueId;
use crate::infer::{Meta, Scope, invalid, shape};
use crate::types::{Dim, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic};

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

/// All functions.
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

/// Longest operand of a function that takes any length.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 16;

/// The function of that name.
pub fn function(name: &str) -> Result<Function, Diagnostic> {
    FUNCTIONS
        .into_iter()
        .find(|function| function.name == name)
        .ok_or_else(|| {
            let known = FUNCTIONS.map(|function| function.name).join(", ");
            Diagnostic::new(Code::Name, format!("there is no function `{name}`"))
                .hint(format!("the functions are {known}"))
        })
}

/// Infers the type of a call's result.
pub(crate) fn infer(scope: &Scope, name: &str, operands: &[ValueId]) -> Result<Meta, Diagnostic> {
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
            return Err(Diagnostic::new(
                Code::TypeMismatch,
                format!("`{name}` takes bytes, not {}", value.ty),
            )
            .hint("write `.astype(sl.u8)`"));
        }
        let leading = leading(scope, name, index, &value.shape, *length)?;
        joint = Some(match joint {
            None => Meta {
                shape: leading,
                ..value.meta()
            },
            Some(meta) => Meta {
                shape: shape::broadcast(scope, &meta.shape, &leading)?,
                visibility: meta.visibility.join(value.visibility),
                ..meta
            },
        });
    }
    let mut meta = joint.ok_or_else(|| invalid("a call without operands"))?;
    meta.range = Type::U8.range();
    meta.shape.fixed.push(function.result);
    Ok(meta)
}

/// The axes before the last, which has the length that the function takes.
fn leading(
    scope: &Scope,
    name: &str,
    index: usize,
    shape: &Shape,
    length: Option<u64>,
) -> Result<Shape, Diagnostic> {
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
