//! Pass `floats`: floating point as the unsigned integers of its bits.
//!
//! | on values | on bits |
//! |---|---|
//! | `-a`, `abs(a)` | the sign bit is flipped, or cleared |
//! | a choice, a stack, a slice, a lookup | the same |
//! | arithmetic, comparisons, functions, conversions | a call, of crate `numeric` or of `lower` |
//! | `min` and `max` along an axis, also running | integers in the same order, which a call makes |
//! | sums and inner products | sums of the words of an exact sum, and one call that rounds it |
//! | means | the same, or a sum of integers; a sum of ones; one call that divides and rounds |
//!
//! A call is named after its format and operation, such as `f32.add`, or `f32.flushed.add` where
//! the program reads and writes subnormal numbers as zeros. Its operands broadcast, and it works
//! element by element. After this pass no value is of floating point.

mod call;
mod sums;

pub(crate) use call::{Call, Operation, Sum};

use crate::rewrite::Rewriter;
use sealane_numeric::{Arithmetic, Format, Subnormals};
use sealane_program::call::of_floats;
use sealane_program::graph::{
    Binary, Graph, Op, Program, Reduction, RowSymbol, Unary, Value, ValueId,
};
use sealane_program::types::{Data, Range, Type};

/// Returns whether an operation of a program on floating point takes gates of its own.
pub(crate) fn is_call(graph: &Graph, value: &Value) -> bool {
    let float = |id: &ValueId| graph[id].ty.is_float();
    match &value.op {
        Op::Binary(..) => value.op.operands().iter().any(float),
        Op::Cast(of) => value.ty.is_float() || float(of),
        _ => false,
    }
}

/// Rewrites a program to the bits of its floating-point numbers.
pub(crate) fn floats(program: &Program) -> Program {
    let mut plain = program.clone();
    let renamed;
    (plain.main, renamed) = graph(&program.main, &program.rows, subnormals(program));
    for input in &mut plain.inputs {
        (input.ty, input.range) = (bits(input.ty), any(input.ty, input.range));
    }
    for result in &mut plain.results {
        result.value = renamed[result.value.0 as usize];
        result.ty = bits(result.ty);
    }
    plain
}

/// Treatment of subnormal numbers that a program asks for.
pub(crate) fn subnormals(program: &Program) -> Subnormals {
    if program.flush_subnormals {
        Subnormals::Flushed
    } else {
        Subnormals::Kept
    }
}

/// Integer type of the bits of a type.
fn bits(ty: Type) -> Type {
    match ty {
        Type::Float(format) => Type::unsigned(format.bits() as u8),
        ty => ty,
    }
}

/// The range of the bits of a value: magnitudes are not those of the bits.
fn any(ty: Type, range: Range) -> Range {
    if ty.is_float() { ty.range() } else { range }
}

/// Rewrites a graph; also returns the new number of each value.
pub(crate) fn graph(of: &Graph, rows: &[RowSymbol], how: Subnormals) -> (Graph, Vec<ValueId>) {
    Writer::graph((of, rows, how), Writer::value)
}

