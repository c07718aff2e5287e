//! Many messages: read in windows, sealed or opened in one buffer, returned in order.

use super::bytes::{BatchArg, BatchSlice, BufferArg, Bytes, no_bytes, rows};
use super::ledger::Ledger;
use super::{View, open_one, refuse, refuse_nonce, seal_one};
use crate::error;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane_aead::{
    Ads, Cipher, Error, KeyId, Message, Nonces, RowBatch, Suite, WINDOW, open_many, seal_many,
};
use sealane_block::Cpu;
use sealane_diagnostic::{Code, Diagnostic};
use zeroize::Zeroizing;

/// Most bytes of a window with more than one message.
const WINDOW_BYTES: usize = 1 << 26;

/// Lengths of texts: one for all messages, or one for each.
#[derive(FromPyObject)]
pub enum Lengths {
    /// One for all.
    Same(usize),
    /// One for each.
    Each(Vec<usize>),
}

impl Lengths {
    fn get(&self, number: usize) -> Option<usize> {
        match self {
            Lengths::Same(length) => Some(*length),
            Lengths::Each(lengths) => lengths.get(number).copied(),
        }
    }
}

/// Result of a message.
pub enum Made<'a, 'py> {
    /// Bytes to be copied, or none if a message did not open.
    Copy(Option<&'a [u8]>),
    /// An object that holds them.
    Whole(Bound<'py, PyBytes>),
}

/// A call for many messages.
pub struct Many<'py> {
    open: bool,
    cpu: Cpu,
    /// A cipher of the mode: with the one key, if there is one.
    cipher: Cipher,
    keys: BatchArg<'py>,
    nonces: BatchArg<'py>,
    messages: BatchArg<'py>,
    aads: BatchArg<'py>,
    lengths: Option<Lengths>,
    /// Number of messages that each key has failed to open before.
    failures_before: u64,
    /// Number of messages.
    pub count: usize,
}

impl<'py> Many<'py> {
    /// Reads the arguments of the call, but no message yet.
    pub fn new(
        open: bool,
        (cpu, suite): (Cpu, Suite),
        keys: &Bound<'py, PyAny>,
        nonces: &Bound<'py, PyAny>,
        messages: &Bound<'py, PyAny>,
        aads: Option<&Bound<'py, PyAny>>,
        lengths: Option<Lengths>,
    ) -> PyResult<Many<'py>> {
        let keys = BatchArg::new("keys", keys, true)?;
        let messages = BatchArg::new("messages", messages, false)?;
        let Some(count) = messages.count() else {
            return Err(no_bytes("messages", "one message"));
        };
        let cipher = match &keys {
            BatchArg::One(key) => Cipher::new(cpu, suite, key.as_ref()),
            _ => Cipher::new(cpu, suite, &vec![0; suite.key_bytes()]),
        };
        let many = Many {
            open,
            cpu,
            cipher: cipher.map_err(|error| refuse(&error, None))?,
            keys,
            nonces: BatchArg::new("nonces", nonces, false)?,
            messages,
            aads: match aads {
                Some(aads) => BatchArg::new("aads", aads, true)?,
                None => BatchArg::One(Bytes::Own(Zeroizing::default())),
            },
            lengths,
            failures_before: 0,
            count,
        };
        many.check()?;
        Ok(many)
    }

    /// Sets the number of messages that each key failed to open before this call.
    pub fn count_failures_before(&mut self, failures: u64) {
        self.failures_before = failures;
        self.cipher.count_failures_elsewhere(failures);
    }

