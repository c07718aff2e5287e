//! Graph builder for the Python tracer: names and numbers in, nodes out.
//!
//! All checking is the builder's; this module converts Python's objects to its types.

use crate::array::{self, Constant};
use crate::error::{self, raised};
use crate::item::{self, Element, Item, Meaning, Node, NodeValue, Place, Ratio, Wanted, kind_of};
use crate::program::Program;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use sealane_diagnostic::{At, Placed as _, Result};
use sealane_program::Beside;
use sealane_program::builder::{Attributes, Builder, Handle, Length, Operand, Operation};
use sealane_program::decimal;
use sealane_program::graph::{Input, Visibility};
use sealane_program::types::{RowId, Shape};

/// Values of two kinds: states or the elements before, and elements or those behind.
type Both = PyResult<(Vec<Node>, Vec<Node>)>;

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
    fn new(name: &str) -> PyResult<Trace> {
        let builder = Some(Builder::new(name).map_err(raised)?);
        let parties = Vec::new();
        Ok(Trace { builder, parties })
    }

    /// Declares a number of rows.
    fn rows(&mut self, name: &str, bound: u64) -> PyResult<()> {
        self.build(|builder| builder.rows(name, bound).map(drop))
    }

    /// Upper bound of a number of rows.
    fn bound(&mut self, name: &str) -> PyResult<u64> {
        let bound = self.builder()?.bound(name);
        bound.ok_or_else(|| PyTypeError::new_err(format!("there are no rows `{name}`")))
    }

    /// Lets the program read and write floating point below the normal numbers as zeros.
    fn flush_subnormals(&mut self) -> PyResult<()> {
        self.builder()?.flush_subnormals();
        Ok(())
    }

    /// Declares the next input.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each part of a declaration"
    )]
    fn input(
        &mut self,
        name: String,
        owner: String,
        kind: Element,
        rows: Option<&str>,
        fixed: Vec<u64>,
        range: Option<(Ratio, Ratio)>,
        magnitudes: Option<(f64, f64)>,
        columns: Vec<String>,
        meaning: Meaning,
        at: Place,
    ) -> PyResult<Node> {
        let (Element(ty), known) = (kind, self.builder()?.row_counts());
        let rows = rows.and_then(|rows| known.iter().position(|known| known.name == rows));
        let rows = rows.map(|index| RowId(index as u16));
        let range = match (range, magnitudes) {
            (Some((lo, hi)), _) => item::declared(&name, ty, [lo, hi], at.span())?,
            (_, Some(ends)) => item::magnitudes(&name, ty, ends, at.span())?,
            _ => ty.range(),
        };
        let input = Input {
            owner: self.party(owner, at.span())?,
            name,
            ty,
            shape: Shape { rows, fixed },
            range,
            columns,
            kind: kind_of(meaning)?,
            span: at.0,
        };
        let handle = self.build(|builder| builder.input(input))?;
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
        name: &str,
        operands: Vec<Item>,
        at: Place,
        word: &str,
        axis: Option<i64>,
        kind: Option<Element>,
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
            ty: kind.map(|Element(ty)| ty),
            number,
            saturate,
            lengths,
        };
        let operands = if operation.takes_values() {
            self.values(operands, at.span())?
        } else {
            self.operands(operands, at.span())?
        };
        let made = self.named(&operands, at.span(), |builder| {
            builder.apply(operation, &operands, &attributes, at.span())
        })?;
        self.nodes(made)
    }

    /// Name of the type in which the sum of elements and zeros is exact, along one axis or all.
    fn sum_type(&mut self, a: Item, axis: Option<i64>, at: Place) -> PyResult<String> {
        let a = self.handle(a, at.span())?;
        let ty = self.build(|builder| builder.sum_type(a, axis, at.span()))?;
        Ok(ty.to_string())
    }

    /// Adds `a[items]`.
    fn index(&mut self, a: Item, items: Vec<Bound<'_, PyAny>>, at: Place) -> PyResult<Node> {
        let parts = items.iter().map(item::index).collect::<Result<Vec<_>>>();
        let a = self.handle(a, at.span())?;
        let made = self.named(&[a.into()], at.span(), |builder| {
            let parts = parts.as_deref();
            let parts = parts.map_err(|finding| finding.clone().at(at.span()))?;
            builder.index(a, parts, at.span())
        })?;
        self.node(made)
    }

    /// Opens the body of a map, scan, sort or combination; returns states or the elements before,
    /// and elements or those behind.
    fn open(&mut self, name: &str, start: Vec<Item>, over: Vec<Item>, at: Place) -> Both {
        let start = self.operands(start, at.span())?;
        let over = self.handles(over, at.span())?;
        let params = self.build(|builder| builder.begin(name, &start, &over, at.span()))?;
        self.both(params)
    }

    /// Closes a body, which returns states and other values; returns its results in the same way.
    /// With `any_order`, no result may depend on the order of equal elements of a sort.
    #[pyo3(signature = (name, states, returns, at, *, any_order = false))]
    fn close(
        &mut self,
        name: &str,
        states: Vec<Item>,
        returns: Vec<Item>,
        at: Place,
        any_order: bool,
    ) -> Both {
        let states = self.operands(states, at.span())?;
        let returns = self.operands(returns, at.span())?;
        let results =
            self.build(|builder| builder.end(name, [&states, &returns], any_order, at.span()))?;
        self.both(results)
    }

    /// Returns whether each element along axis 0 depends on one row of the inputs, and then whether
    /// on inputs without rows too; `None` if it may depend on several rows.
    fn by_row(&mut self, a: &Node) -> PyResult<Option<bool>> {
        let builder = self.builder()?;
        Ok(match &a.source {
            NodeValue::Traced(handle) => builder.by_row(*handle).map(|by| by == Beside::Inputs),
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
        name: &str,
        value: Item,
        to: Vec<String>,
        kind: Element,
        meaning: Meaning,
        note: String,
        at: Place,
    ) -> PyResult<()> {
        let parties = to.into_iter().map(|name| self.party(name, at.span()));
        let to = parties.collect::<PyResult<Vec<_>>>()?;
        let value = self.operand(value, at.span())?;
        let meaning = (kind_of(meaning)?, note);
        self.build(|builder| builder.reveal_as(name, value, &to, kind.0, meaning, at.span()))
    }

    /// The finished program.
    fn finish(&mut self) -> PyResult<Program> {
        let builder = self.builder.take().ok_or_else(finished)?;
        let (program, warnings) = builder.finish().map_err(raised)?;
        Ok(Program::new(program, warnings))
    }
}

impl Trace {
    fn builder(&mut self) -> PyResult<&mut Builder> {
        self.builder.as_mut().ok_or_else(finished)
    }

    fn build<T>(&mut self, step: impl FnOnce(&mut Builder) -> Result<T>) -> PyResult<T> {
        step(self.builder()?).map_err(raised)
    }

    /// Runs `build` for an operation: its error uses the source's names of operands.
    fn named<T>(
        &mut self,
        operands: &[Operand],
        span: At<'_>,
        step: impl Fn(&mut Builder) -> Result<T>,
    ) -> PyResult<T> {
        let builder = self.builder()?;
        let finding = match step(builder) {
            Ok(done) => return Ok(done),
            Err(finding) => finding,
        };
        let (call, mut texts) = span.map_or_else(Default::default, error::written);
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
        Err(raised(error::within(finding, &call)))
    }

    fn operand(&mut self, item: Item, span: At<'_>) -> PyResult<Operand> {
        let literal = match item {
            Item::Int(number) => return Ok(Operand::Int(number)),
            Item::Ratio(numerator, denominator) => item::ratio(numerator, denominator)?,
            Item::Node(node) => {
                return match &node.get().source {
                    NodeValue::Traced(handle) => Ok((*handle).into()),
                    NodeValue::Typed(typed) => {
                        self.build(|builder| Ok(builder.typed(typed.clone(), span)?.into()))
                    }
                };
            }
            Item::Array(array) => match array::constant(array)? {
                Constant::Literal(literal) => literal,
                Constant::Integers(data) => {
                    return self.build(|builder| Ok(builder.constant(data, span)?.into()));
                }
            },
        };
        self.build(|builder| builder.literal(literal, span))
    }

    fn operands(&mut self, items: Vec<Item>, span: At<'_>) -> PyResult<Vec<Operand>> {
        let each = |item| self.operand(item, span);
        items.into_iter().map(each).collect()
    }

    fn handles(&mut self, items: Vec<Item>, span: At<'_>) -> PyResult<Vec<Handle>> {
        let each = |item| self.handle(item, span);
        items.into_iter().map(each).collect()
    }

    fn handle(&mut self, item: Item, span: At<'_>) -> PyResult<Handle> {
        let operand = self.operand(item, span)?;
        self.build(|builder| builder.alone(operand, span))
    }

    /// Operands of operations that take values only: bare numbers become constants.
    fn values(&mut self, items: Vec<Item>, span: At<'_>) -> PyResult<Vec<Operand>> {
        let handles = self.handles(items, span)?;
        Ok(handles.into_iter().map(Operand::Value).collect())
    }

    /// Index of a party, declared on first use.
    fn party(&mut self, name: String, span: At<'_>) -> PyResult<u8> {
        if let Some(index) = self.parties.iter().position(|party| *party == name) {
            return Ok(index as u8);
        }
        let index = self.build(|builder| builder.party(&name).at(span))?;
        self.parties.push(name);
        Ok(index)
    }

    fn both(&self, (one, other): (Vec<Handle>, Vec<Handle>)) -> Both {
        Ok((self.nodes(one)?, self.nodes(other)?))
    }

    fn nodes(&self, handles: Vec<Handle>) -> PyResult<Vec<Node>> {
        let each = |handle| self.node(handle);
        handles.into_iter().map(each).collect()
    }

    fn node(&self, handle: Handle) -> PyResult<Node> {
        let builder = self.builder.as_ref().ok_or_else(finished)?;
        let value = builder.value(handle).ok_or_else(finished)?;
        let name = |id: RowId| builder.row_counts()[usize::from(id.0)].name.clone();
        let rows = value.shape.rows.map(|id| item::Length::Rows(name(id)));
        let fixed = value.shape.fixed.iter().copied().map(item::Length::Fixed);
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
            shape: rows.into_iter().chain(fixed).collect(),
            text,
        })
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("a value is used after its program was traced")
}
