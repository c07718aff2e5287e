//! Pass `floats`: floating point as the unsigned integers of its bits.
//!
//! | on values | on bits |
//! |---|---|
//! | `-a`, `abs(a)` | the sign bit is flipped, or cleared |
//! | a choice, a stack, a slice, a lookup | the same |
//! | arithmetic, comparisons, functions, conversions | a call, of room `numeric` or of `lower` |
//! | `min` and `max` along an axis | those of integers in the same order, which a call makes |
//! | sums and inner products | sums of the words of an exact sum, and one call that rounds it |
//! | means | the same, or a sum of integers; a sum of ones; one call that divides and rounds |
//!
//! A call is named after its format and operation, such as `f32.add`, or `f32.flushed.add` where
//! the program reads and writes subnormal numbers as zeros. Its operands broadcast, and it works
//! element by element. After this pass no value is of floating point.

use crate::scale::broadcast;
use sealane_numeric::{Accumulator, Arithmetic, Format, Subnormals};
use sealane_program::call;
use sealane_program::graph::{
    Binary, Graph, Op, Program, Reduction, RowSymbol, Unary, Value, ValueId, Visibility,
};
use sealane_program::types::{Data, Dim, Range, Shape, Type};
use std::fmt;

/// An operation on the elements of floating point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The format of its operands, or of its result where they have none.
    pub arithmetic: Arithmetic,
    /// The operation.
    pub operation: Operation,
}

/// Operation of a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A function of room `numeric`, by its name, and the number of its result.
    Function(String),
    /// From an integer, the value times `2^fraction`.
    From {
        /// Bits behind the point of the integer.
        fraction: u8,
    },
    /// To an integer, the value times `2^fraction`, rounded towards zero, or down if it has a
    /// fraction; stops at the ends of the type.
    To {
        /// Bits behind the point of the integer.
        fraction: u8,
        /// True for fixed point, which is rounded down.
        fixed: bool,
    },
    /// To another format.
    Convert(Format),
    /// To an integer in the order of numbers, in which NaN is the least one.
    LeastNan,
    /// The same with NaN as the largest one.
    MostNan,
    /// Back from such an integer.
    Ordered,
    /// A word of an addend of an exact sum, by its number.
    Word(usize, Sum),
    /// The number nearest to an exact sum, from the sums of all words.
    Total(Sum),
    /// The number nearest to the exact sum divided by a count, from the sums of all words and the
    /// count.
    Mean(Sum),
    /// The number nearest to the quotient of an integer, times `2^-fraction`, and a count.
    Quotient {
        /// Bits behind the point of the integer.
        fraction: u8,
    },
}

/// An exact sum, of numbers or of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sum {
    /// True if the addends are products of two numbers.
    pub products: bool,
    /// More addends than there are, so that a sum of zeros is never negative.
    pub most: u64,
}

impl Sum {
    /// The circuits of the sum.
    pub fn accumulator(self, arithmetic: Arithmetic) -> Accumulator {
        match self.products {
            true => Accumulator::dot(arithmetic, self.most),
            false => Accumulator::sum(arithmetic, self.most),
        }
    }
}

