//! `sealane.aead`: conversion of Python's byte objects for the lanes, and back.
//!
//! The interpreter is released while lanes work. Messages are processed in windows, and memory
//! besides the inputs and the results is one window, or one message if that is longer.

mod bytes;
mod ledger;
mod many;

use crate::error;
use bytes::{BufferArg, Bytes};
use many::{Lengths, Made, Many};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};
use sealane_aead::{Cipher, Error, Suite};
use sealane_block::Cpu;
use sealane_diagnostic::{Code, Diagnostic};
use zeroize::Zeroizing;

/// Seals a message; returns the whole output of the mode.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn aead_seal<'py>(
    mode: &str,
    key: &Bound<'py, PyAny>,
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    tag_len: Option<usize>,
    version: Option<&str>,
    research: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let choice = choose(mode, tag_len, version, research)?;
    let one = One::new(choice, key, nonce, aad)?;
    let sealed = seal_one(data.py(), &one.view(), &BufferArg::new("data", data)?)?;
    sealed.map_err(|error| refuse(&error, None))
}

/// Opens a message.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn aead_open<'py>(
    mode: &str,
    key: &Bound<'py, PyAny>,
    nonce: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    tag_len: Option<usize>,
    version: Option<&str>,
    research: bool,
    plaintext_len: Option<usize>,
    failures_before: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let choice = choose(mode, tag_len, version, research)?;
    let one = One::new(choice, key, nonce, aad)?;
    one.cipher.count_failures_elsewhere(failures_before);
    let opened = open_one(
        data.py(),
        &one.view(),
        &BufferArg::new("data", data)?,
        plaintext_len,
    )?;
    opened.map_err(|error| refuse(&error, None))
}

/// Result of many messages: a list of `bytes`, with `None` where a message did not open; or, if the
/// messages are rows and all results have one length that is known before, a `bytearray` of rows
/// with its shape. Then the numbers of the messages that did not open.
type Results<'py> = (Bound<'py, PyAny>, Option<(usize, usize)>, Vec<usize>);

/// Seals or opens many messages.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the Python functions")]
pub fn aead_many<'py>(
    open: bool,
    mode: &str,
    keys: &Bound<'py, PyAny>,
    nonces: &Bound<'py, PyAny>,
    messages: &Bound<'py, PyAny>,
    aads: Option<&Bound<'py, PyAny>>,
    tag_len: Option<usize>,
    version: Option<&str>,
    research: bool,
    plaintext_lens: Option<Lengths>,
    equal_nonces: bool,
    failures_before: u64,
) -> PyResult<Results<'py>> {
    let py = messages.py();
    let choice = choose(mode, tag_len, version, research)?;
    let mut many = Many::new(open, choice, keys, nonces, messages, aads, plaintext_lens)?;
    many.count_failures_before(failures_before);
    if !open && !equal_nonces {
        many.refuse_equal_nonces(py)?;
    }
    let Some(width) = many.width() else {
        let mut list = Vec::with_capacity(many.count);
        let failed = many.run(py, |made| {
            list.push(match made {
                Made::Copy(Some(bytes)) => PyBytes::new(py, bytes).into_any(),
                Made::Copy(None) => py.None().into_bound(py),
                Made::Whole(bytes) => bytes.into_any(),
            });
        })?;
        return Ok((PyList::new(py, list)?.into_any(), None, failed));
    };
    let bytes = many.count.checked_mul(width);
    let bytes = bytes.ok_or_else(|| PyMemoryError::new_err("the results do not fit"))?;
    let mut failed = Vec::new();
    let made = PyByteArray::new_with(py, bytes, |mut rest| {
        failed = many.run(py, |made| {
            let (row, more) = std::mem::take(&mut rest).split_at_mut(width);
            rest = more;
            match made {
                Made::Copy(Some(bytes)) => row.copy_from_slice(bytes),
                Made::Copy(None) => {}
                Made::Whole(bytes) => row.copy_from_slice(bytes.as_bytes()),
            }
        })?;
        Ok(())
    })?;
    Ok((made.into_any(), Some((many.count, width)), failed))
}

/// Processor and mode of a call, which says with `research` that modes for study alone are allowed.
fn choose(
    mode: &str,
    tag_len: Option<usize>,
    version: Option<&str>,
    research: bool,
) -> PyResult<(Cpu, Suite)> {
    let cpu = Cpu::detect().map_err(|error| {
        let finding = Diagnostic::new(Code::CpuTier, error.to_string());
        error::raised(finding.hint("unset SEALANE_TIER to use the best one"))
    })?;
    let suite = Suite::named(mode, version, tag_len).map_err(|error| refuse(&error, None))?;
    if !suite.is_everyday() && !research {
        let message = format!("{suite} is a mode for study, which does not protect data");
        let finding = Diagnostic::new(Code::AeadForStudy, message)
            .because("it authenticates nothing, or is for research: its page says what is broken")
            .hint("take \"gcm\", \"ocb3\" or \"ccm\"; to study the mode, say `research=True`");
        return Err(error::raised(finding));
    }
    Ok((cpu, suite))
}

