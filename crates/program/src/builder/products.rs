//! Products and quotients: of integers in their common type, of fixed point exactly and then rounded
//! down once.

use super::{Builder, Handle, Operand};
use crate::diagnostic::{Diagnostic, Span};
use crate::graph::{Binary, Op, ValueId};
use crate::infer;
use crate::types::Type;

impl Builder {
    /// `a @ b`: the last axis of `a` with the first of `b`. Integers are converted to `dtype`
    /// first; a sum of fixed-point products is rounded down to it.
    pub fn dot(
        &mut self,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        dtype: Option<Type>,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let (a, b) = (a.into(), b.into());
        let types = [self.type_of(a, span)?, self.type_of(b, span)?, dtype];
        if types.into_iter().flatten().any(Type::is_fixed) {
            let [a, b] = self.factors([a, b], span)?;
            let ty = match dtype {
                Some(ty) => ty,
                None => self.common("@", [a, b], span)?,
            };
            let id = self.push(Op::Dot(a, b), ty, span)?;
            return Ok(self.handle(id));
        }
        let ids = match dtype {
            None => self.unified("@", &[a, b], false, span)?,
            Some(ty) => {
                let (a, b) = (self.operand(a, None, span)?, self.operand(b, None, span)?);
                vec![self.cast_to(a, ty, span)?, self.cast_to(b, ty, span)?]
            }
        };
        self.operate(Op::Dot(ids[0], ids[1]), span)
    }

    /// Whether an operation rounds its exact result: a product or quotient of fixed point.
    pub(super) fn rounds(
        &mut self,
        op: Binary,
        [a, b]: [Operand; 2],
        span: Option<&Span>,
    ) -> Result<bool, Diagnostic> {
        let types = [self.type_of(a, span)?, self.type_of(b, span)?];
        let fixed = types.into_iter().flatten().any(Type::is_fixed);
        Ok(op == Binary::Div || op == Binary::Mul && fixed)
    }

    /// A product or quotient that is rounded down to the common type of its operands.
    pub(super) fn rounded(
        &mut self,
        op: Binary,
        operands: [Operand; 2],
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let [a, b] = self.factors(operands, span)?;
        // A bare whole number has no part in the common type.
        let ty = match operands {
            [Operand::Int(_), Operand::Value(_)] => self.known(b).0,
            [Operand::Value(_), Operand::Int(_)] => self.known(a).0,
            _ => self.common(op.symbol(), [a, b], span)?,
        };
        let id = self.push(Op::Binary(op, a, b), ty, span)?;
        Ok(self.handle(id))
    }

    fn common(
        &self,
        operation: &str,
        ids: [ValueId; 2],
        span: Option<&Span>,
    ) -> Result<Type, Diagnostic> {
        let [x, y] = ids.map(|id| self.known(id).0);
        x.common(y)
            .ok_or_else(|| infer::no_common_type(operation, x, y).at(span))
    }

    /// The operands of a product or quotient, each in a type of its own.
    fn factors(
        &mut self,
        operands: [Operand; 2],
        span: Option<&Span>,
    ) -> Result<[ValueId; 2], Diagnostic> {
        let types = [
            self.type_of(operands[0], span)?,
            self.type_of(operands[1], span)?,
        ];
        let mut ids = [ValueId(0); 2];
        for (at, operand) in operands.into_iter().enumerate() {
            let id = match operand {
                Operand::Int(_) => self.exactly(operand, None, span)?,
                _ => self.operand(operand, types[1 - at], span)?,
            };
            ids[at] = self.as_integer(id, span)?;
        }
        Ok(ids)
    }
}
