//! Whatever is changed in a sealed message, its nonce or its associated data, it does not open; and
//! nothing is left of it.

use sealane_aead::{Cipher, Error, Suite};
use sealane_block::Cpu;

/// What authenticates nothing.
const BUILDING_BLOCKS: [&str; 3] = ["ecb", "ctr", "cbc"];

/// Every mode in every version.
fn suites() -> Vec<Suite> {
    let mut suites = Vec::new();
    for name in Suite::names().filter(|name| !BUILDING_BLOCKS.contains(name)) {
        let named = ["v1", "v2", "v3"].map(|version| Suite::named(name, Some(version), None));
        let before = suites.len();
        suites.extend(named.into_iter().flatten());
        if suites.len() == before {
            suites.push(Suite::named(name, None, None).expect("the usual version"));
        }
    }
    suites
}

/// A nonce of a length that the mode takes.
fn nonce(cipher: &Cipher) -> Vec<u8> {
    let fits = |bytes: &usize| {
        let sealed = cipher.seal(&vec![7; *bytes], &[], &[]);
        !matches!(sealed, Err(Error::NonceLength { .. }))
    };
    let bytes = [12, 16, 8, 0].into_iter().find(fits);
    vec![7; bytes.expect("one of the usual lengths")]
}

#[test]
fn no_changed_message_opens() {
    let cpu = Cpu::detect().expect("a processor");
    for suite in suites() {
        let key: Vec<u8> = (0..suite.key_bytes() as u8).collect();
        let cipher = Cipher::new(cpu, suite, &key).expect("a key");
        let nonce = nonce(&cipher);
        // Around one block, two blocks, a round of lanes, and in the middle of the next round.
        for len in [0, 1, 15, 16, 17, 30, 31, 32, 33, 48, 255, 1030] {
            let text: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let sealed = cipher.seal(&nonce, b"header", &text).expect("sealed");
            let opened = cipher.open(&nonce, b"header", &sealed, Some(len));
            assert!(opened.as_ref() == Ok(&text), "{suite}, {len} bytes");
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << (at % 8);
                let opened = cipher.open_in_place(&nonce, b"header", &mut changed, Some(len));
                assert!(
                    opened == Err(Error::NotAuthentic),
                    "{suite}, byte {at}, {len}"
                );
                assert!(changed.iter().all(|byte| *byte == 0), "{suite}: text left");
            }
            let opened = cipher.open(&nonce, b"Header", &sealed, Some(len));
            assert!(opened == Err(Error::NotAuthentic), "{suite}, {len} bytes");
            let mut other = nonce.clone();
            if let Some(byte) = other.last_mut() {
                *byte ^= 0x80;
            }
            let opened = cipher.open(&other, b"header", &sealed, Some(len));
            assert!(
                other == nonce || opened == Err(Error::NotAuthentic),
                "{suite}, {len} bytes"
            );
            let short = &sealed[..sealed.len() - 1];
            assert!(cipher.open(&nonce, b"header", short, Some(len)).is_err());
        }
    }
}
