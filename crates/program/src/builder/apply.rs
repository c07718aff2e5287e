//! Operations by name: how the tracer of Python, which knows names alone, reaches the methods of
//! the [`Builder`]. Element-wise operations are found in their own table.

use super::{Builder, Handle, Length, Made, Operand, Sides};
use crate::elementwise::{Binary, Reduction, Unary};
use crate::infer::invalid;
use crate::types::Type;
use sealane_diagnostic::{At, Result, Span};
use std::ops::Deref;

/// Attributes of an operation beside its operands. Each reads its own attributes, and no other.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// Name of a reduction, or of a function that is called.
    pub word: String,
    /// An axis, negative from the end; `None` for all.
    pub axis: Option<i64>,
    /// The type of the result.
    pub ty: Option<Type>,
    /// Places, rows, bits, or a polynomial.
    pub number: i128,
    /// True if a result that does not fit stops at the ends of its type.
    pub saturate: bool,
    /// Lengths of a shape, or an order of axes.
    pub lengths: Option<Vec<Length>>,
}

impl Attributes {
    fn reduction(&self) -> Result<Reduction> {
        Reduction::named(&self.word).ok_or_else(|| invalid("there is no such reduction"))
    }

    fn ty(&self) -> Result<Type> {
        self.ty
            .ok_or_else(|| invalid("an operation without the type of its result"))
    }

    fn axis(&self) -> i64 {
        self.axis.unwrap_or(0)
    }

    fn lengths(&self) -> &[Length] {
        self.lengths.as_deref().unwrap_or_default()
    }

    /// The one length.
    fn count(&self) -> u64 {
        match self.lengths() {
            [Length::Of(count)] => *count as u64,
            _ => 0,
        }
    }

    fn axes(&self) -> Option<Vec<i64>> {
        let axes = self.lengths.as_ref()?.iter().map(|length| match length {
            Length::Of(axis) => *axis,
            Length::Rows(_) => i64::MAX,
        });
        Some(axes.collect())
    }
}

/// The attributes, and the place in the source.
struct Given<'a> {
    of: &'a Attributes,
    at: Option<&'a Span>,
}

impl Deref for Given<'_> {
    type Target = Attributes;
    fn deref(&self) -> &Attributes {
        self.of
    }
}

