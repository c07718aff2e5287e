//! One peer of a mesh: bytes cut into frames and put together again, digested on the way.
//!
//! A channel never waits; that is left to [`crate::links`], which waits for all of them at once.

use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_STAMP};
use crate::{Farewell, Payload, Transport};

/// Payload bytes after which a growing message leaves as a frame. Small enough to stay in a core's
/// own cache between the copy, the digest and the cipher; large enough for BLAKE3 to fill its lanes.
pub(crate) const FILL_BYTES: usize = 64 << 10;

pub(crate) struct Channel {
    pub(crate) transport: Box<dyn Transport>,
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
    buffer: Payload,
    /// Digest of all payload before the buffer.
    digest: blake3::Hasher,
    /// Messages that were ended.
    messages: u64,
}

impl Channel {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Channel {
        Channel {
            transport,
            sending: Stream::default(),
            receiving: Stream::default(),
            consumed: 0,
            ends_message: false,
            last_stamp: 0,
            left: false,
        }
    }

    /// Moves bytes into the message being written until none are left or a frame is full. A frame
    /// leaves only when a byte more than it can hold is there, so that the end of a message always
    /// finds the message's last frame still here.
    pub(crate) fn append(&mut self, bytes: &mut &[u8], stamp: u32) -> Option<Frame> {
        let room = FILL_BYTES - self.sending.buffer.len();
        let (now, later) = bytes.split_at(bytes.len().min(room));
        self.sending.buffer.append(now);
        *bytes = later;
        if later.is_empty() {
            return None;
        }
        let frame = self.cut_frame(stamp, false);
        self.sending.buffer = Payload::with_capacity(FILL_BYTES);
        Some(frame)
    }

    /// Ends the message being written; its last frame, if there is a message.
    pub(crate) fn end_message(&mut self, stamp: u32) -> Option<Frame> {
        if self.sending.buffer.is_empty() {
            return None;
        }
        self.sending.messages += 1;
        Some(self.cut_frame(stamp, true))
    }

    /// Moves bytes of the frame in hand to the front of `into`; says how many.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> usize {
        let ready = &self.receiving.buffer[self.consumed..];
        let taken = ready.len().min(into.len());
        into[..taken].copy_from_slice(&ready[..taken]);
        self.consumed += taken;
        taken
    }

    /// Takes the next frame in hand, after all of the one before has been consumed. Says its stamp.
    /// `wanted` bytes are due.
    pub(crate) fn accept(&mut self, frame: Frame, wanted: usize) -> Result<u32, LinkError> {
        self.receiving.messages += u64::from(std::mem::take(&mut self.ends_message));
        self.receiving.digest.update(&self.receiving.buffer);
        self.receiving.buffer = Payload::default();
        self.consumed = 0;
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

    /// Whether a control message may come now: none comes within payload.
    pub(crate) fn expect_control(&self) -> Result<(), LinkError> {
        match self.receiving.buffer.len() - self.consumed {
            0 => Ok(()),
            unread => Err(LinkError::Malformed(format!(
                "{unread} payload bytes where a control message was due"
            ))),
        }
    }

    /// The control message that `frame` has to be.
    pub(crate) fn control_of(frame: Frame) -> Result<Payload, LinkError> {
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

    pub(crate) fn refuse_if_left(&self) -> Result<(), LinkError> {
        if self.left {
            Err(LinkError::Left)
        } else {
            Ok(())
        }
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

    fn cut_frame(&mut self, stamp: u32, end: bool) -> Frame {
        let payload = std::mem::take(&mut self.sending.buffer);
        self.sending.digest.update(&payload);
        Frame {
            kind: FrameKind::Data { end },
            stamp,
            payload,
        }
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
