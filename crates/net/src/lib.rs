//! Crate `net`: communication between the parties of a run.
//!
//! A [`Mesh`] is one party's view of a run: one channel to each other party, one counter of
//! rounds over all of them, counters by step, and a digest of all payload in each direction. A
//! channel sits on a [`Transport`], which moves whole frames and nothing else, so that the same
//! protocol code runs over memory, over TCP with mutual TLS, over a simulated wide-area network,
//! against a recording, or against an adversary that a test puts in between.
//!
//! ```text
//!   protocol code     send / flush / recv copy bytes; send_buffer and recv_buffer avoid the copy
//!   Mesh              stamps, counters, digests, messages cut into frames, all waiting
//!   Transport         memory | simulated | TCP + TLS 1.3 | recorder | replayer | adversary
//! ```
//!
//! # Security
//!
//! Between processes, every byte travels over TLS 1.3 in which each side proves possession of an
//! Ed25519 key that the other side has pinned (raw public keys, RFC 7250): no certificate, no
//! authority, nothing that expires. Whatever a peer sends is parsed into a checked type or refused,
//! lengths are bounded before memory is allocated, and every wait ends.
//!
//! # What it does not do
//!
//! It does not hide which parties communicate, when, or how much, and it does not promise
//! availability: a peer or an attacker on the path can always end a run. It knows nothing of
//! protocols or plans.

#![forbid(unsafe_code)]

mod cancel;
mod channel;
mod cipher;
mod connect;
mod connections;
mod counters;
mod digest;
mod error;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod gather;
mod hello;
mod limits;
mod links;
mod machine;
mod meeting;
mod memory;
mod mesh;
mod payload;
mod probe;
mod probe_peers;
mod queue;
mod reception;
mod record;
mod session;
mod tcp;
mod text;
mod timed;
mod tls;
mod waker;

pub use cancel::Cancel;
pub use channel::MAX_CONTIGUOUS_BYTES;
pub use connect::{Endpoint, MeshConfig, connect_transports, free_loopback_port, report_unlisted};
pub use counters::{Counters, Traffic};
pub use error::{Awaited, Cause, KeyFault, LinkError, NetError, Result};
pub use frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_FRAME_BYTES};
pub use hello::{Purpose, Version, WIRE_HISTORY, WIRE_VERSION};
pub use limits::Limits;
pub use machine::{Runtime, Socket, ThisMachine};
pub use memory::{LinkSpeed, MemoryTransport, memory_pair, simulated_pair};
pub use mesh::{MAX_RUN_DURATION, Mesh, full_links};
pub use payload::Payload;
pub use probe::ProbeAnswer;
pub use probe_peers::{PeerProbe, ProbeEvent, ProbeReport, probe_peers};
pub use reception::{Reception, Refused};
pub use record::{Recorder, Replayer};
pub use session::SessionId;
pub use tcp::danger_plaintext_transport;
pub use waker::{Wake, Waker};

use std::time::Instant;

/// Link to one peer that moves whole frames in order.
///
/// An implementation knows neither stamps nor steps nor the index of the peer; it reports events on
/// its link as a [`LinkError`], and the [`Mesh`] adds the party. Signals that do not concern the
/// protocol (heartbeats, goodbyes) stay below this trait.
///
/// No call waits: a call that finds nothing to do reports so, and the mesh, which waits for all of
/// its links at once, is woken through its [`Waker`] when another try is worthwhile.
///
/// Dropping a transport ends the link: frames sent before are still delivered, after which the peer
/// sees [`LinkError::Vanished`], unless [`Transport::shutdown`] sent a farewell.
///
/// A transport around another one, which looks at frames or changes them, names that one as its
/// [`Transport::inner`], and hands all on to it that it does not do itself. Without an inner
/// transport, what is not done is nothing; so each says whether it has one.
pub trait Transport: Send {
    /// The transport beneath, if there is one.
    fn inner(&self) -> Option<&dyn Transport>;

    /// The same, to be changed.
    ///
    /// # Panics
    /// If there is one and it is not stated here.
    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        assert!(self.inner().is_none(), "an inner transport is handed on");
        None
    }

    /// Sends `frame`, or returns it while there is no room for it on the way to the peer; the waker
    /// is woken when there is.
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError>;

    /// Sends frames that wait for more, so that several leave together: the party is going to wait.
    fn push_out(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.push_out();
        }
    }

    /// Receives the next frame from the peer; returns none while there is none, and the waker is
    /// woken when one comes.
    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError>;

    /// Time at which a frame on its way will have arrived, if the waker is not woken for it.
    fn due(&self) -> Option<Instant> {
        self.inner()?.due()
    }

    /// Makes room for more from the peer: excludes up to `at_most` received bytes that wait for the
    /// protocol from the bound on such bytes. Returns their number; the waker is woken when more
    /// comes.
    fn take_in(&mut self, at_most: usize) -> usize {
        self.inner_mut().map_or(0, |inner| inner.take_in(at_most))
    }

    /// Bytes taken in by [`Transport::take_in`] that have not been received yet.
    fn backlog_bytes(&self) -> usize {
        self.inner().map_or(0, |inner| inner.backlog_bytes())
    }

    /// Reason why no more frames follow those already received, once that is so. Before, the waker
    /// is woken when it becomes so.
    fn end(&self) -> Option<LinkError> {
        self.inner()?.end()
    }

    /// Sets the waker of this end.
    fn set_waker(&mut self, waker: &Waker) {
        if let Some(inner) = self.inner_mut() {
            inner.set_waker(waker);
        }
    }

    /// Ends the outgoing direction without waiting. See [`Farewell`] for the order in which the
    /// peer learns of it.
    fn shutdown(&mut self, farewell: Farewell<'_>) {
        if let Some(inner) = self.inner_mut() {
            inner.shutdown(farewell);
        }
    }

    /// Bytes on the wire since the parties met, in each direction, with framing and encryption.
    fn wire(&self) -> Traffic {
        self.inner()
            .map_or_else(Traffic::default, |inner| inner.wire())
    }
}

/// Way in which a party leaves a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell<'a> {
    /// The run is over for this party. Arrives after everything that was sent before.
    Goodbye,
    /// This party gives up. Overtakes everything still under way.
    Abort {
        /// Cause, which says who has to act.
        cause: Cause,
        /// Reason in words, without any secret; at most 1 KiB of it is sent.
        reason: &'a str,
    },
}
