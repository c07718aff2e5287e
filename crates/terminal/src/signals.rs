//! Requests to end: Ctrl-C, SIGTERM and SIGHUP, and the end of the process that started this one.
//!
//! A running verb has a cancellation token, which such a request sets: the verb notifies other
//! parties, removes partial output and reports it. On a second request, or if no verb is running,
//! the process ends at once.

use crate::hidden;
use sealane_net::Cancel;
use signal_hook::iterator::Signals;
use std::io::{Write, stderr};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Exit status of a process that SIGINT ends, as shells report it.
const ENDED: i32 = 130;

/// Longest wait for a standard error that nobody reads.
const LAST_LINE: Duration = Duration::from_millis(200);

/// Tokens of running verbs.
static AT_WORK: Mutex<Vec<Cancel>> = Mutex::new(Vec::new());

/// Name of the program that runs.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Guard of a running verb: while it lives, signals cancel the verb instead of ending the process.
pub struct CancelOnSignal(Cancel);

impl CancelOnSignal {
    /// Marks the beginning of a verb's work.
    pub fn begin() -> CancelOnSignal {
        let cancel = Cancel::default();
        at_work().push(cancel.clone());
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

/// Handles these signals, each by itself: from now on they cancel a running verb, or end the
/// process and restore the terminal. All others are as they were.
pub fn install_handler(program: &str, signals: &[i32]) {
    PROGRAM.get_or_init(|| program.to_string());
    let Ok(mut handled) = Signals::new::<_, i32>([]) else {
        return;
    };
    for signal in signals {
        // One that the system refuses is no reason to lose the others.
        let _ = handled.add_signal(*signal);
    }
    thread::spawn(move || handled.forever().for_each(|_| request_end()));
}

/// Requests the end: cancels the running verbs, or ends the process.
pub fn request_end() {
    let working = at_work().clone();
    if working.is_empty() {
        tell("interrupted while no run was under way");
        exit_now();
    }
    if working.iter().all(Cancel::is_cancelled) {
        tell("interrupted again, and ended at once");
        exit_now();
    }
    working.iter().for_each(Cancel::cancel);
}

/// Writes a line to standard error, unless that waits for whoever reads it.
fn tell(line: &'static str) {
    let began = Instant::now();
    let program = PROGRAM.get().map_or("sealane", String::as_str);
    let write = move || writeln!(stderr(), "{program}: {line}");
    // Where the machine gives no thread, the process ends without the line.
    let Ok(reported) = thread::Builder::new().spawn(write) else {
        return;
    };
    while !reported.is_finished() && began.elapsed() < LAST_LINE {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Ends the process at once, and removes unfinished files.
pub fn exit_now() -> ! {
    hidden::restore();
    sealane_files::end_process(ENDED);
}

/// Locks the tokens. No code panics while it holds the lock, so a poisoned lock holds a sound
/// state.
fn at_work() -> MutexGuard<'static, Vec<Cancel>> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}
