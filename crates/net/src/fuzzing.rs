//! Parsers of peers' messages and of files below [`crate::Mesh`], exposed to the fuzzer (`fuzz/`)
//! alone. They are no part of the documented interface.
//!
//! Each takes bytes, and if it accepts them returns the bytes that this crate itself would write
//! for the parsed value.

use std::ops::Range;
use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::digest::{Content, Digest};
use crate::frame::{Assembler, Frame, HEADER_BYTES, Header, Packet};
use crate::hello::Hello;
use crate::meeting::claimant;
use crate::mesh::control_message;
use crate::session::SessionId;
use crate::text::{MAX_REASON_BYTES, harmless};
use crate::tls::Claim;
use sealane_diagnostic::Code;
use sealane_parties::PartyId;

/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;

/// Parses the header of a frame; returns tag, flag, stamp and length.
///
/// # Errors
/// The error that ends the connection.
pub fn header(bytes: &[u8; HEADER_BYTES]) -> Result<(u8, u8, u32, usize), String> {
    let header = Header::parse(bytes)?;
    Ok((header.tag, header.flag, header.stamp, header.length))
}

/// Decodes the packets of a stream that comes in pieces of `piece` bytes, each in its wire form.
///
/// # Errors
/// The error that ends the connection.
pub fn stream(bytes: &[u8], piece: usize) -> Result<Vec<Vec<u8>>, String> {
    let (mut assembler, mut packets) = (Assembler::default(), Vec::new());
    for piece in bytes.chunks(piece.max(1)) {
        assembler.feed(piece, &mut packets)?;
    }
    let wire = |packet: Packet| {
        let (header, payload) = packet.into_parts();
        [&header[..], &payload].concat()
    };
    Ok(packets.into_iter().map(wire).collect())
}

/// The digests of what was sent so far that are part of the payload from one party to another. A
/// fuzzer that changes the payload corrects them, as a peer that deviates would.
pub struct Digests {
    session: SessionId,
    ends: [PartyId; 2],
    /// Bulk of a semi-honest protocol, which is digested otherwise: parts in order.
    bulk: Vec<Range<usize>>,
    places: Vec<usize>,
}

impl Digests {
    /// Finds all places in the payload of an honest run, from one of `ends` to the other, that hold
    /// the digest of what is before them. Parts of the payload are bulk, in their order.
    pub fn find(
        session: SessionId,
        ends: [PartyId; 2],
        payload: &[u8],
        bulk: &[Range<usize>],
    ) -> Digests {
        let (places, bulk) = (Vec::new(), bulk.to_vec());
        let mut digests = Digests {
            session,
            ends,
            bulk,
            places,
        };
        let mut digest = of_nothing(session, ends);
        let mut at = 0;
        while let Some(next) = payload.get(at..at + DIGEST_BYTES) {
            if value(session, ends, digest.clone())[..] == *next {
                digests.places.push(at);
            }
            let mut bulk = digests.bulk.iter();
            let bulk = bulk.find(|part| part.contains(&at));
            let step = bulk.map_or(at + 1, |part| part.end);
            digests.update(&mut digest, payload, at..step);
            at = step;
        }
        digests
    }

    /// Writes the right digests into payload that was changed, in the same places.
    pub fn correct(&self, payload: &mut [u8]) {
        let mut digest = of_nothing(self.session, self.ends);
        let mut done = 0;
        for &place in &self.places {
            if place + DIGEST_BYTES > payload.len() {
                break;
            }
            self.update(&mut digest, payload, done..place);
            let value = value(self.session, self.ends, digest.clone());
            payload[place..][..DIGEST_BYTES].copy_from_slice(&value);
            done = place;
        }
    }

    fn update(&self, digest: &mut Digest, payload: &[u8], range: Range<usize>) {
        let Range { mut start, end } = range;
        for part in &self.bulk {
            let first = part.start.clamp(start, end);
            let last = part.end.clamp(first, end);
            digest.update(&payload[start..first], Content::of(false));
            digest.update(&payload[first..last], Content::of(true));
            start = last;
        }
        digest.update(&payload[start..end], Content::of(false));
    }
}

/// Computes the digest of the payload that `from` has sent to `to` in a session: parts, each with
/// whether it is bulk of a semi-honest protocol.
pub fn digest(session: SessionId, from: PartyId, to: PartyId, parts: &[(&[u8], bool)]) -> [u8; 32] {
    let mut digest = of_nothing(session, [from, to]);
    for (bytes, is_bulk) in parts {
        digest.update(bytes, Content::of(*is_bulk));
    }
    value(session, [from, to], digest)
}

fn of_nothing(session: SessionId, [from, to]: [PartyId; 2]) -> Digest {
    let mut digest = Digest::default();
    digest.set_bulk_key(session.bulk_key(from, to));
    digest
}

fn value(session: SessionId, [from, to]: [PartyId; 2], digest: Digest) -> [u8; DIGEST_BYTES] {
    let (payload, bulk) = digest.value();
    session.transcript(from, to, &payload, bulk.as_ref())
}

/// Decodes all frames of a recording without signals, each in its wire form.
///
/// # Errors
/// A text, if there is anything but frames.
pub fn frames(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let mut wire = Vec::new();
        Frame::decode(&mut bytes)?.encode(&mut wire);
        frames.push(wire);
    }
    Ok(frames)
}

/// Decodes a hello.
pub fn hello(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let hello = Hello::read(&mut bytes).ok()?;
    let mut wire = Vec::new();
    hello.write(&mut wire).ok()?;
    // The error for a wrong hello must be printable, too.
    let ours = Hello::new(hello.to, hello.from, hello.parties, Duration::ZERO);
    if let Err(error) = ours.check(&hello) {
        assert!(!error.to_string().contains('\u{1b}'));
    }
    Some(wire)
}

/// Judges the hello of the second of two parties, as the first one does; returns the version of its
/// software and its silence in milliseconds.
///
/// # Errors
/// The code of its fault.
pub fn greeted(ends: [PartyId; 2], parties: u8, mut hello: &[u8]) -> Result<(String, u128), Code> {
    let theirs = Hello::read(&mut hello).map_err(|_| Code::MalformedMessage)?;
    let ours = Hello::new(ends[0], ends[1], parties, Duration::ZERO);
    ours.check(&theirs).map_err(|error| error.code())?;
    Ok((theirs.version.package, theirs.silence.as_millis()))
}

/// Judges the party that a dialler claims to be by a server name, as one of so many does.
///
/// # Errors
/// The code of its fault.
pub fn claimed(name: &str, me: PartyId, parties: usize) -> Result<PartyId, Code> {
    let Some(Claim::Party(claimed)) = Claim::of_server_name(Some(name)) else {
        return Err(Code::MalformedMessage);
    };
    claimant(claimed, [me, claimed], parties, "").map_err(|error| error.code())
}

/// Decodes a control message of type `T`.
pub fn control<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<Vec<u8>> {
    let message: T = control_message(bytes).ok()?;
    postcard::to_stdvec(&message).ok()
}

/// Returns a peer's text as people see it.
pub fn shown(text: &str) -> String {
    harmless(text, MAX_REASON_BYTES)
}
