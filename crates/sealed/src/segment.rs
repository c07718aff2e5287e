//! The cipher of a segment. Only this file names an implementation of AES-128-GCM and AES-128-OCB3;
//! all other code uses [`SegmentCipher`]. A segment is long enough to fill the lanes alone.

use crate::header::Mode;
use sealane_aead::{Cipher, Suite};
use sealane_block::Cpu;

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// Error for a segment that is not authentic.
pub struct NotAuthentic;

/// Authenticated encryption of segments in place under one key.
pub struct SegmentCipher(Cipher);

/// Creates the cipher of a mode under a key.
pub fn cipher(mode: Mode, key: &[u8; 16]) -> SegmentCipher {
    let name = match mode {
        Mode::Gcm => "gcm",
        Mode::Ocb3 => "ocb3",
    };
    // A file is the same on every tier, so an unavailable tier is no reason to refuse it.
    let cpu = Cpu::detect().unwrap_or_else(|_| Cpu::best());
    let suite = Suite::named(name, None, Some(TAG_BYTES)).expect("modes of every build");
    SegmentCipher(Cipher::new(cpu, suite, key).expect("keys of 16 bytes"))
}

impl SegmentCipher {
    /// Encrypts `segment` and returns its tag. A nonce is used only once under a key.
    pub fn seal_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        let sealed = self.0.seal_detached(nonce, ad, segment, &mut tag);
        // The limits of both modes are far above the largest segment and the largest file of a
        // header.
        sealed.expect("a segment is short enough for its mode");
        tag
    }

    /// Decrypts `segment` if it is authentic; otherwise fills it with zeros.
    pub fn open_segment(
        &self,
        nonce: &[u8; NONCE_BYTES],
        ad: &[u8],
        segment: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> Result<(), NotAuthentic> {
        let opened = self.0.open_detached(nonce, ad, segment, tag);
        opened.map_err(|_| NotAuthentic)
    }
}
