//! A socket on which parties meet: all waiting together has one end, and the last words arrive.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a party that refuses another waits until that one has heard why.
const REFUSAL_LINGER: Duration = Duration::from_millis(500);

/// Ends `socket` in such a way that the other end can read what was sent last: a socket that is
/// closed with unread bytes in it takes them away.
pub(crate) fn linger(socket: &TcpStream) {
    let mut timed = Timed::new(socket, Instant::now() + REFUSAL_LINGER);
    let mut ignored = [0; 4096];
    // Any failure here ends the wait, which is all that is wanted.
    let _ = socket.shutdown(Shutdown::Write);
    while timed.read(&mut ignored).is_ok_and(|bytes| bytes > 0) {}
}

/// Where a connection comes from, for people.
pub(crate) fn from(socket: &TcpStream) -> String {
    let address = socket
        .peer_addr()
        .as_ref()
        .map_or("?".into(), SocketAddr::to_string);
    format!("the connection with {address}")
}

/// A socket on which all waiting together ends at a deadline, however slowly bytes trickle.
pub(crate) struct Timed<'a> {
    pub(crate) socket: &'a TcpStream,
    pub(crate) started: Instant,
    deadline: Instant,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(socket: &'a TcpStream, deadline: Instant) -> Timed<'a> {
        Timed::since(socket, Instant::now(), deadline)
    }

    /// A socket that has been waited at since a moment.
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
