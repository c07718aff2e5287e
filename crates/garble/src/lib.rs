//! Crate `garble`: garbled circuits over batches of gates and many rows at once; no network.
//!
//! * A [`Scheme`] is a way to garble: half-gates (Zahur, Rosulek, Evans: "Two Halves Make a
//!   Whole", Eurocrypt 2015) with free XOR under one of the four hashes of
//!   [`sealane_block::hash`]; [`three_halves`], with fewer bytes and more AES; or [`prf`], which
//!   assumes a pseudorandom function and nothing else.
//! * [`Garbler`] and [`Evaluator`] run a [`Tape`](sealane_circuit::Tape) on any number of lanes
//!   (rows, instances); labels come and go through [`Ports`], tables through [`Tables`].
//! * [`Cycles`] runs one tape in each cycle of a sequential circuit, with labels that flip-flops
//!   hand on.
//! * [`authenticated`] walks over tapes whose wires have masks with MACs, for a protocol against
//!   parties that deviate.
//! * [`machine`] defines the order in which the lanes and gates of a tape are processed: the
//!   *format*. It is the same on every CPU tier and any number of cores, and so are the tables.
//! * [`half_gates`], [`three_halves`], [`known_operand`] and [`prf`] hold the equations, once for
//!   all tiers; `kernels` feeds them the gates of a batch in groups of sixteen.
//!
//! **Assumption.** The assumption of the scheme, and semi-honest parties. An evaluator that changes
//! tables or labels is detected only where output labels no longer match; a cheating garbler is not
//! detected.
//!
//! **Tweaks.** Both sides count calls: each run of a tape with tables and each decoding is a call.
//! The tweak of a hash is (number of the gate in its circuit, call, lane, part), so no tweak occurs
//! twice under a seed, and every garbler draws its own seed. With MI, the AES key of a hash is seed
//! ^ tweak. Both sides make the same calls in the same order.
//!
//! **Constants.** With free XOR, NOT is an XOR with the constant 1. The zero label of the constant
//! 0 is 0 and that of the constant 1 is delta, so the evaluator's label of both is the zero block,
//! and nothing is sent for it.

#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

use sealane_block::Block;

mod ahead;
pub mod authenticated;
mod cores;
mod cycles;
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
#[cfg(test)]
mod vectors;

pub use cycles::Cycles;
pub use decode::{DecodeError, decode};
pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use labels::Labels;
pub use scheme::{Roles, Scheme, UnknownScheme};
pub use tables::{ChunkReader, ChunkWriter, Tables, TablesInMemory};

/// Input and output of labels for a machine: it loads the labels of a tape's inputs and stores
/// those of its outputs. Bits and lanes are indexed as the tape numbers them; a call covers
/// neighbouring lanes. A garbler of a scheme without free XOR loads and stores two labels a lane:
/// the labels of 0 for all lanes, then the labels of 1. Several threads may load at the same time.
///
/// Before a lane is stored, it and all lanes before it have been loaded. So outputs may go to where
/// inputs came from, if no later lane loads what a lane stores.
pub trait Ports: Sync {
    /// Fills `labels` with all input bits of neighbouring lanes from `first_lane` on, as
    /// `[bit][label of the wire][lane]`; `per_bit` is the number of blocks of one bit. One call
    /// loads all bits, since a tape may have as many inputs as ANDs.
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]);
    /// Stores output bit `output` of lanes `first_lane..first_lane + labels.len()`.
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]);
}

/// Largest number of bytes that a machine requests from [`Tables`] at once.
pub const CHUNK_BYTES: usize = 64 * 1024;
