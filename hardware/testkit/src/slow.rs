//! Half gates gate by gate, from the equations of the paper, with the hash as a parameter.

use crate::{encrypt, sigma};
use sealane_accel::{GateKind, Netlist, Operand};
use sealane_block::{Block, Tweak};

/// H(key, x, t).
pub type Hash = fn(Block, Block, Block) -> Block;

/// The hash of `prp`.
pub fn prp(key: Block, x: Block, t: Block) -> Block {
    encrypt(key, sigma(x) ^ t) ^ sigma(x)
}

/// The hash of `mi`, with a key for each tweak.
pub fn mi(key: Block, x: Block, t: Block) -> Block {
    encrypt(key ^ t, sigma(x)) ^ sigma(x)
}

/// The hash of the released hardware, without sigma.
pub fn released(key: Block, x: Block, t: Block) -> Block {
    encrypt(key, x ^ t) ^ x ^ t
}

/// The values of a netlist cycle.
pub struct NetlistCycle {
    /// Number of the first input that has a label in this cycle.
    pub first_label: usize,
    /// Zero labels of the inputs from there on.
    pub labels: Vec<Block>,
    /// For each AND, T_G and T_E.
    pub tables: Vec<[u8; 32]>,
    /// For each output, bit 0 of its zero label.
    pub masks: Vec<u8>,
    /// Zero labels of the outputs.
    pub outputs: Vec<Block>,
}

/// A garbler of one session.
pub struct Slow {
    netlist: Netlist,
    hash_key: Block,
    offset: Block,
    label_key: Block,
    /// The counter of the next label of an input.
    counter: Block,
    hash: Hash,
    inputs: Vec<Block>,
    state: Vec<Block>,
    cycle: u64,
}

impl Slow {
    /// A garbler with the blocks that a session takes: the key of the hash, the offset, and key and
    /// first counter of the labels of inputs.
    pub fn new(netlist: &Netlist, blocks: [Block; 4], hash: Hash) -> Slow {
        let [hash_key, offset, label_key, counter] = blocks;
        Slow {
            netlist: netlist.clone(),
            hash_key,
            offset,
            label_key,
            counter,
            hash,
            inputs: vec![Block::ZERO; netlist.inputs() as usize],
            state: Vec::new(),
            cycle: 0,
        }
    }

    /// Garbles the next netlist cycle.
    pub fn netlist_cycle(&mut self) -> NetlistCycle {
        let parts = self.netlist.parts().clone();
        let held: u32 = parts.inputs.counts()[..3].iter().sum();
        let first_label = if self.cycle == 0 { 0 } else { held as usize };
        for label in &mut self.inputs[first_label..] {
            *label = encrypt(self.label_key, self.counter);
            self.counter = Block::new(self.counter.value().wrapping_add(1));
        }
        let offset = self.offset;
        let read = |wires: &[Block], operand: Operand| match operand {
            Operand::Zero => Block::ZERO,
            Operand::One => offset,
            Operand::Wire(wire) => wires[wire as usize],
        };
        if self.cycle == 0 {
            let initial = parts.flip_flops.iter().map(|pair| pair.initial);
            self.state = initial.map(|initial| read(&self.inputs, initial)).collect();
        }
        let mut wires = [&self.inputs[..], &self.state].concat();
        let mut tables = Vec::new();
        for gate in &parts.gates {
            let a = read(&wires, gate.in0);
            let b = gate.in1.map_or(Block::ZERO, |in1| read(&wires, in1));
            wires.push(match gate.kind {
                GateKind::Xor => a ^ b,
                GateKind::Xnor | GateKind::Not => a ^ b ^ offset,
                kind => {
                    let number = tables.len() as u32;
                    let (out, table) = self.and(kind, a, b, number);
                    tables.push(table);
                    out
                }
            });
        }
        let outputs = parts.outputs.iter().map(|output| read(&wires, *output));
        let outputs: Vec<Block> = outputs.collect();
        let next = parts.flip_flops.iter().map(|pair| pair.next);
        self.state = next.map(|next| read(&wires, next)).collect();
        self.cycle += 1;
        NetlistCycle {
            first_label,
            labels: self.inputs[first_label..].to_vec(),
            tables,
            masks: outputs.iter().map(|label| label.lsb()).collect(),
            outputs,
        }
    }

    fn and(&self, kind: GateKind, mut a: Block, mut b: Block, gate: u32) -> (Block, [u8; 32]) {
        let offset = self.offset;
        let [in0, in1, inverts] = kind.inversions();
        a ^= offset.masked(in0.into());
        b ^= offset.masked(in1.into());
        let h = |x, part| {
            let tweak = Tweak {
                gate,
                call: self.cycle,
                row: 0,
                part,
            };
            (self.hash)(self.hash_key, x, tweak.block())
        };
        let t_g = h(a, 0) ^ h(a ^ offset, 0) ^ offset.masked(b.lsb());
        let w_g = h(a, 0) ^ t_g.masked(a.lsb());
        let t_e = h(b, 1) ^ h(b ^ offset, 1) ^ a;
        let w_e = h(b, 1) ^ (t_e ^ a).masked(b.lsb());
        let out = w_g ^ w_e;
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&t_g.to_bytes());
        bytes[16..].copy_from_slice(&t_e.to_bytes());
        (out ^ offset.masked(inverts.into()), bytes)
    }
}
