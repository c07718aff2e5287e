//! Why a run ended, in the words of the person who started it.

use sealane_net::{Cause, NetError};
use sealane_program::diagnostic::Diagnostic;
use sealane_protocol::{Fault, PartyId};

/// What kind of thing went wrong: who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The program: its author.
    Program,
    /// The data: their owner.
    Data,
    /// The configuration or the command: its author.
    Config,
    /// The network between the parties.
    Network,
    /// The other side.
    Peer,
    /// Sealane itself: a bug.
    Internal,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::Data => "data",
            Kind::Config => "config",
            Kind::Network => "network",
            Kind::Peer => "peer",
            Kind::Internal => "internal",
        }
    }
}

/// Why a run ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program was refused.
    #[error("{0}")]
    Program(Box<Diagnostic>),
    /// The data were refused.
    #[error("{0}")]
    Data(Box<Diagnostic>),
    /// A mistake in what this side was asked to do.
    #[error("{0}")]
    Config(String),
    /// Two parties did not approve the same job.
    #[error(
        "{peer} approved another job: the {part} differs ({theirs} there, {ours} here)\n\
         hint: run `sealane plan` on all sides and compare; all need the same file and options"
    )]
    Job {
        /// Name of the other party.
        peer: String,
        /// Which part of the job differs.
        part: &'static str,
        /// What this side has.
        ours: String,
        /// What the other side has.
        theirs: String,
    },
    /// Two parties, or a party and the program, disagree about a number of rows.
    #[error(
        "{0}\nhint: nothing that depends on inputs has been sent; mend the table and run again"
    )]
    Rows(String),
    /// The network, or what a peer sent over it. Names are filled in.
    #[error("{message}")]
    Net {
        /// The text for people.
        message: String,
        /// The cause.
        #[source]
        cause: NetError,
    },
    /// A peer broke the protocol.
    #[error("{peer} broke the protocol: {what}")]
    Peer {
        /// Name of the peer.
        peer: String,
        /// What was wrong.
        what: String,
    },
    /// What came from a party is not what it says it sent.
    #[error(
        "what came from {0} is not what it sent: it was altered or damaged on the way, so this \
         side takes no result from the run\n\
         hint: run again; if it happens again, do not trust {0} or the machines"
    )]
    Altered(String),
    /// A check before the reveal failed.
    #[error(
        "a check of what crossed failed: it was altered or damaged on the way, so this side takes \
         no result from the run\n\
         hint: run again; if it happens again, do not trust the other side or the machine"
    )]
    CheckFailed,
    /// A bug.
    #[error("internal error: {0}\nhint: please report this with the program and the versions")]
    Internal(String),
}

impl EngineError {
    /// Who has to act.
    pub fn kind(&self) -> Kind {
        match self {
            EngineError::Program(_) => Kind::Program,
            EngineError::Data(_) | EngineError::Rows(_) => Kind::Data,
            EngineError::Config(_) => Kind::Config,
            EngineError::Job { .. }
            | EngineError::Peer { .. }
            | EngineError::Altered(_)
            | EngineError::CheckFailed => Kind::Peer,
            EngineError::Net { cause, .. } => match cause {
                NetError::Listen(..) | NetError::KeyFile(..) => Kind::Config,
                NetError::Misuse(..) => Kind::Internal,
                error => match error.cause() {
                    Cause::Network => Kind::Network,
                    Cause::Party => Kind::Peer,
                },
            },
            EngineError::Internal(_) => Kind::Internal,
        }
    }

    /// What peers are told when this side gives up: the cause, and one line without any secret
    /// that names the party at fault where it is known. A witness who hears it from another one
    /// passes it on, with who told it.
    pub(crate) fn for_peers(&self) -> (Cause, String) {
        let cause = match self.kind() {
            Kind::Network => Cause::Network,
            _ => Cause::Party,
        };
        let text = match self {
            EngineError::Program(_)
            | EngineError::Data(_)
            | EngineError::Config(_)
            | EngineError::Internal(_) => {
                "an error on its side, which its own report names".to_string()
            }
            EngineError::Job {
                peer, part, theirs, ..
            } => format!(
                "{peer} approved another job: the {part} differs ({theirs} there); compare \
                 `sealane plan`"
            ),
            EngineError::Rows(message) => message.clone(),
            EngineError::Net { .. }
            | EngineError::Altered(_)
            | EngineError::Peer { .. }
            | EngineError::CheckFailed => self.to_string().lines().next().unwrap_or("").to_string(),
        };
        (cause, text)
    }

    /// What is kept of the error: its text, but of data only which rule they break and where, since
    /// the text shows a value to its owner.
    pub(crate) fn told(&self) -> String {
        let EngineError::Data(finding) = self else {
            return self.to_string();
        };
        let place = finding.span.as_ref();
        let place = place.map_or(String::new(), |span| {
            format!(" at {}:{}", span.file, span.line)
        });
        let code = finding.code;
        format!("the data were refused ({code}{place}); what they hold is not kept here")
    }

    /// A fault of a protocol, with names for parties.
    pub(crate) fn from_fault(fault: Fault, names: &[String]) -> EngineError {
        match fault {
            Fault::Net(cause) => EngineError::from_net(cause, names),
            Fault::Peer { party, what } => EngineError::Peer {
                peer: name(names, party),
                what,
            },
            Fault::Altered(party) => EngineError::Altered(name(names, party)),
            Fault::CheckFailed => EngineError::CheckFailed,
            other => EngineError::Internal(other.to_string()),
        }
    }

    /// A fault of the network, with names for parties.
    pub fn from_net(cause: NetError, names: &[String]) -> EngineError {
        let message = cause.with_names(names).to_string();
        EngineError::Net { message, cause }
    }
}

impl From<Diagnostic> for EngineError {
    /// A finding about a program; findings about data are wrapped where data are read.
    fn from(diagnostic: Diagnostic) -> EngineError {
        EngineError::Program(Box::new(diagnostic))
    }
}

/// The name of a party, or its number where the program has none for it.
pub(crate) fn name(names: &[String], party: PartyId) -> String {
    names
        .get(party.index())
        .cloned()
        .unwrap_or_else(|| format!("party {}", party.0))
}
