//! Modes as types with the traits of the `aead` crate: drop-in replacements for the types of
//! RustCrypto.
//!
//! ```
//! use sealane_aead::traits::Aes128Gcm;
//! use sealane_aead::traits::aead::{Aead, KeyInit, Payload};
//!
//! # fn main() -> Result<(), sealane_aead::traits::aead::Error> {
//! let cipher = Aes128Gcm::new(&[7; 16].into());
//! let nonce = [1; 12].into(); // a new one for each message
//! let sealed = cipher.encrypt(&nonce, Payload { msg: b"meet at noon", aad: b"to ben" })?;
//! let opened = cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"to ben" })?;
//! assert_eq!(opened, b"meet at noon");
//! assert!(cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"to eve" }).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! `Error` gives no reason, as those traits require; [`Cipher`] reports the reason. Each type
//! counts the messages that it seals, and fails when its key is worn out. None can be cloned, since
//! copies would not know of each other's count: share one, by reference or in an `Arc`.
//!
//! They run on the tier that `SEALANE_TIER` names, or the fastest one if it names none that this
//! machine can run: no call here can report a wrong name.
//!
//! Julius and COPA v2 have no type: their output is not a text of the same length with a tag, which
//! those traits assume. [`Cipher`] has all modes, versions and lengths of nonces.

use std::sync::OnceLock;

use ::aead::array::typenum::Unsigned;
use ::aead::consts::*;
use ::aead::inout::InOutBuf;
use ::aead::{AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};
use sealane_block::Cpu;
use zeroize::ZeroizeOnDrop;

use crate::lanes::Params;
use crate::registry::ModeId;
use crate::{Cipher, Suite};

pub use ::aead;

/// Returns the CPU tier of all types here.
fn cpu() -> Cpu {
    static CPU: OnceLock<Cpu> = OnceLock::new();
    *CPU.get_or_init(|| Cpu::detect().unwrap_or_else(|_| Cpu::best()))
}

/// A type for each mode: its kind and version (0 where it has one), then the bytes of key, nonce
/// and tag.
macro_rules! types {
    ($($(#[doc = $doc:literal])* $name:ident: $kind:ident $version:literal,
        $key:ident $nonce:ident $tag:ident;)*) => {
        $(
            $(#[doc = $doc])*
            pub struct $name(Cipher);

            impl KeySizeUser for $name {
                type KeySize = $key;
            }

            impl KeyInit for $name {
                fn new(key: &Key<Self>) -> Self {
                    let params = Params { tag_len: <$tag>::USIZE, version: $version };
                    let suite = Suite { kind: ModeId::$kind, params };
                    $name(Cipher::expand(cpu(), suite, key))
                }
            }

            impl AeadCore for $name {
                type NonceSize = $nonce;
                type TagSize = $tag;
                const TAG_POSITION: TagPosition = TagPosition::Postfix;
            }

            impl AeadInOut for $name {
                fn encrypt_inout_detached(
                    &self,
                    nonce: &Nonce<Self>,
                    ad: &[u8],
                    buffer: InOutBuf<'_, '_, u8>,
                ) -> Result<Tag<Self>, Error> {
                    let mut tag = Tag::<Self>::default();
                    seal(&self.0, nonce, ad, buffer, &mut tag)?;
                    Ok(tag)
                }

                fn decrypt_inout_detached(
                    &self,
                    nonce: &Nonce<Self>,
                    ad: &[u8],
                    buffer: InOutBuf<'_, '_, u8>,
                    tag: &Tag<Self>,
                ) -> Result<(), Error> {
                    let text = buffer.into_out_with_copied_in();
                    self.0.open_detached(nonce, ad, text, tag).map_err(|_| Error)
                }
            }

            impl ZeroizeOnDrop for $name {}
        )*
    };
}

with_research_types! { types!
    /// AES-128-GCM with nonces of 12 bytes and tags of 16 (NIST SP 800-38D).
    Aes128Gcm: Gcm 0, U16 U12 U16;
    /// AES-128-CCM with nonces of 12 bytes and tags of 16 (NIST SP 800-38C).
    Aes128Ccm: Ccm 0, U16 U12 U16;
    /// AES-128-OCB3 with nonces of 12 bytes and tags of 16 (RFC 7253).
    Aes128Ocb3: Ocb3 0, U16 U12 U16;
}

/// Seals from one buffer into another, or in place. A refused text is not copied either.
fn seal(
    cipher: &Cipher,
    nonce: &[u8],
    ad: &[u8],
    buffer: InOutBuf<'_, '_, u8>,
    tag: &mut [u8],
) -> Result<(), Error> {
    cipher
        .start_detached(nonce, ad, buffer.len(), tag.len())
        .map_err(|_| Error)?;
    let text = buffer.into_out_with_copied_in();
    cipher.seal_started(nonce, ad, text, tag);
    Ok(())
}
