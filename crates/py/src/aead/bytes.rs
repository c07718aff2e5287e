//! Byte arguments from Python: one object, a list of objects, or an array of rows.
//!
//! While the interpreter is released, other threads may change mutable objects. So `bytes` are
//! borrowed, and everything else is copied first.

use crate::error;
use pyo3::buffer::{PyBuffer, ReadOnlyCell};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PySlice, PyString};
use sealane_diagnostic::{Code, Diagnostic};
use zeroize::Zeroizing;

/// A byte argument.
pub enum BufferArg {
    /// Immutable bytes.
    Frozen(PyBackedBytes),
    /// Bytes that other code may change.
    Shared(PyBuffer<u8>),
}

impl BufferArg {
    /// Reads the bytes of an argument.
    pub fn new(name: &str, item: &Bound<'_, PyAny>) -> PyResult<BufferArg> {
        if let Ok(bytes) = item.cast::<PyBytes>() {
            return Ok(BufferArg::Frozen(bytes.clone().into()));
        }
        PyBuffer::get(item)
            .map(BufferArg::Shared)
            .map_err(|_| no_bytes(name, &kind(item)))
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        match self {
            BufferArg::Frozen(bytes) => bytes.len(),
            BufferArg::Shared(buffer) => buffer.item_count(),
        }
    }

    /// Copies the bytes to a slice of their length.
    pub fn copy_to(&self, py: Python<'_>, to: &mut [u8]) -> PyResult<()> {
        match self {
            BufferArg::Frozen(bytes) => to.copy_from_slice(bytes),
            BufferArg::Shared(buffer) => buffer.copy_to_slice(py, to)?,
        }
        Ok(())
    }

    /// Copies the bytes to two slices, whose lengths add up to theirs.
    pub fn copy_apart(&self, py: Python<'_>, first: &mut [u8], second: &mut [u8]) -> PyResult<()> {
        match self {
            BufferArg::Frozen(bytes) => {
                first.copy_from_slice(&bytes[..first.len()]);
                second.copy_from_slice(&bytes[first.len()..]);
            }
            BufferArg::Shared(buffer) => match buffer.as_slice(py) {
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

    /// Returns immutable bytes.
    pub fn freeze(self, py: Python<'_>) -> PyResult<Bytes> {
        Ok(match self {
            BufferArg::Frozen(bytes) => Bytes::Frozen(bytes),
            BufferArg::Shared(buffer) => Bytes::Own(Zeroizing::new(buffer.to_vec(py)?)),
        })
    }
}

/// Immutable bytes.
pub enum Bytes {
    /// The bytes of a `bytes` object.
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

/// A byte argument for each message of a batch.
pub enum BatchArg<'py> {
    /// The same for all messages.
    One(Bytes),
    /// Objects, one per message.
    List(Vec<Bound<'py, PyAny>>),
    /// A NumPy array of rows, one per message.
    Rows {
        array: Bound<'py, PyAny>,
        count: usize,
        width: usize,
    },
}

impl<'py> BatchArg<'py> {
    /// Reads an argument; `one` allows one that serves all messages.
    pub fn new(name: &str, item: &Bound<'py, PyAny>, one: bool) -> PyResult<BatchArg<'py>> {
        let py = item.py();
        if let Ok(buffer) = PyBuffer::<u8>::get(item) {
            if let &[count, width] = buffer.shape() {
                let array = py.import("numpy")?.call_method1("asarray", (item,))?;
                return Ok(BatchArg::Rows {
                    array,
                    count,
                    width,
                });
            }
            if !one || buffer.dimensions() > 2 {
                let what = "one array of bytes, and no list of them";
                return Err(no_bytes(name, what));
            }
            return Ok(BatchArg::One(BufferArg::new(name, item)?.freeze(py)?));
        }
        // A text has characters, and an array of another kind has items that are no bytes, or bytes
        // that have lost the zeros at their ends.
        if item.is_instance_of::<PyString>() || item.hasattr("dtype")? {
            return Err(no_bytes(name, &kind(item)));
        }
        let items = item.try_iter().and_then(Iterator::collect::<PyResult<_>>);
        items
            .map(BatchArg::List)
            .map_err(|_| no_bytes(name, "no list"))
    }

    /// Number of items, unless the same one serves all.
    pub fn count(&self) -> Option<usize> {
        match self {
            BatchArg::One(_) => None,
            BatchArg::List(items) => Some(items.len()),
            BatchArg::Rows { count, .. } => Some(*count),
        }
    }

    /// Items of some messages.
    pub fn window(
        &self,
        py: Python<'_>,
        name: &str,
        from: usize,
        to: usize,
    ) -> PyResult<BatchSlice<'_>> {
        Ok(match self {
            BatchArg::One(bytes) => BatchSlice::One(bytes),
            BatchArg::List(items) => {
                let items = items[from..to].iter().enumerate();
                let items = items.map(|(i, item)| {
                    let name = format!("{name}[{}]", from + i);
                    BufferArg::new(&name, item)?.freeze(py)
                });
                BatchSlice::Each(items.collect::<PyResult<_>>()?)
            }
            BatchArg::Rows { array, width, .. } => {
                let rows = rows(array, from, to)?.to_vec(py)?;
                BatchSlice::Rows(Zeroizing::new(rows), *width)
            }
        })
    }
}

/// Takes rows of an array.
pub fn rows(array: &Bound<'_, PyAny>, from: usize, to: usize) -> PyResult<PyBuffer<u8>> {
    let slice = PySlice::new(array.py(), from as isize, to as isize, 1);
    PyBuffer::get(&array.get_item(slice)?)
}

/// A byte argument for each message of a window.
pub enum BatchSlice<'a> {
    One(&'a Bytes),
    Each(Vec<Bytes>),
    Rows(Zeroizing<Vec<u8>>, usize),
}

impl BatchSlice<'_> {
    /// Items of all messages, contiguous, if they came from an array.
    pub fn rows(&self) -> Option<&[u8]> {
        match self {
            BatchSlice::Rows(bytes, _) => Some(bytes),
            _ => None,
        }
    }

    /// Item of a message of the window.
    pub fn get(&self, number: usize) -> &[u8] {
        match self {
            BatchSlice::One(bytes) => bytes.as_ref(),
            BatchSlice::Each(items) => items[number].as_ref(),
            BatchSlice::Rows(bytes, width) => &bytes[number * width..(number + 1) * width],
        }
    }
}

/// Describes the kind of an object.
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

/// Makes the refusal of an object without bytes.
pub fn no_bytes(name: &str, what: &str) -> PyErr {
    let finding = Diagnostic::new(Code::AeadParameter, format!("`{name}` is {what}"));
    error::raised(finding.hint(HINT))
}

const HINT: &str = "give `bytes`, or what holds bytes: a bytearray, a memoryview, an array of uint8; many \
                    in a list, or as the rows of a two-dimensional array of uint8";
