//! Changed messages: with any change in a sealed message, its nonce or its associated data, it does
//! not open, and nothing is left of it.

use sealane_aead::{Ads, Cipher, Error, Message, RowBatch, Suite, open_many};
use sealane_block::Cpu;

use super::batches;
use super::common::{cipher, is_erased};

/// Modes that authenticate nothing.
const BUILDING_BLOCKS: [&str; 3] = ["ecb", "ctr", "cbc"];

/// Every mode in every version, and with every tag.
fn suites() -> Vec<Suite> {
    let mut suites = batches::suites();
    suites.retain(|suite| !BUILDING_BLOCKS.contains(&suite.name()));
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

/// A sealed message opens; with any change it does not, alone or beside others.
pub(crate) fn assert_no_changed_opens(cipher: &Cipher, [nonce, ad, text]: [&[u8]; 3], cpu: Cpu) {
    let len = text.len();
    let id = format!("{}, {len} bytes on {}", cipher.suite(), cpu.tier());
    let refused = Err(Error::NotAuthentic);
    let sealed = cipher.seal(nonce, ad, text).expect("sealed");
    let opened = cipher.open(nonce, ad, &sealed, Some(len));
    assert!(opened.as_deref() == Ok(text), "{id}");
    let all = changed(nonce, ad, &sealed);
    for [nonce, ad, sealed] in &all {
        let mut buffer = sealed.clone();
        let opened = cipher.open_in_place(nonce, ad, &mut buffer, Some(len));
        assert!(opened == refused, "{id}");
        assert!(is_erased(&buffer), "{id}: text left");
    }
    // The same messages side by side, with an unchanged one among them.
    let good = [nonce.to_vec(), ad.to_vec(), sealed.clone()];
    let middle = all.len() / 2;
    let (before, behind) = all.split_at(middle);
    let messages = before.iter().chain([&good]).chain(behind);
    let messages = messages
        .map(|[nonce, ad, sealed]| Message::new(cipher, nonce, ad, sealed.clone(), Some(len)));
    for (place, done) in open_many(messages).enumerate() {
        if place == middle {
            let opened = done.result == Ok(len) && done.buffer.starts_with(text);
            assert!(opened, "{id}");
        } else {
            assert!(done.result == refused, "{id}");
            assert!(is_erased(&done.buffer), "{id}: text left");
        }
    }
    let short = &sealed[..sealed.len() - 1];
    assert!(cipher.open(nonce, ad, short, Some(len)).is_err(), "{id}");
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
            assert_no_changed_opens(&cipher, [&nonce, b"header", &text], cpu);
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
    let tag = 4;
    let worn = Error::TooManyFailures {
        suite,
        tag,
        failures,
    };
    // As many of the last messages are authentic as there are between the ends of two windows.
    let sealed = |cipher: &Cipher| cipher.seal(&[1; 12], b"", b"text").expect("sealed");
    let (wrong, not_authentic) = ([9; 8], Err(Error::NotAuthentic));
    let fresh = || cipher(cpu, suite, 3);
    let open = |cipher: &Cipher, sealed: &[u8]| cipher.open(&[1; 12], b"", sealed, None);

    let cipher = fresh();
    let good = sealed(&cipher);
    for _ in 0..MOST - 1 {
        assert_eq!(open(&cipher, &wrong), not_authentic);
    }
    // Successful openings do not count, and messages of another length were not tried.
    assert_eq!(open(&cipher, &good), Ok(b"text".to_vec()));
    assert!(open(&cipher, &[9; 3]).is_err());
    let (text, tag) = good.split_at(4);
    let mut detached = text.to_vec();
    let mut open_detached = || cipher.open_detached(&[1; 12], b"", &mut detached, tag);
    assert_eq!(open_detached(), Ok(()));
    assert_eq!(open(&cipher, &wrong), not_authentic);
    assert_eq!(open(&cipher, &good), Err(worn.clone()));
    assert_eq!(open_detached(), Err(worn.clone()));
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
    let done: Vec<_> = open_many(messages).collect();
    assert_eq!(done[7].result, Ok(4));
    assert_eq!(done[MOST].result, Err(Error::NotAuthentic));
    let last = &done[MOST + 1];
    assert_eq!(last.result, Err(worn.clone()));
    assert_eq!(last.buffer, [0; 8]);

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
    let ccm = [
        ("ccm", 6, 1 << 28),
        ("ccm", 8, 1 << 36),
        ("ccm", 16, 1 << 36),
    ];
    let gcm = [("gcm", 12, 1 << 36), ("gcm", 16, 1 << 36)];
    let rows = ccm.into_iter().chain(gcm).chain([("ocb3", 16, 1 << 36)]);
    for (name, tag, most) in rows {
        let suite = Suite::named(name, None, Some(tag)).expect("a mode");
        assert_eq!(suite.most_failures(), most, "{name} {tag}");
    }
}
