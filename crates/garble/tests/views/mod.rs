//! Leak tests of the evaluator's view: it tells neither the offset nor a label that the evaluator
//! does not hold, and the same check notices garblers that leak.
//!
//! The tape has an output for every wire, so that labels of inner wires are looked for as well. The
//! view is all that is sent for it and all that the evaluator can compute from that in one step:
//! its labels, and their hashes under every tweak of the gates that read them. Beyond the checks of
//! [`leaks::find`], the values that meet in one gate are searched for any sum that is a secret.
//!
//! Leaking garblers are variants of the slow one, which `schemes.rs` shows to send what the kernels
//! send, byte by byte: with a hash left out, one at a time in each kind of gate, or with rows that
//! have been tampered with. So a kernel that leaked in the same way would be noticed too.

mod run;
mod tape;

use crate::slow::Forgotten;
use crate::support::ROLES;
use run::{Fault, ViewedRun};
use sealane_block::{Block, Cpu};
use sealane_circuit::tape::FIRST_INPUT;
use sealane_garble::Scheme;
use sealane_testkit::leaks;
use tape::{Row, SEARCHED, TABLES, WIDTHS, rows};

#[test]
fn the_evaluator_cannot_read_the_offset_or_another_label_off_its_view() {
    for scheme in Scheme::ALL {
        for cpu in [Cpu::available()[0], Cpu::detect().unwrap()] {
            let run = ViewedRun::new(scheme, cpu, Fault::None);
            assert_eq!(run.found(), None, "{scheme} on {}", cpu.tier());
            assert!(run.hashes_not_held().len() >= 100, "{scheme}");
            // A value that it may know is found as well, if it is looked for.
            let label = run.wire(FIRST_INPUT, 0)[0].value();
            let table = Block::from_bytes(run.view.heard[1][..16].try_into().unwrap()).value();
            for known in [label, table, table ^ label, run.seed.value()] {
                let known = [("what it knows".to_string(), known)];
                assert!(leaks::find(&run.view, &known).is_some(), "{scheme}");
            }
        }
    }
}

#[test]
fn garblers_that_leak_are_noticed() {
    let cpu = Cpu::detect().unwrap();
    for scheme in Scheme::ALL {
        let run = ViewedRun::new(scheme, cpu, Fault::None);
        let inputs = FIRST_INPUT + WIDTHS[0] as u32;
        let packed = |bits: &[u8]| {
            let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
            bits.chunks(8).map(byte).collect::<Vec<u8>>()
        };
        let messages = [
            ("the label of the other choice", {
                let labels = run.wire(inputs, 3);
                labels.map(Block::to_bytes).concat()
            }),
            (
                "a row of the other value",
                run.classical(|[_, other]| other),
            ),
            ("permute bits, a byte each", run.permute_bits()),
            ("permute bits, packed", packed(&run.permute_bits())),
            ("values", run.values.clone()),
        ];
        for (leak, message) in messages {
            assert!(run.found_with(&message).is_some(), "{scheme}: {leak}");
        }
        // A right row in the wrong place counts as wrong.
        assert_eq!(
            run.found_with(&run.classical(|[right, _]| right)),
            None,
            "{scheme}"
        );
        if scheme.labels() == 1 {
            let offset = run.found_with(&run.delta.to_bytes());
            assert_eq!(offset.as_deref(), Some("the offset, as it is"), "{scheme}");
            let run = ViewedRun::new(scheme, cpu, Fault::SeedIsOffset);
            let found = leaks::find(&run.view, &run.secrets);
            assert_eq!(found.as_deref(), Some("the offset, as it is"), "{scheme}");
        }
    }
}

