//! Arrays between NumPy and the engine: kind, shape and 64-bit elements in native byte order.
//! Numbers come in by the buffer protocol as an array of `uint64`, whatever their kind, and go out
//! as bytes.
//!
//! | kind | elements |
//! |---|---|
//! | `bool`, `u64`, `i64` | integers |
//! | `f64` | floats, each of which means its exact value |
//! | `f32`, `f16` | the same as `f64`, of elements that have fewer significant bits |
//! | `text` | of inputs alone: text, one a line, see [`written`] |
//! | `cells` | of inputs alone: texts, `=` before each and a zero behind; empty if missing |
//! | `ratio` | of constants alone: text, `numerator/denominator`, one a line |

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane_diagnostic::Diagnostic;
use sealane_program::literal::{Literal, Number, Real};
use sealane_program::types::{Data, Range, Type};
use sealane_tables::{Cell, InputSpec, Loaded};
use zeroize::Zeroizing;

/// Kind, shape and elements of an array.
pub type Array = (String, Vec<u64>, Raw);

/// The elements that Python passed, erased on drop. The array that they came from stays the
/// caller's.
pub enum Raw {
    /// Lines of text, of `bytes`.
    Text(Zeroizing<Vec<u8>>),
    /// Words of 64 bits: the memory of an array of `uint64`, copied in one piece.
    Words(Zeroizing<Vec<u64>>),
}

impl<'py> FromPyObject<'py> for Raw {
    fn extract_bound(given: &Bound<'py, PyAny>) -> PyResult<Raw> {
        if let Ok(bytes) = given.downcast::<PyBytes>() {
            return Ok(Raw::Text(Zeroizing::new(bytes.as_bytes().to_vec())));
        }
        let buffer = PyBuffer::<u64>::get(given)?;
        // What lies apart would be copied item by item.
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "the elements of an array are not contiguous; pass `numpy.ascontiguousarray(x)`",
            ));
        }
        Ok(Raw::Words(Zeroizing::new(buffer.to_vec(given.py())?)))
    }
}

impl Raw {
    /// The words of an array of numbers.
    fn words(&self) -> PyResult<&[u64]> {
        match self {
            Raw::Words(words) => Ok(words),
            Raw::Text(_) => Err(unreadable("the elements of an array of numbers")),
        }
    }

    /// The words themselves, which leaves none.
    fn take_words(&mut self) -> PyResult<Zeroizing<Vec<u64>>> {
        match self {
            Raw::Words(words) => Ok(std::mem::take(words)),
            Raw::Text(_) => Err(unreadable("the elements of an array of numbers")),
        }
    }

    /// The bytes of lines of text.
    fn text(&self) -> PyResult<&[u8]> {
        match self {
            Raw::Text(bytes) => Ok(bytes),
            Raw::Words(_) => Err(unreadable("the elements of an array of text")),
        }
    }
}

/// A constant of a program.
pub enum Constant {
    /// Integers, in the smallest type that holds them, so that, like bare numbers, they do not
    /// widen the operands beside them.
    Integers(Data),
    /// Numbers with fractions, which have no type yet.
    Literal(Literal),
}

/// Converts an array to a constant.
pub fn constant(array: Array) -> PyResult<Constant> {
    if !array
        .0
        .parse::<Type>()
        .is_ok_and(|ty| !ty.is_fixed() && !ty.is_float())
    {
        return literal(array).map(Constant::Literal);
    }
    let mut data = elements(array)?;
    let smallest = Range::of_all(data.numbers()).and_then(Type::smallest);
    if data.ty != Type::Bool {
        data.ty = smallest.unwrap_or(data.ty);
    }
    Ok(Constant::Integers(data))
}

/// Numbers of an array of any kind.
pub fn literal(array: Array) -> PyResult<Literal> {
    let shape = array.1.clone();
    let mut numbers = Vec::new();
    each(array, |number| {
        numbers.push(number);
        Ok(())
    })?;
    Ok(Literal { shape, numbers })
}