type Writer<'a> = Rewriter<'a, Subnormals>;

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> ValueId {
        let mut op = value.op.clone();
        op.renumber(|id| self.renamed[id.0 as usize]);
        let format = |id: ValueId| self.old(id).ty.format();
        let (rows, subnormals) = (self.rows, self.setting);
        match (&value.op, &mut op) {
            (Op::Unary(unary, a), op) => {
                if let Some(format) = format(*a) {
                    return self.sign(value, *unary, op.operands()[0], format);
                }
            }
            (Op::Binary(binary, a, _), op) => {
                if let Some(format) = format(*a) {
                    return self.binary(value, *binary, op.operands(), format);
                }
            }
            (Op::Cast(a), op) => {
                let (from, to) = (self.old(*a).ty, value.ty);
                if let Some((format, operation)) = conversion(from, to) {
                    return self.call(value, format, operation, op.operands());
                }
            }
            (Op::Reduce(reduction, a, axis), op) => {
                if let Some(format) = format(*a) {
                    let of = op.operands()[0];
                    return match reduction {
                        Reduction::Sum => self.sum(value, (&[of], &[*a]), &[*axis], format),
                        _ => self.extreme(value, *reduction, of, format, |ordered| {
                            Op::Reduce(*reduction, ordered, *axis)
                        }),
                    };
                }
            }
            (Op::Accumulate(reduction, a, axis), op) => {
                if let Some(format) = format(*a) {
                    let of = op.operands()[0];
                    return self.extreme(value, *reduction, of, format, |ordered| {
                        Op::Accumulate(*reduction, ordered, *axis)
                    });
                }
            }
            (Op::Mean { of: a, axes }, op) => {
                let (of, from) = (op.operands()[0], self.old(*a).ty);
                return match from {
                    Type::Float(format) => self.mean(value, (of, *a), axes, format),
                    from => self.mean_of_integers(value, of, axes, from.fraction()),
                };
            }
            (Op::Dot(x, y), op) => {
                if let (Some(format), &[a, b]) = (format(*x), &op.operands()[..]) {
                    let (a, axis) = self.as_columns(a, b);
                    return self.sum(value, (&[a, b], &[*x, *y]), &[axis], format);
                }
            }
            (Op::SumProduct { a, b, axes }, op) => {
                if let (Some(format), &[x, y]) = (format(*a), &op.operands()[..]) {
                    // A sum of numbers along several axes is written as one of products by 1.
                    let one = [format.one() as i128];
                    let one = Data::from_numbers(Type::Float(format), Vec::new(), &one);
                    let alone = match &self.old(*b).op {
                        Op::Const(data) => Some(data) == one.as_ref(),
                        _ => false,
                    };
                    let factors = if alone { 1 } else { 2 };
                    let addends = (&[x, y][..factors], &[*a, *b][..factors]);
                    return self.sum(value, addends, axes, format);
                }
            }
            (Op::Call(name, operands), op) => {
                if let (Some(_), Some(format)) =
                    (of_floats(name), operands.iter().find_map(|id| format(*id)))
                {
                    let operation = Operation::Function(name.clone());
                    return self.call(value, format, operation, op.operands());
                }
            }
            (_, Op::Const(data)) => data.ty = bits(data.ty),
            (_, op) => {
                if let Some(body) = op.body_mut() {
                    *body = graph(body, rows, subnormals).0;
                }
            }
        }
        self.push(value.clone(), op)
    }

    /// Flips or clears the sign.
    fn sign(&mut self, value: &Value, unary: Unary, a: ValueId, format: Format) -> ValueId {
        let sign = 1 << (format.bits() - 1);
        let (binary, mask) = match unary {
            Unary::Neg => (Binary::Xor, sign),
            _ => (Binary::And, sign - 1),
        };
        let mask = self.number(bits(value.ty), mask);
        self.push(value.clone(), Op::Binary(binary, a, mask))
    }

    fn binary(
        &mut self,
        value: &Value,
        binary: Binary,
        operands: Vec<ValueId>,
        format: Format,
    ) -> ValueId {
        let name = match binary {
            Binary::Min | Binary::Max => {
                let least = binary == Binary::Min;
                let ordered = operands.iter().map(|id| self.ordered(*id, least, format));
                let ordered: Vec<_> = ordered.collect();
                let one = self.made(ordered[0]);
                let joint = value.clone().with_type(one.ty, one.range);
                let chosen = self.push(joint, Op::Binary(binary, ordered[0], ordered[1]));
                return self.call(value, format, Operation::Ordered, vec![chosen]);
            }
            Binary::FloorDiv => "floordiv",
            binary => binary.name(),
        };
        self.call(value, format, Operation::Function(name.into()), operands)
    }

    /// The least or largest number, of all along an axis or of those up to each one.
    fn extreme(
        &mut self,
        value: &Value,
        reduction: Reduction,
        of: ValueId,
        format: Format,
        chosen: impl FnOnce(ValueId) -> Op,
    ) -> ValueId {
        let ordered = self.ordered(of, reduction == Reduction::Min, format);
        let chosen = self.push(as_bits(value.clone()), chosen(ordered));
        self.call(value, format, Operation::Ordered, vec![chosen])
    }

    /// `a` repeated along the columns of `b`, if it has any, and the axis along which products are
    /// summed.
    fn as_columns(&mut self, a: ValueId, b: ValueId) -> (ValueId, u32) {
        let mut wide = self.made(a).clone();
        let axis = wide.shape.rank() as u32 - 1;
        if self.made(b).shape.fixed.len() < 2 {
            return (a, axis);
        }
        wide.shape.fixed.push(1);
        (self.push(wide, Op::Stack(vec![a], axis + 1)), axis)
    }

    /// Integers in the order of numbers. NaN is at the end that a least or largest number finds, so
    /// that it is found where there is one.
    fn ordered(&mut self, id: ValueId, least: bool, format: Format) -> ValueId {
        let like = self.made(id).clone();
        let operation = if least {
            Operation::LeastNan
        } else {
            Operation::MostNan
        };
        self.call(&like, format, operation, vec![id])
    }

    fn call(
        &mut self,
        value: &Value,
        format: Format,
        operation: Operation,
        operands: Vec<ValueId>,
    ) -> ValueId {
        let call = Call {
            arithmetic: self.arithmetic(format),
            operation,
        };
        self.push(value.clone(), Op::Call(call.to_string(), operands))
    }

    fn arithmetic(&self, format: Format) -> Arithmetic {
        let subnormals = self.setting;
        Arithmetic { format, subnormals }
    }

    fn push(&mut self, value: Value, op: Op) -> ValueId {
        self.add(as_bits(value).with_op(op))
    }
}

/// A value whose numbers of floating point are integers: their bits.
fn as_bits(value: Value) -> Value {
    let (ty, range) = (bits(value.ty), any(value.ty, value.range));
    value.with_type(ty, range)
}

/// The call that converts between two types, if one of them is of floating point and they differ.
fn conversion(from: Type, to: Type) -> Option<(Format, Operation)> {
    match (from, to) {
        (Type::Float(a), Type::Float(b)) => (a != b).then_some((a, Operation::Convert(b))),
        (Type::Float(format), to) => {
            let (fraction, fixed) = (to.fraction(), to.is_fixed());
            Some((format, Operation::To { fraction, fixed }))
        }
        (from, Type::Float(format)) => {
            let fraction = from.fraction();
            Some((format, Operation::From { fraction }))
        }
        _ => None,
    }
}
