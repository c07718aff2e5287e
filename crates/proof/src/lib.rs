//! Crate `proof`: one party proves to two others that its messages were right, without showing
//! what it computed them from.
//!
//! The prover's messages are sums of products of something that it shares with its *left* verifier
//! and something that it shares with its *right* one, plus a part that the left knows and a part
//! that the right knows. A *statement* says so of one element:
//!
//! ```text
//! sum over t of a_t b_t + c_L + c_R = 0      a_t, c_L known to the left, b_t, c_R to the right
//! ```
//!
//! The prover knows all of it, so it can prove many statements at once to both verifiers, who hold
//! shares of what it gives ("distributed zero knowledge": Boneh, Boyle, Corrigan-Gibbs, Gilboa,
//! Ishai, Crypto 2019; for replicated shares Boyle, Gilboa, Ishai, Nof, CCS 2019). Proofs grow with
//! the logarithm of the number of statements. [The page](../../docs/protocols/proof.md) has
//! statements, levels, messages and the bound on a cheat.
//!
//! | module | content |
//! |---|---|
//! | `kind` | kinds of statements; sizes of a proof from their numbers |
//! | `strings` | flat strings of bits, which parties record |
//! | `grid` | the first level: polynomials in two variables over GF(16), matrices times planes |
//! | `field` | the field of weights and challenges, with its kernels |
//! | `turns` | statements about rows that change their order |
//! | `sums` | statements about integers modulo `2^61 - 1`, and their field |
//! | `vectors` | from strings to one inner product: weights, claims, folded operands |
//! | `level` | levels of two, the last level; prover and verifiers step by step |
//! | `sources` | masks, salts, shares, commitments, challenges |
//! | `message` | messages and their checked forms |
//!
//! There is no network here and no share of a secret. All functions are pure: strings, seeds and
//! messages in, messages and verdicts out, so they run on any thread. No branch and no address
//! depends on a secret, but for orders of rows (`turns`). Variables and memory that hold one are
//! erased when they are dropped. Not erased are messages as `to_bytes` returns them, the seed of
//! the weights, what moves leave behind on the stack, and what the compiler puts there for kernels,
//! sums of operands among it.

#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

mod field;
mod grid;
mod kind;
mod level;
mod message;
mod sources;
mod strings;
mod sums;
#[cfg(test)]
mod tests;
mod turns;
mod vectors;

use sealane_block::mersenne::PRIME_BITS;
use sealane_block::{Cpu, Seed};

pub use kind::{Kind, Shape, ShapeError, Small};
pub use message::{Answer, Malformed, SeedPart, ToLeft, ToRight, WeightSeed};
pub use sources::{ByHash, ByKey, Challenges, Context};
pub use strings::{BitString, Proven, Statements, Verified, WithTurns};
pub use sums::{Batch, BatchForm, Operand};
pub use turns::{Known, Turn, Turns};

use field::Gf128;
use level::{Left, Receiver, Right};
use sources::{LeftKey, RightKey};
use sums::{SumField, SumWeights};
pub use vectors::Memory;
use vectors::Weights;

/// One proof: its place in the session, and its statements by number.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    /// The tier that computes. All tiers send the same bytes.
    pub cpu: Cpu,
    /// Session, segment and prover.
    pub context: Context,
    /// Numbers of statements by kind.
    pub shape: &'a Shape,
}

/// The verifiers gave different seeds, so one of them deviated. The prover sends nothing: with two
/// answers to two seeds it could show more than one proof does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "both verifiers of a proof draw one seed, and they sent different ones: one of them deviated"
)]
pub struct SeedsDiffer;

/// A proof that failed: the prover or the other verifier deviated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of role {} failed: it or the other verifier deviated", .0.prover)]
pub struct Refused(pub Context);

/// A proof that both verifiers accept. Only [`Pending::decide`] makes one.
#[derive(Debug)]
pub struct Proved {
    context: Context,
}

impl Proved {
    /// Session, segment and prover.
    pub fn context(&self) -> Context {
        self.context
    }
}

