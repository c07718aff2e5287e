//! Randomness of protocols: 256 bits, expanded into labelled streams.
//!
//! The extendable output function is BLAKE3 in its mode of key derivation ("BLAKE3: one function,
//! fast everywhere", 2020, section 2.3), with a context for each kind of stream below. It takes a
//! seed of 256 bits and a label of any length in one call, so nothing has to be cut to the size of
//! a key; and it digests transcripts already. ChaCha20 would need a hash beside it, for labels.
//!
//! ```text
//! stream = BLAKE3 derive_key(context of its kind, fields of fixed length || label)
//! ```
//!
//! | from | kind | fields |
//! |---|---|---|
//! | [`Coins`] | secret, public or fork | seed, number of the draw |
//! | [`Seed`] | secret, expanded | seed, session |
//! | [`Nonce`] | public, expanded | nonce, session |
//!
//! A stream with the same label is different at each draw from the same coins. Two parties that
//! share a seed or a nonce use each label once.
//!
//! **Assumption.** BLAKE3 is a random oracle; a pseudorandom function with a key of 256 bits would
//! do for secret streams. The output of a public stream tells nothing about a secret one, even to
//! an adversary that can try 2^128 keys of AES. The rule that these types enforce is in
//! [`prg`](crate::prg).

use blake3::{Hasher, OutputReader};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{Block, Cpu, Prg};

/// Bytes of a seed, of a nonce, and of the identifier of a session.
const BYTES: usize = 32;

const SECRET: &str = "sealane 3 coins secret";
const PUBLIC: &str = "sealane 3 coins public";
const FORK: &str = "sealane 3 coins fork";
const EXPANDED_SECRET: &str = "sealane 3 seed expanded";
const EXPANDED_PUBLIC: &str = "sealane 3 nonce expanded";

/// The one source of randomness of protocols: 256 bits of the operating system, or, in tests only,
/// a fixed seed.
pub struct Coins {
    seed: Seed,
    /// Number of streams and forks so far.
    drawn: u64,
}

impl Coins {
    /// Creates coins seeded by the operating system.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn from_os() -> Result<Coins, CoinsError> {
        let mut seed = Zeroizing::new([0; BYTES]);
        getrandom::fill(&mut seed[..]).map_err(|error| CoinsError(error.to_string()))?;
        Ok(Coins::of(Seed(*seed)))
    }

    /// Creates coins that repeat: for `testkit` alone.
    pub fn danger_fixed_seed(seed: u64) -> Coins {
        let mut bytes = Zeroizing::new([0; BYTES]);
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Coins::of(Seed(*bytes))
    }

    /// Creates coins that repeat, from a whole seed: for `testkit` alone.
    pub fn danger_seeded(seed: Seed) -> Coins {
        Coins::of(seed)
    }

    /// Coins of which nothing has been drawn.
    fn of(seed: Seed) -> Coins {
        Coins { seed, drawn: 0 }
    }

    /// Draws a stream of values that this party keeps, or shares with parties that may know them.
    /// The label names the purpose.
    pub fn secret(&mut self, label: &'static str) -> SecretStream {
        SecretStream(self.stream(SECRET, label))
    }

    /// Draws a stream of values that may become public.
    pub fn public(&mut self, label: &'static str) -> PublicStream {
        PublicStream(self.stream(PUBLIC, label))
    }

    /// Derives coins independent of these, for another thread or role.
    pub fn fork(&mut self, label: &'static str) -> Coins {
        let mut stream = SecretStream(self.stream(FORK, label));
        Coins::of(stream.seed())
    }

    /// Binds these coins to the session with this identifier. If the operating system gives the
    /// same numbers twice, as to two copies of one machine, another party's contribution to the
    /// session still makes the coins new.
    pub fn enter(self, session: &[u8; BYTES]) -> Coins {
        Coins::of(self.seed.stream("coins of a session", session).seed())
    }

    fn stream(&mut self, context: &str, label: &str) -> Zeroizing<OutputReader> {
        self.drawn += 1;
        expand(context, &self.seed.0, &self.drawn.to_le_bytes(), label)
    }
}

