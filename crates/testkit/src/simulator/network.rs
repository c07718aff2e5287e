//! Connections of a simulated network: streams of bytes in order, as TCP delivers them.
//!
//! Written bytes leave when the wire has carried all earlier ones at its bandwidth, and arrive
//! after the latency and some jitter, never before bytes sent earlier. The number of unread bytes
//! on a wire is bounded; a writer waits for room. A reader gets the bytes that have arrived, often
//! in smaller pieces than were written.
//!
//! **Ends.** Shutting an end down is signalled to the other one after all earlier bytes. Closing an
//! end with unread bytes in it, or sending to a closed end, resets the connection; bytes that had
//! arrived at the other end are then lost or not, since systems differ. A connection that is *lost*
//! delivers nothing any more, without a signal.
//!
//! Bytes neither change nor vanish from the middle, since TLS ends a connection on which they do.
//! Retransmission, congestion, and the long time-outs of the operating system are not modelled.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sealane_net::Socket;

use super::scheduler::Scheduler;

/// Properties of one direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Time from one end to the other.
    pub latency: Duration,
    /// Largest random delay besides.
    pub jitter: Duration,
    /// Bandwidth.
    pub bytes_per_s: u64,
    /// Most bytes that are written and not yet read.
    pub window_bytes: usize,
    /// True if arrived bytes can still be read after a reset.
    pub keeps: bool,
}

/// A connection between two processes; clones are the same one.
#[derive(Clone)]
pub struct Connection {
    scheduler: Arc<Scheduler>,
    state: Arc<Mutex<[End; 2]>>,
    processes: [usize; 2],
}

/// One end, and the wire towards it.
struct End {
    wire: Wire,
    parcels: VecDeque<Parcel>,
    /// Bytes in the parcels.
    held_bytes: usize,
    /// Time at which the wire will have carried all bytes written so far.
    free_at: Duration,
    last_arrival: Duration,
    /// Bytes written from now on do not arrive.
    lost: bool,
    /// The other end has shut down its direction.
    ended: bool,
    /// The owner does not read any more.
    deaf: bool,
    /// The owner has ended.
    closed: bool,
    /// Time at which this end learns of the reset.
    reset_at: Option<Duration>,
    read_timeout: Duration,
    reader: Option<usize>,
    /// Thread of the other end that waits for room.
    writer: Option<usize>,
}

/// Bytes that arrive together; none for the end of the stream.
struct Parcel {
    arrives: Duration,
    bytes: VecDeque<u8>,
}

impl Connection {
    /// Makes a connection between `processes`; `wires` are those towards each of them.
    pub(super) fn new(scheduler: Arc<Scheduler>, processes: [usize; 2], wires: [Wire; 2]) -> Self {
        let end = |wire| End {
            wire,
            parcels: VecDeque::new(),
            held_bytes: 0,
            free_at: Duration::ZERO,
            last_arrival: Duration::ZERO,
            lost: false,
            ended: false,
            deaf: false,
            closed: false,
            reset_at: None,
            read_timeout: Duration::MAX,
            reader: None,
            writer: None,
        };
        Connection {
            scheduler,
            state: Arc::new(Mutex::new(wires.map(end))),
            processes,
        }
    }

    /// Returns whether a process has an end of it.
    pub(super) fn joins(&self, process: usize) -> bool {
        self.processes.contains(&process)
    }

    /// The process at the other end.
    pub(super) fn other_end(&self, process: usize) -> usize {
        self.processes[1 - self.side_of(process)]
    }

    /// The socket of a process. Each has one.
    pub(super) fn socket(&self, process: usize) -> SimulatedSocket {
        let (connection, side) = (self.clone(), self.side_of(process));
        SimulatedSocket { connection, side }
    }

    fn side_of(&self, process: usize) -> usize {
        usize::from(self.processes[1] == process)
    }

    /// Stops delivery in both directions, without a signal.
    pub fn lose(&self) {
        self.log("nothing crosses any more");
        for end in self.ends().iter_mut() {
            end.lost = true;
            end.parcels.clear();
        }
    }

