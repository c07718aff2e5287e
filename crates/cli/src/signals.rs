//! Requests to end: Ctrl-C, SIGTERM and SIGHUP, and the end of whoever has started this process.
//!
//! A verb at work has a cancellation token, which such a request sets: the verb tells other parties,
//! takes away what is half written and says so. Asked twice, or where no verb is at work, the
//! process ends at once.

use crate::seal::restore_terminal;
use sealane_net::Cancel;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The exit status of a process that SIGINT ends, as shells have it.
const ENDED: i32 = 130;

/// The tokens of verbs at work.
static AT_WORK: Mutex<Vec<Cancel>> = Mutex::new(Vec::new());

/// As long as there is one, signals ask its verb to end instead of ending the process.
pub struct AtWork(Cancel);

impl AtWork {
    /// A verb begins its work.
    pub fn begin() -> AtWork {
        let cancel = Cancel::default();
        at_work().push(cancel.clone());
        handle();
        AtWork(cancel)
    }

    /// What a request to end sets.
    pub fn cancel(&self) -> &Cancel {
        &self.0
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        at_work().retain(|other| !other.is(&self.0));
    }
}

/// From now on signals ask a verb at work, or end the process and leave the terminal as it was.
pub fn handle() {
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        // Where somebody else handles or ignores signals, they go on doing what they did: Python in
        // a notebook, or `nohup`.
        let _ = ctrlc::try_set_handler(ask);
    });
}

/// Somebody asks for the end.
pub fn ask() {
    let working = at_work().clone();
    if working.iter().all(Cancel::is_cancelled) {
        end();
    }
    working.iter().for_each(Cancel::cancel);
}

/// Ends the process at once, and leaves no unfinished file.
pub fn end() -> ! {
    restore_terminal();
    sealane_files::end_process(ENDED);
}

/// The tokens. No code panics while it holds the lock, so a poisoned lock holds a sound state.
fn at_work() -> MutexGuard<'static, Vec<Cancel>> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}
