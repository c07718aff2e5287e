//! Builder of programs, driven by the Python tracer while it runs a user's function once.
//!
//! ```text
//! let mut b = Builder::new("risk")?;
//! let hospital = b.party("hospital")?;                       // index of the party
//! let patients = b.rows("patients", 1000)?;                  // rows <= 1000
//! let x = b.input(Input { name, owner: hospital, ty, shape, range, columns, span })?;
//! let y = b.binary(Binary::Add, x.into(), 1.into(), Some(&span))?;
//! b.reveal("result", y.into(), &[hospital], ty, Some(&span))?;
//! let (program, warnings) = b.finish()?;
//! ```
//!
//! * [`Handle`] is a reference to a value, which the tracer keeps in its Python object. It is
//!   `Copy` and records its body, so a body may use values from around it: they are captured on
//!   first use. Using a handle outside its body is refused, not misread.
//! * [`Operand`] is a handle, a bare Python `int` (by `From`), or a literal.
//! * Every method returns `Result<_>` with the span filled in. A refused operation
//!   leaves at most unused values behind; after a refused begin or end, drop the builder.
//!
//! | declares | |
//! |---|---|
//! | `party(name) -> u8` | parties in the order of the signature |
//! | `rows(name, bound) -> RowId` | a symbolic row count |
//! | `input(Input) -> Handle` | before any operation |
//! | `constant(Data, span) -> Handle` | an array, with a type of its own |
//! | `scalar(Type, i128, span) -> Handle` | a typed number |
//! | `literal(Literal, span) -> Operand` | a number or array with fractions |
//! | `typed(Typed, span) -> Handle` | a literal in its type |
//!
//! | operates | |
//! |---|---|
//! | `unary(Unary, Operand, span) -> Handle` | |
//! | `binary(Binary, Operand, Operand, span) -> Handle` | |
//! | `select(condition, yes, no, span) -> Handle` | `where`, three operands |
//! | `cast(Handle, Type, span) -> Handle` | `astype` |
//! | `wrap(Handle, Type, span) -> Handle` | modulo `2^bits`, never refused |
//! | `saturate(Handle, Type, span) -> Handle` | stops at the ends, never refused |
//! | `reduce(Reduction, Handle, Option<axis: i64>, Option<dtype: Type>, span) -> Handle` | |
//! | `dot(Operand, Operand, dtype: Option<Type>, span) -> Handle` | `@` |
//! | `index(Handle, &[Index], span) -> Handle` | `x[:, 0]`, `x[..., None]`, `x[-1]` |
//! | `lookup(table: Handle, index: Handle, span) -> Handle` | `table[index]`, a secret index |
//! | `stack(&[Operand], axis: i64, span) -> Handle` | |
//! | `concatenate(&[Operand], axis: i64, span) -> Handle` | |
//! | `reshape(Handle, &[Length], span) -> Handle` | rows stay the first axis |
//! | `transpose(Handle, Option<&[i64]>, span) -> Handle` | the same |
//! | `broadcast_to(Handle, &[Length], span) -> Handle` | the same |
//! | `accumulate(Reduction, Handle, axis: i64, dtype: Option<Type>, span) -> Handle` | `cumsum` |
//! | `call(name, &[Operand], span) -> Handle` | `aes128`, `sha256` |
//! | `function(name, Handle, Option<dtype: Type>, saturate: bool, span)` | of fixed point |
//! | `apply(Operation, &[Operand], &Attributes, span) -> Vec<Handle>` | any of these, by its name |
//! | `begin_map(over: &[Handle], span) -> Vec<Handle>` | slices, for the body function |
//! | `end_map(returns: &[Operand], span) -> Vec<Handle>` | |
//! | `begin_scan(init: &[Operand], over: &[Handle], span) -> (carries, slices)` | two `Vec` |
//! | `end_scan(carries: &[Operand], outputs: &[Operand], span) -> (carries, outputs)` | |
//! | `begin_sort(over: &[Handle], span) -> (before, behind)` | two `Vec` of slices |
//! | `end_sort(exchange: Operand, any_order: bool, span) -> Vec<Handle>` | the sorted tensors |
//! | `begin_prefix(over: &[Handle], span) -> (before, behind)` | two `Vec`, to be combined |
//! | `end_prefix(returns: &[Operand], span) -> Vec<Handle>` | the combinations so far |
//! | `begin(name, start: &[Operand], over: &[Handle], span) -> (first, second)` | any body |
//! | `end(name, [states, returns], any_order: bool, span) -> (states, returns)` | the same |
//! | `row_number(of: Handle, span) -> Handle` | 0, 1, 2, … along axis 0 |
//! | `roll(of: Handle, by: i64, span) -> Handle` | rows in a circle |
//! | `random(bits: u8, count: u64, span) -> Handle` | numbers that no party knows |
//! | `head(of: Handle, len: u64, span) -> Handle` | the first rows |
//! | `running(Reduction, of: Handle, starts: Option<Handle>, dtype, span) -> Handle` | |
//! | `compact(keep: Handle, over: &[Handle], span) -> Vec<Handle>` | what is kept, first |
//! | `reveal(name, Operand, to: &[u8], Type, span)` | |
//! | `finish(self) -> (Program, Vec<Diagnostic>)` | the second are warnings |
//!
//! `value(Handle) -> Option<&Value>`, `row_counts() -> &[RowSymbol]` and `shape_text(&Shape) ->
//! String` serve `dtype`, `shape` and `repr`, `by_row(Handle) -> Option<Beside>` noise. `span` is
//! `At<'_>` throughout.

