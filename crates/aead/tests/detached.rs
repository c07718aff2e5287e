//! Detached tags.

use sealane_aead::{Cipher, Error, Suite};
use sealane_block::Cpu;

use super::common::{cipher, is_erased, suite};

/// A nonce that the mode takes.
fn nonce(cipher: &Cipher) -> Vec<u8> {
    let lengths = [12, 16, 8, 0].into_iter();
    let mut taken = lengths.map(|bytes| vec![5; bytes]);
    let nonce = taken.find(|nonce| cipher.seal(nonce, &[], &[]).is_ok());
    nonce.expect("one of the usual lengths")
}

#[test]
fn a_tag_apart_is_the_end_of_the_sealed_message() {
    for name in Suite::names() {
        let cipher = cipher(Cpu::best(), suite(name), 3);
        let nonce = nonce(&cipher);
        let tag_bytes = cipher.suite().tag_bytes();
        for blocks in [0, 1, 2, 3, 40, 101] {
            let text = vec![0x5a; 16 * blocks];
            let sealed = cipher.seal(&nonce, &[], &text).expect("sealed");
            let (mut made, mut tag) = (text.clone(), vec![0; tag_bytes]);
            let done = cipher.seal_detached(&nonce, &[], &mut made, &mut tag);
            let suite = cipher.suite();
            if !cipher.is_detachable() {
                assert_eq!(done, Err(Error::NotDetachable { suite }), "{name}");
                assert_eq!(made, text, "{name}");
                continue;
            }
            let joined = [&made[..], &tag].concat();
            assert!(done.is_ok() && joined == sealed, "{name}");
            let done = cipher.open_detached(&nonce, &[], &mut made, &tag);
            assert!(done.is_ok() && made == text, "{name}");
            if tag_bytes > 0 {
                tag[tag_bytes - 1] ^= 1;
                let done = cipher.open_detached(&nonce, &[], &mut made, &tag);
                assert_eq!(done, Err(Error::NotAuthentic), "{name}");
                assert!(is_erased(&made), "{name}");
            }
        }
    }
}

#[test]
fn a_tag_of_another_length_is_refused_and_the_text_left() {
    let suite = Suite::named("ccm", None, Some(8)).expect("a mode");
    let cipher = cipher(Cpu::best(), suite, 3);
    let mut text = *b"meet at noon";
    for bytes in [0, 7, 9, 16, 17] {
        let (mode, known) = ("CCM", "8".to_owned());
        let refused = Err(Error::TagLength { mode, bytes, known });
        let mut tag = vec![0; bytes];
        let done = cipher.seal_detached(&[1; 12], &[], &mut text, &mut tag);
        assert_eq!(done, refused);
        let done = cipher.open_detached(&[1; 12], &[], &mut text, &tag);
        assert_eq!(done, refused);
    }
    assert_eq!(&text, b"meet at noon");
}
