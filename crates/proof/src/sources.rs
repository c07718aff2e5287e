//! Everything that a proof draws or hashes: masks, salts, shares, commitments and challenges.
//!
//! A draw is bound to its session, segment and prover, by a hash of all three that takes the place
//! of the session in the streams of [`Seed`]. Masks, salts and shares are bound to the seed of the
//! weights as well: a second proof of a segment, under another seed, has none of them again.

use blake3::{Hasher, OutputReader};
use sealane_block::{Block, Nonce, SecretStream, Seed};
use zeroize::Zeroizing;

use crate::kind::Shape;

const SEGMENT: &str = "sealane 1 proof segment";
const DRAWS: &str = "sealane 1 proof draws";
const COMMITMENT: &str = "sealane 1 proof commitment";
const BEGIN: &str = "sealane 1 proof challenges";
const CHALLENGE: &str = "sealane 1 proof challenge";
const ANSWER: &str = "sealane 1 proof answer";
const SEED: &str = "sealane 1 proof seed";

/// First byte of a turn in the hash, where kinds have the bits of their field.
const TURN: u8 = 128;

/// The same byte of the products of integers, in a segment of these.
const SUMS: u8 = 129;

/// A hash of 256 bits.
pub(crate) type Digest = [u8; 32];

/// One proof among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Identifier of the session.
    pub session: [u8; 32],
    /// Number of the segment in its session. No two have the same.
    pub segment: u64,
    /// Index of the role that proves.
    pub prover: u8,
}

impl Context {
    /// A hash that is different for each proof.
    pub(crate) fn bound(&self) -> Digest {
        let mut hasher = Hasher::new_derive_key(SEGMENT);
        hasher
            .update(&self.session)
            .update(&self.segment.to_le_bytes());
        *hasher.update(&[self.prover]).finalize().as_bytes()
    }

