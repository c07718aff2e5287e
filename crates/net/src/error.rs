//! Errors between two parties.
//!
//! There are two closed enums. [`LinkError`] describes an event on one link and is reported by a
//! [`Transport`]; [`NetError`] adds the parties and the remedy. A fault of the peer, a mistake in
//! the configuration, a fault of the network and a misuse of this room are different variants, so
//! that callers can treat them differently.
//!
//! [`Transport`]: crate::Transport

use std::fmt;
use std::time::Duration;

use crate::hello::{PACKAGE_VERSION, WIRE_VERSION};
use sealane_identity::PublicKey;
use sealane_parties::PartyId;

mod text;

/// An error between two parties. Each variant names the peer by index; [`NetError::with_names`]
/// explains it with the names that the users gave. Its display states the event and the remedy in
/// one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// Nothing at all came, not even a heartbeat, for longer than the time-out, in seconds.
    Stalled(PartyId, u64),
    /// The peer is alive, but did not send or read what this party waits for within its patience,
    /// in seconds.
    Overdue(PartyId, Awaited, u64),
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
        /// How long, in seconds.
        waited_s: u64,
    },
    /// The connection ended in the middle of a run.
    Vanished(PartyId),
    /// Bytes that are not a message of this protocol.
    Malformed(PartyId, String),
    /// The caller that started this party cancelled the run.
    Cancelled,
    /// The peer gave up and said why.
    Aborted(PartyId, Cause, String),
    /// The peer ended its run in good order while this party still expected something of it.
    Finished(PartyId),
    /// A replayed run deviated from the recorded one.
    Diverged(PartyId, String),
    /// A key is not the one that was pinned.
    WrongKey(PartyId, KeyFault),
    /// The parties run incompatible versions: ours, then theirs.
    WrongVersion(PartyId, Version, Version),
    /// The parties disagree on their indices, addresses or keys.
    WrongParty(PartyId, String),
    /// Two parties have the same key or address in the configuration of this party.
    Doubled(PartyId, String),
    /// No connection could be made: the address, and the cause.
    Unreachable(PartyId, String, String),
    /// TLS failed, though with the right key.
    Tls(PartyId, String),
    /// This party cannot listen at its own address: the address, and the cause.
    Listen(String, String),
    /// The operating system reported a fault of the connection.
    Io(PartyId, String),
    /// Invalid call of this room; a bug in Sealane itself.
    Misuse(String),
}

impl NetError {
    /// The peer concerned, if there is one.
    pub fn party(&self) -> Option<PartyId> {
        match self {
            NetError::Stalled(party, _)
            | NetError::Overdue(party, ..)
            | NetError::Overfull { party, .. }
            | NetError::Vanished(party)
            | NetError::Malformed(party, _)
            | NetError::Aborted(party, ..)
            | NetError::Finished(party)
            | NetError::Diverged(party, _)
            | NetError::WrongKey(party, _)
            | NetError::WrongVersion(party, _, _)
            | NetError::WrongParty(party, _)
            | NetError::Doubled(party, _)
            | NetError::Unreachable(party, _, _)
            | NetError::Tls(party, _)
            | NetError::Io(party, _) => Some(*party),
            NetError::Cancelled | NetError::Listen(..) | NetError::Misuse(_) => None,
        }
    }

    /// The cause that this party tells the others when it gives up for this error. An abort keeps
    /// the cause that came with it, so that all parties see the same one.
    pub fn cause(&self) -> Cause {
        match self {
            NetError::Aborted(_, cause, _) => *cause,
            NetError::Cancelled => Cause::Cancelled,
            NetError::Stalled(..)
            | NetError::Overdue(..)
            | NetError::Overfull { .. }
            | NetError::Vanished(_)
            | NetError::Unreachable(..)
            | NetError::Tls(..)
            | NetError::Io(..) => Cause::Network,
            NetError::Malformed(..)
            | NetError::Finished(_)
            | NetError::Diverged(..)
            | NetError::WrongKey(..)
            | NetError::WrongVersion(..)
            | NetError::WrongParty(..)
            | NetError::Doubled(..)
            | NetError::Listen(..)
            | NetError::Misuse(_) => Cause::Party,
        }
    }

    /// Adds the party at the other end of the link to `what`.
    pub(crate) fn on_link(party: PartyId, what: LinkError) -> NetError {
        match what {
            LinkError::Silent(time) => NetError::Stalled(party, time.as_secs()),
            LinkError::Vanished => NetError::Vanished(party),
            LinkError::Finished => NetError::Finished(party),
            LinkError::Aborted(cause, reason) => NetError::Aborted(party, cause, reason),
            LinkError::Malformed(what) => NetError::Malformed(party, what),
            LinkError::Diverged(what) => NetError::Diverged(party, what),
            LinkError::Tls(what) => NetError::Tls(party, what),
            LinkError::Io(what) => NetError::Io(party, what),
            LinkError::Left => NetError::Misuse("a party that has left the run goes on".into()),
        }
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
}

/// Version of Sealane, as sent in the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Version of the wire format; parties need the same.
    pub wire: u16,
    /// Version of the package, for people.
    pub package: String,
}

impl Version {
    /// Version of this build.
    pub fn current() -> Version {
        Version {
            wire: WIRE_VERSION,
            package: PACKAGE_VERSION.into(),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (wire version {})", self.package, self.wire)
    }
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
    /// Nothing came, not even a heartbeat, for this long.
    Silent(Duration),
    /// The other end is gone.
    Vanished,
    /// The other end said goodbye, and everything that it sent has been received.
    Finished,
    /// The other end gave up for this reason.
    Aborted(Cause, String),
    /// The other end sent something that is not a frame.
    Malformed(String),
    /// The bytes sent differ from those of the recorded run.
    Diverged(String),
    /// The encryption of the connection failed.
    Tls(String),
    /// The operating system reported a fault.
    Io(String),
    /// This end has sent its farewell before.
    Left,
}