    /// Refuses lists whose length differs from that of the messages.
    fn check(&self) -> PyResult<()> {
        let lengths = match &self.lengths {
            Some(Lengths::Each(lengths)) => Some(lengths.len()),
            _ => None,
        };
        for (name, other) in [
            ("keys", self.keys.count()),
            ("nonces", self.nonces.count()),
            ("aads", self.aads.count()),
            ("plaintext_lens", lengths),
        ] {
            if let Some(other) = other.filter(|other| *other != self.count) {
                let count = self.count;
                let message = format!("`{name}` has {other} items for {count} messages");
                let finding = Diagnostic::new(Code::AeadParameter, message);
                let hint = "give one for each message, in the order of the messages";
                return Err(error::raised(finding.hint(hint)));
            }
        }
        Ok(())
    }

    /// Refuses a message with the nonce of an earlier one under the same key, before any is sealed.
    pub fn refuse_equal_nonces(&self, py: Python<'py>) -> PyResult<()> {
        let mut seen = Nonces::default();
        for from in (0..self.count).step_by(WINDOW) {
            py.check_signals()?;
            let to = self.count.min(from + WINDOW);
            let nonces = self.nonces.window(py, "nonces", from, to)?;
            let keys = match self.keys.count() {
                Some(_) => Some(self.keys.window(py, "keys", from, to)?),
                None => None,
            };
            for number in from..to {
                let key = match &keys {
                    Some(keys) => KeyId::Secret(keys.get(number - from)),
                    None => KeyId::Numbered(0),
                };
                if let Some(first) = seen.used_before(key, nonces.get(number - from)) {
                    let error = Error::NonceRepeated { first, number };
                    return Err(refuse_nonce(self.cipher.suite(), &error));
                }
            }
        }
        Ok(())
    }

    /// Length of all results, if the messages are rows and it is known.
    pub fn width(&self) -> Option<usize> {
        match self.messages {
            BatchArg::Rows { width, .. } if !self.open => Some(self.cipher.sealed_len(width)),
            BatchArg::Rows { width, .. } if self.cipher.is_detachable() => {
                Some(width.saturating_sub(self.cipher.suite().tag_bytes()))
            }
            _ => None,
        }
    }

    /// Seals or opens all messages, and passes on the result of each, in order. Returns the numbers
    /// of the messages that did not open.
    pub fn run(
        &self,
        py: Python<'py>,
        mut show: impl FnMut(Made<'_, 'py>),
    ) -> PyResult<Vec<usize>> {
        let (mut arena, open) = (Arena::default(), self.open);
        let mut ledger = Ledger::new(self.failures_before);
        let mut failed = Vec::new();
        let mut from = 0;
        while from < self.count {
            py.check_signals()?;
            let window = Window::next(&self.messages, from)?;
            let batch = self.batch(py, &window, from, &mut ledger)?;
            let mut number = from;
            let mut take = |made: Result<Made<'_, 'py>, Error>| {
                match made {
                    Ok(made) => show(made),
                    Err(Error::NotAuthentic | Error::SealedLength { .. }) => {
                        failed.push(number);
                        show(Made::Copy(None));
                    }
                    Err(error) => return Err(refuse(&error, Some(number))),
                }
                number += 1;
                Ok(())
            };
            if let Window::Alone(data) = &window {
                let made = if !open {
                    seal_one(py, &batch.view(0), data)?
                } else {
                    open_one(py, &batch.view(0), data, batch.texts[0])?
                };
                take(made.map(Made::Whole))?;
            } else {
                let bytes = arena.bytes(batch.sizes.iter().sum());
                window.copy_to(py, bytes, &batch.sizes)?;
                let results = py.detach(|| batch.run(open, bytes));
                for (result, bytes) in results.into_iter().zip(split(bytes, &batch.sizes)) {
                    take(result.map(|length| Made::Copy(Some(&bytes[..length]))))?;
                }
            }
            from += window.len();
        }
        Ok(failed)
    }