/// Each kind of gate with a table that a scheme has, with the number of hashes that a garbler
/// computes for it.
fn kinds(scheme: Scheme) -> Vec<(Option<u8>, usize)> {
    let known = [ROLES.garbler, ROLES.evaluator].map(|known_to| (Some(known_to), 2));
    match scheme {
        Scheme::Prf => vec![(Some(0), 8), (None, 4)],
        Scheme::ThreeHalves => [vec![(Some(0), 6)], known.to_vec()].concat(),
        _ => [vec![(Some(0), 4)], known.to_vec()].concat(),
    }
}

#[test]
fn a_forgotten_hash_is_noticed() {
    let cpu = Cpu::detect().unwrap();
    for scheme in Scheme::ALL {
        for (known_to, hashes) in kinds(scheme) {
            for hash in 0..hashes {
                let forgotten = Forgotten { known_to, hash };
                let run = ViewedRun::new(scheme, cpu, Fault::Forgets(forgotten));
                assert!(run.found().is_some(), "{scheme} without {forgotten:?}");
            }
        }
    }
}

/// A function that replaces a piece of a table, or is added to it.
type Tamper = fn(&ViewedRun, &Row) -> Block;

#[test]
fn rows_that_say_too_much_are_noticed() {
    let added: [(&str, Tamper); 2] = [
        ("the offset", |run, row| {
            let [held, other] = run.wire(row.gate.out, row.lane);
            held ^ other
        }),
        ("the offset of an operand", |run, row| {
            let [held, other] = run.wire(row.gate.a, row.lane);
            held ^ other
        }),
    ];
    let instead: [(&str, Tamper); 3] = [
        ("the hash of a label not held", |run, row| {
            run.hashes(&row.gate, row.is_and, row.lane, false)[0]
        }),
        ("the label of the other value", |run, row| {
            run.wire(row.gate.out, row.lane)[1]
        }),
        ("that label under a hash", |run, row| {
            let hash = run.hashes(&row.gate, row.is_and, row.lane, true)[0];
            hash ^ run.wire(row.gate.out, row.lane)[1]
        }),
    ];
    for scheme in Scheme::ALL {
        let mut run = ViewedRun::new(scheme, Cpu::detect().unwrap(), Fault::None);
        let tables = run.view.heard[TABLES].clone();
        for (known_to, _) in kinds(scheme) {
            let rows = rows(scheme, &run.tape);
            let is_of_kind = |row: &&Row| match known_to {
                Some(known_to) => row.is_and && row.known_to == known_to,
                None => !row.is_and,
            };
            let rows = rows.iter().filter(is_of_kind).collect::<Vec<_>>();
            // One row alone, of a lane on which hashes are looked for.
            let row = rows.iter().find(|row| row.lane < SEARCHED).unwrap();
            let (first, bytes) = row.pieces[0];
            for (leak, tamper) in instead {
                let row = tamper(&run, row).to_bytes();
                run.view.heard[TABLES][first..][..bytes].copy_from_slice(&row);
                assert!(run.found().is_some(), "{scheme}, {known_to:?}: {leak}");
                run.view.heard[TABLES].clone_from(&tables);
            }
            // In each plane but that of control bits, by a garbler that always does it: the
            // evaluator does not use every row.
            let planes = row.pieces.iter().filter(|(_, bytes)| *bytes > 1).count();
            for plane in 0..planes {
                for (leak, tamper) in added {
                    for row in &rows {
                        let (first, bytes) = row.pieces[plane];
                        let more = tamper(&run, row);
                        let more = match bytes {
                            16 => more.to_bytes().to_vec(),
                            _ => leaks::halves(more.value())[0].to_le_bytes().to_vec(),
                        };
                        let piece = &mut run.view.heard[TABLES][first..][..bytes];
                        let bytes = piece.iter_mut().zip(more);
                        bytes.for_each(|(byte, more)| *byte ^= more);
                    }
                    let noticed = run.found().is_some();
                    assert!(noticed, "{scheme}, {known_to:?}: {leak} in plane {plane}");
                    run.view.heard[TABLES].clone_from(&tables);
                }
            }
        }
        assert_eq!(run.found(), None, "{scheme}");
    }
}
