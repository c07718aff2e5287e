//! Room `net`: how the parties of a run talk.
//!
//! A [`Mesh`] is what one party sees of a run: one channel to each other party, one clock of
//! rounds over all of them, counters by step, and a digest of every byte in each direction. A
//! channel sits on a [`Transport`], which moves whole frames and nothing else, so that the same
//! protocol code runs over memory, over TCP with mutual TLS, over a simulated wide-area network,
//! against a recording, or against an adversary that a test puts in between.
//!
//! ```text
//!   protocol code     send / flush / recv bytes; room / wrote, ready / used in the frames themselves
//!   Mesh              stamps, counters, digests, messages cut into frames, all waiting
//!   Transport         memory | simulated | TCP + TLS 1.3 | recorder | replayer | adversary
//! ```
//!
//! # Security
//!
//! Between processes, every byte travels over TLS 1.3 in which each side proves possession of an
//! Ed25519 key that the other side has pinned (raw public keys, RFC 7250): no certificate, no
//! authority, nothing that expires. Whatever a peer sends is parsed into a checked type or refused,
//! lengths are bounded before memory is taken, and every wait ends.
//!
//! # What it does not do
//!
//! It does not hide who talks to whom, when, or how much, and it does not promise availability: a
//! peer or whoever holds the wire can always end a run. It knows nothing of protocols or plans.

#![forbid(unsafe_code)]

mod cancel;
mod channel;
mod cipher;
mod connect;
mod connections;
mod contact;
mod counters;
mod error;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod gather;
mod hello;
mod identity;
mod limits;
mod links;
mod machine;
mod meeting;
mod memory;
mod mesh;
mod payload;
pub mod private_file;
mod probe;
mod probe_peers;
mod queue;
mod record;
mod session;
mod tcp;
mod text;
mod timed;
mod tls;
mod waker;

pub use cancel::Cancel;
pub use channel::MAX_ROOM_BYTES;
pub use connect::{Endpoint, MeshConfig, connect_transports, free_loopback_port};
pub use contact::{CardError, ContactCard, host_and_port};
pub use counters::{Counters, Traffic};
pub use error::{Awaited, Cause, Explained, KeyFault, LinkError, NetError, Version};
pub use frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_FRAME_BYTES};
pub use hello::{Purpose, WIRE_HISTORY, WIRE_VERSION};
pub use identity::{Identity, PublicKey, PublicKeyError};
pub use limits::Limits;
pub use machine::{Machine, Socket, ThisMachine};
pub use memory::{MemoryTransport, NetworkClass, memory_pair, simulated_pair};
pub use mesh::{MOST_EXPECTED, Mesh};
pub use payload::Payload;
pub use probe::ProbeAnswer;
pub use probe_peers::{PeerProbe, ProbeEvent, ProbeReport, probe_peers};
pub use record::{Recorder, Replayer};
pub use session::SessionId;
pub use tcp::danger_plaintext_transport;
pub use waker::{Wake, Waker};

use std::time::Instant;

/// One party of a run: its index in the order in which the program names the parties.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct PartyId(pub u8);

impl PartyId {
    /// The party at `index` in the order of the program.
    ///
    /// # Panics
    /// If `index` is 256 or more; a program names at most 255 parties.
    pub fn from_index(index: usize) -> PartyId {
        PartyId(u8::try_from(index).expect("a run has at most 255 parties"))
    }

    /// The place of this party in arrays that have one element a party.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl std::fmt::Display for PartyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "party {}", self.0)
    }
}

/// Moves whole frames to and from one peer, in order.
///
/// An implementation knows neither stamps nor steps nor which party the peer is; it reports what
/// happens on its link as a [`LinkError`], and the [`Mesh`] adds the party. Frames that need no
/// attention of the protocol (heartbeats, goodbyes) stay below this trait.
///
/// No call waits: one that finds nothing to do says so, and the mesh, which waits for all of its
/// links at once, is called by its [`Waker`] when another try is worth it.
///
/// Dropping a transport ends the link: what was sent before is still delivered, after which the
/// peer sees [`LinkError::Vanished`], unless [`Transport::shutdown`] said something better.
pub trait Transport: Send {
    /// Hands `frame` over, or gives it back while there is no room for it on the way to the peer;
    /// the waker rings when there is.
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError>;

    /// The next frame from the peer. None while there is none; the waker rings when one comes.
    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError>;

    /// When a frame that is on its way will have arrived, if the waker does not ring for it.
    fn due(&self) -> Option<Instant>;

    /// Makes room for more from the peer: up to `at_most` bytes of what has come and waits to be
    /// received no longer count against the bound on such bytes. Says how many they are; the waker
    /// rings when more comes.
    fn take_in(&mut self, at_most: usize) -> usize;

    /// Bytes taken in by [`Transport::take_in`] that have not been received yet.
    fn backlog_bytes(&self) -> usize;

    /// Why nothing more will come after what has come already, once that is so. While it is not,
    /// the waker rings when it is.
    fn end(&self) -> Option<LinkError>;

    /// From now on calls this end by `waker`.
    fn set_waker(&mut self, waker: &Waker);

    /// Ends the outgoing direction without waiting. See [`Farewell`] for the order in which the
    /// peer learns of it.
    fn shutdown(&mut self, farewell: Farewell<'_>);

    /// Bytes on the wire since the parties met, in each direction, with framing and encryption.
    fn wire(&self) -> Traffic;
}

/// How a party leaves a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell<'a> {
    /// The run is over for this party. Arrives after everything that was sent before.
    Goodbye,
    /// This party gives up for the reason given. Overtakes everything still under way.
    Abort(Cause, &'a str),
}
