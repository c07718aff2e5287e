//! Long calls: the interpreter is released, and Ctrl-C cancels the work.

use crate::error;
use pyo3::prelude::*;
use sealane_engine::EngineError;
use sealane_host::Failure;
use sealane_host::progress::ProgressLine;
use sealane_net::Cancel;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval of checking for signals.
const POLL: Duration = Duration::from_millis(50);

/// Note on an exception that ends a call.
const ENDED: &str = "the run has been cancelled: the other parties were told, and nothing of it \
                     goes on";

/// Lines of text about the progress, and the function that prints them.
pub struct Lines {
    /// Buffer that the work writes to.
    pub line: ProgressLine,
    /// Function that is called with each, and with an empty one in the end.
    pub show: Py<PyAny>,
}

/// Runs `work` on a thread of its own, with a token that cancels it. If a signal handler or the
/// function that prints lines raises meanwhile, the work is cancelled; the exception is passed on
/// once the work has ended, and its result is dropped.
pub fn interruptibly<T: Send + 'static>(
    py: Python<'_>,
    lines: Option<Lines>,
    work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    let cancel = Cancel::default();
    let token = cancel.clone();
    let started = thread::Builder::new()
        .name("sealane".into())
        .spawn(move || {
            let _ = sender.send(work(&token));
        });
    let working = started?;
    let receiver = std::sync::Mutex::new(receiver);
    let wait = |at_most| match receiver.lock() {
        Ok(receiver) => receiver.recv_timeout(at_most),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    let done = loop {
        match py.detach(|| wait(POLL)) {
            Err(RecvTimeoutError::Timeout) => {
                let looked = py.check_signals();
                if let Err(error) = looked.and_then(|()| show_pending(py, lines.as_ref())) {
                    cancel.cancel();
                    // The interpreter is released, since the work may need it to finish.
                    let _ = py.detach(|| working.join());
                    let _ = error.value(py).call_method1("add_note", (ENDED,));
                    return Err(error);
                }
            }
            done => break done,
        }
    };
    let _ = py.detach(|| working.join());
    if let Some(lines) = lines.filter(|lines| lines.line.was_taken()) {
        lines.show.call1(py, ("",))?;
    }
    match done {
        Ok(done) => done.map_err(error::raised),
        Err(_) => {
            let bug = EngineError::internal("a run ended without an answer");
            Err(error::raised(bug))
        }
    }
}

/// Prints the next line if there is one.
fn show_pending(py: Python<'_>, lines: Option<&Lines>) -> PyResult<()> {
    let text = lines.and_then(|lines| Some((lines, lines.line.take()?)));
    text.map_or(Ok(()), |(lines, text)| {
        lines.show.call1(py, (text,)).map(drop)
    })
}
