//! Tests of CLOC, SILC and JAMBU beyond the known answers: changed messages are refused, and the
//! versions are those stated.
#![cfg(feature = "research")]

use sealane_aead::{Cipher, Error, Message, Suite, open_many};
use sealane_block::Cpu;

const MODES: [(&str, &str, usize); 6] = [
    ("cloc", "v1", 12),
    ("cloc", "v3", 12),
    ("silc", "v1", 12),
    ("silc", "v3", 12),
    ("jambu", "v1", 8),
    ("jambu", "v2", 8),
];

fn cipher(cpu: Cpu, name: &str, version: &str) -> Cipher {
    let suite = Suite::named(name, Some(version), None).expect("a mode");
    Cipher::new(cpu, suite, &[9; 16]).expect("a key")
}

/// Every bit counts: of the ciphertext, of the tag, of nonce and associated data.
#[test]
fn changed_messages_are_refused() {
    for cpu in Cpu::available() {
        for (name, version, nonce_bytes) in MODES {
            let cipher = cipher(cpu, name, version);
            let (nonce, ad) = (vec![3; nonce_bytes], [0x85; 19]);
            for len in [0, 1, 7, 8, 15, 16, 17, 40] {
                let text = vec![0x5a; len];
                let sealed = cipher.seal(&nonce, &ad, &text).expect("sealing");
                let changed: Vec<Vec<u8>> = (0..8 * sealed.len())
                    .map(|bit| flipped(&sealed, bit))
                    .collect();
                let id = format!("{name} {version} of {len} on {}", cpu.tier());
                for sealed in &changed {
                    let opened = cipher.open(&nonce, &ad, sealed, None);
                    assert_eq!(opened, Err(Error::NotAuthentic), "{id}");
                }
                let messages = changed
                    .into_iter()
                    .map(|buffer| Message::new(&cipher, &nonce, &ad[..], buffer, None));
                for done in open_many(messages) {
                    assert_eq!(done.result, Err(Error::NotAuthentic), "{id}");
                    assert!(done.buffer.iter().all(|byte| *byte == 0), "{id}");
                }
                for bit in 0..8 * nonce_bytes {
                    let opened = cipher.open(&flipped(&nonce, bit), &ad, &sealed, None);
                    assert_eq!(opened, Err(Error::NotAuthentic), "{id}: nonce");
                }
                for bit in 0..8 * ad.len() {
                    let opened = cipher.open(&nonce, &flipped(&ad, bit), &sealed, None);
                    assert_eq!(opened, Err(Error::NotAuthentic), "{id}: associated data");
                }
            }
        }
    }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

#[test]
fn versions_are_apart_where_they_differ() {
    let cpu = Cpu::detect().expect("a tier");
    let seal = |name: &str, version: &str, nonce: usize| {
        let cipher = cipher(cpu, name, version);
        cipher
            .seal(&vec![1; nonce], b"ad", b"text")
            .expect("sealing")
    };
    assert_ne!(seal("cloc", "v1", 12), seal("cloc", "v3", 12));
    assert_ne!(seal("silc", "v1", 12), seal("silc", "v3", 12));
    assert_eq!(seal("jambu", "v1", 8), seal("jambu", "v2", 8));
}

#[test]
fn an_unknown_version_is_answered_with_those_there_are() {
    let message = |name: &str| match Suite::named(name, Some("v9"), None) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{name} has no version 9"),
    };
    assert_eq!(message("cloc"), "CLOC has no version `v9`; it has v1, v3");
    assert_eq!(
        message("ccm"),
        "CCM has no version `v9`; it has one version, without a name"
    );
}
