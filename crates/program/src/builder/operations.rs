//! The operations of the [`Builder`]: operands find their common type here, and inference does
//! the rest.

use super::{Builder, Handle, Operand};
use crate::call;
use crate::decimal::range_text;
use crate::graph::{Binary, Op, Reduction, Unary, ValueId};
use crate::infer;
use crate::types::{Dim, Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Span};
use sealane_numeric::Kind;

/// Type of `bool` in arithmetic.
const BIT: Type = Type::unsigned(1);

impl Builder {
    /// Adds an element-wise operation of one operand. `neg` and `abs` of a `bool` treat it as `u1`.
    pub fn unary(
        &mut self,
        op: Unary,
        a: Operand,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let mut id = self.operand(a, None, span)?;
        if matches!(op, Unary::Neg | Unary::Abs) {
            id = self.as_integer(id, span)?;
        }
        self.operate(Op::Unary(op, id), span)
    }

    /// Adds an element-wise operation of two operands, which broadcast.
    pub fn binary(
        &mut self,
        op: Binary,
        a: Operand,
        b: Operand,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let (a, b) = if op.is_comparison() {
            return self.compare(op, [a, b], span);
        } else if self.rounds(op, [a, b], span)? {
            return self.rounded(op, [a, b], span);
        } else if matches!(op, Binary::Shl | Binary::Shr) {
            let a = self.operand(a, None, span)?;
            (self.as_integer(a, span)?, self.exactly(b, None, span)?)
        } else {
            let logical = matches!(
                op,
                Binary::And | Binary::Or | Binary::Xor | Binary::Min | Binary::Max
            );
            let ids = self.unified(op.symbol(), &[a, b], logical, span)?;
            (ids[0], ids[1])
        };
        self.operate(Op::Binary(op, a, b), span)
    }

    /// Adds `where(condition, yes, no)`.
    pub fn select(
        &mut self,
        condition: Operand,
        yes: Operand,
        no: Operand,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let condition = self.operand(condition, None, span)?;
        let branches = self.unified("where", &[yes, no], true, span)?;
        self.operate(Op::Select(condition, branches[0], branches[1]), span)
    }

    /// Casts to type `ty`, rounding down if that has fewer fraction bits. The range must fit,
    /// unless `ty` wraps.
    pub fn cast(&mut self, a: Handle, ty: Type, span: Option<&Span>) -> Result<Handle, Diagnostic> {
        let id = self.found(a, span)?;
        if self.known(id).0.is_float() && matches!(ty, Type::Int { .. } | Type::Fixed { .. }) {
            return Err(infer::unfit(&self.scope(), id, ty).at(span));
        }
        let id = self.cast_to(id, ty, span)?;
        Ok(self.handle(id))
    }

    /// Reduces `axis` (negative from the end), or without it all axes. Operands are converted to
    /// `dtype` first; without it a sum of `bool` counts in the smallest type that holds the count.
    /// A sum of fixed point is rounded once, at its end, and so is one of products.
    pub fn reduce(
        &mut self,
        op: Reduction,
        a: Handle,
        axis: Option<i64>,
        dtype: Option<Type>,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let id = self.found(a, span)?;
        let axes = self.axes(&self.top().values[id.0 as usize].shape, axis, span)?;
        let value = &self.top().values[id.0 as usize];
        if value.ty.is_float() || dtype.is_some_and(Type::is_float) {
            return self.reduce_floats(op, id, axes, dtype, span);
        }
        if op == Reduction::Sum {
            let ascending = axes.iter().rev().copied().collect::<Vec<_>>();
            if let Some(sum) = self.unrounded_sum(id, &ascending, dtype, span)? {
                return Ok(sum);
            }
        }
        let (scope, value) = (self.scope(), &self.top().values[id.0 as usize]);
        let lengths = axes
            .iter()
            .filter_map(|&axis| value.shape.dim(axis as usize));
        let count = lengths
            .map(|dim| scope.length(dim))
            .fold((1u64, 1u64), |count, length| {
                (
                    count.0.saturating_mul(length.0),
                    count.1.saturating_mul(length.1),
                )
            });
        let counted = Range {
            lo: 0,
            hi: count.1.into(),
        };
        let ty = match (op, value.ty, dtype) {
            (_, _, Some(dtype)) => dtype,
            (Reduction::Sum, Type::Bool, None) => Type::smallest(counted).unwrap_or(value.ty),
            (_, ty, None) => ty,
        };
        let from = value.ty;
        // A sum is rounded once, at its end: until then it keeps the fraction bits of its elements.
        let summed = match op {
            Reduction::Sum if ty.fraction() < from.fraction() => {
                let total = infer::sum_range(self.known(id).1, count);
                from.smallest_like(total).unwrap_or(from)
            }
            _ => ty,
        };
        let mut id = self.cast_to(id, summed, span)?;
        if op == Reduction::Sum && axes.len() > 1 {
            // Reducing the axes one by one would name a type for the first sum only in an error.
            let (range, name) = (self.known(id).1, || self.scope().name(id, "a"));
            let total = infer::sum(summed, range, count, name);
            total.map_err(|error| self.in_scan(error).at(span))?;
        }
        for axis in axes {
            id = self.push(Op::Reduce(op, id, axis), summed, span)?;
        }
        id = self.cast_to(id, ty, span)?;
        Ok(self.handle(id))
    }

