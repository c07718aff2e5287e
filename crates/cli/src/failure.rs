//! Why a command failed, for people and for scripts.

use sealane_engine::{EngineError, Kind};
use sealane_program::diagnostic::Diagnostic;
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

/// Why a command failed: who has to act, and what to tell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    finding: Box<Diagnostic>,
    status: u8,
}

impl Failure {
    /// A failure for those who have to act.
    pub fn new(kind: Kind, finding: Diagnostic) -> Failure {
        let status = match kind {
            Kind::Misuse | Kind::Config => 2,
            Kind::Program => 3,
            Kind::Data => 4,
            Kind::Network | Kind::Peer => 5,
            Kind::Internal => 70,
        };
        let finding = Box::new(finding);
        Failure {
            kind,
            finding,
            status,
        }
    }

    /// A wrong call or command line: what is wrong and what to do.
    pub fn usage(code: &'static str, what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::new(Kind::Misuse, Diagnostic::new(code, what).hint(hint))
    }

    /// A configuration, a key, an approval, or what this machine refuses.
    pub fn config(code: &'static str, what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::new(Kind::Config, Diagnostic::new(code, what).hint(hint))
    }

    /// A program that cannot run as written.
    pub fn program(finding: Diagnostic) -> Failure {
        Failure::new(Kind::Program, finding)
    }

    /// Another process of a `--local` run failed and has said why.
    pub fn party(name: &str, status: u8) -> Failure {
        let what = format!("{name} failed with status {status}");
        let finding = Diagnostic::new("party-failed", what).hint("what it printed above says why");
        Failure {
            status,
            ..Failure::new(Kind::Peer, finding)
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
        self.kind
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
        Failure::new(error.kind(), error.finding().clone())
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
