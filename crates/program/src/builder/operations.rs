//! The operations of the [`Builder`]: operands find their common type here, and inference does
//! the rest.

use super::{Builder, Found, Handle, Made, Operand};
use crate::call;
use crate::decimal::range_text;
use crate::elementwise::Family;
use crate::graph::{Binary, Op, Unary, ValueId, Visibility};
use crate::infer;
use crate::types::{Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result, counted};
use sealane_numeric::ValueKind;

/// Type of `bool` in arithmetic.
pub(super) const BIT: Type = Type::unsigned(1);

impl Builder {
    /// Adds an element-wise operation of one operand. `neg` and `abs` of a `bool` treat it as `u1`.
    pub fn unary(&mut self, op: Unary, a: Operand, span: At<'_>) -> Made {
        let mut id = self.operand(a, None, span)?;
        if !op.row().bits {
            id = self.as_integer(id, span)?;
        }
        self.operate(Op::Unary(op, id), span)
    }

    /// Adds an element-wise operation of two operands, which broadcast.
    pub fn binary(&mut self, op: Binary, a: Operand, b: Operand, span: At<'_>) -> Made {
        let (a, b) = if op.is_comparison() {
            return self.compare(op, [a, b], span);
        } else if self.rounds(op, [a, b], span)? {
            return self.rounded(op, [a, b], span);
        } else if op.family() == Family::Shift {
            let a = self.operand(a, None, span)?;
            (self.as_integer(a, span)?, self.exactly(b, None, span)?)
        } else {
            let logical = matches!(op.family(), Family::Bits | Family::End);
            let ids = self.unified(op.symbol(), &[a, b], logical, span)?;
            (ids[0], ids[1])
        };
        self.operate(Op::Binary(op, a, b), span)
    }

    /// Adds `where(condition, yes, no)`.
    pub fn select(&mut self, condition: Operand, yes: Operand, no: Operand, span: At<'_>) -> Made {
        let condition = self.operand(condition, None, span)?;
        let branches = self.unified("where", &[yes, no], true, span)?;
        self.operate(Op::Select(condition, branches[0], branches[1]), span)
    }

    /// Casts to type `ty`, rounding down if that has fewer fraction bits. The range must fit,
    /// unless `ty` wraps.
    pub fn cast(&mut self, a: Handle, ty: Type, span: At<'_>) -> Made {
        let id = self.found(a, span)?;
        if self.known(id).0.is_float() && matches!(ty, Type::Int { .. } | Type::Fixed { .. }) {
            return Err(infer::unfit(&self.scope(), id, ty).at(span));
        }
        self.cast_to(id, ty, span).map(|id| self.handle(id))
    }

    /// Has the operation of a value computed on shares of a kind: one of
    /// [`SHARINGS`](crate::infer::SHARINGS).
    pub fn share(&mut self, a: Handle, sharing: String, span: At<'_>) -> Made {
        let of = self.found(a, span)?;
        let made = self.operate(Op::Share { of, sharing }, span)?;
        if self.of(of).visibility != Visibility::Secret {
            let name = self.scope().name(of, "x");
            let message = format!("what `sl.share({name}, ...)` is around is not on shares");
            return Err(Diagnostic::new(Code::NoSuchSharing, message)
                .at(span)
                .because("it is public, or one party computes it alone, in the clear")
                .hint(
                    "leave out `sl.share`, or put it around an operation on secrets of several",
                ));
        }
        Ok(made)
    }

    /// Adds `table[index]`: the entries of `table` along its first axis at `index`.
    pub fn lookup(&mut self, table: Handle, index: Handle, span: At<'_>) -> Made {
        let (table, index) = (self.found(table, span)?, self.found(index, span)?);
        self.operate(Op::Lookup { table, index }, span)
    }

