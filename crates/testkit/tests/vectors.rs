//! Vectors of crates below `testkit`, which cannot name it: blocks, parties, identities, frames.

use sealane_block::gf::{self, Order};
use sealane_block::hash::Mi;
use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::{
    Aes128, Block, Coins, ColumnHash, LabelHash, Nonce, PolyHash, Prg, Seed, Tweak,
};
use sealane_identity::{ContactCard, Identity, PublicKey};
use sealane_net::fuzzing;
use sealane_parties::{NetworkClass, PartyId};
use sealane_testkit::vectors::{
    Value, array, block, blocks, bytes, check, json, label, list, number, on_tiers, read, session,
    stated, text,
};

const MALFORMED: &str = "malformed-message";
/// Refusals of one's own files and settings.
const OWN: &str = "own";

fn hex(block: Block) -> Value {
    stated(&block.to_bytes())
}

#[test]
fn blocks_are_those_of_the_vectors() {
    check(
        "block",
        &[
            ("hash", |of| {
                Ok(json!({ "hash": stated(blake3::hash(&bytes(&of["data"])).as_bytes()) }))
            }),
            ("hash-context", |of| {
                let mut hasher = blake3::Hasher::new_derive_key(text(&of["context"]));
                let mut out = vec![0; number(&of["length"]) as usize];
                hasher
                    .update(&bytes(&of["data"]))
                    .finalize_xof()
                    .fill(&mut out);
                Ok(json!({ "bytes": stated(&out) }))
            }),
            ("aes", |of| {
                Ok(on_tiers(|cpu| {
                    let aes = Aes128::new(cpu, block(&of["key"]));
                    json!({ "block": hex(aes.encrypt(block(&of["block"]))) })
                }))
            }),
            ("silent-row", |of| {
                Ok(on_tiers(|cpu| {
                    let matrix = LocalMatrix::new(cpu, block(&of["key"]));
                    let (places, bit) = matrix.row(number(&of["row"]), 1 << number(&of["log"]));
                    json!({ "places": places, "bit": u8::from(bit) })
                }))
            }),
            ("gf-mul", |of| {
                Ok(on_tiers(|cpu| {
                    let [a, b] = ["a", "b"].map(|field| block(&of[field]));
                    json!({ "product": hex(gf::mul(cpu, Order::Polynomial, a, b)) })
                }))
            }),
            ("poly-hash", |of| {
                Ok(on_tiers(|cpu| {
                    let mut hash = PolyHash::new(cpu, block(&of["key"]));
                    for run in list(&of["runs"]) {
                        hash.update(&bytes(&run[1]));
                        hash.end_run(number(&run[0]));
                    }
                    json!({ "hash": hex(hash.value()) })
                }))
            }),
            ("column-hash", |of| {
                Ok(on_tiers(|cpu| {
                    let (mut hash, column) = (ColumnHash::new(cpu, 1), blocks(&of["column"]));
                    for (key, piece) in list(&of["keys"]).iter().zip(column.chunks(32)) {
                        hash.update(block(key), piece);
                    }
                    json!({ "hash": hex(hash.values()[0]) })
                }))
            }),
            ("coins", |of| {
                let mut out = Vec::new();
                let coins = Coins::danger_seeded(Seed::from_bytes(&array(&of["seed"])));
                draws(coins, list(&of["draws"]), &mut out);
                Ok(json!({ "bytes": out }))
            }),
            ("expanded", |of| {
                let reads = list(&of["reads"]).iter().map(|read| number(read) as usize);
                let mut all = &expanded(of, reads.clone().sum())[..];
                let read = |length| all.split_off(..length).map(stated);
                Ok(json!({ "bytes": reads.map(read).collect::<Option<Vec<_>>>() }))
            }),
            ("bulk", |of| {
                Ok(on_tiers(|cpu| {
                    let (mut prg, mut position) = (bulk(of, cpu), 0);
                    let draw = |count: &Value| {
                        let mut blocks = vec![Block::ZERO; number(count) as usize];
                        prg.fill(&mut blocks);
                        position += blocks.len().next_multiple_of(32);
                        stated(Block::as_bytes(&blocks))
                    };
                    let draws = list(&of["draws"]).iter().map(draw).collect::<Vec<_>>();
                    // The next block shows where the stream is.
                    let stream = expanded(of, 32);
                    let [key, start] =
                        [0, 16].map(|at| stream[at..at + 16].try_into().map(Block::from_bytes));
                    let counter = Block::new((position as u128).swap_bytes());
                    let next = Aes128::new(cpu, key.expect("16 bytes"))
                        .encrypt(start.expect("16 bytes") ^ counter);
                    assert_eq!(next.to_bytes(), prg.block().to_bytes());
                    json!({ "draws": draws, "position": position })
                }))
            }),
            ("tweak", |of| Ok(json!({ "tweak": hex(tweak(of).block()) }))),
            ("gate-hash", |of| {
                Ok(on_tiers(|cpu| {
                    let (hash, mut blocks) = (Mi::new(cpu, block(&of["seed"])), [block(&of["x"])]);
                    hash.hash_each(cpu, &[block(&of["tweak"])], &mut blocks);
                    json!({ "hash": hex(blocks[0]) })
                }))
            }),
        ],
    );
}

