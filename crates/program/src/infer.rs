//! Inference: properties of an operation's result, or the reason for its refusal.
//!
//! The tracer's [`Builder`](crate::builder::Builder) and [`check`](fn@crate::check::check) share
//! one set of rules, so a program read from a file is held to the same rules as a traced one. The
//! norm in words, with a test for each line, is `NUMERICS.md`.

mod arrange;
mod body;
mod element;
mod fixed;
mod float;
mod lanes;
mod lookup;
mod order;
pub(crate) mod range;
mod refuse;
pub(crate) mod shape;

use crate::call;
use crate::decimal;
use crate::graph::{Input, Op, RowSymbol, Value, ValueId, Visibility};
use crate::types::{Data, Dim, Range, RowId, Shape, Type};
use sealane_diagnostic::{Result, Span};

pub(crate) use arrange::sum_of_rows;
pub(crate) use body::{graph, params};
pub(crate) use fixed::SumProduct;
pub(crate) use float::unfit;
pub(crate) use lanes::{dot_range, sum, sum_range, summed};
pub(crate) use refuse::{invalid, no_common_type, no_such_type, overflow, wider};

/// Values that are compared, to find out that two operands are the same.
const MOST_COMPARED: u32 = 64;

/// Properties of a value that are known before it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Element type.
    pub ty: Type,
    /// Shape.
    pub shape: Shape,
    /// Range of each element.
    pub range: Range,
    /// Parties that can know it without computing on secrets.
    pub visibility: Visibility,
}

impl Meta {
    /// Properties of a value.
    pub fn new(ty: Type, shape: Shape, range: Range, visibility: Visibility) -> Meta {
        Meta {
            ty,
            shape,
            range,
            visibility,
        }
    }

    /// These properties with another visibility.
    pub(crate) fn with_visibility(mut self, visibility: Visibility) -> Meta {
        self.visibility = visibility;
        self
    }

    /// These properties of elements in another range.
    pub(crate) fn with_range(mut self, range: Range) -> Meta {
        self.range = range;
        self
    }

    /// These properties of elements of another type and range.
    pub(crate) fn with_type(mut self, ty: Type, range: Range) -> Meta {
        self.ty = ty;
        self.with_range(range)
    }

    /// These properties of a value of another shape.
    pub(crate) fn with_shape(mut self, shape: Shape) -> Meta {
        self.shape = shape;
        self
    }
}

impl Value {
    /// The value of an operation at a place.
    pub fn new(op: Op, meta: Meta, span: Option<Span>) -> Value {
        let Meta { ty, shape, .. } = meta;
        Value {
            op,
            ty,
            shape,
            range: meta.range,
            visibility: meta.visibility,
            span,
        }
    }

    /// This value, by another operation.
    pub fn with_op(mut self, op: Op) -> Value {
        self.op = op;
        self
    }

    /// This value with elements in another range.
    pub fn with_range(mut self, range: Range) -> Value {
        self.range = range;
        self
    }

    /// This value with elements of another type and range.
    pub fn with_type(mut self, ty: Type, range: Range) -> Value {
        self.ty = ty;
        self.with_range(range)
    }

    /// This value with integers in a range, of the smallest type that holds them: `i64` where the
    /// range is wider than that of every type.
    pub fn with_integers(self, range: Range) -> Value {
        self.with_type(Type::smallest(range).unwrap_or(Type::I64), range)
    }

    /// This value in another shape.
    pub fn with_shape(mut self, shape: Shape) -> Value {
        self.shape = shape;
        self
    }

    /// Properties of the value.
    pub fn meta(&self) -> Meta {
        Meta::new(self.ty, self.shape.clone(), self.range, self.visibility)
    }

    /// Visibility of what is computed from this value and another.
    pub(crate) fn joint(&self, other: &Value) -> Visibility {
        self.visibility.join(other.visibility)
    }
}

/// Names of the sharings that a program may ask for: sums modulo a power of two, exclusive ors of
/// bits, and labels of garbled circuits.
pub const SHARINGS: [&str; 3] = ["additive", "xor", "yao"];

/// Context of an operation: the program's header and the values before it in its graph.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The program's symbolic row counts.
    pub rows: &'a [RowSymbol],
    /// Inputs of the program in the main graph, none in a body; errors use their names.
    pub inputs: &'a [Input],
    /// The values so far.
    pub values: &'a [Value],
    /// Names of operands in the source, if they have been looked up for an error.
    pub called: &'a [(ValueId, String)],
}

