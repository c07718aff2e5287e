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

use crate::slow::{Forgotten, Slow, each_group};
use crate::support::{ROLES, Session, active, bits, fix_permute_bits, plain};
use sealane_block::{Block, Cpu, Tweak};
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_circuit::{Builder, Int, Machine, Tape, compile_known};
use sealane_garble::Scheme;
use sealane_testkit::leaks::{self, Secret, View};
use std::ops::Range;

/// Number of lanes: a bit of each, as a byte, makes up a block.
const LANES: usize = 16;
/// Lanes on which labels are looked for, under the evaluator's hashes among others: the first ones.
const SEARCHED: usize = 4;
/// Bits of an input of the garbler, of one of the evaluator, and of one that nobody knows.
const WIDTHS: [usize; 3] = [2, 2, 2];

/// Products and a comparison, of which some operands are known; every wire is an output.
fn tape() -> Tape {
    let mut b = Builder::new();
    let [x, y, z] = WIDTHS.map(|width| b.input(width));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 3);
    let less = b.lt(Int::unsigned(&product), Int::unsigned(&z));
    let chosen = b.select(less, &z, &y);
    let last = b.and(chosen[0], product[1]);
    let half = [x[0], y[1]].map(|known| b.and(z[0], known));
    let known = [[1; WIDTHS[0]], [2; WIDTHS[1]]].concat();
    let outputs = vec![half.to_vec(), vec![last, less], chosen];
    let tape = compile_known(&b.finish(outputs), &Machine::CPU, &known);
    let is_known = |known_to| tape.known_to.contains(&known_to);
    assert!(is_known(0) && is_known(ROLES.garbler) && is_known(ROLES.evaluator));
    spread(&tape)
}

/// The same gates, each with a slot of its own, all of which are outputs.
fn spread(tape: &Tape) -> Tape {
    let mut wide = tape.clone();
    let mut now = (0..tape.slots).collect::<Vec<_>>();
    let mut next = FIRST_INPUT + tape.inputs;
    let mut move_gate = |gate: &mut Gate| {
        (gate.a, gate.b) = (now[gate.a as usize], now[gate.b as usize]);
        now[gate.out as usize] = next;
        gate.out = next;
        next += 1;
    };
    for batch in &tape.batches {
        let xors = batch.xors.start as usize..batch.xors.end as usize;
        wide.xors[xors].iter_mut().for_each(&mut move_gate);
        // No AND of a batch reads what another one writes.
        let ands = batch.ands.start as usize..batch.ands.end as usize;
        wide.ands[ands].iter_mut().for_each(&mut move_gate);
    }
    wide.slots = next;
    wide.outputs = (FIRST_INPUT..next).collect();
    wide.lone.fill(false);
    assert_eq!(wide.check(), Ok(()));
    wide
}

/// Returns true if no operand is a constant.
fn reads_wires(gate: &Gate) -> bool {
    ![gate.a, gate.b]
        .iter()
        .any(|slot| [ZERO, ONE].contains(slot))
}

/// Index of the message that has the tables.
const TABLES: usize = 1;

/// A run, from which views are made.
struct ViewedRun {
    scheme: Scheme,
    tape: Tape,
    slow: Slow,
    seed: Block,
    delta: Block,
    /// The labels of 0 and of 1, and the value, of every wire but constants.
    labels: [Vec<Block>; 2],
    values: Vec<u8>,
    view: View,
    secrets: Vec<Secret>,
}

/// The fault of a garbler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The seed of the hash is the offset, so that the offset is sent.
    SeedIsOffset,
    /// The garbler leaves out a hash.
    Forgets(Forgotten),
}

/// A (gate, lane) pair that has a table, with its place in the stream.
struct Row {
    gate: Gate,
    lane: usize,
    is_and: bool,
    /// The party that knows an operand of an AND.
    known_to: u8,
    /// Start and length in bytes of each piece.
    pieces: Vec<(usize, usize)>,
}

/// Places of the tables of all pairs without a constant.
fn rows(scheme: Scheme, tape: &Tape) -> Vec<Row> {
    let (mut rows, mut first) = (Vec::new(), 0);
    each_group(scheme, tape, LANES, |is_and, planes, pairs| {
        for (number, (gate, lane)) in pairs.iter().enumerate() {
            let mut plane = first;
            let place = |bytes: &usize| {
                let piece = (plane + number * bytes, *bytes);
                plane += pairs.len() * bytes;
                piece
            };
            let pieces = planes.iter().map(place).collect();
            let and = tape.ands.iter().position(|and| and.number == gate.number);
            let known_to = and.filter(|_| is_and && scheme != Scheme::Prf);
            rows.push(Row {
                gate: *gate,
                lane: *lane,
                is_and,
                known_to: known_to.map_or(0, |and| tape.known_to[and]),
                pieces,
            });
        }
        first += pairs.len() * planes.iter().sum::<usize>();
    });
    rows.retain(|row| reads_wires(&row.gate));
    rows
}

