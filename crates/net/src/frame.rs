//! Frames: the unit in which transports move bytes.
//!
//! On a wire, a frame is a header of twelve bytes and its payload; numbers are little-endian.
//!
//! ```text
//!   0      1      2          4              8              12
//!   +------+------+----------+--------------+--------------+-- - - - - - --+
//!   | tag  | flag |  zero    | stamp        | length       | payload       |
//!   +------+------+----------+--------------+--------------+-- - - - - - --+
//! ```
//!
//! A header is checked completely before memory for its payload is taken: unknown tags, flags or
//! non-zero padding, a length over the bound of its tag, an empty data frame and a stamp out of
//! range are all refused.

use std::sync::Arc;

use crate::error::Cause;
use crate::payload::{BufferPool, Payload};
use crate::text::{MAX_REASON_BYTES, harmless};

/// Longest payload of a frame.
pub const MAX_FRAME_BYTES: usize = 128 << 10;

/// Longest control message.
pub const MAX_CONTROL_BYTES: usize = 64 << 10;

/// Length of a frame's header.
pub(crate) const HEADER_BYTES: usize = 12;

/// Largest stamp that a peer may send; far above the rounds of any run, so that adding one never
/// overflows.
pub(crate) const MAX_STAMP: u32 = 1 << 30;

/// A piece of a message, as a transport carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kind of the payload.
    pub kind: FrameKind,
    /// The round of this frame: 1 + the largest stamp its sender had received. 0 for control.
    pub stamp: u32,
    /// The bytes: at least one and at most [`MAX_FRAME_BYTES`] of data, or at most
    /// [`MAX_CONTROL_BYTES`] of control.
    pub payload: Payload,
}

/// Kind of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Bytes of a protocol; `end` marks the last frame of a message.
    Data {
        /// Set if the message ends with this frame.
        end: bool,
    },
    /// A whole control message.
    Control,
}

impl Frame {
    /// Bytes that this frame takes on a wire, before encryption.
    pub fn wire_bytes(&self) -> usize {
        HEADER_BYTES + self.payload.len()
    }

    /// Appends the frame in its wire form to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.header());
        out.extend_from_slice(&self.payload);
    }

    /// Decodes one frame from the front of `bytes`.
    ///
    /// # Errors
    /// A text, if the bytes are not a frame or end within one.
    pub fn decode(bytes: &mut &[u8]) -> Result<Frame, String> {
        let cut_off = "the bytes end within a frame";
        let (header, rest) = bytes.split_first_chunk().ok_or(cut_off)?;
        let header = Header::parse(header)?;
        let (payload, rest) = rest.split_at_checked(header.length).ok_or(cut_off)?;
        *bytes = rest;
        match header.packet(payload.to_vec().into())? {
            Packet::Frame(frame) => Ok(frame),
            Packet::Signal(_) => Err("a signal where a frame was due".into()),
        }
    }

    /// The header of this frame's wire form.
    pub(crate) fn header(&self) -> [u8; HEADER_BYTES] {
        let (tag, flag) = match self.kind {
            FrameKind::Data { end } => (tag::DATA, u8::from(end)),
            FrameKind::Control => (tag::CONTROL, 0),
        };
        header(tag, flag, self.stamp, self.payload.len())
    }
}

/// Signal from one end of a connection to the other, below the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The sender is alive and computing.
    Heartbeat,
    /// Nothing more will come; the run ended in good order.
    Goodbye,
    /// Nothing more will come, for this reason.
    Abort(Cause, String),
}

/// Unit that crosses a wire: a frame or a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    Frame(Frame),
    Signal(Signal),
}

impl Packet {
    /// Returns whether nothing may follow this packet.
    pub(crate) fn is_farewell(&self) -> bool {
        matches!(self, Packet::Signal(Signal::Goodbye | Signal::Abort(..)))
    }

