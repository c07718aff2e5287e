//! The stream of table bytes as a machine sees it: buffers to write to or to read from.

use std::convert::Infallible;

use sealane_block::{Block, Group};
use zeroize::Zeroize;

use crate::CHUNK_BYTES;

/// Sink of tables for a garbler, or their source for an evaluator. A machine requests the next
/// bytes, processes them in place, and reports how many it used.
pub trait Tables {
    /// The reason why the stream ended.
    type Error;
    /// Returns at least `bytes` bytes (requests are at most [`CHUNK_BYTES`]): space for them, or
    /// the bytes that the garbler sent. It may return more, and returns the same bytes again until
    /// they are passed.
    ///
    /// # Errors
    /// The stream has ended.
    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Self::Error>;
    /// Marks the first `bytes` bytes from [`Tables::next`] as written, or as read.
    ///
    /// # Errors
    /// The stream has ended.
    fn pass(&mut self, bytes: usize) -> Result<(), Self::Error>;
}

/// [`Tables`] with the error type erased, so that machines are compiled once and not for every
/// caller.
pub(crate) trait TableStream {
    /// As [`Tables::next`].
    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Ended>;
    /// As [`Tables::next`], where `gates` gates of so many bytes each follow, in whole groups: of
    /// some of these at once, if the stream has to know how many groups come next.
    fn next_gates(&mut self, bytes: usize, gates: usize) -> Result<&mut [u8], Ended> {
        let _ = gates;
        self.next(bytes)
    }
    /// As [`Tables::pass`].
    fn pass(&mut self, bytes: usize) -> Result<(), Ended>;
}

/// Signal that the stream has ended, for a reason that the [`TableStream`] keeps.
pub(crate) struct Ended;

/// A [`TableStream`] over tables, which keeps their error.
pub(crate) struct KeepError<'a, T: Tables> {
    tables: &'a mut T,
    error: Option<T::Error>,
}

impl<'a, T: Tables> KeepError<'a, T> {
    pub fn new(tables: &'a mut T) -> KeepError<'a, T> {
        KeepError {
            tables,
            error: None,
        }
    }

    /// Returns the result of a run over this stream, with the error of its tables.
    pub fn explain(self, result: Result<(), Ended>) -> Result<(), T::Error> {
        KeepError::explain_all(vec![self], result)
    }

    /// The same of a run over several streams: the error of the first that has one.
    pub fn explain_all(all: Vec<Self>, result: Result<(), Ended>) -> Result<(), T::Error> {
        result.map_err(|Ended| {
            let mut errors = all.into_iter().filter_map(|keep| keep.error);
            errors.next().expect("a stream that ended has a reason")
        })
    }
}

impl<T: Tables> TableStream for KeepError<'_, T> {
    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Ended> {
        let KeepError { tables, error } = self;
        tables.next(bytes).map_err(|why| {
            *error = Some(why);
            Ended
        })
    }

    fn pass(&mut self, bytes: usize) -> Result<(), Ended> {
        self.tables.pass(bytes).map_err(|why| {
            self.error = Some(why);
            Ended
        })
    }
}

/// Writer that collects tables in chunks of [`CHUNK_BYTES`] and passes each full chunk to a
/// function.
pub struct ChunkWriter<F> {
    chunk: Vec<Group>,
    filled: usize,
    sink: F,
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> ChunkWriter<F> {
    /// Creates a writer with `sink` as the function.
    pub fn new(sink: F) -> ChunkWriter<F> {
        ChunkWriter {
            chunk: vec![Group::ZERO; CHUNK_BYTES / size_of::<Group>()],
            filled: 0,
            sink,
        }
    }

    /// Passes the remaining bytes to the function.
    ///
    /// # Errors
    /// The error of the function.
    pub fn flush(&mut self) -> Result<(), E> {
        let filled = std::mem::take(&mut self.filled);
        match filled {
            0 => Ok(()),
            _ => (self.sink)(&bytes(&mut self.chunk)[..filled]),
        }
    }
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> Tables for ChunkWriter<F> {
    type Error = E;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], E> {
        if CHUNK_BYTES - self.filled < bytes {
            self.flush()?;
        }
        Ok(&mut self::bytes(&mut self.chunk)[self.filled..])
    }

    fn pass(&mut self, bytes: usize) -> Result<(), E> {
        self.filled += bytes;
        Ok(())
    }
}

/// Reader of tables in chunks of at most [`CHUNK_BYTES`], which a function fills on demand.
pub struct ChunkReader<F> {
    chunk: Vec<Group>,
    /// Start and end of the bytes that are not yet used.
    unread: (usize, usize),
    /// Number of bytes that the function has yet to deliver.
    to_come: u64,
    source: F,
}

impl<E, F: FnMut(&mut [u8]) -> Result<(), E>> ChunkReader<F> {
    /// Creates a reader of `total` bytes from `source`.
    pub fn new(total: u64, source: F) -> ChunkReader<F> {
        ChunkReader {
            chunk: vec![Group::ZERO; CHUNK_BYTES / size_of::<Group>()],
            unread: (0, 0),
            to_come: total,
            source,
        }
    }
}

impl<E, F: FnMut(&mut [u8]) -> Result<(), E>> Tables for ChunkReader<F> {
    type Error = E;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], E> {
        let (start, end) = self.unread;
        let chunk = self::bytes(&mut self.chunk);
        if end - start < bytes {
            chunk.copy_within(start..end, 0);
            let kept = end - start;
            let wanted = (CHUNK_BYTES - kept).min(self.to_come.try_into().unwrap_or(usize::MAX));
            (self.source)(&mut chunk[kept..][..wanted])?;
            self.unread = (0, kept + wanted);
            self.to_come -= wanted as u64;
        }
        Ok(&mut chunk[self.unread.0..self.unread.1])
    }

    fn pass(&mut self, bytes: usize) -> Result<(), E> {
        self.unread.0 += bytes;
        Ok(())
    }
}

impl<F> Drop for ChunkWriter<F> {
    /// Tables are public. They are erased as well, so that nothing is left in memory.
    fn drop(&mut self) {
        self.chunk.zeroize();
    }
}

/// All tables of a circuit in memory, for tests and measurements: a garbler appends them, and an
/// evaluator reads those that it is made [`From`].
#[derive(Default)]
pub struct TablesInMemory {
    bytes: Vec<u8>,
    passed: usize,
    /// True if the tables are read, so that none may follow them.
    given: bool,
}

impl TablesInMemory {
    /// Returns what the garbler wrote.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.passed);
        self.bytes
    }
}

impl From<Vec<u8>> for TablesInMemory {
    fn from(bytes: Vec<u8>) -> TablesInMemory {
        TablesInMemory {
            bytes,
            passed: 0,
            given: true,
        }
    }
}

impl Tables for TablesInMemory {
    type Error = Infallible;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Infallible> {
        let wanted = self.passed + bytes;
        if wanted > self.bytes.len() {
            assert!(!self.given, "an evaluator reads more tables than there are");
            self.bytes.resize(wanted, 0);
        }
        Ok(&mut self.bytes[self.passed..])
    }

    fn pass(&mut self, bytes: usize) -> Result<(), Infallible> {
        self.passed += bytes;
        Ok(())
    }
}

fn bytes(chunk: &mut [Group]) -> &mut [u8] {
    Block::as_bytes_mut(Group::as_blocks_mut(chunk))
}
