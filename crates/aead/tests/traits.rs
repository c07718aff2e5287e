//! The same calls, through the traits of the `aead` crate, give the same bytes as RustCrypto's
//! modes.

use aead::array::typenum::Unsigned;
use aead::inout::InOutBuf;
use aead::{Aead, AeadInOut, Error, Key, KeyInit, Nonce, Payload, Tag};
use aes::Aes128;
use aes::cipher::consts::{U12, U16};
use sealane_aead::{Cipher, Suite, traits};
use sealane_block::Cpu;

/// Bytes that differ from message to message.
fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count)
        .map(|i| (((i + 1) * (2 * seed + 3)) >> 2) as u8)
        .collect()
}

fn payload<'a>(msg: &'a [u8], aad: &'a [u8]) -> Payload<'a, 'a> {
    Payload { msg, aad }
}

/// The calls of a program on texts of many lengths, with all outputs.
fn calls<M: AeadInOut + KeyInit>() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let lengths = (0..70).chain([255, 256, 257, 1000, 4096, 10_007]);
    for (seed, len) in lengths.enumerate() {
        let key = Key::<M>::try_from(&bytes(seed, 16)[..]).expect("a key");
        let nonce = Nonce::<M>::try_from(&bytes(seed + 1, 12)[..]).expect("a nonce");
        let (mode, text, ad) = (M::new(&key), bytes(seed, len), bytes(seed, seed % 41));

        let sealed = mode.encrypt(&nonce, payload(&text, &ad)).expect("sealed");
        let opened = mode.decrypt(&nonce, payload(&sealed, &ad));
        assert_eq!(opened.as_deref(), Ok(&text[..]));

        let mut buffer = text.clone();
        let done = mode.encrypt_in_place(&nonce, &ad, &mut buffer);
        assert!(done.is_ok() && buffer == sealed);
        let done = mode.decrypt_in_place(&nonce, &ad, &mut buffer);
        assert!(done.is_ok() && buffer == text);

        let mut apart = vec![0xaa; len];
        let both = InOutBuf::new(&text, &mut apart).expect("of one length");
        let tag = mode
            .encrypt_inout_detached(&nonce, &ad, both)
            .expect("sealed");
        assert!(apart == sealed[..len] && tag[..] == sealed[len..]);
        let mut again = vec![0xaa; len];
        let both = InOutBuf::new(&apart, &mut again).expect("of one length");
        let done = mode.decrypt_inout_detached(&nonce, &ad, both, &tag);
        assert!(done.is_ok() && again == text);

        // With any change, nothing opens.
        for at in [0, len / 2, len, len + 15] {
            let mut changed = sealed.clone();
            changed[at] ^= 4;
            let opened = mode.decrypt(&nonce, payload(&changed, &ad));
            assert_eq!(opened, Err(Error));
        }
        let opened = mode.decrypt(&nonce, payload(&sealed, b"other data"));
        assert_eq!(opened, Err(Error));
        assert_eq!(mode.decrypt(&nonce, &sealed[..15.min(len)]), Err(Error));
        out.extend([sealed, tag.to_vec()]);
    }
    out
}

#[test]
fn gcm_is_that_of_rustcrypto() {
    assert!(calls::<traits::Aes128Gcm>() == calls::<aes_gcm::Aes128Gcm>());
}

#[test]
fn ccm_is_that_of_rustcrypto() {
    assert!(calls::<traits::Aes128Ccm>() == calls::<ccm::Ccm<Aes128, U16, U12>>());
}

#[test]
fn ocb3_is_that_of_rustcrypto() {
    assert!(calls::<traits::Aes128Ocb3>() == calls::<ocb3::Ocb3<Aes128>>());
}

/// A type seals as the cipher does whose mode, version and length of tag it stands for.
fn is_the_mode<M: AeadInOut + KeyInit>(name: &str, version: Option<&str>) {
    let suite = Suite::named(name, version, Some(M::TagSize::USIZE)).expect("a mode");
    let (key, nonce) = (Key::<M>::default(), Nonce::<M>::default());
    let cipher = Cipher::new(Cpu::best(), suite, &key).expect("a key of its length");
    let (text, ad) = (bytes(1, 100), bytes(2, 20));
    let sealed = M::new(&key).encrypt(&nonce, payload(&text, &ad));
    assert_eq!(sealed.ok(), cipher.seal(&nonce, &ad, &text).ok(), "{suite}");
    assert!(cipher.seal(&nonce, &ad, &text).is_ok(), "{suite}");
}

#[test]
fn every_type_is_the_mode_that_it_names() {
    is_the_mode::<traits::Aes128Gcm>("gcm", None);
    is_the_mode::<traits::Aes128Ccm>("ccm", None);
    is_the_mode::<traits::Aes128Ocb3>("ocb3", None);
}

#[cfg(feature = "research")]
#[test]
fn every_type_for_research_is_the_mode_that_it_names() {
    is_the_mode::<traits::Aes128OtrV1>("otr", Some("v1"));
    is_the_mode::<traits::Aes128ClocV1>("cloc", Some("v1"));
    is_the_mode::<traits::Aes128SilcV1>("silc", Some("v1"));
    is_the_mode::<traits::Aes128Jambu>("jambu", Some("v1"));
    is_the_mode::<traits::Aes128CopaV1>("copa", Some("v1"));
    is_the_mode::<traits::Aes128PoetV1>("poet", Some("v1"));
    is_the_mode::<traits::Aes128McoeG>("mcoe_g", None);
    is_the_mode::<traits::Aes128CobraR1>("cobra_r1", None);
}

/// RustCrypto's types leave a message that did not open as it came; ours erase it.
#[test]
fn nothing_is_left_of_what_does_not_open() {
    fn left<M: AeadInOut + KeyInit>() -> Vec<u8> {
        let mode = M::new(&Key::<M>::default());
        let mut text = vec![7; 100];
        let buffer = InOutBuf::from(&mut text[..]);
        let opened =
            mode.decrypt_inout_detached(&Nonce::<M>::default(), &[], buffer, &Tag::<M>::default());
        assert_eq!(opened, Err(Error));
        text
    }
    assert_eq!(left::<traits::Aes128Gcm>(), [0; 100]);
    assert_eq!(left::<traits::Aes128Ccm>(), [0; 100]);
    assert_eq!(left::<traits::Aes128Ocb3>(), [0; 100]);
}
