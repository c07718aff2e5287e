//! Formats on the wire below the protocols: frames, hellos, keys, control messages, recordings.

use crate::script::{Script, mesh};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_identity::{Identity, PublicKey};
use sealane_net::{Frame, FrameKind, Recorder, Replayer, Transport, fuzzing};
use sealane_net::{MAX_CONTROL_BYTES, MAX_FRAME_BYTES};
use sealane_parties::PartyId;
use std::io::Write;

/// Splits a stream into packets, in pieces of any length, and compares with [`Frame::decode`].
pub fn frames(bytes: &[u8]) -> Verdict {
    let whole = fuzzing::stream(bytes, bytes.len());
    for piece in [1, 12, 13, 4096] {
        assert_eq!(fuzzing::stream(bytes, piece), whole, "in pieces of {piece}");
    }
    if let Ok(frames) = fuzzing::frames(bytes) {
        assert_eq!(whole.as_ref(), Ok(&frames), "the other reader of frames");
    }
    let packets = whole.ok()?;
    // The text of an abort is sanitised, so a second reading changes nothing.
    let wire = packets.concat();
    assert_eq!(fuzzing::stream(&wire, wire.len()), Ok(packets));
    Some(Accepted)
}

/// Reads a hello; an accepted one is written back unchanged, except for the bytes after the text.
pub fn hello(bytes: &[u8]) -> Verdict {
    let wire = fuzzing::hello(bytes)?;
    assert_eq!(fuzzing::hello(&wire).as_ref(), Some(&wire));
    assert_eq!(wire[..14], bytes[..14]);
    assert_eq!(wire[46..], bytes[46..50]);
    Some(Accepted)
}

/// Reads a key as text, in its TLS form, and as a file: each gives one key, written back unchanged.
pub fn key(bytes: &[u8]) -> Verdict {
    let mut verdict = None;
    if let Some(key) = PublicKey::from_spki(bytes) {
        assert_eq!(key.to_spki(), bytes, "a raw key has one form");
        verdict = Some(Accepted);
    }
    let text = str::from_utf8(bytes).map(str::parse::<PublicKey>);
    if let Ok(Ok(key)) = text {
        assert_eq!(key.to_string().parse(), Ok(key));
        verdict = Some(Accepted);
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("a file that can be written");
    if let Ok(identity) = Identity::load(file.path()) {
        let folder = tempfile::tempdir().expect("a folder");
        let stored = folder.path().join("key");
        identity.save(&stored).expect("a new file");
        let again = Identity::load(&stored).expect("what was stored");
        assert_eq!(again.public_key(), identity.public_key());
        verdict = Some(Accepted);
    }
    verdict
}

/// Reads a control message of each kind; an accepted one is written in a form that is read back
/// unchanged and is not longer.
pub fn control(bytes: &[u8]) -> Verdict {
    let kinds = sealane_engine::fuzzing(bytes);
    for (kind, again) in kinds.iter().enumerate() {
        let Some(again) = again else { continue };
        assert!(again.len() <= bytes.len(), "kind {kind} grows");
        assert_eq!(sealane_engine::fuzzing(again)[kind].as_ref(), Some(again));
    }
    kinds.iter().any(Option::is_some).then_some(Accepted)
}

/// Reads a recording, and records the run that is replayed from it: it is written back unchanged,
/// except for unused bits of a frame.
pub fn recording(bytes: &[u8]) -> Verdict {
    let replayer = Replayer::new(bytes).ok()?;
    let (magic, mut rest) = bytes.split_at(8);
    let (mut log, mut plain) = (Vec::new(), magic.to_vec());
    let mut recorder = Recorder::new(Box::new(replayer), &mut log).expect("room in memory");
    while let Some((direction, after)) = rest.split_first() {
        rest = after;
        let frame = Frame::decode(&mut rest).expect("a frame that was read");
        plain.push(*direction);
        frame.encode(&mut plain);
        match direction {
            b'>' => {
                let sent = recorder.try_send(frame);
                assert!(matches!(sent, Ok(None)), "another frame");
            }
            _ => assert!(recorder.try_recv().is_ok_and(|got| got == Some(frame))),
        }
    }
    drop(recorder);
    assert_eq!(log, plain);
    assert_eq!(log.len(), bytes.len());
    Some(Accepted)
}

/// Receives arbitrary frames of a peer, payload and control in turns, up to the first error.
/// Counters and digests cover exactly the received bytes. The first byte chooses the first turns.
pub fn mesh_of_two(bytes: &[u8]) -> Verdict {
    let (turns, rest) = bytes.split_first()?;
    let peer = PartyId(0);
    let mut mesh = mesh(PartyId(1), vec![Script::of(frames_of(rest))]);
    let (mut received, mut digest) = (0, blake3::Hasher::new());
    for turn in 0.. {
        let fine = if turns >> (turn % 8) & 1 == 1 {
            let control = mesh.recv_control::<(u64, String, Vec<Option<u16>>)>(peer);
            control.is_ok()
        } else {
            let mut into = vec![0; [1, 16, 300, 4][turn % 4]];
            let fine = mesh.recv(peer, &mut into).is_ok();
            if fine {
                received += into.len() as u64;
                digest.update(&into);
            }
            fine
        };
        if !fine {
            break;
        }
        let payload = digest.finalize();
        let (session, payload) = (mesh.session(), payload.as_bytes());
        let digest = session.transcript(peer, mesh.me(), payload, None);
        assert_eq!(mesh.digest_received(peer), digest);
    }
    assert_eq!(mesh.payload_received(peer), received);
    assert!(mesh.counters().payload[0].received == received);
    (received > 0).then_some(Accepted)
}

/// Decodes the frames at the front of some bytes, as a transport could deliver them: also ones that
/// no socket lets through. A header of six bytes holds kind, stamp and length.
pub fn frames_of(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((&[kind, s0, s1, l0, l1, l2], rest)) = bytes.split_first_chunk() {
        let length = u32::from_le_bytes([l0, l1, l2, 0]) as usize;
        let (payload, rest) = rest.split_at(length.min(rest.len()));
        let kind = match kind {
            0 => FrameKind::Control,
            end => FrameKind::Data { end: end & 1 == 1 },
        };
        frames.push(Frame {
            kind,
            stamp: u16::from_le_bytes([s0, s1]).into(),
            payload: payload.to_vec().into(),
        });
        bytes = rest;
    }
    frames
}

/// Encodes a frame for [`frames_of`].
pub fn bytes_of(frame: &Frame) -> Vec<u8> {
    assert!(frame.payload.len() <= MAX_FRAME_BYTES.max(MAX_CONTROL_BYTES));
    let kind = match frame.kind {
        FrameKind::Control => 0,
        FrameKind::Data { end } => 2 | u8::from(end),
    };
    let [s0, s1, ..] = frame.stamp.to_le_bytes();
    let [l0, l1, l2, _] = (frame.payload.len() as u32).to_le_bytes();
    [&[kind, s0, s1, l0, l1, l2], &frame.payload[..]].concat()
}

/// Sanitises a peer's text: short, in one line, and unchanged by a second pass.
pub fn shown(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let shown = fuzzing::shown(text);
    assert!(shown.len() <= text.len() && shown.len() <= 1024);
    assert!(!shown.chars().any(char::is_control));
    assert_eq!(fuzzing::shown(&shown), shown);
    Some(Accepted)
}
