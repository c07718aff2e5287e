//! Random sequential netlists, in which everything occurs that the format allows.

use sealane_accel::netlist::Parts;
use sealane_accel::{FlipFlop, Gate, GateKind, Inputs, Netlist, Operand};

/// A small generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % end
    }

    /// A wire below `end`, often one of the last, or a constant.
    fn operand(&mut self, end: u32) -> Operand {
        match self.below(20) {
            0 => Operand::Zero,
            1 => Operand::One,
            _ if end == 0 => Operand::Zero,
            2..14 => Operand::Wire(end - 1 - self.below(end.min(12))),
            _ => Operand::Wire(self.below(end)),
        }
    }
}

/// The netlist of a seed.
pub fn netlist(seed: u64) -> Netlist {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1) << 17);
    for _ in 0..20 {
        random.below(2);
    }
    let inputs = Inputs {
        garbler_initial: random.below(4),
        evaluator_initial: random.below(3),
        garbler: random.below(6),
        evaluator: random.below(5),
        ..Inputs::default()
    };
    let count = inputs.count() as u32;
    let copies = random.below(6);
    let gates = 1 + random.below([4, 20, 90][seed as usize % 3]);
    let first = count + copies;
    let kinds = GateKind::ALL;
    let gates = (first..first + gates).map(|own| {
        let kind = match random.below(2) {
            0 => GateKind::Xor,
            _ => kinds[random.below(kinds.len() as u32) as usize],
        };
        let in0 = random.operand(own);
        let in1 = (kind != GateKind::Not).then(|| random.operand(own));
        Gate { kind, in0, in1 }
    });
    let gates: Vec<Gate> = gates.collect();
    let wires = first + gates.len() as u32;
    let flip_flops = (0..copies).map(|_| FlipFlop {
        next: random.operand(wires),
        initial: random.operand(count),
    });
    let flip_flops = flip_flops.collect();
    let outputs = (count..wires).filter(|_| random.below(4) == 0);
    let outputs = outputs.map(Operand::Wire).collect();
    Netlist::new(Parts {
        inputs,
        flip_flops,
        gates,
        outputs,
        ..Parts::default()
    })
    .expect("a netlist")
}
