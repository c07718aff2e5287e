//! Errors between two parties.
//!
//! There are two closed enums. [`LinkError`] describes an event on one link and is reported by a
//! [`Transport`]; [`NetError`] adds the parties and the remedy. A fault of the peer, a mistake in
//! the configuration, a fault of the network and a misuse of this crate are different variants, so
//! that callers can treat them differently.
//!
//! [`Transport`]: crate::Transport

use std::fmt;
use std::time::Duration;

use crate::hello::Version;
use sealane_identity::PublicKey;
use sealane_parties::PartyId;

mod text;

/// Result of what needs other parties.
pub type Result<T, E = NetError> = std::result::Result<T, E>;

/// An error between two parties. Each variant names the peer by index; [`NetError::with_names`]
/// explains it with the names that the users gave. Its display states the event and the remedy in
/// one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// Nothing at all came, not even a heartbeat, for longer than the time-out.
    Stalled {
        /// The silent peer.
        party: PartyId,
        /// Length of the silence, in seconds.
        silent_s: u64,
    },
    /// The peer is alive, but did not send or read what this party waits for within its patience.
    Overdue {
        /// The peer.
        party: PartyId,
        /// Kind of event that is waited for.
        awaited: Awaited,
        /// Length of the wait, in seconds.
        waited_s: u64,
    },
    /// Like [`NetError::Overdue`], after this party has buffered as much as it may of what others
    /// sent ahead.
    Overfull {
        /// The party that sent most of the buffered bytes.
        from: PartyId,
        /// Number of bytes buffered.
        held_bytes: u64,
        /// The party that is waited for.
        party: PartyId,
        /// Kind of event that is waited for.
        awaited: Awaited,
        /// Length of the wait, in seconds.
        waited_s: u64,
    },
    /// The connection ended in the middle of a run.
    Vanished {
        /// The peer.
        party: PartyId,
    },
    /// Bytes that are not a message of this protocol.
    Malformed {
        /// The sender.
        party: PartyId,
        /// The violated rule.
        reason: String,
    },
    /// The caller that started this party cancelled the run.
    Cancelled,
    /// The peer gave up.
    Aborted {
        /// The peer.
        party: PartyId,
        /// Its cause.
        cause: Cause,
        /// Its reason, in words.
        reason: String,
    },
    /// The peer ended its run in good order while this party still expected something of it.
    Finished {
        /// The peer.
        party: PartyId,
    },
    /// A replayed run deviated from the recorded one.
    Diverged {
        /// The peer on the recorded link.
        party: PartyId,
        /// The first deviation.
        difference: String,
    },
    /// A key is not the one that was pinned.
    WrongKey {
        /// The party at the other end; this party if its own key is not the configured one.
        party: PartyId,
        /// Kind of disagreement.
        fault: KeyFault,
    },
    /// The parties run incompatible versions.
    WrongVersion {
        /// The peer.
        party: PartyId,
        /// Version of this party.
        ours: Version,
        /// Version of the peer.
        theirs: Version,
    },
    /// The parties disagree on their indices, addresses or keys.
    WrongParty {
        /// The peer.
        party: PartyId,
        /// The disagreement.
        reason: String,
    },
    /// Two parties have the same key or address in the configuration of this party.
    Doubled {
        /// The second of the two.
        party: PartyId,
        /// The common value, and the first of the two.
        reason: String,
    },
    /// The configuration of this party lacks a party of the run.
    Unlisted {
        /// The party that it lacks.
        party: PartyId,
    },
    /// No connection could be made.
    Unreachable {
        /// The peer.
        party: PartyId,
        /// Address at which it was dialled or awaited.
        address: String,
        /// Failure of the last attempt.
        reason: String,
    },
    /// TLS failed, though with the right key.
    Tls {
        /// The peer.
        party: PartyId,
        /// Failure that the TLS library reported.
        reason: String,
    },
    /// This party cannot listen at its own address.
    Listen {
        /// The address.
        address: String,
        /// Failure that the operating system reported.
        reason: String,
    },
    /// The operating system reported a fault of the connection.
    Io {
        /// The peer.
        party: PartyId,
        /// The fault.
        reason: String,
    },
    /// Invalid call of this crate; a bug in Sealane itself.
    Misuse {
        /// The violated rule.
        reason: String,
    },
}

