//! The garbler of crate `garble` on a sequential netlist, a netlist cycle at a time.
//!
//! Every netlist cycle is a call on the same tape, whose inputs are those of the netlist and then Q
//! of all flip-flops, and whose outputs are those of the netlist and then all D. One batch for each
//! AND keeps tables in the order of the gates.

use std::convert::Infallible;

use sealane_accel::{Gate, GateKind, Netlist, Operand};
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{self, Batch, FIRST_INPUT, NOBODY, ONE, ZERO};
use sealane_garble::{ChunkWriter, Garbler, Labels, Scheme};
use sealane_hw_testkit::encrypt;

use crate::bench::Seeds;

/// The labels, tables and masks of a netlist cycle.
pub struct NetlistCycle {
    /// Zero labels of all inputs.
    pub labels: Vec<Block>,
    /// For each AND, T_G and T_E.
    pub tables: Vec<[u8; 32]>,
    /// For each output, bit 0 of its zero label.
    pub masks: Vec<u8>,
}

pub struct Reference<'a> {
    netlist: &'a Netlist,
    garbler: Garbler,
    pub seeds: Seeds,
    tape: Tape,
    /// The number of the next label of an input.
    next_label: u128,
    inputs: Vec<Block>,
    flip_flops: Vec<Block>,
    netlist_cycle: u64,
}

impl Reference<'_> {
    /// A garbler and the seeds of its session, drawn from fixed coins.
    pub fn new(netlist: &Netlist, scheme: Scheme, seed: u64) -> Reference<'_> {
        let mut coins = Coins::danger_fixed_seed(seed);
        let hash = coins.public("hash").block();
        let garbler = Garbler::new(Cpu::detect().expect("a tier"), scheme, hash, &mut coins);
        let mut labels = coins.secret("labels");
        let seeds = Seeds {
            hash,
            offset: garbler.delta(),
            label_key: labels.block(),
            // Near the end of a word, so that the counter carries.
            label_start: Block::new(labels.block().value() | 0xffff_ffff_ffff_fff0),
        };
        Reference {
            netlist,
            garbler,
            seeds,
            tape: tape_of(netlist),
            next_label: 0,
            inputs: vec![Block::ZERO; netlist.inputs() as usize],
            flip_flops: Vec::new(),
            netlist_cycle: 0,
        }
    }

    /// Number of inputs for initial values, whose labels stay.
    pub fn initials(&self) -> usize {
        let inputs = self.netlist.parts().inputs;
        (inputs.garbler_initial + inputs.evaluator_initial) as usize
    }

    pub fn next_netlist_cycle(&mut self) -> NetlistCycle {
        let first = usize::from(self.netlist_cycle > 0) * self.initials();
        for wire in first..self.inputs.len() {
            let counter = self.seeds.label_start.value().wrapping_add(self.next_label);
            self.inputs[wire] = encrypt(self.seeds.label_key, Block::new(counter));
            self.next_label += 1;
        }
        if self.netlist_cycle == 0 {
            let initial = self.netlist.flip_flops().iter().map(|pair| pair.initial);
            let offset = self.seeds.offset;
            let label = |operand| match operand {
                Operand::Zero => Block::ZERO,
                Operand::One => offset,
                Operand::Wire(wire) => self.inputs[wire as usize],
            };
            self.flip_flops = initial.map(label).collect();
        }
        let mut ports = Labels::new(&self.tape, 1, 1);
        ports.inputs = [&self.inputs[..], &self.flip_flops].concat().into();
        let mut tables = Vec::new();
        let mut sink = ChunkWriter::new(|chunk: &[u8]| {
            tables.extend_from_slice(chunk);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = self.garbler.garble(&self.tape, 1, &mut ports, &mut sink);
        let Ok(()) = sink.flush();
        drop(sink);
        let (outputs, next) = ports.outputs.split_at(self.netlist.parts().outputs.len());
        self.flip_flops = next.to_vec();
        self.netlist_cycle += 1;
        let pieces = tables.chunks_exact(32);
        let whole = |table: &[u8]| table.try_into().expect("32 bytes");
        NetlistCycle {
            labels: self.inputs.clone(),
            tables: pieces.map(whole).collect(),
            masks: outputs.iter().map(|label| label.lsb()).collect(),
        }
    }
}

/// Inversions of the operands and of the output, around an AND.
fn inversions(kind: GateKind) -> [bool; 3] {
    let table = kind.truth_table();
    // The place of the value that occurs once; an AND has it where both operands are 1.
    let inverted = table.count_ones() == 3;
    let place = if inverted { !table & 15 } else { table }.trailing_zeros();
    [place & 2 == 0, place & 1 == 0, inverted]
}

fn tape_of(netlist: &Netlist) -> Tape {
    let wires = netlist.wires();
    let spare = FIRST_INPUT + wires;
    let slot = |operand: Operand| match operand {
        Operand::Zero => ZERO,
        Operand::One => ONE,
        Operand::Wire(wire) => FIRST_INPUT + wire,
    };
    let (mut xors, mut ands, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    let mut depths = vec![0; (spare + 2) as usize];
    let mut begun = 0;
    let mut depth = 0;
    let xor = |xors: &mut Vec<tape::Gate>, depths: &mut Vec<u32>, [a, b, out]: [u32; 3]| {
        depths[out as usize] = depths[a as usize].max(depths[b as usize]);
        let number = xors.len() as u32;
        xors.push(tape::Gate { a, b, out, number });
    };
    let outs = FIRST_INPUT + netlist.first_gate()..;
    for (gate, out) in netlist.gates().iter().zip(outs) {
        let Gate { kind, in0, in1 } = *gate;
        let [mut a, mut b] = [slot(in0), in1.map_or(ONE, slot)];
        if kind.is_xor() {
            xor(&mut xors, &mut depths, [a, b, out]);
            if kind == GateKind::Xnor {
                xor(&mut xors, &mut depths, [out, ONE, out]);
            }
            continue;
        }
        let [invert_a, invert_b, invert_out] = inversions(kind);
        for (invert, operand, spare) in [(invert_a, &mut a, spare), (invert_b, &mut b, spare + 1)] {
            if invert {
                xor(&mut xors, &mut depths, [*operand, ONE, spare]);
                *operand = spare;
            }
        }
        let number = ands.len() as u32;
        batches.push(Batch {
            xors: begun..xors.len() as u32,
            ands: number..number + 1,
        });
        begun = xors.len() as u32;
        ands.push(tape::Gate { a, b, out, number });
        depths[out as usize] = 1 + depths[a as usize].max(depths[b as usize]);
        depth = depth.max(depths[out as usize]);
        if invert_out {
            xor(&mut xors, &mut depths, [out, ONE, out]);
        }
    }
    batches.push(Batch {
        xors: begun..xors.len() as u32,
        ands: ands.len() as u32..ands.len() as u32,
    });
    let next = netlist.flip_flops().iter().map(|pair| pair.next);
    let outputs = netlist.parts().outputs.iter().copied().chain(next);
    let tape = Tape {
        inputs: netlist.first_gate(),
        slots: spare + 2,
        known_to: vec![NOBODY; ands.len()],
        lone: vec![false; xors.len()],
        xors,
        ands,
        batches,
        functions: Vec::new(),
        applied: Vec::new(),
        outputs: outputs.map(slot).collect(),
        depth,
    };
    tape.check().expect("a tape");
    tape
}
