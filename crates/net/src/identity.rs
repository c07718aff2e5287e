//! Network identity of a party: an Ed25519 key, pinned by its peers.
//!
//! There is no certificate, no name in the key and no date. Parties exchange public keys once, over
//! a channel that they trust, and write them into their configurations. The private key is stored
//! in a PKCS#8 file (RFC 8410, DER) that only its owner can read. Its bytes are zeroed when an
//! identity is dropped; the expanded key that the TLS library derives for a handshake is not.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

use crate::error::NetError;
use sealane_files::private_file;

/// All bytes before the seed in the PKCS#8 form of an Ed25519 private key (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
];

/// All bytes before the key in the form of an Ed25519 public key (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// Longest key file; no Ed25519 key file is longer, and a longer one is refused before it is read.
const MAX_KEY_FILE_BYTES: usize = 1024;

/// Domain separator of the hash of fingerprints.
const FINGERPRINT_CONTEXT: &str = "sealane 2026 fingerprint of a public key";

/// Groups of five digits in a fingerprint.
const FINGERPRINT_GROUPS: usize = 6;

/// Prefix of a public key in text.
const TEXT_PREFIX: &str = "ed25519:";

/// The public half of an [`Identity`]: `ed25519:` and 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Bytes of the key, for hashing.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses the key from its SubjectPublicKeyInfo, the form in TLS. Returns none for another kind
    /// of key.
    pub(crate) fn from_spki(spki: &[u8]) -> Option<PublicKey> {
        let key = spki.strip_prefix(&SPKI_PREFIX)?;
        Some(PublicKey(key.try_into().ok()?))
    }

    /// Thirty digits of a hash of this key, in groups of five, for people to compare by voice.
    ///
    /// To impersonate the holder of a key, an attacker has to find another key with the same
    /// fingerprint: 10^30 tries, or 99.6 bits, if all digits are compared; 10^20 tries, or 66.4
    /// bits, if it is known which ten are not, and 43.0 bits if any ten may differ. (This is a
    /// fingerprint of one key and not of a pair of keys, since for a pair an attacker could choose
    /// both keys, which would lose half of the bits.)
    pub fn fingerprint(self) -> String {
        let mut bytes = [0; 8 * FINGERPRINT_GROUPS];
        let mut hasher = blake3::Hasher::new_derive_key(FINGERPRINT_CONTEXT);
        hasher.update(&self.0).finalize_xof().fill(&mut bytes);
        let (numbers, _) = bytes.as_chunks::<8>();
        // The remainder of 64 bits is uniform to one part in 2^47.
        let group = |number: &[u8; 8]| format!("{:05}", u64::from_le_bytes(*number) % 100_000);
        let groups: Vec<_> = numbers.iter().map(group).collect();
        groups.join(" ")
    }

    /// The SubjectPublicKeyInfo of this key.
    pub(crate) fn to_spki(self) -> Vec<u8> {
        [&SPKI_PREFIX[..], &self.0].concat()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TEXT_PREFIX}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<PublicKey, PublicKeyError> {
        let digits = text
            .trim()
            .strip_prefix(TEXT_PREFIX)
            .ok_or(PublicKeyError)?;
        let mut key = [0; 32];
        hex::decode_to_slice(digits, &mut key).map_err(|_| PublicKeyError)?;
        Ok(PublicKey(key))
    }
}

/// Error for a text that is not a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a public key is written as ed25519: and 64 hexadecimal digits")]
pub struct PublicKeyError;

/// Private key of a party. It can be stored and used, never printed; zeroed when dropped.
pub struct Identity {
    pkcs8: Zeroizing<Vec<u8>>,
    public: PublicKey,
}

impl Identity {
    /// Generates a fresh identity from the randomness of the operating system.
    ///
    /// # Panics
    /// If the operating system provides no randomness.
    pub fn generate() -> Identity {
        let mut pkcs8 = Zeroizing::new([PKCS8_PREFIX.as_slice(), &[0; 32]].concat());
        SystemRandom::new()
            .fill(&mut pkcs8[PKCS8_PREFIX.len()..])
            .expect("the operating system supplies randomness");
        Identity::from_pkcs8(pkcs8).expect("any 32 bytes are an Ed25519 seed")
    }

    /// Public key, which peers pin.
    pub fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Stores the key at `path`, readable by its owner alone. The file appears whole or not at all,
    /// and an existing file is never replaced.
    ///
    /// # Errors
    /// [`NetError::KeyFile`].
    pub fn save(&self, path: &Path) -> Result<(), NetError> {
        private_file::save(path, &self.pkcs8).map_err(|error| key_file(path, &error.to_string()))
    }