impl NetError {
    /// The peer concerned, if there is one.
    pub fn party(&self) -> Option<PartyId> {
        match self {
            NetError::Stalled { party, .. }
            | NetError::Overdue { party, .. }
            | NetError::Overfull { party, .. }
            | NetError::Vanished { party }
            | NetError::Malformed { party, .. }
            | NetError::Aborted { party, .. }
            | NetError::Finished { party }
            | NetError::Diverged { party, .. }
            | NetError::WrongKey { party, .. }
            | NetError::WrongVersion { party, .. }
            | NetError::WrongParty { party, .. }
            | NetError::Doubled { party, .. }
            | NetError::Unlisted { party }
            | NetError::Unreachable { party, .. }
            | NetError::Tls { party, .. }
            | NetError::Io { party, .. } => Some(*party),
            NetError::Cancelled | NetError::Listen { .. } | NetError::Misuse { .. } => None,
        }
    }

    /// The cause that this party tells the others when it gives up for this error. An abort keeps
    /// the cause that came with it, so that all parties see the same one.
    pub fn cause(&self) -> Cause {
        match self {
            NetError::Aborted { cause, .. } => *cause,
            NetError::Cancelled => Cause::Cancelled,
            NetError::Stalled { .. }
            | NetError::Overdue { .. }
            | NetError::Overfull { .. }
            | NetError::Vanished { .. }
            | NetError::Unreachable { .. }
            | NetError::Tls { .. }
            | NetError::Io { .. } => Cause::Network,
            NetError::Malformed { .. }
            | NetError::Finished { .. }
            | NetError::Diverged { .. }
            | NetError::WrongKey { .. }
            | NetError::WrongVersion { .. }
            | NetError::WrongParty { .. }
            | NetError::Doubled { .. }
            | NetError::Unlisted { .. }
            | NetError::Listen { .. }
            | NetError::Misuse { .. } => Cause::Party,
        }
    }

    /// The peer gave up.
    pub fn aborted(party: PartyId, cause: Cause, reason: impl Into<String>) -> NetError {
        let reason = reason.into();
        NetError::Aborted {
            party,
            cause,
            reason,
        }
    }

    /// The peer sent what is no message of this protocol.
    pub fn malformed(party: PartyId, reason: impl Into<String>) -> NetError {
        let reason = reason.into();
        NetError::Malformed { party, reason }
    }

    /// A party that this one has waited for so long.
    pub fn overdue(party: PartyId, awaited: Awaited, waited_s: u64) -> NetError {
        NetError::Overdue {
            party,
            awaited,
            waited_s,
        }
    }

    pub(crate) fn unreachable(party: PartyId, address: &str, reason: String) -> NetError {
        let address = address.to_string();
        NetError::Unreachable {
            party,
            address,
            reason,
        }
    }

    /// The parties disagree on who the peer is.
    pub(crate) fn wrong_party(party: PartyId, reason: impl Into<String>) -> NetError {
        let reason = reason.into();
        NetError::WrongParty { party, reason }
    }

    /// The party at the other end has, or sees, another key than the pinned one.
    pub fn wrong_key(party: PartyId, fault: KeyFault) -> NetError {
        NetError::WrongKey { party, fault }
    }

    /// A call of this crate that breaks a rule.
    pub(crate) fn misuse(reason: impl Into<String>) -> NetError {
        let reason = reason.into();
        NetError::Misuse { reason }
    }