fn tweak(of: &Value) -> Tweak {
    let [gate, row, part] = ["gate", "lane", "part"].map(|field| number(&of[field]) as u32);
    let call = number(&of["call"]);
    Tweak {
        gate,
        call,
        row,
        part,
    }
}

/// Draws from coins, and from those that come of them.
fn draws(mut coins: Coins, draws_of: &[Value], out: &mut Vec<Value>) {
    for draw in draws_of {
        match text(&draw["op"]) {
            "fork" => draws(coins.fork(label(&draw["label"])), list(&draw["draws"]), out),
            "enter" => coins = coins.enter(&array(&draw["session"])),
            op => {
                let length = number(&draw["length"]) as usize;
                let label = label(&draw["label"]);
                let bytes = match op {
                    "secret" => {
                        let mut stream = coins.secret(label);
                        first(length, || stream.block())
                    }
                    _ => {
                        let mut stream = coins.public(label);
                        first(length, || stream.block())
                    }
                };
                out.push(stated(&bytes));
            }
        }
    }
}

/// The first bytes of a stream that gives blocks.
fn first(length: usize, mut next: impl FnMut() -> Block) -> Vec<u8> {
    let blocks = (0..length.div_ceil(16)).flat_map(|_| next().to_bytes());
    blocks.take(length).collect()
}

/// The first bytes of an expanded stream.
fn expanded(of: &Value, length: usize) -> Vec<u8> {
    let (key, session, label) = (
        array(&of["key"]),
        array(&of["session"]),
        label(&of["label"]),
    );
    if of["stream"] == "secret" {
        let mut stream = Seed::from_bytes(&key).stream(label, &session);
        return first(length, || stream.block());
    }
    let mut stream = Nonce::from_bytes(key).stream(label, &session);
    first(length, || stream.block())
}

fn bulk(of: &Value, cpu: sealane_block::Cpu) -> Prg {
    let (key, session, label) = (
        array(&of["key"]),
        array(&of["session"]),
        label(&of["label"]),
    );
    match text(&of["stream"]) {
        "secret" => Seed::from_bytes(&key).stream(label, &session).prg(cpu),
        _ => Nonce::from_bytes(key).stream(label, &session).prg(cpu),
    }
}