mod apply;
mod arrange;
mod bodies;
mod functions;
mod indexing;
mod literals;
mod operations;
mod order;
mod products;
mod reductions;
mod signature;

pub use apply::{Attributes, Operation};
pub use arrange::Length;
pub use indexing::Index;

use crate::by_row::{Beside, by_row};
use crate::check::{MAX_CONST_ELEMENTS, MAX_NESTING, MAX_VALUES};
use crate::decimal::range_text;
use crate::float;
use crate::graph::{Op, Program, RowSymbol, Value, ValueId, digest};
use crate::infer::{self, Meta, Scope};
use crate::literal::Literal;
use crate::types::{Data, Range, Shape, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result};
use std::collections::HashMap;

/// Reference to a traced value: its graph, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    graph: u32,
    id: ValueId,
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A traced value.
    Value(Handle),
    /// A bare Python number, which takes the type of the operand beside it: see `NUMERICS.md`.
    Int(i128),
    /// A number or array with fractions, which takes the fixed-point type beside it:
    /// [`Builder::literal`] makes it.
    Literal(u32),
}

impl From<Handle> for Operand {
    fn from(handle: Handle) -> Operand {
        Operand::Value(handle)
    }
}

impl From<i128> for Operand {
    fn from(number: i128) -> Operand {
        Operand::Int(number)
    }
}

/// The value of an operation.
pub type Made = Result<Handle>;

/// A value of the graph that is being traced.
type Found = Result<ValueId>;

/// Values of a body in two lists: states or the elements before, and elements or those behind.
pub type Sides = (Vec<Handle>, Vec<Handle>);

/// A program under construction. The module's documentation lists its methods.
pub struct Builder {
    /// The header; its graph stays empty until the end.
    program: Program,
    /// The graphs that are being traced, the main one first.
    open: Vec<Open>,
    /// Graphs opened so far, which number them.
    opened: u32,
    /// Values so far, those of finished bodies included.
    values: usize,
    /// Elements of constants so far.
    elements: usize,
    /// Names of operands in the source, for the next operation: see [`Builder::call_operands`].
    called: Vec<(ValueId, String)>,
    /// Literals that [`Operand::Literal`] refers to.
    literals: Vec<Literal>,
    /// The warnings about literals that were rounded, or that equal nothing.
    rounded: Vec<Diagnostic>,
}

/// A graph that is being traced.
#[derive(Default)]
struct Open {
    /// Its number, which its handles carry.
    graph: u32,
    /// The operation whose body it is, with nothing captured yet; none for the main graph.
    body: Option<Op>,
    /// Parameters that stand first from the start; captured ones come where they are first used
    /// and move to the front in the end.
    leading: usize,
    values: Vec<Value>,
    /// Values of the surrounding graph, and their stand-ins here: a parameter, or a copied
    /// constant.
    captured: Vec<(ValueId, ValueId)>,
    /// The values that equal ones share, by their digests.
    shared: HashMap<blake3::Hash, ValueId>,
}

impl Builder {
    /// Returns a value, as long as its body is open.
    pub fn value(&self, handle: Handle) -> Option<&Value> {
        let open = self.open.iter().find(|open| open.graph == handle.graph)?;
        open.values.get(handle.id.0 as usize)
    }

    /// Returns whether a value of the main graph is made row by row: see
    /// [`by_row`](crate::by_row()).
    pub fn by_row(&self, handle: Handle) -> Option<Beside> {
        let main = self.open.first();
        let main = main.filter(|main| main.graph == handle.graph)?;
        by_row(&self.program.rows, &main.values, handle.id)
    }

    /// Sets the source's names of operands, for the error of the operation that is tried next. The
    /// tracer looks them up only once an operation has been refused, and then tries it again.
    pub fn call_operands(&mut self, names: impl IntoIterator<Item = (Handle, String)>) {
        let found = names
            .into_iter()
            .filter_map(|(handle, name)| Some((self.resolve(handle).ok()?, name)));
        self.called = found.collect();
    }