    /// Delays all delivery for `time`.
    pub fn stall(&self, time: Duration) {
        self.log("what is sent is held up");
        let until = self.scheduler.now() + time;
        for end in self.ends().iter_mut() {
            end.last_arrival = end.last_arrival.max(until);
            for parcel in &mut end.parcels {
                if parcel.arrives > until - time {
                    parcel.arrives = parcel.arrives.max(until);
                }
            }
        }
    }

    /// Resets the connection: both ends learn of it, and bytes on the way are lost.
    pub fn reset(&self) {
        self.log("the connection is reset");
        let mut ends = self.ends();
        let now = self.scheduler.now();
        self.reset_end(&mut ends, 0, now);
        self.reset_end(&mut ends, 1, now);
    }

    /// Closes the socket of a process that has ended, as its system does.
    pub(super) fn close_end_of(&self, process: usize) {
        self.close(&mut self.ends(), self.side_of(process));
    }

    fn close(&self, ends: &mut [End; 2], side: usize) {
        if std::mem::replace(&mut ends[side].closed, true) {
            return;
        }
        if ends[side].held_bytes > 0 {
            self.reset_other(ends, side);
        } else {
            self.end_stream(ends, side);
        }
    }

    /// Signals to the other end of `side` that nothing more comes.
    fn end_stream(&self, ends: &mut [End; 2], side: usize) {
        let other = &mut ends[1 - side];
        if !std::mem::replace(&mut other.ended, true) {
            self.put(other, VecDeque::new());
        }
    }

    /// Signals to the other end of `side` that the connection is gone, after all earlier bytes.
    fn reset_other(&self, ends: &mut [End; 2], side: usize) {
        let end = &ends[1 - side];
        let at = self.scheduler.now() + end.wire.latency;
        let at = at.max(end.last_arrival);
        self.reset_end(ends, 1 - side, at);
    }

    /// Lets the end `side` learn at some time that the connection is gone.
    fn reset_end(&self, ends: &mut [End; 2], side: usize, at: Duration) {
        let end = &mut ends[side];
        if end.lost || end.reset_at.is_some() {
            return;
        }
        end.reset_at = Some(at);
        let keeps = end.wire.keeps;
        end.parcels.retain(|parcel| keeps && parcel.arrives <= at);
        end.held_bytes = end.parcels.iter().map(|parcel| parcel.bytes.len()).sum();
        let waiting = [ends[side].reader, ends[1 - side].writer];
        for thread in waiting.into_iter().flatten() {
            self.scheduler.wake_at(thread, at);
        }
    }

    /// Puts bytes on the wire towards `end`.
    fn put(&self, end: &mut End, bytes: VecDeque<u8>) {
        end.held_bytes += bytes.len();
        if end.lost {
            return;
        }
        let now = self.scheduler.now();
        let carrying = bytes.len() as u64 * 1_000_000_000 / end.wire.bytes_per_s;
        let carrying = Duration::from_nanos(carrying);
        end.free_at = end.free_at.max(now) + carrying;
        let jitter = self
            .scheduler
            .random(|random| random.time(Duration::ZERO, end.wire.jitter));
        let jitter = jitter.min(end.wire.jitter);
        let arrives = end
            .last_arrival
            .max(end.free_at + end.wire.latency + jitter);
        end.last_arrival = arrives;
        end.parcels.push_back(Parcel { arrives, bytes });
        if let Some(reader) = end.reader {
            self.scheduler.wake_at(reader, arrives);
        }
    }

    fn log(&self, what: &str) {
        let [one, other] = self.processes;
        self.scheduler.log(|| format!("link {one}-{other}: {what}"));
    }

