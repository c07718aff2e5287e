//! Exact sums and means of floating point, and means of integers.

use super::{Operation, Sum, Writer};
use crate::scale::broadcast;
use sealane_numeric::Format;
use sealane_program::graph::{Binary, Op, Reduction, Value, ValueId};
use sealane_program::types::{Dim, Range, Shape, Type};

impl Writer<'_> {
    /// The exact sum of numbers, or of products of two, along axes, rounded once; they are named as
    /// rewritten and in the program. Each word of an addend is summed as an integer, so that no
    /// order of work changes the result.
    pub(super) fn sum(
        &mut self,
        value: &Value,
        addends: (&[ValueId], &[ValueId]),
        axes: &[u32],
        format: Format,
    ) -> ValueId {
        let (sum, words) = self.words(value, addends, axes, format);
        self.call(value, format, Operation::Total(sum, result(value)), words)
    }

    /// The exact mean of numbers along axes, rounded once; they are named as [`Writer::sum`] says.
    pub(super) fn mean(
        &mut self,
        value: &Value,
        (of, source): (ValueId, ValueId),
        axes: &[u32],
        format: Format,
    ) -> ValueId {
        let (sum, mut words) = self.words(value, (&[of], &[source]), axes, format);
        words.push(self.count(value, of, axes));
        self.call(value, format, Operation::Mean(sum, result(value)), words)
    }

    /// The exact mean of integers or fixed point with so many bits behind the point, rounded once.
    pub(super) fn mean_of_integers(
        &mut self,
        value: &Value,
        of: ValueId,
        axes: &[u32],
        fraction: u8,
    ) -> ValueId {
        let format = result(value);
        let total = self.added(value, of, axes);
        let count = self.count(value, of, axes);
        let operation = Operation::Quotient { fraction };
        self.call(value, format, operation, vec![total, count])
    }

    /// The number of elements along axes, the same for each of the others: a sum of ones.
    fn count(&mut self, value: &Value, of: ValueId, axes: &[u32]) -> ValueId {
        let like = self.made(of).clone();
        let [flag, number] = [Type::Bool, Type::unsigned(1)];
        let mut one = |ty, op| self.push(like.clone().with_type(ty, Range::of(1)), op);
        let ones = one(flag, Op::Binary(Binary::Eq, of, of));
        let ones = one(number, Op::Cast(ones));
        self.added(value, ones, axes)
    }

    /// The sum of integers along axes; `like` says who knows it.
    fn added(&mut self, like: &Value, integers: ValueId, axes: &[u32]) -> ValueId {
        let (mut sum, of) = (integers, self.made(integers).clone());
        let (mut range, mut shape) = (of.range, of.shape);
        for axis in axes.iter().rev() {
            let length = self.length(&shape, *axis);
            range = range.hull(Range {
                lo: range.lo.saturating_mul(length.into()),
                hi: range.hi.saturating_mul(length.into()),
            });
            shape = shape.without(*axis as usize);
            let value = like.clone().with_integers(range).with_shape(shape.clone());
            sum = self.push(value, Op::Reduce(Reduction::Sum, sum, *axis));
        }
        sum
    }

    /// The sums of the words of numbers, or of products of two, along axes.
    fn words(
        &mut self,
        value: &Value,
        (addends, sources): (&[ValueId], &[ValueId]),
        axes: &[u32],
        format: Format,
    ) -> (Sum, Vec<ValueId>) {
        let shapes = addends.iter().map(|id| &self.made(*id).shape);
        let shape = shapes.cloned().reduce(|a, b| broadcast(&a, &b));
        let shape = shape.unwrap_or_else(Shape::scalar);
        let lengths: Vec<_> = axes.iter().map(|axis| self.length(&shape, *axis)).collect();
        let most = lengths.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        let sum = Sum {
            products: addends.len() > 1,
            most: most.saturating_add(1),
            exponents: self.exponents(sources, format),
        };
        let arithmetic = self.arithmetic(format);
        let mut words = Vec::new();
        for (index, width) in sum.accumulator(arithmetic).limbs().into_iter().enumerate() {
            let range = Range::new(0, (1 << width) - 1);
            let of = value.clone().with_integers(range).with_shape(shape.clone());
            let operation = Operation::Word(index, sum);
            let word = self.call(&of, format, operation, addends.to_vec());
            words.push(self.added(value, word, axes));
        }
        (sum, words)
    }

    /// The smallest and the largest exponent of numbers, or of products, if that of one of them is
    /// declared.
    fn exponents(&self, sources: &[ValueId], format: Format) -> Option<[i32; 2]> {
        let all = [1 - format.bias(), format.max_exponent()];
        let sources = sources.iter().map(|id| self.old(*id));
        let known = sources.map(|source| source.ty.exponents(source.range));
        let known: Vec<_> = known.collect();
        known.iter().any(Option::is_some).then(|| {
            let each = known.iter().map(|ends| ends.unwrap_or(all));
            each.fold([0; 2], |sum, [lo, hi]| [sum[0] + lo, sum[1] + hi])
        })
    }

    /// The most elements along an axis.
    fn length(&self, shape: &Shape, axis: u32) -> u64 {
        match shape.dim(axis as usize) {
            Some(Dim::Rows(rows)) => self.rows[usize::from(rows.0)].bound,
            Some(Dim::Fixed(length)) => length,
            None => unreachable!("check has seen that the sum has this axis"),
        }
    }
}

/// The format of a sum or mean.
fn result(value: &Value) -> Format {
    match value.ty.format() {
        Some(format) => format,
        None => unreachable!("check has seen that it is of floating point"),
    }
}
