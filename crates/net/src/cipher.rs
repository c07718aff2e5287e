//! Layer between frames and the socket: TLS records, or plain text.
//!
//! The two threads of a connection share one TLS state behind a lock. The lock is held while bytes
//! are encrypted or decrypted in memory and never while a thread waits for the socket, so one
//! direction delays the other for at most one batch.

use std::io::{BufRead, IoSlice, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::Connection;

use crate::error::LinkError;

/// Encryption of a connection.
pub(crate) enum Cipher {
    /// None, for measurements and simulators only. Frames are written and read where they lie.
    Plain,
    Tls(Box<TlsRecords>),
}

impl Cipher {
    /// Wraps a connection whose handshake is done.
    pub(crate) fn tls(mut connection: Connection) -> Cipher {
        // The writer takes every record out at once, so the library's own bound is not needed.
        connection.set_buffer_limit(None);
        Cipher::Tls(Box::new(TlsRecords(Mutex::new(connection))))
    }
}

/// TLS records of a connection.
pub(crate) struct TlsRecords(Mutex<Connection>);

impl TlsRecords {
    /// Appends the encrypted form of `pieces`, one after the other, to `wire`.
    pub(crate) fn seal(&self, pieces: &[&[u8]], wire: &mut Vec<u8>) -> Result<(), LinkError> {
        let mut connection = self.lock();
        let slices: Vec<IoSlice<'_>> = pieces.iter().map(|p| IoSlice::new(p)).collect();
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        match connection.writer().write_vectored(&slices) {
            Ok(written) if written == bytes => {
                drain(&mut connection, wire);
                Ok(())
            }
            Ok(_) => Err(tls_failure("the connection has been closed")),
            Err(error) => Err(tls_failure(error)),
        }
    }

    /// Appends the TLS close notification to `wire`.
    pub(crate) fn seal_end(&self, wire: &mut Vec<u8>) {
        let mut connection = self.lock();
        connection.send_close_notify();
        drain(&mut connection, wire);
    }

    /// Reads `wire` and passes the bytes that it carries to `take`, in pieces. With an empty
    /// `wire`, passes on what arrived together with the handshake.
    pub(crate) fn open(
        &self,
        mut wire: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), LinkError> {
        let mut connection = self.lock();
        loop {
            let state = connection.process_new_packets().map_err(refusal)?;
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let mut reader = connection.reader();
                let piece = reader.fill_buf().map_err(tls_failure)?;
                let bytes = piece.len();
                take(piece).map_err(LinkError::malformed)?;
                reader.consume(bytes);
                left -= bytes;
            }
            // After the peer's close_notify the library accepts nothing more.
            if wire.is_empty() || state.peer_has_closed() {
                return Ok(());
            }
            connection.read_tls(&mut wire).map_err(tls_failure)?;
        }
    }

    /// Locks the connection. A panic of the library under the lock leaves a connection that refuses
    /// further use.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves all pending records to `wire`.
fn drain(connection: &mut Connection, wire: &mut Vec<u8>) {
    // Writing to memory does not fail, and ends when nothing is pending.
    while connection.write_tls(wire).is_ok_and(|bytes| bytes > 0) {}
}

/// Returns the error for records that fail to decrypt or to parse: a fault of the peer or of an
/// attacker on the path.
fn refusal(error: rustls::Error) -> LinkError {
    match error {
        rustls::Error::AlertReceived(alert) => tls_failure(format!("the peer says {alert:?}")),
        other => LinkError::malformed(format!("TLS: {other}")),
    }
}

fn tls_failure(reason: impl ToString) -> LinkError {
    let reason = reason.to_string();
    LinkError::Tls { reason }
}