    /// Loads the key from `path`.
    ///
    /// # Errors
    /// [`NetError::KeyFile`] if there is no such file, if it is no Ed25519 key, or if users other
    /// than its owner may read it.
    pub fn load(path: &Path) -> Result<Identity, NetError> {
        let pkcs8 = private_file::load(path, MAX_KEY_FILE_BYTES)
            .map_err(|error| key_file(path, &error.to_string()))?;
        Identity::from_pkcs8(pkcs8).ok_or_else(|| key_file(path, "it holds no Ed25519 PKCS#8 key"))
    }

    /// Writes the key to `to`, such as a pipe to a process of the same user that is to be this
    /// party. The key is not stored in a file.
    ///
    /// # Errors
    /// The errors of `to`.
    pub fn hand_over(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.pkcs8)
    }

    /// Reads the key that [`Identity::hand_over`] wrote, and no byte more.
    ///
    /// # Errors
    /// The errors of `from`, and [`io::ErrorKind::InvalidData`] if the bytes are not such a key.
    pub fn take_over(from: &mut impl Read) -> io::Result<Identity> {
        let mut pkcs8 = Zeroizing::new(vec![0; PKCS8_PREFIX.len() + 32]);
        from.read_exact(&mut pkcs8)?;
        Identity::from_pkcs8(pkcs8).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// PKCS#8 form, for the TLS library.
    pub(crate) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    fn from_pkcs8(pkcs8: Zeroizing<Vec<u8>>) -> Option<Identity> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Identity { pkcs8, public })
    }
}

fn key_file(path: &Path, cause: &str) -> NetError {
    NetError::KeyFile(path.display().to_string(), cause.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Private and public key of RFC 8032, section 7.1, test 1.
    const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    #[test]
    fn a_stored_key_of_the_standard_has_the_public_key_of_the_standard() {
        let seed: PublicKey = format!("ed25519:{SEED}").parse().unwrap();
        let pkcs8 = Zeroizing::new([PKCS8_PREFIX.as_slice(), &seed.0].concat());
        let identity = Identity::from_pkcs8(pkcs8).unwrap();
        assert_eq!(
            identity.public_key().to_string(),
            format!("ed25519:{PUBLIC}")
        );
    }

    #[test]
    fn a_fingerprint_is_the_documented_hash() {
        // From the reference implementation of BLAKE3 by its Python binding.
        let key: PublicKey = format!("ed25519:{PUBLIC}").parse().unwrap();
        let expected = "85648 40775 05067 70179 20156 39476";
        assert_eq!(key.fingerprint(), expected);
    }

    #[test]
    fn public_keys_survive_text_and_spki_and_refuse_anything_else() {
        let key = Identity::generate().public_key();
        assert_eq!(key.to_string().parse(), Ok(key));
        assert_eq!(PublicKey::from_spki(&key.to_spki()), Some(key));
        let long = format!("{key}0");
        let odd = key
            .to_string()
            .replace("ed25519:", "ed25519:+")
            .split_off(0);
        for bad in ["", "ed25519:", "rsa:00", &long, &odd, &key.to_string()[8..]] {
            assert_eq!(bad.parse::<PublicKey>(), Err(PublicKeyError), "{bad}");
        }
        assert_eq!(PublicKey::from_spki(&key.to_spki()[1..]), None);
    }

    #[test]
    fn a_saved_identity_loads_is_private_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hospital.key");
        let identity = Identity::generate();
        identity.save(&path).unwrap();
        assert_eq!(
            Identity::load(&path).unwrap().public_key(),
            identity.public_key()
        );
        assert!(matches!(
            Identity::generate().save(&path),
            Err(NetError::KeyFile(..))
        ));
        assert_eq!(
            Identity::load(&path).unwrap().public_key(),
            identity.public_key()
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        Identity::generate().save(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Identity::load(&path).err().unwrap().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        private_file::save(&path, b"not a key").unwrap();
        assert!(matches!(Identity::load(&path), Err(NetError::KeyFile(..))));
    }

    #[test]
    fn a_key_that_is_handed_over_is_the_same_and_takes_no_byte_more() {
        let identity = Identity::generate();
        let mut pipe = Vec::new();
        identity.hand_over(&mut pipe).unwrap();
        pipe.extend_from_slice(b"next");
        let mut from = pipe.as_slice();
        let taken = Identity::take_over(&mut from).unwrap();
        assert_eq!(
            (taken.public_key(), from),
            (identity.public_key(), &b"next"[..])
        );
        assert!(Identity::take_over(&mut from).is_err());
        assert!(Identity::take_over(&mut [7; 48].as_slice()).is_err());
    }
}