    /// The frame, if it is one.
    pub(crate) fn into_frame(self) -> Option<Frame> {
        match self {
            Packet::Frame(frame) => Some(frame),
            Packet::Signal(_) => None,
        }
    }

    /// Splits the wire form into header and payload.
    pub(crate) fn into_parts(self) -> ([u8; HEADER_BYTES], Payload) {
        match self {
            Packet::Frame(frame) => (frame.header(), frame.payload),
            Packet::Signal(signal) => {
                let (tag, flag, text) = match signal {
                    Signal::Heartbeat => (tag::HEARTBEAT, 0, Vec::new()),
                    Signal::Goodbye => (tag::GOODBYE, 0, Vec::new()),
                    Signal::Abort(cause, reason) => {
                        let reason = harmless(&reason, MAX_REASON_BYTES).into_bytes();
                        let flag = CAUSES.iter().position(|known| *known == cause);
                        (tag::ABORT, flag.unwrap_or_default() as u8, reason)
                    }
                };
                (header(tag, flag, 0, text.len()), text.into())
            }
        }
    }
}

/// The fault of bytes that are no frames.
type Parsed<T = ()> = Result<T, String>;

/// Reassembles frames from the pieces in which a stream delivers them.
#[derive(Default)]
pub(crate) struct Assembler {
    /// Buffers of long frames.
    pool: Arc<BufferPool>,
    header: [u8; HEADER_BYTES],
    header_filled: usize,
    /// The checked header and the payload so far, once the header is complete.
    body: Option<(Header, Payload)>,
    /// Length of the last frame that was complete.
    last_length: usize,
}

impl Assembler {
    /// Payload bytes of the last frame that was complete.
    pub(crate) fn last_length(&self) -> usize {
        self.last_length
    }

    /// Free room for the missing bytes of a frame whose header is complete; empty between frames.
    /// Bytes may be received there instead of being copied by [`Assembler::feed`].
    pub(crate) fn missing(&mut self) -> &mut [u8] {
        match &mut self.body {
            Some((header, payload)) => {
                let missing = header.length - payload.len();
                &mut payload.spare_capacity()[..missing]
            }
            None => &mut [],
        }
    }

    /// Takes the first `bytes` bytes of [`Assembler::missing`] as received, and appends the packet
    /// to `packets` if they complete it.
    pub(crate) fn received(&mut self, bytes: usize, packets: &mut Vec<Packet>) -> Parsed {
        if let Some((_, payload)) = &mut self.body {
            payload.mark_written(bytes);
        }
        self.complete(packets)
    }

    /// Appends the packet to `packets` if no byte of it is missing.
    fn complete(&mut self, packets: &mut Vec<Packet>) -> Parsed {
        let full = |(header, payload): &mut (Header, Payload)| payload.len() == header.length;
        if let Some((header, payload)) = self.body.take_if(full) {
            self.last_length = header.length;
            packets.push(header.packet(payload)?);
        }
        Ok(())
    }

    /// Reads `bytes` and appends all packets that they complete to `packets`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], packets: &mut Vec<Packet>) -> Parsed {
        loop {
            if self.body.is_none() {
                let taken = bytes.len().min(HEADER_BYTES - self.header_filled);
                self.header[self.header_filled..][..taken].copy_from_slice(&bytes[..taken]);
                self.header_filled += taken;
                bytes = &bytes[taken..];
                if self.header_filled < HEADER_BYTES {
                    return Ok(());
                }
                let header = Header::parse(&self.header)?;
                self.body = Some((header, self.pool.take_for(header.length)));
                self.header_filled = 0;
            }
            if let Some((header, payload)) = &mut self.body {
                let taken = bytes.len().min(header.length - payload.len());
                payload.append(&bytes[..taken]);
                bytes = &bytes[taken..];
                if payload.len() < header.length {
                    return Ok(());
                }
            }
            self.complete(packets)?;
        }
    }
}

