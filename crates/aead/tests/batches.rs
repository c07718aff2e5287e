//! Batches against single messages, and against other implementations: random lengths, keys, nonces
//! and orders, on every tier; wrong messages among right ones; limits by name.

use aead::{Aead, AeadCore, KeyInit, Payload, consts::U12};
use proptest::prelude::*;
use sealane_aead::{Ads, Cipher, Done, Error, Message, RowBatch, Suite, open_many, seal_many};
use sealane_block::Cpu;

use super::common::{cipher, distinct, is_erased, suite, with_room};

/// A message, by the numbers that make it.
#[derive(Clone, Debug)]
struct Plan {
    key: usize,
    text: usize,
    ad: usize,
    nonce: usize,
    seed: u8,
}

/// Lengths from empty to several rounds of lanes, most of them around blocks.
fn plans(count: usize) -> impl Strategy<Value = Vec<Plan>> {
    let length = prop_oneof![
        0..=17usize,
        (0..=9usize, 0..3usize).prop_map(|(blocks, more)| (16 * blocks + more).saturating_sub(1)),
        0..=700usize,
    ];
    let ad = prop_oneof![Just(0usize), 0..=40usize, 0..=300usize];
    let plan = (0..3usize, length, ad, 0..=3usize, any::<u8>());
    let plan = plan.prop_map(|(key, text, ad, nonce, seed)| Plan {
        key,
        text,
        ad,
        nonce,
        seed,
    });
    proptest::collection::vec(plan, 1..count)
}

pub(crate) fn bytes(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8 ^ seed).collect()
}

/// Every suite of this build with its versions.
pub(crate) fn suites() -> Vec<Suite> {
    let versions = [None, Some("v1"), Some("v2"), Some("v3")];
    let named = Suite::names().flat_map(|name| {
        versions
            .iter()
            .filter_map(move |version| Suite::named(name, *version, None).ok())
    });
    distinct(named)
}

/// A message that the suite takes, near to the plan.
struct Made {
    key: usize,
    nonce: Vec<u8>,
    ad: Vec<u8>,
    text: Vec<u8>,
}

impl Made {
    /// The message in a buffer, under its key.
    fn message<'a>(&'a self, ciphers: &'a [Cipher], buffer: Vec<u8>) -> Borrowed<'a> {
        let (cipher, text) = (&ciphers[self.key], Some(self.text.len()));
        Message::new(cipher, &self.nonce, &self.ad, buffer, text)
    }
}

type Borrowed<'a> = Message<&'a Cipher, &'a Vec<u8>, &'a Vec<u8>, Vec<u8>>;

