//! Labels of inputs and outputs in memory.

use sealane_block::Block;
use sealane_circuit::Tape;
use zeroize::Zeroizing;

use crate::Ports;

/// The labels of a tape's inputs and outputs on a number of lanes, as `[label of the
/// wire][bit][lane]`: one label a wire, or two at the garbler of a scheme without free XOR.
pub struct Labels {
    lanes: usize,
    per_wire: usize,
    /// Labels of the inputs, set before a run.
    pub inputs: Zeroizing<Vec<Block>>,
    /// Labels of the outputs, set by a run.
    pub outputs: Zeroizing<Vec<Block>>,
}

impl Labels {
    /// Returns the number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Allocates `per_wire` labels for each wire, all zero.
    pub fn new(tape: &Tape, lanes: usize, per_wire: usize) -> Labels {
        let room = |wires: usize| Zeroizing::new(vec![Block::ZERO; wires * lanes * per_wire]);
        Labels {
            lanes,
            per_wire,
            inputs: room(tape.inputs as usize),
            outputs: room(tape.outputs.len()),
        }
    }
}

impl Ports for Labels {
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]) {
        let wires = self.inputs.len() / self.per_wire;
        let width = per_bit / self.per_wire;
        for (bit, labels) in labels.chunks_exact_mut(per_bit).enumerate() {
            for value in 0..self.per_wire {
                let from = value * wires + bit * self.lanes + first_lane;
                labels[value * width..(value + 1) * width]
                    .copy_from_slice(&self.inputs[from..from + width]);
            }
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let wires = self.outputs.len() / self.per_wire;
        let width = labels.len() / self.per_wire;
        for (value, labels) in labels.chunks_exact(width).enumerate() {
            let to = value * wires + output * self.lanes + first_lane;
            self.outputs[to..to + width].copy_from_slice(labels);
        }
    }
}
