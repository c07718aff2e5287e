//! Sequential netlists: inputs, flip-flops, gates in the order in which they are issued, outputs.
//!
//! A netlist runs for a number of *netlist cycles*. In the first, the output Q of a flip-flop has
//! the value of its operand I, in all later ones the value that its operand D had in the cycle
//! before. Wires are numbered: inputs, then Q of each flip-flop, then the output of each gate.

use crate::gate::{Gate, GateKind, Operand};
use sealane_schedule::{Graph, NodeCost};

/// Most wires of a netlist: more than any engine holds, and few enough for an index of 32 bits.
pub const MOST_WIRES: u64 = 1 << 24;

/// A flip-flop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlipFlop {
    /// D: the value of Q in the next netlist cycle.
    pub next: Operand,
    /// I: the value of Q in the first netlist cycle, an input or a constant.
    pub initial: Operand,
}

/// Numbers of input wires, in the order in which they are numbered. Those for initial values are
/// given once, the others in each netlist cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    /// Public, for initial values.
    pub public_initial: u32,
    /// Of the garbler, for initial values.
    pub garbler_initial: u32,
    /// Of the evaluator, for initial values.
    pub evaluator_initial: u32,
    /// Public, in each cycle.
    pub public: u32,
    /// Of the garbler, in each cycle.
    pub garbler: u32,
    /// Of the evaluator, in each cycle.
    pub evaluator: u32,
}

impl Inputs {
    /// Returns all six numbers in the order of the wires.
    pub fn counts(&self) -> [u32; 6] {
        let [public, garbler, evaluator] = [self.public, self.garbler, self.evaluator];
        [
            self.public_initial,
            self.garbler_initial,
            self.evaluator_initial,
            public,
            garbler,
            evaluator,
        ]
    }

    /// Returns inputs of these numbers, in the order of the wires.
    pub fn of_counts(counts: [u32; 6]) -> Inputs {
        let [p_init, g_init, e_init, public, garbler, evaluator] = counts;
        Inputs {
            public_initial: p_init,
            garbler_initial: g_init,
            evaluator_initial: e_init,
            public,
            garbler,
            evaluator,
        }
    }

    /// Returns the number of input wires.
    pub fn count(&self) -> u64 {
        self.counts().iter().map(|&count| u64::from(count)).sum()
    }
}

/// Error: a part of a netlist names a wire that it must not name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetlistError {
    /// There are more wires than [`MOST_WIRES`].
    #[error("there are {0} wires, and {MOST_WIRES} are the most")]
    TooLarge(u64),
    /// A gate reads a wire that no input, flip-flop or earlier gate drives.
    #[error("gate {gate} reads wire {wire}, which is not there before it: it drives wire {own}")]
    NotBefore {
        /// Number of the gate, from 0.
        gate: usize,
        /// The wire that it reads.
        wire: u32,
        /// The wire that it drives.
        own: u32,
    },
    /// A gate has the wrong number of operands for its kind.
    #[error("gate {gate} is of kind {kind:?} and has {count} operands")]
    Operands {
        /// Number of the gate, from 0.
        gate: usize,
        /// Its kind.
        kind: GateKind,
        /// The operands that it has.
        count: usize,
    },
    /// D of a flip-flop is no wire of the netlist.
    #[error("D of flip-flop {flip_flop} is wire {wire}, and there are {wires} wires, from 0")]
    Next {
        /// Number of the flip-flop, from 0.
        flip_flop: usize,
        /// The wire.
        wire: u32,
        /// Number of wires.
        wires: u32,
    },
    /// I of a flip-flop is neither an input nor a constant.
    #[error("I of flip-flop {flip_flop} is wire {wire}, and there are {inputs} inputs, from 0")]
    Initial {
        /// Number of the flip-flop, from 0.
        flip_flop: usize,
        /// The wire.
        wire: u32,
        /// Number of inputs.
        inputs: u32,
    },
    /// An output is no wire of the netlist.
    #[error("output {output} is wire {wire}, and there are {wires} wires, from 0")]
    Output {
        /// Number of the output, from 0.
        output: usize,
        /// The wire.
        wire: u32,
        /// Number of wires.
        wires: u32,
    },
    /// The ports are no permutation of the outputs.
    #[error("the ports of {outputs} outputs are not each number below {outputs} once")]
    Ports {
        /// Number of outputs.
        outputs: usize,
    },
    /// The signal that ends a run is no wire of the netlist.
    #[error("the wire that ends a run is {wire}, and there are {wires} wires, from 0")]
    Terminate {
        /// The wire.
        wire: u32,
        /// Number of wires.
        wires: u32,
    },
    /// An order is no permutation of the gates.
    #[error("an order of {gates} gates does not name each of them once")]
    Order {
        /// Number of gates.
        gates: usize,
    },
}

/// The parts of a [`Netlist`], not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Numbers of inputs.
    pub inputs: Inputs,
    /// Flip-flops.
    pub flip_flops: Vec<FlipFlop>,
    /// Gates.
    pub gates: Vec<Gate>,
    /// Wires whose masks are given out; one may occur several times.
    pub outputs: Vec<Operand>,
    /// For each output, the bit of the port that it is, where it is known: tools sort outputs.
    pub ports: Option<Vec<u32>>,
    /// The wire whose value 1 ends a run early, if there is one.
    pub terminate: Option<u32>,
}

/// A checked netlist: every operand exists, and every gate stands behind those that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netlist(Parts);

