//! Crate `circuit`: Boolean circuits: builder, standard functions, formats, and the tape that
//! machines execute.
//!
//! * [`Builder`] makes gates and avoids unnecessary ones: constants fold, equal gates are shared,
//!   NOT is free. Its methods in `word` are the standard functions: exact integer arithmetic on
//!   words of any width, comparisons, shifts, selection, sorting, shuffling; [`aes`], [`sha1`],
//!   [`sha256`] and the intersections of [`psi`] are built from code.
//! * [`Circuit`] is the finished graph: only gates on which an output depends.
//! * [`compile()`] orders a circuit with `sealane-schedule` and gives every value a slot; the
//!   result is a [`Tape`], which machines (garblers, evaluators, [`Tape::eval`]) execute.
//! * [`Sequential`] is one cycle with flip-flops, which runs for any number of cycles.
//! * [`bristol`] reads and writes the Bristol and Bristol Fashion formats.
//!
//! Cost is the number of AND gates, or the number of levels of them: XOR and NOT are nearly free in
//! every protocol of this project. A [`Goal`] selects which of the two a builder minimises. Words
//! are slices of [`Wire`], least significant bit first, negative numbers in two's complement.
//!
//! Circuits are public. Nothing here protects the values that [`Tape::eval`] or [`Circuit::eval`]
//! compute with: evaluation in the clear is for tests and tools.

#![forbid(unsafe_code)]

pub mod aes;
pub mod bristol;
mod builder;
mod circuit;
mod compile;
mod eval;
pub mod function;
pub mod psi;
mod sequential;
pub mod sha1;
pub mod sha256;
pub mod shared;
pub mod tape;
mod two_input;
mod word;

pub use builder::{Builder, Goal, Lookups, Wire, Word};
pub use circuit::{Circuit, CircuitInfo};
pub use compile::{compile, compile_known};
pub use eval::{EvalError, Lanes, eval_hex, eval_words};
pub use sealane_schedule::{Machine, Order};
pub use sequential::{CycleTape, Initial, Run, Sequential, SequentialError, Source};
pub use tape::{KnownTo, Tape, TapeError};
pub use two_input::{Plain, TableGate, TableGates};
pub use word::{
    Int, Join, merging_network, permutation_network, permutation_switches, sorting_network,
};
