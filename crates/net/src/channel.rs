//! One peer of a mesh: bytes cut into frames and put together again, digested on the way.
//!
//! A channel never waits; that is left to [`crate::links`], which waits for all of them at once.
//!
//! Payload is written into the buffer of the frame that will leave and read in that of the frame
//! that came. Frames are as long as they may be: BLAKE3 fills its lanes from the powers of two that
//! a stretch of the stream is made of, so four short stretches take a third more than a long one.

use std::sync::Arc;

use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_FRAME_BYTES, MAX_STAMP};
use crate::payload::Stock;
use crate::{Farewell, Payload, Transport};

/// The longest stretch of payload that is written or read in one place.
pub const MAX_ROOM_BYTES: usize = 64 << 10;

pub(crate) struct Channel {
    pub(crate) transport: Box<dyn Transport>,
    sending: Sending,
    receiving: Receiving,
    /// Buffers of frames to be sent.
    stock: Arc<Stock>,
    /// Whether this party has said its farewell.
    left: bool,
}

/// The message being written.
#[derive(Default)]
struct Sending {
    /// The frame being filled.
    frame: Payload,
    /// Digest of all payload before the frame.
    digest: blake3::Hasher,
    /// Messages that were ended.
    messages: u64,
    /// Whether frames of the message have left already.
    streamed: bool,
}

/// What is being received.
#[derive(Default)]
struct Receiving {
    /// What was brought together because it did not lie in one place. Comes before what is unread
    /// of the frame.
    joined: Payload,
    /// Bytes of it that the protocol has consumed.
    joined_used: usize,
    /// The frame being consumed.
    frame: Payload,
    /// Bytes of it that the protocol has consumed, or that were moved to `joined`.
    used: usize,
    /// Bytes of it that the digest has seen, or will see in `joined`.
    digested: usize,
    /// Digest of all payload before.
    digest: blake3::Hasher,
    /// Messages whose last frame has been left behind.
    messages: u64,
    /// Whether the frame is the last one of its message.
    ends_message: bool,
    /// Stamp of the last data frame received; stamps of one peer never fall.
    last_stamp: u32,
}

impl Channel {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Channel {
        Channel {
            transport,
            sending: Sending::default(),
            receiving: Receiving::default(),
            stock: Arc::default(),
            left: false,
        }
    }

    /// Makes room for `bytes` bytes of the message being written, at least one and at most
    /// [`MAX_ROOM_BYTES`]; a frame that has to leave for that. A frame leaves only for bytes that
    /// come after it, so that the end of a message finds the last one still here.
    pub(crate) fn make_room(&mut self, bytes: usize, stamp: u32) -> Option<Frame> {
        let sending = &mut self.sending;
        let full = sending.frame.len() + bytes > MAX_FRAME_BYTES;
        let leaving = full.then(|| sending.cut_frame(stamp, false));
        sending.streamed |= full;
        if sending.frame.capacity() == 0 {
            sending.frame = self.stock.take();
        }
        leaving
    }

