//! The recovery of the offset from one row of a table, which breaks the released hardware.
//!
//! It hashes H(x, t) = AES_S(x ^ t) ^ x ^ t. The evaluator holds a label x of operand a, and a row
//! T_G = H(x) ^ H(x ^ R) ^ p_b R. Where p_b is 1, R cancels: T_G ^ H(x) ^ x ^ t is
//! AES_S(x ^ R ^ t), and one decryption gives R. With sigma in the hash it does not cancel.

use aes::cipher::{BlockCipherDecrypt, KeyInit};
use sealane_accel::netlist::Parts;
use sealane_accel::{Gate, GateKind, Inputs, Netlist, Operand};
use sealane_block::{Block, Tweak};

use crate::bench::{Build, LABEL, Run, TABLE};
use crate::reference::{Reference, encrypt};

fn decrypt(key: Block, x: Block) -> Block {
    let mut block = x.to_bytes().into();
    aes::Aes128::new(&key.to_bytes().into()).decrypt_block(&mut block);
    Block::from_bytes(block.into())
}

fn sigma(x: Block) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(u128::from(high ^ low) << 64 | u128::from(high))
}

/// ANDs of all pairs of twelve inputs.
fn pairs() -> Netlist {
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

/// Returns the number of ANDs from whose tables and active labels the attack finds the offset.
pub fn found(build: &Build) -> usize {
    let netlist = pairs();
    let seeds = Reference::new(&netlist, build.scheme, 3).seeds;
    let mut run = Run::of(build, &netlist, 1, &[seeds]);
    let records = run.records();
    // The evaluator holds the label of a value; values alternate.
    let labels = records.iter().filter(|record| record.tag == LABEL);
    let labels = labels.map(|record| record.block(0) ^ seeds.offset.masked(record.index as u8));
    let labels: Vec<Block> = labels.collect();
    let tables = records.iter().filter(|record| record.tag == TABLE);
    let mut found = 0;
    for record in tables {
        let gate = netlist.gates()[record.index as usize];
        let operands: Vec<Operand> = gate.operands().collect();
        let label = |at: usize| labels[operands[at].wire().expect("an input") as usize];
        // T_E holds the other label of a as well, or the same.
        let rows = [record.block(0), record.block(1) ^ label(0)];
        let hit = (0..2).any(|part| {
            let tweak = Tweak {
                gate: record.index,
                part: part as u32,
                ..Tweak::default()
            };
            candidates(seeds.hash, label(part), tweak.block(), rows[part])
                .iter()
                .any(|candidate| candidate.value() == seeds.offset.value())
        });
        found += usize::from(hit);
    }
    run.reports();
    found
}

/// Guesses of the offset, for each hash that the machine might have, with and without sigma.
fn candidates(seed: Block, label: Block, t: Block, row: Block) -> Vec<Block> {
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