/// Infers the result of `op`. `declared` is the target of a `Cast`, and of products, quotients,
/// sums of products and functions of fixed point; other operations ignore it. A parameter has no
/// rule of its own: the owner of the graph determines its properties.
pub fn infer(scope: &Scope, op: &Op, declared: Type) -> Result<Meta> {
    let meta = match op {
        Op::Param(_) => Err(invalid("a parameter stands among the operations")),
        Op::Const(data) => constant(data),
        Op::Unary(op, a) => element::unary(scope, *op, *a),
        Op::Binary(op, a, b) => element::binary(scope, *op, [*a, *b], declared),
        Op::Select(condition, yes, no) => element::select(scope, *condition, *yes, *no),
        Op::Cast(a) => element::cast(scope, *a, declared),
        Op::Share { of, sharing } => element::share(scope, *of, sharing),
        Op::Reduce(op, a, axis) => lanes::reduce(scope, *op, *a, *axis),
        Op::Dot(a, b) => lanes::dot(scope, *a, *b, declared),
        Op::SumProduct { a, b, axes } if scope.value(*a)?.ty.is_float() => {
            float::sum_product(scope, [*a, *b], axes, declared)
        }
        Op::SumProduct { a, b, axes } => {
            let (x, y) = (scope.name(*a, "a"), scope.name(*b, "b"));
            let sum = fixed::SumProduct {
                factors: [*a, *b],
                axes,
                ty: declared,
            };
            sum.infer(scope, &format!("({x} * {y}).sum()"), |wide| {
                format!("({x} * {y}).sum(dtype={wide})")
            })
        }
        Op::Mean { of, axes } => float::mean(scope, *of, axes, declared),
        Op::Slice(slice) => {
            let of = scope.value(slice.of)?;
            let shape = shape::slice(scope, &of.shape, slice)?;
            Ok(Meta { shape, ..of.meta() })
        }
        Op::View { of, start, dims } => arrange::view(scope, *of, *start, dims),
        Op::Concat(values, axis) => arrange::concat(scope, values, *axis),
        Op::Append(values) => arrange::append(scope, values),
        Op::Accumulate(op, of, axis) => arrange::accumulate(scope, *op, *of, *axis),
        Op::Lookup { table, index } => lookup::lookup(scope, *table, *index),
        Op::Stack(values, axis) => lanes::stack(scope, values, *axis),
        Op::Map(of) | Op::Scan(of) | Op::Sort(of, _) | Op::Prefix(of) => body::whole(scope, op, of),
        Op::RowNumber(rows) => order::row_number(scope, *rows),
        Op::Random { bits, count } => lanes::random(*bits, *count),
        Op::Roll { of, by } => order::roll(scope, *of, *by),
        Op::Head { of, len } => order::head(scope, *of, *len),
        Op::Running(reduction, of, starts) => order::running(scope, *reduction, *of, *starts),
        Op::Compact { keep, over } => order::compact(scope, *keep, over),
        Op::Part(of, index) => body::part(scope, *of, *index),
        Op::Call(name, operands) => call::infer(scope, name, operands, declared),
    }?;
    shape::bounded(scope, &meta.shape)?;
    Ok(meta)
}

impl<'a> Scope<'a> {
    /// The scope of a program's header, behind some values of its graph.
    pub fn of(rows: &'a [RowSymbol], inputs: &'a [Input], values: &'a [Value]) -> Scope<'a> {
        Scope {
            rows,
            inputs,
            values,
            called: &[],
        }
    }

    /// The operand `id`, which precedes the operation and is not a whole `map` or `scan`.
    pub fn value(&self, id: ValueId) -> Result<&'a Value> {
        match self.values.get(id.0 as usize) {
            Some(value) if !value.op.has_parts() => Ok(value),
            Some(_) => Err(invalid(
                "an operation with parts is used without naming the part",
            )),
            None => Err(invalid(
                "an operation refers to a value that does not precede it",
            )),
        }
    }

    /// The shape as the text form writes it, `[]` for a scalar.
    pub fn shape(&self, shape: &Shape) -> String {
        let rows = shape.rows.map(|id| match self.rows.get(usize::from(id.0)) {
            Some(rows) => rows.name.clone(),
            None => "?".into(),
        });
        let dims: Vec<String> = rows
            .into_iter()
            .chain(shape.fixed.iter().map(u64::to_string))
            .collect();
        format!("[{}]", dims.join(", "))
    }

    /// Name of the value in a message: its name in the source, the input or number behind it, or
    /// else `fallback`.
    pub fn name(&self, id: ValueId, fallback: &str) -> String {
        if let Some((_, name)) = self.called.iter().find(|(of, _)| self.same(*of, id)) {
            return name.clone();
        }
        match self.uncast(id).map(|value| (&value.op, value)) {
            Some((Op::Param(index), _)) if (*index as usize) < self.inputs.len() => {
                self.inputs[*index as usize].name.clone()
            }
            Some((Op::Const(data), value)) if value.shape.rank() == 0 => {
                let number = data.numbers().next().unwrap_or(value.range.lo);
                decimal::value_text(number, value.ty)
            }
            _ => fallback.into(),
        }
    }

