//! One peer of a mesh: bytes cut into frames, reassembled and digested on the way.
//!
//! A channel never waits; [`crate::links`] waits for all channels at once.
//!
//! Payload is written directly into the buffer of the outgoing frame and read directly from the
//! buffer of the incoming one. BLAKE3 fills its lanes from the powers of two that make up a stretch
//! of the stream, so payload is digested a frame at a time. The digest of bulk has no such
//! limits: they are digested while they lie in the first-level cache.

use std::sync::Arc;

use crate::counters::Traffic;
use crate::digest::{Content, Digest};
use crate::error::LinkError;
use crate::frame::{Frame, FrameKind, MAX_CONTROL_BYTES, MAX_FRAME_BYTES, MAX_STAMP};
use crate::payload::BufferPool;
use crate::{Farewell, Payload, Transport};
use sealane_block::Block;

/// Most bytes of payload that are written or read in one contiguous piece.
pub const MAX_CONTIGUOUS_BYTES: usize = 64 << 10;

/// Bytes of bulk that are digested at a time: they were just written or read, and half of a
/// first-level cache holds them.
const BULK_BYTES: usize = 16 << 10;

pub(crate) struct Channel {
    pub(crate) transport: Box<dyn Transport>,
    sending: Sending,
    receiving: Receiving,
    /// Buffers of frames to be sent.
    pool: Arc<BufferPool>,
    /// Set once this party has sent its farewell.
    pub(crate) left: bool,
}

/// Digest of one direction, and the part of a frame that it has not seen yet, which is of one
/// content.
#[derive(Default)]
struct DirectionDigest {
    digest: Digest,
    content: Content,
    /// Bytes of the frame that the digest has seen.
    digested: usize,
}

impl DirectionDigest {
    /// Prepares for more of this content behind `done`, the first bytes of the frame.
    fn expect(&mut self, done: &[u8], content: Content) {
        if self.content != content {
            self.digest(done);
            self.content = content;
        }
    }

    /// Digests bulk among `done` if they are enough.
    fn digest_bulk(&mut self, done: &[u8]) {
        if self.content != Content::Any && done.len() - self.digested >= BULK_BYTES {
            self.digest(done);
        }
    }

    /// Digests all of `done`, the first bytes of the frame.
    fn digest(&mut self, done: &[u8]) {
        self.digest.update(&done[self.digested..], self.content);
        self.digested = done.len();
    }

    /// The digest of everything up to the end of `done`.
    fn value(&mut self, done: &[u8]) -> ([u8; 32], Option<[u8; 16]>) {
        self.digest(done);
        self.digest.clone().value()
    }
}

/// State of the message being written.
#[derive(Default)]
struct Sending {
    /// The frame being filled.
    frame: Payload,
    /// The part of the frame that the digest has not seen.
    pending: DirectionDigest,
    /// Messages ended so far.
    messages: u64,
    /// Set if frames of the message have been sent already.
    streamed: bool,
}

/// State of the receiving direction.
#[derive(Default)]
struct Receiving {
    /// Bytes that were copied together because they were not contiguous. They come before the
    /// unread part of the frame.
    joined: Payload,
    /// Bytes of it that the protocol has consumed.
    joined_consumed: usize,
    /// The frame being consumed.
    frame: Payload,
    /// Bytes of the frame that the protocol has consumed, or that were moved to `joined`.
    consumed: usize,
    /// The part of the frame that was consumed and that the digest has not seen, nor will see in
    /// `joined`.
    pending: DirectionDigest,
    /// Messages whose last frame has been consumed completely.
    messages: u64,
    /// Set if the frame is the last one of its message.
    ends_message: bool,
    /// Stamp of the last data frame received; stamps of one peer never decrease.
    last_stamp: u32,
}

impl Channel {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Channel {
        Channel {
            transport,
            sending: Sending::default(),
            receiving: Receiving::default(),
            pool: Arc::default(),
            left: false,
        }
    }

