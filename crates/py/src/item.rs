//! Types between the tracer and the builder: nodes, operands, source spans, indices.

use crate::array::{self, Array};
use crate::error::raised;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};
use sealane_diagnostic::{At, Code, Diagnostic, Result, Span};
use sealane_program::builder::{Handle, Index};
use sealane_program::decimal;
use sealane_program::float;
use sealane_program::graph::{Binary, Unary};
use sealane_program::kind::Kind;
use sealane_program::literal::{Literal, Number, Real, Typed};
use sealane_program::types::{Range, Type};

/// A place in the user's source, where it is known: file, line, first column, column after the
/// last.
pub struct Place(pub Option<Span>);

impl<'py> FromPyObject<'py> for Place {
    fn extract_bound(given: &Bound<'py, PyAny>) -> PyResult<Place> {
        let parts: Option<(String, u32, u32, u32)> = given.extract()?;
        Ok(Place(parts.map(|(file, line, column, end_column)| {
            Span::new(file, line, column, end_column)
        })))
    }
}

impl Place {
    /// The place for a diagnostic.
    pub fn span(&self) -> At<'_> {
        self.0.as_ref()
    }
}

/// An element type, given by its name.
pub struct Element(pub Type);

impl<'py> FromPyObject<'py> for Element {
    fn extract_bound(given: &Bound<'py, PyAny>) -> PyResult<Element> {
        type_of(given.extract()?).map(Element)
    }
}

/// Numerator and denominator of a ratio.
pub type Ratio = (i128, u128);

/// Kind of a column: whether cells may be empty, its word, and the texts that follow it.
pub type Meaning = (bool, String, Vec<String>);

/// A value of a trace, or a typed constant that is not part of one yet.
#[pyclass(module = "sealane._core", frozen)]
pub struct Node {
    /// Value of the node.
    pub source: NodeValue,
    /// Its element type.
    pub ty: Type,
    /// Its dimensions.
    pub shape: Vec<Length>,
    /// Text of its `repr`.
    pub text: String,
}

/// Value of a node.
#[derive(Clone)]
pub enum NodeValue {
    /// A value of a trace.
    Traced(Handle),
    /// A typed number or array outside a trace.
    Typed(Typed),
}

/// A dimension in Python's form.
#[derive(Clone, IntoPyObject)]
pub enum Length {
    /// The name of a number of rows.
    Rows(String),
    /// A length.
    Fixed(u64),
}

/// A length of a wanted shape: the name of rows, or a number.
#[derive(FromPyObject)]
pub enum Wanted {
    /// The name of a number of rows.
    Rows(String),
    /// A length; -1 for the one that is left.
    Of(i64),
}

impl From<Wanted> for sealane_program::builder::Length {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Rows(name) => Self::Rows(name),
            Wanted::Of(length) => Self::Of(length),
        }
    }
}

/// An argument for an operand of an operation.
#[derive(FromPyObject)]
pub enum Item {
    /// A node.
    Node(Py<Node>),
    /// A bare number.
    Int(i128),
    /// A number with a fraction: numerator and denominator.
    Ratio(i128, u128),
    /// A constant array.
    Array(Array),
}

#[pymethods]
impl Node {
    /// Makes a typed constant from a number or an array.
    #[new]
    fn new(kind: Element, item: Item, at: Place) -> PyResult<Node> {
        let Element(ty) = kind;
        let literal = match item {
            Item::Int(number) => Literal::of(number),
            Item::Ratio(numerator, denominator) => ratio(numerator, denominator)?,
            Item::Array(array) => array::literal(array)?,
            Item::Node(_) => return Err(PyTypeError::new_err("a value has a type already")),
        };
        let typed = literal.in_type(ty, at.span()).map_err(raised)?;
        let shape = literal.shape.iter().copied().map(Length::Fixed).collect();
        let text = format!("{ty}, public, {}", literal.text());
        Ok(Node {
            source: NodeValue::Typed(typed),
            ty,
            shape,
            text,
        })
    }

    /// Name of the element type.
    #[getter]
    fn r#type(&self) -> String {
        self.ty.to_string()
    }

    /// The dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape.clone())
    }

    fn __str__(&self) -> &str {
        &self.text
    }
}

/// Returns whether a name is that of an element type.
#[pyfunction]
pub fn is_type(name: &str) -> bool {
    type_of(name).is_ok()
}

/// Names of the functions of floating point, with their numbers of results, and whether they have a
/// correctly rounded form.
#[pyfunction]
pub fn functions_of_floats() -> Vec<(&'static str, usize, bool)> {
    sealane_program::call::functions_of_floats().collect()
}

/// Names of the element-wise operations: in the text form, in Python and in NumPy; and their
/// numbers of operands.
#[pyfunction]
pub fn element_wise() -> Vec<(&'static str, &'static str, &'static str, usize)> {
    let unary = Unary::ALL.map(|op| (op.row().name, op.row().symbol, op.row().numpy, 1));
    let binary = Binary::ALL.map(|op| (op.row().name, op.row().symbol, op.row().numpy, 2));
    unary.into_iter().chain(binary).collect()
}