    /// Returns whether two operands are the same value, apart from casts.
    fn same(&self, a: ValueId, b: ValueId) -> bool {
        let uncast = |id| self.uncast(id).map(std::ptr::from_ref);
        a == b || uncast(a).is_some() && uncast(a) == uncast(b)
    }

    /// True if two operands are the same numbers in every run, as far as a look at a few operations
    /// tells: they are one value, or made in one way from such, apart from casts that keep numbers.
    pub(crate) fn alike(&self, a: ValueId, b: ValueId) -> bool {
        self.made_alike(a, b, &mut MOST_COMPARED.clone())
    }

    fn made_alike(&self, a: ValueId, b: ValueId, left: &mut u32) -> bool {
        let (a, b) = (self.kept(a), self.kept(b));
        if a == b {
            return true;
        }
        let at = |id: ValueId| self.values.get(id.0 as usize);
        let (Some(x), Some(y)) = (at(a), at(b)) else {
            return false;
        };
        *left = left.saturating_sub(1);
        if *left == 0 || x.ty != y.ty || x.shape != y.shape {
            return false;
        }
        let (of, with) = (x.op.operands(), y.op.operands());
        let bare = |op: &Op| {
            let mut op = op.clone();
            op.renumber(|_| ValueId(0));
            op
        };
        match (&x.op, &y.op) {
            (Op::Const(x), Op::Const(y)) => x.elements.len() <= MOST_COMPARED as usize && x == y,
            (op, _) if of.is_empty() || of.len() > 3 || op.has_parts() => false,
            (one, other) => {
                let ty = |id| at(id).map(|value| value.ty);
                let mut pairs = of.into_iter().zip(with);
                bare(one) == bare(other)
                    && pairs.all(|(p, q)| ty(p) == ty(q) && self.made_alike(p, q, left))
            }
        }
    }

    /// Value before the casts that led to `id` and kept its numbers.
    fn kept(&self, mut id: ValueId) -> ValueId {
        let ty = |id: ValueId| self.values.get(id.0 as usize).map(|value| value.ty);
        let keeps = |from: Type, to: Type| {
            let float = from.is_float() || to.is_float();
            !float && !to.is_wrapping() && from.fraction() <= to.fraction()
        };
        // An operand that does not precede its operation would make an endless loop.
        while let Some(Op::Cast(of)) = self.values.get(id.0 as usize).map(|value| &value.op)
            && *of < id
            && let (Some(from), Some(to)) = (ty(*of), ty(id))
            && keeps(from, to)
        {
            id = *of;
        }
        id
    }

    /// Value before the casts that led to `id`.
    fn uncast(&self, mut id: ValueId) -> Option<&'a Value> {
        loop {
            let value = self.values.get(id.0 as usize)?;
            match value.op {
                // An operand that does not precede its operation would make an endless loop.
                Op::Cast(of) if of < id => id = of,
                _ => return Some(value),
            }
        }
    }

    /// Fewest and most elements along a dimension.
    pub(crate) fn length(&self, dim: Dim) -> (u64, u64) {
        match dim {
            Dim::Fixed(n) => (n, n),
            Dim::Rows(rows) => match self.rows.get(usize::from(rows.0)) {
                // A run without rows is one of another program, which `empty` makes.
                Some(symbol) => (symbol.sum.len().max(1) as u64, symbol.bound),
                None => (1, 1),
            },
        }
    }

    /// The row counts of tables that a row count adds up: itself, if it is that of a table.
    pub(crate) fn addends(&self, rows: RowId) -> Vec<RowId> {
        match self.rows.get(usize::from(rows.0)) {
            Some(symbol) if !symbol.sum.is_empty() => symbol.sum.clone(),
            _ => vec![rows],
        }
    }

    /// Returns whether the value is an unchanged input.
    pub(crate) fn is_input(&self, id: ValueId) -> bool {
        self.uncast(id).is_some_and(
            |value| matches!(value.op, Op::Param(index) if (index as usize) < self.inputs.len()),
        )
    }

    pub(crate) fn is_constant(&self, id: ValueId) -> bool {
        self.uncast(id)
            .is_some_and(|value| matches!(value.op, Op::Const(_)))
    }
}

fn constant(data: &Data) -> Result<Meta> {
    let shape = Shape::fixed(data.shape.clone());
    let (true, Some(range)) = (data.ty.is_valid(), Range::of_all(data.numbers())) else {
        return Err(invalid("a constant has no elements, or an unknown type"));
    };
    if shape.row_elements() != Some(data.elements.len() as u64) || !data.ty.holds(range) {
        return Err(invalid(
            "a constant's elements do not fit its shape or type",
        ));
    }
    let range = if data.ty.is_float() {
        data.ty.range()
    } else {
        range
    };
    Ok(Meta::new(data.ty, shape, range, Visibility::Public))
}