impl Call {
    /// Reads the name of a call; none if it is that of a function of bytes.
    pub fn named(name: &str) -> Option<Call> {
        let (format, rest) = name.split_once('.')?;
        let format = of_name(format)?;
        let (subnormals, rest) = match rest.strip_prefix("flushed.") {
            Some(rest) => (Subnormals::Flushed, rest),
            None => (Subnormals::Kept, rest),
        };
        let fraction = |text: &str| text.parse::<u8>().ok();
        let sum = |name: &str, most: &str| {
            let products = match name {
                "sum" => false,
                "dot" => true,
                _ => return None,
            };
            let most = most.parse().ok()?;
            Some(Sum { products, most })
        };
        let parts = rest.split('.').collect::<Vec<_>>();
        let operation = match parts[..] {
            ["word", index, name, most] => {
                Some(Operation::Word(index.parse().ok()?, sum(name, most)?))
            }
            ["mean", name, most] => Some(Operation::Mean(sum(name, most)?)),
            _ => None,
        };
        if let Some(operation) = operation {
            let arithmetic = Arithmetic { format, subnormals };
            return Some(Call {
                arithmetic,
                operation,
            });
        }
        let operation = match rest.split_once('.') {
            Some(("quotient", digits)) => Operation::Quotient {
                fraction: fraction(digits)?,
            },
            Some(("from", digits)) => Operation::From {
                fraction: fraction(digits)?,
            },
            Some((to @ ("to" | "floor"), digits)) => Operation::To {
                fraction: fraction(digits)?,
                fixed: to == "floor",
            },
            Some(("as", format)) => Operation::Convert(of_name(format)?),
            Some(("order", "least")) => Operation::LeastNan,
            Some(("order", "most")) => Operation::MostNan,
            Some(("order", "back")) => Operation::Ordered,
            Some((name @ ("sum" | "dot"), most)) => Operation::Total(sum(name, most)?),
            _ => Operation::Function(rest.to_string()),
        };
        Some(Call {
            arithmetic: Arithmetic { format, subnormals },
            operation,
        })
    }
}

fn of_name(name: &str) -> Option<Format> {
    let mut formats = Format::ALL.into_iter();
    formats.find(|format| format.name() == name)
}

/// Its name.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arithmetic.format.name())?;
        if self.arithmetic.subnormals == Subnormals::Flushed {
            f.write_str(".flushed")?;
        }
        match &self.operation {
            Operation::Function(name) => write!(f, ".{name}"),
            Operation::From { fraction } => write!(f, ".from.{fraction}"),
            Operation::To { fraction, fixed } => {
                write!(f, ".{}.{fraction}", if *fixed { "floor" } else { "to" })
            }
            Operation::Convert(format) => write!(f, ".as.{}", format.name()),
            Operation::LeastNan => f.write_str(".order.least"),
            Operation::MostNan => f.write_str(".order.most"),
            Operation::Ordered => f.write_str(".order.back"),
            Operation::Word(index, sum) => write!(f, ".word.{index}.{sum}"),
            Operation::Total(sum) => write!(f, ".{sum}"),
            Operation::Mean(sum) => write!(f, ".mean.{sum}"),
            Operation::Quotient { fraction } => write!(f, ".quotient.{fraction}"),
        }
    }
}

/// `sum.100` or `dot.100`.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.products { "dot" } else { "sum" };
        write!(f, "{name}.{}", self.most)
    }
}

/// Returns whether an operation of a program on floating point takes gates of its own.
pub(crate) fn is_call(graph: &Graph, value: &Value) -> bool {
    let float = |id: &ValueId| graph.values[id.0 as usize].ty.is_float();
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
        input.ty = bits(input.ty);
    }
    for result in &mut plain.results {
        result.value = renamed[result.value.0 as usize];
        result.ty = bits(result.ty);
    }
    plain
}

/// Treatment of subnormal numbers that a program asks for.
pub(crate) fn subnormals(program: &Program) -> Subnormals {
    match program.flush_subnormals {
        true => Subnormals::Flushed,
        false => Subnormals::Kept,
    }
}

/// Integer type of the bits of a type.
fn bits(ty: Type) -> Type {
    match ty {
        Type::Float(format) => Type::unsigned(format.bits() as u8),
        ty => ty,
    }
}

/// Rewrites a graph; also returns the new number of each value.
pub(crate) fn graph(
    of: &Graph,
    rows: &[RowSymbol],
    subnormals: Subnormals,
) -> (Graph, Vec<ValueId>) {
    let mut writer = Writer {
        of,
        rows,
        subnormals,
        values: Vec::with_capacity(of.values.len()),
        renamed: Vec::with_capacity(of.values.len()),
    };
    for value in &of.values {
        let id = writer.value(value);
        writer.renamed.push(id);
    }
    let returns = of.returns.iter().map(|id| writer.renamed[id.0 as usize]);
    let plain = Graph {
        params: of.params,
        returns: returns.collect(),
        values: writer.values,
    };
    (plain, writer.renamed)
}

