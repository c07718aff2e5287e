//! Arrays between NumPy and the engine: kind, shape and 64-bit elements in native byte order.
//!
//! | kind | elements |
//! |---|---|
//! | `bool`, `u64`, `i64` | integers |
//! | `f64` | floats, each of which means its exact value |
//! | `f32`, `f16` | the same as `f64`, of elements that have fewer significant bits |
//! | `text` | of inputs alone: text, one a line, see [`written`] |
//! | `ratio` | of constants alone: text, `numerator/denominator`, one a line |

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane_diagnostic::Diagnostic;
use sealane_program::literal::{Literal, Number, Real};
use sealane_program::types::{Data, Range, Type};
use sealane_tables::{InputSpec, Loaded};
use zeroize::Zeroizing;

/// Kind, shape and elements of an array.
pub type Array = (String, Vec<u64>, Raw);

/// Bytes that Python passed, erased on drop. The source array stays the caller's.
pub struct Raw(Zeroizing<Vec<u8>>);

impl<'py> FromPyObject<'py> for Raw {
    fn extract_bound(given: &Bound<'py, PyAny>) -> PyResult<Raw> {
        let bytes = given.downcast::<PyBytes>()?.as_bytes();
        Ok(Raw(Zeroizing::new(bytes.to_vec())))
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

/// Converts an array to an input of a program, each number by the rules of room `tables`; or
/// returns the refusal.
///
/// # Errors
/// The array does not match its kind, which the package never passes.
pub fn input(
    want: InputSpec<'_>,
    (kind, shape, raw): Array,
) -> PyResult<Result<Loaded, Diagnostic>> {
    use sealane_tables::Number;
    let words = || words(&raw.0);
    let floats = |digits| {
        words().map(move |word| Number::Float {
            value: f64::from_ne_bytes(word),
            digits,
        })
    };
    Ok(match kind.as_str() {
        "f64" => sealane_tables::array(want, &shape, floats(f64::MANTISSA_DIGITS)),
        "f32" => sealane_tables::array(want, &shape, floats(f32::MANTISSA_DIGITS)),
        "f16" => sealane_tables::array(want, &shape, floats(11)),
        "u64" => {
            let numbers = words().map(|word| Number::Int(u64::from_ne_bytes(word).into()));
            sealane_tables::array(want, &shape, numbers)
        }
        "bool" | "i64" => {
            let numbers = words().map(|word| Number::Int(i64::from_ne_bytes(word).into()));
            sealane_tables::array(want, &shape, numbers)
        }
        "text" => {
            let text = std::str::from_utf8(&raw.0).ok();
            let lines = text.map(|text| text.split('\n').map(written));
            let numbers = lines.and_then(|lines| lines.collect::<Option<Vec<_>>>());
            let numbers = numbers.ok_or_else(|| unreadable("a line of an array"))?;
            sealane_tables::array(want, &shape, numbers)
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
fn elements((kind, shape, raw): Array) -> PyResult<Data> {
    let ty = kind
        .parse()
        .map_err(|_| unreadable("the kind of an array"))?;
    let mut data = Data {
        ty,
        shape,
        elements: Vec::with_capacity(raw.0.len() / 8),
    };
    data.elements.extend(words(&raw.0).map(u64::from_ne_bytes));
    whole(&data.shape, data.elements.len())?;
    Ok(data)
}

/// Converts a result for NumPy.
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

/// Applies `take` to every number of a constant, of which there are as many as its shape has.
fn each((kind, shape, raw): Array, mut take: impl FnMut(Number) -> PyResult<()>) -> PyResult<()> {
    let raw = raw.0;
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

fn words(raw: &[u8]) -> impl Iterator<Item = [u8; 8]> + '_ {
    raw.chunks_exact(8)
        .map(|word| <[u8; 8]>::try_from(word).unwrap_or_default())
}

/// Refuses elements whose number does not match a shape.
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
