//! Graph builder for the Python tracer: names and numbers in, nodes out.
//!
//! All checking is the builder's; this module converts Python's objects to its types.

use crate::array::{self, Constant};
use crate::error;
use crate::item::{
    self, Item, Meaning, Node, NodeValue, PySpan, Ratio, Wanted, index, kind_of, type_of,
};
use crate::program::Program;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use sealane_diagnostic::{Diagnostic, Span};
use sealane_program::Beside;
use sealane_program::builder::{Builder, Handle, Length, Operand};
use sealane_program::decimal;
use sealane_program::graph::{Binary, Input, Reduction, Unary, Visibility};
use sealane_program::types::{RowId, Shape};
/// A function being traced.
#[pyclass(module = "sealane._core")]
pub struct Trace {
    /// None once the trace is finished.
    builder: Option<Builder>,
    parties: Vec<String>,
}

#[pymethods]
impl Trace {
    /// Begins a trace of the function of that name.
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Trace> {
        let builder = Builder::new(name).map_err(|finding| error::raised(py, &finding))?;
        Ok(Trace {
            builder: Some(builder),
            parties: Vec::new(),
        })
    }

    /// Declares a number of rows.
    fn rows(&mut self, py: Python<'_>, name: String, bound: u64) -> PyResult<()> {
        self.build(py, |builder| builder.rows(&name, bound))?;
        Ok(())
    }

    /// Lets the program read and write floating point below the normal numbers as zeros.
    fn flush_subnormals(&mut self) -> PyResult<()> {
        self.builder
            .as_mut()
            .ok_or_else(finished)?
            .flush_subnormals();
        Ok(())
    }