    /// Locks the ends. No code panics while it holds the lock, so a poisoned lock holds a sound
    /// state.
    fn ends(&self) -> MutexGuard<'_, [End; 2]> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End {
    /// Returns an error if the connection is gone.
    fn refuse_if_reset(&self, now: Duration) -> io::Result<()> {
        match self.reset_at {
            Some(at) if at <= now => Err(ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }

    /// Moves arrived bytes to the front of `into`; returns none if there are none.
    fn take(&mut self, into: &mut [u8], most: usize, now: Duration) -> Option<usize> {
        let first = self.parcels.front_mut()?;
        if first.arrives > now {
            return None;
        }
        let count = first.bytes.len().min(into.len()).min(most);
        for (to, byte) in into.iter_mut().zip(first.bytes.drain(..count)) {
            *to = byte;
        }
        self.held_bytes -= count;
        // The parcel that signals the end of the stream stays.
        if count > 0 && first.bytes.is_empty() {
            self.parcels.pop_front();
        }
        Some(count)
    }

    /// Time at which a reader that found nothing may try again.
    fn next_event(&self) -> Option<Duration> {
        let arrival = self.parcels.front().map(|parcel| parcel.arrives);
        arrival.into_iter().chain(self.reset_at).min()
    }
}

/// One end of a connection; dropping it closes it.
pub(super) struct SimulatedSocket {
    connection: Connection,
    side: usize,
}

impl SimulatedSocket {
    /// Returns whether the process of this end has ended; its later calls have no effect.
    fn is_dead(&self) -> bool {
        let Connection {
            scheduler,
            processes,
            ..
        } = &self.connection;
        scheduler.is_dead(processes[self.side])
    }
}

impl Socket for SimulatedSocket {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let Connection { scheduler, .. } = &self.connection;
        scheduler.give_way();
        let deadline = scheduler
            .now()
            .saturating_add(self.connection.ends()[self.side].read_timeout);
        let piece = scheduler.random(|random| match random.below(4) {
            0 => 1 + random.below(64),
            _ => usize::MAX,
        });
        loop {
            let now = scheduler.now();
            let until = {
                let mut ends = self.connection.ends();
                let end = &mut ends[self.side];
                end.reader = None;
                if end.deaf || self.is_dead() {
                    return Ok(0);
                }
                if let Some(count) = end.take(into, piece, now) {
                    scheduler.trace(&into[..count]);
                    if let Some(writer) = end.writer.take() {
                        scheduler.wake(writer);
                    }
                    return Ok(count);
                }
                end.refuse_if_reset(now)?;
                if now >= deadline {
                    return Err(ErrorKind::WouldBlock.into());
                }
                end.reader = Some(scheduler.me());
                end.next_event().map_or(deadline, |at| at.min(deadline))
            };
            scheduler.block(Some(until));
        }
    }

    fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        let Connection { scheduler, .. } = &self.connection;
        scheduler.give_way();
        loop {
            let now = scheduler.now();
            let until = {
                let mut ends = self.connection.ends();
                ends[self.side].refuse_if_reset(now)?;
                let own_reset_at = ends[self.side].reset_at;
                if ends[1 - self.side].ended || self.is_dead() {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                if bytes.is_empty() {
                    return Ok(());
                }
                if ends[1 - self.side].closed {
                    // They arrive at a closed end, and that returns a reset.
                    let round_trip = ends[0].wire.latency + ends[1].wire.latency;
                    let at = now + round_trip;
                    self.connection.reset_end(&mut ends, self.side, at);
                    return Ok(());
                }
                let other = &mut ends[1 - self.side];
                let room = other.wire.window_bytes.saturating_sub(other.held_bytes);
                let (now, later) = bytes.split_at(room.min(bytes.len()));
                bytes = later;
                if !now.is_empty() {
                    self.connection.put(other, now.iter().copied().collect());
                }
                if bytes.is_empty() {
                    return Ok(());
                }
                other.writer = Some(scheduler.me());
                own_reset_at
            };
            scheduler.block(until);
        }
    }

    fn shutdown(&self, which: Shutdown) -> io::Result<()> {
        let scheduler = &self.connection.scheduler;
        let mut ends = self.connection.ends();
        if which != Shutdown::Write {
            ends[self.side].deaf = true;
            if let Some(reader) = ends[self.side].reader.take() {
                scheduler.wake(reader);
            }
        }
        if which != Shutdown::Read {
            self.connection.end_stream(&mut ends, self.side);
            if let Some(writer) = ends[1 - self.side].writer.take() {
                scheduler.wake(writer);
            }
        }
        Ok(())
    }

    fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.connection.ends()[self.side].read_timeout = timeout;
        Ok(())
    }
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        self.connection
            .close(&mut self.connection.ends(), self.side);
    }
}
