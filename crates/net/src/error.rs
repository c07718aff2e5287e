//! What can go wrong between two parties.
//!
//! Two closed enums. [`LinkError`] says what happened on one link and is what a [`Transport`]
//! reports; [`NetError`] says between which parties, and what to do about it. A fault of the peer,
//! a mistake in the configuration, a fault of the network and a misuse of this room are different
//! variants, so that callers can treat them differently.
//!
//! [`Transport`]: crate::Transport

use std::fmt;
use std::time::Duration;

use crate::hello::{PACKAGE_VERSION, WIRE_VERSION};
use crate::{PartyId, PublicKey};

mod text;

pub use text::Explained;

/// What can go wrong between two parties. Each variant names the peer by index;
/// [`NetError::with_names`] explains it with the names that the users gave. Its display is what
/// happened and what to do, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetError {
    /// Not even a sign of life came for longer than the time-out, in seconds.
    Stalled(PartyId, u64),
    /// The peer is alive, but what this party waits for did not come within its patience, in
    /// seconds.
    Overdue(PartyId, Awaited, u64),
    /// As [`NetError::Overdue`], after this party has taken in as much as it holds of what others
    /// sent ahead.
    Overfull {
        /// The party whose bytes are most of those that are held.
        from: PartyId,
        /// All bytes that are held.
        held_bytes: u64,
        /// The party that is waited for.
        party: PartyId,
        /// What is waited for.
        awaited: Awaited,
        /// How long, in seconds.
        waited_s: u64,
    },
    /// The connection ended in the middle of a run.
    Vanished(PartyId),
    /// Bytes that are no message of this protocol.
    Malformed(PartyId, String),
    /// Whoever started this party cancelled the run.
    Cancelled,
    /// The peer gave up and said why.
    Aborted(PartyId, Cause, String),
    /// The peer ended its run in good order while this party still expected something of it.
    Finished(PartyId),
    /// A replayed run went another way than the recorded one.
    Diverged(PartyId, String),
    /// A key is not the one that was pinned.
    WrongKey(PartyId, KeyFault),
    /// The parties run versions that do not speak with each other: ours, then theirs.
    WrongVersion(PartyId, Version, Version),
    /// The parties disagree on who is who: an index, an address or a key is another party's.
    WrongParty(PartyId, String),
    /// Two parties have one key or one address in the configuration of this party.
    Doubled(PartyId, String),
    /// No connection came about: the address, and the cause.
    Unreachable(PartyId, String, String),
    /// TLS failed, though with the right key.
    Tls(PartyId, String),
    /// This party cannot listen at its own address: the address, and the cause.
    Listen(String, String),
    /// A private key could not be stored or loaded: the file, and the cause.
    KeyFile(String, String),
    /// The operating system reported a fault of the connection.
    Io(PartyId, String),
    /// This room was called in a way that has no meaning; a mistake in Sealane itself.
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
            NetError::Cancelled
            | NetError::Listen(..)
            | NetError::KeyFile(..)
            | NetError::Misuse(_) => None,
        }
    }

    /// What made it happen: what a party that gives up for this error tells the others. An abort
    /// has the cause that was told with it, so that all see the same one.
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
            | NetError::KeyFile(..)
            | NetError::Misuse(_) => Cause::Party,
        }
    }

    /// Says which party stands at the other end of the link on which `what` happened.
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

/// What makes a party give up, as it tells the others: who of them has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The network: a party is silent, gone or cannot be reached.
    Network,
    /// A party: what it sent, what it wants to run, or an error at the one who gives up.
    Party,
    /// Whoever started a party, who cancelled the run.
    Cancelled,
}

/// Which key is not the one that was pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// The peer showed another key than the one pinned here.
    #[error(
        "shows a key with the fingerprint {}, but that of the key expected of it here is {}",
        .seen.fingerprint(), .expected.fingerprint()
    )]
    Theirs {
        /// The key in this party's configuration.
        expected: PublicKey,
        /// The key with which the peer came.
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

/// A version of Sealane, as told in the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Version of the bytes on the wire; parties need the same.
    pub wire: u16,
    /// Version of the package, for people.
    pub package: String,
}

impl Version {
    /// That of this build.
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

/// What a party waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Payload bytes from the peer.
    Payload {
        /// The step of the plan that needs them.
        step: u32,
    },
    /// A control message from the peer.
    Control,
    /// Room for what this party sends to the peer.
    Room {
        /// The step of the plan that sends it.
        step: u32,
    },
}

impl Awaited {
    /// What the peer did, who let this party wait.
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

/// What happened on a link, said by a transport that does not know whose link it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// No sign of life came for this long.
    Silent(Duration),
    /// The other end is gone.
    Vanished,
    /// The other end said goodbye, and all it sent has been received.
    Finished,
    /// The other end gave up for this reason.
    Aborted(Cause, String),
    /// The other end sent what is no frame.
    Malformed(String),
    /// What is sent differs from what was sent when the run was recorded.
    Diverged(String),
    /// The encryption of the connection failed.
    Tls(String),
    /// The operating system reported a fault.
    Io(String),
    /// This end itself has said its farewell before.
    Left,
}
