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
use sealane_program::builder::{Attributes, Builder, Handle, Length, Operand, Operation};
use sealane_program::decimal;
use sealane_program::graph::{Input, Visibility};
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

    /// Adds an operation by its name, with the attributes that it reads; returns its results.
    #[pyo3(signature = (
        name, operands, at, *, word = "", axis = None, kind = None, number = 0, saturate = false,
        lengths = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "one for each attribute")]
    fn apply(
        &mut self,
        py: Python<'_>,
        name: &str,
        operands: Vec<Item<'_>>,
        at: Option<PySpan>,
        word: &str,
        axis: Option<i64>,
        kind: Option<&str>,
        number: i128,
        saturate: bool,
        lengths: Option<Vec<Wanted>>,
    ) -> PyResult<Vec<Node>> {
        let operation = Operation::named(name, operands.len()).ok_or_else(|| {
            PyTypeError::new_err(format!("no operation `{name}` takes such operands"))
        })?;
        let lengths = lengths.map(|all| all.into_iter().map(Length::from).collect());
        let attributes = Attributes {
            word: word.into(),
            axis,
            ty: kind.map(type_of).transpose()?,
            number,
            saturate,
            lengths,
        };
        let span = at.map(Span::from);
        let operands = if operation.takes_values() {
            self.values(py, operands, span.as_ref())?
        } else {
            self.operands(py, operands, span.as_ref())?
        };
        let made = self.named(py, &operands, span.as_ref(), |builder| {
            builder.apply(operation, &operands, &attributes, span.as_ref())
        })?;
        self.nodes(made)
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

    /// Adds `a[items]`.
    fn index(
        &mut self,
        py: Python<'_>,
        a: Item<'_>,
        items: Vec<Bound<'_, PyAny>>,
        at: Option<PySpan>,
    ) -> PyResult<Node> {
        let parts = items.iter().map(index).collect::<Result<Vec<_>, _>>();
        let span = at.map(Span::from);
        let a = self.handles(py, vec![a], span.as_ref())?[0];
        let made = self.named(py, &[a.into()], span.as_ref(), |builder| {
            let parts = parts.as_deref();
            let parts = parts.map_err(|finding| finding.clone().at(span.as_ref()))?;
            builder.index(a, parts, span.as_ref())
        })?;
        self.node(made)
    }

    /// Opens the body of a map, scan, sort or combination; returns states or the elements before,
    /// and elements or those behind.
    fn open(
        &mut self,
        py: Python<'_>,
        name: &str,
        start: Vec<Item<'_>>,
        over: Vec<Item<'_>>,
        at: Option<PySpan>,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let start = self.operands(py, start, span.as_ref())?;
        let over = self.handles(py, over, span.as_ref())?;
        let params = self.build(py, |builder| {
            builder.begin(name, &start, &over, span.as_ref())
        })?;
        Ok((self.nodes(params.0)?, self.nodes(params.1)?))
    }

    /// Closes a body, which returns states and other values; returns its results in the same way.
    /// With `any_order`, no result may depend on the order of equal elements of a sort.
    #[pyo3(signature = (name, states, returns, at, *, any_order = false))]
    fn close(
        &mut self,
        py: Python<'_>,
        name: &str,
        states: Vec<Item<'_>>,
        returns: Vec<Item<'_>>,
        at: Option<PySpan>,
        any_order: bool,
    ) -> PyResult<(Vec<Node>, Vec<Node>)> {
        let span = at.map(Span::from);
        let states = self.operands(py, states, span.as_ref())?;
        let returns = self.operands(py, returns, span.as_ref())?;
        let results = self.build(py, |builder| {
            builder.end(name, [&states, &returns], any_order, span.as_ref())
        })?;
        Ok((self.nodes(results.0)?, self.nodes(results.1)?))
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

    /// Operands of operations that take values only: bare numbers become constants.
    fn values(
        &mut self,
        py: Python<'_>,
        items: Vec<Item<'_>>,
        span: Option<&Span>,
    ) -> PyResult<Vec<Operand>> {
        let handles = self.handles(py, items, span)?;
        Ok(handles.into_iter().map(Operand::Value).collect())
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

fn finished() -> PyErr {
    PyRuntimeError::new_err("a value is used after its program was traced")
}
