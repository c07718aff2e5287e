//! Private key of a party, and the file that holds it.
//!
//! The file is in the PKCS#8 format (RFC 8410, DER), and only its owner can read it. The bytes of
//! the key are zeroed when an identity is dropped; the expanded key that a TLS library derives from
//! them for a handshake is not.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

use crate::PublicKey;
use sealane_files::{Accept, private_file};

/// All bytes before the seed in the PKCS#8 form of an Ed25519 private key (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
];

/// Longest key file; no Ed25519 key file is longer, and a longer one is refused before it is read.
const MAX_KEY_FILE_BYTES: usize = 1024;

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
        let filled = SystemRandom::new().fill(&mut pkcs8[PKCS8_PREFIX.len()..]);
        filled.expect("the operating system supplies randomness");
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
    /// The file exists, or the operating system refuses to write it.
    pub fn save(&self, path: &Path) -> Result<(), KeyFileError> {
        private_file::save(path, &self.pkcs8).map_err(|error| key_file(path, error))
    }

    /// Loads the key from `path`.
    ///
    /// # Errors
    /// There is no such file, it is no Ed25519 key, or users other than its owner may read it.
    pub fn load(path: &Path) -> Result<Identity, KeyFileError> {
        let pkcs8 = private_file::load(path, Accept::FileOrPipe, MAX_KEY_FILE_BYTES);
        let pkcs8 = pkcs8.map_err(|error| key_file(path, error))?;
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

    /// Private key in PKCS#8 form, for a TLS library. The caller erases its copies.
    pub fn secret_pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    fn from_pkcs8(pkcs8: Zeroizing<Vec<u8>>) -> Option<Identity> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Identity { pkcs8, public })
    }
}

/// Error for a private key that could not be stored or loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key file {}: {cause}", .path.display())]
pub struct KeyFileError {
    /// The file.
    pub path: PathBuf,
    /// The cause, in words.
    pub cause: String,
}

fn key_file(path: &Path, cause: impl ToString) -> KeyFileError {
    let (path, cause) = (path.into(), cause.to_string());
    KeyFileError { path, cause }
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
        let pkcs8 = Zeroizing::new([PKCS8_PREFIX.as_slice(), seed.as_bytes()].concat());
        let key = Identity::from_pkcs8(pkcs8).unwrap().public_key();
        assert_eq!(key.to_string(), format!("ed25519:{PUBLIC}"));
    }

    #[test]
    fn a_saved_identity_loads_is_private_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hospital.key");
        let identity = Identity::generate();
        identity.save(&path).unwrap();
        let loaded = || Identity::load(&path).unwrap().public_key();
        assert_eq!(loaded(), identity.public_key());
        let error = Identity::generate().save(&path).unwrap_err();
        assert_eq!(error.path, path);
        assert_eq!(loaded(), identity.public_key());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        Identity::generate().save(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Identity::load(&path).err().unwrap().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        private_file::save(&path, b"not a key").unwrap();
        let error = Identity::load(&path).err().unwrap();
        let file = path.display();
        let text = format!("key file {file}: it holds no Ed25519 PKCS#8 key");
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_key_that_is_handed_over_is_the_same_and_takes_no_byte_more() {
        let identity = Identity::generate();
        let mut pipe = Vec::new();
        identity.hand_over(&mut pipe).unwrap();
        pipe.extend_from_slice(b"next");
        let mut from = pipe.as_slice();
        let taken = Identity::take_over(&mut from).unwrap();
        assert_eq!(taken.public_key(), identity.public_key());
        assert_eq!(from, b"next");
        assert!(Identity::take_over(&mut from).is_err());
        assert!(Identity::take_over(&mut [7; 48].as_slice()).is_err());
    }
}
