//! Why a run ended, in the words of the person who started it.

use crate::events::Failed;
use sealane_net::{Cause, NetError};
use sealane_program::diagnostic::Diagnostic;
use sealane_protocol::{Fault, PartyId};

pub use sealane_program::diagnostic::Kind;

/// Why a run ended: who has to act, and what to tell them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.finding)]
pub struct EngineError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: Kind,
    finding: Diagnostic,
    /// What other parties are told of it, where they are told more than that there was an error.
    told: Option<String>,
    /// The error of the network behind it.
    net: Option<NetError>,
}

impl EngineError {
    /// An error of which other parties are not told more than that there was one.
    pub fn new(kind: Kind, finding: Diagnostic) -> EngineError {
        EngineError(Box::new(Inner {
            kind,
            finding,
            told: None,
            net: None,
        }))
    }

    /// The data of this party were refused.
    pub fn data(finding: Diagnostic) -> EngineError {
        EngineError::new(Kind::Data, finding)
    }

    /// This side was asked to do what cannot be done.
    pub fn misuse(finding: Diagnostic) -> EngineError {
        EngineError::new(Kind::Misuse, finding)
    }

    /// A bug.
    pub fn internal(what: impl Into<String>) -> EngineError {
        let message = format!("internal error: {}", what.into());
        let finding = Diagnostic::new("internal", message)
            .hint("please report this with the program and the versions");
        EngineError::new(Kind::Internal, finding)
    }

    /// Who has to act.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What happened, where, why, and what to do.
    pub fn finding(&self) -> &Diagnostic {
        &self.0.finding
    }

    /// The error of the network behind it, if it is one.
    pub fn net(&self) -> Option<&NetError> {
        self.0.net.as_ref()
    }

    /// With another hint.
    pub fn hint(mut self, hint: impl Into<String>) -> EngineError {
        self.0.finding.hint = hint.into();
        self
    }

    /// What peers are told when this side gives up: the cause, and one line without any secret
    /// that names the party at fault where it is known. A witness who hears it from another one
    /// passes it on, with who told it.
    pub(crate) fn for_peers(&self) -> (Cause, String) {
        let cause = match self.kind() {
            Kind::Network => Cause::Network,
            _ => Cause::Party,
        };
        let opaque = "an error on its side, which its own report names";
        let text = self.0.told.clone().unwrap_or_else(|| opaque.to_string());
        (cause, text)
    }

    /// What is kept of the error. Of data only the rule that they break is kept, and where, since the
    /// text shows a value to its owner; unless it is one that other parties may read.
    pub(crate) fn kept(&self, step: Option<usize>) -> Failed {
        match self.0.told {
            Some(_) => Failed::with_text(self.kind(), self.finding(), step),
            None => Failed::new(self.kind(), self.finding(), step),
        }
    }

    /// Two parties, or a party and the program, disagree about a number of rows.
    pub(crate) fn rows(message: String) -> EngineError {
        let finding = Diagnostic::new("rows-differ", message)
            .because("Nothing that depends on inputs has been sent.")
            .hint("mend the table and run again");
        EngineError::new(Kind::Data, finding).told()
    }

    /// Two parties did not approve the same job: which part of it differs, and what each has.
    pub(crate) fn job(peer: &str, part: &str, ours: &str, theirs: &str) -> EngineError {
        let message = format!(
            "{peer} approved another job: the {part} differs ({theirs} there, {ours} here)"
        );
        let finding = Diagnostic::new("other-job", message).hint(
            "run `sealane plan` on all sides and compare; all need the same file and options",
        );
        let mut error = EngineError::new(Kind::Peer, finding);
        error.0.told = Some(format!(
            "{peer} approved another job: the {part} differs ({theirs} there, {ours} at the one who \
             tells); compare `sealane plan`"
        ));
        error
    }

    /// What came from a party is not what it says it sent.
    pub(crate) fn altered(peer: &str) -> EngineError {
        let message = format!("what came from {peer} is not what it sent");
        let hint =
            format!("run again; if it happens again, do not trust {peer} or the machines between");
        EngineError::damaged("altered", message, hint)
    }

    fn damaged(code: &'static str, message: String, hint: String) -> EngineError {
        let finding = Diagnostic::new(code, message)
            .because(
                "It was altered or damaged on the way, so this side takes no result from the run.",
            )
            .hint(hint);
        EngineError::new(Kind::Peer, finding).told()
    }

    /// A fault of a protocol, with names for parties.
    pub(crate) fn from_fault(fault: Fault, names: &[String]) -> EngineError {
        match fault {
            Fault::Net(cause) => EngineError::from_net(cause, names),
            Fault::Peer { party, what } => {
                let message = format!("{} broke the protocol: {what}", name(names, party));
                let finding = Diagnostic::new("protocol-broken", message)
                    .hint("see that all parties run the same version of Sealane, unaltered");
                EngineError::new(Kind::Peer, finding).told()
            }
            Fault::Altered(party) => EngineError::altered(&name(names, party)),
            Fault::CheckFailed => EngineError::damaged(
                "check-failed",
                "a check of what crossed failed".to_string(),
                "run again; if it happens again, do not trust the other side or the machine"
                    .to_string(),
            ),
            other => EngineError::internal(other.to_string()),
        }
    }

    /// A fault of the network, with names for parties.
    pub fn from_net(cause: NetError, names: &[String]) -> EngineError {
        let kind = match &cause {
            NetError::Listen(..) | NetError::KeyFile(..) => Kind::Config,
            NetError::Misuse(..) => Kind::Internal,
            error => match error.cause() {
                Cause::Network => Kind::Network,
                Cause::Party => Kind::Peer,
            },
        };
        let explained = cause.with_names(names);
        let finding = Diagnostic::new(explained.code, explained.message)
            .because(explained.reason)
            .hint(explained.hint);
        let mut error = EngineError::new(kind, finding).told();
        error.0.net = Some(cause);
        error
    }

    /// An error whose sentence other parties may read.
    fn told(mut self) -> EngineError {
        self.0.told = Some(self.0.finding.message.clone());
        self
    }
}

impl From<Diagnostic> for EngineError {
    /// A finding about a program, or about a plan for it; findings about data are wrapped where
    /// data are read.
    fn from(finding: Diagnostic) -> EngineError {
        // The program may be right, and the call that names its helpers wrong.
        let kind = match finding.code {
            "parties" => Kind::Misuse,
            _ => Kind::Program,
        };
        EngineError::new(kind, finding)
    }
}

/// The name of a party, or its number where the program has none for it.
pub(crate) fn name(names: &[String], party: PartyId) -> String {
    names
        .get(party.index())
        .cloned()
        .unwrap_or_else(|| format!("party {}", party.0))
}
