//! Ciphers, messages and checks that the tests share.

use sealane_aead::{Cipher, Suite};
use sealane_block::Cpu;

/// A mode in its usual version, with its usual tag.
pub(crate) fn suite(name: &str) -> Suite {
    Suite::named(name, None, None).expect("a mode")
}

/// A cipher whose key repeats a byte.
pub(crate) fn cipher(cpu: Cpu, suite: Suite, key: u8) -> Cipher {
    Cipher::new(cpu, suite, &vec![key; suite.key_bytes()]).expect("a key")
}

/// The suites of a list, each once.
pub(crate) fn distinct(all: impl IntoIterator<Item = Suite>) -> Vec<Suite> {
    let mut suites = Vec::new();
    for suite in all {
        if !suites.contains(&suite) {
            suites.push(suite);
        }
    }
    suites
}

/// A text in a buffer that has room for its sealed message.
pub(crate) fn with_room(cipher: &Cipher, text: &[u8]) -> Vec<u8> {
    let mut buffer = text.to_vec();
    buffer.resize(cipher.sealed_len(text.len()), 0x55);
    buffer
}

/// True if nothing is left of what a buffer held.
pub(crate) fn is_erased(buffer: &[u8]) -> bool {
    buffer.iter().all(|byte| *byte == 0)
}
