//! The parsers of what peers and files say below [`crate::Mesh`], for those who feed them with
//! what no peer would say (`fuzz/`). Nothing else has a use for them, so they are no part of the
//! documented interface.
//!
//! Each takes bytes, and where it accepts them gives back the bytes that this crate itself would
//! write for what it has read.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::frame::{Assembler, Frame, Packet};
use crate::hello::Hello;
use crate::identity::PublicKey;
use crate::mesh::control_message;
use crate::text::{MAX_REASON_BYTES, harmless};

/// Whole packets of a stream that comes in pieces of `piece` bytes, each in its wire form.
///
/// # Errors
/// What ends the connection.
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

/// All frames of a recording's part that has no signals, each in its wire form.
///
/// # Errors
/// In words, if there is anything but frames.
pub fn frames(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let mut wire = Vec::new();
        Frame::decode(&mut bytes)?.encode(&mut wire);
        frames.push(wire);
    }
    Ok(frames)
}

/// A greeting.
pub fn hello(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let hello = Hello::read(&mut bytes).ok()?;
    let mut wire = Vec::new();
    hello.write(&mut wire).ok()?;
    // What a wrong one is told must be sayable, too.
    let ours = Hello::new(hello.to, hello.from, hello.parties, Duration::ZERO);
    if let Err(error) = ours.check(&hello) {
        assert!(!error.to_string().contains('\u{1b}'));
    }
    Some(wire)
}

/// A control message of type `T`.
pub fn control<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<Vec<u8>> {
    let message: T = control_message(bytes).ok()?;
    postcard::to_stdvec(&message).ok()
}

/// A public key as TLS carries it.
pub fn raw_key(bytes: &[u8]) -> Option<Vec<u8>> {
    PublicKey::from_spki(bytes).map(PublicKey::to_spki)
}

/// Text of a peer as people get to see it.
pub fn shown(text: &str) -> String {
    harmless(text, MAX_REASON_BYTES)
}