fn make(suite: Suite, cipher: &Cipher, plan: &Plan) -> Made {
    // Other lengths of nonces in one batch, where the mode has them.
    let lengths = [suite.nonce_bytes(), 7, 13, 16];
    let fits = |nonce: usize| {
        let sealed = cipher.seal(&bytes(plan.seed, nonce), &[], &[]);
        !matches!(sealed, Err(Error::NonceLength { .. }))
    };
    let nonce = Some(lengths[plan.nonce])
        .filter(|&nonce| fits(nonce))
        .unwrap_or(lengths[0]);
    let blocks = ["ecb", "cbc"].contains(&suite.name());
    let bare = blocks || suite.name() == "ctr";
    Made {
        key: plan.key,
        nonce: bytes(plan.seed, nonce),
        ad: bytes(!plan.seed, if bare { 0 } else { plan.ad }),
        text: bytes(
            plan.seed / 2,
            if blocks {
                plan.text / 16 * 16
            } else {
                plan.text
            },
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Each result of a batch is that of the message alone; one that was changed fails alone.
    #[test]
    fn a_batch_is_its_messages(plans in plans(70), own in any::<bool>(), wrong in any::<usize>()) {
        for cpu in Cpu::available() {
            for suite in suites() {
                let ciphers: Vec<Cipher> = (0..3u8)
                    .map(|key| Cipher::new(cpu, suite, &bytes(key, suite.key_bytes())).expect("a key"))
                    .collect();
                let mut made: Vec<Made> =
                    plans.iter().map(|plan| make(suite, &ciphers[0], plan)).collect();
                if !own {
                    made.iter_mut().for_each(|made| made.key = 0);
                }
                let alone: Vec<Vec<u8>> = made
                    .iter()
                    .map(|m| ciphers[m.key].seal(&m.nonce, &m.ad, &m.text).expect("sealed"))
                    .collect();
                let messages = made.iter().map(|m| {
                    m.message(&ciphers, with_room(&ciphers[m.key], &m.text))
                });
                // Few seeds make many equal nonces.
                let messages = seal_many(messages).with_equal_nonces();
                let sealed: Vec<Done<Vec<u8>>> = messages.collect();
                prop_assert_eq!(sealed.len(), alone.len());
                for (done, alone) in sealed.iter().zip(&alone) {
                    prop_assert_eq!(&done.result, &Ok(alone.len()));
                    prop_assert!(&done.buffer == alone, "{} on {}", suite, cpu.tier());
                }
                let wrong = wrong % alone.len();
                let authentic = suite.name() == "julius" || suite.tag_bytes() > 0;
                let messages = made.iter().zip(&alone).enumerate().map(|(place, (m, sealed))| {
                    let mut buffer = sealed.clone();
                    if place == wrong && authentic {
                        let at = buffer.len() / 2;
                        buffer[at] ^= 1;
                    }
                    m.message(&ciphers, buffer)
                });
                for (place, (done, m)) in open_many(messages).zip(&made).enumerate() {
                    if place == wrong && authentic {
                        prop_assert_eq!(done.result, Err(Error::NotAuthentic));
                        prop_assert!(is_erased(&done.buffer));
                    } else {
                        prop_assert_eq!(done.result, Ok(m.text.len()), "{} {}", suite, cpu.tier());
                        prop_assert!(done.buffer.starts_with(&m.text), "{}", suite);
                    }
                }
            }
        }
    }

    /// Each row gives the result of the message alone, with shared or separate associated data; a
    /// changed one fails alone.
    #[test]
    fn rows_are_their_messages(
        plan in plans(2), count in 0..70usize, same in any::<bool>(), wrong in any::<usize>()
    ) {
        for cpu in Cpu::available() {
            for suite in suites() {
                let cipher = Cipher::new(cpu, suite, &bytes(1, suite.key_bytes())).expect("a key");
                let made: Vec<Made> = (0..count).map(|row| {
                    let seed = plan[0].seed.wrapping_add(row as u8);
                    let mut made = make(suite, &cipher, &Plan { seed, ..plan[0] });
                    if same {
                        made.ad = bytes(5, made.ad.len());
                    }
                    made
                }).collect();
                let ad = made.first().map_or(&[][..], |made| &made.ad).to_vec();
                let nonces: Vec<u8> = made.iter().flat_map(|made| made.nonce.clone()).collect();
                let ads: Vec<u8> = made.iter().flat_map(|made| made.ad.clone()).collect();
                let text = made.first().map_or(0, |made| made.text.len());
                let sealed = cipher.sealed_len(text);
                let mut buffers: Vec<u8> =
                    made.iter().flat_map(|made| with_room(&cipher, &made.text)).collect();
                fn rows<'a>(
                    (cipher, count, text): (&'a Cipher, usize, usize),
                    nonces: &'a [u8],
                    ads: Ads<'a>,
                    buffers: &'a mut [u8],
                ) -> RowBatch<'a> {
                    RowBatch { cipher, count, nonces, ads, buffers, text: Some(text) }
                }
                let ads = if same { Ads::Same(&ad) } else { Ads::Each(&ads) };
                let all = (&cipher, count, text);
                let done = rows(all, &nonces, ads, &mut buffers).seal_with_equal_nonces();
                if text == 0 && nonces.is_empty() && count > 0 {
                    let nothing = matches!(done, Err(Error::UnevenRows { bytes: 0, .. }));
                    prop_assert!(nothing, "any number of messages would do");
                    continue;
                }
                prop_assert_eq!(done, Ok(()));
                for (row, made) in buffers.chunks(sealed.max(1)).zip(&made) {
                    let alone = cipher.seal(&made.nonce, &made.ad, &made.text).expect("sealed");
                    prop_assert!(row == alone, "{} on {}", suite, cpu.tier());
                }
                let wrong = wrong % count.max(1);
                let authentic = suite.name() == "julius" || suite.tag_bytes() > 0;
                if authentic && count > 0 {
                    buffers[wrong * sealed + sealed / 2] ^= 1;
                }
                let opened = rows(all, &nonces, ads, &mut buffers).open().expect("lengths");
                prop_assert_eq!(opened.len(), count);
                for (row, (opened, made)) in opened.into_iter().zip(&made).enumerate() {
                    let buffer = &buffers[row * sealed..][..sealed];
                    if authentic && row == wrong {
                        prop_assert_eq!(opened, None);
                        prop_assert!(is_erased(buffer));
                    } else {
                        prop_assert_eq!(opened, Some(text), "{} {}", suite, cpu.tier());
                        prop_assert!(buffer.starts_with(&made.text), "{}", suite);
                    }
                }
            }
        }
    }

    /// GCM, CCM and OCB3 are those of RustCrypto.
    #[test]
    fn everyday_modes_are_those_of_others(plans in plans(40)) {
        for cpu in Cpu::available() {
            same::<aes_gcm::Aes128Gcm>(cpu, "gcm", &plans)?;
            same::<ccm::Ccm<aes::Aes128, aead::consts::U16, U12>>(cpu, "ccm", &plans)?;
            same::<ocb3::Ocb3<aes::Aes128>>(cpu, "ocb3", &plans)?;
        }
    }
}

fn same<A: Aead + KeyInit + AeadCore<NonceSize = U12>>(
    cpu: Cpu,
    name: &str,
    plans: &[Plan],
) -> Result<(), TestCaseError> {
    let key = bytes(9, 16);
    let other = A::new_from_slice(&key).expect("a key");
    let cipher = Cipher::new(cpu, suite(name), &key).expect("a key");
    let parts = plans.iter().map(|plan| {
        let (ad, text) = (bytes(!plan.seed, plan.ad), bytes(plan.seed, plan.text));
        ([plan.seed; 12], ad, text)
    });
    let parts: Vec<_> = parts.collect();
    let messages = parts
        .iter()
        .map(|(nonce, ad, text)| Message::new(&cipher, nonce, ad, with_room(&cipher, text), None));
    let sealed = seal_many(messages).with_equal_nonces();
    for (done, (nonce, aad, msg)) in sealed.zip(&parts) {
        let expected = other.encrypt(&(*nonce).into(), Payload { msg, aad });
        let same = done.buffer == expected.expect("sealed");
        prop_assert!(same, "{} on {}", name, cpu.tier());
        let opened = cipher.open(nonce, aad, &done.buffer, None);
        prop_assert!(opened.as_ref() == Ok(msg));
    }
    Ok(())
}

#[test]
fn what_a_mode_does_not_take_has_a_name() {
    use Error::{
        BufferLength, KeyLength, MixedBatch, NoAssociatedData, NonceLength, NonceRepeated,
        SealedLength, TagLength, TextTooLong, UnevenRows, UnknownMode, UnknownVersion, WholeBlocks,
    };
    let cpu = Cpu::detect().expect("a processor");
    let cipher = |name: &str| cipher(cpu, suite(name), 7);
    let named = |name, version, tag| Suite::named(name, version, tag).expect_err("refused");
    let mode = named("gcmm", None, None);
    assert!(matches!(mode, UnknownMode { .. }));
    let version = named("gcm", Some("v1"), None);
    assert!(matches!(version, UnknownVersion { .. }));
    let tag = named("ccm", None, Some(5));
    assert!(matches!(tag, TagLength { bytes: 5, .. }));
    let key = Cipher::new(cpu, suite("gcm"), &[7; 32]).err();
    let Some(KeyLength { bytes, needed, .. }) = key else {
        panic!("{key:?}")
    };
    assert_eq!((bytes, needed), (32, 16));

    let nonce = cipher("ccm").seal(&[0; 6], &[], &[]);
    assert!(matches!(nonce, Err(NonceLength { bytes: 6, .. })));
    // Thirteen bytes of nonce leave two for the length.
    let long = cipher("ccm").seal(&[0; 13], &[], &[0; 65536]);
    let Err(TextTooLong { bytes, most, .. }) = long else {
        panic!("{long:?}")
    };
    assert_eq!((bytes, most), (65536, 65535));
    let blocks = cipher("cbc").seal(&[0; 16], &[], &[0; 17]);
    assert!(matches!(blocks, Err(WholeBlocks { bytes: 17, .. })));
    let ad = cipher("ctr").seal(&[0; 16], &[1], &[]);
    assert!(matches!(ad, Err(NoAssociatedData { .. })));
    let short = cipher("gcm").open(&[0; 12], &[], &[0; 15], None);
    assert!(matches!(short, Err(SealedLength { bytes: 15, .. })));
    let buffer_length = |bytes| Err(BufferLength { bytes, needed: 36 });
    let buffer = cipher("gcm").seal_in_place(&[0; 12], &[], &mut [0; 40], 20);
    assert_eq!(buffer.map(|_| ()), buffer_length(40));

    let gcm = cipher("gcm");
    let rows = |nonces, bytes: usize| {
        let rows = RowBatch {
            cipher: &gcm,
            count: 3,
            nonces,
            ads: Ads::Same(&[]),
            buffers: &mut vec![0; bytes],
            text: Some(20),
        };
        rows.seal()
    };
    let counted = [[1; 12], [2; 12], [3; 12]];
    assert_eq!(rows(counted.as_flattened(), 108), Ok(()));
    let (first, number) = (0, 1);
    let repeated = Err(NonceRepeated { first, number });
    assert_eq!(rows(&[0; 36], 108), repeated);
    let nonces = rows(&[0; 35], 108);
    let Err(UnevenRows { bytes, count, .. }) = nonces else {
        panic!("{nonces:?}")
    };
    assert_eq!((bytes, count), (35, 3));
    let no_nonces = rows(&[], 108);
    assert!(matches!(no_nonces, Err(NonceLength { bytes: 0, .. })));
    let uneven = rows(&[0; 36], 109);
    assert!(matches!(uneven, Err(UnevenRows { bytes: 109, .. })));
    assert_eq!(rows(&[0; 36], 105), buffer_length(35));

    let (one, other) = (cipher("gcm"), cipher("ocb3"));
    let message = |cipher| Message::new(cipher, [0; 12], [], vec![0; 36], None);
    let mixed = seal_many([message(&one), message(&other), message(&one)]);
    let mixed: Vec<_> = mixed.with_equal_nonces().collect();
    assert_eq!((&mixed[0].result, &mixed[2].result), (&Ok(36), &Ok(36)));
    assert!(matches!(mixed[1].result, Err(MixedBatch { .. })));
}

/// A nonce that a batch has used before under the same key fails its message alone, regardless of
/// the messages between them; under another key, or of a message that was not sealed, it is new.
#[test]
fn a_nonce_is_sealed_with_once() {
    let cpu = Cpu::detect().expect("a processor");
    let ciphers = [1, 2].map(|key| cipher(cpu, suite("gcm"), key));
    let nonce = |number: u16| [&[7; 10], &number.to_be_bytes()[..]].concat();
    // More than a window, and each as its own object, at whose place another one may come to lie.
    let many = (0..1100).map(|number| (0, nonce(number)));
    let extra = [
        (0, nonce(3)),
        (1, nonce(3)),
        (0, vec![]),
        (1, nonce(4)),
        (1, nonce(3)),
    ];
    let messages = many
        .chain(extra)
        .map(|(key, nonce)| Message::new(&ciphers[key], nonce, [], vec![9; 20], Some(4)));
    let refused = |messages: Vec<Done<Vec<u8>>>| -> Vec<(usize, Error)> {
        let results = messages.into_iter().map(|done| done.result).enumerate();
        let errors = results.filter_map(|(number, result)| Some((number, result.err()?)));
        errors.collect()
    };
    let again = |number, first| (number, Error::NonceRepeated { first, number });
    let found = refused(seal_many(messages.clone()).collect());
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], again(1100, 3));
    assert_eq!(found[2], again(1104, 1101));
    assert!(matches!(found[1], (1102, Error::NonceLength { .. })));
    let found = refused(seal_many(messages).with_equal_nonces().collect());
    assert!(matches!(found[..], [(1102, Error::NonceLength { .. })]));

    let owned = (0..1100u16).map(|number| Message {
        cipher: cipher(cpu, suite("gcm"), number as u8),
        nonce: [7; 12],
        ad: [],
        buffer: vec![9; 20],
        text: Some(4),
    });
    assert!(seal_many(owned).all(|done| done.result == Ok(20)));
}

