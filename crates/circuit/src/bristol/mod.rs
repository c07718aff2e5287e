//! The Bristol formats: circuits as lists of gates in text.
//!
//! Both start with the numbers of gates and wires. *Bristol* (the old format) goes on with the
//! widths of two inputs and one output and knows XOR, AND and INV. *Bristol Fashion* lists any
//! number of inputs and outputs with their widths and adds EQ (a constant), EQW (a copy) and MAND
//! (several ANDs). Inputs are the first wires, outputs the last; the first wire of a value is its
//! least significant bit, provided that the author of a file followed this rule: the old AES files,
//! for example, number the bits of their byte strings the other way.
//!
//! Files come from outside. The reader checks every number before it is used, takes no more memory
//! than a small multiple of the length of the text, and says line, column and what it expected.

mod read;
mod write;

pub use read::{CircuitFile, MAX_INPUT_BITS, ReadError, read};
pub use write::{WriteError, write};

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two inputs, one output; XOR, AND, INV.
    Bristol,
    /// Any inputs and outputs; XOR, AND, INV, EQ, EQW, MAND.
    BristolFashion,
}
