//! Long calls: the interpreter stays free, and Ctrl-C ends the wait.

use crate::error;
use pyo3::prelude::*;
use sealane_cli::{Failure, Line};
use sealane_engine::EngineError;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(50);

/// Lines of text that tell how far the work has come, and the function that shows them.
pub struct Lines {
    /// Where the work puts them.
    pub line: Line,
    /// What is called with each, and with an empty one in the end.
    pub show: Py<PyAny>,
}

/// Does `work` on a thread of its own. If a signal handler raises meanwhile, the exception is
/// passed on at once; the thread then ends by itself, at the latest when a time-out of the network
/// does, and its result is dropped.
pub fn interruptibly<T: Send + 'static>(
    py: Python<'_>,
    lines: Option<Lines>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    let started = thread::Builder::new()
        .name("sealane".into())
        .spawn(move || {
            let _ = sender.send(work());
        });
    started?;
    let receiver = std::sync::Mutex::new(receiver);
    let show = |text: &str| match &lines {
        Some(lines) => lines.show.call1(py, (text,)).map(drop),
        None => Ok(()),
    };
    let mut shown = false;
    loop {
        let waited = py.detach(|| match receiver.lock() {
            Ok(receiver) => receiver.recv_timeout(POLL),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        match waited {
            Ok(done) => {
                if shown {
                    show("")?;
                }
                return done.map_err(|failure| error::failure(py, &failure));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                if let Some(text) = lines.as_ref().and_then(|lines| lines.line.take()) {
                    show(&text)?;
                    shown = true;
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let bug = EngineError::internal("a run ended without an answer");
                return Err(error::engine(py, &bug));
            }
        }
    }
}
