//! Progress of an operation, and requests to stop it.

use crate::stream::StreamError;

/// Observer of content that passes. An operation that is asked to stop removes its output and says
/// so.
pub trait TransferWatch {
    /// Counts so many more bytes of content; `false` asks the operation to stop.
    fn passed(&mut self, bytes: u64) -> bool;
}

/// Reports content that has passed to a watch.
pub(crate) fn passed(watch: &mut dyn TransferWatch, bytes: u64) -> Result<(), StreamError> {
    let goes_on = watch.passed(bytes);
    goes_on.then_some(()).ok_or(StreamError::Stopped)
}
