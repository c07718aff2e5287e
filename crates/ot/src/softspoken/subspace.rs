//! Subspace VOLE: the extension beneath correlated OTs and those of one of many strings.
//!
//! The [module above](super) has the protocol for one bit of choice, which every tree repeats. Here
//! the choice of an OT is a word of a binary linear code, with a bit for each tree (Roy,
//! "SoftSpokenOT", CRYPTO 2022, subspace VOLE): the code is systematic, so the first trees give the
//! random bits of the choice, and the receiver sends corrections for all others.
//!
//! ```text
//! x = (u_0, .., u_{b-1})        c = C(x), c_i = u_i for i < b
//! d_i = u_i ^ c_i for i >= b    --- d_i -->     q_i = w_i ^ delta_i d_i = v_i ^ delta_i c_i
//! ```
//!
//! # The check for any code
//! As for one bit, with `R(x_0), .., R(x_{b-1})` in place of `R(x)`: the sender computes `C` of
//! them, since `R` is linear. A receiver's message fixes a word `u'_0, u'_1, ..` of columns, one
//! for each tree. With its answer, which fixes a word of the code over GF(2^128), a tree agrees if
//! `R(u'_i)` is that word's symbol; the check passes only if the receiver knows `delta_i` of every
//! tree that does not agree, `k` bits each. Fix the set `S` of trees that agree. If `u'` on `S` is
//! no word of the code, some parity check of the code on `S` has a sum of columns that is not zero
//! while its hash is, which happens with probability `32 / 2^128`. Else `u'` is, on `S`, the word
//! of some choices, and the receiver has deviated in trees alone that it guessed. Over all sets of
//! `n - g` trees, each with probability `2^(-k g)` of the guesses, a receiver that deviates beyond
//! its guesses passes with probability at most `32 (1 + 2^-k)^n / 2^128` for each challenge that it
//! computes, of which a message has one for each piece. For the codes of
//! [`one_of_n`](super::one_of_n) that is below `2^-115`. With one bit repeated, a parity check is a
//! pair of trees, and the bound of the module above is tighter.

use crate::transcript::{DIGEST_BYTES, Digested};
use crate::{Flight, Flights, Security, base};
use sealane_block::{Block, Cpu, Leaves, Seed, column_hash};
use sealane_net::SessionId;
use std::ops::Range;

use super::tree;

/// Blocks of a column in a whole piece.
pub(super) const PIECE: usize = column_hash::PIECE;
/// Rows of a block of a column.
pub(super) const ROWS: usize = 128;

/// A binary linear code whose words are the sequences of a linear recurrence: symbol `i` is the sum
/// of the symbols `i - bits + j` for each bit `j` of `taps`. The first `bits` symbols are free.
#[derive(Clone, Copy)]
pub(super) struct Code {
    pub(super) bits: usize,
    pub(super) taps: u8,
}

impl Code {
    /// One bit, repeated.
    pub(super) const REPETITION: Code = Code { bits: 1, taps: 1 };

    /// Replaces the oldest of the last `bits` symbols, number `i - bits`, by number `i`. Symbol `j`
    /// is the `j % bits`-th of equal parts of `recent`. Bit 0 of `taps` is 1.
    pub(super) fn step(self, i: usize, recent: &mut [Block]) {
        let width = recent.len() / self.bits;
        let oldest = i % self.bits * width;
        for j in (1..self.bits).filter(|j| self.taps >> j & 1 == 1) {
            let other = (i + j) % self.bits * width;
            for block in 0..width {
                let symbol = recent[other + block];
                recent[oldest + block] ^= symbol;
            }
        }
    }

    /// The word of a choice: symbol `i` in bit `i`.
    pub(super) const fn word(self, choice: u8, length: usize) -> u128 {
        let mut word = choice as u128;
        let mut i = self.bits;
        while i < length {
            let recent = (word >> (i - self.bits)) as u8 & self.taps;
            word |= (recent.count_ones() as u128 & 1) << i;
            i += 1;
        }
        word
    }
}

/// Parameters of an extension.
#[derive(Clone, Copy)]
pub(super) struct Subspace {
    /// Bits of the number of a leaf; fewer in the last tree if they do not divide the columns.
    pub(super) k: usize,
    /// Bits of the offset.
    pub(super) columns: usize,
    /// The code of choices, with a symbol for each tree.
    pub(super) code: Code,
    pub(super) security: Security,
}