    /// Makes room for `bytes` bytes of the message being written, at least one and at most
    /// [`MAX_CONTIGUOUS_BYTES`]; returns a frame that must be sent first, if any. A frame is sent
    /// only when bytes follow it, so the last frame of a message is still here when the message
    /// ends.
    pub(crate) fn reserve(&mut self, bytes: usize, stamp: u32) -> Option<Frame> {
        let sending = &mut self.sending;
        let full = sending.frame.len() + bytes > MAX_FRAME_BYTES;
        let leaving = full.then(|| sending.cut_frame(stamp, false));
        sending.streamed |= full;
        if sending.frame.capacity() == 0 {
            sending.frame = self.pool.take();
        }
        leaving
    }

    /// Returns the free rest of the frame being filled.
    pub(crate) fn send_buffer(&mut self) -> &mut [u8] {
        self.sending.frame.spare_capacity()
    }

    /// Adds the first `bytes` bytes of the free rest to the message.
    pub(crate) fn mark_written(&mut self, bytes: usize, content: Content) {
        let Sending { frame, pending, .. } = &mut self.sending;
        pending.expect(frame, content);
        frame.mark_written(bytes);
        pending.digest_bulk(frame);
    }

    /// Sets the keys for the hashes of bulk: of those sent, then of those received.
    ///
    /// # Panics
    /// If bulk has crossed already.
    pub(crate) fn set_bulk_keys(&mut self, [sent, received]: [Block; 2]) {
        let Sending { frame, pending, .. } = &mut self.sending;
        pending.expect(frame, Content::Any);
        pending.digest.set_bulk_key(sent);
        let here = &mut self.receiving;
        here.pending
            .expect(&here.frame[..here.consumed], Content::Any);
        here.pending.digest.set_bulk_key(received);
    }

    /// Ends the message being written; returns its last frame, if there is a message.
    ///
    /// # Errors
    /// Frames were sent to make room, and nothing was written after them.
    pub(crate) fn end_message(&mut self, stamp: u32) -> Result<Option<Frame>, String> {
        if self.sending.frame.is_empty() {
            return if self.sending.streamed {
                Err("room was asked for and not used before the message ended".into())
            } else {
                Ok(None)
            };
        }
        self.sending.messages += 1;
        self.sending.streamed = false;
        Ok(Some(self.sending.cut_frame(stamp, true)))
    }

    /// Moves received bytes to the front of `into`; returns their number. If that is less than the
    /// length of `into`, nothing more has been received.
    pub(crate) fn take(&mut self, into: &mut [u8], content: Content) -> usize {
        let mut taken = 0;
        // The joined bytes first, then the rest of the frame.
        for _ in 0..2 {
            let unread = self.receiving.unread();
            let now = unread.len().min(into.len() - taken);
            into[taken..][..now].copy_from_slice(&unread[..now]);
            self.receiving.consume(now, content);
            taken += now;
        }
        taken
    }

    /// Makes the next `bytes` received bytes contiguous; returns how many are still missing.
    /// `bytes` is at most [`MAX_CONTIGUOUS_BYTES`].
    pub(crate) fn make_contiguous(&mut self, bytes: usize) -> usize {
        self.receiving.make_contiguous(bytes, &self.pool)
    }

    /// Returns the unread bytes that are contiguous.
    pub(crate) fn unread(&mut self) -> &mut [u8] {
        self.receiving.unread()
    }

    /// Consumes the first `bytes` of the contiguous unread bytes.
    pub(crate) fn consume(&mut self, bytes: usize, content: Content) {
        self.receiving.consume(bytes, content);
    }

    /// Makes `frame` the current frame, after all of the one before has been consumed or moved.
    /// Returns its stamp. `wanted` is the number of bytes still to be read.
    pub(crate) fn accept(&mut self, frame: Frame, wanted: usize) -> Result<u32, LinkError> {
        self.receiving.drop_frame();
        let Frame {
            kind,
            stamp,
            payload,
        } = frame;
        let FrameKind::Data { end } = kind else {
            let reason = format!("a control message where {wanted} payload bytes were due");
            return Err(LinkError::malformed(reason));
        };
        if payload.is_empty() {
            return Err(LinkError::malformed("empty data frame"));
        }
        let receiving = &mut self.receiving;
        let last = receiving.last_stamp;
        if stamp < last.max(1) || stamp > MAX_STAMP {
            let reason = format!("stamp {stamp} after stamp {last}");
            return Err(LinkError::malformed(reason));
        }
        (
            receiving.ends_message,
            receiving.last_stamp,
            receiving.frame,
        ) = (end, stamp, payload);
        Ok(stamp)
    }

