//! A socket with one deadline for all of its waits, closed so that its last bytes arrive.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Longest time for which a party that refuses another waits until that one has read the reason.
const REFUSAL_LINGER: Duration = Duration::from_millis(500);

/// Shuts `socket` down so that the peer can still read what was sent last: closing a socket with
/// unread input discards its unsent output.
pub(crate) fn linger(socket: &TcpStream) {
    let mut timed = Timed::new(socket, Instant::now() + REFUSAL_LINGER);
    let mut ignored = [0; 4096];
    // A failure here also ends the wait, which is the aim.
    let _ = socket.shutdown(Shutdown::Write);
    while timed.read(&mut ignored).is_ok_and(|bytes| bytes > 0) {}
}

/// Returns the remote address of a connection as text.
pub(crate) fn from(socket: &TcpStream) -> String {
    let address = socket.peer_addr();
    let address = address.map_or("?".into(), |address| address.to_string());
    format!("the connection with {address}")
}

/// A socket on which all waiting together ends at a deadline, however slowly bytes arrive.
pub(crate) struct Timed<'a> {
    pub(crate) socket: &'a TcpStream,
    pub(crate) started: Instant,
    deadline: Instant,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(socket: &'a TcpStream, deadline: Instant) -> Timed<'a> {
        Timed::since(socket, Instant::now(), deadline)
    }

    /// Wraps a socket on which this party has waited since `started`.
    pub(crate) fn since(socket: &'a TcpStream, started: Instant, deadline: Instant) -> Timed<'a> {
        Timed {
            socket,
            started,
            deadline,
        }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        match self.deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
