//! Transports in memory: a pair of bounded queues, with or without a simulated network between.
//!
//! A simulated link delays for real. A frame leaves when the link has carried all that was sent
//! before it at the link's bandwidth, and arrives half a round trip later; the receiver sleeps
//! until then. Loss, jitter and the start-up behaviour of TCP are not modelled.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::Frame;
use crate::limits::Limits;
use crate::queue::Queue;
use crate::text::{MAX_REASON_BYTES, harmless};
use crate::{Farewell, Transport};

/// The classes of networks for which plans are made and runs are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkClass {
    /// One building or data centre: 0.5 ms round trip, 1 Gbit/s.
    Lan,
    /// Two cities: 40 ms round trip, 100 Mbit/s.
    Wan,
}

impl NetworkClass {
    /// Time from a message's departure to the arrival of its answer.
    pub const fn round_trip(self) -> Duration {
        match self {
            NetworkClass::Lan => Duration::from_micros(500),
            NetworkClass::Wan => Duration::from_millis(40),
        }
    }

    /// Bytes a second, in each direction.
    pub const fn bytes_per_s(self) -> u64 {
        match self {
            NetworkClass::Lan => 125_000_000,
            NetworkClass::Wan => 12_500_000,
        }
    }
}

/// One end of a pair in memory; made by [`memory_pair`] and [`simulated_pair`].
pub struct MemoryTransport {
    outgoing: Arc<Queue<Parcel>>,
    incoming: Arc<Queue<Parcel>>,
    link: Option<SimulatedLink>,
    wire: Traffic,
}

/// Two ends connected in memory, each holding at most `limits.inbound_bytes` for its owner.
pub fn memory_pair(limits: &Limits) -> (MemoryTransport, MemoryTransport) {
    pair(limits, None)
}

/// Two ends connected by a simulated network.
pub fn simulated_pair(limits: &Limits, class: NetworkClass) -> (MemoryTransport, MemoryTransport) {
    pair(limits, Some(class))
}

fn pair(limits: &Limits, class: Option<NetworkClass>) -> (MemoryTransport, MemoryTransport) {
    let one = Arc::new(Queue::new(limits.inbound_bytes));
    let other = Arc::new(Queue::new(limits.inbound_bytes));
    let end = |outgoing: &Arc<Queue<Parcel>>, incoming: &Arc<Queue<Parcel>>| MemoryTransport {
        outgoing: Arc::clone(outgoing),
        incoming: Arc::clone(incoming),
        link: class.map(SimulatedLink::new),
        wire: Traffic::default(),
    };
    (end(&one, &other), end(&other, &one))
}

impl Transport for MemoryTransport {
    fn send(&mut self, frame: Frame, deadline: Instant) -> Result<(), LinkError> {
        let bytes = frame.wire_bytes();
        let due = self.link.as_mut().map(|link| link.carry(bytes));
        self.outgoing.push(Parcel { frame, due }, bytes, deadline)?;
        self.wire.sent += bytes as u64;
        Ok(())
    }

    fn recv(&mut self, deadline: Instant) -> Result<Frame, LinkError> {
        let Parcel { frame, due } = self.incoming.pop(deadline)?;
        if let Some(due) = due {
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        self.wire.received += frame.wire_bytes() as u64;
        Ok(frame)
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        match farewell {
            Farewell::Goodbye => {
                self.outgoing.close(LinkError::Finished);
                self.incoming.close(LinkError::Finished);
            }
            Farewell::Abort(reason) => {
                let reason = LinkError::Aborted(harmless(reason, MAX_REASON_BYTES));
                self.outgoing.cut(reason.clone());
                self.incoming.close(reason);
            }
        }
    }

    fn wire(&self) -> Traffic {
        self.wire
    }
}

impl Drop for MemoryTransport {
    /// Without a farewell before it, the other end finds that this one is gone: after it has read
    /// what was sent, or when it sends more.
    fn drop(&mut self) {
        self.outgoing.close(LinkError::Vanished);
        self.incoming.close(LinkError::Vanished);
    }
}

/// A frame, and when it arrives if the network is simulated.
struct Parcel {
    frame: Frame,
    due: Option<Instant>,
}

/// One direction of a simulated link.
struct SimulatedLink {
    class: NetworkClass,
    /// When the link has carried all that was sent so far.
    free_at: Instant,
}

impl SimulatedLink {
    fn new(class: NetworkClass) -> SimulatedLink {
        SimulatedLink {
            class,
            free_at: Instant::now(),
        }
    }

    /// Puts `bytes` on the link now; says when they arrive.
    fn carry(&mut self, bytes: usize) -> Instant {
        let carrying = Duration::from_secs_f64(bytes as f64 / self.class.bytes_per_s() as f64);
        self.free_at = self.free_at.max(Instant::now()) + carrying;
        self.free_at + self.class.round_trip() / 2
    }
}