    /// Adds the exact mean along `axis` (negative from the end), or without it of all elements,
    /// rounded once to `dtype`: by default to their own type of floating point, and to `f64` of
    /// other numbers.
    pub fn mean(
        &mut self,
        a: Handle,
        axis: Option<i64>,
        dtype: Option<Type>,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let mut id = self.found(a, span)?;
        let mut axes = self.axes(&self.top().values[id.0 as usize].shape, axis, span)?;
        axes.reverse();
        let from = self.known(id).0;
        let ty = dtype.unwrap_or(if from.is_float() { from } else { Type::F64 });
        if !ty.is_float() {
            return Err(infer::no_common_type("mean", from, ty)
                .because("a mean is a number of floating point")
                .hint("leave `dtype` out, or convert the mean: `sl.saturate(mean, type)`")
                .at(span));
        }
        let number = if from == Type::Bool {
            BIT
        } else {
            from.strict()
        };
        id = self.cast_to(id, number, span)?;
        id = match axes.is_empty() {
            true => self.cast_to(id, ty, span)?,
            false => self.push(Op::Mean { of: id, axes }, ty, span)?,
        };
        Ok(self.handle(id))
    }

    /// Adds the sum of `a * b` along `axis` (negative from the end), or without it of all: exact
    /// products of floating point, added exactly and rounded once to `dtype`.
    pub fn sum_of_floats(
        &mut self,
        factors: [Operand; 2],
        axis: Option<i64>,
        dtype: Type,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let ids = self.unified("*", &factors, false, span)?;
        let (a, b) = (ids[0], ids[1]);
        let product = Op::Binary(Binary::Mul, a, b);
        let shape = infer::infer(&self.scope(), &product, Type::Bool);
        let shape = shape.map_err(|error| error.at(span))?.shape;
        let mut axes = self.axes(&shape, axis, span)?;
        axes.reverse();
        if axes.is_empty() {
            let product = self.push(product, Type::Bool, span)?;
            let id = self.cast_to(product, dtype, span)?;
            return Ok(self.handle(id));
        }
        let id = self.push(Op::SumProduct { a, b, axes }, dtype, span)?;
        Ok(self.handle(id))
    }

    /// Adds the number of elements along `axis` (negative from the end), or without it of all: a
    /// constant where no rows are counted.
    pub fn count(
        &mut self,
        a: Handle,
        axis: Option<i64>,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let mut id = self.found(a, span)?;
        let axes = self.axes(&self.top().values[id.0 as usize].shape, axis, span)?;
        let (mut fixed, mut most, mut rows) = (1u64, 1u64, false);
        for axis in axes {
            match self.top().values[id.0 as usize].shape.dim(axis as usize) {
                Some(Dim::Fixed(length)) => fixed = fixed.saturating_mul(length),
                other => {
                    rows = true;
                    most = other.map_or(1, |dim| self.scope().length(dim).1);
                }
            }
        }
        let most = Range::of(fixed.saturating_mul(most).into());
        let ty = Type::smallest(most).unwrap_or(Type::I64);
        if !rows {
            let id = self.number(ty, fixed.into(), span)?;
            return Ok(self.handle(id));
        }
        while let rank @ 2.. = self.top().values[id.0 as usize].shape.rank() {
            let (axis, start, len) = (rank as u32 - 1, 0, 1);
            let first = Op::Slice {
                of: id,
                axis,
                start,
                len,
                squeeze: true,
            };
            id = self.push(first, ty, span)?;
        }
        if self.known(id).0.is_float() {
            id = self.push(Op::Cast(id), BIT, span)?;
        }
        id = self.push(Op::Binary(Binary::Eq, id, id), Type::Bool, span)?;
        id = self.cast_to(id, ty, span)?;
        id = self.push(Op::Reduce(Reduction::Sum, id, 0), ty, span)?;
        let each = self.number(ty, fixed.into(), span)?;
        id = match fixed {
            1 => id,
            _ => self.push(Op::Binary(Binary::Mul, id, each), ty, span)?,
        };
        Ok(self.handle(id))
    }

    /// The axes of a reduction, descending: one, or all.
    fn axes(
        &self,
        shape: &Shape,
        axis: Option<i64>,
        span: Option<&Span>,
    ) -> Result<Vec<u32>, Diagnostic> {
        match axis {
            Some(axis) => {
                let axis = self.axis(shape, axis, shape.rank());
                Ok(vec![axis.map_err(|error| error.at(span))?])
            }
            None => Ok((0..shape.rank() as u32).rev().collect()),
        }
    }

