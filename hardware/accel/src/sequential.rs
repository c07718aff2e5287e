//! Netlists as sequential circuits of crate `circuit`, and back: the CPU garbler runs the former,
//! garbling hardware the latter.

use crate::gate::{Gate, GateKind, Operand};
use crate::netlist::{FlipFlop, Inputs, Netlist, NetlistError, Parts};
use sealane_circuit::{Builder, Initial, Plain, Sequential, SequentialError};
use sealane_circuit::{TableGate, Wire, Word};

/// Error: a netlist is no sequential circuit, or a circuit no netlist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A flip-flop begins with an input that changes in each cycle.
    #[error(
        "flip-flop {flip_flop} begins with wire {wire}, an input that is given in each netlist \
         cycle; initial values are given once"
    )]
    Fresh {
        /// Number of the flip-flop, from 0.
        flip_flop: usize,
        /// The wire.
        wire: u32,
    },
    /// The inputs that are asked for are not those of the circuit.
    #[error("the circuit has {found} input bits, and {expected} are stated")]
    Inputs {
        /// Bits that are stated.
        expected: u64,
        /// Bits of the circuit beside its flip-flops.
        found: u64,
    },
    /// The circuit breaks a rule of netlists.
    #[error(transparent)]
    Netlist(#[from] NetlistError),
    /// The cycle breaks a rule of sequential circuits.
    #[error(transparent)]
    Sequential(#[from] SequentialError),
}

impl Netlist {
    /// Returns the netlist as a sequential circuit. It has three held inputs and three fresh ones,
    /// some of them without bits: each public, of the garbler, of the evaluator. Its one output has
    /// the order of the ports, where that is known, else that of the file. A wire that ends a run
    /// early is ignored: runs have the number of cycles that their caller wants.
    ///
    /// # Errors
    /// [`ConvertError::Fresh`].
    pub fn sequential(&self) -> Result<Sequential, ConvertError> {
        let parts = self.parts();
        let counts = parts.inputs.counts();
        let mut b = Builder::new();
        let state = b.input(parts.flip_flops.len());
        let inputs = counts.map(|count| b.input(count as usize));
        let mut wires: Word = inputs.concat();
        wires.extend(state);
        let read = |wires: &[Wire], operand: Operand| match operand {
            Operand::Zero => Wire::ZERO,
            Operand::One => Wire::ONE,
            Operand::Wire(wire) => wires[wire as usize],
        };
        for gate in &parts.gates {
            let x = read(&wires, gate.in0);
            let y = gate.in1.map_or(Wire::ZERO, |in1| read(&wires, in1));
            wires.push(build(&mut b, gate.kind, x, y));
        }
        let next = parts.flip_flops.iter().map(|pair| read(&wires, pair.next));
        let next: Word = next.collect();
        let mut outputs = vec![Wire::ZERO; parts.outputs.len()];
        for (index, &output) in parts.outputs.iter().enumerate() {
            let ports = parts.ports.as_ref();
            let port = ports.map_or(index, |ports| ports[index] as usize);
            outputs[port] = read(&wires, output);
        }
        let initial = self.initial()?;
        Ok(Sequential::new(b.finish(vec![next, outputs]), initial, 3)?)
    }

    /// Returns the initial values of the flip-flops.
    pub(crate) fn initial(&self) -> Result<Vec<Initial>, ConvertError> {
        let parts = self.parts();
        let held: u32 = parts.inputs.counts()[..3].iter().sum();
        let initial = parts.flip_flops.iter().enumerate();
        let initial = initial.map(|(flip_flop, pair)| match pair.initial {
            Operand::Zero => Ok(Initial::Constant(false)),
            Operand::One => Ok(Initial::Constant(true)),
            Operand::Wire(wire) if wire < held => Ok(Initial::Held(wire)),
            Operand::Wire(wire) => Err(ConvertError::Fresh { flip_flop, wire }),
        });
        initial.collect()
    }

    /// Makes a netlist of a sequential circuit whose input bits are those that `inputs` counts, in
    /// this order. NOT costs a gate only where an inverted wire is an output, D of a flip-flop, and
    /// read as it is too.
    ///
    /// # Errors
    /// [`ConvertError::Inputs`], or an error of [`Netlist::new`].
    pub fn of_sequential(circuit: &Sequential, inputs: Inputs) -> Result<Netlist, ConvertError> {
        let words = [circuit.held_widths(), circuit.fresh_widths()].concat();
        let found = words.iter().sum::<usize>() as u64;
        let held = circuit.held_widths().iter().sum::<usize>() as u64;
        let expected_held: u32 = inputs.counts()[..3].iter().sum();
        if found != inputs.count() || held != u64::from(expected_held) {
            let expected = inputs.count();
            return Err(ConvertError::Inputs { expected, found });
        }
        let initial = circuit.initial().iter().map(|initial| match *initial {
            Initial::Constant(false) => Operand::Zero,
            Initial::Constant(true) => Operand::One,
            Initial::Held(bit) => Operand::Wire(bit),
        });
        let initial: Vec<Operand> = initial.collect();
        let gates = circuit.cycle().table_gates();
        // Wires of the circuit are numbered from its flip-flops on, those of the netlist from its
        // inputs on.
        let flip_flops = initial.len() as u32;
        let rename = |wire: u32| match wire.checked_sub(flip_flops) {
            None => wire + found as u32,
            Some(input) if u64::from(input) < found => input,
            Some(_) => wire,
        };
        let operand = |wire: Plain| match wire {
            Plain::Constant(false) => Operand::Zero,
            Plain::Constant(true) => Operand::One,
            Plain::Wire(wire) => Operand::Wire(rename(wire)),
        };
        let outputs: Vec<Operand> = gates.outputs.iter().map(|&wire| operand(wire)).collect();
        let (next, outputs) = outputs.split_at(initial.len());
        let pair = |(&next, initial)| FlipFlop { next, initial };
        let gate = |gate: &TableGate| Gate {
            kind: kind_of(gate),
            in0: operand(gate.a),
            in1: gate.b.map(operand),
        };
        Ok(Netlist::new(Parts {
            inputs,
            flip_flops: next.iter().zip(initial).map(pair).collect(),
            gates: gates.gates.iter().map(gate).collect(),
            outputs: outputs.to_vec(),
            ports: None,
            terminate: None,
        })?)
    }
}

/// Adds a gate of a kind, by its truth table.
fn build(b: &mut Builder, kind: GateKind, x: Wire, y: Wire) -> Wire {
    let not = |inverted: bool, wire: Wire| if inverted { !wire } else { wire };
    match kind {
        GateKind::Not => !x,
        GateKind::Xor => b.xor(x, y),
        GateKind::Xnor => !b.xor(x, y),
        _ => {
            let [in0, in1, out] = kind.inversions();
            let (x, y) = (not(in0, x), not(in1, y));
            not(out, b.and(x, y))
        }
    }
}

/// Returns the kind of a gate that depends on all its operands.
fn kind_of(gate: &TableGate) -> GateKind {
    let mut kinds = GateKind::ALL.iter().copied();
    let is = |kind: &GateKind| {
        let not = *kind == GateKind::Not;
        not == gate.b.is_none() && (not || kind.truth_table() == gate.table)
    };
    let kind = kinds.find(is);
    kind.expect("AND and XOR of operands and complements have ten tables, and a kind has each")
}
