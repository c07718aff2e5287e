//! Refusals of results that do not fit, with suggestions.

use crate::decimal::range_text;
use crate::types::{Range, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Returns the range of a result in its type: the exact one if it fits, the whole type if the type
/// wraps, and otherwise a refusal.
pub fn settle(ty: Type, exact: Range, refusal: impl FnOnce() -> Diagnostic) -> Result<Range> {
    match ty {
        _ if ty.holds(exact) => Ok(exact),
        _ if ty.is_wrapping() => Ok(ty.range()),
        _ => Err(refusal()),
    }
}

pub fn overflow(expression: &str, ty: Type, given: String, hint: String) -> Diagnostic {
    let message = format!("`{expression}` can leave {ty}");
    Diagnostic::new(Code::RangeOverflow, message)
        .because(format!(
            "{given}, and {ty} holds {}",
            range_text(ty.range(), ty)
        ))
        .hint(hint)
}

/// A hint that names the smallest type like `ty` with all of `range`, if there is one.
pub fn wider(ty: Type, range: Option<Range>, write: impl FnOnce(&str) -> String) -> String {
    match range.and_then(|range| ty.smallest_like(range)) {
        Some(ty) => format!("write `{}`", write(&ty.python())),
        None if ty.is_fixed() => "no type holds it: declare narrower ranges of the inputs, clamp \
                                  with `sl.clip`, or convert with `sl.saturate` first"
            .into(),
        None => "no type holds it: declare narrower ranges of the inputs, clamp with `sl.clip`, \
                 or compute in a `.wrapping` type"
            .into(),
    }
}

pub fn invalid(what: &str) -> Diagnostic {
    Diagnostic::new(Code::InvalidProgram, what)
        .hint("trace the program anew; its text was not made by Sealane")
}

pub fn no_common_type(operation: &str, a: Type, b: Type) -> Diagnostic {
    let refused = Diagnostic::new(
        Code::TypeMismatch,
        format!("`{operation}` finds no common type of {a} and {b}"),
    );
    if a.is_float() || b.is_float() {
        let float = if a.is_float() { a } else { b };
        return refused
            .because("a conversion between floating point and other numbers can round")
            .hint(format!(
                "say it: `x.astype({})`, or `sl.saturate` for the other way",
                float.python()
            ));
    }
    if a.is_wrapping() == b.is_wrapping() {
        return refused
            .because("no type of at most 64 bits holds both")
            .hint("convert one of them with `.astype`");
    }
    let strict = if a.is_wrapping() { b } else { a };
    refused
        .because("one wraps and the other refuses to overflow")
        .hint(format!(
            "say which is meant: `.astype(sl.{})` or `.astype(sl.{})`",
            wrapping_form(strict),
            a.strict()
        ))
}

/// Wrapping type with the values of `ty`; for `bool` the one of one bit.
fn wrapping_form(ty: Type) -> Type {
    if ty == Type::Bool {
        Type::unsigned(1).wrapping()
    } else {
        ty.wrapping()
    }
}

pub fn no_such_type(operation: &str, ty: Type) -> Diagnostic {
    let message = format!("`{operation}` does not take {ty}");
    Diagnostic::new(Code::TypeMismatch, message)
        .hint("convert it to numbers: `x.astype(sl.i8)`, for example")
}
