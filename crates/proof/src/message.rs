//! Messages of a settlement, and their checked forms.

use sealane_block::{Block, Nonce, Seed};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::SeedsDiffer;
use crate::kind::Shape;
use crate::sources::{Context, Digest, join_halves};

/// A message that has another length than its shape says. Every string of the right length is some
/// message: all blocks are elements, and a wrong one makes the proof fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of a proof ({what}) has {bytes} bytes in place of {expected}")]
pub struct Malformed {
    /// The message.
    pub what: &'static str,
    /// Its bytes.
    pub bytes: usize,
    /// The bytes that it has to have.
    pub expected: usize,
}

/// Refuses a message of another length.
fn check(what: &'static str, message: &[u8], expected: usize) -> Result<(), Malformed> {
    let bytes = message.len();
    if bytes == expected {
        Ok(())
    } else {
        Err(Malformed {
            what,
            bytes,
            expected,
        })
    }
}

/// The seed of the weights of one proof, as two halves, which both its verifiers draw from a key
/// that the prover has not.
///
/// Each verifier sends its own half when it has read what the prover sent to it. It cannot know
/// what the other one has read, so with the whole seed from whoever is first, a prover that holds
/// back a message to the other one would choose its errors for known weights.
#[derive(Clone, Copy)]
pub struct WeightSeed([[u8; 32]; 2]);

impl WeightSeed {
    /// The seed of this proof, from the key that both verifiers have.
    pub fn draw(context: &Context, key: &Seed) -> WeightSeed {
        let mut stream = key.stream("proof: seed of the weights", &context.bound());
        let mut halves = [[0; 32]; 2];
        for half in &mut halves {
            stream.fill_bytes(half);
        }
        WeightSeed(halves)
    }

    /// The message of the left verifier, side 0, or the right one, side 1, to the prover.
    pub fn part(&self, side: usize) -> SeedPart {
        let [_, digest] = join_halves(&self.0);
        let half = self.0[side];
        SeedPart { half, digest }
    }

    /// The seed of which the left and the right verifier sent these parts.
    ///
    /// # Errors
    /// The verifiers have different seeds.
    pub fn join(parts: &[SeedPart; 2]) -> Result<WeightSeed, SeedsDiffer> {
        let halves = [parts[0].half, parts[1].half];
        let [_, digest] = join_halves(&halves);
        if parts.iter().all(|part| part.digest == digest) {
            Ok(WeightSeed(halves))
        } else {
            Err(SeedsDiffer)
        }
    }

    /// The number from which weights and challenges follow.
    pub(crate) fn nonce(&self) -> Nonce {
        let [seed, _] = join_halves(&self.0);
        Nonce::from_bytes(seed)
    }
}

/// A verifier's message to the prover: its half of the seed, and a digest of both halves, by which
/// the prover sees that both verifiers have one seed. Alone it shows nothing of the seed.
#[derive(Clone, Copy)]
pub struct SeedPart {
    half: [u8; 32],
    digest: Digest,
}

impl SeedPart {
    /// The message.
    pub fn to_bytes(&self) -> [u8; Shape::SEED_BYTES] {
        let mut bytes = [0; Shape::SEED_BYTES];
        bytes[..32].copy_from_slice(&self.half);
        bytes[32..].copy_from_slice(&self.digest);
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    /// It has a wrong length.
    pub fn parse(message: &[u8]) -> Result<SeedPart, Malformed> {
        check("seed", message, Shape::SEED_BYTES)?;
        let (mut half, mut digest) = ([0; 32], [0; 32]);
        half.copy_from_slice(&message[..32]);
        digest.copy_from_slice(&message[32..]);
        Ok(SeedPart { half, digest })
    }
}

/// The prover's message to its left verifier: shares of all values given. The right verifier must
/// not see it.
pub struct ToLeft(pub(crate) Zeroizing<Vec<Block>>);

impl ToLeft {
    /// The message.
    pub fn as_bytes(&self) -> &[u8] {
        Block::as_bytes(&self.0)
    }

    /// Reads the message.
    ///
    /// # Errors
    /// It has a wrong length for a segment of this shape.
    pub fn parse(message: &[u8], shape: &Shape) -> Result<ToLeft, Malformed> {
        check("shares", message, shape.left_bytes())?;
        let mut shares = Zeroizing::new(vec![Block::ZERO; shape.values()]);
        Block::as_bytes_mut(&mut shares).copy_from_slice(message);
        Ok(ToLeft(shares))
    }
}

/// The prover's message to its right verifier: a commitment for each level.
pub struct ToRight(pub(crate) Vec<Digest>);

impl ToRight {
    /// The message.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }

    /// Reads the message.
    ///
    /// # Errors
    /// It has a wrong length for a segment of this shape.
    pub fn parse(message: &[u8], shape: &Shape) -> Result<ToRight, Malformed> {
        check("commitments", message, shape.right_bytes())?;
        let mut commitments = vec![[0; 32]; shape.challenges()];
        commitments.as_flattened_mut().copy_from_slice(message);
        Ok(ToRight(commitments))
    }
}

/// A verifier's message to the other one: the value of its masked operands in the last level, its
/// share of the claim there, and the digest of all commitments.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Answer {
    pub(crate) value: Block,
    pub(crate) share: Block,
    pub(crate) commitments: Digest,
}

impl Answer {
    /// The message.
    pub fn to_bytes(&self) -> [u8; Shape::ANSWER_BYTES] {
        let mut bytes = [0; Shape::ANSWER_BYTES];
        bytes[..16].copy_from_slice(&self.value.to_bytes());
        bytes[16..32].copy_from_slice(&self.share.to_bytes());
        bytes[32..].copy_from_slice(&self.commitments);
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    /// It has a wrong length.
    pub fn parse(message: &[u8]) -> Result<Answer, Malformed> {
        check("answer", message, Shape::ANSWER_BYTES)?;
        let mut answer = Answer {
            value: Block::ZERO,
            share: Block::ZERO,
            commitments: [0; 32],
        };
        Block::as_bytes_mut(std::slice::from_mut(&mut answer.value))
            .copy_from_slice(&message[..16]);
        Block::as_bytes_mut(std::slice::from_mut(&mut answer.share))
            .copy_from_slice(&message[16..32]);
        answer.commitments.copy_from_slice(&message[32..]);
        Ok(answer)
    }
}
