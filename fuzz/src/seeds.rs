//! Seeds that the code itself makes, for forms that are hard to write by hand.

use crate::wire::{bytes_of, frames_of};
use crate::{
    arrow, auth, batches, files, guarded, pools, proofs, roles, runs, sessions, transfers,
};
use sealane_fuzz_harness::{Chance, Seed};
use sealane_identity::ContactCard;
use sealane_net::{Frame, FrameKind};
use sealane_program::text::{print, print_with_spans};
use sealane_testkit::random_program::random_program;

/// All of them.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for seed in 0..6 {
        let program = random_program(seed).program;
        let full = print_with_spans(&program).into_bytes();
        seeds.push(("program", format!("random-{seed}"), full));
        let text = print(&program).into_bytes();
        seeds.push(("plan", format!("random-{seed}"), text));
        let mut chance = Chance::new(seed);
        let tape = (0..1 + 4 * 60).map(|_| chance.number() as u8).collect();
        seeds.push(("grow", format!("random-{seed}"), tape));
    }
    let of_both = vec![
        ("guarded-roles", guarded::seeds()),
        ("auth-roles", auth::seeds()),
    ];
    let recorded = [sessions::seeds().to_vec(), roles::seeds().to_vec(), of_both].concat();
    for (number, frame) in frames_of(&recorded[0].1[0][1..]).into_iter().enumerate() {
        if frame.kind == FrameKind::Control {
            seeds.push(("control", format!("run-{number}"), frame.payload.to_vec()));
        }
    }
    seeds.extend(wire());
    let columns = files::parquet_seeds().into_iter();
    seeds.extend(columns.map(|(name, bytes)| ("parquet", format!("column-{name}"), bytes)));
    let batches = arrow::seeds().into_iter();
    seeds.extend(batches.map(|(name, bytes)| ("arrow", name, bytes)));
    let sealed = batches::seeds().into_iter();
    seeds.extend(sealed.map(|(name, bytes)| ("aead", name, bytes)));
    seeds.extend(transfers::seeds());
    let proofs = proofs::seeds().into_iter();
    seeds.extend(proofs.map(|(name, bytes)| ("proof", name, bytes)));
    seeds.extend(pools::seeds());
    seeds.push(("run-folder", "whole".to_string(), runs::seed()));
    for (target, inputs) in recorded {
        let inputs = inputs.into_iter().enumerate();
        seeds.extend(inputs.map(|(party, bytes)| (target, format!("party-{party}"), bytes)));
    }
    seeds
}

fn wire() -> Vec<Seed> {
    let seed = |target, name: &str, bytes: Vec<u8>| (target, name.to_string(), bytes);
    let frame = |kind, stamp, payload: &[u8]| Frame {
        kind,
        stamp,
        payload: payload.to_vec().into(),
    };
    let frames = [
        frame(FrameKind::Control, 0, b"\x07\x02ok\x02\x00\x01\x01"),
        frame(FrameKind::Data { end: false }, 1, &[7; 300]),
        frame(FrameKind::Data { end: true }, 1, &[8; 17]),
        frame(FrameKind::Data { end: true }, 3, b"last"),
    ];
    let (mut wire, mut recording) = (Vec::new(), b"SEALREC\x01".to_vec());
    for (frame, direction) in frames.iter().zip(*b"<><>") {
        frame.encode(&mut wire);
        recording.push(direction);
        frame.encode(&mut recording);
    }
    // Heartbeat, goodbye, and an abort that blames the network.
    let mut signals = [3, 4].map(|tag| [&[tag][..], &[0; 11]].concat()).concat();
    signals.extend([5, 1, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0]);
    signals.extend(b"reason");
    let mut hello = b"SEALANE\n\x01\x00\x01\x00\x02\x050.1.0".to_vec();
    hello.resize(46, 0);
    hello.extend(30_000u32.to_le_bytes());
    let mut mesh = vec![0b0000_0001];
    mesh.extend(frames.iter().flat_map(bytes_of));
    let text = format!("ed25519:{}", PUBLIC);
    let card = |name, address| {
        let key = text.parse().expect("a key");
        let card = ContactCard::new(name, address, key).expect("a card");
        card.to_string().into_bytes()
    };
    let hostile = "a\u{1b}[31mb\u{202e}c\u{feff}\n\u{e0041}d";
    let cards = [card("alice", "lab.example:7700"), card("_b", "[::1]:1")];
    let cards = cards.into_iter().enumerate();
    let cards = cards.map(|(number, card)| seed("card", &format!("card-{number}"), card));
    let mut seeds: Vec<Seed> = cards.collect();
    seeds.extend([
        seed("frames", "of-each-kind", wire.clone()),
        seed("frames", "signals", [wire, signals].concat()),
        seed("recording", "both-ways", recording),
        seed("recording", "empty", b"SEALREC\x01".to_vec()),
        seed("hello", "dialler", hello),
        seed("mesh", "in-turns", mesh),
        seed("key", "text", text.clone().into_bytes()),
        seed("key", "raw", [&SPKI_PREFIX[..], &hex(PUBLIC)].concat()),
        seed("key", "file", [&PKCS8_PREFIX[..], &hex(SECRET)].concat()),
        seed("shown", "plain", b"the disk is full".to_vec()),
        seed("shown", "hostile", hostile.into()),
    ]);
    seeds
}

/// Private and public key of RFC 8032, section 7.1, test 1, and their prefixes in RFC 8410.
const SECRET: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
];
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

fn hex(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("hex digits")
}