    /// Reduces floating point, or other numbers that are converted to it first. A sum is exact and
    /// rounded once, to `dtype`.
    fn reduce_floats(
        &mut self,
        op: Reduction,
        id: ValueId,
        axes: Vec<u32>,
        dtype: Option<Type>,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let from = self.known(id).0;
        let ty = dtype.unwrap_or(from);
        if !ty.is_float() {
            return Err(infer::no_common_type(op.name(), from, ty).at(span));
        }
        let mut id = match op == Reduction::Sum && from.is_float() {
            true => id,
            false => self.cast_to(id, ty, span)?,
        };
        let from = self.known(id).0;
        if op == Reduction::Sum && (axes.len() > 1 || axes.len() == 1 && from != ty) {
            // One sum, so that it is rounded only once: of products by 1.
            let one = self.number(from, 1, span)?;
            let (a, b, axes) = (id, one, axes.into_iter().rev().collect());
            id = self.push(Op::SumProduct { a, b, axes }, ty, span)?;
        } else {
            for axis in axes {
                id = self.push(Op::Reduce(op, id, axis), from, span)?;
            }
            id = self.cast_to(id, ty, span)?;
        }
        Ok(self.handle(id))
    }

    /// Adds `table[index]`: the entries of `table` along its first axis at `index`.
    pub fn lookup(
        &mut self,
        table: Handle,
        index: Handle,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let (table, index) = (self.found(table, span)?, self.found(index, span)?);
        self.operate(Op::Lookup { table, index }, span)
    }

    /// Equal shapes joined along a new axis (negative from the end).
    pub fn stack(
        &mut self,
        values: &[Operand],
        axis: i64,
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let ids = self.unified("stack", values, true, span)?;
        let Some(first) = ids.first() else {
            let message = "a stack of nothing has no shape";
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .hint("give at least one value")
                .at(span));
        };
        let shape = &self.top().values[first.0 as usize].shape;
        let axis = self
            .axis(shape, axis, shape.rank() + 1)
            .map_err(|error| error.at(span))?;
        self.operate(Op::Stack(ids, axis), span)
    }

    /// Calls a function by name; operands are converted to bytes, or to their common type of
    /// floating point, where they fit.
    pub fn call(
        &mut self,
        name: &str,
        operands: &[Operand],
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let floats = call::of_floats(name).map(|(function, _)| function.operands);
        let wanted = match floats {
            Some(kinds) => kinds.len(),
            None => call::function(name)
                .map_err(|error| error.at(span))?
                .operands
                .len(),
        };
        if operands.len() != wanted {
            let message = format!("`{name}` takes {wanted} operands, not {}", operands.len());
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
        kinds: &[Kind],
        span: Option<&Span>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let both = || operands.iter().copied().zip(kinds);
        let numbers = both().filter(|(_, kind)| **kind == Kind::Float);
        let numbers = numbers.map(|(operand, _)| operand).collect::<Vec<_>>();
        let mut numbers = self.unified(name, &numbers, true, span)?.into_iter();
        both()
            .map(|(operand, kind)| match kind {
                Kind::Float => Ok(numbers.next().unwrap_or(ValueId(u32::MAX))),
                _ => self.exactly(operand, None, span),
            })
            .collect()
    }

    /// Appends an operation whose type follows from its operands.
    pub(super) fn operate(&mut self, op: Op, span: Option<&Span>) -> Result<Handle, Diagnostic> {
        let id = self.push(op, Type::Bool, span)?;
        Ok(self.handle(id))
    }

    /// Value of a handle, with the span in the error.
    pub(super) fn found(
        &mut self,
        handle: Handle,
        span: Option<&Span>,
    ) -> Result<ValueId, Diagnostic> {
        self.resolve(handle).map_err(|error| error.at(span))
    }

    /// The type of an operand that has one.
    pub(super) fn type_of(
        &mut self,
        operand: Operand,
        span: Option<&Span>,
    ) -> Result<Option<Type>, Diagnostic> {
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
        span: Option<&Span>,
    ) -> Result<ValueId, Diagnostic> {
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
    pub(super) fn exactly(
        &mut self,
        operand: Operand,
        beside: Option<Type>,
        span: Option<&Span>,
    ) -> Result<ValueId, Diagnostic> {
        let ty = match operand {
            Operand::Int(number) => Type::smallest(Range::of(number)),
            Operand::Literal(literal) => return self.literal_exactly(literal, beside, span),
            Operand::Value(_) => None,
        };
        self.operand(operand, ty, span)
    }

    /// Value with `bool` treated as `u1`.
    pub(super) fn as_integer(
        &mut self,
        id: ValueId,
        span: Option<&Span>,
    ) -> Result<ValueId, Diagnostic> {
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
        span: Option<&Span>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
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