    /// The row counts so far: those that were declared, and sums of them.
    pub fn row_counts(&self) -> &[RowSymbol] {
        &self.program.rows
    }

    /// A shape with the names of its rows: `[patients, 30]`.
    pub fn shape_text(&self, shape: &Shape) -> String {
        self.scope().shape(shape)
    }

    /// Resolves a handle to a value of the current graph, and captures it if it is from around it.
    fn resolve(&mut self, handle: Handle) -> Found {
        let depth = self.open.iter().position(|open| open.graph == handle.graph);
        let Some(depth) = depth else {
            return Err(Diagnostic::new(
                Code::Body,
                "a value is used outside of the body it is from",
            )
            .because("inside of a body there is one value for each element, outside there is none")
            .hint("return it from the body function"));
        };
        let mut id = handle.id;
        for inner in depth + 1..self.open.len() {
            id = self.capture(inner, id)?;
        }
        Ok(id)
    }

    /// Returns the parameter of the open graph `inner` that stands for a value of the graph around
    /// it. Constants are copied, so that the body can be simplified by them.
    fn capture(&mut self, inner: usize, outer: ValueId) -> Found {
        if let Some((_, id)) = self.open[inner]
            .captured
            .iter()
            .find(|(from, _)| *from == outer)
        {
            return Ok(*id);
        }
        let value = self.open[inner - 1].values[outer.0 as usize].clone();
        let op = match &value.op {
            Op::Const(_) => value.op.clone(),
            _ => Op::Param(u32::MAX),
        };
        let id = self.append_to(inner, op, value.meta(), value.span.as_ref())?;
        self.open[inner].captured.push((outer, id));
        Ok(id)
    }

    /// A constant of one number.
    fn number(&mut self, ty: Type, number: i128, span: At<'_>) -> Found {
        let stored = match ty {
            Type::Float(format) => Some(float::from_whole(number, format))
                .filter(|nearest| !float::is_special(nearest.stored, format))
                .map(|nearest| nearest.stored),
            ty => number.checked_mul(1 << ty.fraction()),
        };
        let stored = stored.and_then(|stored| Data::from_numbers(ty, Vec::new(), &[stored]));
        let Some(data) = stored else {
            let message = format!("{number} is not a value of {ty}");
            return Err(Diagnostic::new(Code::ConstantRange, message)
                .because(format!("{ty} holds {}", range_text(ty.range(), ty)))
                .hint("write a number that the type holds, or use a type with more bits")
                .at(span));
        };
        self.push(Op::Const(data), ty, span)
    }

    /// Converts the value to type `ty` by a cast if necessary; refused if it may not fit, never
    /// wrapped, and never rounded.
    fn fit(&mut self, id: ValueId, ty: Type, what: &str, span: At<'_>) -> Found {
        let (from, range) = self.known(id);
        if from.is_float() || ty.is_float() {
            return self.fit_float(id, ty, what, span);
        }
        if from.fraction() > ty.fraction() {
            let message = format!("{what} has more bits behind the point than {ty}");
            return Err(Diagnostic::new(Code::TypeMismatch, message)
                .because(format!("it is {from}, and nothing is rounded unasked"))
                .hint(format!(
                    "round it down with `.astype({})`, or declare `{}`",
                    ty.python(),
                    from.python()
                ))
                .at(span));
        }
        let converted = range.converted(from, ty);
        if converted.is_some_and(|range| ty.holds(range)) {
            return self.cast_to(id, ty, span);
        }
        let fits = converted.and_then(|range| ty.smallest_like(range));
        let fits = fits.unwrap_or(from);
        let message = format!("{what} may not fit {ty}");
        Err(Diagnostic::new(Code::RangeOverflow, message)
            .because(format!(
                "it is in {}, and {ty} holds {}",
                range_text(range, from),
                range_text(ty.range(), ty)
            ))
            .hint(format!(
                "declare `{}`, or stop at the ends of the type with `sl.saturate`",
                fits.python()
            ))
            .at(span))
    }

    /// Converts the value from or to floating point if that loses nothing.
    fn fit_float(&mut self, id: ValueId, ty: Type, what: &str, span: At<'_>) -> Found {
        let from = self.known(id).0;
        if from.common(ty) == Some(ty) {
            return self.cast_to(id, ty, span);
        }
        let message = format!("{what} is {from}, and {ty} is declared");
        let declare = from.python();
        Err(Diagnostic::new(Code::TypeMismatch, message)
            .because("nothing is rounded unasked")
            .hint(if ty.is_float() {
                format!("write `.astype({})`, or declare `{declare}`", ty.python())
            } else {
                format!(
                    "write `sl.saturate(…, {})`, which stops at the ends of the type, or declare \
                 `{declare}`",
                    ty.python()
                )
            })
            .at(span))
    }

