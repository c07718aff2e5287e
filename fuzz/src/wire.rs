//! Formats on the wire below the protocols: frames, hellos, keys, control messages, recordings.

use crate::script::{Script, mesh};
use sealane_fuzz_harness::Verdict;
use sealane_identity::{Identity, PublicKey};
use sealane_net::{
    Frame, FrameKind, MAX_CONTROL_BYTES, MAX_FRAME_BYTES, Recorder, Replayer, Transport, fuzzing,
};
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
    let Ok(packets) = whole else {
        return Verdict::Refused;
    };
    // The text of an abort is sanitised, so a second reading changes nothing.
    let wire = packets.concat();
    assert_eq!(fuzzing::stream(&wire, wire.len()), Ok(packets));
    Verdict::Accepted
}

/// Reads a hello; an accepted one is written back unchanged, except for the bytes after the text.
pub fn hello(bytes: &[u8]) -> Verdict {
    let Some(wire) = fuzzing::hello(bytes) else {
        return Verdict::Refused;
    };
    assert_eq!(fuzzing::hello(&wire).as_ref(), Some(&wire));
    assert_eq!(wire[..14], bytes[..14]);
    assert_eq!(wire[46..], bytes[46..50]);
    Verdict::Accepted
}

/// Reads a key as text, in its TLS form, and as a file: each gives one key, written back unchanged.
pub fn key(bytes: &[u8]) -> Verdict {
    let mut verdict = Verdict::Refused;
    if let Some(key) = PublicKey::from_spki(bytes) {
        assert_eq!(key.to_spki(), bytes, "a raw key has one form");
        verdict = Verdict::Accepted;
    }
    if let Some(key) = str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.parse::<PublicKey>().ok())
    {
        assert_eq!(key.to_string().parse(), Ok(key));
        verdict = Verdict::Accepted;
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("a file that can be written");
    if let Ok(identity) = Identity::load(file.path()) {
        let folder = tempfile::tempdir().expect("a folder");
        let stored = folder.path().join("key");
        identity.save(&stored).expect("a new file");
        let again = Identity::load(&stored).expect("what was stored");
        assert_eq!(again.public_key(), identity.public_key());
        verdict = Verdict::Accepted;
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
    if kinds.iter().any(Option::is_some) {
        Verdict::Accepted
    } else {
        Verdict::Refused
    }
}

/// Reads a recording, and records the run that is replayed from it: it is written back unchanged,
/// except for unused bits of a frame.
pub fn recording(bytes: &[u8]) -> Verdict {
    let Ok(replayer) = Replayer::new(bytes) else {
        return Verdict::Refused;
    };
    let (magic, mut rest) = bytes.split_at(8);
    let (mut log, mut plain) = (Vec::new(), magic.to_vec());
    let mut recorder = Recorder::new(Box::new(replayer), &mut log).expect("room in memory");
    while let Some((direction, after)) = rest.split_first() {
        rest = after;
        let frame = Frame::decode(&mut rest).expect("a frame that was read");
        plain.push(*direction);
        frame.encode(&mut plain);
        match direction {
            b'>' => assert!(
                matches!(recorder.try_send(frame), Ok(None)),
                "another frame"
            ),
            _ => assert!(recorder.try_recv().is_ok_and(|got| got == Some(frame))),
        }
    }
    drop(recorder);
    assert_eq!(log, plain);
    assert_eq!(log.len(), bytes.len());
    Verdict::Accepted
}

/// Receives arbitrary frames of a peer, payload and control in turns, up to the first error.
/// Counters and digests cover exactly the received bytes. The first byte chooses the first turns.
pub fn mesh_of_two(bytes: &[u8]) -> Verdict {
    let Some((turns, rest)) = bytes.split_first() else {
        return Verdict::Refused;
    };
    let peer = PartyId(0);
    let mut mesh = mesh(PartyId(1), vec![Script::of(frames_of(rest))]);
    let (mut received, mut digest) = (0, blake3::Hasher::new());
    for turn in 0.. {
        let fine = if turns >> (turn % 8) & 1 == 1 {
            mesh.recv_control::<(u64, String, Vec<Option<u16>>)>(peer)
                .is_ok()
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
        let digest = mesh
            .session()
            .transcript(peer, mesh.me(), payload.as_bytes(), None);
        assert_eq!(mesh.digest_received(peer), digest);
    }
    assert_eq!(mesh.payload_received(peer), received);
    assert!(mesh.counters().payload[0].received == received);
    match received {
        0 => Verdict::Refused,
        _ => Verdict::Accepted,
    }
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
    let Ok(text) = str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let shown = fuzzing::shown(text);
    assert!(shown.len() <= text.len() && shown.len() <= 1024);
    assert!(!shown.chars().any(char::is_control));
    assert_eq!(fuzzing::shown(&shown), shown);
    Verdict::Accepted
}
