//! Whatever is changed in a sealed message, its nonce or its associated data, it does not open; and
//! nothing is left of it.

use sealane_aead::{Cipher, Error, Message, Suite, open_many};
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
    for (name, tags) in [("gcm", 12..=15), ("ccm", 8..=14)] {
        suites.extend(tags.filter_map(|tag| Suite::named(name, None, Some(tag)).ok()));
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

/// Every message that differs in one bit from one that opens.
fn changed(nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Vec<[Vec<u8>; 3]> {
    let whole = [nonce.to_vec(), ad.to_vec(), sealed.to_vec()];
    let mut all = Vec::new();
    for part in 0..3 {
        for bit in 0..8 * whole[part].len() {
            let mut other = whole.clone();
            other[part][bit / 8] ^= 1 << (bit % 8);
            all.push(other);
        }
    }
    all
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
            let all = changed(&nonce, b"header", &sealed);
            for [nonce, ad, sealed] in &all {
                let mut buffer = sealed.clone();
                let opened = cipher.open_in_place(nonce, ad, &mut buffer, Some(len));
                assert!(opened == Err(Error::NotAuthentic), "{suite}, {len} bytes");
                assert!(buffer.iter().all(|byte| *byte == 0), "{suite}: text left");
            }
            // The same side by side, with one among them that is as it was.
            let good = [nonce.clone(), b"header".to_vec(), sealed.clone()];
            let middle = all.len() / 2;
            let (before, behind) = all.split_at(middle);
            let messages = before.iter().chain([&good]).chain(behind);
            let messages = messages.map(|[nonce, ad, sealed]| Message {
                cipher: &cipher,
                nonce,
                ad,
                buffer: sealed.clone(),
                text: Some(len),
            });
            for (place, done) in open_many(messages).enumerate() {
                if place == middle {
                    assert!(done.result == Ok(len) && done.buffer.starts_with(&text));
                } else {
                    assert!(
                        done.result == Err(Error::NotAuthentic),
                        "{suite}, {len} bytes"
                    );
                    assert!(
                        done.buffer.iter().all(|byte| *byte == 0),
                        "{suite}: text left"
                    );
                }
            }
            let short = &sealed[..sealed.len() - 1];
            assert!(cipher.open(&nonce, b"header", short, Some(len)).is_err());
        }
    }
}
