//! Operations along axes: sums, ends, means and counts.

use super::operations::BIT;
use super::{Builder, Handle, Made, Operand};
use crate::float;
use crate::graph::{Binary, Op, Reduction, Slice, ValueId};
use crate::infer;
use crate::types::{Data, Dim, Range, Shape, Type};
use sealane_diagnostic::{At, Placed, Result};

impl Builder {
    /// Reduces `axis` (negative from the end), or without it all axes. Operands are converted to
    /// `dtype` first; without it a sum of `bool` counts in the smallest type that holds the count.
    /// A sum of fixed point is rounded once, at its end, and so is one of products.
    pub fn reduce(
        &mut self,
        op: Reduction,
        a: Handle,
        axis: Option<i64>,
        dtype: Option<Type>,
        at: At<'_>,
    ) -> Made {
        let id = self.found(a, at)?;
        let axes = self.axes(&self.of(id).shape, axis, at)?;
        let value = self.of(id);
        if value.ty.is_float() || dtype.is_some_and(Type::is_float) {
            return self.reduce_floats(op, id, axes, dtype, at);
        }
        if op == Reduction::Sum {
            let ascending = axes.iter().rev().copied().collect::<Vec<_>>();
            if let Some(sum) = self.unrounded_sum(id, &ascending, dtype, at)? {
                return Ok(sum);
            }
        }
        let count = self.counted(id, &axes);
        let value = self.of(id);
        let ty = reduced_type(op, value.ty, dtype, count.1);
        let from = value.ty;
        // A sum is rounded once, at its end: until then it keeps the fraction bits of its elements.
        let summed = match op {
            Reduction::Sum if ty.fraction() < from.fraction() => {
                let total = infer::sum_range(self.known(id).1, count);
                from.smallest_like(total).unwrap_or(from)
            }
            _ => ty,
        };
        let mut id = self.cast_to(id, summed, at)?;
        if op == Reduction::Sum && axes.len() > 1 {
            // Reducing the axes one by one would name a type for the first sum only in an error.
            let (range, name) = (self.known(id).1, || self.scope().name(id, "a"));
            let total = infer::sum(summed, range, count, name);
            total.map_err(|error| self.in_scan(error).at(at))?;
        }
        for axis in axes {
            id = self.push(Op::Reduce(op, id, axis), summed, at)?;
        }
        self.cast_to(id, ty, at).map(|id| self.handle(id))
    }

