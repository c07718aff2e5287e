//! Bytes as Python gives them: one object, a list of objects, or an array of rows.
//!
//! While the interpreter is free, other threads may change whatever can be changed. So `bytes` are
//! borrowed, and everything else is copied before.

use crate::error;
use pyo3::buffer::{PyBuffer, ReadOnlyCell};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PySlice, PyString};
use sealane_program::diagnostic::Diagnostic;
use zeroize::Zeroizing;

/// An object that holds bytes.
pub enum Given {
    /// Bytes that nobody changes.
    Frozen(PyBackedBytes),
    /// Bytes that somebody may change.
    Shared(PyBuffer<u8>),
}

impl Given {
    /// What an argument holds.
    pub fn new(name: &str, item: &Bound<'_, PyAny>) -> PyResult<Given> {
        if let Ok(bytes) = item.cast::<PyBytes>() {
            return Ok(Given::Frozen(bytes.clone().into()));
        }
        PyBuffer::get(item)
            .map(Given::Shared)
            .map_err(|_| no_bytes(item.py(), name, &kind(item)))
    }

    /// How many bytes it holds.
    pub fn len(&self) -> usize {
        match self {
            Given::Frozen(bytes) => bytes.len(),
            Given::Shared(buffer) => buffer.item_count(),
        }
    }

    /// Copies the bytes to a place of their length.
    pub fn copy_to(&self, py: Python<'_>, to: &mut [u8]) -> PyResult<()> {
        match self {
            Given::Frozen(bytes) => to.copy_from_slice(bytes),
            Given::Shared(buffer) => buffer.copy_to_slice(py, to)?,
        }
        Ok(())
    }

    /// Copies the bytes to two places, which have their length together.
    pub fn copy_apart(&self, py: Python<'_>, first: &mut [u8], second: &mut [u8]) -> PyResult<()> {
        match self {
            Given::Frozen(bytes) => {
                first.copy_from_slice(&bytes[..first.len()]);
                second.copy_from_slice(&bytes[first.len()..]);
            }
            Given::Shared(buffer) => match buffer.as_slice(py) {
                Some(cells) => {
                    // Two loops, since one over both places together is not vectorised.
                    let (head, tail) = cells.split_at(first.len());
                    let copy = |to: &mut [u8], from: &[ReadOnlyCell<u8>]| {
                        let places = to.iter_mut().zip(from);
                        places.for_each(|(to, from)| *to = from.get());
                    };
                    copy(first, head);
                    copy(second, tail);
                }
                None => {
                    let bytes = Zeroizing::new(buffer.to_vec(py)?);
                    first.copy_from_slice(&bytes[..first.len()]);
                    second.copy_from_slice(&bytes[first.len()..]);
                }
            },
        }
        Ok(())
    }

    /// Bytes that stay what they are.
    pub fn freeze(self, py: Python<'_>) -> PyResult<Bytes> {
        Ok(match self {
            Given::Frozen(bytes) => Bytes::Frozen(bytes),
            Given::Shared(buffer) => Bytes::Own(Zeroizing::new(buffer.to_vec(py)?)),
        })
    }
}

/// Bytes that stay what they are.
pub enum Bytes {
    /// Those of a `bytes`.
    Frozen(PyBackedBytes),
    /// A copy.
    Own(Zeroizing<Vec<u8>>),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Frozen(bytes) => bytes,
            Bytes::Own(bytes) => bytes,
        }
    }
}

/// Something for each message.
pub enum Items<'py> {
    /// The same for all.
    One(Bytes),
    /// Objects.
    List(Vec<Bound<'py, PyAny>>),
    /// A NumPy array of rows.
    Rows {
        array: Bound<'py, PyAny>,
        count: usize,
        width: usize,
    },
}

