//! Keys of sealed files: the master key and the keys that are derived from it.
//!
//! The *master* is 32 bytes: those of a key file, or Argon2id (RFC 9106) of a passphrase and the
//! salt of the header. Every file has keys of its own, by BLAKE3 in the mode `derive_key`:
//!
//! ```text
//! derive_key("sealane 2026 keys of a sealed file", master || header[0..60])
//!     = key (16) || prefix of nonces (7) || commitment (32)
//! ```
//!
//! The whole header is an input, so a file whose header was changed has other keys. GCM and OCB3 do
//! not commit to their key: one ciphertext can be made that opens under two keys (Len, Grubbs,
//! Ristenpart, *Partitioning Oracle Attacks*, USENIX Security 2021). The commitment does, because
//! BLAKE3 resists collisions, and it tells a wrong key from an altered file. The prefix is secret
//! and differs by file, so an attacker who guesses keys cannot test one guess against many files at
//! once.
//!
//! A key file is one line of text: `sealane-key-1:`, 64 digits of key and 8 of checksum, in
//! hexadecimal, lower case. The checksum is the first four bytes of `derive_key("sealane 2026
//! checksum of a key file", key)`; it detects text that was cut off or mistyped.

use crate::header::{Argon2Cost, BOUND_BYTES};
use crate::refusals;
use crate::refusals::Refusal;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use sealane_block::heap::handles_refusals;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_files::{Accept, private_file};
use std::path::Path;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

const KEYS_CONTEXT: &str = "sealane 2026 keys of a sealed file";
const CHECKSUM_CONTEXT: &str = "sealane 2026 checksum of a key file";

/// Text before the key in a key file.
const KEY_PREFIX: &[u8] = b"sealane-key-1:";
const KEY_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;

/// Bytes of a key file without the end of its line.
const KEY_TEXT_BYTES: usize = KEY_PREFIX.len() + 2 * (KEY_BYTES + CHECKSUM_BYTES);

/// Longest passphrase in bytes.
const MOST_PASSPHRASE_BYTES: usize = 1024;

/// MasterKey key: 32 secret bytes from which the keys of files are derived.
pub struct MasterKey(Zeroizing<[u8; KEY_BYTES]>);

/// Keys of one file.
pub struct FileKeys {
    /// Key of the cipher.
    pub key: Zeroizing<[u8; 16]>,
    /// First bytes of every nonce.
    pub prefix: Zeroizing<[u8; 7]>,
    /// Commitment that the header carries for this key.
    pub commitment: [u8; 32],
}

impl FileKeys {
    /// Tells if a header has the commitment of these keys.
    pub fn is_of(&self, commitment: &[u8; 32]) -> bool {
        self.commitment.ct_eq(commitment).into()
    }
}

/// Function that asks for a passphrase at a terminal without showing it; its argument is the
/// prompt.
pub type AskPassphrase<'a> = &'a mut dyn FnMut(&str) -> Result<Zeroizing<String>, Refusal>;