/// Converts an array to an input of a program, each number by the rules of crate `tables`; or
/// returns the refusal.
///
/// # Errors
/// The array does not match its kind, which the package never passes.
pub fn input(
    want: InputSpec<'_>,
    (kind, shape, mut raw): Array,
) -> PyResult<Result<Loaded, Diagnostic>> {
    use sealane_tables::Number;
    let floats = |digits| {
        let number = move |word: &u64| Number::Float {
            value: f64::from_bits(*word),
            digits,
        };
        Ok::<_, PyErr>(raw.words()?.iter().map(number))
    };
    Ok(match kind.as_str() {
        "f64" => sealane_tables::array(want, &shape, floats(f64::MANTISSA_DIGITS)?),
        "f32" => sealane_tables::array(want, &shape, floats(f32::MANTISSA_DIGITS)?),
        "f16" => sealane_tables::array(want, &shape, floats(11)?),
        "u64" => sealane_tables::integers(want, &shape, raw.take_words()?, false),
        "bool" | "i64" => sealane_tables::integers(want, &shape, raw.take_words()?, true),
        "text" => {
            let text = std::str::from_utf8(raw.text()?).ok();
            let lines = text.map(|text| text.split('\n').map(written));
            let numbers = lines.and_then(|lines| lines.collect::<Option<Vec<_>>>());
            let numbers = numbers.ok_or_else(|| unreadable("a line of an array"))?;
            sealane_tables::array(want, &shape, numbers)
        }
        "cells" => {
            let text = std::str::from_utf8(raw.text()?).map_err(|_| unreadable("a cell"))?;
            let cells = text.split_terminator('\0');
            let cells = cells.map(|cell| cell.strip_prefix('=').map(Cell::Text));
            sealane_tables::cells(want, &shape, cells)
        }
        _ => return Err(unreadable("the kind of an array")),
    })
}

/// Parses the number of a line: `5` and `-0.25` as Python prints integers and floats, `0.5:24` for
/// a float with its significant bits, `1/3` for a ratio, and `d0.10` for a decimal.
fn written(line: &str) -> Option<sealane_tables::Number<'_>> {
    use sealane_tables::Number;
    if let Some(decimal) = line.strip_prefix('d') {
        return Some(Number::Written(decimal));
    }
    if let Some((over, under)) = line.split_once('/') {
        let ratio = Real::new(over.parse().ok()?, under.parse().ok()?);
        return Some(Number::Ratio(ratio?));
    }
    if let Some((value, digits)) = line.split_once(':') {
        let (value, digits) = (value.parse().ok()?, digits.parse().ok()?);
        return Some(Number::Float { value, digits });
    }
    match line {
        "True" => return Some(Number::Int(1)),
        "False" => return Some(Number::Int(0)),
        _ => {}
    }
    if let Ok(number) = line.parse() {
        return Some(Number::Int(number));
    }
    // Digits alone are an integer of any length.
    if line
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_digit())
    {
        return Some(Number::Written(line));
    }
    line.parse::<f64>().ok().map(Number::from)
}

/// Elements of an array of integers in its own type.
fn elements((kind, shape, mut raw): Array) -> PyResult<Data> {
    let ty = kind
        .parse()
        .map_err(|_| unreadable("the kind of an array"))?;
    let data = Data {
        ty,
        shape,
        elements: std::mem::take(&mut *raw.take_words()?),
    };
    whole(&data.shape, data.elements.len())?;
    Ok(data)
}

/// Converts a result for NumPy.
pub fn to_python<'py>(py: Python<'py>, data: &Data) -> (String, Vec<u64>, Bound<'py, PyBytes>) {
    let bytes = bytemuck::cast_slice(&data.elements);
    (
        data.ty.to_string(),
        data.shape.clone(),
        PyBytes::new(py, bytes),
    )
}

/// Applies `take` to every number of a constant, of which there are as many as its shape has.
fn each((kind, shape, raw): Array, mut take: impl FnMut(Number) -> PyResult<()>) -> PyResult<()> {
    let mut count = 0;
    let mut take = |number| {
        count += 1;
        take(number)
    };
    match kind.as_str() {
        "f64" => {
            (raw.words()?.iter()).try_for_each(|word| take(Number::Float(f64::from_bits(*word))))?
        }
        "u64" => (raw.words()?.iter()).try_for_each(|word| take(i128::from(*word).into()))?,
        "bool" | "i64" => {
            (raw.words()?.iter()).try_for_each(|word| take(i128::from(*word as i64).into()))?
        }
        "ratio" => (raw.text()?)
            .split(|byte| *byte == b'\n')
            .try_for_each(|line| take(Number::Ratio(ratio(line)?)))?,
        _ => return Err(unreadable("the kind of an array")),
    }
    whole(&shape, count)
}

/// Parses the ratio of a line.
fn ratio(line: &[u8]) -> PyResult<Real> {
    let text = std::str::from_utf8(line).ok();
    let parts = text.and_then(|text| text.split_once('/'));
    let ratio = parts.and_then(|(over, under)| Real::new(over.parse().ok()?, under.parse().ok()?));
    ratio.ok_or_else(|| unreadable("a ratio of an array"))
}

/// Error for arguments that the package itself never passes.
fn unreadable(what: &str) -> PyErr {
    PyValueError::new_err(format!("{what} cannot be read"))
}

/// Refuses elements whose number does not match a shape.
fn whole(shape: &[u64], elements: usize) -> PyResult<()> {
    let count = shape
        .iter()
        .try_fold(1u64, |product, length| product.checked_mul(*length));
    if count == Some(elements as u64) {
        Ok(())
    } else {
        Err(PyValueError::new_err(
            "shape and elements of an array differ",
        ))
    }
}