/// A secret of 256 bits from which all parties that know it expand the same streams.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; BYTES]);

impl Seed {
    /// Bytes of a seed in a message.
    pub const BYTES: usize = BYTES;

    /// Wraps a seed that was agreed on or received. It must be uniform, and known only to parties
    /// that may know the streams expanded from it.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Seed {
        Seed(*bytes)
    }

    /// Returns the bytes, for parties that share the seed.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Expands the stream of this label in the session with this identifier.
    pub fn stream(&self, label: &'static str, session: &[u8; BYTES]) -> SecretStream {
        SecretStream(expand(EXPANDED_SECRET, &self.0, session, label))
    }
}

/// 256 random bits that are public, from which several parties expand the same streams.
#[derive(Clone, Copy)]
pub struct Nonce([u8; BYTES]);

impl Nonce {
    /// Bytes of a nonce in a message.
    pub const BYTES: usize = BYTES;

    /// A nonce that was received.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Nonce {
        Nonce(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Expands the stream of this label in the session with this identifier.
    pub fn stream(&self, label: &'static str, session: &[u8; BYTES]) -> PublicStream {
        PublicStream(expand(EXPANDED_PUBLIC, &self.0, session, label))
    }
}

/// A stream of secrets.
pub struct SecretStream(Zeroizing<OutputReader>);

impl SecretStream {
    /// Fills `out` with the next bytes.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill(out);
    }

    /// Fills `out` with the next blocks.
    pub fn fill(&mut self, out: &mut [Block]) {
        self.0.fill(Block::as_bytes_mut(out));
    }

    /// The next block.
    pub fn block(&mut self) -> Block {
        next_block(&mut self.0)
    }

    /// The next 256 bits, to be shared.
    pub fn seed(&mut self) -> Seed {
        let mut seed = Seed([0; BYTES]);
        self.0.fill(&mut seed.0);
        seed
    }

    /// Creates a generator for bulk, whose key and start are the next two blocks.
    pub fn prg(&mut self, cpu: Cpu) -> Prg {
        next_prg(&mut self.0, cpu)
    }
}

/// A stream of values that may become public.
pub struct PublicStream(Zeroizing<OutputReader>);

impl PublicStream {
    /// The next block.
    pub fn block(&mut self) -> Block {
        next_block(&mut self.0)
    }

    /// The next 256 bits, to be sent.
    pub fn nonce(&mut self) -> Nonce {
        let mut nonce = Nonce([0; BYTES]);
        self.0.fill(&mut nonce.0);
        nonce
    }

