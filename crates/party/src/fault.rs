//! Reasons why a party stops.

use sealane_net::NetError;
use sealane_parties::PartyId;

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
    /// Payload from a party that differs from the payload that it sent.
    #[error("what came from party {0:?} was altered on its way; this party reveals nothing")]
    Altered(PartyId),
    /// A check before a reveal failed: some value is not what it should be. Opaque on purpose.
    #[error("a check failed before the results were revealed; this party reveals nothing")]
    CheckFailed,
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
