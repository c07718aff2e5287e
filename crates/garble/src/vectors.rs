//! Vectors of the wire: gates, tables and decoding.

use crate::half_gates::GarbleAnd;
use crate::known_operand::garbling;
use crate::labels::Labels;
use crate::machine::{TapeRun, Workers, pieces};
use crate::scheme::Roles;
use crate::tables::KeepError;
use crate::{Evaluator, Garbler, Scheme, TablesInMemory, decode};
use sealane_block::hash::Mi;
use sealane_block::{Block, Cpu, LabelHash};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, Gate};
use sealane_testkit::vectors::{
    Value, block, blocks, bytes, check, json, list, number, on_tiers, stated, text,
};
use std::ops::Range;

const ROLES: Roles = Roles {
    garbler: 1,
    evaluator: 2,
};

/// Reads a tape without functions, which is right.
pub(crate) fn tape(bytes: &[u8]) -> Tape {
    let (words, _) = bytes.as_chunks();
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    let mut word = || words.next().expect("a whole tape");
    let [inputs, slots, depth, xors, ands, batches, outputs, 0, 0] = [(); 9].map(|()| word())
    else {
        panic!("a tape with functions");
    };
    let mut gates = |count: u32| {
        let gate = |_| Gate {
            a: word(),
            b: word(),
            out: word(),
            number: word(),
        };
        (0..count).map(gate).collect::<Vec<_>>()
    };
    let (xors, ands) = (gates(xors), gates(ands));
    let ends = (0..batches).map(|_| [word(), word()]).collect::<Vec<_>>();
    let outputs = (0..outputs).map(|_| word()).collect();
    let known_to = bytes[bytes.len() - ands.len()..].to_vec();
    let lone = bytes[bytes.len() - ands.len() - xors.len()..][..xors.len()].iter();
    Tape {
        inputs,
        slots,
        depth,
        counted: Default::default(),
        outputs,
        known_to,
        lone: lone.map(|lone| *lone == 1).collect(),
        batches: batches_of(&ends),
        xors,
        ands,
        functions: vec![],
        applied: vec![],
    }
}

fn batches_of(ends: &[[u32; 2]]) -> Vec<Batch> {
    let begins = std::iter::once(&[0, 0]).chain(ends);
    let batch = |(begin, end): (&[u32; 2], &[u32; 2])| Batch {
        xors: begin[0]..end[0],
        ands: begin[1]..end[1],
    };
    begins.zip(ends).map(batch).collect()
}

/// Garbles as call number `call`.
fn garbled(
    cpu: Cpu,
    of: &Value,
    tape: &Tape,
    lanes: usize,
    labels: Vec<Block>,
) -> (Vec<u8>, Vec<Block>) {
    let (hash, delta) = (Mi::new(cpu, block(&of["seed"])), block(&of["delta"]));
    let gates = garbling(GarbleAnd { hash: &hash, delta }, &hash, delta, ROLES);
    let run = TapeRun {
        cpu,
        gates: &gates,
        call: number(&of["call"]),
        tape,
    };
    let (mut tables, mut ports) = (TablesInMemory::default(), Labels::new(tape, lanes, 1));
    ports.inputs = labels.into();
    let mut stream = KeepError::new(&mut tables);
    let made = Workers::default().run(&run, lanes, &mut ports, &mut stream);
    let Ok(()) = stream.explain(made);
    (tables.into_bytes(), ports.outputs.to_vec())
}

/// The tape of one AND, with lanes up to the one of a vector, all of which have its labels.
fn one_and(of: &Value) -> (Tape, usize, Vec<Block>) {
    let classes = ["full", "garbler", "evaluator"];
    let class = classes.iter().position(|class| of["class"] == *class);
    let gate = number(&of["gate"]) as u32;
    let words = [2, 5, 1, 0, 1, 1, 1, 0, 0, 2, 3, 4, gate, 0, 1, 4].map(u32::to_le_bytes);
    let tape = tape(&[words.as_flattened(), &[class.expect("a class") as u8]].concat());
    let lanes = number(&of["lane"]) as usize + 1;
    let labels = ["a", "b"].map(|field| vec![block(&of[field]); lanes]);
    (tape, lanes, labels.concat())
}

/// Where the halves of the last lane lie in the tables of one AND. That lane is in the first group
/// of the last block.
fn halves(of: &Value, lanes: usize) -> Vec<Range<usize>> {
    let (first, last) = (lanes - lanes % 32, lanes % 32 - 1);
    let halves = if of["class"] == "full" { 2 } else { 1 };
    let half = |half| {
        let at = 16 * (halves * first + half * (last + 1) + last);
        at..at + 16
    };
    (0..halves).map(half).collect()
}

