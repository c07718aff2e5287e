//! Crate `hw-testkit`: netlists for tests of whatever garbles them, a slow garbler of them, and the
//! attack on the hash of the released hardware.
//!
//! It hashes H(x, t) = AES_S(x ^ t) ^ x ^ t. The evaluator holds a label x of operand a, and a row
//! T_G = H(x) ^ H(x ^ R) ^ p_b R. Where p_b is 1, R cancels: T_G ^ H(x) ^ x ^ t is
//! AES_S(x ^ R ^ t), and one decryption gives R. With sigma in the hash it does not cancel.

#![forbid(unsafe_code)]

pub mod slow;

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use sealane_accel::formats::read;
use sealane_accel::functions::function;
use sealane_accel::netlist::Parts;
use sealane_accel::paper::Benchmark;
use sealane_accel::{FlipFlop, Gate, GateKind, Inputs, Netlist, Operand};
use sealane_block::{Block, Tweak};
use sealane_testkit::testdata;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The bench of the hardware that `make -C hardware/rtl` builds into this folder of `target/rtl`.
///
/// # Panics
/// If it is not built.
pub fn bench(folder: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rtl");
    let bench = built.join(folder).join("bench");
    assert!(bench.exists(), "make -C hardware/rtl {folder}");
    bench
}

/// The authors' netlist of a benchmark, if their files lie beside the checkout.
///
/// # Panics
/// If that file is no netlist.
pub fn released(benchmark: &Benchmark) -> Option<Netlist> {
    let text = testdata::shared(&format!("circuits/fase/{}/n.scd", benchmark.folder))?;
    Some(read(text.as_bytes()).expect("a netlist").netlist)
}

/// The netlist of one of our own sources.
///
/// # Panics
/// If there is none of this name.
pub fn ours(name: &str) -> Netlist {
    function(name).expect(name).netlist().expect("a netlist")
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

/// A random sequential netlist, in which everything occurs that the format allows.
///
/// # Panics
/// Never: what is built is a netlist.
pub fn any(seed: u64) -> Netlist {
    random(seed, false)
}

/// A random sequential netlist that devices of crate `serve` take: its last gate is an output, and
/// flip-flops begin with constants and inputs that are given once. Some have no input of a party.
///
/// # Panics
/// Never: what is built is a netlist.
pub fn for_devices(seed: u64) -> Netlist {
    random(seed, true)
}

fn random(seed: u64, for_devices: bool) -> Netlist {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1) << 17);
    for _ in 0..20 {
        random.below(2);
    }
    let mut inputs = Inputs {
        garbler_initial: random.below(4),
        evaluator_initial: random.below(3),
        garbler: random.below(6),
        evaluator: random.below(5),
        ..Inputs::default()
    };
    match seed % 8 {
        4 => (inputs.garbler_initial, inputs.garbler) = (0, 0),
        6 => (inputs.evaluator_initial, inputs.evaluator) = (0, 0),
        _ => {}
    }
    let count = inputs.count() as u32;
    let held = inputs.garbler_initial + inputs.evaluator_initial;
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
    let begins = if for_devices { held } else { count };
    let flip_flops = (0..copies).map(|_| FlipFlop {
        next: random.operand(wires),
        initial: random.operand(begins),
    });
    let flip_flops = flip_flops.collect();
    let is_output = |wire: &u32| random.below(4) == 0 || for_devices && wire + 1 == wires;
    let outputs = (count..wires).filter(is_output);
    let outputs = outputs.map(Operand::Wire).collect();
    let netlist = Netlist::new(Parts {
        inputs,
        flip_flops,
        gates,
        outputs,
        ..Parts::default()
    });
    netlist.expect("a netlist")
}

/// Inputs of [`pairs`], all of the garbler.
pub const PAIRED: u32 = 12;
/// ANDs of [`pairs`].
pub const PAIRS: usize = (PAIRED * (PAIRED - 1) / 2) as usize;

/// The ANDs of all pairs of inputs.
///
/// # Panics
/// Never: what is built is a netlist.
pub fn pairs() -> Netlist {
    let every = (0..PAIRED).flat_map(|a| (a + 1..PAIRED).map(move |b| (a, b)));
    ands([PAIRED, 0], every, PAIRED..PAIRED + 1)
}