impl Netlist {
    /// Checks the parts of a netlist.
    ///
    /// # Errors
    /// [`NetlistError`] for the first wire that is out of range or out of order.
    pub fn new(parts: Parts) -> Result<Netlist, NetlistError> {
        let inputs = parts.inputs.count();
        let first = inputs + parts.flip_flops.len() as u64;
        let all = first + parts.gates.len() as u64;
        if all > MOST_WIRES {
            return Err(NetlistError::TooLarge(all));
        }
        let [inputs, first, wires] = [inputs, first, all].map(|count| count as u32);
        for (gate, own) in (0..parts.gates.len()).zip(first..) {
            let Gate { kind, in1, .. } = parts.gates[gate];
            if in1.is_none() != (kind == GateKind::Not) {
                let count = 1 + usize::from(in1.is_some());
                return Err(NetlistError::Operands { gate, kind, count });
            }
            let read = parts.gates[gate].operands().filter_map(Operand::wire);
            if let Some(wire) = read.into_iter().find(|&wire| wire >= own) {
                return Err(NetlistError::NotBefore { gate, wire, own });
            }
        }
        let beyond = |operand: Operand, end| operand.wire().filter(|&wire| wire >= end);
        for (flip_flop, pair) in parts.flip_flops.iter().enumerate() {
            if let Some(wire) = beyond(pair.next, wires) {
                return Err(NetlistError::Next {
                    flip_flop,
                    wire,
                    wires,
                });
            }
            if let Some(wire) = beyond(pair.initial, inputs) {
                return Err(NetlistError::Initial {
                    flip_flop,
                    wire,
                    inputs,
                });
            }
        }
        for (output, &operand) in parts.outputs.iter().enumerate() {
            if let Some(wire) = beyond(operand, wires) {
                return Err(NetlistError::Output {
                    output,
                    wire,
                    wires,
                });
            }
        }
        if let Some(wire) = parts.terminate.filter(|&wire| wire >= wires) {
            return Err(NetlistError::Terminate { wire, wires });
        }
        let outputs = parts.outputs.len();
        let ports = parts.ports.as_ref();
        if ports.is_some_and(|ports| !is_permutation(ports, outputs)) {
            return Err(NetlistError::Ports { outputs });
        }
        Ok(Netlist(parts))
    }

    /// Returns its parts.
    pub fn parts(&self) -> &Parts {
        &self.0
    }

    /// Returns its gates, in order.
    pub fn gates(&self) -> &[Gate] {
        &self.0.gates
    }

    /// Returns its flip-flops.
    pub fn flip_flops(&self) -> &[FlipFlop] {
        &self.0.flip_flops
    }

    /// Returns the number of inputs: wires below it are inputs.
    pub fn inputs(&self) -> u32 {
        self.0.inputs.count() as u32
    }

    /// Returns the wire of the first gate.
    pub fn first_gate(&self) -> u32 {
        self.inputs() + self.0.flip_flops.len() as u32
    }

    /// Returns the number of wires.
    pub fn wires(&self) -> u32 {
        self.first_gate() + self.0.gates.len() as u32
    }

    /// Returns the number of gates of type XOR, XNOR or NOT.
    pub fn xors(&self) -> usize {
        let xors = self.gates().iter().filter(|gate| gate.kind.is_xor());
        xors.count()
    }

    /// Returns the number of gates that have tables.
    pub fn ands(&self) -> usize {
        self.gates().len() - self.xors()
    }

    /// Returns the gates as work: a node for each wire, inputs and flip-flops as sources. Within a
    /// netlist cycle nothing waits for a flip-flop but the cycles that copying takes.
    pub fn graph(&self) -> Graph {
        let mut graph = Graph::new(self.first_gate());
        for gate in self.gates() {
            let needs: Vec<u32> = gate.operands().filter_map(Operand::wire).collect();
            graph.push(NodeCost::Costly, &needs);
        }
        graph
    }

    /// Returns the same netlist with its gates in another order, given by the wires that they drive
    /// here. Wires are numbered anew.
    ///
    /// # Errors
    /// [`NetlistError::Order`] if the order does not name each gate once, and
    /// [`NetlistError::NotBefore`] if a gate would stand before one that it reads.
    pub fn reordered(&self, order: &[u32]) -> Result<Netlist, NetlistError> {
        let first = self.first_gate();
        let gates = self.gates().len();
        let numbers = order.iter().map(|&wire| wire.wrapping_sub(first));
        if !is_permutation(&numbers.collect::<Vec<_>>(), gates) {
            return Err(NetlistError::Order { gates });
        }
        let mut renamed: Vec<u32> = (0..self.wires()).collect();
        for (place, &wire) in order.iter().enumerate() {
            renamed[wire as usize] = first + place as u32;
        }
        let rename = |operand: Operand| match operand {
            Operand::Wire(wire) => Operand::Wire(renamed[wire as usize]),
            constant => constant,
        };
        let mut parts = self.0.clone();
        let gate = |&wire: &u32| {
            let Gate { kind, in0, in1 } = self.gates()[(wire - first) as usize];
            let (in0, in1) = (rename(in0), in1.map(rename));
            Gate { kind, in0, in1 }
        };
        parts.gates = order.iter().map(gate).collect();
        let outputs = parts.outputs.iter_mut();
        outputs.for_each(|output| *output = rename(*output));
        for flip_flop in &mut parts.flip_flops {
            flip_flop.next = rename(flip_flop.next);
        }
        parts.terminate = parts.terminate.map(|wire| renamed[wire as usize]);
        Netlist::new(parts)
    }
}

/// Returns true if the numbers are those below `count`, each once.
fn is_permutation(numbers: &[u32], count: usize) -> bool {
    let mut seen = vec![false; count];
    let mut fresh = |&number: &u32| match seen.get_mut(number as usize) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    };
    numbers.len() == count && numbers.iter().all(&mut fresh)
}
