//! Why a command failed, for people and for scripts.

use sealane_engine::{EngineError, Kind};
use sealane_program::diagnostic::Diagnostic;

/// Exit statuses, as `--help` lists them.
pub const EXIT_CODES: &str = "\
Exit status:
  0   success
  2   the command line, the configuration, a key or an approval
  3   the program
  4   the data
  5   the network or another party
  70  a bug in Sealane";

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The program cannot be loaded or run as written. One or more findings.
    #[error("{}", rendered(.0))]
    Program(Vec<Diagnostic>),
    /// The program could not be loaded, and the loader has its own text for it.
    #[error("{0}")]
    Loading(String),
    /// The configuration file.
    #[error("{0}")]
    Config(Box<Diagnostic>),
    /// The command line, a key, an approval: what is wrong and what to do.
    #[error("error: {what}\nhint: {hint}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file or a stream of this machine.
    #[error("error: {0}")]
    Io(String),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Another process of a `--local` run failed and has said why.
    #[error("error: {party} failed with status {status}")]
    Party {
        /// Its name.
        party: String,
        /// Its exit status.
        status: u8,
    },
}

impl Failure {
    /// A mistake on the command line.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Usage {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Who has to act.
    pub fn kind(&self) -> Kind {
        match self {
            Failure::Program(_) | Failure::Loading(_) => Kind::Program,
            Failure::Config(_) | Failure::Usage { .. } | Failure::Io(_) => Kind::Config,
            Failure::Engine(error) => error.kind(),
            Failure::Party { .. } => Kind::Peer,
        }
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match (self, self.kind()) {
            (Failure::Party { status, .. }, _) => *status,
            (_, Kind::Config) => 2,
            (_, Kind::Program) => 3,
            (_, Kind::Data) => 4,
            (_, Kind::Network | Kind::Peer) => 5,
            (_, Kind::Internal) => 70,
        }
    }
}

fn rendered(findings: &[Diagnostic]) -> String {
    findings
        .iter()
        .map(|finding| finding.render(None))
        .collect::<Vec<_>>()
        .join("\n\n")
}
