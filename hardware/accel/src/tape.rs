//! Netlists as tapes that keep the order of the file, as garbling hardware does: tables come in the
//! order of the gates, and the number of an AND in the file is that of its tweaks.
//!
//! [`Netlist::sequential`] gives a circuit that a compiler may order and simplify; this tape has
//! the gates as they are. Every AND is a batch of its own: within a batch tables are laid out by
//! groups of gates, and here each table is to come whole.

use crate::gate::{Gate, GateKind, Operand};
use crate::netlist::Netlist;
use crate::sequential::ConvertError;
use sealane_circuit::tape::{self, Batch, FIRST_INPUT, NOBODY, ONE, ZERO};
use sealane_circuit::{CycleTape, Tape};

impl Netlist {
    /// Returns one cycle as a tape whose ANDs are those of the netlist, in its order. The outputs
    /// of a cycle have the order of the file, not that of ports.
    ///
    /// # Errors
    /// [`ConvertError::Fresh`].
    pub fn cycle_tape(&self) -> Result<CycleTape, ConvertError> {
        let parts = self.parts();
        let initial = self.initial()?;
        let (flip_flops, inputs) = (initial.len() as u32, self.inputs());
        let first_gate = self.first_gate();
        // The inputs of the tape begin with Q of the flip-flops, those of the netlist end with it.
        let slot = |operand: Operand| match operand {
            Operand::Zero => ZERO,
            Operand::One => ONE,
            Operand::Wire(wire) if wire < inputs => FIRST_INPUT + flip_flops + wire,
            Operand::Wire(wire) if wire < first_gate => FIRST_INPUT + wire - inputs,
            Operand::Wire(wire) => FIRST_INPUT + wire,
        };
        let mut maker = Maker::new(FIRST_INPUT + self.wires());
        for (gate, out) in parts.gates.iter().zip(FIRST_INPUT + first_gate..) {
            maker.gate(*gate, slot, out);
        }
        let next = parts.flip_flops.iter().map(|pair| pair.next);
        let outputs = next.chain(parts.outputs.iter().copied()).map(slot);
        let tape = maker.finish(first_gate, outputs.collect());
        debug_assert_eq!(tape.check(), Ok(()));
        let held: u32 = parts.inputs.counts()[..3].iter().sum();
        let state = flip_flops as usize;
        Ok(CycleTape {
            initial,
            held: state..state + held as usize,
            fresh: state + held as usize..tape.inputs as usize,
            outputs: state..tape.outputs.len(),
            tape,
        })
    }
}

/// A tape in the making.
struct Maker {
    xors: Vec<tape::Gate>,
    ands: Vec<tape::Gate>,
    batches: Vec<Batch>,
    /// XORs of the batches that are closed.
    closed: u32,
    depths: Vec<u32>,
    depth: u32,
    /// The first of two slots for inverted operands.
    spare: u32,
}

impl Maker {
    fn new(spare: u32) -> Maker {
        Maker {
            xors: Vec::new(),
            ands: Vec::new(),
            batches: Vec::new(),
            closed: 0,
            depths: vec![0; spare as usize + 2],
            depth: 0,
            spare,
        }
    }

    fn gate(&mut self, gate: Gate, slot: impl Fn(Operand) -> u32, out: u32) {
        let Gate { kind, in0, in1 } = gate;
        let [mut a, mut b] = [slot(in0), in1.map_or(ONE, slot)];
        if kind.is_xor() {
            self.xor(a, b, out);
            if kind == GateKind::Xnor {
                self.xor(out, ONE, out);
            }
            return;
        }
        let [in0, in1, inverts_out] = kind.inversions();
        let inverted = [(in0, &mut a), (in1, &mut b)];
        for ((inverts, operand), spare) in inverted.into_iter().zip(self.spare..) {
            if inverts {
                self.xor(*operand, ONE, spare);
                *operand = spare;
            }
        }
        let depth = 1 + self.depths[a as usize].max(self.depths[b as usize]);
        self.depths[out as usize] = depth;
        self.depth = self.depth.max(depth);
        let number = self.ands.len() as u32;
        self.ands.push(tape::Gate { a, b, out, number });
        self.close(1);
        if inverts_out {
            self.xor(out, ONE, out);
        }
    }

    fn xor(&mut self, a: u32, b: u32, out: u32) {
        self.depths[out as usize] = self.depths[a as usize].max(self.depths[b as usize]);
        let number = self.xors.len() as u32;
        self.xors.push(tape::Gate { a, b, out, number });
    }

    /// Ends a batch, of which the last `ands` ANDs are.
    fn close(&mut self, ands: u32) {
        let (xors, end) = (self.xors.len() as u32, self.ands.len() as u32);
        self.batches.push(Batch {
            xors: self.closed..xors,
            ands: end - ands..end,
        });
        self.closed = xors;
    }

    fn finish(mut self, inputs: u32, outputs: Vec<u32>) -> Tape {
        self.close(0);
        Tape {
            inputs,
            slots: self.depths.len() as u32,
            known_to: vec![NOBODY; self.ands.len()],
            lone: vec![false; self.xors.len()],
            xors: self.xors,
            ands: self.ands,
            batches: self.batches,
            functions: Vec::new(),
            applied: Vec::new(),
            outputs,
            depth: self.depth,
            counted: Default::default(),
        }
    }
}