    /// Adds the party at the other end of the link to `event`.
    pub(crate) fn on_link(party: PartyId, event: LinkError) -> NetError {
        match event {
            LinkError::Silent { duration } => {
                let silent_s = duration.as_secs();
                NetError::Stalled { party, silent_s }
            }
            LinkError::Vanished => NetError::Vanished { party },
            LinkError::Finished => NetError::Finished { party },
            LinkError::Aborted { cause, reason } => NetError::aborted(party, cause, reason),
            LinkError::Malformed { reason } => NetError::malformed(party, reason),
            LinkError::Diverged { difference } => NetError::Diverged { party, difference },
            LinkError::Tls { reason } => NetError::Tls { party, reason },
            LinkError::Io { reason } => NetError::Io { party, reason },
            LinkError::Left => NetError::misuse("a party that has left the run goes on"),
        }
    }
}

impl LinkError {
    /// Bytes that are not what they ought to be.
    pub fn malformed(reason: impl Into<String>) -> LinkError {
        let reason = reason.into();
        LinkError::Malformed { reason }
    }
}

/// Cause for which a party gives up, as it tells the others; it says who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The network: a party is silent, gone or cannot be reached.
    Network,
    /// A party: its messages, its job, or an error at the party that gives up.
    Party,
    /// The caller that started a party and cancelled the run.
    Cancelled,
}

/// Kind of disagreement about a pinned key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// The peer showed a key other than the one pinned here.
    #[error(
        "shows a key with the fingerprint {}, but that of the key expected of it here is {}",
        .seen.fingerprint(), .expected.fingerprint()
    )]
    Theirs {
        /// The key in this party's configuration.
        expected: PublicKey,
        /// The key that the peer showed.
        seen: PublicKey,
    },
    /// The peer refused this party's key, because it has pinned another.
    #[error(
        "expects another key of this party, which showed one with the fingerprint {}",
        .shown.fingerprint()
    )]
    Ours {
        /// The key of this party.
        shown: PublicKey,
    },
    /// The peer refused this party's key, because it has pinned it for no party at all.
    #[error(
        "has no party with this one's key in its configuration; the fingerprint of the key is {}",
        .shown.fingerprint()
    )]
    Unknown {
        /// The key of this party.
        shown: PublicKey,
    },
}

/// Event for which a party waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Payload bytes from the peer.
    Payload {
        /// The step of the plan that needs them.
        step: u32,
    },
    /// A control message from the peer.
    Control,
    /// Room for sending to the peer.
    Room {
        /// The step of the plan that sends it.
        step: u32,
    },
}

impl Awaited {
    /// Describes the peer's failure for which this party waited.
    fn omission(self) -> &'static str {
        match self {
            Awaited::Payload { .. } | Awaited::Control => "sent nothing",
            Awaited::Room { .. } => "took in nothing",
        }
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Payload { step } => write!(f, "the payload of step {step}"),
            Awaited::Control => f.write_str("a control message"),
            Awaited::Room { step } => write!(f, "room for the payload of step {step}"),
        }
    }
}

/// Event on a link, reported by a transport that does not know the peer's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing came, not even a heartbeat.
    Silent {
        /// Length of the silence.
        duration: Duration,
    },
    /// The other end is gone.
    Vanished,
    /// The other end said goodbye, and everything that it sent has been received.
    Finished,
    /// The other end gave up.
    Aborted {
        /// Its cause.
        cause: Cause,
        /// Its reason, in words.
        reason: String,
    },
    /// The other end sent something that is not a frame.
    Malformed {
        /// The violated rule.
        reason: String,
    },
    /// The bytes sent differ from those of the recorded run.
    Diverged {
        /// The first deviation.
        difference: String,
    },
    /// The encryption of the connection failed.
    Tls {
        /// Failure that the TLS library reported.
        reason: String,
    },
    /// The operating system reported a fault.
    Io {
        /// The fault.
        reason: String,
    },
    /// This end has sent its farewell before.
    Left,
}
