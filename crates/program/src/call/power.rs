//! Powers of fixed point: element by element, of operands that broadcast, to the fixed-point type
//! that the value declares, off by less than a unit in its last place. The exponent is fixed point
//! or an integer. What could leave the type is refused, or stops at its end if the name says so.

use super::fixed::{SATURATE, beyond_type, no_value, stored, too_many_bits};
use crate::graph::ValueId;
use crate::infer::{Meta, Scope, invalid, no_common_type, shape};
use crate::types::{Range, Type};
use sealane_diagnostic::Result;
use sealane_numeric::{Powers, Refused, Stored};

/// The name of the function.
pub(super) const POW: &str = "pow";

/// A call of the power of fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfPower {
    /// Results stop at the end of their type, and bases at that of the domain.
    pub saturate: bool,
}

/// The power of fixed point that a call of this name with such a base is.
pub fn of_power(name: &str) -> Option<OfPower> {
    let (plain, saturate) = match name.strip_suffix(SATURATE) {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    (plain == POW).then_some(OfPower { saturate })
}

impl OfPower {
    /// Its name in a call.
    pub fn name(self) -> String {
        let end = if self.saturate { SATURATE } else { "" };
        format!("{POW}{end}")
    }

    /// Stored operands of types in ranges, and results of a type.
    pub fn powers(self, operands: [(Type, Range); 2], to: Type) -> Powers {
        let [base, exponent] = operands.map(|(ty, range)| Stored {
            lo: range.lo,
            hi: range.hi,
            fraction: ty.fraction().into(),
        });
        Powers {
            base,
            exponent,
            to: stored(to),
            saturate: self.saturate,
        }
    }

    /// Infers a call of it, with a result of type `ty`.
    pub(super) fn infer(self, scope: &Scope, [x, y]: [ValueId; 2], ty: Type) -> Result<Meta> {
        let [base, exponent] = [scope.value(x)?, scope.value(y)?];
        if !ty.is_fixed() || !ty.is_valid() {
            return Err(invalid(&format!("`{POW}` of fixed point that gives {ty}")));
        }
        for (operand, other) in [(base, exponent), (exponent, base)] {
            let whole = matches!(operand.ty, Type::Int { .. }) && !operand.ty.is_wrapping();
            if !whole && !operand.ty.is_fixed() {
                return Err(no_common_type(POW, other.ty, operand.ty));
            }
        }
        let names = [scope.name(x, "x"), scope.name(y, "y")];
        let powers = self.powers([base, exponent].map(|value| (value.ty, value.range)), ty);
        let given = names.iter().zip([base, exponent]).map(|(name, value)| {
            format!(
                "{name} is in {}",
                crate::decimal::range_text(value.range, value.ty)
            )
        });
        let given = given.collect::<Vec<_>>().join(", and ");
        let [x, y] = names;
        let written = format!("sl.math.{POW}({x}, {y})");
        let (lo, hi) = powers.results().map_err(|refused| match refused {
            Refused::Domain(domain) => no_value(&written, domain, &given, self.saturate),
            Refused::Range(lo, hi) => {
                let wide = |wide: &str| format!("sl.math.{POW}({x}, {y}, dtype={wide})");
                beyond_type(&written, (ty, Range { lo, hi }), &given, wide)
            }
            Refused::Bits => too_many_bits(&written),
        })?;
        let shape = shape::broadcast(scope, &base.shape, &exponent.shape)?;
        Ok(Meta::new(ty, shape, Range { lo, hi }, base.joint(exponent)))
    }
}
