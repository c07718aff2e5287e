//! The two threads of a connection: one writes what is queued, one queues what is read.

use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cipher::Cipher;
use crate::error::{Cause, LinkError};
use crate::frame::{Assembler, Frame, HEADER_BYTES, Packet, Signal};
use crate::machine::{Runtime, Socket};
use crate::queue::Queue;
use crate::waker::Waker;

/// Bytes of frames that the writer encrypts and writes at a time, and that the reader reads at a
/// time: large enough to make system calls rare, small enough for the cache of one core.
pub(crate) const BATCH_BYTES: usize = 256 << 10;

/// Shortest frame of which more are expected: bytes behind it are read in small pieces, so that the
/// payload of the next one is not copied.
const LONG_BYTES: usize = 16 << 10;

/// Bytes that are read behind a long frame: its successor's header and the start of its payload.
const READ_AHEAD_BYTES: usize = 2 << 10;

/// Longest time for which a writer that fails waits for the reader to report the cause.
const READER_GRACE: Duration = Duration::from_millis(500);

/// State shared by the protocol's thread and the two threads of a connection.
pub(crate) struct Link {
    pub(crate) socket: Box<dyn Socket>,
    pub(crate) cipher: Cipher,
    pub(crate) incoming: Queue<Frame>,
    pub(crate) outgoing: Queue<Packet>,
    pub(crate) silence: Duration,
    pub(crate) heartbeat: Duration,
    pub(crate) wire_sent: AtomicU64,
    pub(crate) wire_received: AtomicU64,
    /// Number of threads that have not ended, of the two.
    pub(crate) running: AtomicUsize,
    /// Woken when a thread ends; also the clock of both.
    pub(crate) ended: Waker,
}

impl Link {
    /// The writer thread: sends what is queued until the queue ends.
    pub(crate) fn write(&self) {
        let mut wire = Vec::with_capacity(2 * BATCH_BYTES);
        let mut batch = Vec::new();
        let result = loop {
            let until = self.ended.now() + self.heartbeat;
            let popped = self.outgoing.pop_many(&mut batch, BATCH_BYTES, until);
            if popped.is_err() {
                break self.write_end(&mut wire);
            }
            if batch.is_empty() {
                batch.push(Packet::Signal(Signal::Heartbeat));
            }
            if let Err(error) = self.write_batch(&mut batch, &mut wire) {
                break Err(error);
            }
        };
        if let Err(error) = result {
            // The reader may know better why the connection ended, so it gets time to report it.
            let deadline = self.ended.now() + READER_GRACE;
            self.outgoing.close_late(error, deadline);
        }
    }

    fn write_batch(&self, batch: &mut Vec<Packet>, wire: &mut Vec<u8>) -> Result<(), LinkError> {
        let parts: Vec<_> = batch.drain(..).map(Packet::into_parts).collect();
        let pieces = parts
            .iter()
            .flat_map(|(header, payload)| [&header[..], payload]);
        let pieces: Vec<&[u8]> = pieces.collect();
        match &self.cipher {
            Cipher::Plain => self.write_pieces(&pieces),
            Cipher::Tls(records) => {
                wire.clear();
                records.seal(&pieces, wire)?;
                self.write_pieces(&[wire])
            }
        }
    }

    /// Writes the end of this direction.
    fn write_end(&self, wire: &mut Vec<u8>) -> Result<(), LinkError> {
        if let Cipher::Tls(records) = &self.cipher {
            wire.clear();
            records.seal_end(wire);
            self.write_pieces(&[wire])?;
        }
        Ok(self.socket.shutdown(Shutdown::Write)?)
    }

