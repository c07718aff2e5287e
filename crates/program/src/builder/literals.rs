//! Literals in the types that they take, and conversions that are never refused.

use super::{Builder, Found, Handle, Made, Operand};
use crate::check::MAX_CONST_ELEMENTS;
use crate::graph::{Binary, Op};
use crate::infer;
use crate::literal::{Literal, Typed};
use crate::types::{Data, Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result};

impl Builder {
    /// Makes an operand of a number with a fraction, or of an array of them, that has no type yet.
    ///
    /// # Errors
    /// There are more elements than constants may have.
    pub fn literal(&mut self, literal: Literal, span: At<'_>) -> Result<Operand> {
        let elements = self.elements + literal.numbers.len().saturating_sub(1);
        super::within("elements of constants", elements, MAX_CONST_ELEMENTS).at(span)?;
        self.literals.push(literal);
        Ok(Operand::Literal(self.literals.len() as u32 - 1))
    }

    /// Adds a literal that has a type already, with its warning if it was rounded.
    pub fn typed(&mut self, typed: Typed, span: At<'_>) -> Made {
        if let Some(warning) = typed.warning {
            self.warn(warning.at(span));
        }
        self.constant(typed.data, span)
    }

    /// Value of an operand without a neighbour: a number takes the smallest type that holds it
    /// exactly.
    pub fn alone(&mut self, operand: Operand, span: At<'_>) -> Made {
        self.exactly(operand, None, span).map(|id| self.handle(id))
    }

    /// Reduces the number modulo `2^bits`, to an integer type that need not wrap. Never refused for
    /// its range.
    pub fn wrap(&mut self, a: Handle, ty: Type, span: At<'_>) -> Made {
        let id = self.found(a, span)?;
        let from = self.known(id).0;
        let fraction = |ty: Type| ty.is_fixed() || ty.is_float();
        if fraction(from) || fraction(ty) {
            let fixed = if fraction(from) { from } else { ty };
            return Err(infer::no_such_type("sl.wrap", fixed)
                .because("a number with a fraction does not wrap")
                .hint("write `sl.saturate(x, type)`, which stops at the ends of the type")
                .at(span));
        }
        let modular = match ty {
            Type::Bool => Type::unsigned(1).wrapping(),
            ty => ty.wrapping(),
        };
        let id = self.cast_to(id, modular, span)?;
        self.cast_to(id, ty, span).map(|id| self.handle(id))
    }

    /// Converts to the nearest number of `ty` from below, or to the end of the type that it
    /// exceeds. Never refused for its range.
    pub fn saturate(&mut self, a: Handle, ty: Type, span: At<'_>) -> Made {
        let mut id = self.found(a, span)?;
        let (from, range) = self.known(id);
        if from.is_float() || ty.is_float() {
            let id = self.cast_to(id, ty, span)?;
            return Ok(self.handle(id));
        }
        if ty == Type::Bool && from.is_fixed() {
            // Refused with a suggestion.
            return self.cast(a, ty, span);
        }
        if from.fraction() > ty.fraction() {
            // Rounding down first leaves no finer bits than the ends of the type have.
            let down = range.converted(from, ty);
            let coarse = down.and_then(|down| {
                let like = if ty.is_fixed() { ty } else { Type::I64 };
                like.smallest_like(down)
            });
            id = self.cast_to(id, coarse.unwrap_or(from), span)?;
        }
        let (from, range) = self.known(id);
        let all = ty.range();
        // The numbers of `from` within `ty`: its ends may have bits that `from` does not have.
        let finer = i16::from(ty.fraction()) - i16::from(from.fraction());
        let within = Range::new(-(-all.lo >> finer), all.hi >> finer);
        let ends = [
            (Binary::Max, within.lo, range.lo < within.lo),
            (Binary::Min, within.hi, range.hi > within.hi),
        ];
        let mut clipped = id;
        for (op, end, reached) in ends {
            if reached {
                let end = self.stored(from, end, span)?;
                clipped = self.push(Op::Binary(op, clipped, end), from, span)?;
            }
        }
        clipped = self.cast_to(clipped, ty, span)?;
        let ends = [
            (Binary::Lt, within.lo, all.lo, range.lo < within.lo),
            (Binary::Gt, within.hi, all.hi, range.hi > within.hi),
        ];
        for (op, near, end, reached) in ends {
            // There may be other numbers between the last number of `from` and the end of `ty`.
            if reached && near << finer != end {
                let near = self.stored(from, near, span)?;
                let beyond = self.push(Op::Binary(op, id, near), Type::Bool, span)?;
                let end = self.stored(ty, end, span)?;
                clipped = self.push(Op::Select(beyond, end, clipped), ty, span)?;
            }
        }
        Ok(self.handle(clipped))
    }