    /// Reads the arguments of a window's messages besides their data.
    fn batch(
        &self,
        py: Python<'py>,
        window: &Window,
        from: usize,
        ledger: &mut Ledger,
    ) -> PyResult<Batch<'_>> {
        let to = from + window.len();
        let (cpu, cipher) = (self.cpu, &self.cipher);
        let mut each = None;
        if self.keys.count().is_some() {
            let keys = self.keys.window(py, "keys", from, to)?;
            let expand = |number| {
                let key = keys.get(number - from);
                let cipher = Cipher::new(cpu, cipher.suite(), key);
                let cipher = cipher.map(|cipher| cipher.counting(ledger.counts(key)));
                cipher.map_err(|error| (error, number))
            };
            let ciphers = py.detach(|| (from..to).map(expand).collect::<Result<_, _>>());
            let refuse = |(error, number)| refuse(&error, Some(number));
            each = Some(ciphers.map_err(refuse)?);
        }
        let lengths = (0..window.len()).map(|number| window.bytes(number));
        Ok(Batch {
            cipher,
            each,
            rows: matches!(window, Window::Rows(..))
                && !matches!(self.lengths, Some(Lengths::Each(_))),
            nonces: self.nonces.window(py, "nonces", from, to)?,
            aads: self.aads.window(py, "aads", from, to)?,
            sizes: if !self.open {
                lengths
                    .clone()
                    .map(|text| cipher.sealed_len(text))
                    .collect()
            } else {
                lengths.clone().collect()
            },
            texts: if !self.open {
                lengths.map(Some).collect()
            } else {
                (from..to)
                    .map(|number| self.lengths.as_ref()?.get(number))
                    .collect()
            },
        })
    }
}

/// Arguments of a window's messages besides their data.
struct Batch<'a> {
    cipher: &'a Cipher,
    /// Cipher of each message, if each has its key.
    each: Option<Vec<Cipher>>,
    nonces: BatchSlice<'a>,
    aads: BatchSlice<'a>,
    /// Bytes of their buffers.
    sizes: Vec<usize>,
    /// Lengths of their texts, if known.
    texts: Vec<Option<usize>>,
    /// True if data are rows, and so of one length.
    rows: bool,
}

impl Batch<'_> {
    fn view(&self, number: usize) -> View<'_> {
        View {
            cipher: self.each.as_ref().map_or(self.cipher, |each| &each[number]),
            nonce: self.nonces.get(number),
            aad: self.aads.get(number),
        }
    }

    /// Seals or opens contiguous messages. Returns the length of each result.
    fn run(&self, open: bool, bytes: &mut [u8]) -> Vec<Result<usize, Error>> {
        if let Some(rows) = self.rows(bytes) {
            return run_rows(open, rows, &self.sizes);
        }
        let messages = split(bytes, &self.sizes).enumerate();
        let messages = messages.map(|(number, buffer)| {
            let view = self.view(number);
            Message {
                cipher: view.cipher,
                nonce: view.nonce,
                ad: view.aad,
                buffer,
                text: self.texts[number],
            }
        });
        if !open {
            let sealed = seal_many(messages).with_equal_nonces();
            sealed.map(|done| done.result).collect()
        } else {
            open_many(messages).map(|done| done.result).collect()
        }
    }
}

impl Batch<'_> {
    /// Messages as rows, if possible: under one key, with nonces and data from arrays.
    fn rows<'a>(&'a self, buffers: &'a mut [u8]) -> Option<RowBatch<'a>> {
        if !self.rows || self.each.is_some() {
            return None;
        }
        Some(RowBatch {
            cipher: self.cipher,
            count: self.sizes.len(),
            nonces: self.nonces.rows()?,
            ads: match &self.aads {
                BatchSlice::One(aad) => Ads::Same(aad.as_ref()),
                aads => Ads::Each(aads.rows()?),
            },
            text: *self.texts.first()?,
            buffers,
        })
    }
}