/// Messages that are not authentic are erased even if no result is requested.
#[test]
fn what_did_not_open_is_wiped_though_nobody_asks() {
    let cpu = Cpu::detect().expect("a processor");
    for name in ["gcm", "ccm", "ocb3"] {
        let cipher = cipher(cpu, suite(name), 3);
        let sealed = cipher.seal(&[1; 12], b"", &[0xaa; 10_000]).expect("sealed");
        let mut buffers = vec![sealed; 20];
        buffers[3][0] ^= 1;
        buffers[17][9_999] ^= 1;
        let messages = buffers
            .iter_mut()
            .map(|buffer| Message::new(&cipher, [1; 12], [], &mut buffer[..], None));
        let first = open_many(messages).next().expect("a message");
        assert!(first.result.is_ok(), "{name}");
        for (number, buffer) in buffers.iter().enumerate() {
            let wrong = [3, 17].contains(&number);
            assert_eq!(is_erased(buffer), wrong, "{name} {number}");
        }
    }
}

/// A batch may be longer than any window, and is pulled a window at a time.
#[test]
fn a_batch_is_pulled_as_it_is_needed() {
    let cpu = Cpu::detect().expect("a processor");
    let cipher = cipher(cpu, suite("ocb3"), 3);
    let pulled = std::cell::Cell::new(0u32);
    let messages = (0..5000u32).map(|number| {
        pulled.set(pulled.get() + 1);
        let nonce = [&[0; 8], &number.to_be_bytes()[..]].concat();
        let buffer = vec![number as u8; 16 + number as usize % 90];
        Message::new(&cipher, nonce, b"header", buffer, None)
    });
    let mut done = seal_many(messages);
    let first = done.next().expect("a message");
    assert_eq!(first.result, Ok(16));
    assert!(pulled.get() < 1000, "{}", pulled.get());
    assert_eq!(done.count(), 4999);
    assert_eq!(pulled.get(), 5000);
}