struct Writer<'a> {
    of: &'a Graph,
    rows: &'a [RowSymbol],
    subnormals: Subnormals,
    values: Vec<Value>,
    renamed: Vec<ValueId>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> ValueId {
        let mut op = value.op.clone();
        op.renumber(|id| self.renamed[id.0 as usize]);
        let format = |id: ValueId| self.of.values[id.0 as usize].ty.format();
        let (rows, subnormals) = (self.rows, self.subnormals);
        match (&value.op, &mut op) {
            (Op::Unary(unary, a), op) if format(*a).is_some() => {
                let Some(format) = format(*a) else {
                    unreachable!("it has just been found")
                };
                return self.sign(value, *unary, op.operands()[0], format);
            }
            (Op::Binary(binary, a, _), op) => {
                if let Some(format) = format(*a) {
                    return self.binary(value, *binary, op.operands(), format);
                }
            }
            (Op::Cast(a), op) => {
                let (from, to) = (self.of.values[a.0 as usize].ty, value.ty);
                if let Some((format, operation)) = conversion(from, to) {
                    return self.call(value, format, operation, op.operands());
                }
            }
            (Op::Reduce(reduction, a, axis), op) => {
                if let Some(format) = format(*a) {
                    let of = op.operands()[0];
                    return match reduction {
                        Reduction::Sum => self.sum(value, &[of], &[*axis], format),
                        _ => self.extreme(value, *reduction, (of, *axis), format),
                    };
                }
            }
            (Op::Mean { of: a, axes }, op) => {
                let (of, from) = (op.operands()[0], self.of.values[a.0 as usize].ty);
                return match from {
                    Type::Float(format) => self.mean(value, of, axes, format),
                    from => self.mean_of_integers(value, of, axes, from.fraction()),
                };
            }
            (Op::Dot(a, _), op) => {
                if let (Some(format), &[a, b]) = (format(*a), &op.operands()[..]) {
                    let (a, axis) = self.beside_columns(a, b);
                    return self.sum(value, &[a, b], &[axis], format);
                }
            }
            (Op::SumProduct { a, b, axes }, op) => {
                if let (Some(format), &[x, y]) = (format(*a), &op.operands()[..]) {
                    // A sum of numbers along several axes is written as one of products by 1.
                    let one = Data::from_numbers(
                        Type::Float(format),
                        Vec::new(),
                        &[format.one() as i128],
                    );
                    let alone = match &self.of.values[b.0 as usize].op {
                        Op::Const(data) => Some(data) == one.as_ref(),
                        _ => false,
                    };
                    let of = if alone { vec![x] } else { vec![x, y] };
                    return self.sum(value, &of, axes, format);
                }
            }
            (Op::Call(name, operands), op) => {
                if let (Some(_), Some(format)) = (
                    call::of_floats(name),
                    operands.iter().find_map(|id| format(*id)),
                ) {
                    let operation = Operation::Function(name.clone());
                    return self.call(value, format, operation, op.operands());
                }
            }
            (_, Op::Const(data)) => data.ty = bits(data.ty),
            (_, Op::Map { body, .. } | Op::Scan { body, .. }) => {
                **body = graph(body, rows, subnormals).0;
            }
            _ => {}
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
                let ordered = operands
                    .iter()
                    .map(|id| self.ordered(*id, binary == Binary::Min, format))
                    .collect::<Vec<_>>();
                let one = self.values[ordered[0].0 as usize].clone();
                let joint = Value {
                    ty: one.ty,
                    range: one.range,
                    ..value.clone()
                };
                let chosen = self.push(joint, Op::Binary(binary, ordered[0], ordered[1]));
                return self.call(value, format, Operation::Ordered, vec![chosen]);
            }
            Binary::FloorDiv => "floordiv",
            binary => binary.name(),
        };
        self.call(value, format, Operation::Function(name.into()), operands)
    }

    /// The least or largest number along an axis.
    fn extreme(
        &mut self,
        value: &Value,
        reduction: Reduction,
        (of, axis): (ValueId, u32),
        format: Format,
    ) -> ValueId {
        let ordered = self.ordered(of, reduction == Reduction::Min, format);
        let like = Value {
            ty: bits(value.ty),
            ..value.clone()
        };
        let chosen = self.push(like, Op::Reduce(reduction, ordered, axis));
        self.call(value, format, Operation::Ordered, vec![chosen])
    }

    /// `a` repeated along the columns of `b`, if it has any, and the axis along which products are
    /// summed.
    fn beside_columns(&mut self, a: ValueId, b: ValueId) -> (ValueId, u32) {
        let mut wide = self.values[a.0 as usize].clone();
        let axis = wide.shape.rank() as u32 - 1;
        if self.values[b.0 as usize].shape.fixed.len() < 2 {
            return (a, axis);
        }
        wide.shape.fixed.push(1);
        (self.push(wide, Op::Stack(vec![a], axis + 1)), axis)
    }

    /// The exact sum of numbers, or of products of two, along axes, rounded once. Each word of an
    /// addend is summed as an integer, so that no order of work changes the result.
    fn sum(&mut self, value: &Value, addends: &[ValueId], axes: &[u32], format: Format) -> ValueId {
        let (sum, words) = self.words(value, addends, axes, format);
        self.call(value, format, Operation::Total(sum), words)
    }

    /// The exact mean of numbers along axes, rounded once.
    fn mean(&mut self, value: &Value, of: ValueId, axes: &[u32], format: Format) -> ValueId {
        let (sum, mut words) = self.words(value, &[of], axes, format);
        words.push(self.count(value, of, axes));
        self.call(value, format, Operation::Mean(sum), words)
    }

    /// The exact mean of integers or fixed point with so many bits behind the point, rounded once.
    fn mean_of_integers(
        &mut self,
        value: &Value,
        of: ValueId,
        axes: &[u32],
        fraction: u8,
    ) -> ValueId {
        let Some(format) = value.ty.format() else {
            unreachable!("check has seen that a mean is of floating point")
        };
        let total = self.added(value, of, axes);
        let count = self.count(value, of, axes);
        let operation = Operation::Quotient { fraction };
        self.call(value, format, operation, vec![total, count])
    }

    /// The number of elements along axes, the same for each of the others: a sum of ones.
    fn count(&mut self, value: &Value, of: ValueId, axes: &[u32]) -> ValueId {
        let ones = Value {
            ty: Type::Bool,
            range: Range::of(1),
            ..self.values[of.0 as usize].clone()
        };
        let ones = self.push(ones, Op::Binary(Binary::Eq, of, of));
        let ones = self.push(
            Value {
                ty: Type::unsigned(1),
                ..self.values[ones.0 as usize].clone()
            },
            Op::Cast(ones),
        );
        self.added(value, ones, axes)
    }

    /// The sum of integers along axes; `like` says who knows it.
    fn added(&mut self, like: &Value, integers: ValueId, axes: &[u32]) -> ValueId {
        let (mut sum, of) = (integers, self.values[integers.0 as usize].clone());
        let (mut range, mut shape) = (of.range, of.shape);
        for axis in axes.iter().rev() {
            let length = self.length(&shape, *axis);
            range = range.hull(Range {
                lo: range.lo.saturating_mul(length.into()),
                hi: range.hi.saturating_mul(length.into()),
            });
            shape = shape.without(*axis as usize);
            let value = Value {
                ty: Type::smallest(range).unwrap_or(Type::I64),
                range,
                shape: shape.clone(),
                ..like.clone()
            };
            sum = self.push(value, Op::Reduce(Reduction::Sum, sum, *axis));
        }
        sum
    }

    /// The sums of the words of numbers, or of products of two, along axes.
    fn words(
        &mut self,
        value: &Value,
        addends: &[ValueId],
        axes: &[u32],
        format: Format,
    ) -> (Sum, Vec<ValueId>) {
        let shapes = addends.iter().map(|id| &self.values[id.0 as usize].shape);
        let shape = shapes.cloned().reduce(|a, b| broadcast(&a, &b));
        let shape = shape.unwrap_or_else(Shape::scalar);
        let lengths = axes.iter().map(|axis| self.length(&shape, *axis));
        let lengths = lengths.collect::<Vec<_>>();
        let most = lengths.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        let sum = Sum {
            products: addends.len() > 1,
            most: most.saturating_add(1),
        };
        let arithmetic = Arithmetic {
            format,
            subnormals: self.subnormals,
        };
        let mut words = Vec::new();
        for (index, width) in sum.accumulator(arithmetic).limbs().into_iter().enumerate() {
            let mut of = exactly(value, (1 << width) - 1);
            of.shape = shape.clone();
            let operation = Operation::Word(index, sum);
            let word = self.call(&of, format, operation, addends.to_vec());
            words.push(self.added(value, word, axes));
        }
        (sum, words)
    }

    /// The most elements along an axis.
    fn length(&self, shape: &Shape, axis: u32) -> u64 {
        match shape.dim(axis as usize) {
            Some(Dim::Rows(rows)) => self.rows[usize::from(rows.0)].bound,
            Some(Dim::Fixed(length)) => length,
            None => unreachable!("check has seen that the sum has this axis"),
        }
    }

    /// Integers in the order of numbers. NaN is at the end that a least or largest number finds, so
    /// that it is found where there is one.
    fn ordered(&mut self, id: ValueId, least: bool, format: Format) -> ValueId {
        let like = self.values[id.0 as usize].clone();
        let operation = match least {
            true => Operation::LeastNan,
            false => Operation::MostNan,
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
        let arithmetic = Arithmetic {
            format,
            subnormals: self.subnormals,
        };
        let call = Call {
            arithmetic,
            operation,
        };
        self.push(value.clone(), Op::Call(call.to_string(), operands))
    }

    /// Makes a constant of one number.
    fn number(&mut self, ty: Type, number: u64) -> ValueId {
        let op = Op::Const(Data {
            ty,
            shape: Vec::new(),
            elements: vec![number],
        });
        self.values.push(Value {
            op,
            ty,
            shape: Shape::scalar(),
            range: Range::of(number.into()),
            visibility: Visibility::Public,
            span: None,
        });
        ValueId(self.values.len() as u32 - 1)
    }

    fn push(&mut self, value: Value, op: Op) -> ValueId {
        self.values.push(Value {
            op,
            ty: bits(value.ty),
            ..value
        });
        ValueId(self.values.len() as u32 - 1)
    }
}