impl ViewedRun {
    /// A run of the real garbler and evaluator, or of a slow garbler with a fault and an evaluator
    /// that holds the right labels.
    fn new(scheme: Scheme, cpu: Cpu, fault: Fault) -> ViewedRun {
        let tape = tape();
        let mut session = Session::new(scheme, [cpu, cpu], 1);
        let mut inputs = session.labels(&tape, LANES, false);
        let bits = bits(&mut session.coins, &tape, LANES, false);
        let values = plain(&tape, LANES, &bits);
        let known = [[1; WIDTHS[0]], [2; WIDTHS[1]]].concat();
        if scheme.labels() == 1 {
            fix_permute_bits(&mut inputs, &bits, &known, LANES);
        }
        let delta = session.garbler.delta();
        let seed = match fault {
            Fault::SeedIsOffset => delta,
            _ => session.garbler.seed(),
        };
        let mut slow = Slow::new(scheme, seed, delta);
        let (tables, labels) = match fault {
            Fault::None => session.garble(&tape, LANES, &inputs),
            _ => {
                slow.forgets = match fault {
                    Fault::Forgets(hash) => Some(hash),
                    _ => None,
                };
                slow.garble(&tape, LANES, &inputs)
            }
        };
        let held = active(&labels, &values);
        if fault == Fault::None {
            let evaluated = session.evaluate(&tape, LANES, active(&inputs, &bits), &tables);
            assert!(Block::as_bytes(&evaluated) == Block::as_bytes(&held));
        }
        // Only the results proper are decoded: the last wires.
        let results = held.len() - 2 * LANES;
        let [zeros, ones] = labels.each_ref().map(|labels| &labels[results..]);
        let mut table = vec![[Block::ZERO; 2]; zeros.len()];
        session.garbler.decode_table_of(zeros, ones, &mut table);
        let heard = [
            seed.to_bytes().to_vec(),
            tables,
            Block::as_bytes(table.as_flattened()).to_vec(),
        ];
        let mut run = ViewedRun {
            scheme,
            tape,
            slow,
            seed,
            delta,
            labels,
            values,
            view: View {
                heard: heard.to_vec(),
                held: held.iter().map(|label| label.value()).collect(),
                // The last two bits of its labels stand for themselves.
                ignored: if scheme == Scheme::Prf { 3 } else { 0 },
                in_halves: scheme == Scheme::ThreeHalves,
            },
            secrets: vec![],
        };
        run.hold_hashes();
        run.name_secrets();
        run
    }

    /// Both labels of a wire on a lane, the active one first.
    fn wire(&self, slot: u32, lane: usize) -> [Block; 2] {
        let at = (slot - FIRST_INPUT) as usize * LANES + lane;
        let value = usize::from(self.values[at]);
        [self.labels[value][at], self.labels[1 - value][at]]
    }

    fn hash(&self, gate: &Gate, lane: usize, part: u32, label: Block) -> Block {
        let tweak = Tweak {
            gate: gate.number,
            call: 0,
            row: lane as u32,
            part,
        };
        self.slow.hash(label, tweak.block())
    }

    /// The hashes of a gate on a lane, under each of its tweaks, of active labels or of the others.
    /// Where two labels both go into a third hash, the first alone is changed there.
    fn hashes(&self, gate: &Gate, is_and: bool, lane: usize, held: bool) -> Vec<Block> {
        let [a, b] = [gate.a, gate.b].map(|slot| self.wire(slot, lane));
        let which = usize::from(!held);
        let parts = match (self.scheme, is_and) {
            (Scheme::Prf, true) => vec![(a[which], 4..8), (b[which], 8..12)],
            (Scheme::Prf, false) => vec![(a[which], 12..13), (b[which], 13..14)],
            (_, true) => vec![(a[which], 0..1), (b[which], 1..2), (a[which] ^ b[0], 2..3)],
            (_, false) => vec![],
        };
        let hash = |(label, parts): (Block, Range<u32>)| {
            parts.map(move |part| self.hash(gate, lane, part, label))
        };
        parts.into_iter().flat_map(hash).collect()
    }

    /// The hashes of active labels, or of the others, on some lanes, of every gate.
    fn all_hashes(&self, held: bool) -> Vec<Block> {
        let ands = self.tape.ands.iter().map(|gate| (gate, true));
        let gates = ands.chain(self.tape.xors.iter().map(|gate| (gate, false)));
        let gates = gates.filter(|(gate, _)| reads_wires(gate));
        let hashes = gates.flat_map(|(gate, is_and)| {
            (0..SEARCHED).flat_map(move |lane| self.hashes(gate, is_and, lane, held))
        });
        hashes.collect()
    }

