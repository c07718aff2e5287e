//! Reasons why a party stops.

use sealane_diagnostic::Diagnostic;
use sealane_net::NetError;
use sealane_ot::OtError;
use sealane_parties::{PartyId, PartySet};

/// Result of a part of a protocol.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// Reason why a protocol stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Error of the network or of the peer's framing.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Message of the peer that the protocol forbids.
    #[error("party {party:?} broke the protocol: {what}")]
    Peer {
        /// The peer.
        party: PartyId,
        /// Description of the fault, without any secret.
        what: String,
    },
    /// Failed check of a party's work, which an honest party passes. Who fails it may have learned
    /// bits of a secret of this party, so the secrets that it touches have been destroyed.
    #[error("party {party:?} failed {check}; the secrets that it is about have been destroyed")]
    Deviated {
        /// The party.
        party: PartyId,
        /// Name of the check, without any secret.
        check: &'static str,
    },
    /// Failed check of a proof or of a value that two parties state: one of these parties deviated,
    /// and this one cannot know which. Nothing depends on what they sent.
    #[error("{check} failed: one of the parties {between:?} deviated; this party reveals nothing")]
    Disputed {
        /// The parties.
        between: PartySet,
        /// Name of the check, without any secret.
        check: &'static str,
    },
    /// Payload from a party that differs from the payload that it sent.
    #[error("what came from party {0:?} was altered on its way; this party reveals nothing")]
    Altered(PartyId),
    /// A check before a reveal failed: some value is not what it should be. Opaque on purpose.
    #[error("a check failed before the results were revealed; this party reveals nothing")]
    CheckFailed,
    /// This machine lacks something, or a file on it is damaged.
    #[error("{}", .0.message)]
    Machine(Box<Diagnostic>),
    /// Step that the protocol does not support: a bug of the engine.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Fault {
    /// A bug of the engine or of a protocol.
    pub fn internal(what: impl Into<String>) -> Fault {
        Fault::Internal(what.into())
    }
}

impl From<OtError> for Fault {
    fn from(error: OtError) -> Fault {
        match error {
            OtError::Net(error) => Fault::Net(error),
            OtError::BadPoint(party) => Fault::Peer {
                party,
                what: "a malformed curve point in the set-up of oblivious transfers".to_string(),
            },
            // Crate `ot` has erased its copy of the offset, and its owner goes with the run.
            OtError::CheckFailed(party) => Fault::Deviated {
                party,
                check: "a check of oblivious transfers",
            },
            OtError::Altered(party) => Fault::Altered(party),
            OtError::Ended => Fault::internal("oblivious transfers after a failure"),
        }
    }
}