    /// A constant of one stored number, which the type holds.
    fn stored(&mut self, ty: Type, number: i128, span: At<'_>) -> Found {
        let data = Data::from_numbers(ty, Vec::new(), &[number]);
        let data = data.ok_or_else(|| infer::invalid("an end that its type does not hold"))?;
        self.push(Op::Const(data), ty, span)
    }

    /// Value of the literal in the fixed-point type `beside` it; without one in its own type.
    pub(super) fn literal_beside(
        &mut self,
        literal: u32,
        beside: Option<Type>,
        span: At<'_>,
    ) -> Found {
        let literal = self.written(literal)?;
        let Some(ty) = beside.filter(|ty| ty.is_fixed() || ty.is_float()) else {
            return match literal.exactly().filter(|_| beside.is_none()) {
                Some(data) => Ok(self.constant(data, span)?.id),
                None => Err(untyped(&literal, beside).at(span)),
            };
        };
        let typed = literal.in_type(ty, span).map_err(|refused| {
            refused.hint(
                "convert the other operand to a type that holds it, with `.astype`, or name the \
                 type of the number: `sl.fixed(32, 16)(0.1)`",
            )
        })?;
        let handle = self.typed(typed, span)?;
        Ok(handle.id)
    }

    /// Value of the literal exactly, or else in the fixed-point type `beside` it.
    pub(super) fn literal_exactly(&mut self, of: u32, beside: Option<Type>, span: At<'_>) -> Found {
        match self.written(of)?.exactly() {
            Some(data) => Ok(self.constant(data, span)?.id),
            None => self.literal_beside(of, beside, span),
        }
    }

    /// Adds a comparison. A literal stands for the number that is written: if the value's type does
    /// not have that number, it is compared with the next one below or above.
    pub(super) fn compare(&mut self, op: Binary, [a, b]: [Operand; 2], span: At<'_>) -> Made {
        let types = [self.type_of(a, span)?, self.type_of(b, span)?];
        if types.into_iter().flatten().any(Type::is_float) {
            let ids = self.unified(op.symbol(), &[a, b], false, span)?;
            return self.operate(Op::Binary(op, ids[0], ids[1]), span);
        }
        let against = match (a, b) {
            (Operand::Value(x), Operand::Literal(literal)) => Some((x, literal, op)),
            (Operand::Literal(literal), Operand::Value(x)) => Some((x, literal, mirrored(op))),
            _ => None,
        };
        if let Some((x, literal, op)) = against
            && let Some(compared) = self.compare_literal(op, x, literal, span)?
        {
            return Ok(compared);
        }
        let beside = [self.type_of(b, span)?, self.type_of(a, span)?];
        let (a, b) = (
            self.exactly(a, beside[0], span)?,
            self.exactly(b, beside[1], span)?,
        );
        self.operate(Op::Binary(op, a, b), span)
    }

