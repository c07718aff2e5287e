//! One peer of a mesh: bytes in and out over a transport, cut into frames, digested on the way.

use std::time::{Duration, Instant};

use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_STAMP};
use crate::{Farewell, Transport};

/// Payload bytes after which a growing message leaves as a frame. Small enough to stay in a core's
/// own cache between the copy, the digest and the cipher; large enough for BLAKE3 to fill its lanes.
pub(crate) const FILL_BYTES: usize = 64 << 10;

pub(crate) struct Channel {
    transport: Box<dyn Transport>,
    patience: Duration,
    sending: Stream,
    receiving: Stream,
    /// Bytes of the incoming buffer that the protocol has consumed.
    consumed: usize,
    /// Whether the frame in the incoming buffer is the last one of its message.
    ends_message: bool,
    /// Stamp of the last data frame received; stamps of one peer never fall.
    last_stamp: u32,
    /// Whether this party has said its farewell.
    left: bool,
}

/// One direction.
#[derive(Default)]
struct Stream {
    /// Sending: the frame being filled. Receiving: the frame being consumed.
    buffer: Vec<u8>,
    /// Digest of all payload before the buffer.
    digest: blake3::Hasher,
    /// Messages that were ended.
    messages: u64,
}

impl Channel {
    pub(crate) fn new(transport: Box<dyn Transport>, patience: Duration) -> Channel {
        Channel {
            transport,
            patience,
            sending: Stream::default(),
            receiving: Stream::default(),
            consumed: 0,
            ends_message: false,
            last_stamp: 0,
            left: false,
        }
    }

    /// Appends to the message being written. A frame leaves only when a byte more than it can hold
    /// is there, so that a flush always finds the message's last frame still here. Says whether a
    /// frame left.
    pub(crate) fn send(&mut self, mut bytes: &[u8], stamp: u32) -> Result<bool, LinkError> {
        self.refuse_if_left()?;
        let deadline = self.deadline();
        let mut streamed = false;
        loop {
            let room = FILL_BYTES - self.sending.buffer.len();
            let taken = bytes.len().min(room);
            self.sending.buffer.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if bytes.is_empty() {
                return Ok(streamed);
            }
            self.send_frame(stamp, false, deadline)?;
            self.sending.buffer.reserve_exact(FILL_BYTES);
            streamed = true;
        }
    }

    /// Ends the message being written; says whether there was one.
    pub(crate) fn flush(&mut self, stamp: u32) -> Result<bool, LinkError> {
        if self.sending.buffer.is_empty() {
            return Ok(false);
        }
        self.send_frame(stamp, true, self.deadline())?;
        self.sending.messages += 1;
        Ok(true)
    }

    /// Fills `into`; returns the largest stamp among the frames that were touched, or 0 if the
    /// bytes all came from a frame touched before. One deadline holds for all of `into`, so that a
    /// peer who sends a byte now and then cannot keep this party for longer than its patience.
    pub(crate) fn recv(&mut self, mut into: &mut [u8]) -> Result<u32, LinkError> {
        self.refuse_if_left()?;
        let deadline = self.deadline();
        let mut stamp = 0;
        while !into.is_empty() {
            if self.consumed == self.receiving.buffer.len() {
                stamp = self.next_data_frame(into.len(), deadline)?;
            }
            let ready = &self.receiving.buffer[self.consumed..];
            let taken = ready.len().min(into.len());
            let (now, later) = into.split_at_mut(taken);
            now.copy_from_slice(&ready[..taken]);
            self.consumed += taken;
            into = later;
        }
        Ok(stamp)
    }

    pub(crate) fn send_control(&mut self, payload: Vec<u8>) -> Result<(), LinkError> {
        self.refuse_if_left()?;
        let frame = Frame {
            kind: FrameKind::Control,
            stamp: 0,
            payload,
        };
        self.transport.send(frame, self.deadline())
    }

    pub(crate) fn recv_control(&mut self) -> Result<Vec<u8>, LinkError> {
        self.refuse_if_left()?;
        let unread = self.receiving.buffer.len() - self.consumed;
        if unread > 0 {
            return Err(LinkError::Malformed(format!(
                "{unread} payload bytes where a control message was due"
            )));
        }
        let frame = self.transport.recv(self.deadline())?;
        match frame.kind {
            FrameKind::Control if frame.payload.len() <= MAX_CONTROL_BYTES => Ok(frame.payload),
            FrameKind::Control => Err(LinkError::Malformed("oversized control message".into())),
            FrameKind::Data { .. } => Err(LinkError::Malformed(
                "payload where a control message was due".into(),
            )),
        }
    }

    /// Leaves the run; every later call but this one is refused.
    pub(crate) fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.left = true;
        self.transport.shutdown(farewell);
    }

    pub(crate) fn digest_sent(&self) -> [u8; 32] {
        self.sending.digest_with(self.sending.buffer.len())
    }

    pub(crate) fn digest_received(&self) -> [u8; 32] {
        self.receiving.digest_with(self.consumed)
    }

    pub(crate) fn messages(&self) -> Traffic {
        let last = self.ends_message && self.consumed == self.receiving.buffer.len();
        let received = self.receiving.messages + u64::from(last);
        Traffic {
            sent: self.sending.messages,
            received,
        }
    }

    pub(crate) fn wire(&self) -> Traffic {
        self.transport.wire()
    }

    fn send_frame(&mut self, stamp: u32, end: bool, deadline: Instant) -> Result<(), LinkError> {
        let payload = std::mem::take(&mut self.sending.buffer);
        self.sending.digest.update(&payload);
        let frame = Frame {
            kind: FrameKind::Data { end },
            stamp,
            payload,
        };
        self.transport.send(frame, deadline)
    }

    /// Puts the next data frame into the incoming buffer, all of which has been consumed.
    fn next_data_frame(&mut self, wanted: usize, deadline: Instant) -> Result<u32, LinkError> {
        self.receiving.messages += u64::from(std::mem::take(&mut self.ends_message));
        self.receiving.digest.update(&self.receiving.buffer);
        self.receiving.buffer.clear();
        self.consumed = 0;
        let frame = self.transport.recv(deadline)?;
        let FrameKind::Data { end } = frame.kind else {
            return Err(LinkError::Malformed(format!(
                "a control message where {wanted} payload bytes were due"
            )));
        };
        if frame.payload.is_empty() {
            return Err(LinkError::Malformed("empty data frame".into()));
        }
        if frame.stamp < self.last_stamp.max(1) || frame.stamp > MAX_STAMP {
            return Err(LinkError::Malformed(format!(
                "stamp {} after stamp {}",
                frame.stamp, self.last_stamp
            )));
        }
        self.ends_message = end;
        self.last_stamp = frame.stamp;
        self.receiving.buffer = frame.payload;
        Ok(frame.stamp)
    }

    fn refuse_if_left(&self) -> Result<(), LinkError> {
        if self.left {
            Err(LinkError::Left)
        } else {
            Ok(())
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }
}

impl Stream {
    /// Digest of all payload up to `bytes` bytes into the buffer.
    fn digest_with(&self, bytes: usize) -> [u8; 32] {
        *self
            .digest
            .clone()
            .update(&self.buffer[..bytes])
            .finalize()
            .as_bytes()
    }
}
