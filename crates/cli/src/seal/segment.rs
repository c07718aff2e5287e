//! The cipher of a segment: the one place that names an implementation of AES-128-GCM and
//! AES-128-OCB3. All else here sees [`SegmentCipher`].

use super::header::Mode;
use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, KeyInit, array::Array};
use aes_gcm::aes::Aes128;

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// What was to be opened is not what was sealed.
pub struct Forged;

/// Authenticated encryption of one segment in place, under a key that it holds.
pub trait SegmentCipher {
    /// Encrypts `segment` and returns its tag. A nonce is used once in the life of a key.
    fn seal_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
    ) -> [u8; TAG_BYTES];

    /// Decrypts `segment` if it is authentic. Its bytes are of no use where it is not.
    fn open_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Forged>;
}

/// The cipher of a mode under a key.
pub fn cipher(mode: Mode, key: &[u8; 16]) -> Box<dyn SegmentCipher> {
    let key = key.into();
    match mode {
        Mode::Gcm => Box::new(aes_gcm::Aes128Gcm::new(key)),
        Mode::Ocb3 => Box::new(ocb3::Ocb3::<Aes128>::new(key)),
    }
}

impl<C: AeadInOut<NonceSize = U12, TagSize = U16>> SegmentCipher for C {
    fn seal_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let sealed = self.encrypt_inout_detached(&Array(*nonce), ad, segment.into());
        // Both modes take far more than the largest segment of a header.
        sealed.expect("a segment is short enough for its mode").0
    }

    fn open_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Forged> {
        self.decrypt_inout_detached(&Array(*nonce), ad, segment.into(), &Array(*tag))
            .map_err(|_| Forged)
    }
}
