//! What goes on while content passes: progress, and whether somebody asked to stop.
//!
//! Ctrl-C, SIGTERM and SIGHUP ask a verb at work to stop: it takes away what it has written so far and
//! says so. Asked twice, or where no verb of this room is at work, the process ends at once.

use super::stream::Trouble;
use super::terminal;
use crate::progress::Transfer;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

static ASKED: AtomicBool = AtomicBool::new(false);
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
/// The exit status of a process that SIGINT ends, as shells have it.
const ENDED: i32 = 130;

/// Counts what passes, for as long as a verb is at work.
pub struct Watch<'a> {
    asked: &'a AtomicBool,
    shown: Option<Transfer>,
}

/// As long as there is one, signals ask instead of ending the process.
pub struct AtWork(());

impl AtWork {
    /// A verb begins its work.
    pub fn begin() -> AtWork {
        if AT_WORK.fetch_add(1, SeqCst) == 0 {
            ASKED.store(false, SeqCst);
        }
        handle_signals();
        AtWork(())
    }

    /// Watches for what signals ask.
    pub fn watch(&self, shown: Option<Transfer>) -> Watch<'static> {
        Watch::new(&ASKED, shown)
    }
}

/// From now on signals ask a verb at work, or end the process and leave the terminal as it was.
pub fn handle_signals() {
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        // Where somebody else handles or ignores signals, they go on doing what they did: Python in
        // a notebook, or `nohup`.
        let _ = ctrlc::try_set_handler(|| {
            if AT_WORK.load(SeqCst) == 0 || ASKED.swap(true, SeqCst) {
                terminal::restore();
                process::exit(ENDED);
            }
        });
    });
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, SeqCst);
    }
}

impl<'a> Watch<'a> {
    /// Watches whether `asked` becomes true.
    pub fn new(asked: &'a AtomicBool, shown: Option<Transfer>) -> Watch<'a> {
        Watch { asked, shown }
    }

    /// So many bytes more have passed.
    pub fn passed(&mut self, bytes: u64) -> Result<(), Trouble> {
        if let Some(shown) = &mut self.shown {
            shown.passed(bytes);
        }
        match self.asked.load(SeqCst) {
            true => Err(Trouble::Stopped),
            false => Ok(()),
        }
    }
}
