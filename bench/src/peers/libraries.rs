//! AES-128-GCM of RustCrypto, ring and AWS-LC, each by its calls for one message in place.

use std::hint::black_box;

use aes_gcm::aead::{AeadInOut, KeyInit, array::Array};
use aes_gcm::{Aes128Gcm, Tag};

use crate::aead::Peer;
use crate::aead::subject::{Direction, KEYS, Slot, Subject, key};

/// All of them.
pub fn all() -> Vec<Peer> {
    let keys = || (0..KEYS).map(|number| key(number, 16));
    let rustcrypto = RustCrypto(keys().map(|key| rustcrypto_key(&key)).collect());
    let ring = Ring(keys().map(|key| ring_key(&key)).collect());
    let aws_lc = AwsLc(keys().map(|key| aws_lc_key(&key)).collect());
    vec![
        Peer::new("rustcrypto", rustcrypto),
        Peer::new("ring", ring),
        Peer::new("aws-lc", aws_lc),
    ]
}

/// The reason why no call fails: lengths are right, and nothing was altered.
const SOUND: &str = "a message in order";

/// The nonce of a message.
fn nonce(slot: &Slot) -> [u8; 12] {
    slot.nonce[..12].try_into().expect(SOUND)
}

struct RustCrypto(Vec<Aes128Gcm>);

fn rustcrypto_key(key: &[u8]) -> Aes128Gcm {
    Aes128Gcm::new_from_slice(key).expect(SOUND)
}

impl Subject for RustCrypto {
    fn set_up(&self, key: &[u8]) {
        drop(black_box(rustcrypto_key(key)));
    }
    fn one(&self, slot: &Slot, buffer: &mut [u8], way: Direction) {
        let (text, tag) = buffer.split_at_mut(slot.text);
        let (cipher, nonce, text) = (&self.0[slot.key], Array(nonce(slot)), text.into());
        if way == Direction::Seal {
            let sealed = cipher.encrypt_inout_detached(&nonce, &[], text);
            return tag.copy_from_slice(&sealed.expect(SOUND));
        }
        let tag = Tag::try_from(&*tag).expect(SOUND);
        let opened = cipher.decrypt_inout_detached(&nonce, &[], text, &tag);
        opened.expect(SOUND);
    }
}

/// ring and AWS-LC have the same interface.
macro_rules! ring_like {
    ($peer:ident, $key:ident, $library:ident) => {
        struct $peer(Vec<$library::aead::LessSafeKey>);

        fn $key(key: &[u8]) -> $library::aead::LessSafeKey {
            let key = $library::aead::UnboundKey::new(&$library::aead::AES_128_GCM, key);
            $library::aead::LessSafeKey::new(key.expect(SOUND))
        }

        impl Subject for $peer {
            fn set_up(&self, key: &[u8]) {
                let _ = black_box($key(key));
            }
            fn one(&self, slot: &Slot, buffer: &mut [u8], way: Direction) {
                use $library::aead::{Aad, Nonce};
                let (key, none) = (&self.0[slot.key], Aad::empty());
                let nonce = Nonce::assume_unique_for_key(nonce(slot));
                if way == Direction::Seal {
                    let (text, tag) = buffer.split_at_mut(slot.text);
                    let sealed = key.seal_in_place_separate_tag(nonce, none, text);
                    return tag.copy_from_slice(sealed.expect(SOUND).as_ref());
                }
                let opened = key.open_in_place(nonce, none, buffer);
                opened.expect(SOUND);
            }
        }
    };
}

ring_like!(Ring, ring_key, ring);
ring_like!(AwsLc, aws_lc_key, aws_lc_rs);
