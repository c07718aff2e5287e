//! Room `garble`: garbled circuits over batches of gates and many rows at once; no network.
//!
//! * A [`Scheme`] is a way to garble: half-gates (Zahur, Rosulek, Evans: "Two Halves Make a
//!   Whole", Eurocrypt 2015) with free XOR under one of the four hashes of
//!   [`sealane_block::hash`]; [`three_halves`], with fewer bytes and more AES; or [`prf`], which
//!   assumes a pseudorandom function and nothing else.
//! * [`Garbler`] and [`Evaluator`] run a [`Tape`](sealane_circuit::Tape) on any number of lanes
//!   (rows, instances); labels come and go through [`Ports`], tables through [`Tables`].
//! * [`machine`] says in which order the lanes and gates of a tape are taken: the *format*, the
//!   same on every CPU tier and on any number of cores, so that tables are too.
//! * [`half_gates`], [`three_halves`], [`known_operand`] and [`prf`] hold the equations, once for
//!   all tiers; `kernels` brings the gates of a batch to them in groups of sixteen.
//!
//! **Assumption.** That of the scheme; semi-honest parties. An evaluator who changes tables or
//! labels is caught only as far as output labels no longer match; a garbler who cheats is not
//! caught at all.
//!
//! **Tweaks.** Both sides count calls: each run of a tape with tables and each decoding is one. The
//! tweak of a hash is (number of the gate in its circuit, call, lane, part), so within a seed none
//! occurs twice; and every garbler draws its own seed. With MI, the AES key of a hash is seed ^
//! tweak. Both sides make the same calls in the same order.
//!
//! **Constants.** With free XOR, NOT is an XOR with the constant 1. The zero label of the constant
//! 0 is 0 and that of the constant 1 is delta, so the evaluator's label of both is the zero block,
//! which it needs nobody to send.

#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

use sealane_block::Block;

mod ahead;
mod cores;
mod decode;
mod evaluator;
mod garbler;
pub mod half_gates;
mod kernels;
pub mod known_operand;
mod labels;
pub mod machine;
pub mod prf;
mod scheme;
mod tables;
pub mod three_halves;

pub use decode::{DecodeError, decode};
pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use labels::Labels;
pub use scheme::{Roles, Scheme, UnknownScheme};
pub use tables::{ChunkReader, ChunkWriter, Tables};

/// Where a machine finds the labels of a tape's inputs and puts those of its outputs. Bits and
/// lanes are indexed as the tape numbers them; a call covers neighbouring lanes. A garbler of a
/// scheme without free XOR loads and stores two labels a lane: those of 0 for all lanes, then those
/// of 1. Several threads load at a time.
pub trait Ports: Sync {
    /// Fills `labels` with all input bits of neighbouring lanes from `first_lane` on, as
    /// `[bit][label of the wire][lane]`; `per_bit` is the number of blocks of one bit. It is one
    /// call for all bits, since tapes may have as many inputs as ANDs.
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]);
    /// Takes output bit `output` of lanes `first_lane..first_lane + labels.len()`.
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]);
}

/// The most bytes that a machine asks [`Tables`] for at once.
pub const CHUNK_BYTES: usize = 64 * 1024;
