//! Why a command failed, for people and for scripts.

use sealane_diagnostic::{Code, Diagnostic, Kind};
use sealane_engine::EngineError;
use std::fmt;

/// Exit statuses, as `--help` lists them.
pub const EXIT_CODES: &str = "\
Exit status:
  0   success
  2   the command line, the configuration, a key or an approval
  3   the program
  4   the data
  5   the network or another party
  70  a bug in Sealane";

/// Failure of a command: a diagnostic, and the exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    finding: Box<Diagnostic>,
    status: u8,
}

impl Failure {
    /// A wrong call, command line or configuration: the sentence and the advice.
    pub fn new(code: Code, what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::from(Diagnostic::new(code, what).hint(hint))
    }

    /// Another process of a `--local` run failed and has said why.
    pub fn party(name: &str, status: u8) -> Failure {
        let what = format!("{name} failed with status {status}");
        let finding =
            Diagnostic::new(Code::PartyFailed, what).hint("what it printed above says why");
        Failure {
            status,
            ..Failure::from(finding)
        }
    }

    /// Adds why it is so.
    pub fn because(mut self, reason: impl Into<String>) -> Failure {
        *self.finding = self.finding.because(reason);
        self
    }

    /// With another hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.finding.hint = hint.into();
        self
    }

    /// Who has to act.
    pub fn kind(&self) -> Kind {
        self.finding.kind()
    }

    /// What happened, where, why, and what to do.
    pub fn finding(&self) -> &Diagnostic {
        &self.finding
    }

    /// The exit status.
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

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_of_a_local_run_lends_its_status() {
        let failure = Failure::party("lab", 4);
        assert_eq!((failure.kind(), failure.status()), (Kind::Peer, 4));
        sealane_testkit::page::shows("party-failed", &failure.to_string());
    }
}