    /// Declares the next input.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each part of a declaration"
    )]
    fn input(
        &mut self,
        py: Python<'_>,
        name: String,
        owner: String,
        kind: &str,
        rows: Option<&str>,
        fixed: Vec<u64>,
        range: Option<(Ratio, Ratio)>,
        magnitudes: Option<(f64, f64)>,
        columns: Vec<String>,
        meaning: Meaning,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = type_of(kind)?;
        let span = at.map(Span::from);
        let known = self.builder.as_ref().ok_or_else(finished)?.row_counts();
        let rows = rows.and_then(|rows| known.iter().position(|known| known.name == rows));
        let shape = Shape {
            rows: rows.map(|index| RowId(index as u16)),
            fixed,
        };
        let range = match (range, magnitudes) {
            (Some((lo, hi)), _) => item::declared(py, &name, ty, [lo, hi], span.as_ref())?,
            (_, Some(ends)) => item::magnitudes(py, &name, ty, ends, span.as_ref())?,
            _ => ty.range(),
        };
        let owner = self.party(py, owner, span.as_ref())?;
        let input = Input {
            name,
            owner,
            ty,
            shape,
            range,
            columns,
            kind: kind_of(meaning)?,
            span,
        };
        let handle = self.build(py, |builder| builder.input(input))?;
        self.node(handle)
    }

    /// Adds an operation of one operand.
    fn unary(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Unary::ALL, name, Unary::name)?;
        self.operate(py, at, [a], |builder, [a], span| builder.unary(op, a, span))
    }

    /// Adds an operation of two operands.
    fn binary(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        b: Item<'_>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Binary::ALL, name, Binary::name)?;
        self.operate(py, at, [a, b], |builder, [a, b], span| {
            builder.binary(op, a, b, span)
        })
    }

    /// Adds a choice between two values.
    fn select(
        &mut self,
        py: Python<'_>,
        condition: Item<'_>,
        yes: Item<'_>,
        no: Item<'_>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.operate(
            py,
            at,
            [condition, yes, no],
            |builder, [condition, yes, no], span| builder.select(condition, yes, no, span),
        )
    }

    /// Adds a change of type.
    fn cast(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        kind: &str,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = type_of(kind)?;
        self.on_handles(py, at, [a], |builder, [a], span| builder.cast(a, ty, span))
    }

    /// Adds a change of type modulo a power of two.
    fn wrap(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        kind: &str,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = type_of(kind)?;
        self.on_handles(py, at, [a], |builder, [a], span| builder.wrap(a, ty, span))
    }

    /// Adds a change of type that stops at the ends of the new one.
    fn saturate(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        kind: &str,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = type_of(kind)?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.saturate(a, ty, span)
        })
    }

    /// Adds a reduction of one axis, or of all.
    fn reduce(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        axis: Option<i64>,
        kind: Option<&str>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Reduction::ALL, name, Reduction::name)?;
        let ty = kind.map(type_of).transpose()?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.reduce(op, a, axis, ty, span)
        })
    }

    /// Adds an exact mean, of one axis or of all.
    fn mean(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        axis: Option<i64>,
        kind: Option<&str>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = kind.map(type_of).transpose()?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.mean(a, axis, ty, span)
        })
    }

    /// Name of the type in which the sum of elements and zeros is exact, along one axis or all.
    fn sum_type(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        axis: Option<i64>,
        at: Option<PySpan>,
    ) -> PyResult<String> {
        let span = at.map(Span::from);
        let a = self.handles(py, vec![a], span.as_ref())?[0];
        let ty = self.build(py, |builder| builder.sum_type(a, axis, span.as_ref()))?;
        Ok(ty.to_string())
    }

    /// Adds a constant that changes no smallest, or no largest, element of those beside it.
    fn neutral(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Reduction::ALL, name, Reduction::name)?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.neutral(op, a, span)
        })
    }

    /// Adds an exact sum of products of floating point, of one axis or of all.
    fn sum_of_floats(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        b: Item<'_>,
        axis: Option<i64>,
        kind: &str,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = type_of(kind)?;
        self.operate(py, at, [a, b], |builder, factors, span| {
            builder.sum_of_floats(factors, axis, ty, span)
        })
    }

    /// Adds a number of elements, of one axis or of all.
    fn count(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        axis: Option<i64>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.count(a, axis, span)
        })
    }

    /// Adds a product of the last axis of one value with the first of another.
    fn dot(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        b: Item<'_>,
        kind: Option<&str>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = kind.map(type_of).transpose()?;
        self.operate(py, at, [a, b], |builder, [a, b], span| {
            builder.dot(a, b, ty, span)
        })
    }

    /// Adds `a[items]`.
    fn index(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        items: Vec<Bound<'_, PyAny>>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let parts = items.iter().map(index).collect::<Result<Vec<_>, _>>();
        self.on_handles(py, at, [a], |builder, [a], span| {
            let parts = parts
                .as_deref()
                .map_err(|finding| finding.clone().at(span))?;
            builder.index(a, parts, span)
        })
    }

    /// Adds `table[index]` for an index that is a value.
    fn lookup(
        &mut self,
        py: Python<'_>,
        table: Item<'_>,
        index: Item<'_>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.on_handles(py, at, [table, index], |builder, [table, index], span| {
            builder.lookup(table, index, span)
        })
    }

    /// Adds a product of two elements of GF(2^k), modulo an irreducible polynomial.
    fn field_product(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        b: Item<'_>,
        polynomial: i128,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.operate(py, at, [a, b], |builder, [a, b], span| {
            builder.field_product([a, b], polynomial, span)
        })
    }

    /// Adds a join along a new axis.
    fn stack(
        &mut self,
        py: Python<'_>,
        values: Vec<Item<'_>>,
        axis: i64,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.operate_all(py, at, values, |builder, values, span| {
            builder.stack(values, axis, span)
        })
    }

    /// Adds a join along an axis that is there.
    fn concatenate(
        &mut self,
        py: Python<'_>,
        values: Vec<Item<'_>>,
        axis: i64,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.operate_all(py, at, values, |builder, values, span| {
            builder.concatenate(values, axis, span)
        })
    }

    /// Adds the elements in another shape.
    fn reshape(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        shape: Vec<Wanted>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let shape = shape.into_iter().map(Length::from).collect::<Vec<_>>();
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.reshape(a, &shape, span)
        })
    }

    /// Adds the elements repeated to a shape.
    fn broadcast_to(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        shape: Vec<Wanted>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let shape = shape.into_iter().map(Length::from).collect::<Vec<_>>();
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.broadcast_to(a, &shape, span)
        })
    }

    /// Adds the elements with their axes in another order, or reversed.
    fn transpose(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        axes: Option<Vec<i64>>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.transpose(a, axes.as_deref(), span)
        })
    }

    /// Adds the reductions of the elements up to each one, along an axis.
    fn accumulate(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        axis: i64,
        kind: Option<&str>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Reduction::ALL, name, Reduction::name)?;
        let ty = kind.map(type_of).transpose()?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.accumulate(op, a, axis, ty, span)
        })
    }

    /// Adds a call of a function by name.
    fn call(
        &mut self,
        py: Python<'_>,
        name: &str,
        operands: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.operate_all(py, at, operands, |builder, operands, span| {
            builder.call(name, operands, span)
        })
    }

    /// Adds a function of fixed point, to a type of its own if one is given.
    fn function(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        kind: Option<&str>,
        saturate: bool,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = kind.map(type_of).transpose()?;
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.function(name, a, ty, saturate, span)
        })
    }

    /// Adds a power of fixed point, to a type of its own if one is given.
    fn power(
        &mut self,
        py: Python<'_>,
        base: Item<'_>,
        exponent: Item<'_>,
        kind: Option<&str>,
        saturate: bool,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let ty = kind.map(type_of).transpose()?;
        self.operate(py, at, [base, exponent], |builder, operands, span| {
            builder.power(operands, ty, saturate, span)
        })
    }

    /// Opens the body of a map; returns its elements.
    fn open_map(
        &mut self,
        py: Python<'_>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<Vec<Node>> {
        let span = at.map(Span::from);
        let over = self.handles(py, over, span.as_ref())?;
        let slices = self.build(py, |builder| builder.begin_map(&over, span.as_ref()))?;
        self.nodes(slices)
    }

    /// Closes the body of a map; returns its results.
    fn close_map(
        &mut self,
        py: Python<'_>,
        returns: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<Vec<Node>> {
        let span = at.map(Span::from);
        let returns = self.operands(py, returns, span.as_ref())?;
        let results = self.build(py, |builder| builder.end_map(&returns, span.as_ref()))?;
        self.nodes(results)
    }

    /// Opens the body of a scan; returns the states and the elements.
    fn open_scan(
        &mut self,
        py: Python<'_>,
        start: Vec<Item<'_>>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let start = self.operands(py, start, span.as_ref())?;
        let over = self.handles(py, over, span.as_ref())?;
        let (states, slices) = self.build(py, |builder| {
            builder.begin_scan(&start, &over, span.as_ref())
        })?;
        Ok((self.nodes(states)?, self.nodes(slices)?))
    }

    /// Closes the body of a scan; returns the last states and the joined outputs.
    fn close_scan(
        &mut self,
        py: Python<'_>,
        states: Vec<Item<'_>>,
        outputs: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let states = self.operands(py, states, span.as_ref())?;
        let outputs = self.operands(py, outputs, span.as_ref())?;
        let (states, outputs) = self.build(py, |builder| {
            builder.end_scan(&states, &outputs, span.as_ref())
        })?;
        Ok((self.nodes(states)?, self.nodes(outputs)?))
    }

    /// Opens the body of a sort; returns the elements before and behind.
    fn open_sort(
        &mut self,
        py: Python<'_>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let over = self.handles(py, over, span.as_ref())?;
        let sides = self.build(py, |builder| builder.begin_sort(&over, span.as_ref()))?;
        Ok((self.nodes(sides.0)?, self.nodes(sides.1)?))
    }

    /// Closes the body of a sort; returns the sorted tensors. With `any_order`, no result may
    /// depend on the order of equal ones.
    fn close_sort(
        &mut self,
        py: Python<'_>,
        exchange: Item<'_>,
        any_order: bool,
        at: Option<PySpan>,
    ) -> PyResult<Vec<Node>> {
        let span = at.map(Span::from);
        let exchange = self.operand(py, exchange, span.as_ref())?;
        let sorted = self.build(py, |builder| {
            builder.end_sort(exchange, any_order, span.as_ref())
        })?;
        self.nodes(sorted)
    }

    /// Opens the body of a combination; returns the elements up to a place and behind it.
    fn open_prefix(
        &mut self,
        py: Python<'_>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let over = self.handles(py, over, span.as_ref())?;
        let sides = self.build(py, |builder| builder.begin_prefix(&over, span.as_ref()))?;
        Ok((self.nodes(sides.0)?, self.nodes(sides.1)?))
    }

    /// Closes the body of a combination; returns the combinations so far.
    fn close_prefix(
        &mut self,
        py: Python<'_>,
        returns: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<Vec<Node>> {
        let span = at.map(Span::from);
        let returns = self.operands(py, returns, span.as_ref())?;
        let made = self.build(py, |builder| builder.end_prefix(&returns, span.as_ref()))?;
        self.nodes(made)
    }

    /// Adds the numbers of places along axis 0.
    fn row_number(&mut self, py: Python<'_>, a: Item<'_>, at: Option<PySpan>) -> PyResult<Node> {
        self.on_handles(py, at, [a], |builder, [a], span| {
            builder.row_number(a, span)
        })
    }

    /// Adds random numbers that no party knows.
    fn random(
        &mut self,
        py: Python<'_>,
        bits: u8,
        count: u64,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let span = at.map(Span::from);
        let drawn = self.build(py, |builder| builder.random(bits, count, span.as_ref()))?;
        self.node(drawn)
    }

    /// Adds the rows in a circle.
    fn roll(&mut self, py: Python<'_>, a: Item<'_>, by: i64, at: Option<PySpan>) -> PyResult<Node> {
        self.on_handles(py, at, [a], |builder, [a], span| builder.roll(a, by, span))
    }

    /// Adds the first rows.
    fn head(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        len: u64,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        self.on_handles(py, at, [a], |builder, [a], span| builder.head(a, len, span))
    }

    /// Returns whether each element along axis 0 depends on one row of the inputs, and then whether
    /// on inputs without rows too; `None` if it may depend on several rows.
    fn by_row(&self, a: &Node) -> PyResult<Option<bool>> {
        let builder = self.builder.as_ref().ok_or_else(finished)?;
        Ok(match &a.source {
            NodeValue::Traced(handle) => {
                let beside = builder.by_row(*handle);
                beside.map(|beside| beside == Beside::Inputs)
            }
            NodeValue::Typed(_) => Some(false),
        })
    }

    /// Adds a running reduction along axis 0, which begins anew where `starts` is true.
    fn running(
        &mut self,
        py: Python<'_>,
        name: &str,
        a: Item<'_>,
        starts: Option<Item<'_>>,
        kind: Option<&str>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let op = find(Reduction::ALL, name, Reduction::name)?;
        let ty = kind.map(type_of).transpose()?;
        match starts {
            Some(starts) => self.on_handles(py, at, [a, starts], |builder, [a, starts], span| {
                builder.running(op, a, Some(starts), ty, span)
            }),
            None => self.on_handles(py, at, [a], |builder, [a], span| {
                builder.running(op, a, None, ty, span)
            }),
        }
    }

    /// Adds what is kept of elements along axis 0.
    fn compact(
        &mut self,
        py: Python<'_>,
        keep: Item<'_>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<Vec<Node>> {
        let span = at.map(Span::from);
        let keep = self.handles(py, vec![keep], span.as_ref())?;
        let over = self.handles(py, over, span.as_ref())?;
        let kept = self.build(py, |builder| builder.compact(keep[0], &over, span.as_ref()))?;
        self.nodes(kept)
    }

    /// Reveals a value to parties as a result of the declared type.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each part of a declaration"
    )]
    fn reveal(
        &mut self,
        py: Python<'_>,
        name: &str,
        value: Item<'_>,
        to: Vec<String>,
        kind: &str,
        meaning: Meaning,
        note: String,
        at: Option<PySpan>,
    ) -> PyResult<()> {
        let ty = type_of(kind)?;
        let span = at.map(Span::from);
        let parties = to
            .into_iter()
            .map(|name| self.party(py, name, span.as_ref()));
        let to = parties.collect::<PyResult<Vec<_>>>()?;
        let value = self.operand(py, value, span.as_ref())?;
        let meaning = (kind_of(meaning)?, note);
        self.build(py, |builder| {
            builder.reveal_as(name, value, &to, ty, meaning, span.as_ref())
        })
    }

    /// The finished program.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Program> {
        let builder = self.builder.take().ok_or_else(finished)?;
        let (program, warnings) = builder.finish().map_err(|e| error::raised(py, &e))?;
        Ok(Program::new(program, warnings))
    }
}

