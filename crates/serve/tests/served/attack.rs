//! The recovery of the offset from one row of a table, which breaks the released hardware, against
//! every device.
//!
//! It hashes H(x, t) = AES_S(x ^ t) ^ x ^ t. The evaluator holds a label x of operand a, and a row
//! T_G = H(x) ^ H(x ^ R) ^ p_b R. Where p_b is 1, R cancels: T_G ^ H(x) ^ x ^ t is
//! AES_S(x ^ R ^ t), and one decryption gives R. With sigma in the hash it does not cancel.

use crate::slow::sigma;
use crate::support::{keys, pairs};
use sealane_accel::Operand;
use sealane_block::{Aes128, Aes128Dec, Block, Cpu, Tweak};
use sealane_serve::device::{Client, Device, DeviceNetlist, Extent, Record, Tag};

/// Returns the number of ANDs from whose tables and active labels the attack finds the offset.
pub fn found(device: &mut dyn Device) -> usize {
    let netlist = DeviceNetlist::new(&pairs()).expect("a netlist");
    device.load(&netlist).expect("room for it");
    let (client, keys) = (Client(0), keys(3));
    let extent = Extent {
        cycles: 1,
        most_ands: u64::MAX,
    };
    device
        .start(client, keys.clone(), extent)
        .expect("a session");
    let mut records = Vec::new();
    while device.read(client, &mut records).expect("records") {}
    device.end(client).expect("its end");
    // The evaluator holds the label of a value; values alternate.
    let of = |tag| {
        records
            .iter()
            .filter(move |record: &&Record| record.tag == tag)
    };
    let labels: Vec<Block> = of(Tag::Label)
        .map(|record| record.block(0) ^ keys.offset.masked(record.index as u8 & 1))
        .collect();
    let cpu = Cpu::detect().expect("a tier");
    let mut found = 0;
    for record in of(Tag::Table) {
        let gate = netlist.netlist().gates()[record.index as usize];
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
            candidates(cpu, keys.hash, label(part), tweak.block(), rows[part])
                .iter()
                .any(|candidate| candidate.value() == keys.offset.value())
        });
        found += usize::from(hit);
    }
    assert!(of(Tag::Table).count() == 66 && labels.len() == 12);
    found
}

/// Guesses of the offset, for each hash that a device might have, with and without sigma.
fn candidates(cpu: Cpu, seed: Block, label: Block, t: Block, row: Block) -> Vec<Block> {
    let mut found = Vec::new();
    let ciphers = [seed, seed ^ t].map(|key| Aes128::new(cpu, key));
    for x in [label, sigma(label)] {
        let hashes = [
            ciphers[0].encrypt(x ^ t) ^ x ^ t,
            ciphers[0].encrypt(x ^ t) ^ x,
            ciphers[1].encrypt(x) ^ x,
        ];
        for hash in hashes {
            for cipher in &ciphers {
                let inverse = Aes128Dec::new(cipher);
                for known in [x ^ t, x, Block::ZERO] {
                    let inverse = inverse.decrypt(row ^ hash ^ known);
                    found.extend([inverse ^ x, inverse ^ x ^ t]);
                }
            }
        }
    }
    found
}

/// The attack bites: half to three quarters of the 66 ANDs give the offset away.
#[test]
fn the_hash_of_the_released_hardware_gives_the_offset_away() {
    let found = found(&mut crate::insecure::Insecure::default());
    assert!(found > 20, "{found}");
}
