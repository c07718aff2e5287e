//! Handover of `run --local` to each party that it starts: configuration and private key, through
//! the standard input of that process, whose end also ends the process.
//!
//! ```text
//!   length of the configuration, 4 bytes | configuration | private key | nothing, until the end
//! ```
//!
//! The key is in no file, so it does not remain however the command ends. The pipe stays open as
//! long as the command lives, on every system, however the command ends; the end of the pipe asks
//! the party to end. On Linux a signal does the same, in case another process has inherited the
//! pipe.

use sealane_diagnostic::Code;
use sealane_host::Failure;
use sealane_host::config::{self, Config};
use sealane_identity::Identity;
use std::fs::File;
use std::io::{self, Read, Write, stdin};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

/// Time for a party to notify the others and to end by itself.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Configuration and key that this party received.
pub struct Handover {
    /// Configuration with all parties.
    pub config: Config,
    /// The private key.
    pub identity: Identity,
}

/// Sends configuration and key to a party by its standard input.
///
/// # Errors
/// The pipe cannot be written.
pub fn send(to: &mut impl Write, config: &str, identity: &Identity) -> io::Result<()> {
    let length = u32::try_from(config.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(config.as_bytes())?;
    identity.hand_over(to)?;
    to.flush()
}

/// Receives configuration and key by the standard input of this process. From now on this process
/// ends with the one that started it.
///
/// # Errors
/// The input is cut off or malformed.
pub fn receive() -> Result<Handover, Failure> {
    die_with_parent();
    // The buffer of the standard library would keep a copy of the key.
    let pipe = stdin().as_fd().try_clone_to_owned().map(File::from);
    let mut pipe = pipe.map_err(|error| refused(&error))?;
    let (text, identity) = read(&mut pipe).map_err(|error| refused(&error))?;
    thread::spawn(move || end_with(pipe));
    let config = Config::from_text(&text)?;
    Ok(Handover { config, identity })
}

fn read(pipe: &mut impl Read) -> io::Result<(String, Identity)> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length as u64 > config::MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    pipe.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok((text, Identity::take_over(pipe)?))
}

/// Waits for the end of the pipe, which is the end of the command, and ends this process: in good
/// order if that takes a moment, else at once.
fn end_with(mut pipe: File) {
    let mut ignored = [0; 64];
    loop {
        match pipe.read(&mut ignored) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
            _ => {}
        }
    }
    sealane_terminal::request_end();
    thread::sleep(LAST_WORDS);
    sealane_terminal::exit_now();
}

/// Asks the system to send SIGTERM to this process when its parent ends.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // The end of the pipe has the same effect.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

fn refused(error: &io::Error) -> Failure {
    let what = "nothing was handed over to this party";
    let hint = "`sealane run --local` starts such processes; nobody else needs to";
    Failure::new(Code::LocalRun, what, hint).because(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_what_was_given_and_nothing_less() {
        let identity = Identity::generate();
        let mut pipe = Vec::new();
        send(&mut pipe, "me = \"a\"\n", &identity).unwrap();
        let (text, taken) = read(&mut pipe.as_slice()).unwrap();
        assert_eq!(text, "me = \"a\"\n");
        assert_eq!(taken.public_key(), identity.public_key());
        for cut in 0..pipe.len() {
            assert!(read(&mut &pipe[..cut]).is_err(), "{cut}");
        }
        pipe[3] = 0xff;
        let read = read(&mut pipe.as_slice());
        assert!(read.is_err(), "no memory is taken for it");
    }
}
