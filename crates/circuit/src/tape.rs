//! The tape: what a Boolean circuit becomes before any machine runs it.
//!
//! Wires are gone; what is left is a short array of *slots*, reused as soon as a value is dead, so
//! that the live set stays in cache however large the circuit is. Slot 0 holds the constant 0,
//! slot 1 the constant 1, slots `2..2 + inputs` the inputs in order. Neither constant is ever
//! overwritten.

use std::ops::Range;

/// The slot that always holds 0.
pub const ZERO: u32 = 0;
/// The slot that always holds 1.
pub const ONE: u32 = 1;
/// The slot of input 0.
pub const FIRST_INPUT: u32 = 2;

/// One two-input gate over slots. NOT is an XOR with [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Slot of the first operand.
    pub a: u32,
    /// Slot of the second operand.
    pub b: u32,
    /// Slot that is written.
    pub out: u32,
}

/// XOR gates that run in order, then AND gates that are independent of each other: no AND of a
/// batch writes a slot that any AND of the batch reads, and no two write the same slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Indices into [`Tape::xors`]; they run first, in order.
    pub xors: Range<u32>,
    /// Indices into [`Tape::ands`]; they run second, in any order.
    pub ands: Range<u32>,
}

/// A circuit in the form in which every machine executes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tape {
    /// Number of input bits.
    pub inputs: u32,
    /// Number of slots that a machine must hold, constants and inputs included.
    pub slots: u32,
    /// All XOR gates, in the order in which batches name them.
    pub xors: Vec<Gate>,
    /// All AND gates, in the order in which batches name them.
    pub ands: Vec<Gate>,
    /// The batches, in order.
    pub batches: Vec<Batch>,
    /// The slot of each output bit after the last batch; one slot may serve several outputs.
    pub outputs: Vec<u32>,
    /// The longest chain of AND gates.
    pub depth: u32,
}

impl Tape {
    /// Runs the tape in the clear on as many lanes as a word has bits. `slots` has
    /// [`Tape::slots`] words: the caller sets the constants and the inputs, and reads the outputs.
    pub fn evaluate(&self, slots: &mut [u64]) {
        for batch in &self.batches {
            for gate in &self.xors[batch.xors.start as usize..batch.xors.end as usize] {
                slots[gate.out as usize] = slots[gate.a as usize] ^ slots[gate.b as usize];
            }
            for gate in &self.ands[batch.ands.start as usize..batch.ands.end as usize] {
                slots[gate.out as usize] = slots[gate.a as usize] & slots[gate.b as usize];
            }
        }
    }
}