    /// Creates a generator for bulk, whose key and start are the next two blocks.
    pub fn prg(&mut self, cpu: Cpu) -> Prg {
        next_prg(&mut self.0, cpu)
    }
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct CoinsError(pub String);

/// Computes the output for a key, a field of a length that the context fixes, and a label. The
/// encoding is injective, so no two choices of the three give the same input.
fn expand(context: &str, key: &[u8; BYTES], field: &[u8], label: &str) -> Zeroizing<OutputReader> {
    let mut hasher = Zeroizing::new(Hasher::new_derive_key(context));
    hasher.update(key).update(field).update(label.as_bytes());
    Zeroizing::new(hasher.finalize_xof())
}

fn next_block(stream: &mut OutputReader) -> Block {
    let mut block = [Block::ZERO];
    stream.fill(Block::as_bytes_mut(&mut block));
    block[0]
}

fn next_prg(stream: &mut OutputReader, cpu: Cpu) -> Prg {
    let mut drawn = Zeroizing::new([Block::ZERO; 2]);
    stream.fill(Block::as_bytes_mut(&mut drawn[..]));
    let [key, start] = *drawn;
    Prg::at(cpu, key, start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::Aes128;
    use std::collections::HashSet;

    const SESSION: [u8; BYTES] = [5; BYTES];

    fn seed() -> Seed {
        Seed::from_bytes(&[7; BYTES])
    }

    /// The first block of streams of every kind, twice under one label.
    fn firsts(mut coins: Coins) -> Vec<u128> {
        let mut firsts = vec![
            coins.secret("a").block(),
            coins.secret("a").block(),
            coins.secret("b").block(),
            coins.public("a").block(),
            coins.fork("a").secret("a").block(),
            coins.fork("a").secret("a").block(),
        ];
        firsts.push(coins.fork("b").enter(&SESSION).secret("a").block());
        firsts.push(coins.secret("c").prg(Cpu::available()[0]).block());
        firsts.iter().map(|block| block.value()).collect()
    }

    #[test]
    fn no_two_draws_are_alike_and_fixed_seeds_repeat() {
        let fixed = firsts(Coins::danger_fixed_seed(1));
        assert_eq!(fixed, firsts(Coins::danger_fixed_seed(1)));
        let all = [
            fixed,
            firsts(Coins::danger_fixed_seed(2)),
            firsts(Coins::from_os().unwrap()),
            firsts(Coins::from_os().unwrap()),
        ];
        let all = all.concat();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }

    /// Streams computed by one-shot calls over joined bytes; a seed of 64 bits or a lost field
    /// would differ.
    #[test]
    fn streams_match_their_definition() {
        let mut coins = Coins::danger_fixed_seed(0x0102_0304);
        let fixed = [&[4, 3, 2, 1], &[0; 28][..]].concat();
        for (number, context) in [(1u64, SECRET), (2, PUBLIC), (3, FORK)] {
            let material = [&fixed, &number.to_le_bytes()[..], b"label"].concat();
            let expected = blake3::derive_key(context, &material);
            let (seed, nonce);
            let got: &[u8] = match context {
                SECRET => {
                    seed = coins.secret("label").seed();
                    seed.as_bytes()
                }
                PUBLIC => {
                    nonce = coins.public("label").nonce();
                    nonce.as_bytes()
                }
                _ => {
                    seed = coins.fork("label").seed.clone();
                    seed.as_bytes()
                }
            };
            assert!(got == expected, "{context}");
        }
        let material = [&[7; 32], &SESSION[..], b"label"].concat();
        let mut drawn = [0; BYTES];
        seed().stream("label", &SESSION).fill_bytes(&mut drawn);
        assert!(drawn == blake3::derive_key(EXPANDED_SECRET, &material));
        let nonce = Nonce::from_bytes([7; BYTES])
            .stream("label", &SESSION)
            .nonce();
        assert!(*nonce.as_bytes() == blake3::derive_key(EXPANDED_PUBLIC, &material));
    }

    #[test]
    fn label_session_and_kind_set_expanded_streams_apart() {
        let mut other = SESSION;
        other[31] ^= 1;
        let nonce = Nonce::from_bytes([7; BYTES]);
        let firsts = [
            seed().stream("a", &SESSION).block(),
            seed().stream("b", &SESSION).block(),
            seed().stream("a", &other).block(),
            nonce.stream("a", &SESSION).block(),
            nonce.stream("a", &other).block(),
        ];
        let firsts = firsts.map(|block| block.value());
        assert_eq!(HashSet::from(firsts).len(), firsts.len());
    }

    /// A search that tries each key once, at counter 0, matches no stream: each has a start of its
    /// own, and it is not 0.
    #[test]
    fn bulk_starts_at_a_place_of_its_own() {
        for cpu in Cpu::available() {
            let mut stream = seed().stream("bulk", &SESSION);
            let mut blocks = [Block::ZERO; 4];
            stream.fill(&mut blocks);
            let mut stream = seed().stream("bulk", &SESSION);
            for pair in blocks.chunks(2) {
                let [key, start] = [pair[0], pair[1]];
                let (first, aes) = (stream.prg(cpu).block(), Aes128::new(cpu, key));
                assert!(first.value() == aes.encrypt(start).value());
                assert!(first.value() != aes.encrypt(Block::ZERO).value());
            }
            assert!(blocks[1].value() != blocks[3].value());
        }
    }
}