impl Trace {
    fn build<T>(
        &mut self,
        py: Python<'_>,
        step: impl FnOnce(&mut Builder) -> Result<T, Diagnostic>,
    ) -> PyResult<T> {
        let builder = self.builder.as_mut().ok_or_else(finished)?;
        step(builder).map_err(|finding| error::raised(py, &finding))
    }

    fn operate<const N: usize>(
        &mut self,
        py: Python<'_>,
        at: Option<PySpan>,
        items: [Item<'_>; N],
        step: impl Fn(&mut Builder, [Operand; N], Option<&Span>) -> Result<Handle, Diagnostic>,
    ) -> PyResult<Node> {
        self.operate_all(py, at, items.into(), |builder, operands, span| {
            let mut operands = operands.iter().copied();
            let mut next = || operands.next().unwrap_or(Operand::Int(0));
            step(builder, std::array::from_fn(|_| next()), span)
        })
    }

    fn operate_all(
        &mut self,
        py: Python<'_>,
        at: Option<PySpan>,
        items: Vec<Item<'_>>,
        step: impl Fn(&mut Builder, &[Operand], Option<&Span>) -> Result<Handle, Diagnostic>,
    ) -> PyResult<Node> {
        let span = at.map(Span::from);
        let operands = self.operands(py, items, span.as_ref())?;
        let handle = self.named(py, &operands, span.as_ref(), |builder| {
            step(builder, &operands, span.as_ref())
        })?;
        self.node(handle)
    }

    /// Runs `build` for an operation: its error uses the source's names of operands.
    fn named<T>(
        &mut self,
        py: Python<'_>,
        operands: &[Operand],
        span: Option<&Span>,
        step: impl Fn(&mut Builder) -> Result<T, Diagnostic>,
    ) -> PyResult<T> {
        let builder = self.builder.as_mut().ok_or_else(finished)?;
        let finding = match step(builder) {
            Ok(done) => return Ok(done),
            Err(finding) => finding,
        };
        let (call, mut texts) = span.map_or_else(Default::default, |span| error::written(py, span));
        if !call.is_empty() {
            texts = ["one operand", "another", "a third"]
                .map(String::from)
                .into();
            texts.truncate(operands.len());
        }
        if texts.len() == operands.len() {
            let called = operands.iter().zip(texts);
            builder.call_operands(called.filter_map(|(operand, text)| match operand {
                Operand::Value(handle) if !text.is_empty() => Some((*handle, text)),
                _ => None,
            }));
        }
        let finding = step(builder).err().unwrap_or(finding);
        builder.call_operands([]);
        let finding = error::within(finding, &call);
        Err(error::raised(py, &finding))
    }

    /// Runs `build` for operations that take values only: bare numbers become constants first.
    fn on_handles<const N: usize>(
        &mut self,
        py: Python<'_>,
        at: Option<PySpan>,
        items: [Item<'_>; N],
        step: impl Fn(&mut Builder, [Handle; N], Option<&Span>) -> Result<Handle, Diagnostic>,
    ) -> PyResult<Node> {
        let span = at.map(Span::from);
        let handles = self.handles(py, items.into(), span.as_ref())?;
        let handles: [Handle; N] = handles
            .try_into()
            .map_err(|_| PyRuntimeError::new_err("operands"))?;
        let operands = handles.map(Operand::Value);
        let handle = self.named(py, &operands, span.as_ref(), |builder| {
            step(builder, handles, span.as_ref())
        })?;
        self.node(handle)
    }

    fn operand(
        &mut self,
        py: Python<'_>,
        item: Item<'_>,
        span: Option<&Span>,
    ) -> PyResult<Operand> {
        match item {
            Item::Int(number) => Ok(Operand::Int(number)),
            Item::Ratio(numerator, denominator) => {
                let literal = item::ratio(numerator, denominator)?;
                self.build(py, |builder| builder.literal(literal, span))
            }
            Item::Node(node) => match &node.source {
                NodeValue::Traced(handle) => Ok((*handle).into()),
                NodeValue::Typed(typed) => {
                    let handle = self.build(py, |builder| builder.typed(typed.clone(), span))?;
                    Ok(handle.into())
                }
            },
            Item::Array(array) => match array::constant(array)? {
                Constant::Integers(data) => {
                    let handle = self.build(py, |builder| builder.constant(data, span))?;
                    Ok(handle.into())
                }
                Constant::Literal(literal) => {
                    self.build(py, |builder| builder.literal(literal, span))
                }
            },
        }
    }

    fn operands(
        &mut self,
        py: Python<'_>,
        items: Vec<Item<'_>>,
        span: Option<&Span>,
    ) -> PyResult<Vec<Operand>> {
        items
            .into_iter()
            .map(|item| self.operand(py, item, span))
            .collect()
    }

    fn handles(
        &mut self,
        py: Python<'_>,
        items: Vec<Item<'_>>,
        span: Option<&Span>,
    ) -> PyResult<Vec<Handle>> {
        let handle = |item| {
            let operand = self.operand(py, item, span)?;
            self.build(py, |builder| builder.alone(operand, span))
        };
        items.into_iter().map(handle).collect()
    }

    /// Index of a party, declared on first use.
    fn party(&mut self, py: Python<'_>, name: String, span: Option<&Span>) -> PyResult<u8> {
        if let Some(index) = self.parties.iter().position(|party| *party == name) {
            return Ok(index as u8);
        }
        let index = self.build(py, |builder| builder.party(&name).map_err(|e| e.at(span)))?;
        self.parties.push(name);
        Ok(index)
    }

    fn nodes(&self, handles: Vec<Handle>) -> PyResult<Vec<Node>> {
        handles
            .into_iter()
            .map(|handle| self.node(handle))
            .collect()
    }

    fn node(&self, handle: Handle) -> PyResult<Node> {
        let builder = self.builder.as_ref().ok_or_else(finished)?;
        let value = builder.value(handle).ok_or_else(finished)?;
        let rows = value
            .shape
            .rows
            .map(|id| builder.row_counts()[usize::from(id.0)].name.clone());
        let fixed = value.shape.fixed.iter().copied().map(item::Length::Fixed);
        let shape = rows
            .map(item::Length::Rows)
            .into_iter()
            .chain(fixed)
            .collect();
        let known = match value.visibility {
            Visibility::Public => "public".to_string(),
            Visibility::Known(party) => format!("known to {}", self.parties[usize::from(party)]),
            Visibility::Secret => "secret".to_string(),
        };
        let lengths = builder.shape_text(&value.shape);
        let range = decimal::range_text(value.range, value.ty);
        let text = format!("{} {lengths}, {known}, {range}", value.ty);
        Ok(Node {
            source: NodeValue::Traced(handle),
            ty: value.ty,
            shape,
            text,
        })
    }
}

fn find<T: Copy, const N: usize>(
    all: [T; N],
    name: &str,
    names: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    let found = all.into_iter().find(|op| names(*op) == name);
    found.ok_or_else(|| PyTypeError::new_err(format!("there is no operation `{name}`")))
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("a value is used after its program was traced")
}
