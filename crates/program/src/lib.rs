//! Room `program`: what the user means: a typed graph of tensor operations in single-assignment
//! form, independent of protocol and of the number of parties.
//!
//! CONTRACT SKELETON: types that other rooms rely on; the room's owner adds the builder (checks of
//! types, shapes, ranges and visibility), the printer, the parser, and may add, not rename.

pub mod diagnostic;
pub mod graph;
pub mod types;
