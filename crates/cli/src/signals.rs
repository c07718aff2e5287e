//! Requests to end: Ctrl-C, SIGTERM and SIGHUP, and the end of the process that started this one.
//!
//! A running verb has a cancellation token, which such a request sets: the verb notifies other
//! parties, removes partial output and reports it. On a second request, or if no verb is running,
//! the process ends at once.

use crate::seal::restore_terminal;
use sealane_net::Cancel;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Exit status of a process that SIGINT ends, as shells report it.
const ENDED: i32 = 130;

/// Tokens of running verbs.
static AT_WORK: Mutex<Vec<Cancel>> = Mutex::new(Vec::new());

/// Guard of a running verb: while it lives, signals cancel the verb instead of ending the process.
pub struct CancelOnSignal(Cancel);

impl CancelOnSignal {
    /// Marks the beginning of a verb's work.
    pub fn begin() -> CancelOnSignal {
        let cancel = Cancel::default();
        at_work().push(cancel.clone());
        install_handler();
        CancelOnSignal(cancel)
    }

    /// Returns the token that a request to end sets.
    pub fn cancel(&self) -> &Cancel {
        &self.0
    }
}

impl Drop for CancelOnSignal {
    fn drop(&mut self) {
        at_work().retain(|other| !other.is(&self.0));
    }
}

/// Installs the handler: from now on signals cancel a running verb, or end the process and restore
/// the terminal.
pub fn install_handler() {
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        // If signals are handled or ignored already, by Python in a notebook or by `nohup`, that
        // remains.
        let _ = ctrlc::try_set_handler(request_end);
    });
}

/// Requests the end: cancels the running verbs, or ends the process.
pub fn request_end() {
    let working = at_work().clone();
    if working.iter().all(Cancel::is_cancelled) {
        exit_now();
    }
    working.iter().for_each(Cancel::cancel);
}

/// Ends the process at once, and removes unfinished files.
pub fn exit_now() -> ! {
    restore_terminal();
    sealane_files::end_process(ENDED);
}

/// Locks the tokens. No code panics while it holds the lock, so a poisoned lock holds a sound
/// state.
fn at_work() -> MutexGuard<'static, Vec<Cancel>> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}