    fn hold_hashes(&mut self) {
        let hashes = self.all_hashes(true);
        let hashes = hashes.iter().map(|hash| hash.value());
        self.view.held.extend(hashes);
    }

    /// Names the secrets: the offset, the labels of every wire that the evaluator does not hold,
    /// and permute bits of ANDs.
    fn name_secrets(&mut self) {
        let mut secrets = Vec::new();
        if self.scheme.labels() == 1 {
            secrets.push(("the offset".into(), self.delta.value()));
        }
        for slot in self.tape.outputs.iter().copied() {
            let name = format!("a label of slot {slot}");
            let other = |lane| (name.clone(), self.wire(slot, lane)[1].value());
            secrets.extend((0..SEARCHED).map(other));
        }
        secrets.extend(leaks::bits("a permute bit", &self.permute_bits()));
        secrets.extend(leaks::bits("a value", &self.values));
        self.secrets = secrets;
    }

    /// Permute bits of the labels of 0 of all ANDs.
    fn permute_bits(&self) -> Vec<u8> {
        let slots = self.tape.ands.iter().map(|gate| gate.out - FIRST_INPUT);
        let zeros = slots.flat_map(|slot| &self.labels[0][slot as usize * LANES..][..LANES]);
        zeros.map(|label| label.lsb()).collect()
    }

    /// Searches the view, and then each gate of it.
    fn found(&self) -> Option<String> {
        let found = self.found_in_gates();
        let found = found.or_else(|| leaks::find_heard(&self.view, &self.hashes_not_held()));
        found.or_else(|| leaks::find(&self.view, &self.secrets))
    }

    /// Searches the view with one more message.
    fn found_with(&self, message: &[u8]) -> Option<String> {
        let mut view = self.view.clone();
        view.heard.push(message.to_vec());
        leaks::find(&view, &self.secrets)
    }

    /// Hashes of labels that the evaluator does not hold. It may know them up to the offset: a row
    /// is the sum of two hashes, and the offset added or not.
    fn hashes_not_held(&self) -> Vec<Secret> {
        let hashes = self.all_hashes(false).into_iter();
        let name = |hash: Block| ("the hash of a label not held".to_string(), hash.value());
        hashes.map(name).collect()
    }

    /// Searches the sums of all values that the evaluator has of one gate on one lane.
    fn found_in_gates(&self) -> Option<String> {
        rows(self.scheme, &self.tape)
            .iter()
            .find_map(|row| self.found_in(row))
    }

    /// Searches one gate. With an offset, labels of three wires are not held if it is secret.
    fn found_in(&self, row: &Row) -> Option<String> {
        let Row { gate, lane, .. } = row;
        let wires = [gate.a, gate.b, gate.out].map(|slot| self.wire(slot, *lane));
        let mut known = self.hashes(gate, row.is_and, *lane, true);
        known.extend(wires.map(|[held, _]| held));
        let mut halves = Vec::new();
        for (first, bytes) in &row.pieces {
            let piece = &self.view.heard[TABLES][*first..][..*bytes];
            match bytes {
                16 => known.push(Block::from_bytes(piece.try_into().unwrap())),
                8 => halves.push(u64::from_le_bytes(piece.try_into().unwrap()).into()),
                // Control bits, which are masked by bits.
                _ => {}
            }
        }
        let secrets = wires.map(|[_, other]| ("a label not held".to_string(), other.value()));
        let ignored = self.view.ignored;
        let secrets = secrets.map(|(name, other)| (name, other & !ignored));
        let known = known.iter().map(|block| block.value() & !ignored);
        let known = known.collect::<Vec<_>>();
        let found = leaks::find_in_span(&known, &secrets);
        if found.is_some() || !self.view.in_halves {
            return found;
        }
        let known = known.into_iter().flat_map(leaks::halves).map(u128::from);
        halves.extend(known);
        leaks::find_in_span(&halves, &leaks::in_halves(&secrets))
    }

    /// A row of a classical table for every pair of values of an AND's operands, under both hashes;
    /// the row of the current values holds the label that `chosen` picks of the output's.
    fn classical(&self, chosen: impl Fn([Block; 2]) -> Block) -> Vec<u8> {
        let gate = self.tape.ands.iter().find(|gate| reads_wires(gate));
        let gate = gate.expect("an AND of two wires");
        let [a, b] = [gate.a, gate.b].map(|slot| self.wire(slot, 0)[0]);
        let [of_a, of_b] = match self.scheme {
            Scheme::Prf => [4, 8],
            _ => [0, 1],
        };
        let row = self.hash(gate, 0, of_a, a) ^ self.hash(gate, 0, of_b, b);
        (row ^ chosen(self.wire(gate.out, 0))).to_bytes().to_vec()
    }
}

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
