//! Changed messages: with any change in a sealed message, its nonce or its associated data, it does
//! not open, and nothing is left of it.

use sealane_aead::{Ads, Cipher, Error, Message, RowBatch, Suite, open_many};
use sealane_block::Cpu;

/// Modes that authenticate nothing.
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
            // The same messages side by side, with an unchanged one among them.
            let good = [nonce.clone(), b"header".to_vec(), sealed.clone()];
            let middle = all.len() / 2;
            let (before, behind) = all.split_at(middle);
            let messages = before.iter().chain([&good]).chain(behind);
            let messages = messages.map(|[nonce, ad, sealed]| {
                Message::new(&cipher, nonce, ad, sealed.clone(), Some(len))
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

/// CCM with tags of 4 bytes: a guess in 2^32 succeeds, so a key allows 2^12 failures (NIST SP
/// 800-38C, appendix B.2, with a risk of 2^-20).
#[test]
fn a_key_that_failed_too_often_opens_nothing_any_more() {
    const MOST: usize = 1 << 12;
    let cpu = Cpu::detect().expect("a processor");
    let suite = Suite::named("ccm", None, Some(4)).expect("a mode");
    let failures = MOST as u64;
    assert_eq!(suite.most_failures(), failures);
    let worn = Error::TooManyFailures {
        suite,
        tag: 4,
        failures,
    };
    // As many of the last messages are authentic as there are between the ends of two windows.
    let sealed = |cipher: &Cipher| cipher.seal(&[1; 12], b"", b"text").expect("sealed");
    let wrong = [9; 8];
    let fresh = || Cipher::new(cpu, suite, &[3; 16]).expect("a key");

    let cipher = fresh();
    let good = sealed(&cipher);
    for _ in 0..MOST - 1 {
        let opened = cipher.open(&[1; 12], b"", &wrong, None);
        assert_eq!(opened, Err(Error::NotAuthentic));
    }
    // Successful openings do not count, and messages of another length were not tried.
    assert_eq!(
        cipher.open(&[1; 12], b"", &good, None).as_deref(),
        Ok(&b"text"[..])
    );
    assert!(cipher.open(&[1; 12], b"", &[9; 3], None).is_err());
    let (text, tag) = good.split_at(4);
    let mut detached = text.to_vec();
    assert_eq!(
        cipher.open_detached(&[1; 12], b"", &mut detached, tag),
        Ok(())
    );
    assert_eq!(
        cipher.open(&[1; 12], b"", &wrong, None),
        Err(Error::NotAuthentic)
    );
    assert_eq!(cipher.open(&[1; 12], b"", &good, None), Err(worn.clone()));
    assert_eq!(
        cipher.open_detached(&[1; 12], b"", &mut detached, tag),
        Err(worn.clone())
    );
    assert!(cipher.seal(&[2; 12], b"", b"text").is_ok());

    // In a batch, exactly where it would be alone.
    let cipher = fresh();
    let good = sealed(&cipher);
    let mut all = vec![wrong.to_vec(); MOST];
    all.insert(7, good.clone());
    all.push(good.clone());
    let messages = all
        .iter()
        .map(|sealed| Message::new(&cipher, [1; 12], [], sealed.clone(), None));
    let done = open_many(messages)
        .map(|done| (done.result, done.buffer))
        .collect::<Vec<_>>();
    assert_eq!(done[7].0, Ok(4));
    assert_eq!(done[MOST].0, Err(Error::NotAuthentic));
    assert_eq!(done[MOST + 1], (Err(worn.clone()), vec![0; 8]));

    // In rows, which are opened all or, from there on, none.
    let cipher = fresh();
    let mut buffers = all.concat();
    fn rows<'a>(cipher: &'a Cipher, buffers: &'a mut [u8]) -> RowBatch<'a> {
        RowBatch {
            cipher,
            count: MOST + 2,
            nonces: &[1; 12 * (MOST + 2)],
            ads: Ads::Same(&[]),
            buffers,
            text: None,
        }
    }
    assert_eq!(rows(&cipher, &mut buffers).open(), Err(worn.clone()));
    assert_eq!(buffers[8 * (MOST + 1)..], [0; 8]);
    let before = all.concat();
    let mut again = before.clone();
    assert_eq!(rows(&cipher, &mut again).open(), Err(worn));
    assert_eq!(again, before);
}

#[test]
fn longer_tags_allow_more_failures() {
    let most = |name, tag| {
        Suite::named(name, None, Some(tag))
            .expect("a mode")
            .most_failures()
    };
    assert_eq!(most("ccm", 6), 1 << 28);
    for (name, tag) in [
        ("ccm", 8),
        ("ccm", 16),
        ("gcm", 12),
        ("gcm", 16),
        ("ocb3", 16),
    ] {
        assert_eq!(most(name, tag), 1 << 36, "{name} {tag}");
    }
}