#[test]
fn frames_are_those_of_the_vectors() {
    check(
        "net",
        &[
            ("digest", |of| {
                let [from, to] = ["from", "to"].map(|field| PartyId(number(&of[field]) as u8));
                let parts = list(&of["payload"]).iter();
                let parts = parts
                    .map(|part| (bytes(&part[1]), part[0] == "bulk"))
                    .collect::<Vec<_>>();
                let parts = parts
                    .iter()
                    .map(|(bytes, bulk)| (&bytes[..], *bulk))
                    .collect::<Vec<_>>();
                let digest = fuzzing::digest(session(&of["session"]), from, to, &parts);
                Ok(json!({ "digest": stated(&digest) }))
            }),
            ("varint", |of| {
                let bytes = bytes(&of["bytes"]);
                let encoded = match number(&of["bits"]) {
                    32 => fuzzing::control::<u32>(&bytes),
                    _ => fuzzing::control::<u64>(&bytes),
                };
                let encoded = encoded.ok_or(MALFORMED)?;
                let groups = encoded.iter().rev();
                let number =
                    groups.fold(0, |number: u64, byte| number << 7 | u64::from(byte & 127));
                Ok(json!({ "number": number, "encoded": stated(&encoded) }))
            }),
            ("hello", |of| {
                let [me, peer, parties] =
                    ["me", "peer", "parties"].map(|field| number(&of[field]) as u8);
                let greeted =
                    fuzzing::greeted([PartyId(me), PartyId(peer)], parties, &bytes(&of["bytes"]));
                let (text, silence) = greeted.map_err(|code| code.to_string())?;
                Ok(json!({ "text": text, "silence": silence as u64 }))
            }),
            ("frame-header", |of| {
                let read = array(&of["bytes"]);
                let (tag, flag, stamp, length) = fuzzing::header(&read).map_err(|_| MALFORMED)?;
                let frame = [&read[..], &vec![0; length]].concat();
                let written = &fuzzing::stream(&frame, usize::MAX)?[0][..read.len()];
                if *written != read {
                    return Err(format!("written as {}", hex::encode(written)));
                }
                Ok(json!({ "tag": tag, "flag": flag, "stamp": stamp, "length": length }))
            }),
            ("reason-sent", |of| {
                Ok(json!({ "bytes": stated(fuzzing::shown(text(&of["text"])).as_bytes()) }))
            }),
            ("reason-received", |of| {
                let reason = bytes(&of["bytes"]);
                let header = [
                    &[5, 0, 0, 0, 0, 0, 0, 0],
                    &(reason.len() as u32).to_le_bytes()[..],
                ]
                .concat();
                let packets = fuzzing::stream(&[header, reason].concat(), usize::MAX)
                    .map_err(|_| MALFORMED)?;
                Ok(json!({ "text": str::from_utf8(&packets[0][12..]).expect("text") }))
            }),
            ("server-name", |of| {
                let me = PartyId(number(&of["me"]) as u8);
                let parties = number(&of["parties"]) as usize;
                let peer = fuzzing::claimed(text(&of["name"]), me, parties);
                let peer = peer.map_err(|code| code.to_string())?;
                Ok(json!({ "peer": peer.0 }))
            }),
        ],
    );
}

#[test]
fn identities_are_those_of_the_vectors() {
    check(
        "identity",
        &[
            ("key-text", |of| {
                let key = text(&of["text"]).parse::<PublicKey>().map_err(|_| OWN)?;
                Ok(json!({ "key": stated(key.as_bytes()) }))
            }),
            ("key-file", |of| {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("key");
                std::fs::write(&path, bytes(&of["file"])).expect("a file");
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600))
                        .expect("a file");
                }
                let identity = Identity::load(&path).map_err(|_| OWN)?;
                // The seed of what is held, and not of what was read.
                let seed = identity.secret_pkcs8().last_chunk::<32>().expect("a seed");
                let key = identity.public_key();
                Ok(json!({
                    "seed": stated(seed), "public": stated(key.as_bytes()), "spki": stated(&key.to_spki()),
                }))
            }),
            ("fingerprint", |of| {
                Ok(json!({ "text": key_of(&of["key"]).fingerprint() }))
            }),
            ("card", |of| {
                let card =
                    ContactCard::new(text(&of["name"]), text(&of["address"]), key_of(&of["key"]));
                Ok(json!({ "text": card.expect("a card").to_string() }))
            }),
        ],
    );
}

fn key_of(value: &Value) -> PublicKey {
    let key = format!("ed25519:{}", text(value)).parse();
    key.expect("a public key")
}

#[test]
fn networks_are_those_of_the_vectors() {
    check(
        "parties",
        &[("network", |of| {
            let network =
                NetworkClass::try_from(text(&of["text"]).to_string()).map_err(|_| MALFORMED)?;
            Ok(json!({ "k": if network.spares_bytes() { 8 } else { 4 } }))
        })],
    );
}

#[test]
fn every_kind_belongs_to_a_crate_that_checks_it() {
    const CRATES: [&str; 10] = [
        "block", "engine", "garble", "identity", "net", "ot", "parties", "plan", "pool", "trio",
    ];
    for group in list(&read("primitives")["groups"]) {
        let name = text(&group["crate"]);
        assert!(CRATES.contains(&name), "{}: {name}", group["kind"]);
    }
}