impl MasterKey {
    /// Generates a fresh key from the randomness of the operating system.
    pub fn generate() -> Result<MasterKey, Refusal> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        random(key.as_mut_slice())?;
        Ok(MasterKey(key))
    }

    /// Stores the key in a new file that only its owner can read.
    pub fn save(&self, path: &Path) -> Result<(), Refusal> {
        private_file::save(path, &self.text()).map_err(|error| refusals::key_not_made(path, &error))
    }

    /// Encodes the key as the text of a key file.
    pub fn text(&self) -> Zeroizing<Vec<u8>> {
        let mut text = Zeroizing::new(Vec::with_capacity(KEY_TEXT_BYTES + 1));
        text.extend_from_slice(KEY_PREFIX);
        for &byte in self.0.iter().chain(&self.checksum()) {
            text.extend([digit(byte >> 4), digit(byte & 15)]);
        }
        text.push(b'\n');
        text
    }

    /// Loads the key from a key file.
    pub fn load(path: &Path) -> Result<MasterKey, Refusal> {
        // One byte more than the longest key file, so that a longer file is detected.
        let text = private_file::load(path, Accept::FileOrPipe, KEY_TEXT_BYTES + 3);
        let text = text.map_err(|error| refusals::key_unreadable(path, &error))?;
        MasterKey::from_text(&text).map_err(|why| refusals::no_key(path, why))
    }

    /// Parses the text of a key file.
    pub fn from_text(text: &[u8]) -> Result<MasterKey, &'static str> {
        let digits = text.strip_prefix(KEY_PREFIX);
        let digits = digits.ok_or("it does not begin with `sealane-key-1:`")?;
        let line = digits.strip_suffix(b"\n").unwrap_or(digits);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (pairs, odd) = line.as_chunks::<2>();
        if pairs.len() != KEY_BYTES + CHECKSUM_BYTES || !odd.is_empty() {
            return Err("it is too short or too long: one line with 72 digits is a key");
        }
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let (mut checksum, mut wrong) = ([0; CHECKSUM_BYTES], 0);
        for (byte, [high, low]) in key.iter_mut().chain(&mut checksum).zip(pairs) {
            let (high, low) = (value(*high), value(*low));
            *byte = high.0 << 4 | low.0;
            wrong |= high.1 | low.1;
        }
        let master = MasterKey(key);
        if wrong != 0 {
            return Err("it has other characters than digits and the letters a to f");
        }
        if bool::from(master.checksum().ct_eq(&checksum)) {
            Ok(master)
        } else {
            Err("its checksum is wrong: it was changed or mistyped")
        }
    }

    /// Derives the master key from a passphrase with Argon2id at the cost that a header states.
    ///
    /// Takes the memory of `cost`, which is bounded when headers are read.
    pub fn stretch(pass: &str, salt: &[u8; 32], cost: Argon2Cost) -> Result<MasterKey, Refusal> {
        let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(KEY_BYTES));
        let params = params.map_err(|error| refusals::no_memory(cost.memory_kib, &error))?;
        let count = params.block_count();
        // Memory that cannot be allocated is an error, not an abort; its content is erased
        // afterwards.
        let mut memory = Zeroizing::new(Vec::<Block>::new());
        let taken = handles_refusals(|| memory.try_reserve_exact(count));
        taken.map_err(|error| refusals::no_memory(cost.memory_kib, &error))?;
        memory.resize(count, Block::default());
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let (into, memory) = (key.as_mut_slice(), memory.as_mut_slice());
        let hashed = argon2.hash_password_into_with_memory(pass.as_bytes(), salt, into, memory);
        hashed.map_err(|error| refusals::no_memory(cost.memory_kib, &error))?;
        Ok(MasterKey(key))
    }

    /// Derives the keys of the file with this header.
    pub fn derive(&self, header: &[u8; BOUND_BYTES]) -> FileKeys {
        let mut hasher = blake3::Hasher::new_derive_key(KEYS_CONTEXT);
        hasher.update(self.0.as_slice()).update(header);
        let mut stream = hasher.finalize_xof();
        let mut keys = FileKeys {
            key: Zeroizing::new([0; 16]),
            prefix: Zeroizing::new([0; 7]),
            commitment: [0; 32],
        };
        stream.fill(keys.key.as_mut_slice());
        stream.fill(keys.prefix.as_mut_slice());
        stream.fill(&mut keys.commitment);
        stream.zeroize();
        hasher.zeroize();
        keys
    }

    fn checksum(&self) -> [u8; CHECKSUM_BYTES] {
        let mut checksum = [0; CHECKSUM_BYTES];
        let mut hasher = blake3::Hasher::new_derive_key(CHECKSUM_CONTEXT);
        hasher.update(self.0.as_slice());
        hasher.finalize_xof().fill(&mut checksum);
        hasher.zeroize();
        checksum
    }
}

/// Fills a buffer from the randomness of the operating system.
pub fn random(bytes: &mut [u8]) -> Result<(), Refusal> {
    getrandom::fill(bytes).map_err(|error| {
        let hint = "see that the operating system gives random numbers";
        let finding = Diagnostic::new(Code::NoRandomness, error.to_string());
        finding.hint(hint).into()
    })
}

/// Encodes a hexadecimal digit without a branch on its value.
fn digit(nibble: u8) -> u8 {
    // All ones if the nibble is above 9.
    let letter = ((9 - i16::from(nibble)) >> 8) as u8;
    b'0' + nibble + (letter & (b'a' - b'0' - 10))
}

/// Decodes a hexadecimal digit without a branch on its value. The second result is not zero if it
/// is not a digit.
fn value(digit: u8) -> (u8, u8) {
    // All ones if the difference is below the bound.
    let below = |difference: u8, bound: i16| ((i16::from(difference) - bound) >> 8) as u8;
    let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
    let (is_number, is_letter) = (below(number, 10), below(letter, 6));
    let value = (number & is_number) | (letter.wrapping_add(10) & is_letter);
    (value, !(is_number | is_letter))
}

