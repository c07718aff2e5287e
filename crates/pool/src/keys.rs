//! Keys of a pool: a chain that only goes forward, and the key that wraps its head.

use sealane_aead::{Cipher, Suite};
use sealane_block::Cpu;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of a key of the chain.
const KEY_BYTES: usize = 32;
/// Bytes by which a sealed text is longer.
pub const TAG_BYTES: usize = 16;

/// The key of a batch, from which those of later batches follow, and those of earlier ones do not.
/// It stays in one place of the memory, however often its owner moves, so that dropping it erases
/// all of it.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct ChainKey(Box<[u8; KEY_BYTES]>);

impl ChainKey {
    /// A fresh random key.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn fresh() -> Result<ChainKey, getrandom::Error> {
        let mut key = ChainKey(Box::new([0; KEY_BYTES]));
        getrandom::fill(&mut key.0[..])?;
        Ok(key)
    }

    /// Goes on to the key of the batch `steps` later.
    pub fn advance(&mut self, steps: u64) {
        for _ in 0..steps {
            let old = Zeroizing::new(*self.0);
            derive("sealane pool 1 next key", &[old.as_slice()], &mut *self.0);
        }
    }

    /// The bytes, for a check that declares them secret.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut *self.0
    }

    /// The cipher of this batch of a fill. Two fills may have batches of one number, of which at
    /// most one is ever used, so the fill is hashed as well.
    pub fn cipher(&self, fill: &[u8; 16], number: u64) -> OneTime {
        let mut key = Zeroizing::new([0; 16]);
        let parts: [&[u8]; 3] = [&*self.0, fill, &number.to_le_bytes()];
        derive("sealane pool 1 batch", &parts, key.as_mut_slice());
        OneTime::new(&key)
    }
}

/// The key that wraps the state of a pool, from the private key of a party.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct WrapKey([u8; KEY_BYTES]);

impl WrapKey {
    /// The key of the pool with the party whose public key is `peer`.
    pub fn new(private: &[u8], peer: &[u8]) -> WrapKey {
        let mut key = WrapKey([0; KEY_BYTES]);
        derive("sealane pool 1 wrap", &[private, peer], &mut key.0);
        key
    }

    /// The cipher of the state with this salt, which no other state has.
    pub fn cipher(&self, salt: &[u8; 32]) -> OneTime {
        let mut key = Zeroizing::new([0; 16]);
        derive("sealane pool 1 state", &[&self.0, salt], key.as_mut_slice());
        OneTime::new(&key)
    }
}

/// AES-128-GCM under a key that encrypts one text.
pub struct OneTime(Cipher);

impl OneTime {
    fn new(key: &[u8; 16]) -> OneTime {
        // A file is the same on every tier, so an unavailable tier is no reason to refuse it.
        let cpu = Cpu::detect().unwrap_or_else(|_| Cpu::best());
        let suite = Suite::named("gcm", None, Some(TAG_BYTES)).expect("a mode of every build");
        OneTime(Cipher::new(cpu, suite, key).expect("keys of 16 bytes"))
    }

    /// Encrypts `text` in place.
    pub fn seal(self, ad: &[u8], text: &mut [u8]) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        let sealed = self.0.seal_detached(&[0; 12], ad, text, &mut tag);
        sealed.expect("a text is far shorter than the limit of the mode");
        tag
    }

    /// Decrypts `text` in place; if it is not authentic, fills it with zeros and returns false.
    pub fn open(self, ad: &[u8], text: &mut [u8], tag: &[u8; TAG_BYTES]) -> bool {
        self.0.open_detached(&[0; 12], ad, text, tag).is_ok()
    }
}

/// Fills `key` from the hash of `parts`, each of one length wherever this context is used.
fn derive(context: &'static str, parts: &[&[u8]], key: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(part);
    }
    let mut stream = hasher.finalize_xof();
    stream.fill(key);
    stream.zeroize();
    hasher.zeroize();
}