/// The method of an operation.
enum Method {
    /// Bare numbers take the type of a value beside them.
    Operands(fn(&mut Builder, &[Operand], Given<'_>) -> Made),
    /// Bare numbers become constants first.
    Values(fn(&mut Builder, &[Handle], Given<'_>) -> Made),
    /// The same, with a result for each operand but the first.
    Parts(fn(&mut Builder, &[Handle], Given<'_>) -> Result<Vec<Handle>>),
}

/// An operation with a method of its own.
struct Row {
    name: &'static str,
    /// Fewest and most operands.
    operands: (usize, usize),
    method: Method,
}

macro_rules! rows {
    ($(
        $name:ident $fewest:literal $most:tt $method:ident: $b:ident $x:ident $a:ident => $call:expr;
    )+) => {
        static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            operands: ($fewest, $most),
            method: Method::$method(|$b, $x, $a| $call),
        }),+];
    };
}

const ANY: usize = usize::MAX;

rows! {
    select 3 3 Operands: b x a => b.select(x[0], x[1], x[2], a.at);
    cast 1 1 Values: b x a => b.cast(x[0], a.ty()?, a.at);
    wrap 1 1 Values: b x a => b.wrap(x[0], a.ty()?, a.at);
    saturate 1 1 Values: b x a => b.saturate(x[0], a.ty()?, a.at);
    reduce 1 1 Values: b x a => b.reduce(a.reduction()?, x[0], a.axis, a.ty, a.at);
    mean 1 1 Values: b x a => b.mean(x[0], a.axis, a.ty, a.at);
    neutral 1 1 Values: b x a => b.neutral(a.reduction()?, x[0], a.at);
    sum_of_floats 2 2 Operands: b x a => b.sum_of_floats([x[0], x[1]], a.axis, a.ty()?, a.at);
    count 1 1 Values: b x a => b.count(x[0], a.axis, a.at);
    dot 2 2 Operands: b x a => b.dot(x[0], x[1], a.ty, a.at);
    lookup 2 2 Values: b x a => b.lookup(x[0], x[1], a.at);
    field_product 2 2 Operands: b x a => b.field_product([x[0], x[1]], a.number, a.at);
    stack 0 ANY Operands: b x a => b.stack(x, a.axis(), a.at);
    concatenate 0 ANY Operands: b x a => b.concatenate(x, a.axis(), a.at);
    reshape 1 1 Values: b x a => b.reshape(x[0], a.lengths(), a.at);
    broadcast_to 1 1 Values: b x a => b.broadcast_to(x[0], a.lengths(), a.at);
    transpose 1 1 Values: b x a => b.transpose(x[0], a.axes().as_deref(), a.at);
    accumulate 1 1 Values: b x a => b.accumulate(a.reduction()?, x[0], a.axis(), a.ty, a.at);
    call 0 ANY Operands: b x a => b.call(&a.word, x, a.at);
    function 1 1 Values: b x a => b.function(&a.word, x[0], a.ty, a.saturate, a.at);
    power 2 2 Operands: b x a => b.power([x[0], x[1]], a.ty, a.saturate, a.at);
    random 0 0 Operands: b _x a => b.random(clamped(a.number) as u8, a.count(), a.at);
    row_number 1 1 Values: b x a => b.row_number(x[0], a.at);
    share 1 1 Values: b x a => b.share(x[0], a.word.clone(), a.at);
    roll 1 1 Values: b x a => b.roll(x[0], clamped(a.number), a.at);
    head 1 1 Values: b x a => b.head(x[0], clamped(a.number) as u64, a.at);
    running 1 2 Values: b x a => {
        b.running(a.reduction()?, x[0], x.get(1).copied(), a.ty, a.at)
    };
    compact 1 ANY Parts: b x a => b.compact(x[0], &x[1..], a.at);
}

/// The number, or an end of `i64`, which every operation refuses.
fn clamped(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// An operation by its name.
#[derive(Clone, Copy)]
pub struct Operation(Found);

#[derive(Clone, Copy)]
enum Found {
    Unary(Unary),
    Binary(Binary),
    Row(&'static Row),
}

impl Operation {
    /// The operation of that name which takes so many operands.
    pub fn named(name: &str, operands: usize) -> Option<Operation> {
        let unary = Unary::named(name).filter(|_| operands == 1);
        let binary = Binary::named(name).filter(|_| operands == 2);
        let row = ROWS.iter().find(|row| row.name == name);
        let row = row.filter(|row| (row.operands.0..=row.operands.1).contains(&operands));
        let found = unary.map(Found::Unary).or(binary.map(Found::Binary));
        found.or(row.map(Found::Row)).map(Operation)
    }

    /// True if bare numbers become constants before the operation sees them.
    pub fn takes_values(self) -> bool {
        match self.0 {
            Found::Row(row) => !matches!(row.method, Method::Operands(_)),
            _ => false,
        }
    }
}

impl Builder {
    /// Adds an operation by its name. Operands of one that takes values are values.
    ///
    /// # Errors
    /// The operation is refused for its operands or attributes.
    pub fn apply(
        &mut self,
        operation: Operation,
        operands: &[Operand],
        attributes: &Attributes,
        span: At<'_>,
    ) -> Result<Vec<Handle>> {
        let values = || {
            let value = |operand: &Operand| match operand {
                Operand::Value(handle) => Ok(*handle),
                _ => Err(invalid("a bare number in place of a value")),
            };
            operands.iter().map(value).collect::<Result<Vec<_>, _>>()
        };
        let given = Given {
            of: attributes,
            at: span,
        };
        let made = match operation.0 {
            Found::Unary(op) => self.unary(op, operands[0], span),
            Found::Binary(op) => self.binary(op, operands[0], operands[1], span),
            Found::Row(row) => match row.method {
                Method::Operands(method) => method(self, operands, given),
                Method::Values(method) => method(self, &values()?, given),
                Method::Parts(method) => return method(self, &values()?, given),
            },
        };
        made.map(|handle| vec![handle])
    }

    /// Opens the body of a `map`, `scan`, `sort` or `prefix`; returns its parameters: states or the
    /// elements before, and elements or those behind.
    ///
    /// # Errors
    /// The body is refused for what it walks along.
    pub fn begin(
        &mut self,
        name: &str,
        start: &[Operand],
        over: &[Handle],
        span: At<'_>,
    ) -> Result<Sides> {
        match name {
            "map" => Ok((Vec::new(), self.begin_map(over, span)?)),
            "scan" => self.begin_scan(start, over, span),
            "sort" => self.begin_sort(over, span),
            "prefix" => self.begin_prefix(over, span),
            _ => Err(invalid("there is no such body")),
        }
    }

    /// Closes a body that [`begin`](Builder::begin) opened, which returns states and other values;
    /// returns its results in the same two lists. With `any_order`, no result of a program depends
    /// on the order of equal elements of a sort.
    ///
    /// # Errors
    /// The body is refused for what it returns.
    pub fn end(
        &mut self,
        name: &str,
        [states, returns]: [&[Operand]; 2],
        any_order: bool,
        span: At<'_>,
    ) -> Result<Sides> {
        let returned = match (name, returns) {
            ("map", _) => self.end_map(returns, span),
            ("scan", _) => return self.end_scan(states, returns, span),
            ("sort", [exchange]) => self.end_sort(*exchange, any_order, span),
            ("prefix", _) => self.end_prefix(returns, span),
            _ => Err(invalid("there is no such body")),
        };
        returned.map(|returned| (Vec::new(), returned))
    }
}
