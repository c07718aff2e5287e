//! A terminal without echo.

use rustix::io::{Errno, read};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// State of the terminal of the standard input before echo was turned off.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Guard that keeps echo off until it is dropped.
pub struct Hidden(());

impl Hidden {
    /// Turns echo off.
    ///
    /// # Errors
    /// The standard input is no terminal, or does not take it.
    pub fn begin() -> io::Result<Hidden> {
        let before = tcgetattr(stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(stdin(), OptionalActions::Now, &hidden)?;
        Ok(Hidden(()))
    }

    /// Reads a typed line, without its end. Terminals deliver one line at a time, of bounded
    /// length.
    ///
    /// # Errors
    /// There is no line, it cannot be read, or it is no text.
    pub fn line(self) -> io::Result<Zeroizing<String>> {
        let mut bytes = Zeroizing::new([0; LONGEST]);
        let read = loop {
            match read(stdin(), bytes.as_mut_slice()) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        let line = match &bytes[..read] {
            [] => return Err(io::ErrorKind::UnexpectedEof.into()),
            [line @ .., b'\n'] => line,
            line => line,
        };
        let line = str::from_utf8(line).map_err(io::Error::other)?;
        Ok(Zeroizing::new(line.to_owned()))
    }
}

/// Longest line of a terminal.
const LONGEST: usize = 4096;

impl Drop for Hidden {
    fn drop(&mut self) {
        restore();
    }
}

/// Turns echo on again if it was turned off, before the process ends.
pub fn restore() {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = before.take() {
        // There is nobody left to notify.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}
