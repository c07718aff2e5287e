//! Functions of fixed point.

use super::{Builder, Handle, Made, Operand};
use crate::call::{OfPower, fixed_like, functions_of_fixed, of_fixed};
use crate::graph::Op;
use crate::types::Type;
use sealane_diagnostic::{At, Code, Diagnostic};

impl Builder {
    /// Adds a function of fixed point, element by element, to the type `dtype` or that of its
    /// operand. Its results stop at the ends of the type if `saturate` is set; otherwise what could
    /// leave it is refused.
    pub fn function(
        &mut self,
        name: &str,
        of: Handle,
        dtype: Option<Type>,
        saturate: bool,
        at: At<'_>,
    ) -> Made {
        let id = self.found(of, at)?;
        let from = self.known(id).0;
        let ty = dtype.unwrap_or(from);
        let Some(mut call) = of_fixed(name).filter(|call| call.function.name == name) else {
            let known = functions_of_fixed().collect::<Vec<_>>().join(", ");
            let message = format!("`sl.math.{name}` does not take fixed point");
            return Err(Diagnostic::new(Code::TypeMismatch, message)
                .because(format!("the functions that do are {known}"))
                .hint("convert the operand: `x.astype(sl.f32)`, for example")
                .at(at));
        };
        if matches!(from, Type::Int { .. } | Type::Bool) {
            return Err(no_integers(name, from).at(at));
        }
        if !from.is_fixed() || !ty.is_fixed() {
            let other = if from.is_fixed() { ty } else { from };
            let message = format!("`sl.math.{name}` of fixed point does not take or give {other}");
            return Err(Diagnostic::new(Code::TypeMismatch, message)
                .because("`dtype` and `saturate` are for functions from fixed point to fixed point")
                .hint("leave them out, and convert the result with `.astype` or `sl.saturate`")
                .at(at));
        }
        call.saturate = saturate;
        let id = self.push(Op::Call(call.name(), vec![id]), ty, at)?;
        Ok(self.handle(id))
    }

    /// Adds a power of fixed point, element by element, to the type `dtype` or that of the base, or
    /// of the exponent if only that is fixed point. A number of the source is taken exactly where a
    /// type holds it. With `saturate`, results stop at the end of the type.
    pub fn power(
        &mut self,
        [x, y]: [Operand; 2],
        dtype: Option<Type>,
        saturate: bool,
        at: At<'_>,
    ) -> Made {
        let types = [self.type_of(x, at)?, self.type_of(y, at)?];
        let ids = [
            self.exactly(x, types[1], at)?,
            self.exactly(y, types[0], at)?,
        ];
        let fixed = types.into_iter().flatten().find(|ty| ty.is_fixed());
        let base = types[0].or(types[1]);
        if let (None, Some(ty @ (Type::Int { .. } | Type::Bool))) = (fixed, base) {
            return Err(no_integers("pow", ty).at(at));
        }
        let ty = dtype.or(fixed).filter(|ty| ty.is_fixed());
        let (Some(ty), Some(_)) = (ty, fixed) else {
            let other = match fixed {
                Some(_) => dtype,
                None => types.into_iter().flatten().next(),
            };
            let other = other.map_or("numbers alone".into(), |ty| ty.to_string());
            let message = format!("`sl.math.pow` of fixed point does not take or give {other}");
            return Err(Diagnostic::new(Code::TypeMismatch, message)
                .because("`dtype` and `saturate` are for functions from fixed point to fixed point")
                .hint("leave them out, and convert the result with `.astype` or `sl.saturate`")
                .at(at));
        };
        let call = OfPower { saturate };
        let id = self.push(Op::Call(call.name(), ids.to_vec()), ty, at)?;
        Ok(self.handle(id))
    }
}

/// Refuses integers as the operand of a function that takes `dtype` and `saturate`.
fn no_integers(name: &str, ty: Type) -> Diagnostic {
    let message = format!("`sl.math.{name}` does not take {ty}");
    let fixed = fixed_like(ty);
    Diagnostic::new(Code::TypeMismatch, message)
        .because("with `dtype` and `saturate` it goes from fixed point to fixed point")
        .hint(format!("convert the operand first: `x.astype({fixed})`"))
}