/// Arguments of one message except its data.
struct One {
    cipher: Cipher,
    nonce: Bytes,
    aad: Bytes,
}

/// Borrowed form of [`One`].
struct View<'a> {
    cipher: &'a Cipher,
    nonce: &'a [u8],
    aad: &'a [u8],
}

impl One {
    fn new(
        (cpu, suite): (Cpu, Suite),
        key: &Bound<'_, PyAny>,
        nonce: &Bound<'_, PyAny>,
        aad: &Bound<'_, PyAny>,
    ) -> PyResult<One> {
        let py = key.py();
        let key = BufferArg::new("key", key)?.freeze(py)?;
        let cipher = Cipher::new(cpu, suite, key.as_ref());
        Ok(One {
            cipher: cipher.map_err(|error| refuse(&error, None))?,
            nonce: BufferArg::new("nonce", nonce)?.freeze(py)?,
            aad: BufferArg::new("aad", aad)?.freeze(py)?,
        })
    }

    fn view(&self) -> View<'_> {
        View {
            cipher: &self.cipher,
            nonce: self.nonce.as_ref(),
            aad: self.aad.as_ref(),
        }
    }
}

/// Seals a message in the buffer of its result.
fn seal_one<'py>(
    py: Python<'py>,
    one: &View<'_>,
    data: &BufferArg,
) -> PyResult<Result<Bound<'py, PyBytes>, Error>> {
    let text = data.len();
    let mut done = Ok(());
    let sealed = PyBytes::new_with(py, one.cipher.sealed_len(text), |sealed| {
        data.copy_to(py, &mut sealed[..text])?;
        done = py.detach(|| one.cipher.seal_in_place(one.nonce, one.aad, sealed, text));
        Ok(())
    })?;
    Ok(done.map(|()| sealed))
}

/// Opens a message: in the buffer of its result, if the mode can.
fn open_one<'py>(
    py: Python<'py>,
    one: &View<'_>,
    data: &BufferArg,
    text: Option<usize>,
) -> PyResult<Result<Bound<'py, PyBytes>, Error>> {
    let cipher = one.cipher;
    let length = data.len().checked_sub(cipher.suite().tag_bytes());
    if let Some(length) = length.filter(|_| cipher.is_detachable()) {
        let mut done = Ok(());
        let opened = PyBytes::new_with(py, length, |opened| {
            let mut tag = [0; 16];
            let tag = &mut tag[..data.len() - length];
            data.copy_apart(py, opened, tag)?;
            done = py.detach(|| cipher.open_detached(one.nonce, one.aad, opened, tag));
            Ok(())
        })?;
        return Ok(done.map(|()| opened));
    }
    let mut buffer = Zeroizing::new(vec![0; data.len()]);
    data.copy_to(py, &mut buffer)?;
    let done = py.detach(|| cipher.open_in_place(one.nonce, one.aad, &mut buffer, text));
    Ok(done.map(|length| PyBytes::new(py, &buffer[..length])))
}

/// Makes the exception for a nonce that is used twice.
fn refuse_nonce(suite: Suite, error: &Error) -> PyErr {
    // A counter suffices wherever nonces only have to differ.
    let advice = match suite.name() {
        "ctr" => {
            "take starts that lie further apart than texts have blocks: the counter of a message \
             goes on from its nonce"
        }
        "cbc" => "draw a random nonce for each message: one that can be foreseen is not enough",
        _ => "take a new nonce for each message, such as a counter",
    };
    let hint = format!("{advice}; if it is meant, say `equal_nonces=True`");
    let finding = Diagnostic::new(Code::AeadNonceTwice, error.to_string());
    error::raised(finding.hint(hint))
}

/// Makes the exception for an error, of a message of that number if there are many.
fn refuse(error: &Error, number: Option<usize>) -> PyErr {
    let (code, hint) = match error {
        Error::NotAuthentic => (
            Code::InvalidTag,
            "nothing of it is kept; are key, nonce and associated data those of the sealer?",
        ),
        // The message may have been cut off or forged on its way.
        Error::SealedLength { .. } => (
            Code::InvalidTag,
            "it was not sealed so, or not all of it is here; are mode, tag_len= and version= the sealer's?",
        ),
        Error::KeyWornOut { .. } => (Code::AeadKeyWornOut, "take a new key for what follows"),
        Error::TooManyFailures { .. } => (
            Code::AeadKeyWornOut,
            "take a new key, and longer tags; somebody may be guessing",
        ),
        Error::TextLengthNeeded { .. } => (
            Code::AeadParameter,
            "give it: `plaintext_len=` for one message, `plaintext_lens=` for many",
        ),
        _ => (
            Code::AeadParameter,
            "`sealane explain aead-parameter` says where each mode's page says what it takes",
        ),
    };
    let message = match number {
        Some(number) => format!("message {number}: {error}"),
        None => error.to_string(),
    };
    error::raised(Diagnostic::new(code, message).hint(hint))
}
