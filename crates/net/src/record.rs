//! Recording of the frames on a link, and replay of one party against a recording.
//!
//! A recording holds the frames of one end in the order in which this end sent and consumed them.
//! That order follows from the run's own calls and not from timing, since bytes that a blocked
//! party takes in stay below the recorder until they are consumed. So a protocol with fixed
//! randomness can be tested alone: the replayer acts as the peer, and refuses the first byte that
//! differs from the recorded run.
//!
//! ```text
//!   magic 8 | then for each frame: direction 1 ('>' sent, '<' received) | frame in its wire form
//! ```
//!
//! A recording holds everything that the peer sent and thus is as sensitive as the traffic without
//! encryption. Goodbyes and aborts are not recorded.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use crate::Transport;
use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::Frame;

const MAGIC: [u8; 8] = *b"SEALREC\x01";
const SENT: u8 = b'>';
const RECEIVED: u8 = b'<';

/// Transport that records every frame that passes through it.
pub struct Recorder<W> {
    inner: Box<dyn Transport>,
    log: W,
    /// The current entry, in its wire form.
    entry: Vec<u8>,
}

impl<W: Write + Send> Recorder<W> {
    /// Records the frames that cross `inner` from now on into `log`, which should buffer its
    /// writes.
    pub fn new(inner: Box<dyn Transport>, mut log: W) -> io::Result<Recorder<W>> {
        log.write_all(&MAGIC)?;
        let entry = Vec::new();
        Ok(Recorder { inner, log, entry })
    }

    /// Makes `frame` the next entry to be written.
    fn prepare(&mut self, direction: u8, frame: &Frame) {
        self.entry.clear();
        self.entry.push(direction);
        frame.encode(&mut self.entry);
    }

    fn note(&mut self) -> Result<(), LinkError> {
        self.log.write_all(&self.entry).map_err(|error| {
            let reason = format!("recording: {error}");
            LinkError::Io { reason }
        })
    }
}

impl<W: Write + Send> Transport for Recorder<W> {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.inner)
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        self.prepare(SENT, &frame);
        match self.inner.try_send(frame)? {
            None => self.note().map(|()| None),
            back => Ok(back),
        }
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        let frame = self.inner.try_recv()?;
        if let Some(frame) = &frame {
            self.prepare(RECEIVED, frame);
            self.note()?;
        }
        Ok(frame)
    }
}

/// Transport that acts as the peer of a recorded run.
///
/// It delivers the recorded input. The bytes sent have to equal the recorded ones; the first
/// deviation is a [`LinkError::Diverged`] that names frame and offset. There is always room and
/// always something to receive, so nothing is ever taken in.
#[derive(Default)]
pub struct Replayer {
    to_send: VecDeque<Frame>,
    to_receive: VecDeque<Frame>,
    frames_sent: usize,
    payload_sent: usize,
    wire: Traffic,
}

impl Replayer {
    /// Reads the recording of the end that is to be run again.
    ///
    /// # Errors
    /// An error of kind [`io::ErrorKind::InvalidData`] if the bytes are no recording or are cut
    /// off.
    pub fn new(mut recording: impl Read) -> io::Result<Replayer> {
        let mut bytes = Vec::new();
        recording.read_to_end(&mut bytes)?;
        Replayer::parse(&bytes).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn parse(bytes: &[u8]) -> Result<Replayer, String> {
        let mut replayer = Replayer::default();
        let rest = bytes.strip_prefix(&MAGIC);
        let mut rest = rest.ok_or("no recording of Sealane")?;
        while let Some((direction, after)) = rest.split_first() {
            rest = after;
            let frame = Frame::decode(&mut rest)?;
            match *direction {
                SENT => replayer.to_send.push_back(frame),
                RECEIVED => replayer.to_receive.push_back(frame),
                other => return Err(format!("direction {other} in a recording")),
            }
        }
        Ok(replayer)
    }

    /// Describes where `frame` differs from `recorded`.
    fn difference(&self, frame: &Frame, recorded: &Frame) -> Option<String> {
        let number = self.frames_sent;
        if (frame.kind, frame.stamp) != (recorded.kind, recorded.stamp) {
            return Some(format!(
                "frame {number} sent is {:?} with stamp {}, the recorded one {:?} with stamp {}",
                frame.kind, frame.stamp, recorded.kind, recorded.stamp
            ));
        }
        let same = |(one, other): &(&u8, &u8)| one == other;
        let pairs = frame.payload.iter().zip(recorded.payload.iter());
        let offset = pairs.take_while(same).count();
        let (has, had) = (frame.payload.len(), recorded.payload.len());
        let place = self.payload_sent + offset;
        ((offset, offset) != (has, had)).then(|| {
            format!(
                "frame {number} sent differs at its byte {offset} (byte {place} of all that was \
                 sent); it has {has} bytes, the recorded one {had}"
            )
        })
    }
}

impl Transport for Replayer {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        let number = self.frames_sent;
        let difference = match self.to_send.pop_front() {
            Some(recorded) => self.difference(&frame, &recorded),
            None => Some(format!(
                "frame {number} is sent, but only {number} were recorded"
            )),
        };
        if let Some(difference) = difference {
            return Err(LinkError::Diverged { difference });
        }
        self.frames_sent += 1;
        self.payload_sent += frame.payload.len();
        self.wire.sent += frame.wire_bytes() as u64;
        Ok(None)
    }

    /// After the last recorded frame, the peer has finished.
    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        let frame = self.to_receive.pop_front().ok_or(LinkError::Finished)?;
        self.wire.received += frame.wire_bytes() as u64;
        Ok(Some(frame))
    }

    fn end(&self) -> Option<LinkError> {
        self.to_receive.is_empty().then_some(LinkError::Finished)
    }

    fn wire(&self) -> Traffic {
        self.wire
    }
}
