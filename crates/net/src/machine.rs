//! Facilities of the machine on which a party runs: a clock with wakers, threads, sockets.
//!
//! [`ThisMachine`] is the machine that runs this program. A simulator implements its own, on which
//! time is simulated and one thread runs at a time, so that a seed determines the whole run; the
//! code between a protocol and a socket is the same on both.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use crate::waker::Waker;

/// Source of the threads of a party and of the clock by which they wait.
pub trait Runtime {
    /// A new waker on the clock of this machine.
    fn waker(&self) -> Waker;

    /// Runs `body` in a thread of its own with the given name.
    ///
    /// # Errors
    /// The errors of the operating system, where it has no more threads.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> io::Result<()>;
}

/// The machine that runs this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Runtime for ThisMachine {
    fn waker(&self) -> Waker {
        Waker::default()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        thread::Builder::new().name(name.into()).spawn(body)?;
        Ok(())
    }
}

/// One end of a stream of bytes in each direction. One thread reads while another one writes.
pub trait Socket: Send + Sync {
    /// Reads received bytes into the front of `into`, after waiting for them; returns 0 at the end
    /// of the stream.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] or [`io::ErrorKind::TimedOut`] after the time-out; else the
    /// fault of the connection.
    fn read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// As [`Socket::read`], into the first buffer and then into those behind it.
    ///
    /// # Errors
    /// As [`Socket::read`].
    fn read_vectored(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match into.iter_mut().find(|buffer| !buffer.is_empty()) {
            Some(buffer) => self.read(buffer),
            None => Ok(0),
        }
    }

    /// Sends `bytes`, after waiting for as long as it takes.
    ///
    /// # Errors
    /// The fault of the connection.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;

    /// Sends `pieces` one after the other, none of them empty, after waiting for as long as it
    /// takes.
    ///
    /// # Errors
    /// The fault of the connection.
    fn write_all_vectored(&self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.write_all(piece))
    }

    /// Closes the given directions; threads that read or write there return.
    ///
    /// # Errors
    /// An error if there is no connection any more.
    fn shutdown(&self, which: Shutdown) -> io::Result<()>;

    /// Sets how long each read waits.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut &*self, into)
    }

    fn read_vectored(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        Read::read_vectored(&mut &*self, into)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut &*self, bytes)
    }

    fn write_all_vectored(&self, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        while !pieces.is_empty() {
            match Write::write_vectored(&mut &*self, pieces) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => IoSlice::advance_slices(&mut pieces, bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn shutdown(&self, which: Shutdown) -> io::Result<()> {
        TcpStream::shutdown(self, which)
    }

    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        TcpStream::set_read_timeout(self, Some(timeout))
    }
}
