//! Transports in memory: a pair of bounded queues, with or without a simulated network between.
//!
//! A simulated link delays frames in real time. A frame leaves when the link has carried all that
//! was sent before it at the link's bandwidth, and arrives half a round trip later; until then the
//! receiver does not see it. Loss, jitter and the slow start of TCP are not modelled.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::Frame;
use crate::limits::Limits;
use crate::queue::Queue;
use crate::text::{MAX_REASON_BYTES, harmless};
use crate::waker::Waker;
use crate::{Farewell, Transport};
use sealane_parties::NetworkClass;

/// Time by which a system may end a wait too late: Linux joins waits that end within 50
/// microseconds of each other. So the receiver of a simulated link ends its wait earlier, and looks
/// at the clock until the frame arrives.
const LATENESS: Duration = Duration::from_micros(70);

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
pub fn simulated_pair(
    limits: &Limits,
    speed: impl Into<LinkSpeed>,
) -> (MemoryTransport, MemoryTransport) {
    pair(limits, Some(speed.into()))
}

/// The speed of a simulated link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpeed {
    /// Time from the departure of a message to the arrival of its answer.
    pub round_trip: Duration,
    /// Bytes per second, in each direction.
    pub bytes_per_s: u64,
}

impl From<NetworkClass> for LinkSpeed {
    fn from(class: NetworkClass) -> LinkSpeed {
        let (round_trip, bytes_per_s) = (class.round_trip(), class.bytes_per_s());
        LinkSpeed {
            round_trip,
            bytes_per_s,
        }
    }
}

fn pair(limits: &Limits, speed: Option<LinkSpeed>) -> (MemoryTransport, MemoryTransport) {
    let one = Arc::new(Queue::new(limits.inbound_bytes));
    let other = Arc::new(Queue::new(limits.inbound_bytes));
    let end = |outgoing: &Arc<Queue<Parcel>>, incoming: &Arc<Queue<Parcel>>| MemoryTransport {
        outgoing: Arc::clone(outgoing),
        incoming: Arc::clone(incoming),
        link: speed.map(SimulatedLink::new),
        wire: Traffic::default(),
    };
    (end(&one, &other), end(&other, &one))
}

impl MemoryTransport {
    /// Time at which the first frame that is on its way arrives, if the network is simulated.
    fn first_due(&self) -> Option<Instant> {
        self.incoming.peek(|parcel| parcel.due).flatten()
    }
}

impl Transport for MemoryTransport {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        let bytes = frame.wire_bytes();
        let trip = self.link.as_ref().map(|link| link.trip(bytes));
        let due = trip.map(|(_, arrives)| arrives);
        if let Some(parcel) = self.outgoing.try_push(Parcel { frame, due }, bytes)? {
            return Ok(Some(parcel.frame));
        }
        if let (Some(link), Some((leaves, _))) = (&mut self.link, trip) {
            link.free_at = leaves;
        }
        self.wire.sent += bytes as u64;
        Ok(None)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        if let Some(due) = self.first_due()
            && due.saturating_duration_since(Instant::now()) < LATENESS
        {
            while Instant::now() < due {
                thread::yield_now();
            }
        }
        let has_arrived = |parcel: &Parcel| parcel.due.is_none_or(|due| due <= Instant::now());
        let parcel = self.incoming.try_pop_if(has_arrived)?;
        Ok(parcel.map(|Parcel { frame, .. }| {
            self.wire.received += frame.wire_bytes() as u64;
            frame
        }))
    }

    fn due(&self) -> Option<Instant> {
        let due = self.first_due()?;
        Some(due.checked_sub(LATENESS).unwrap_or(due))
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        self.incoming.set_aside(at_most)
    }

    fn backlog_bytes(&self) -> usize {
        self.incoming.aside()
    }

    fn end(&self) -> Option<LinkError> {
        self.incoming.end()
    }

    fn set_waker(&mut self, waker: &Waker) {
        self.incoming.set_taker_waker(waker);
        self.outgoing.set_giver_waker(waker);
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        match farewell {
            Farewell::Goodbye => {
                self.outgoing.close(LinkError::Finished);
                self.incoming.close(LinkError::Finished);
            }
            Farewell::Abort { cause, reason } => {
                let reason = harmless(reason, MAX_REASON_BYTES);
                let end = LinkError::Aborted { cause, reason };
                self.outgoing.cut(end.clone());
                self.incoming.close(end);
            }
        }
    }

    fn wire(&self) -> Traffic {
        self.wire
    }
}

impl Drop for MemoryTransport {
    /// If no farewell was sent, the other end finds that this one is gone: after it has read what
    /// was sent, or when it sends more.
    fn drop(&mut self) {
        self.outgoing.close(LinkError::Vanished);
        self.incoming.close(LinkError::Vanished);
    }
}

/// A frame, and its time of arrival if the network is simulated.
struct Parcel {
    frame: Frame,
    due: Option<Instant>,
}

/// One direction of a simulated link.
struct SimulatedLink {
    speed: LinkSpeed,
    /// Time at which the link will have carried all that was sent so far.
    free_at: Instant,
}

impl SimulatedLink {
    fn new(speed: LinkSpeed) -> SimulatedLink {
        let free_at = Instant::now();
        SimulatedLink { speed, free_at }
    }

    /// Returns when the link will have carried `bytes` that are sent now, and when they arrive.
    fn trip(&self, bytes: usize) -> (Instant, Instant) {
        let carrying = Duration::from_secs_f64(bytes as f64 / self.speed.bytes_per_s as f64);
        let leaves = self.free_at.max(Instant::now()) + carrying;
        (leaves, leaves + self.speed.round_trip / 2)
    }
}