    /// Writes pieces one after the other, from where they are.
    fn write_pieces(&self, pieces: &[&[u8]]) -> Result<(), LinkError> {
        let pieces = pieces.iter().filter(|piece| !piece.is_empty());
        let mut pieces: Vec<_> = pieces.map(|piece| IoSlice::new(piece)).collect();
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        self.socket.write_all_vectored(&mut pieces)?;
        self.wire_sent.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// The reader thread: queues what arrives until the stream ends, then stops this end too.
    pub(crate) fn read(&self) {
        let mut buffer = vec![0; BATCH_BYTES];
        let mut assembler = Assembler::default();
        let mut packets = Vec::new();
        let mut said_farewell = false;
        // What the peer sent together with the end of the handshake is there already.
        let mut came = match &self.cipher {
            Cipher::Plain => Ok(()),
            Cipher::Tls(records) => records.open(&[], |plain| assembler.feed(plain, &mut packets)),
        };
        let end = loop {
            for packet in packets.drain(..) {
                said_farewell |= packet.is_farewell();
                self.take_in(packet);
            }
            if let Err(error) = came {
                break error;
            }
            came = self.receive(&mut buffer, &mut assembler, &mut packets);
        };
        // A stream that ends without a farewell means that the process has ended.
        let is_dead = match end {
            LinkError::Silent { .. } => true,
            LinkError::Vanished => !said_farewell,
            _ => false,
        };
        // These change nothing after a goodbye or an abort.
        if let LinkError::Malformed { reason } = &end {
            // The peer is alive and must learn why nobody reads its messages any more. This
            // direction ends here, so a reason that the protocol would give later comes too late.
            let reason = format!("what it received was malformed: {reason}");
            let abort = Packet::Signal(Signal::Abort(Cause::Party, reason));
            self.outgoing.cut_with(abort, HEADER_BYTES, end.clone());
        } else {
            self.outgoing.close(end.clone());
        }
        let is_malformed = matches!(end, LinkError::Malformed { .. });
        self.incoming.close(end);
        if is_malformed {
            // Closing a socket with unread input would discard the bytes that were sent last.
            while self.read_wire(&mut [IoSliceMut::new(&mut buffer)]).is_ok() {}
        }
        if is_dead {
            // Wakes a writer that waits for a peer that does not read either.
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }

    /// Receives some bytes, after waiting for them, and appends all packets that they complete to
    /// `packets`. Without encryption, the payload of a long frame goes straight into its place.
    fn receive(
        &self,
        buffer: &mut [u8],
        assembler: &mut Assembler,
        packets: &mut Vec<Packet>,
    ) -> Result<(), LinkError> {
        if let Cipher::Tls(records) = &self.cipher {
            let bytes = self.read_wire(&mut [IoSliceMut::new(buffer)])?;
            return records.open(&buffer[..bytes], |plain| assembler.feed(plain, packets));
        }
        let ahead = match assembler.last_length() {
            0..LONG_BYTES => buffer,
            _ => &mut buffer[..READ_AHEAD_BYTES],
        };
        let missing = assembler.missing();
        let room = missing.len();
        let bytes = self.read_wire(&mut [IoSliceMut::new(missing), IoSliceMut::new(ahead)])?;
        let direct = bytes.min(room);
        let received = assembler.received(direct, packets);
        let fed = received.and_then(|()| assembler.feed(&ahead[..bytes - direct], packets));
        fed.map_err(LinkError::malformed)
    }

    /// Reads at least one byte.
    fn read_wire(&self, into: &mut [IoSliceMut<'_>]) -> Result<usize, LinkError> {
        loop {
            match self.socket.read_vectored(into) {
                Ok(0) => return Err(LinkError::Vanished),
                Ok(bytes) => {
                    let received = &self.wire_received;
                    received.fetch_add(bytes as u64, Ordering::Relaxed);
                    return Ok(bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(error.kind()) => {
                    let duration = self.silence;
                    return Err(LinkError::Silent { duration });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take_in(&self, packet: Packet) {
        match packet {
            Packet::Frame(frame) => {
                let bytes = frame.wire_bytes();
                // After this side has stopped listening, or after the peer's own goodbye, what
                // still arrives is discarded.
                let _ = self.incoming.push(frame, bytes);
            }
            Packet::Signal(Signal::Heartbeat) => {}
            Packet::Signal(Signal::Goodbye) => {
                self.incoming.close(LinkError::Finished);
                self.outgoing.close(LinkError::Finished);
            }
            Packet::Signal(Signal::Abort(cause, reason)) => {
                let end = LinkError::Aborted { cause, reason };
                self.incoming.cut(end.clone());
                self.outgoing.cut(end);
            }
        }
    }

    /// Waits until both threads have ended, at most until `deadline` or until `cancel`, which wakes
    /// the same waker, is cancelled.
    pub(crate) fn wait_for_threads(&self, deadline: Instant, cancel: &Cancel) {
        while self.running.load(Ordering::SeqCst) > 0
            && !cancel.is_cancelled()
            && self.ended.wait_until(deadline)
        {}
    }

    /// Discards what arrives from now on, so that the peer is never kept from sending.
    pub(crate) fn stop_listening(&self) {
        self.incoming.cut(LinkError::Left);
    }
}

/// Runs `body` on `link` in a thread of `machine`.
pub(crate) fn spawn(
    machine: &dyn Runtime,
    name: &str,
    link: &Arc<Link>,
    body: fn(&Link),
) -> std::io::Result<()> {
    link.running.fetch_add(1, Ordering::SeqCst);
    let running = Running(Arc::clone(link));
    machine.spawn(name, Box::new(move || body(&running.0)))
}

/// Guard of a connection's thread; reports its end when it is dropped.
struct Running(Arc<Link>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.wake();
    }
}

/// Interval of heartbeats: a quarter of the silence that the more impatient side allows.
pub(crate) fn heartbeat_interval(silence: Duration) -> Duration {
    (silence / 4).clamp(Duration::from_millis(10), Duration::from_secs(5))
}

/// Returns whether a socket's time-out passed; systems disagree on its error kind.
pub(crate) fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Returns whether the error means that the other end has closed the connection.
pub(crate) fn is_closed(kind: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    use ErrorKind::{UnexpectedEof, WriteZero};
    matches!(kind, ConnectionReset | ConnectionAborted | NotConnected)
        || matches!(kind, BrokenPipe | UnexpectedEof | WriteZero)
}

impl From<std::io::Error> for LinkError {
    fn from(error: std::io::Error) -> LinkError {
        if is_closed(error.kind()) {
            return LinkError::Vanished;
        }
        let reason = error.to_string();
        LinkError::Io { reason }
    }
}
