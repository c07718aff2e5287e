//! Arrays between NumPy and the engine: kind, shape and 64-bit elements in native byte order.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane_program::types::{Data, Range, Type};
use zeroize::Zeroizing;

/// Kind (`bool`, `u64` or `i64`; for results the element type), shape, elements.
pub type Array = (String, Vec<u64>, Vec<u8>);

/// A constant of a program: its type is the smallest that holds its numbers, so that, like a bare
/// number, it does not widen what stands beside it.
pub fn constant(array: Array) -> PyResult<Data> {
    let mut data = elements(array)?;
    let smallest = Range::of_all(data.numbers()).and_then(Type::smallest);
    if data.ty != Type::Bool {
        data.ty = smallest.unwrap_or(data.ty);
    }
    Ok(data)
}

/// An input in the type that the array has itself; the engine checks it against its declaration.
/// The bytes that Python passed are erased; the array that they came from stays the caller's.
pub fn elements((kind, shape, raw): Array) -> PyResult<Data> {
    let raw = Zeroizing::new(raw);
    let ty = kind
        .parse()
        .map_err(|_| PyValueError::new_err("unknown kind of array"))?;
    let words = raw
        .chunks_exact(8)
        .map(|word| <[u8; 8]>::try_from(word).unwrap_or_default());
    let elements = words.map(u64::from_ne_bytes).collect::<Vec<_>>();
    let count = shape
        .iter()
        .try_fold(1u64, |product, length| product.checked_mul(*length));
    if count != Some(elements.len() as u64) || raw.len() % 8 != 0 {
        return Err(PyValueError::new_err(
            "shape and elements of an array differ",
        ));
    }
    Ok(Data {
        ty,
        shape,
        elements,
    })
}

/// A result for NumPy.
pub fn to_python<'py>(py: Python<'py>, data: &Data) -> (String, Vec<u64>, Bound<'py, PyBytes>) {
    let raw = data
        .elements
        .iter()
        .flat_map(|element| element.to_ne_bytes())
        .collect::<Vec<_>>();
    (
        data.ty.to_string(),
        data.shape.clone(),
        PyBytes::new(py, &raw),
    )
}