    /// All the room that the frame being filled has left.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.sending.frame.room()
    }

    /// Makes the first bytes of the room part of the message.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.sending.frame.wrote(bytes);
    }

    /// Ends the message being written; its last frame, if there is a message.
    ///
    /// # Errors
    /// Frames have left to make room in which nothing was written.
    pub(crate) fn end_message(&mut self, stamp: u32) -> Result<Option<Frame>, String> {
        if self.sending.frame.is_empty() {
            return match self.sending.streamed {
                true => Err("room was asked for and not used before the message ended".into()),
                false => Ok(None),
            };
        }
        self.sending.messages += 1;
        self.sending.streamed = false;
        Ok(Some(self.sending.cut_frame(stamp, true)))
    }

    /// Moves bytes that are here to the front of `into`; says how many. Fewer than it holds are all
    /// that are here.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> usize {
        let mut taken = 0;
        // What was brought together, then what is left of the frame.
        for _ in 0..2 {
            let ready = self.receiving.unread();
            let now = ready.len().min(into.len() - taken);
            into[taken..][..now].copy_from_slice(&ready[..now]);
            self.receiving.use_up(now);
            taken += now;
        }
        taken
    }

    /// Brings the next `bytes` bytes together in one place, of what is here; says how many are still
    /// missing. At most [`MAX_ROOM_BYTES`].
    pub(crate) fn bring_together(&mut self, bytes: usize) -> usize {
        self.receiving.bring_together(bytes, &self.stock)
    }

    /// What is unread and lies in one place.
    pub(crate) fn unread(&mut self) -> &mut [u8] {
        let here = &mut self.receiving;
        match here.joined_used < here.joined.len() {
            true => &mut here.joined[here.joined_used..],
            false => &mut here.frame[here.used..],
        }
    }

    /// Consumes the first bytes of what is unread and lies in one place.
    pub(crate) fn use_up(&mut self, bytes: usize) {
        self.receiving.use_up(bytes);
    }

    /// Takes the next frame in hand, after all of the one before has been consumed or moved. Says
    /// its stamp. `wanted` bytes are due.
    pub(crate) fn accept(&mut self, frame: Frame, wanted: usize) -> Result<u32, LinkError> {
        self.receiving.leave_frame();
        let FrameKind::Data { end } = frame.kind else {
            return Err(LinkError::Malformed(format!(
                "a control message where {wanted} payload bytes were due"
            )));
        };
        if frame.payload.is_empty() {
            return Err(LinkError::Malformed("empty data frame".into()));
        }
        let receiving = &mut self.receiving;
        if frame.stamp < receiving.last_stamp.max(1) || frame.stamp > MAX_STAMP {
            return Err(LinkError::Malformed(format!(
                "stamp {} after stamp {}",
                frame.stamp, receiving.last_stamp
            )));
        }
        receiving.ends_message = end;
        receiving.last_stamp = frame.stamp;
        receiving.frame = frame.payload;
        Ok(frame.stamp)
    }

    /// Whether a control message may come now: none comes within payload.
    pub(crate) fn expect_control(&self) -> Result<(), LinkError> {
        match self.receiving.unread_bytes() {
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
        digest_with(&self.sending.digest, &self.sending.frame)
    }

    pub(crate) fn digest_received(&self) -> [u8; 32] {
        let here = &self.receiving;
        digest_with(&here.digest, &here.frame[here.digested..here.used])
    }

    pub(crate) fn messages(&self) -> Traffic {
        let last = self.receiving.ends_message && self.receiving.unread_bytes() == 0;
        Traffic {
            sent: self.sending.messages,
            received: self.receiving.messages + u64::from(last),
        }
    }

    pub(crate) fn wire(&self) -> Traffic {
        self.transport.wire()
    }
}

impl Sending {
    fn cut_frame(&mut self, stamp: u32, end: bool) -> Frame {
        self.digest.update(&self.frame);
        Frame {
            kind: FrameKind::Data { end },
            stamp,
            payload: self.frame.leave(),
        }
    }
}

impl Receiving {
    /// Leaves the frame behind, all of which has been consumed or moved.
    fn leave_frame(&mut self) {
        self.messages += u64::from(std::mem::take(&mut self.ends_message));
        self.digest.update(&self.frame[self.digested..self.used]);
        self.frame = Payload::default();
        (self.used, self.digested) = (0, 0);
    }

    fn unread_bytes(&self) -> usize {
        self.joined.len() - self.joined_used + self.frame.len() - self.used
    }

    fn unread(&self) -> &[u8] {
        match &self.joined[self.joined_used..] {
            [] => &self.frame[self.used..],
            joined => joined,
        }
    }

    fn use_up(&mut self, bytes: usize) {
        if self.joined_used == self.joined.len() {
            self.used += bytes;
            return;
        }
        let from = self.joined_used;
        self.joined_used += bytes;
        self.digest.update(&self.joined[from..self.joined_used]);
        if self.joined_used == self.joined.len() {
            (self.joined, self.joined_used) = (Payload::default(), 0);
        }
    }

    fn bring_together(&mut self, bytes: usize, stock: &Arc<Stock>) -> usize {
        match self.unread().len() {
            // The next frame will hold them, as a rule.
            0 => return bytes,
            here if here >= bytes => return 0,
            _ => {}
        }
        if self.joined.capacity() == 0 {
            self.joined = stock.take();
        }
        self.joined.drop_front(self.joined_used);
        self.joined_used = 0;
        // What was consumed comes before what is moved.
        self.digest.update(&self.frame[self.digested..self.used]);
        let left = &self.frame[self.used..];
        let moved = left.len().min(bytes - self.joined.len());
        self.joined.append(&left[..moved]);
        self.used += moved;
        self.digested = self.used;
        bytes - self.joined.len()
    }
}

/// The digest of what `digest` has seen and `bytes`.
fn digest_with(digest: &blake3::Hasher, bytes: &[u8]) -> [u8; 32] {
    *digest.clone().update(bytes).finalize().as_bytes()
}
