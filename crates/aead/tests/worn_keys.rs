//! A key whose limit is near seals what there is room for, and no more.

use sealane_aead::{Ads, Cipher, Error, Message, RowBatch, Suite, seal_many};
use sealane_block::Cpu;

use super::common;

/// A cipher that has so many blocks left, and buffers for texts of 32 bytes, which count as three
/// blocks and one for the associated data.
fn worn(left: u64, count: usize) -> (Cipher, Vec<[u8; 48]>) {
    let suite = common::suite("ocb3");
    let cipher = common::cipher(Cpu::detect().expect("a processor"), suite, 1);
    let elsewhere = suite.most_blocks() - left;
    cipher.count_elsewhere(0, elsewhere).expect("room");
    (cipher, vec![[9; 48]; count])
}

fn left(cipher: &Cipher) -> u64 {
    let mut left = 0;
    while cipher.count_elsewhere(0, 1).is_ok() {
        left += 1;
    }
    left
}

#[test]
fn a_batch_seals_what_the_key_has_room_for() {
    let (cipher, mut buffers) = worn(9, 5);
    let message = |(buffer, nonce)| Message::new(&cipher, nonce, [], buffer, None);
    let nonces = [12, 12, 0, 12, 12].map(|bytes| &[0; 16][..bytes]);
    let sealed: Vec<bool> = seal_many(buffers.iter_mut().zip(nonces).map(message))
        .with_equal_nonces()
        .map(|done| done.result.is_ok())
        .collect();
    // The third has no nonce, and costs nothing.
    assert_eq!(sealed, [true, true, false, false, false]);
    assert_eq!(buffers[3..], [[9; 48]; 2]);
    assert_eq!(left(&cipher), 1);
}

#[test]
fn a_long_message_of_a_batch_is_refused_as_it_is() {
    let (cipher, _) = worn(8, 0);
    let mut long = vec![9; 10_000];
    let message = Message::new(&cipher, [0; 12], [], &mut long, None);
    let done = seal_many([message]).next().expect("a result");
    assert!(matches!(done.result, Err(Error::KeyWornOut { .. })));
    assert!(long.iter().all(|byte| *byte == 9));
    assert_eq!(left(&cipher), 8);
}

#[test]
fn rows_are_sealed_all_or_none() {
    let (cipher, mut buffers) = worn(9, 3);
    let mut seal = |count: usize| {
        let rows = RowBatch {
            cipher: &cipher,
            count,
            nonces: &[0; 36][..12 * count],
            ads: Ads::Same(&[]),
            buffers: buffers[..count].as_flattened_mut(),
            text: None,
        };
        rows.seal_with_equal_nonces()
    };
    assert!(matches!(seal(3), Err(Error::KeyWornOut { .. })));
    assert_eq!(seal(0), Ok(()));
    assert_eq!(seal(1), Ok(()));
    assert_eq!(buffers[1..], [[9; 48]; 2]);
    assert_eq!(left(&cipher), 5);
}

#[test]
fn short_messages_elsewhere_use_up_a_key_of_few_messages() {
    let cipher = common::cipher(Cpu::best(), common::suite("gcm"), 1);
    // NIST SP 800-38D, section 8.3: 2^32 messages.
    let most = (1 << 32) - 1;
    assert_eq!(cipher.count_elsewhere(most, 2 * most), Ok(()));
    assert!(cipher.count_elsewhere(2, 4).is_err());
    assert!(cipher.seal(&[0; 12], &[], b"the last").is_ok());
    let refused = cipher.seal(&[1; 12], &[], b"one more");
    assert!(matches!(refused, Err(Error::KeyWornOut { .. })));
}

/// A cipher with tags of four bytes, which allow 2^12 failures.
fn of_short_tags() -> Cipher {
    let suite = Suite::named("ccm", None, Some(4)).expect("a mode");
    common::cipher(Cpu::best(), suite, 1)
}

#[test]
fn failures_elsewhere_count() {
    let (cipher, nonce) = (of_short_tags(), [0; 12]);
    let sealed = cipher.seal(&nonce, &[], b"text").expect("room");
    let open = |sealed: &[u8]| cipher.open(&nonce, &[], sealed, None);
    cipher.count_failures_elsewhere((1 << 12) - 2);
    assert_eq!(open(&[0; 8]), Err(Error::NotAuthentic));
    assert_eq!(cipher.counts().failures(), (1 << 12) - 1);
    assert_eq!(open(&sealed), Ok(b"text".to_vec()));
    cipher.count_failures_elsewhere(1);
    let Err(Error::TooManyFailures { failures, .. }) = open(&sealed) else {
        panic!("a key with too many failures")
    };
    assert_eq!(failures, 4096);
    // As many as can be counted, and no fewer for one more.
    cipher.count_failures_elsewhere(u64::MAX);
    cipher.count_failures_elsewhere(1);
    assert_eq!(cipher.counts().failures(), u64::MAX);
    assert!(open(&sealed).is_err());
    assert!(cipher.seal(&nonce, &[], b"text").is_ok());
}

#[test]
fn ciphers_of_one_key_count_together() {
    let one = of_short_tags();
    let other = of_short_tags().counting(one.counts());
    let alone = of_short_tags();
    let nonce = [0; 12];
    one.seal(&nonce, &[], &[0; 40]).expect("room");
    other.seal(&nonce, &[], &[0; 40]).expect("room");
    // Of each, three blocks of text and one of associated data.
    assert_eq!([one.counts().blocks(), alone.counts().blocks()], [8, 0]);
    for cipher in [&one, &other, &one] {
        assert!(cipher.open(&nonce, &[], &[0; 8], None).is_err());
    }
    let failures = [&one, &other, &alone].map(|cipher| cipher.counts().failures());
    assert_eq!(failures, [3, 3, 0]);
    // The counts of one key go on in another process.
    let later = of_short_tags();
    let blocks = one.counts().blocks();
    later.count_elsewhere(0, blocks).expect("room");
    later.count_failures_elsewhere(one.counts().failures());
    assert_eq!([later.counts().blocks(), later.counts().failures()], [8, 3]);
}
