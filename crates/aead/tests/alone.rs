//! One message alone, of every length up to a few rounds of the widest lanes: it takes the lanes of
//! one tier after the other, and gives the bytes that it gives in a batch, where it has one lane.

use sealane_aead::{Cipher, Message, Suite, seal_many};
use sealane_block::Cpu;

use super::batches::{bytes, suites};
use super::common::with_room;

/// Two rounds of 32 blocks, one each of 16 and 8, and a short one.
const MOST_BLOCKS: usize = 2 * 32 + 16 + 8 + 5;

#[test]
fn a_message_of_any_length_alone_is_the_message_in_a_batch() {
    for cpu in Cpu::available() {
        for suite in suites() {
            check(cpu, suite);
        }
    }
}

fn check(cpu: Cpu, suite: Suite) {
    let cipher = Cipher::new(cpu, suite, &bytes(3, suite.key_bytes())).expect("a key");
    let nonce = bytes(5, suite.nonce_bytes());
    let blocks = ["ecb", "cbc"].contains(&suite.name());
    let rests: &[usize] = if blocks { &[0] } else { &[0, 1, 15] };
    let ad = bytes(
        7,
        if blocks || suite.name() == "ctr" {
            0
        } else {
            21
        },
    );
    let lengths = (0..MOST_BLOCKS).flat_map(|blocks| rests.iter().map(move |r| 16 * blocks + r));
    let texts: Vec<Vec<u8>> = lengths.map(|len| bytes(len as u8, len)).collect();
    let messages = texts.iter().map(|text| {
        let buffer = with_room(&cipher, text);
        Message::new(&cipher, &nonce, &ad, buffer, Some(text.len()))
    });
    for (text, done) in texts.iter().zip(seal_many(messages).with_equal_nonces()) {
        let id = format!("{suite}, {} bytes on {}", text.len(), cpu.tier());
        let sealed = cipher.seal(&nonce, &ad, text).expect("sealed");
        assert!(done.result.is_ok() && done.buffer == sealed, "{id}");
        let opened = cipher.open(&nonce, &ad, &sealed, Some(text.len()));
        assert!(opened.as_ref() == Ok(text), "{id}");
    }
}
