//! Parsers of peers' messages and of files below [`crate::Mesh`], exposed to the fuzzer (`fuzz/`)
//! alone. They are no part of the documented interface.
//!
//! Each takes bytes, and if it accepts them returns the bytes that this crate itself would write
//! for the parsed value.

use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::frame::{Assembler, Frame, Packet};
use crate::hello::Hello;
use crate::mesh::control_message;
use crate::text::{MAX_REASON_BYTES, harmless};

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

/// Decodes a control message of type `T`.
pub fn control<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<Vec<u8>> {
    let message: T = control_message(bytes).ok()?;
    postcard::to_stdvec(&message).ok()
}

/// Returns a peer's text as people see it.
pub fn shown(text: &str) -> String {
    harmless(text, MAX_REASON_BYTES)
}
