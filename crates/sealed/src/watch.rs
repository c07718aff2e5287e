//! Progress of an operation, and requests to stop it.

use crate::stream::Trouble;

/// Watches content pass. An operation that is asked to stop removes its output and says so.
pub trait Watch {
    /// Takes note of so many more bytes of content; `false` asks the operation to stop.
    fn passed(&mut self, bytes: u64) -> bool;
}

/// Tells a watch of content that has passed.
pub(crate) fn passed(watch: &mut dyn Watch, bytes: u64) -> Result<(), Trouble> {
    match watch.passed(bytes) {
        true => Ok(()),
        false => Err(Trouble::Stopped),
    }
}