    /// A hash that is different for each proof and each seed of its weights.
    fn bound_with(&self, seed: &Nonce) -> Digest {
        let mut hasher = Hasher::new_derive_key(DRAWS);
        hasher.update(&self.bound()).update(seed.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Draws of the prover and its left verifier from the key that both have: salts, and the mask of
/// left operands. The right verifier knows none of it.
pub(crate) trait LeftDraws {
    /// Uniform bits that mask left operands in the last level.
    fn mask(&mut self) -> Block;
    /// The commitment of the next level to the shares of the left verifier.
    fn commit(&mut self, shares: &[Block]) -> Digest;
}

/// Draws of the prover and its right verifier from the key that both have. The left verifier
/// knows none of it.
pub(crate) trait RightDraws {
    /// Uniform bits that mask right operands in the last level.
    fn mask(&mut self) -> Block;
    /// The right verifier's shares of the values of the next level, as uniform bits.
    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>>;
}

/// A source of challenges, which prover and verifiers ask alike.
///
/// Each level first hands over the commitment to what the prover gave, then draws. So a challenge
/// is fixed after the values of its level, and each source states what that rests on.
pub trait Challenges {
    /// The commitment of the next level.
    fn commit(&mut self, commitment: &[u8; 32]);
    /// Uniform bits for a challenge. A proof asks again if they are a point of its level.
    fn draw(&mut self) -> Block;
}

/// Challenges by hash: each is a hash of all commitments before it, of the seed of the weights and
/// of the statements' numbers. BLAKE3 is a random oracle.
pub struct ByHash {
    state: Digest,
    output: OutputReader,
}

impl ByHash {
    /// The challenges of one proof.
    pub fn new(context: &Context, shape: &Shape, seed: &Nonce) -> ByHash {
        let mut hasher = Hasher::new_derive_key(BEGIN);
        hasher.update(&context.bound()).update(seed.as_bytes());
        for (kind, statements) in shape.counts() {
            hasher.update(&[kind.field.degree() as u8, kind.terms as u8]);
            hasher.update(&(statements as u64).to_le_bytes());
        }
        for turn in &shape.turns {
            // No kind begins so.
            hasher.update(&[TURN, 1]);
            hasher.update(&(turn.rows as u64).to_le_bytes());
            hasher.update(&(turn.words as u64).to_le_bytes());
        }
        if shape.sums {
            hasher.update(&[SUMS, 1]);
            hasher.update(&(shape.elements() as u64).to_le_bytes());
        }
        let state = *hasher.finalize().as_bytes();
        let output = Hasher::new().finalize_xof();
        ByHash { state, output }
    }
}

impl Challenges for ByHash {
    fn commit(&mut self, commitment: &[u8; 32]) {
        let mut hasher = Hasher::new_derive_key(CHALLENGE);
        self.output = hasher.update(&self.state).update(commitment).finalize_xof();
        self.output.fill(&mut self.state);
    }

    fn draw(&mut self) -> Block {
        let mut bytes = [0; 16];
        self.output.fill(&mut bytes);
        Block::from_bytes(bytes)
    }
}

/// Challenges from a key that both verifiers have and the prover has not. A cheat has one try at
/// each, if commitments bind, and only if the verifiers send each challenge after its level's
/// commitment has arrived: two more flights a level. What a prover asks here therefore waits for
/// the verifiers.
pub struct ByKey(SecretStream);

impl ByKey {
    /// The challenges of one proof.
    pub fn new(context: &Context, key: &Seed) -> ByKey {
        ByKey(key.stream("proof: challenges", &context.bound()))
    }
}

impl Challenges for ByKey {
    fn commit(&mut self, _commitment: &[u8; 32]) {}

    fn draw(&mut self) -> Block {
        self.0.block()
    }
}

/// Draws from a key of prover and left verifier.
pub(crate) struct LeftKey {
    bound: Digest,
    mask: SecretStream,
    salts: SecretStream,
    level: u32,
}

impl LeftKey {
    pub fn new(context: &Context, seed: &Nonce, key: &Seed) -> LeftKey {
        let bound = context.bound_with(seed);
        LeftKey {
            bound,
            mask: key.stream("proof: left mask", &bound),
            salts: key.stream("proof: salts", &bound),
            level: 0,
        }
    }
}

impl LeftDraws for LeftKey {
    fn mask(&mut self) -> Block {
        self.mask.block()
    }

    fn commit(&mut self, shares: &[Block]) -> Digest {
        let mut salt = Zeroizing::new([0; 32]);
        self.salts.fill_bytes(&mut salt[..]);
        let mut hasher = Zeroizing::new(Hasher::new_derive_key(COMMITMENT));
        hasher.update(&self.bound).update(&self.level.to_le_bytes());
        hasher.update(&salt[..]).update(Block::as_bytes(shares));
        self.level += 1;
        *hasher.finalize().as_bytes()
    }
}

/// Draws from a key of prover and right verifier.
pub(crate) struct RightKey {
    mask: SecretStream,
    shares: SecretStream,
}

impl RightKey {
    pub fn new(context: &Context, seed: &Nonce, key: &Seed) -> RightKey {
        let bound = context.bound_with(seed);
        RightKey {
            mask: key.stream("proof: right mask", &bound),
            shares: key.stream("proof: shares", &bound),
        }
    }
}

impl RightDraws for RightKey {
    fn mask(&mut self) -> Block {
        self.mask.block()
    }

    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        let mut shares = Zeroizing::new(vec![Block::ZERO; count]);
        self.shares.fill(&mut shares);
        shares
    }
}

/// The seed that two halves make, and a digest of both.
pub(crate) fn join_halves(halves: &[[u8; 32]; 2]) -> [Digest; 2] {
    let mut out = [[0; 32]; 2];
    let mut hasher = Hasher::new_derive_key(SEED);
    let mut output = hasher.update(halves.as_flattened()).finalize_xof();
    output.fill(out.as_flattened_mut());
    out
}

/// Digest of all commitments of a proof, which its verifiers compare.
pub(crate) fn digest(commitments: &[Digest]) -> Digest {
    let mut hasher = Hasher::new_derive_key(ANSWER);
    *hasher
        .update(commitments.as_flattened())
        .finalize()
        .as_bytes()
}