/// Performs [`Batch::run`] for messages that are rows.
fn run_rows(open: bool, rows: RowBatch<'_>, sizes: &[usize]) -> Vec<Result<usize, Error>> {
    let refused = |error| vec![Err(error); sizes.len()];
    if !open {
        match rows.seal_with_equal_nonces() {
            Ok(()) => sizes.iter().map(|size| Ok(*size)).collect(),
            Err(error) => refused(error),
        }
    } else {
        match rows.open() {
            Ok(opened) => {
                let opened = opened.into_iter();
                opened.map(|text| text.ok_or(Error::NotAuthentic)).collect()
            }
            Err(error) => refused(error),
        }
    }
}

/// Data of neighbouring messages.
enum Window {
    /// One message, which is as long as a window.
    Alone(BufferArg),
    /// Objects.
    List(Vec<BufferArg>),
    /// Rows: their number, and bytes of each.
    Rows(PyBuffer<u8>, usize, usize),
}

impl Window {
    fn next(messages: &BatchArg<'_>, from: usize) -> PyResult<Window> {
        let given = match messages {
            BatchArg::Rows {
                array,
                count,
                width,
            } => {
                let most = WINDOW.min(WINDOW_BYTES / (*width).max(1)).max(1);
                let to = count.saturating_sub(from).min(most) + from;
                let rows = rows(array, from, to)?;
                return Ok(match most {
                    1 => Window::Alone(BufferArg::Shared(rows)),
                    _ => Window::Rows(rows, to - from, *width),
                });
            }
            BatchArg::List(items) => &items[from..],
            BatchArg::One(_) => &[],
        };
        let (mut list, mut bytes) = (Vec::new(), 0);
        for (number, item) in given.iter().enumerate().take(WINDOW) {
            let item = BufferArg::new(&format!("messages[{}]", from + number), item)?;
            bytes += item.len();
            if bytes > WINDOW_BYTES {
                if list.is_empty() {
                    return Ok(Window::Alone(item));
                }
                break;
            }
            list.push(item);
        }
        Ok(Window::List(list))
    }

    fn len(&self) -> usize {
        match self {
            Window::Alone(_) => 1,
            Window::List(items) => items.len(),
            Window::Rows(_, count, _) => *count,
        }
    }

    /// Bytes of a message.
    fn bytes(&self, number: usize) -> usize {
        match self {
            Window::Alone(item) => item.len(),
            Window::List(items) => items[number].len(),
            Window::Rows(_, _, width) => *width,
        }
    }

    /// Copies each message to the front of its buffer.
    fn copy_to(&self, py: Python<'_>, bytes: &mut [u8], sizes: &[usize]) -> PyResult<()> {
        let mut given: &[BufferArg] = &[];
        match self {
            Window::Alone(item) => given = std::slice::from_ref(item),
            Window::List(items) => given = items,
            Window::Rows(rows, count, width) => {
                rows.copy_to_slice(py, &mut bytes[..count * width])?;
                // The last row first, so that none is overwritten before it has moved.
                for row in (1..*count).rev().filter(|_| sizes[0] > *width) {
                    bytes.copy_within(row * width..(row + 1) * width, row * sizes[0]);
                }
            }
        }
        for (item, to) in given.iter().zip(split(bytes, sizes)) {
            item.copy_to(py, &mut to[..item.len()])?;
        }
        Ok(())
    }
}

/// Buffer in which the messages of a window are sealed and opened; erasing words is faster than
/// erasing bytes.
#[derive(Default)]
struct Arena(Zeroizing<Vec<u128>>);

impl Arena {
    fn bytes(&mut self, count: usize) -> &mut [u8] {
        let words = count.div_ceil(16);
        if self.0.len() < words {
            self.0 = Zeroizing::new(vec![0; words]);
        }
        &mut bytemuck::must_cast_slice_mut(&mut self.0)[..count]
    }
}

/// Splits contiguous buffers.
fn split<'a>(mut bytes: &'a mut [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a mut [u8]> {
    sizes.iter().map(move |size| {
        let (buffer, rest) = std::mem::take(&mut bytes).split_at_mut(*size);
        bytes = rest;
        buffer
    })
}