    /// Adds the product of two elements of GF(2^k), with the irreducible polynomial of the field:
    /// bit `i` of `polynomial` is the coefficient of `x^i`. The operands broadcast.
    pub fn field_product(&mut self, [a, b]: [Operand; 2], polynomial: i128, span: At<'_>) -> Made {
        let name = call::field_product(polynomial).at(span)?;
        let ids = [self.exactly(a, None, span)?, self.exactly(b, None, span)?];
        self.operate(Op::Call(name, ids.to_vec()), span)
    }

    /// Equal shapes joined along a new axis (negative from the end).
    pub fn stack(&mut self, values: &[Operand], axis: i64, span: At<'_>) -> Made {
        let ids = self.unified("stack", values, true, span)?;
        let Some(first) = ids.first() else {
            let message = "a stack of nothing has no shape";
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .hint("give at least one value")
                .at(span));
        };
        let shape = &self.of(*first).shape;
        let axis = self.axis(shape, axis, shape.rank() + 1).at(span)?;
        self.operate(Op::Stack(ids, axis), span)
    }

    /// Calls a function by name; operands are converted to bytes, or to their common type of
    /// floating point, where they fit.
    pub fn call(&mut self, name: &str, operands: &[Operand], span: At<'_>) -> Made {
        let floats = call::of_floats(name).map(|(function, _)| function.operands);
        let wanted = match floats {
            Some(kinds) => kinds.len(),
            None => call::function(name).at(span)?.operands.len(),
        };
        if operands.len() != wanted {
            let message = format!(
                "`{name}` takes {}, not {}",
                counted(wanted as u64, "operand"),
                operands.len()
            );
            return Err(Diagnostic::new(Code::TypeMismatch, message)
                .hint("give it all of its operands, and nothing else")
                .at(span));
        }
        if let Some(kinds) = floats {
            let ids = self.operands_of_floats(name, operands, kinds, span)?;
            return self.operate(Op::Call(name.into(), ids), span);
        }
        let mut ids = Vec::with_capacity(wanted);
        for operand in operands {
            let id = self.operand(*operand, Some(Type::U8), span)?;
            ids.push(self.fit(id, Type::U8, &format!("an operand of `{name}`"), span)?);
        }
        self.operate(Op::Call(name.into(), ids), span)
    }

    /// The operands of a function of floating point: its numbers in their common type.
    fn operands_of_floats(
        &mut self,
        name: &str,
        operands: &[Operand],
        kinds: &[ValueKind],
        span: At<'_>,
    ) -> Result<Vec<ValueId>> {
        let both = || operands.iter().copied().zip(kinds);
        let numbers = both().filter(|(_, kind)| **kind == ValueKind::Float);
        let numbers = numbers.map(|(operand, _)| operand).collect::<Vec<_>>();
        let mut numbers = self.unified(name, &numbers, true, span)?.into_iter();
        both()
            .map(|(operand, kind)| match kind {
                ValueKind::Float => Ok(numbers.next().unwrap_or(ValueId(u32::MAX))),
                _ => self.exactly(operand, None, span),
            })
            .collect()
    }

    /// Appends an operation whose type follows from its operands.
    pub(super) fn operate(&mut self, op: Op, span: At<'_>) -> Made {
        self.push(op, Type::Bool, span).map(|id| self.handle(id))
    }

    /// Value of a handle, with the span in the error.
    pub(super) fn found(&mut self, handle: Handle, span: At<'_>) -> Found {
        self.resolve(handle).at(span)
    }

    /// The type of an operand that has one.
    pub(super) fn type_of(&mut self, operand: Operand, span: At<'_>) -> Result<Option<Type>> {
        let Operand::Value(handle) = operand else {
            return Ok(None);
        };
        let id = self.found(handle, span)?;
        Ok(Some(self.known(id).0))
    }

    /// The value of an operand. A bare number takes the type `beside` it and must fit; beside
    /// none, or beside `bool`, it is `i64`, or `u64` where only that holds it.
    pub(super) fn operand(
        &mut self,
        operand: Operand,
        beside: Option<Type>,
        span: At<'_>,
    ) -> Found {
        let number = match operand {
            Operand::Value(handle) => return self.found(handle, span),
            Operand::Literal(literal) => return self.literal_beside(literal, beside, span),
            Operand::Int(number) => number,
        };
        match beside {
            Some(ty @ Type::Float(_)) => self.number(ty, number, span),
            Some(ty @ (Type::Int { .. } | Type::Fixed { .. })) => {
                let stored = Range::of(number).shifted(ty.fraction().into());
                if stored.is_some_and(|stored| ty.holds(stored)) {
                    return self.number(ty, number, span);
                }
                let both = stored.map(|stored| ty.range().hull(stored));
                let hint = match both.and_then(|both| ty.smallest_like(both)) {
                    Some(wide) if ty.is_wrapping() => format!(
                        "write the number modulo 2^{}: {}; or convert the other operand with \
                         `.astype(sl.{})`",
                        ty.bits(),
                        ty.wrap(number),
                        wide.wrapping()
                    ),
                    Some(wide) => format!(
                        "convert the other operand with `.astype({})`",
                        wide.python()
                    ),
                    None => "no type holds both".into(),
                };
                let message = format!("{number} does not fit {ty}, the type of the other operand");
                Err(Diagnostic::new(Code::ConstantRange, message)
                    .because(format!("{ty} holds {}", range_text(ty.range(), ty)))
                    .hint(hint)
                    .at(span))
            }
            Some(Type::Bool) | None => {
                let small = Type::I64.holds(Range::of(number));
                self.number(
                    if small { Type::I64 } else { Type::unsigned(64) },
                    number,
                    span,
                )
            }
        }
    }

    /// Value of an operand whose type is irrelevant: a bare number takes the smallest type, and a
    /// fraction that no type holds takes the type of the value `beside` it.
    pub(super) fn exactly(&mut self, operand: Operand, beside: Option<Type>, at: At<'_>) -> Found {
        let ty = match operand {
            Operand::Int(number) => Type::smallest(Range::of(number)),
            Operand::Literal(literal) => return self.literal_exactly(literal, beside, at),
            Operand::Value(_) => None,
        };
        self.operand(operand, ty, at)
    }

    /// Value with `bool` treated as `u1`.
    pub(super) fn as_integer(&mut self, id: ValueId, span: At<'_>) -> Found {
        match self.known(id).0 {
            Type::Bool => self.cast_to(id, BIT, span),
            _ => Ok(id),
        }
    }

    /// Converts the operands to their common type. If all are `bool` and the operation is
    /// `logical`, they stay so.
    pub(super) fn unified(
        &mut self,
        operation: &str,
        operands: &[Operand],
        logical: bool,
        span: At<'_>,
    ) -> Result<Vec<ValueId>> {
        let refused = |a, b| infer::no_common_type(operation, a, b).at(span);
        let mut beside: Option<Type> = None;
        for operand in operands {
            let Operand::Value(handle) = *operand else {
                continue;
            };
            let id = self.found(handle, span)?;
            let ty = self.known(id).0;
            beside = Some(match beside {
                None => ty,
                Some(Type::Bool) if ty == Type::Bool => ty,
                Some(other) => other.common(ty).ok_or_else(|| refused(other, ty))?,
            });
        }
        let ids: Result<Vec<_>, _> = operands
            .iter()
            .map(|operand| self.operand(*operand, beside, span))
            .collect();
        let ids = ids?;
        let mut joint: Option<Type> = None;
        for &id in &ids {
            let ty = self.known(id).0;
            joint = Some(match joint {
                None => ty,
                Some(Type::Bool) if ty == Type::Bool => ty,
                Some(other) => other.common(ty).ok_or_else(|| refused(other, ty))?,
            });
        }
        let ty = match joint {
            Some(Type::Bool) if !logical => BIT,
            Some(ty) => ty,
            None => return Ok(ids),
        };
        ids.into_iter()
            .map(|id| self.cast_to(id, ty, span))
            .collect()
    }
}
