//! A party's end of a link with events at given frames.

use std::time::Duration;

use sealane_net::{Farewell, Frame, FrameKind, LinkError, Transport};

use super::Process;
use super::network::Connection;

/// Event at a party or on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The party's process ends; if that is after a frame, once it has had the time to send it.
    Dies,
    /// The party computes for so long.
    Computes(Duration),
    /// The party's process stops for so long; it sends no heartbeats.
    Freezes(Duration),
    /// The connection is reset.
    Reset,
    /// The connection delivers nothing any more, without a signal.
    Lost,
    /// All of the party's connections are lost.
    Isolated,
    /// The connection delivers nothing for so long.
    Stalls(Duration),
}

/// Event at the sending of the frame of this number (from 0).
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The number of the frame.
    pub at: usize,
    /// True if it occurs after the frame has left the protocol, rather than before.
    pub after: bool,
    /// The event.
    pub what: Happening,
}

/// Transport of a simulated party, with events.
pub(super) struct Link {
    inner: Box<dyn Transport>,
    process: Process,
    connection: Connection,
    peer: usize,
    /// Events to come, in order.
    events: Vec<Event>,
    /// Frames that have left the protocol.
    sent: usize,
}

impl Link {
    /// The end of `connection` at `process`, on top of `inner`.
    pub(super) fn new(
        inner: Box<dyn Transport>,
        process: &Process,
        connection: &Connection,
        mut events: Vec<Event>,
    ) -> Link {
        events.sort_by_key(|event| (event.at, event.after));
        events.reverse();
        Link {
            inner,
            process: process.clone(),
            connection: connection.clone(),
            peer: connection.other_end(process.number),
            events,
            sent: 0,
        }
    }

    /// Triggers all events that are due before, or after, the next frame leaves.
    fn happen(&mut self, after: bool) {
        let is_due = |event: &mut Event| (event.at, event.after) <= (self.sent, after);
        while let Some(event) = self.events.pop_if(is_due) {
            let process = &self.process;
            if after && event.what == Happening::Dies {
                process.rest(process.last_moments());
            }
            process.note(event.what);
            match event.what {
                Happening::Dies => process.kill(),
                Happening::Freezes(time) => process.freeze(time),
                Happening::Computes(time) => process.rest(time),
                Happening::Reset => self.connection.reset(),
                Happening::Lost => self.connection.lose(),
                Happening::Isolated => process.connections().iter().for_each(Connection::lose),
                Happening::Stalls(time) => self.connection.stall(time),
            }
        }
    }

    fn log_frame(&self, verb: &str, frame: &Frame) {
        self.process.log(|| {
            let kind = match frame.kind {
                FrameKind::Control => "control",
                FrameKind::Data { end: true } => "data",
                FrameKind::Data { end: false } => "data, more to come",
            };
            let (peer, stamp, bytes) = (self.peer, frame.stamp, frame.payload.len());
            format!("{verb} {peer}: {kind}, stamp {stamp}, {bytes} bytes")
        });
    }
}

impl Transport for Link {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.inner)
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        self.process.give_way();
        self.happen(false);
        let copy = frame.clone();
        let back = self.inner.try_send(frame)?;
        if back.is_none() {
            self.log_frame("sends to", &copy);
            self.happen(true);
            self.sent += 1;
        }
        Ok(back)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.process.give_way();
        let frame = self.inner.try_recv()?;
        if let Some(frame) = &frame {
            self.log_frame("hears from", frame);
        }
        Ok(frame)
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        self.process.give_way();
        self.inner.take_in(at_most)
    }

    fn end(&self) -> Option<LinkError> {
        self.process.give_way();
        self.inner.end()
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        let peer = self.peer;
        self.process.log(|| format!("tells {peer}: {farewell:?}"));
        self.process.give_way();
        self.inner.shutdown(farewell);
    }
}