/// Causes of an abort by their flags.
const CAUSES: [Cause; 3] = [Cause::Party, Cause::Network, Cause::Cancelled];

/// Tags: the first byte of a header. Zero is no tag, so that a run of zero bytes is refused.
mod tag {
    pub(super) const DATA: u8 = 1;
    pub(super) const CONTROL: u8 = 2;
    pub(super) const HEARTBEAT: u8 = 3;
    pub(super) const GOODBYE: u8 = 4;
    pub(super) const ABORT: u8 = 5;
}

fn header(tag: u8, flag: u8, stamp: u32, length: usize) -> [u8; HEADER_BYTES] {
    debug_assert!(length <= MAX_FRAME_BYTES);
    let mut header = [0; HEADER_BYTES];
    header[0] = tag;
    header[1] = flag;
    header[4..8].copy_from_slice(&stamp.to_le_bytes());
    header[8..12].copy_from_slice(&(length as u32).to_le_bytes());
    header
}

/// A header all of whose fields have been checked.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) tag: u8,
    /// Of data: 1 if its message ends. Of an abort: its cause.
    pub(crate) flag: u8,
    pub(crate) stamp: u32,
    pub(crate) length: usize,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8; HEADER_BYTES]) -> Parsed<Header> {
        let [tag, flag, pad0, pad1, s0, s1, s2, s3, l0, l1, l2, l3] = *bytes;
        let stamp = u32::from_le_bytes([s0, s1, s2, s3]);
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        // Bounds by tag: highest flag, stamps, lengths.
        let (flags, stamps, lengths) = match tag {
            tag::DATA => (1, 1..=MAX_STAMP, 1..=MAX_FRAME_BYTES),
            tag::CONTROL => (0, 0..=0, 0..=MAX_CONTROL_BYTES),
            tag::ABORT => (2, 0..=0, 0..=MAX_REASON_BYTES),
            tag::HEARTBEAT | tag::GOODBYE => (0, 0..=0, 0..=0),
            other => return Err(format!("frame with unknown tag {other}")),
        };
        let fault = if flag > flags || (pad0, pad1) != (0, 0) {
            "has an unknown flag".to_string()
        } else if !stamps.contains(&stamp) {
            format!("has stamp {stamp}")
        } else if !lengths.contains(&length) {
            format!("claims {length} bytes")
        } else {
            return Ok(Header {
                tag,
                flag,
                stamp,
                length,
            });
        };
        Err(format!("frame with tag {tag} {fault}"))
    }

    fn packet(self, payload: Payload) -> Parsed<Packet> {
        let (stamp, end) = (self.stamp, self.flag == 1);
        let frame = |kind, payload| {
            Packet::Frame(Frame {
                kind,
                stamp,
                payload,
            })
        };
        Ok(match self.tag {
            tag::DATA => frame(FrameKind::Data { end }, payload),
            tag::CONTROL => frame(FrameKind::Control, payload),
            tag::HEARTBEAT => Packet::Signal(Signal::Heartbeat),
            tag::GOODBYE => Packet::Signal(Signal::Goodbye),
            _ => {
                let reason = str::from_utf8(&payload).map_err(|_| "reason is not UTF-8")?;
                let reason = harmless(reason, MAX_REASON_BYTES);
                Packet::Signal(Signal::Abort(CAUSES[usize::from(self.flag)], reason))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn causes_have_the_numbers_that_peers_know() {
        let known = [Cause::Party, Cause::Network, Cause::Cancelled];
        for (number, cause) in known.into_iter().enumerate() {
            let packet = Packet::Signal(Signal::Abort(cause, String::new()));
            let [_, flag, ..] = packet.into_parts().0;
            assert_eq!(usize::from(flag), number);
        }
    }

    fn packets() -> impl Strategy<Value = Vec<Packet>> {
        let bytes = proptest::collection::vec(any::<u8>(), 1..300);
        let one = (0..5u8, any::<bool>(), 1..=MAX_STAMP, bytes, "[a-z ]{0,40}").prop_map(
            |(which, end, stamp, payload, reason)| {
                let frame = |kind, stamp| {
                    let payload = payload.into();
                    Packet::Frame(Frame {
                        kind,
                        stamp,
                        payload,
                    })
                };
                match which {
                    0 => frame(FrameKind::Data { end }, stamp),
                    1 => frame(FrameKind::Control, 0),
                    2 => Packet::Signal(Signal::Heartbeat),
                    3 => Packet::Signal(Signal::Goodbye),
                    _ => Packet::Signal(Signal::Abort(CAUSES[stamp as usize % 3], reason)),
                }
            },
        );
        proptest::collection::vec(one, 0..12)
    }

    fn encode(packets: &[Packet]) -> Vec<u8> {
        let mut wire = Vec::new();
        for packet in packets {
            let (header, payload) = packet.clone().into_parts();
            wire.extend_from_slice(&header);
            wire.extend_from_slice(&payload);
        }
        wire
    }

    proptest! {
        #[test]
        fn any_cut_of_a_stream_yields_the_frames_that_went_in(
            sent in packets(),
            piece_bytes in 1usize..200,
        ) {
            let mut assembler = Assembler::default();
            let mut received = Vec::new();
            for piece in encode(&sent).chunks(piece_bytes) {
                assembler.feed(piece, &mut received).unwrap();
            }
            prop_assert_eq!(received, sent);
        }

        #[test]
        fn payload_that_is_received_in_its_place_yields_the_same_frames(
            sent in packets(),
            pieces in proptest::collection::vec(1usize..200, 1..20),
        ) {
            let wire = encode(&sent);
            let mut left = &wire[..];
            let mut assembler = Assembler::default();
            let mut received = Vec::new();
            for piece_bytes in pieces.into_iter().cycle() {
                if left.is_empty() {
                    break;
                }
                let (piece, later) = left.split_at(piece_bytes.min(left.len()));
                let missing = assembler.missing();
                let direct = piece.len().min(missing.len());
                missing[..direct].copy_from_slice(&piece[..direct]);
                assembler.received(direct, &mut received).unwrap();
                assembler.feed(&piece[direct..], &mut received).unwrap();
                left = later;
            }
            prop_assert_eq!(received, sent);
        }

        #[test]
        fn noise_never_makes_the_assembler_take_more_than_a_frame(
            noise in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let mut assembler = Assembler::default();
            let mut received = Vec::new();
            if assembler.feed(&noise, &mut received).is_ok()
                && let Some((_, payload)) = &assembler.body
            {
                prop_assert!(payload.capacity() <= MAX_FRAME_BYTES);
            }
        }
    }

    #[test]
    fn each_bad_field_is_refused_at_the_header() {
        let good = header(tag::DATA, 1, 5, 9);
        let bad = [
            (0, 0),
            (0, 7),
            (1, 2),
            (1, 3),
            (2, 1),
            (3, 1),
            (7, 0xff),
            (10, 5),
        ];
        for (at, value) in bad {
            let mut bad = good;
            bad[at] = value;
            assert!(Header::parse(&bad).is_err(), "byte {at} = {value}");
        }
        assert!(Header::parse(&good).is_ok());
        assert!(Header::parse(&header(tag::ABORT, 2, 0, 1)).is_ok());
        for (what, bad) in [
            ("empty data frame", header(tag::DATA, 1, 5, 0)),
            ("data without stamp", header(tag::DATA, 1, 0, 9)),
            (
                "long message",
                header(tag::CONTROL, 0, 0, MAX_CONTROL_BYTES + 1),
            ),
            ("goodbye with text", header(tag::GOODBYE, 0, 0, 1)),
            ("unknown cause", header(tag::ABORT, 3, 0, 1)),
        ] {
            assert!(Header::parse(&bad).is_err(), "{what}");
        }
    }
}
