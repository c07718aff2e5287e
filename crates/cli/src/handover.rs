//! What `run --local` hands over to each party that it starts: configuration and private key, through
//! the standard input of that process, and its life.
//!
//! ```text
//!   length of the configuration, 4 bytes | configuration | private key | nothing, until the end
//! ```
//!
//! The key lies in no file, so that whatever ends the command leaves none. The pipe stays open for as
//! long as the command lives, on every system, however that ends: its end asks the party to end. On
//! Linux a signal says so as well, in case another process has got hold of the pipe.

use crate::signals;
use sealane_diagnostic::Code;
use sealane_host::Failure;
use sealane_host::config::Config;
use sealane_net::Identity;
use std::fs::File;
use std::io::{self, Read, Write, stdin};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

/// Longest configuration: that of many more parties than a program names.
const MAX_CONFIG_BYTES: usize = 1 << 20;

/// How long a party may take to tell the others and to end by itself.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What was handed over to this party.
pub struct Handed {
    /// Who is where.
    pub config: Config,
    /// The private key.
    pub identity: Identity,
}

/// Hands over to a party by its standard input.
///
/// # Errors
/// Of the pipe.
pub fn give(to: &mut impl Write, config: &str, identity: &Identity) -> io::Result<()> {
    let length = u32::try_from(config.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(config.as_bytes())?;
    identity.hand_over(to)?;
    to.flush()
}

/// Takes what was handed over by the standard input of this process, which from now on ends with
/// whoever has started it.
///
/// # Errors
/// Nothing was handed over.
pub fn take() -> Result<Handed, Failure> {
    die_with_parent();
    // Without the buffer of the standard library, in which the key would stay.
    let pipe = stdin().as_fd().try_clone_to_owned().map(File::from);
    let mut pipe = pipe.map_err(|error| refused(&error))?;
    let (text, identity) = read(&mut pipe).map_err(|error| refused(&error))?;
    thread::spawn(move || end_with(pipe));
    let config = Config::of_text(&text)?;
    Ok(Handed { config, identity })
}

fn read(pipe: &mut impl Read) -> io::Result<(String, Identity)> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_CONFIG_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    pipe.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok((text, Identity::take_over(pipe)?))
}

/// Waits for the end of the pipe, which is that of the command, and ends this process: in good order
/// if that takes a moment, else at once.
fn end_with(mut pipe: File) {
    let mut ignored = [0; 64];
    loop {
        match pipe.read(&mut ignored) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
            _ => {}
        }
    }
    signals::ask();
    thread::sleep(LAST_WORDS);
    signals::end();
}

/// Has the system say SIGTERM to this process when its parent ends.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // The end of the pipe says the same.
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
        give(&mut pipe, "me = \"a\"\n", &identity).unwrap();
        let (text, taken) = read(&mut pipe.as_slice()).unwrap();
        assert_eq!(text, "me = \"a\"\n");
        assert_eq!(taken.public_key(), identity.public_key());
        for cut in 0..pipe.len() {
            assert!(read(&mut &pipe[..cut]).is_err(), "{cut}");
        }
        pipe[3] = 0xff;
        assert!(
            read(&mut pipe.as_slice()).is_err(),
            "no memory is taken for it"
        );
    }
}