impl<'py> Items<'py> {
    /// Looks at what was given; `one` says whether one may serve all messages.
    pub fn new(name: &str, item: &Bound<'py, PyAny>, one: bool) -> PyResult<Items<'py>> {
        let py = item.py();
        if let Ok(buffer) = PyBuffer::<u8>::get(item) {
            if let &[count, width] = buffer.shape() {
                let array = py.import("numpy")?.call_method1("asarray", (item,))?;
                return Ok(Items::Rows {
                    array,
                    count,
                    width,
                });
            }
            if !one || buffer.dimensions() > 2 {
                let what = "one array of bytes, and no list of them";
                return Err(no_bytes(py, name, what));
            }
            return Ok(Items::One(Given::new(name, item)?.freeze(py)?));
        }
        // What a text has are characters, and an array of another kind has items that are no bytes, or
        // bytes that have lost the zeros at their ends.
        if item.is_instance_of::<PyString>() || item.hasattr("dtype")? {
            return Err(no_bytes(py, name, &kind(item)));
        }
        let items = item.try_iter().and_then(Iterator::collect::<PyResult<_>>);
        items
            .map(Items::List)
            .map_err(|_| no_bytes(py, name, "no list"))
    }

    /// How many there are, unless the same one serves all.
    pub fn count(&self) -> Option<usize> {
        match self {
            Items::One(_) => None,
            Items::List(items) => Some(items.len()),
            Items::Rows { count, .. } => Some(*count),
        }
    }

    /// Those of some messages.
    pub fn window(&self, py: Python<'_>, name: &str, from: usize, to: usize) -> PyResult<Part<'_>> {
        Ok(match self {
            Items::One(bytes) => Part::One(bytes),
            Items::List(items) => {
                let items = items[from..to].iter().enumerate();
                let items = items.map(|(i, item)| {
                    let name = format!("{name}[{}]", from + i);
                    Given::new(&name, item)?.freeze(py)
                });
                Part::Each(items.collect::<PyResult<_>>()?)
            }
            Items::Rows { array, width, .. } => {
                let rows = rows(array, from, to)?.to_vec(py)?;
                Part::Rows(Zeroizing::new(rows), *width)
            }
        })
    }
}

/// Rows of an array.
pub fn rows(array: &Bound<'_, PyAny>, from: usize, to: usize) -> PyResult<PyBuffer<u8>> {
    let slice = PySlice::new(array.py(), from as isize, to as isize, 1);
    PyBuffer::get(&array.get_item(slice)?)
}

/// Something for each message of a window.
pub enum Part<'a> {
    One(&'a Bytes),
    Each(Vec<Bytes>),
    Rows(Zeroizing<Vec<u8>>, usize),
}

impl Part<'_> {
    /// Those of all messages, one behind the other, if they came from an array.
    pub fn rows(&self) -> Option<&[u8]> {
        match self {
            Part::Rows(bytes, _) => Some(bytes),
            _ => None,
        }
    }

    /// That of a message of the window.
    pub fn get(&self, number: usize) -> &[u8] {
        match self {
            Part::One(bytes) => bytes.as_ref(),
            Part::Each(items) => items[number].as_ref(),
            Part::Rows(bytes, width) => &bytes[number * width..(number + 1) * width],
        }
    }
}

/// What kind of thing an object is.
fn kind(item: &Bound<'_, PyAny>) -> String {
    let said = |what: &Bound<'_, PyAny>| what.to_string();
    match item.getattr("dtype") {
        Ok(dtype) => format!("an array of {}", said(&dtype)),
        Err(_) => {
            let name = item.get_type().name();
            name.map_or_else(|_| "no bytes".into(), |name| format!("of type `{name}`"))
        }
    }
}

/// The refusal of what holds no bytes.
pub fn no_bytes(py: Python<'_>, name: &str, what: &str) -> PyErr {
    let finding = Diagnostic::new("aead-parameter", format!("`{name}` is {what}"));
    error::found(py, &finding.hint(HINT))
}

const HINT: &str = "give `bytes`, or what holds bytes: a bytearray, a memoryview, an array of uint8; many \
                    in a list, or as the rows of a two-dimensional array of uint8";
