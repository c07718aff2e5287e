//! Known answers of every mode, on every tier, one message at a time and in lanes.

use sealane_aead::{Cipher, Error, Message, Suite, open_many, seal_many};
use sealane_block::Cpu;
use sealane_testkit::testdata;
use serde::Deserialize;

use super::common::{distinct, with_room};

#[derive(Deserialize)]
struct Vector {
    id: String,
    mode: String,
    variant: String,
    source: String,
    tag_len: usize,
    key: String,
    nonce: String,
    ad: String,
    ad_rule: Option<String>,
    pt: String,
    ct: String,
    result: String,
}

/// A vector, its strings decoded.
struct Known {
    id: String,
    suite: Result<Suite, Error>,
    key: Vec<u8>,
    nonce: Vec<u8>,
    ad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    valid: bool,
}

fn hex(text: &str) -> Vec<u8> {
    hex::decode(text).expect("hex digits")
}

/// The vectors of all modes of this build.
fn known() -> Vec<Known> {
    let mut all = Vec::new();
    for name in Suite::names() {
        let text = testdata::text(&format!("aead/{}.json", name.trim_end_matches("_r1")));
        let vectors: Vec<Vector> = serde_json::from_str(&text).expect("vectors");
        assert!(vectors.len() > 40, "{name}");
        for vector in vectors {
            assert!(vector.mode == name || format!("{}_r1", vector.mode) == name);
            assert!(!vector.source.is_empty(), "{}: whose answer?", vector.id);
            let first = vector.variant.split('-').next().unwrap_or_default();
            let version = ["v1", "v2", "v3"].contains(&first).then_some(first);
            let tag_len = (vector.result == "invalid" || name == "ccm").then_some(vector.tag_len);
            let ad = match vector.ad_rule.as_deref() {
                None => hex(&vector.ad),
                Some("256 repetitions of bytes 00..ff (65536 bytes)") => {
                    (0..=255u8).cycle().take(65536).collect()
                }
                Some(other) => panic!("{other}"),
            };
            all.push(Known {
                id: format!("{name} {} {}", vector.variant, vector.id),
                suite: Suite::named(name, version, tag_len),
                key: hex(&vector.key),
                nonce: hex(&vector.nonce),
                ad,
                text: hex(&vector.pt),
                sealed: hex(&vector.ct),
                valid: vector.result == "valid",
            });
        }
    }
    all
}

#[test]
fn one_message_at_a_time() {
    for cpu in Cpu::available() {
        for known in known() {
            let id = format!("{} on {}", known.id, cpu.tier());
            let Ok(suite) = known.suite else {
                assert!(!known.valid, "{id}");
                continue;
            };
            let cipher = Cipher::new(cpu, suite, &known.key).expect("a key");
            let sealed = cipher.seal(&known.nonce, &known.ad, &known.text);
            let len = Some(known.text.len());
            let opened = cipher.open(&known.nonce, &known.ad, &known.sealed, len);
            if known.valid {
                assert!(sealed.as_deref() == Ok(&known.sealed), "{id}: sealing");
                assert!(opened.as_deref() == Ok(&known.text), "{id}: opening");
            } else {
                assert!(opened.is_err(), "{id}");
            }
        }
    }
}

#[test]
fn all_messages_side_by_side() {
    for cpu in Cpu::available() {
        let mut all = known();
        all.retain(|known| known.valid);
        for suite in distinct(all.iter().filter_map(|known| known.suite.clone().ok())) {
            let id = |known: &Known| format!("{} on {}", known.id, cpu.tier());
            let of_suite = || all.iter().filter(|known| known.suite == Ok(suite));
            let cipher = |known: &Known| Cipher::new(cpu, suite, &known.key).expect("a key");
            let messages = of_suite().map(|known| {
                let cipher = cipher(known);
                let buffer = with_room(&cipher, &known.text);
                let text = Some(known.text.len());
                Message::new(cipher, &known.nonce, &known.ad, buffer, text)
            });
            for (known, done) in of_suite().zip(seal_many(messages)) {
                let id = id(known);
                assert_eq!(done.result, Ok(known.sealed.len()), "{id}");
                assert!(done.buffer == known.sealed, "{id}: sealing");
            }
            let messages = of_suite().map(|known| {
                let text = Some(known.text.len());
                let buffer = known.sealed.clone();
                Message::new(cipher(known), &known.nonce, &known.ad, buffer, text)
            });
            for (known, done) in of_suite().zip(open_many(messages)) {
                let id = id(known);
                assert_eq!(done.result, Ok(known.text.len()), "{id}");
                assert!(done.buffer.starts_with(&known.text), "{id}");
            }
        }
    }
}
