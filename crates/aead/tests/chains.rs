//! Tests of CLOC, SILC and JAMBU beyond the known answers: changed messages are refused, and the
//! versions are those stated.
#![cfg(feature = "research")]

use sealane_aead::{Cipher, Suite};
use sealane_block::Cpu;

use super::common;
use super::tampering::assert_no_changed_opens;

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
    common::cipher(cpu, suite, 9)
}

/// Every bit counts: of the ciphertext, of the tag, of nonce and associated data.
#[test]
fn changed_messages_are_refused() {
    for cpu in Cpu::available() {
        for (name, version, nonce_bytes) in MODES {
            let cipher = cipher(cpu, name, version);
            for len in [0, 1, 7, 8, 15, 16, 17, 40] {
                let (nonce, text) = (vec![3; nonce_bytes], vec![0x5a; len]);
                assert_no_changed_opens(&cipher, [&nonce, &[0x85; 19], &text], cpu);
            }
        }
    }
}

#[test]
fn versions_are_apart_where_they_differ() {
    let cpu = Cpu::detect().expect("a tier");
    let seal = |name: &str, version: &str, nonce: usize| {
        let sealed = cipher(cpu, name, version).seal(&vec![1; nonce], b"ad", b"text");
        sealed.expect("sealing")
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
    let unnamed = "CCM has no version `v9`; it has one version, without a name";
    assert_eq!(message("ccm"), unnamed);
}