/// Asks for a new passphrase twice.
pub fn new_passphrase(ask: AskPassphrase<'_>) -> Result<Zeroizing<String>, Refusal> {
    let first = fit(ask("passphrase to seal with: ")?)?;
    let second = ask("the same once more: ")?;
    if bool::from(first.as_bytes().ct_eq(second.as_bytes())) {
        return Ok(first);
    }
    let hint = "run the command again, and type the same one twice";
    Err(refusals::passphrase("the two passphrases differ", hint))
}

/// Asks for the passphrase of an existing file.
pub fn known_passphrase(ask: AskPassphrase<'_>) -> Result<Zeroizing<String>, Refusal> {
    fit(ask("passphrase: ")?)
}

fn fit(passphrase: Zeroizing<String>) -> Result<Zeroizing<String>, Refusal> {
    match passphrase.len() {
        0 => Err(refusals::passphrase(
            "the passphrase is empty",
            "type one: several words that nobody else would put together",
        )),
        1..=MOST_PASSPHRASE_BYTES => Ok(passphrase),
        _ => Err(refusals::passphrase(
            format!("the passphrase has more than {MOST_PASSPHRASE_BYTES} bytes"),
            "use a key file for that much: `sealane keygen FILE` makes one",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_library() {
        for nibble in 0..16u8 {
            let expected = char::from_digit(nibble.into(), 16);
            assert_eq!(Some(char::from(digit(nibble))), expected);
        }
        for byte in 0..=255u8 {
            let lower = !byte.is_ascii_uppercase();
            let expected = char::from(byte).to_digit(16).filter(|_| lower);
            let (value, wrong) = value(byte);
            assert_eq!((wrong == 0).then_some(value.into()), expected, "{byte}");
        }
    }

    #[test]
    fn a_key_file_is_the_documented_line() {
        // The checksum is from the reference implementation of BLAKE3, by its Python binding.
        let text = MasterKey(Zeroizing::new(std::array::from_fn(|i| i as u8))).text();
        let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let line = format!("sealane-key-1:{digits}1dbb93fb\n");
        assert_eq!(*text, line.as_bytes());
    }

    #[test]
    fn every_changed_character_of_a_key_file_is_found() {
        let text = MasterKey::generate().unwrap().text();
        assert!(MasterKey::from_text(&text).is_ok());
        assert!(MasterKey::from_text(text.trim_ascii_end()).is_ok());
        for at in 0..text.len() - 1 {
            for change in [1, 2, 16, 32, 128] {
                let mut other = text.clone();
                other[at] ^= change;
                assert!(MasterKey::from_text(&other).is_err(), "{at} {change}");
            }
            assert!(MasterKey::from_text(&text[..at]).is_err(), "{at}");
        }
        assert!(MasterKey::from_text(&[&text[..], b"\n"].concat()).is_err());
    }

    #[test]
    fn stretching_is_argon2id_of_the_reference() {
        // From the reference implementation in C, by its Python binding.
        let (memory_kib, passes, lanes) = (64, 2, 2);
        let cost = Argon2Cost {
            memory_kib,
            passes,
            lanes,
        };
        let salt = std::array::from_fn(|i| i as u8);
        let master = MasterKey::stretch("a passphrase", &salt, cost).unwrap();
        let expected = "a8e03d7e836546a133d0873204ad567456bbfae28f6f1f7b9f2797a0aaf813f5";
        assert_eq!(hex::encode(*master.0), expected);
    }

    #[test]
    fn passphrases_are_asked_for_twice_and_have_bounds() {
        let reported = |answers: &[&str]| {
            let mut answers = answers.iter();
            let mut ask = |_: &str| Ok(Zeroizing::new(answers.next().unwrap().to_string()));
            new_passphrase(&mut ask).map(|text| text.to_string())
        };
        assert_eq!(reported(&[" a b ", " a b "]).unwrap(), " a b ");
        let long = "x".repeat(MOST_PASSPHRASE_BYTES);
        assert!(reported(&[&long, &long]).is_ok());
        for wrong in [["a", "b"], ["a", "a "], ["", ""], ["a", ""]] {
            assert_eq!(reported(&wrong).unwrap_err().code, "passphrase");
        }
        let longer = format!("{long}x");
        assert!(reported(&[&longer, &longer]).is_err());
    }
}