/// A value like another whose elements are integers from 0 to `largest`, of any width.
fn exactly(like: &Value, largest: i128) -> Value {
    let range = Range { lo: 0, hi: largest };
    Value {
        ty: Type::smallest(range).unwrap_or(Type::I64),
        range,
        ..like.clone()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_as_they_are_named() {
        let sum = Sum {
            products: true,
            most: 101,
        };
        let operations = [
            Operation::Function("add".into()),
            Operation::Function("frexp_1".into()),
            Operation::From { fraction: 0 },
            Operation::To {
                fraction: 16,
                fixed: true,
            },
            Operation::To {
                fraction: 0,
                fixed: false,
            },
            Operation::Convert(Format::BF16),
            Operation::LeastNan,
            Operation::MostNan,
            Operation::Ordered,
            Operation::Word(3, sum),
            Operation::Total(sum),
            Operation::Mean(sum),
            Operation::Quotient { fraction: 4 },
        ];
        for operation in operations {
            for format in Format::ALL {
                for arithmetic in [Arithmetic::new(format), Arithmetic::new(format).flushed()] {
                    let call = Call {
                        arithmetic,
                        operation: operation.clone(),
                    };
                    assert_eq!(Call::named(&call.to_string()), Some(call));
                }
            }
        }
        assert_eq!(Call::named("aes128"), None);
    }
}