    /// Adds the exact mean along `axis` (negative from the end), or without it of all elements,
    /// rounded once to `dtype`: by default to their own type of floating point, and to `f64` of
    /// other numbers.
    pub fn mean(&mut self, a: Handle, axis: Option<i64>, dtype: Option<Type>, at: At<'_>) -> Made {
        let mut id = self.found(a, at)?;
        let mut axes = self.axes(&self.of(id).shape, axis, at)?;
        axes.reverse();
        let from = self.known(id).0;
        let ty = dtype.unwrap_or(if from.is_float() { from } else { Type::F64 });
        if !ty.is_float() {
            return Err(infer::no_common_type("mean", from, ty)
                .because("a mean is a number of floating point")
                .hint("leave `dtype` out, or convert the mean: `sl.saturate(mean, type)`")
                .at(at));
        }
        let number = if from == Type::Bool {
            BIT
        } else {
            from.strict()
        };
        id = self.cast_to(id, number, at)?;
        id = if axes.is_empty() {
            self.cast_to(id, ty, at)?
        } else {
            self.push(Op::Mean { of: id, axes }, ty, at)?
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
        at: At<'_>,
    ) -> Made {
        let ids = self.unified("*", &factors, false, at)?;
        let (a, b) = (ids[0], ids[1]);
        let product = Op::Binary(Binary::Mul, a, b);
        let shape = infer::infer(&self.scope(), &product, Type::Bool);
        let shape = shape.at(at)?.shape;
        let mut axes = self.axes(&shape, axis, at)?;
        axes.reverse();
        if axes.is_empty() {
            let product = self.push(product, Type::Bool, at)?;
            let id = self.cast_to(product, dtype, at)?;
            return Ok(self.handle(id));
        }
        let id = self.push(Op::SumProduct { a, b, axes }, dtype, at)?;
        Ok(self.handle(id))
    }

    /// Adds the number of elements along `axis` (negative from the end), or without it of all: a
    /// constant where no rows are counted.
    pub fn count(&mut self, a: Handle, axis: Option<i64>, at: At<'_>) -> Made {
        let mut id = self.found(a, at)?;
        let axes = self.axes(&self.of(id).shape, axis, at)?;
        let (mut fixed, mut most, mut rows) = (1u64, 1u64, false);
        for axis in axes {
            match self.of(id).shape.dim(axis as usize) {
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
            let id = self.number(ty, fixed.into(), at)?;
            return Ok(self.handle(id));
        }
        while let rank @ 2.. = self.of(id).shape.rank() {
            let first = Slice::first(id, rank as u32 - 1);
            id = self.push(Op::Slice(first), ty, at)?;
        }
        if self.known(id).0.is_float() {
            id = self.push(Op::Cast(id), BIT, at)?;
        }
        id = self.push(Op::Binary(Binary::Eq, id, id), Type::Bool, at)?;
        id = self.cast_to(id, ty, at)?;
        id = self.push(Op::Reduce(Reduction::Sum, id, 0), ty, at)?;
        let each = self.number(ty, fixed.into(), at)?;
        id = match fixed {
            1 => id,
            _ => self.push(Op::Binary(Binary::Mul, id, each), ty, at)?,
        };
        Ok(self.handle(id))
    }

    /// The type in which the sum of zeros and elements of `a` along `axis` (negative from the end)
    /// is exact: the smallest that holds it, or `f64` where none of 64 bits does, and of floating
    /// point.
    pub fn sum_type(&mut self, a: Handle, axis: Option<i64>, at: At<'_>) -> Result<Type> {
        let id = self.found(a, at)?;
        let axes = self.axes(&self.of(id).shape, axis, at)?;
        let (ty, range) = self.known(id);
        if ty.is_float() {
            return Ok(Type::F64);
        }
        let zeros = range.hull(Range::of(0));
        let total = infer::sum_range(zeros, self.counted(id, &axes));
        Ok(ty.smallest_like(total).unwrap_or(Type::F64))
    }

    /// Adds a constant that changes no smallest element (`Min`), or no largest one, of those beside
    /// it: an end of the range of `a`, or an infinity.
    pub fn neutral(&mut self, op: Reduction, a: Handle, at: At<'_>) -> Made {
        let id = self.found(a, at)?;
        let (ty, range) = self.known(id);
        let least = op == Reduction::Min;
        let stored = match ty {
            Type::Float(format) if least => float::from_f64(f64::INFINITY, format).stored,
            Type::Float(format) => float::from_f64(f64::NEG_INFINITY, format).stored,
            _ if least => range.hi,
            _ => range.lo,
        };
        let data = Data::from_numbers(ty, Vec::new(), &[stored]);
        let data = data.ok_or_else(|| infer::no_such_type(op.name(), ty).at(at))?;
        self.constant(data, at)
    }

    /// Fewest and most elements along axes together.
    fn counted(&self, id: ValueId, axes: &[u32]) -> (u64, u64) {
        let (scope, shape) = (self.scope(), &self.of(id).shape);
        let lengths = axes.iter().filter_map(|&axis| shape.dim(axis as usize));
        let lengths = lengths.map(|dim| scope.length(dim));
        lengths.fold((1u64, 1u64), |count, length| {
            (
                count.0.saturating_mul(length.0),
                count.1.saturating_mul(length.1),
            )
        })
    }

    /// The axes of a reduction, descending: one, or all.
    fn axes(&self, shape: &Shape, axis: Option<i64>, at: At<'_>) -> Result<Vec<u32>> {
        match axis {
            Some(axis) => {
                let axis = self.axis(shape, axis, shape.rank());
                Ok(vec![axis.at(at)?])
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
        at: At<'_>,
    ) -> Made {
        let from = self.known(id).0;
        let ty = dtype.unwrap_or(from);
        if !ty.is_float() {
            return Err(infer::no_common_type(op.name(), from, ty).at(at));
        }
        let mut id = if op == Reduction::Sum && from.is_float() {
            id
        } else {
            self.cast_to(id, ty, at)?
        };
        let from = self.known(id).0;
        if op == Reduction::Sum && (axes.len() > 1 || axes.len() == 1 && from != ty) {
            // One sum, so that it is rounded only once: of products by 1.
            let one = self.number(from, 1, at)?;
            let (a, b, axes) = (id, one, axes.into_iter().rev().collect());
            id = self.push(Op::SumProduct { a, b, axes }, ty, at)?;
        } else {
            for axis in axes {
                id = self.push(Op::Reduce(op, id, axis), from, at)?;
            }
            id = self.cast_to(id, ty, at)?;
        }
        Ok(self.handle(id))
    }
}

/// The type of a reduction of at most `count` elements: `dtype`, or that of the elements. Without
/// `dtype` a sum of `bool` counts in the smallest type that holds the count.
pub(super) fn reduced_type(op: Reduction, ty: Type, dtype: Option<Type>, count: u64) -> Type {
    let counted = Range::new(0, count.into());
    match (op, ty, dtype) {
        (_, _, Some(dtype)) => dtype,
        (Reduction::Sum, Type::Bool, None) => Type::smallest(counted).unwrap_or(ty),
        (_, ty, None) => ty,
    }
}