/// ANDs of wires, whose inputs are of garbler and evaluator.
///
/// # Panics
/// If there is no such netlist.
pub fn ands(
    [garbler, evaluator]: [u32; 2],
    pairs: impl Iterator<Item = (u32, u32)>,
    outputs: Range<u32>,
) -> Netlist {
    let gates = pairs.map(|(a, b)| Gate {
        kind: GateKind::And,
        in0: Operand::Wire(a),
        in1: Some(Operand::Wire(b)),
    });
    let netlist = Netlist::new(Parts {
        inputs: Inputs::of_counts([0, 0, 0, 0, garbler, evaluator]),
        gates: gates.collect(),
        outputs: outputs.map(Operand::Wire).collect(),
        ..Parts::default()
    });
    netlist.expect("a netlist")
}

/// AES by another implementation.
pub fn encrypt(key: Block, x: Block) -> Block {
    let mut block = x.to_bytes().into();
    aes::Aes128::new(&key.to_bytes().into()).encrypt_block(&mut block);
    Block::from_bytes(block.into())
}

fn decrypt(key: Block, x: Block) -> Block {
    let mut block = x.to_bytes().into();
    aes::Aes128::new(&key.to_bytes().into()).decrypt_block(&mut block);
    Block::from_bytes(block.into())
}

/// The linear orthomorphism of the hashes: halves `(high, low)` become `(high ^ low, high)`.
pub fn sigma(x: Block) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(u128::from(high ^ low) << 64 | u128::from(high))
}

/// Counts the ANDs of [`pairs`] from whose tables an evaluator finds the offset in the first
/// netlist cycle. `labels` are the zero labels of the inputs, and tables the blocks T_G and T_E by
/// number of the AND. The evaluator holds labels of values that alternate.
///
/// # Panics
/// If there are not all labels and tables: nothing would be found.
pub fn offsets_found(
    hash: Block,
    offset: Block,
    labels: &[Block],
    tables: &[(u32, [Block; 2])],
) -> usize {
    let sizes = (labels.len(), tables.len());
    assert_eq!(sizes, (PAIRED as usize, PAIRS), "labels and tables of all");
    let netlist = pairs();
    let held = |input: usize| labels[input] ^ offset.masked(input as u8 & 1);
    let finds = |&&(index, [t_g, t_e]): &&(u32, [Block; 2])| {
        let operands: Vec<Operand> = netlist.gates()[index as usize].operands().collect();
        let label = |at: usize| held(operands[at].wire().expect("an input") as usize);
        // T_E holds the other label of a as well, or the same.
        let rows = [t_g, t_e ^ label(0)];
        (0..2).any(|part| {
            let tweak = Tweak {
                gate: index,
                part: part as u32,
                ..Tweak::default()
            };
            let found = guesses(hash, label(part), tweak.block(), rows[part]);
            found.iter().any(|guess| guess.value() == offset.value())
        })
    };
    tables.iter().filter(finds).count()
}

/// Guesses of the offset, for each hash that a machine might have, with and without sigma.
fn guesses(seed: Block, label: Block, t: Block, row: Block) -> Vec<Block> {
    let mut found = Vec::new();
    for x in [label, sigma(label)] {
        let hashes = [
            encrypt(seed, x ^ t) ^ x ^ t,
            encrypt(seed, x ^ t) ^ x,
            encrypt(seed ^ t, x) ^ x,
        ];
        for hash in hashes {
            for key in [seed, seed ^ t] {
                for known in [x ^ t, x, Block::ZERO] {
                    let inverse = decrypt(key, row ^ hash ^ known);
                    found.extend([inverse ^ x, inverse ^ x ^ t]);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that the names of the netlists promise occurs in the first seeds.
    #[test]
    fn random_netlists_have_everything() {
        let all: Vec<Netlist> = (0..24).map(for_devices).collect();
        let without = |party: fn(&Inputs) -> u32| {
            let inputs = all.iter().map(|netlist| netlist.parts().inputs);
            inputs.filter(|inputs| party(inputs) == 0).count()
        };
        assert!(without(|inputs| inputs.garbler_initial + inputs.garbler) > 0);
        assert!(without(|inputs| inputs.evaluator_initial + inputs.evaluator) > 0);
        assert!(all.iter().any(|netlist| netlist.flip_flops().is_empty()));
        for kind in GateKind::ALL {
            let has = |netlist: &&Netlist| netlist.gates().iter().any(|gate| gate.kind == *kind);
            assert!(all.iter().any(|netlist| has(&netlist)), "{kind:?}");
        }
        for netlist in &all {
            let last = Operand::Wire(netlist.wires() - 1);
            assert_eq!(netlist.parts().outputs.last(), Some(&last));
        }
        assert!((0..24).any(|seed| any(seed).parts().outputs.is_empty()));
    }
}