impl Subspace {
    /// Number of trees.
    pub(super) const fn trees(self) -> usize {
        self.columns.div_ceil(self.k)
    }

    /// The columns of each tree, as many as its numbers have bits.
    pub(super) fn columns(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.columns)
            .step_by(self.k)
            .map(move |first| first..self.columns.min(first + self.k))
    }

    pub(super) const fn malicious(self) -> bool {
        matches!(self.security, Security::Malicious)
    }

    /// The digest of the corrections.
    pub(super) fn digested(self, cpu: Cpu) -> Digested {
        let security = self.security;
        Digested { cpu, security }
    }

    /// Blocks of each column in an extension of `count` OTs: those that hide the check included.
    const fn blocks(self, count: usize) -> usize {
        count.div_ceil(ROWS) + self.hidden()
    }

    /// Blocks that hide the check, the first of an extension.
    const fn hidden(self) -> usize {
        self.malicious() as usize
    }

    /// Messages of the set-up.
    pub(super) fn set_up_flights(self) -> Flights {
        let first = Flight::new(
            (base::receiver_bytes(self.columns) + DIGEST_BYTES) as u64,
            base::SENDER_BYTES as u64,
        );
        let trees = Flight::new(0, (tree::message_bytes(self) + DIGEST_BYTES) as u64);
        vec![first, trees]
    }

    /// Messages of an extension of `count` OTs.
    pub(super) fn extend_flights(self, count: u64) -> Flights {
        if count == 0 {
            return Vec::new();
        }
        let blocks = self.blocks(count as usize) as u64;
        // A digest of what was sent and the answer: hashes of the choices' columns, and a hash of
        // those of all others.
        let check = if self.malicious() {
            DIGEST_BYTES + 16 * self.code.bits + 32
        } else {
            0
        };
        vec![Flight::new(
            0,
            (self.trees() - self.code.bits) as u64 * blocks * 16 + check as u64,
        )]
    }

    /// The pieces of an extension of `count` OTs.
    pub(super) fn pieces(self, count: usize) -> impl Iterator<Item = Piece> {
        let blocks = match count {
            0 => 0,
            _ => self.blocks(count),
        };
        (0..blocks).step_by(PIECE).map(move |begin| {
            let width = PIECE.min(blocks - begin);
            let hidden = if begin == 0 { self.hidden() } else { 0 };
            let first = (begin + hidden - self.hidden()) * ROWS;
            Piece {
                width,
                hidden,
                first,
                count: (count - first).min((width - hidden) * ROWS),
            }
        })
    }

    /// Generators of the leaves of each tree that a party knows.
    pub(super) fn generators(
        self,
        cpu: Cpu,
        session: SessionId,
        trees: &[Vec<Seed>],
    ) -> Vec<Leaves> {
        let of_tree = |(columns, leaves): (Range<usize>, &Vec<Seed>)| {
            let stream = |leaf: &Seed| leaf.stream("ot: leaf", session.as_bytes());
            Leaves::new(cpu, columns.len(), leaves.iter().map(stream))
        };
        self.columns().zip(trees).map(of_tree).collect()
    }
}

/// Piece of an extension: its blocks of a column, of which some hide the check.
pub(super) struct Piece {
    pub(super) width: usize,
    pub(super) hidden: usize,
    /// OTs before it.
    pub(super) first: usize,
    /// OTs in it.
    pub(super) count: usize,
}

/// Key of the check for the piece whose corrections were sent last, from the digest of all that the
/// receiver has sent so far.
pub(super) fn challenge(digest: &[u8; 32]) -> Block {
    let mut key = [0; 16];
    blake3::Hasher::new_derive_key("sealane 6 ot check key")
        .update(digest)
        .finalize_xof()
        .fill(&mut key);
    Block::from_bytes(key)
}

/// Hash of the check values of all columns.
pub(super) fn check_hash(digest: &[u8; 32], values: &[Block]) -> [u8; 32] {
    *blake3::Hasher::new_derive_key("sealane 6 ot check values")
        .update(digest)
        .update(Block::as_bytes(values))
        .finalize()
        .as_bytes()
}
