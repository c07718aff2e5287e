//! What a party gets from the machine that it runs on: a clock with wakers, threads, sockets.
//!
//! [`ThisMachine`] is the one that runs this program. A simulator brings others, on which time is
//! its own and one thread runs at a time, so that a seed decides all that happens; the code between
//! a protocol and a socket is the same on both.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use crate::waker::Waker;

/// Where the threads of a party run, and by what clock they wait.
pub trait Machine {
    /// A new waker on the clock of this machine.
    fn waker(&self) -> Waker;

    /// Runs `body` in a thread of its own, whose name is for people.
    ///
    /// # Errors
    /// Of the operating system, where it has no more threads.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> io::Result<()>;
}

/// The machine that runs this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Machine for ThisMachine {
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
    /// Fills the front of `into` with what has come, after waiting for it; 0 bytes at the end of
    /// the stream.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] or [`io::ErrorKind::TimedOut`] after the time-out; else what
    /// became of the connection.
    fn read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Sends `bytes`, after waiting for as long as it takes.
    ///
    /// # Errors
    /// What became of the connection.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;

    /// Ends the directions that are named; whoever reads or writes there is freed.
    ///
    /// # Errors
    /// Where there is no connection any more.
    fn shutdown(&self, which: Shutdown) -> io::Result<()>;

    /// Sets how long each read waits.
    ///
    /// # Errors
    /// Of the operating system.
    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut &*self, into)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(&mut &*self, bytes)
    }

    fn shutdown(&self, which: Shutdown) -> io::Result<()> {
        TcpStream::shutdown(self, which)
    }

    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        TcpStream::set_read_timeout(self, Some(timeout))
    }
}
