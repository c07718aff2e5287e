//! What goes on while content passes: progress, and whether somebody asked to stop.
//!
//! A verb that is asked to stop takes away what it has written so far and says so.

use super::stream::Trouble;
use crate::progress::Transfer;
use sealane_net::Cancel;

/// Counts what passes, for as long as a verb is at work.
pub struct Watch {
    cancel: Cancel,
    shown: Option<Transfer>,
}

impl Watch {
    /// Watches whether `cancel` asks for the end.
    pub fn new(cancel: &Cancel, shown: Option<Transfer>) -> Watch {
        Watch {
            cancel: cancel.clone(),
            shown,
        }
    }

    /// So many bytes more have passed.
    pub fn passed(&mut self, bytes: u64) -> Result<(), Trouble> {
        if let Some(shown) = &mut self.shown {
            shown.passed(bytes);
        }
        match self.cancel.is_cancelled() {
            true => Err(Trouble::Stopped),
            false => Ok(()),
        }
    }
}
