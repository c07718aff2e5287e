//! Half gates gate by gate, from the equations of the paper, with the hash as a parameter.

use sealane_accel::{GateKind, Netlist, Operand};
use sealane_block::{Block, Tweak};
use sealane_hw_testkit::{encrypt, sigma};
use sealane_serve::device::Keys;

/// H(key, x, t).
pub type Hash = fn(Block, Block, Block) -> Block;

pub fn prp(key: Block, x: Block, t: Block) -> Block {
    encrypt(key, sigma(x) ^ t) ^ sigma(x)
}

pub fn mi(key: Block, x: Block, t: Block) -> Block {
    encrypt(key ^ t, sigma(x)) ^ sigma(x)
}

/// The hash of the released hardware, without sigma.
pub fn released(key: Block, x: Block, t: Block) -> Block {
    encrypt(key, x ^ t) ^ x ^ t
}

/// The values of a netlist cycle.
pub struct NetlistCycle {
    pub labels: Vec<Block>,
    pub tables: Vec<[u8; 32]>,
    pub masks: Vec<u8>,
    /// Zero labels of the outputs.
    pub outputs: Vec<Block>,
}

/// A garbler of one session.
pub struct Slow {
    netlist: Netlist,
    keys: Keys,
    hash: Hash,
    next_label: u128,
    inputs: Vec<Block>,
    state: Vec<Block>,
    cycle: u64,
}

impl Slow {
    pub fn new(netlist: &Netlist, keys: &Keys, hash: Hash) -> Slow {
        Slow {
            netlist: netlist.clone(),
            keys: keys.clone(),
            hash,
            next_label: 0,
            inputs: vec![Block::ZERO; netlist.inputs() as usize],
            state: Vec::new(),
            cycle: 0,
        }
    }

    pub fn netlist_cycle(&mut self) -> NetlistCycle {
        let parts = self.netlist.parts().clone();
        let held: u32 = parts.inputs.counts()[..3].iter().sum();
        let first = if self.cycle == 0 { 0 } else { held as usize };
        for label in &mut self.inputs[first..] {
            let counter = self.keys.label_start.value().wrapping_add(self.next_label);
            *label = encrypt(self.keys.label_key, Block::new(counter));
            self.next_label += 1;
        }
        let offset = self.keys.offset;
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
            labels: self.inputs[first..].to_vec(),
            tables,
            masks: outputs.iter().map(|label| label.lsb()).collect(),
            outputs,
        }
    }

    fn and(&self, kind: GateKind, mut a: Block, mut b: Block, gate: u32) -> (Block, [u8; 32]) {
        let offset = self.keys.offset;
        let table = kind.truth_table();
        let inverts = table.count_ones() == 3;
        let row = if inverts { !table & 15 } else { table }.trailing_zeros();
        if row & 2 == 0 {
            a ^= offset;
        }
        if row & 1 == 0 {
            b ^= offset;
        }
        let t = |part| {
            let (call, row) = (self.cycle, 0);
            let tweak = Tweak {
                gate,
                call,
                row,
                part,
            };
            tweak.block()
        };
        let h = |x, part| (self.hash)(self.keys.hash, x, t(part));
        let t_g = h(a, 0) ^ h(a ^ offset, 0) ^ offset.masked(b.lsb());
        let w_g = h(a, 0) ^ t_g.masked(a.lsb());
        let t_e = h(b, 1) ^ h(b ^ offset, 1) ^ a;
        let w_e = h(b, 1) ^ (t_e ^ a).masked(b.lsb());
        let out = w_g ^ w_e;
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&t_g.to_bytes());
        bytes[16..].copy_from_slice(&t_e.to_bytes());
        (if inverts { out ^ offset } else { out }, bytes)
    }
}