    /// The value in type `ty`: itself, or a cast of it.
    fn cast_to(&mut self, id: ValueId, ty: Type, span: At<'_>) -> Found {
        if self.of(id).ty == ty {
            return Ok(id);
        }
        self.push(Op::Cast(id), ty, span)
    }

    /// Infers an operation's result and appends the operation to the current graph.
    fn push(&mut self, op: Op, ty: Type, span: At<'_>) -> Found {
        let meta = infer::infer(&self.scope(), &op, ty);
        let meta = meta.map_err(|error| self.in_scan(error).at(span))?;
        self.append(op, meta, span)
    }

    /// Extends an error in a scan: a range that is too wide there often comes from a carry.
    fn in_scan(&self, mut error: Diagnostic) -> Diagnostic {
        let scan = self
            .open
            .iter()
            .any(|open| matches!(open.body, Some(Op::Scan(_) | Op::Prefix(_))));
        if scan && matches!(error.code, Code::RangeOverflow | Code::IndexRange) {
            error.reason += "; in a scan, a carry can hold any value of its type";
        }
        if scan && error.code == Code::RangeOverflow {
            // A wider result alone would not help: the carry keeps its initial type.
            error.hint += "; a carry keeps its type, so clamp the next one with `sl.clip`, or \
                           start the scan in a type that wraps, such as `sl.u32.wrapping(0)`";
        }
        error
    }

    fn append(&mut self, op: Op, meta: Meta, span: At<'_>) -> Found {
        self.append_to(self.open.len() - 1, op, meta, span)
    }

    /// Appends an operation to an open graph, or returns the value of an equal one there: what is
    /// written twice is computed once, and stands at its first place.
    fn append_to(&mut self, graph: usize, op: Op, meta: Meta, span: At<'_>) -> Found {
        let value = Value::new(op, meta, span.cloned());
        let key = sharing(&value);
        let known = key.and_then(|key| self.open[graph].shared.get(&key));
        if let Some(id) = known {
            return Ok(*id);
        }
        if let Op::Const(data) = &value.op {
            self.elements += data.elements.len();
        }
        self.values += 1;
        let span = value.span.as_ref();
        within("values", self.values - 1, MAX_VALUES).at(span)?;
        let elements = self.elements.saturating_sub(1);
        within("elements of constants", elements, MAX_CONST_ELEMENTS).at(span)?;
        let open = &mut self.open[graph];
        let id = ValueId(open.values.len() as u32);
        open.values.push(value);
        open.shared.extend(key.map(|key| (key, id)));
        Ok(id)
    }

    /// Opens a graph.
    fn enter(&mut self, body: Option<Op>) -> Result<()> {
        within(
            "bodies inside of one another",
            self.open.len().saturating_sub(1),
            MAX_NESTING,
        )?;
        let graph = self.opened;
        self.opened += 1;
        self.open.push(Open {
            graph,
            body,
            ..Open::default()
        });
        Ok(())
    }

    fn handle(&self, id: ValueId) -> Handle {
        Handle {
            graph: self.top().graph,
            id,
        }
    }

    /// The current graph.
    fn top(&self) -> &Open {
        // `new` opens the main graph, and only `finish`, which consumes the builder, closes it.
        &self.open[self.open.len() - 1]
    }

    /// A value of the current graph.
    fn of(&self, id: ValueId) -> &Value {
        &self.top().values[id.0 as usize]
    }

    fn scope(&self) -> Scope<'_> {
        let main = self.open.len() == 1;
        let inputs = if main { &self.program.inputs[..] } else { &[] };
        Scope {
            rows: &self.program.rows,
            inputs,
            values: &self.top().values,
            called: &self.called,
        }
    }

    /// Type and range of a value of the current graph.
    fn known(&self, id: ValueId) -> (Type, Range) {
        let value = self.of(id);
        (value.ty, value.range)
    }
}

/// Digest under which equal values are one, whatever the order of operands that may change places.
/// Parameters differ by who gives them, and each random number is drawn for itself.
fn sharing(value: &Value) -> Option<blake3::Hash> {
    let mut alike = value.clone();
    match &mut alike.op {
        Op::Param(_) | Op::Random { .. } => return None,
        Op::Binary(op, ..) if !op.row().commutes => {}
        Op::Binary(_, a, b) | Op::SumProduct { a, b, .. } => {
            (*a, *b) = ((*a).min(*b), (*a).max(*b));
        }
        _ => {}
    }
    Some(digest(&alike))
}

/// Refuses one more item if there are `count` already.
fn within(what: &str, count: usize, most: usize) -> Result<()> {
    if count < most {
        return Ok(());
    }
    let message = format!("there can be at most {most} {what}");
    Err(Diagnostic::new(Code::Limit, message)
        .hint("join several in one with one more dimension, or split the program"))
}
