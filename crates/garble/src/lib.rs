//! Room `garble`: garbled circuits over batches of gates and many rows at once; no network.
//!
//! The scheme is half-gates (Zahur, Rosulek, Evans: "Two Halves Make a Whole", Eurocrypt 2015)
//! with free XOR: 32 bytes and two hash calls an AND for the evaluator, four for the garbler,
//! nothing for XOR and NOT. The hash is MI ([`sealane_block::MiHash`]), whose bound does not fall
//! with the number of gates and instances.
//!
//! * [`Garbler`] and [`Evaluator`] run a [`Tape`] on any number of lanes (rows, instances); labels
//!   come and go through [`Ports`], tables through a byte stream.
//! * [`machine`] says in which order the lanes and gates of a tape are taken: the *format*, the
//!   same on every CPU tier, so that tables are too.
//! * [`half_gates`] holds the equations, once for all tiers.
//!
//! **Assumption.** AES as an ideal cipher, semi-honest parties. An evaluator who changes tables or
//! labels is caught only as far as output labels no longer match; a garbler who cheats is not
//! caught at all.
//!
//! **Tweaks.** A garbler counts groups of sixteen hashes from 0 with one 64-bit counter over all
//! its calls, gates and decodings alike; the AES key of a hash is S ^ (16 * group + place, half).
//! The counter never goes back, so no key occurs twice within a seed, and every garbler draws its
//! own seed S. The evaluator counts in step: both sides make the same calls in the same order.
//!
//! **Constants.** NOT is an XOR with the constant 1. The zero label of the constant 0 is 0 and
//! that of the constant 1 is delta, so the evaluator's label of both is the zero block, which it
//! needs nobody to send.

#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

use sealane_block::Block;
use sealane_circuit::Tape;

mod decode;
mod evaluator;
mod garbler;
pub mod half_gates;
pub mod machine;
pub mod three_halves;
mod xor;

pub use decode::{DecodeError, decode};
pub use evaluator::Evaluator;
pub use garbler::Garbler;

/// Where a machine finds the labels of a tape's inputs and puts those of its outputs. Bits and
/// lanes are indexed as the tape numbers them; a call covers neighbouring lanes of one bit.
pub trait Ports {
    /// Fills `labels` with input bit `input` of lanes `first_lane..first_lane + labels.len()`.
    fn load(&self, input: usize, first_lane: usize, labels: &mut [Block]);
    /// Takes output bit `output` of lanes `first_lane..first_lane + labels.len()`.
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]);
}

/// Bytes of tables of one AND on one lane.
pub const AND_BYTES: usize = 32;

/// The largest chunk of table bytes that a garbler hands on or an evaluator asks for.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Table bytes of a tape on `lanes` lanes: 32 for each AND.
pub fn table_bytes(tape: &Tape, lanes: u64) -> u64 {
    tape.ands.len() as u64 * lanes * AND_BYTES as u64
}
