//! Failures of commands, for people and for scripts.

use sealane_diagnostic::{Code, Diagnostic, FailureKind};
use sealane_engine::EngineError;
use std::fmt;
use std::io::{self, Write};

/// Exit statuses, as `--help` lists them.
pub const EXIT_CODES: &str = "\
Exit status:
  0   success
  2   the command line, the configuration, a key or an approval
  3   the program
  4   the data
  5   the network or another party
  70  a bug in Sealane";

/// Failure of a command: a diagnostic and the exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    finding: Box<Diagnostic>,
    status: u8,
}

impl Failure {
    /// Creates the failure of a wrong call, command line or configuration from a sentence and a
    /// hint.
    pub fn new(code: Code, what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::from(Diagnostic::new(code, what).hint(hint))
    }

    /// Creates the failure of another process of a `--local` run, which has printed the reason.
    pub fn local_party(name: &str, status: u8) -> Failure {
        let what = format!("{name} failed with status {status}");
        let hint = "what it printed above says why";
        let mut failure = Failure::new(Code::PartyFailed, what, hint);
        failure.status = status;
        failure
    }

    /// Sets the reason.
    pub fn because(mut self, reason: impl Into<String>) -> Failure {
        *self.finding = self.finding.because(reason);
        self
    }

    /// Replaces the hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.finding.hint = hint.into();
        self
    }

    /// Returns the kind of failure, which says who has to act.
    pub fn kind(&self) -> FailureKind {
        self.finding.kind()
    }

    /// Returns the diagnostic: sentence, place, reason and hint.
    pub fn finding(&self) -> &Diagnostic {
        &self.finding
    }

    /// Returns the exit status.
    pub fn status(&self) -> u8 {
        self.status
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        Failure::from(error.finding().clone())
    }
}

impl From<Diagnostic> for Failure {
    fn from(finding: Diagnostic) -> Failure {
        Failure::from(Box::new(finding))
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(finding: Box<Diagnostic>) -> Failure {
        Failure {
            status: finding.kind().exit_status(),
            finding,
        }
    }
}

/// Tells that so many bytes were refused; returns the exit status.
pub fn out_of_memory(bytes: usize) -> i32 {
    let code = Code::OutOfMemory;
    // These last words take no memory, and nobody else is left to be told.
    let _ = writeln!(
        io::stderr(),
        "error[{code}]: this machine gives no more memory\n\
         reason: {bytes} bytes more were refused\n\
         hint: `sealane plan` states what a run takes; allow more, or give fewer rows"
    );
    code.kind().exit_status().into()
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}