/// Names of the functions of fixed point.
#[pyfunction]
pub fn functions_of_fixed() -> Vec<&'static str> {
    sealane_program::call::functions_of_fixed().collect()
}

/// The element type of a name.
pub fn type_of(name: &str) -> PyResult<Type> {
    name.parse()
        .map_err(|_| PyTypeError::new_err(format!("`{name}` is not an element type")))
}

/// The kind of a column.
pub fn kind_of((nullable, word, texts): Meaning) -> PyResult<Kind> {
    let kind = Kind::new(nullable, &word, texts);
    kind.ok_or_else(|| PyTypeError::new_err(format!("there is no kind `{word}`")))
}

/// A ratio as a literal.
pub fn ratio(numerator: i128, denominator: u128) -> PyResult<Literal> {
    let ratio = Real::new(numerator, denominator);
    let ratio = ratio.ok_or_else(|| PyTypeError::new_err("a denominator is 0 or too large"))?;
    Ok(Literal::of(Number::Ratio(ratio)))
}

/// Converts a declared range to stored numbers of `ty`: an end without a stored number is rounded
/// like data, so that data equal to it are inside.
pub fn declared(name: &str, ty: Type, ends: [Ratio; 2], at: At<'_>) -> PyResult<Range> {
    let refused = |end: String| {
        let message = format!("an end of the range of {name}, {end}, is no number of {ty}");
        let holds = decimal::range_text(ty.range(), ty);
        let finding = Diagnostic::new(Code::ConstantRange, message)
            .because(format!("{ty} holds {holds}"))
            .hint("declare a range of such numbers, or another type");
        raised(finding.at(at))
    };
    if ty.is_float() {
        let finding = Diagnostic::new(
            Code::ConstantRange,
            format!("{name} is declared with a range, and {ty} has none"),
        )
        .because("ranges are not followed through floating point, so none would be relied on")
        .hint(
            "leave `sl.between` out, declare `sl.fixed(...)`, whose ranges are followed, or \
             magnitudes, with which exact sums take fewer gates: `sl.magnitude(0.01, 1e6)`",
        );
        return Err(raised(finding.at(at)));
    }
    let stored = |(numerator, denominator)| {
        let end = Real::new(numerator, denominator);
        let end = end.ok_or_else(|| refused(format!("{numerator}/{denominator}")))?;
        let nearest = end.nearest(ty.fraction()).ok();
        let nearest = nearest.filter(|nearest| nearest.exact || ty.is_fixed());
        let nearest = nearest.ok_or_else(|| refused(end.to_string()))?;
        Ok::<_, PyErr>(nearest.stored)
    };
    let [lo, hi] = ends;
    Ok(Range::new(stored(lo)?, stored(hi)?))
}

/// Converts declared magnitudes to stored ones of `ty`, each rounded like data.
pub fn magnitudes(name: &str, ty: Type, ends: (f64, f64), at: At<'_>) -> PyResult<Range> {
    let refused = |message: String, reason: &str, hint: &str| {
        let finding = Diagnostic::new(Code::ConstantRange, message);
        raised(finding.because(reason).hint(hint).at(at))
    };
    let Some(format) = ty.format() else {
        return Err(refused(
            format!("{name} of {ty} is declared with magnitudes"),
            "magnitudes are for floating point, whose exponents differ",
            "declare the least and the largest number: `sl.between(low, high)`",
        ));
    };
    let stored = |end: f64| {
        let stored = float::from_f64(end, format).stored;
        if end >= 0.0 && !float::is_special(stored, format) {
            Ok(stored)
        } else {
            Err(refused(
                format!("an end of the magnitudes of {name}, {end:?}, is no magnitude of {ty}"),
                "a magnitude is finite and not negative",
                "declare magnitudes of numbers of the type: `sl.magnitude(0.01, 1e4)`",
            ))
        }
    };
    Ok(Range::new(stored(ends.0)?, stored(ends.1)?))
}

/// One part of an index expression.
pub fn index(item: &Bound<'_, PyAny>) -> Result<Index> {
    let refused = |what: &str| {
        Diagnostic::new(Code::IndexRange, what)
            .hint("index with integers, `start:stop:step`, `...` and `None`")
    };
    if item.is_none() {
        return Ok(Index::NewAxis);
    }
    if item.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if item.is_instance_of::<PySlice>() {
        let end = |name| {
            let end = item
                .getattr(name)
                .and_then(|end| end.extract::<Option<i64>>());
            end.map_err(|_| refused("an end of a slice is not an integer"))
        };
        let (start, stop) = (end("start")?, end("stop")?);
        return Ok(match end("step")? {
            None | Some(1) => Index::Slice { start, stop },
            Some(step) => Index::Stepped { start, stop, step },
        });
    }
    match item.extract() {
        Ok(index) if !item.is_instance_of::<PyBool>() => Ok(Index::At(index)),
        _ => Err(refused("this cannot be an index")),
    }
}
