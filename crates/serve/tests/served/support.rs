//! Netlists, keys and devices of the tests.

use crate::slow::{Hash, mi, prp};
use sealane_accel::functions::function;
use sealane_accel::netlist::Parts;
use sealane_accel::{FlipFlop, Gate, GateKind, Inputs, Netlist, Operand};
use sealane_block::{Block, Coins, Cpu};
use sealane_garble::Scheme;
use sealane_serve::device::{CpuDevice, Device, Keys, ModelDevice, Rtl, RtlOptions};
use std::path::Path;
use std::time::Duration;

/// A device under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Cpu(Scheme),
    Model(Scheme),
    Rtl(Scheme),
}

impl Which {
    pub fn scheme(self) -> Scheme {
        let (Which::Cpu(scheme) | Which::Model(scheme) | Which::Rtl(scheme)) = self;
        scheme
    }

    pub fn hash(self) -> Hash {
        match self.scheme() {
            Scheme::Prp => prp,
            _ => mi,
        }
    }

    pub fn device(self) -> Box<dyn Device> {
        let cpu = Cpu::detect().expect("a tier");
        match self {
            Which::Cpu(scheme) => Box::new(CpuDevice::new(cpu, scheme).unwrap()),
            Which::Model(scheme) => Box::new(ModelDevice::new(cpu, scheme).unwrap()),
            Which::Rtl(scheme) => Box::new(rtl(scheme)),
        }
    }
}

/// The hardware, as `make -C rtl` builds it.
pub fn rtl(scheme: Scheme) -> Rtl {
    let folder = match scheme {
        Scheme::Prp => "fase",
        _ => "mi",
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bench = root.join("target/rtl").join(folder).join("bench");
    assert!(bench.exists(), "make -C rtl all mi");
    Rtl::new(RtlOptions {
        bench,
        scheme,
        patience: Duration::from_secs(120),
    })
}

/// The keys of a session, by number.
pub fn keys(number: u64) -> Keys {
    let mut coins = Coins::danger_fixed_seed(number);
    let hash = coins.public("test: hash").block();
    let mut keys = Keys::draw(&mut coins, hash);
    // Near the end of a word, so that the counter carries.
    keys.label_start = Block::new(keys.label_start.value() | 0xffff_ffff_ffff_fff0);
    keys
}

/// One of our own sources.
pub fn ours(name: &str) -> Netlist {
    function(name).expect(name).netlist().expect("a netlist")
}

/// ANDs of all pairs of twelve inputs.
pub fn pairs() -> Netlist {
    let inputs = 12;
    let every = (0..inputs).flat_map(|a| (a + 1..inputs).map(move |b| (a, b)));
    let gates = every.map(|(a, b)| Gate {
        kind: GateKind::And,
        in0: Operand::Wire(a),
        in1: Some(Operand::Wire(b)),
    });
    Netlist::new(Parts {
        inputs: Inputs {
            garbler: inputs,
            ..Inputs::default()
        },
        gates: gates.collect(),
        outputs: vec![Operand::Wire(inputs)],
        ..Parts::default()
    })
    .expect("a netlist")
}

/// A small generator: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % end
    }

    fn operand(&mut self, end: u32) -> Operand {
        match self.below(16) {
            0 => Operand::Zero,
            1 => Operand::One,
            _ if end == 0 => Operand::One,
            2..10 => Operand::Wire(end - 1 - self.below(end.min(12))),
            _ => Operand::Wire(self.below(end)),
        }
    }
}

/// A random netlist of all kinds of gates and flip-flops, whose outputs are gates.
pub fn random(seed: u64) -> Netlist {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1) << 21);
    for _ in 0..20 {
        random.below(2);
    }
    let inputs = Inputs {
        garbler_initial: random.below(4),
        evaluator_initial: random.below(3),
        garbler: 1 + random.below(5),
        evaluator: random.below(5),
        ..Inputs::default()
    };
    let count = inputs.count() as u32;
    let held = inputs.garbler_initial + inputs.evaluator_initial;
    let copies = random.below(6);
    let first = count + copies;
    let gates = 2 + random.below([6, 30, 90][seed as usize % 3]);
    let kinds = GateKind::ALL;
    let gates: Vec<Gate> = (first..first + gates)
        .map(|own| {
            let kind = match random.below(2) {
                0 => GateKind::Xor,
                _ => kinds[random.below(kinds.len() as u32) as usize],
            };
            let in0 = random.operand(own);
            let in1 = (kind != GateKind::Not).then(|| random.operand(own));
            Gate { kind, in0, in1 }
        })
        .collect();
    let wires = first + gates.len() as u32;
    let flip_flops = (0..copies).map(|_| FlipFlop {
        next: random.operand(wires),
        initial: random.operand(held),
    });
    let flip_flops = flip_flops.collect();
    let outputs = (first..wires - 1).filter(|_| random.below(4) == 0);
    let outputs = outputs.chain([wires - 1]).map(Operand::Wire).collect();
    Netlist::new(Parts {
        inputs,
        flip_flops,
        gates,
        outputs,
        ..Parts::default()
    })
    .expect("a netlist")
}