impl Segment<'_> {
    /// Proves the segment: messages to the left and the right verifier. `left_key` is shared with
    /// the left verifier alone and `right_key` with the right one alone; `seed` came from both.
    /// There are strings of each kind of the shape, in its order. Challenges are those of
    /// [`Segment::challenges`], or of another source.
    ///
    /// Masks and shares are those of the segment and the seed, so under one seed a segment is
    /// proved once, or again with the same strings alone.
    ///
    /// # Panics
    /// If strings or turns have another number of statements than the shape.
    pub fn prove(
        &self,
        challenges: &mut impl Challenges,
        [left_key, right_key]: [&Seed; 2],
        seed: &WeightSeed,
        mut strings: impl Statements,
        memory: &mut Memory,
    ) -> (ToLeft, ToRight) {
        self.check(&strings);
        strings.turns().check_proven(&self.shape.turns);
        let (context, shape) = (&self.context, self.shape);
        let nonce = &seed.nonce();
        let weights = Weights::new::<Gf128>(self.cpu, context, shape, nonce);
        let left = &mut LeftKey::new(context, nonce, left_key);
        let right = &mut RightKey::new(context, nonce, right_key);
        let sources = (left, right, challenges);
        let sent = level::prove::<Gf128>(self.cpu, shape, &mut strings, &weights, sources, memory);
        (ToLeft(sent.left), ToRight(sent.right))
    }

    /// Follows the proof as the left verifier, up to its answer to the right one. `key` is shared
    /// with the prover alone; the constants of the strings are `c_L`.
    ///
    /// # Panics
    /// If strings, turns or message do not have the shape of the segment.
    pub fn follow_left(
        &self,
        challenges: &mut impl Challenges,
        key: &Seed,
        seed: &WeightSeed,
        strings: impl Statements,
        message: &ToLeft,
        memory: &mut Memory,
    ) -> Pending {
        let receiver = self.left(key, seed, message);
        self.follow(challenges, seed, strings, receiver, memory)
    }

    /// Follows the proof as the right verifier, up to its answer to the left one. `key` is shared
    /// with the prover alone; the constants of the strings are `c_R`.
    ///
    /// # Panics
    /// If strings, turns or message do not have the shape of the segment.
    pub fn follow_right(
        &self,
        challenges: &mut impl Challenges,
        key: &Seed,
        seed: &WeightSeed,
        strings: impl Statements,
        message: &ToRight,
        memory: &mut Memory,
    ) -> Pending {
        let receiver = self.right(key, seed, message);
        self.follow(challenges, seed, strings, receiver, memory)
    }

    /// Proves a segment of statements about integers, as [`Segment::prove`] does: the batches have
    /// operands of the left and of the right verifier, and no constants.
    ///
    /// # Panics
    /// If batches have more products than the shape, or operands of another length.
    pub fn prove_sums(
        &self,
        challenges: &mut impl Challenges,
        [left_key, right_key]: [&Seed; 2],
        seed: &WeightSeed,
        batches: &[Batch<'_>],
        memory: &mut Memory,
    ) -> (ToLeft, ToRight) {
        let (context, nonce) = (&self.context, &seed.nonce());
        let weights = &mut SumWeights::new(self.cpu, context, nonce);
        let left = &mut LeftKey::new(context, nonce, left_key);
        let right = &mut RightKey::new(context, nonce, right_key);
        let sources = (left, right, challenges);
        let (cpu, shape) = (self.cpu, self.shape);
        let sent = sums::prove::<PRIME_BITS>(cpu, shape, batches, weights, sources, memory);
        (ToLeft(sent.left), ToRight(sent.right))
    }

    /// Follows the proof of a segment of statements about integers as the left verifier, as
    /// [`Segment::follow_left`] does.
    ///
    /// # Panics
    /// As [`Segment::prove_sums`], or if the message does not have the shape of the segment.
    pub fn follow_left_sums(
        &self,
        challenges: &mut impl Challenges,
        key: &Seed,
        seed: &WeightSeed,
        batches: &[Batch<'_>],
        message: &ToLeft,
        memory: &mut Memory,
    ) -> Pending {
        let receiver = self.left(key, seed, message);
        self.follow_sums(challenges, seed, batches, receiver, memory)
    }

    /// Follows the proof of a segment of statements about integers as the right verifier, as
    /// [`Segment::follow_right`] does.
    ///
    /// # Panics
    /// As [`Segment::prove_sums`], or if the message does not have the shape of the segment.
    pub fn follow_right_sums(
        &self,
        challenges: &mut impl Challenges,
        key: &Seed,
        seed: &WeightSeed,
        batches: &[Batch<'_>],
        message: &ToRight,
        memory: &mut Memory,
    ) -> Pending {
        let receiver = self.right(key, seed, message);
        self.follow_sums(challenges, seed, batches, receiver, memory)
    }

    /// The challenges by hash of this proof, under the seed on which all parties agree.
    pub fn challenges(&self, seed: &WeightSeed) -> ByHash {
        ByHash::new(&self.context, self.shape, &seed.nonce())
    }

    /// Checks that each kind has as many statements as the shape.
    ///
    /// # Panics
    /// If not: the caller has recorded something else than it counted.
    fn check(&self, strings: &impl Statements) {
        let counts = strings.counts();
        let parts = self.shape.parts.iter();
        let wanted = parts.map(|part| part.statements);
        assert!(counts.into_iter().eq(wanted), "statements of each kind");
    }

    fn left<'a>(&self, key: &Seed, seed: &WeightSeed, message: &'a ToLeft) -> Left<'a, LeftKey> {
        let (values, shares) = (self.shape.values(), &message.0[..]);
        assert_eq!(shares.len(), values, "a message of this shape");
        let draws = LeftKey::new(&self.context, &seed.nonce(), key);
        Left { draws, shares }
    }

    fn right<'a>(
        &self,
        key: &Seed,
        seed: &WeightSeed,
        message: &'a ToRight,
    ) -> Right<'a, RightKey> {
        let (challenges, commitments) = (self.shape.challenges(), &message.0[..]);
        assert_eq!(commitments.len(), challenges, "a message of this shape");
        let draws = RightKey::new(&self.context, &seed.nonce(), key);
        Right { draws, commitments }
    }

    fn follow_sums(
        &self,
        challenges: &mut impl Challenges,
        seed: &WeightSeed,
        batches: &[Batch<'_>],
        mut receiver: impl Receiver,
        memory: &mut Memory,
    ) -> Pending {
        let (cpu, shape, context) = (self.cpu, self.shape, self.context);
        let weights = &mut SumWeights::new(cpu, &context, &seed.nonce());
        let sources = (&mut receiver, challenges);
        let answer = sums::follow::<PRIME_BITS, _>(cpu, shape, batches, weights, sources, memory);
        let sums = true;
        Pending {
            cpu,
            context,
            answer,
            sums,
        }
    }

    fn follow(
        &self,
        challenges: &mut impl Challenges,
        seed: &WeightSeed,
        mut strings: impl Statements,
        mut receiver: impl Receiver,
        memory: &mut Memory,
    ) -> Pending {
        self.check(&strings);
        strings.turns().check_verified(&self.shape.turns);
        let nonce = &seed.nonce();
        let weights = Weights::new::<Gf128>(self.cpu, &self.context, self.shape, nonce);
        let (cpu, shape) = (self.cpu, self.shape);
        let sources = (&mut receiver, challenges);
        let answer = level::follow::<Gf128, _>(cpu, shape, &mut strings, &weights, sources, memory);
        Pending {
            cpu,
            context: self.context,
            answer,
            sums: false,
        }
    }
}

/// A verifier that has followed a proof and waits for the other one's answer.
pub struct Pending {
    cpu: Cpu,
    context: Context,
    answer: Answer,
    /// True if the proof is in the field of integers.
    sums: bool,
}

impl Pending {
    /// The answer for the other verifier.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Decides. Both verifiers decide alike, if both sent what they have.
    ///
    /// # Errors
    /// The statements do not hold, or somebody deviated in the proof itself.
    // A function of its own, so that `memcheck` can allow this decision by its name and no other.
    #[inline(never)]
    pub fn decide(self, other: &Answer) -> Result<Proved, Refused> {
        let context = self.context;
        let accepted = if self.sums {
            level::accepts::<SumField>(self.cpu, &self.answer, other)
        } else {
            level::accepts::<Gf128>(self.cpu, &self.answer, other)
        };
        if accepted {
            Ok(Proved { context })
        } else {
            Err(Refused(context))
        }
    }
}
