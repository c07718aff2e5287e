//! Arrays between NumPy and the engine: kind, shape and 64-bit elements in native byte order.
//!
//! | kind | elements |
//! |---|---|
//! | `bool`, `u64`, `i64` | integers |
//! | `f64` | floats, each of which means its exact value |
//! | `ratio` | text, `numerator/denominator`, one a line |

use crate::error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane_engine::EngineError;
use sealane_engine::data;
use sealane_program::graph::Input;
use sealane_program::literal::{Literal, Number, Real};
use sealane_program::types::{Data, Range, Type, make_room};
use zeroize::Zeroizing;

/// Kind (for results the element type), shape, elements.
pub type Array = (String, Vec<u64>, Vec<u8>);

/// A constant of a program.
pub enum Constant {
    /// Integers, in the smallest type that holds them, so that, like a bare number, they do not
    /// widen what stands beside them.
    Integers(Data),
    /// Numbers with fractions, which have no type yet.
    Literal(Literal),
}

/// The constant that an array is.
pub fn constant(array: Array) -> PyResult<Constant> {
    if !array.0.parse::<Type>().is_ok_and(|ty| !ty.is_fixed()) {
        return literal(array).map(Constant::Literal);
    }
    let mut data = elements(array)?;
    let smallest = Range::of_all(data.numbers()).and_then(Type::smallest);
    if data.ty != Type::Bool {
        data.ty = smallest.unwrap_or(data.ty);
    }
    Ok(Constant::Integers(data))
}

/// The numbers of an array of any kind.
pub fn literal(array: Array) -> PyResult<Literal> {
    let shape = array.1.clone();
    let mut numbers = Vec::new();
    each(array, |number| {
        numbers.push(number);
        Ok(())
    })?;
    Ok(Literal { shape, numbers })
}

/// An input of a program. Integers for an integer input have the type that the array has itself,
/// and the engine checks them against the declaration; what a fixed-point input takes is the
/// nearest stored number of each element. Also says how many of them were rounded.
///
/// # Errors
/// A number is outside of the declared range.
pub fn input(py: Python<'_>, array: Array, input: &Input) -> PyResult<(Data, u64)> {
    if !input.ty.is_fixed() {
        return Ok((elements(array)?, 0));
    }
    let mut rounded = 0;
    let mut data = Data {
        ty: input.ty,
        shape: array.1.clone(),
        elements: Vec::new(),
    };
    each(array, |number| {
        let nearest = number.nearest(input.ty.fraction()).ok();
        let nearest = nearest.filter(|near| input.range.contains(Range::of(near.stored)));
        let nearest = nearest.ok_or_else(|| {
            let place = format!(" at element {}", data.elements.len());
            let refused = data::out_of_range(input, &number.to_string(), None, &place);
            error::engine(py, &EngineError::data(refused))
        })?;
        rounded += u64::from(!nearest.exact);
        make_room(&mut data.elements, 1);
        data.elements.push(nearest.stored as u64);
        Ok(())
    })?;
    Ok((data, rounded))
}

/// The elements of an array of integers in the type that it has itself. The bytes that Python
/// passed are erased; the array that they came from stays the caller's.
pub fn elements((kind, shape, raw): Array) -> PyResult<Data> {
    let raw = Zeroizing::new(raw);
    let ty = kind
        .parse()
        .map_err(|_| PyValueError::new_err("unknown kind of array"))?;
    let mut data = Data {
        ty,
        shape,
        elements: Vec::with_capacity(raw.len() / 8),
    };
    data.elements.extend(words(&raw).map(u64::from_ne_bytes));
    whole(&data.shape, data.elements.len())?;
    Ok(data)
}

/// A result for NumPy.
pub fn to_python<'py>(py: Python<'py>, data: &Data) -> (String, Vec<u64>, Bound<'py, PyBytes>) {
    let mut raw = Zeroizing::new(Vec::with_capacity(8 * data.elements.len()));
    let bytes = data
        .elements
        .iter()
        .flat_map(|element| element.to_ne_bytes());
    raw.extend(bytes);
    (
        data.ty.to_string(),
        data.shape.clone(),
        PyBytes::new(py, &raw),
    )
}

/// Shows every number of an array, of which there are as many as its shape says. The bytes that
/// Python passed are erased.
fn each((kind, shape, raw): Array, mut take: impl FnMut(Number) -> PyResult<()>) -> PyResult<()> {
    let raw = Zeroizing::new(raw);
    let mut count = 0;
    let mut take = |number| {
        count += 1;
        take(number)
    };
    match kind.as_str() {
        "f64" => words(&raw)
            .map(f64::from_ne_bytes)
            .try_for_each(|float| take(Number::Float(float)))?,
        "u64" => words(&raw)
            .map(u64::from_ne_bytes)
            .try_for_each(|number| take(i128::from(number).into()))?,
        "bool" | "i64" => words(&raw)
            .map(i64::from_ne_bytes)
            .try_for_each(|number| take(i128::from(number).into()))?,
        "ratio" => raw
            .split(|byte| *byte == b'\n')
            .try_for_each(|line| take(Number::Ratio(ratio(line)?)))?,
        _ => return Err(PyValueError::new_err("unknown kind of array")),
    }
    whole(&shape, count)
}

/// The ratio of a line.
fn ratio(line: &[u8]) -> PyResult<Real> {
    let text = std::str::from_utf8(line).ok();
    let parts = text.and_then(|text| text.split_once('/'));
    let ratio = parts.and_then(|(over, under)| Real::new(over.parse().ok()?, under.parse().ok()?));
    ratio.ok_or_else(|| PyValueError::new_err("a ratio of an array cannot be read"))
}

fn words(raw: &[u8]) -> impl Iterator<Item = [u8; 8]> + '_ {
    raw.chunks_exact(8)
        .map(|word| <[u8; 8]>::try_from(word).unwrap_or_default())
}

/// Refuses elements that are not as many as a shape says.
fn whole(shape: &[u64], elements: usize) -> PyResult<()> {
    let count = shape
        .iter()
        .try_fold(1u64, |product, length| product.checked_mul(*length));
    match count == Some(elements as u64) {
        true => Ok(()),
        false => Err(PyValueError::new_err(
            "shape and elements of an array differ",
        )),
    }
}
