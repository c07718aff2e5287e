//! Functions of fixed point: element by element, to the fixed-point type that the value declares,
//! off by less than a unit in its last place. What could leave that type is refused, or stops at
//! its ends if the name says so.

use crate::decimal::range_text;
use crate::graph::ValueId;
use crate::infer::{Meta, Scope, invalid, overflow, wider};
use crate::types::{Range, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};
use sealane_numeric::{Fixed, FixedFunction, Points, Refused, fixed_function, fixed_functions};

/// A call of a function of fixed point.
#[derive(Clone, Copy)]
pub struct OfFixed {
    /// The function.
    pub function: &'static FixedFunction,
    /// Results stop at the ends of their type, and operands at those of the domain.
    pub saturate: bool,
}

/// Names of all functions of fixed point.
pub fn functions_of_fixed() -> impl Iterator<Item = &'static str> {
    let of_one = fixed_functions().map(|function| function.name);
    of_one.chain([super::power::POW])
}

/// End of the names of functions whose results stop at the ends of their type.
pub(super) const SATURATE: &str = "_saturate";

/// The function of fixed point that a call of this name on such a number is of.
pub fn of_fixed(name: &str) -> Option<OfFixed> {
    let (plain, saturate) = match name.strip_suffix(SATURATE) {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    let function = fixed_function(plain)?;
    Some(OfFixed { function, saturate })
}

/// Stored results of this magnitude are not stated in an error: from here on they may be capped.
const BEYOND: i128 = 1 << 100;

impl OfFixed {
    /// Its name in a call.
    pub fn name(self) -> String {
        let end = if self.saturate { SATURATE } else { "" };
        format!("{}{end}", self.function.name)
    }

    /// Stored operands of a type in a range, and results of a type.
    pub fn points(self, from: Type, range: Range, to: Type) -> Points {
        Points {
            lo: range.lo,
            hi: range.hi,
            fraction: from.fraction().into(),
            to: stored(to),
            saturate: self.saturate,
        }
    }

    /// Infers a call of it, with a result of type `ty`.
    pub(super) fn infer(self, scope: &Scope, of: ValueId, ty: Type) -> Result<Meta> {
        let value = scope.value(of)?;
        let name = self.function.name;
        if !ty.is_fixed() || !ty.is_valid() {
            return Err(invalid(&format!("`{name}` of fixed point that gives {ty}")));
        }
        let x = scope.name(of, "x");
        let given = format!("{x} is in {}", range_text(value.range, value.ty));
        let written = format!("sl.math.{name}({x})");
        let points = self.points(value.ty, value.range, ty);
        let (lo, hi) = self
            .function
            .results(&points)
            .map_err(|refused| match refused {
                Refused::Domain(domain) => no_value(&written, domain, &given, self.saturate),
                Refused::Range(lo, hi) => {
                    let wide = |wide: &str| format!("sl.math.{name}({x}, dtype={wide})");
                    beyond_type(&written, (ty, Range { lo, hi }), &given, wide)
                }
                Refused::Bits => too_many_bits(&written),
            })?;
        Ok(value.meta().with_type(ty, Range { lo, hi }))
    }
}

/// The type of stored numbers.
pub(super) fn stored(ty: Type) -> Fixed {
    Fixed {
        bits: ty.bits().into(),
        signed: ty.is_signed(),
        fraction: ty.fraction().into(),
    }
}

/// Refuses operands for which there is no value.
pub(super) fn no_value(written: &str, domain: &str, given: &str, saturate: bool) -> Diagnostic {
    let message = format!("`{written}` may have no value");
    Diagnostic::new(Code::RangeOverflow, message)
        .because(format!("it takes {domain}, and {given}"))
        .hint(if saturate {
            "no number of that range has a value: declare another range"
        } else {
            "declare the range of the input, clamp with `sl.clip`, or take the nearest number \
             that has a value with `saturate=True`"
        })
}

/// Refuses results that may be outside of a type; `wide` is the expression with another type.
pub(super) fn beyond_type(
    written: &str,
    (ty, results): (Type, Range),
    given: &str,
    wide: impl FnOnce(&str) -> String,
) -> Diagnostic {
    let text = if results.lo.min(-results.hi) <= -BEYOND {
        "numbers that no type holds".into()
    } else {
        range_text(results, ty)
    };
    let hint = wider(ty, Some(results), wide);
    let hint = format!("{hint}; or stop at the ends of the type with `saturate=True`");
    overflow(written, ty, format!("{given}, which gives {text}"), hint)
}

/// Refuses results and operands whose circuits would be too wide.
pub(super) fn too_many_bits(written: &str) -> Diagnostic {
    let message = format!("`{written}` takes more bits than there are");
    Diagnostic::new(Code::RangeOverflow, message)
        .because("before they are rounded, results and angles have at most about 100 bits")
        .hint("declare a narrower range of the input, or types with fewer bits")
}
