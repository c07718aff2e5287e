//! The cipher of a segment: the one place that names an implementation of AES-128-GCM and
//! AES-128-OCB3. All else here sees [`SegmentCipher`]. A segment is long enough to fill the lanes alone.

use crate::header::Mode;
use sealane_aead::{Cipher, Suite};
use sealane_block::Cpu;

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// What was to be opened is not what was sealed.
pub struct Forged;

/// Authenticated encryption of one segment in place, under a key that it holds.
pub struct SegmentCipher(Cipher);

/// The cipher of a mode under a key.
pub fn cipher(mode: Mode, key: &[u8; 16]) -> SegmentCipher {
    let name = match mode {
        Mode::Gcm => "gcm",
        Mode::Ocb3 => "ocb3",
    };
    // A file is the same on every tier; a tier that is not to be had is no reason to lose one.
    let cpu = Cpu::detect().unwrap_or_else(|_| Cpu::best());
    let suite = Suite::named(name, None, Some(TAG_BYTES)).expect("modes of every build");
    SegmentCipher(Cipher::new(cpu, suite, key).expect("keys of 16 bytes"))
}

impl SegmentCipher {
    /// Encrypts `segment` and returns its tag. A nonce is used once in the life of a key.
    pub fn seal_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        let sealed = self.0.seal_detached(nonce, ad, segment, &mut tag);
        // Both modes take far more than the largest segment, and the largest file, of a header.
        sealed.expect("a segment is short enough for its mode");
        tag
    }

    /// Decrypts `segment` if it is authentic. Its bytes are zero where it is not.
    pub fn open_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), Forged> {
        let opened = self.0.open_detached(nonce, ad, segment, tag);
        opened.map_err(|_| Forged)
    }
}