fn evaluator(cpu: Cpu, of: &Value) -> Evaluator {
    let mut evaluator = Evaluator::new(cpu, Scheme::Mi, block(&of["seed"]));
    evaluator.set_roles(ROLES);
    evaluator
}

fn hex(of: &[Block]) -> Value {
    stated(Block::as_bytes(of))
}

fn labels(of: &Value) -> Vec<Block> {
    list(&of["labels"]).iter().map(block).collect()
}

#[test]
fn tables_are_those_of_the_vectors() {
    check(
        "garble",
        &[
            ("and-garble", |of| {
                Ok(on_tiers(|cpu| {
                    let (tape, lanes, labels) = one_and(of);
                    let (tables, outputs) = garbled(cpu, of, &tape, lanes, labels);
                    let table = halves(of, lanes)
                        .into_iter()
                        .flat_map(|half| tables[half].to_vec());
                    json!({ "table": stated(&table.collect::<Vec<_>>()), "label": hex(&outputs[lanes - 1..]) })
                }))
            }),
            ("and-evaluate", |of| {
                Ok(on_tiers(|cpu| {
                    let (tape, lanes, labels) = one_and(of);
                    let mut tables =
                        vec![0; Scheme::Mi.table_bytes(&tape, lanes as u64, ROLES) as usize];
                    for (half, bytes) in halves(of, lanes)
                        .into_iter()
                        .zip(bytes(&of["table"]).chunks(16))
                    {
                        tables[half].copy_from_slice(bytes);
                    }
                    let mut ports = Labels::new(&tape, lanes, 1);
                    ports.inputs = labels.into();
                    let (call, mut tables) = (number(&of["call"]), TablesInMemory::from(tables));
                    let mut evaluator = evaluator(cpu, of);
                    let Ok(()) = evaluator.evaluate_as(call, &tape, lanes, &mut ports, &mut tables);
                    json!({ "label": hex(&ports.outputs[lanes - 1..]) })
                }))
            }),
            ("decode-pairs", |of| {
                Ok(on_tiers(|cpu| {
                    let garbler = Garbler::with_offset(
                        cpu,
                        Scheme::Mi,
                        block(&of["seed"]),
                        block(&of["delta"]),
                    );
                    let labels = labels(of);
                    let mut pairs = vec![[Block::ZERO; 2]; labels.len()];
                    garbler.hash_outputs((number(&of["call"]), 0), &labels, &mut pairs);
                    json!({ "pairs": hex(pairs.as_flattened()) })
                }))
            }),
            ("decode-hashes", |of| {
                Ok(on_tiers(|cpu| {
                    let labels = labels(of);
                    let mut hashes = vec![Block::ZERO; labels.len()];
                    evaluator(cpu, of).hash_outputs((number(&of["call"]), 0), &labels, &mut hashes);
                    json!({ "hashes": hex(&hashes) })
                }))
            }),
            ("decode", |of| {
                let (pairs, hashes) = (blocks(&of["pairs"]), blocks(&of["hashes"]));
                let mut bits = vec![0; hashes.len()];
                decode(&hashes, pairs.as_chunks().0, &mut bits).map_err(|_| "check-failed")?;
                Ok(json!({ "bits": bits }))
            }),
            ("pieces", |of| {
                let ends = list(&of["batches"])
                    .iter()
                    .map(|end| [0, 1].map(|at| number(&end[at]) as u32));
                let batches = batches_of(&ends.collect::<Vec<_>>());
                let empty = tape(&[0; 36]);
                let pieces = pieces(&Tape { batches, ..empty })
                    .map(|piece| {
                        [
                            piece.xors.start,
                            piece.xors.end,
                            piece.ands.start,
                            piece.ands.end,
                        ]
                    })
                    .collect::<Vec<_>>();
                Ok(json!({ "pieces": pieces }))
            }),
            ("garble", |of| {
                Ok(on_tiers(|cpu| {
                    let (tape, lanes) = (tape(&bytes(&of["tape"])), number(&of["lanes"]) as usize);
                    assert_eq!(
                        [&of["garbler"], &of["evaluator"]],
                        [0, 1],
                        "{}",
                        text(&of["tape"])
                    );
                    let (tables, outputs) = garbled(cpu, of, &tape, lanes, blocks(&of["labels"]));
                    json!({ "tables": stated(&tables), "outputs": hex(&outputs) })
                }))
            }),
        ],
    );
}
