//! Public key of a party: its text, its form in TLS, and its fingerprint.

use std::fmt;
use std::str::FromStr;

/// All bytes before the key in the form of an Ed25519 public key (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// Domain separator of the hash of fingerprints.
const FINGERPRINT_CONTEXT: &str = "sealane 2026 fingerprint of a public key";

/// Groups of five digits in a fingerprint.
const FINGERPRINT_GROUPS: usize = 6;

/// Prefix of a public key in text.
const TEXT_PREFIX: &str = "ed25519:";

/// Public half of an [`Identity`](crate::Identity): `ed25519:` and 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PublicKey(pub(crate) [u8; 32]);

impl PublicKey {
    /// Bytes of the key, for hashing.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses the key from its SubjectPublicKeyInfo, the form in TLS. Returns none for another kind
    /// of key.
    pub fn from_spki(spki: &[u8]) -> Option<PublicKey> {
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
    pub fn to_spki(self) -> Vec<u8> {
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
        let digits = text.trim().strip_prefix(TEXT_PREFIX);
        let digits = digits.ok_or(PublicKeyError)?;
        let mut key = [0; 32];
        hex::decode_to_slice(digits, &mut key).map_err(|_| PublicKeyError)?;
        Ok(PublicKey(key))
    }
}

/// Error for a text that is not a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a public key is written as ed25519: and 64 hexadecimal digits")]
pub struct PublicKeyError;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    /// Public key of RFC 8032, section 7.1, test 1.
    const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

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
        let odd = key.to_string().replace("ed25519:", "ed25519:+");
        for bad in ["", "ed25519:", "rsa:00", &long, &odd, &key.to_string()[8..]] {
            assert_eq!(bad.parse::<PublicKey>(), Err(PublicKeyError), "{bad}");
        }
        assert_eq!(PublicKey::from_spki(&key.to_spki()[1..]), None);
    }
}