    /// Checks that a control message may come now: none comes within payload.
    pub(crate) fn expect_control(&self) -> Result<(), LinkError> {
        match self.receiving.unread_bytes() {
            0 => Ok(()),
            unread => {
                let reason = format!("{unread} payload bytes where a control message was due");
                Err(LinkError::malformed(reason))
            }
        }
    }

    /// Takes the control message out of `frame`, which must be one.
    pub(crate) fn control_of(frame: Frame) -> Result<Payload, LinkError> {
        let reason = match frame.kind {
            FrameKind::Control if frame.payload.len() <= MAX_CONTROL_BYTES => {
                return Ok(frame.payload);
            }
            FrameKind::Control => "oversized control message",
            FrameKind::Data { .. } => "payload where a control message was due",
        };
        Err(LinkError::malformed(reason))
    }

    /// Leaves the run; later calls other than this one are refused.
    pub(crate) fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.left = true;
        self.transport.shutdown(farewell);
    }

    /// The digest of all payload sent; see [`Digest::value`].
    pub(crate) fn digest_sent(&mut self) -> ([u8; 32], Option<[u8; 16]>) {
        self.sending.pending.value(&self.sending.frame)
    }

    /// The digest of all payload consumed.
    pub(crate) fn digest_received(&mut self) -> ([u8; 32], Option<[u8; 16]>) {
        let here = &mut self.receiving;
        here.pending.value(&here.frame[..here.consumed])
    }

    pub(crate) fn messages(&self) -> Traffic {
        let last = self.receiving.ends_message && self.receiving.unread_bytes() == 0;
        Traffic {
            sent: self.sending.messages,
            received: self.receiving.messages + u64::from(last),
        }
    }
}

impl Sending {
    fn cut_frame(&mut self, stamp: u32, end: bool) -> Frame {
        self.pending.digest(&self.frame);
        self.pending.digested = 0;
        Frame {
            kind: FrameKind::Data { end },
            stamp,
            payload: self.frame.take_to_send(),
        }
    }
}

impl Receiving {
    /// Drops the current frame, all of which has been consumed or moved.
    fn drop_frame(&mut self) {
        self.messages += u64::from(std::mem::take(&mut self.ends_message));
        self.pending.digest(&self.frame[..self.consumed]);
        self.frame = Payload::default();
        (self.consumed, self.pending.digested) = (0, 0);
    }

    fn unread_bytes(&self) -> usize {
        self.joined.len() - self.joined_consumed + self.frame.len() - self.consumed
    }

    fn unread(&mut self) -> &mut [u8] {
        match &mut self.joined[self.joined_consumed..] {
            [] => &mut self.frame[self.consumed..],
            joined => joined,
        }
    }

    fn consume(&mut self, bytes: usize, content: Content) {
        if self.joined_consumed == self.joined.len() {
            self.pending.expect(&self.frame[..self.consumed], content);
            self.consumed += bytes;
            self.pending.digest_bulk(&self.frame[..self.consumed]);
            return;
        }
        // Nothing is pending: that was digested when bytes were moved here.
        let from = self.joined_consumed;
        self.joined_consumed += bytes;
        let consumed = &self.joined[from..self.joined_consumed];
        self.pending.digest.update(consumed, content);
        if self.joined_consumed == self.joined.len() {
            (self.joined, self.joined_consumed) = (Payload::default(), 0);
        }
    }

    fn make_contiguous(&mut self, bytes: usize, pool: &Arc<BufferPool>) -> usize {
        match self.unread().len() {
            // Usually the next frame holds them.
            0 => return bytes,
            here if here >= bytes => return 0,
            _ => {}
        }
        if self.joined.capacity() == 0 {
            self.joined = pool.take();
        }
        self.joined.drop_front(self.joined_consumed);
        self.joined_consumed = 0;
        // The consumed bytes come before the moved ones.
        self.pending.digest(&self.frame[..self.consumed]);
        let left = &self.frame[self.consumed..];
        let moved = left.len().min(bytes - self.joined.len());
        self.joined.append(&left[..moved]);
        self.consumed += moved;
        self.pending.digested = self.consumed;
        bytes - self.joined.len()
    }
}