    /// Adds `x op literal`, with numbers between which the literal lies; `None` if it has no such
    /// numbers, or if all of it is exact.
    fn compare_literal(
        &mut self,
        op: Binary,
        x: Handle,
        literal: u32,
        span: At<'_>,
    ) -> Result<Option<Handle>> {
        let x = self.found(x, span)?;
        let ((ty, range), written) = (self.known(x), self.written(literal)?);
        let found = written.between(ty, range).filter(|found| found.apart > 0);
        let Some(found) = found.filter(|_| ty != Type::Bool) else {
            return Ok(None);
        };
        let (below, above) = (found.below, found.above);
        let sides = match op {
            Binary::Eq => [Some((Binary::Ge, above)), Some((Binary::Le, below))],
            Binary::Ne => [Some((Binary::Lt, above)), Some((Binary::Gt, below))],
            Binary::Lt | Binary::Ge => [Some((op, above)), None],
            _ => [Some((op, below)), None],
        };
        let mut made = Vec::new();
        for (op, data) in sides.into_iter().flatten() {
            let end = self.constant(data, span)?.id;
            made.push(self.push(Op::Binary(op, x, end), Type::Bool, span)?);
        }
        let [one, other] = made[..] else {
            return Ok(made.first().map(|id| self.handle(*id)));
        };
        self.warn(never_equal(&written, ty, op, found.apart).at(span));
        let join = if op == Binary::Eq {
            Binary::And
        } else {
            Binary::Or
        };
        self.operate(Op::Binary(join, one, other), span).map(Some)
    }

    /// Records a warning, once: a body that is traced once may hold one literal several times.
    fn warn(&mut self, warning: Diagnostic) {
        if !self.rounded.contains(&warning) {
            self.rounded.push(warning);
        }
    }

    pub(super) fn written(&self, literal: u32) -> Result<Literal> {
        let literal = self.literals.get(literal as usize).cloned();
        literal.ok_or_else(|| infer::invalid("a literal of another program"))
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: Binary) -> Binary {
    match op {
        Binary::Lt => Binary::Gt,
        Binary::Le => Binary::Ge,
        Binary::Gt => Binary::Lt,
        Binary::Ge => Binary::Le,
        op => op,
    }
}

/// Makes the warning that `apart` numbers of a literal equal no number of a type.
fn never_equal(literal: &Literal, ty: Type, op: Binary, apart: usize) -> Diagnostic {
    let message = match literal.numbers.len() {
        1 => format!("no number of {ty} equals {}", literal.text()),
        all => format!("{apart} of {all} numbers of an array equal no number of {ty}"),
    };
    let always = if op == Binary::Eq { "false" } else { "true" };
    Diagnostic::new(Code::NeverEqual, message)
        .because(format!(
            "{ty} holds {}, so that `{}` is always {always}",
            match ty.fraction() {
                0 => "whole numbers".to_string(),
                fraction => format!("multiples of 2^-{fraction}"),
            },
            op.symbol()
        ))
        .hint(
            "compare with a number of the type, or within a distance: `sl.abs(x - a) <= b` for \
             two numbers of the type",
        )
}

/// Makes the refusal of a literal without a fixed-point value beside it.
fn untyped(literal: &Literal, beside: Option<Type>) -> Diagnostic {
    let text = literal.text();
    let refused = |message| Diagnostic::new(Code::TypeMismatch, message);
    match beside {
        Some(ty) => refused(format!("{text} stands beside a value of {ty}"))
            .because(format!("{ty} has no fractions"))
            .hint(format!(
                "convert the value: `x.astype({})`, for example, or write whole numbers",
                Type::fixed(1, 16)
                    .common(ty)
                    .unwrap_or(Type::fixed(32, 16))
                    .python()
            )),
        None => refused(format!("{text} has no type")).because(
            "it takes the type of the fixed-point value beside it, and here is none; by itself no \
             type holds it exactly",
        )
        .hint("name one: `sl.fixed(16, 16)(0.1)`, or of an array: `sl.fixed(16, 16)(array)`"),
    }
}
