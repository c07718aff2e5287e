//! What the evaluator has at the end tells neither the offset nor a label that it does not hold, and
//! the same check notices garblers that leak.
//!
//! The tape has an output for every wire, so that labels of inner wires are looked for as well. The
//! view is all that is sent for it and all that the evaluator can compute from that in one step: its
//! labels, and their hashes under every tweak of the gates that read them.

use crate::slow::Slow;
use crate::support::{ROLES, Session, active, bits, fix_permute_bits, plain};
use sealane_block::{Block, Cpu, Tweak};
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_circuit::{Builder, Int, Machine, Tape, compile_known};
use sealane_garble::Scheme;
use sealane_testkit::leaks::{self, Secret, View};

/// So many bits of a byte each are a block.
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
    let is_known = |knower| tape.knowers.contains(&knower);
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

/// Whether no operand is a constant.
fn reads_wires(gate: &Gate) -> bool {
    ![gate.a, gate.b]
        .iter()
        .any(|slot| [ZERO, ONE].contains(slot))
}

/// A run, from which views are made.
struct Run {
    scheme: Scheme,
    tape: Tape,
    slow: Slow,
    seed: Block,
    delta: Block,
    /// Of every wire but constants: the labels of 0 and those of 1, and the value.
    labels: [Vec<Block>; 2],
    values: Vec<u8>,
    view: View,
    secrets: Vec<Secret>,
}

/// What is wrong with the garbler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The seed of the hash is the offset, so that the offset is sent.
    SeedIsOffset,
    /// It forgets a hash.
    Forgets(usize),
}

impl Run {
    /// A run of the real garbler and evaluator, or of a slow garbler with a fault and whoever holds
    /// the right labels.
    fn new(scheme: Scheme, cpu: Cpu, fault: Fault) -> Run {
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
        let mut run = Run {
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

    /// The hashes of active labels on some lanes, under the tweaks of every gate that reads them.
    fn hold_hashes(&mut self) {
        let mut hashes = Vec::new();
        let ands = self.tape.ands.iter().map(|gate| (gate, true));
        let gates = ands.chain(self.tape.xors.iter().map(|gate| (gate, false)));
        for (gate, is_and) in gates.filter(|(gate, _)| reads_wires(gate)) {
            for lane in 0..SEARCHED {
                let [a, b] = [gate.a, gate.b].map(|slot| self.wire(slot, lane)[0]);
                let parts = match (self.scheme, is_and) {
                    (Scheme::Prf, true) => vec![(a, 4..8), (b, 8..12)],
                    (Scheme::Prf, false) => vec![(a, 12..13), (b, 13..14)],
                    (_, true) => vec![(a, 0..1), (b, 1..2), (a ^ b, 2..3)],
                    (_, false) => vec![],
                };
                for (label, parts) in parts {
                    hashes.extend(parts.map(|part| self.hash(gate, lane, part, label).value()));
                }
            }
        }
        self.view.held.extend(hashes);
    }

    /// The offset, what the evaluator does not hold of every wire, and permute bits of ANDs.
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

    /// Of the labels of 0 of all ANDs.
    fn permute_bits(&self) -> Vec<u8> {
        let slots = self.tape.ands.iter().map(|gate| gate.out - FIRST_INPUT);
        let zeros = slots.flat_map(|slot| &self.labels[0][slot as usize * LANES..][..LANES]);
        zeros.map(|label| label.lsb()).collect()
    }

    /// What is found in the view.
    fn found(&self) -> Option<String> {
        leaks::find(&self.view, &self.secrets)
    }

    /// What is found in the view with a message more.
    fn found_with(&self, message: &[u8]) -> Option<String> {
        let mut view = self.view.clone();
        view.heard.push(message.to_vec());
        leaks::find(&view, &self.secrets)
    }

    /// A row of a classical table for every pair of values of an AND's operands, under both hashes;
    /// that of the values at hand holds the label that `chosen` picks of the output's.
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
            let run = Run::new(scheme, cpu, Fault::None);
            assert_eq!(run.found(), None, "{scheme} on {}", cpu.tier());
            // What it may know is found, too, by those who look for it.
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
        let run = Run::new(scheme, cpu, Fault::None);
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
        // A right row in that place is none.
        assert_eq!(
            run.found_with(&run.classical(|[right, _]| right)),
            None,
            "{scheme}"
        );
        if scheme.labels() == 1 {
            let offset = run.found_with(&run.delta.to_bytes());
            assert_eq!(offset.as_deref(), Some("the offset, as it is"), "{scheme}");
            let run = Run::new(scheme, cpu, Fault::SeedIsOffset);
            assert_eq!(
                run.found().as_deref(),
                Some("the offset, as it is"),
                "{scheme}"
            );
        }
    }
}

#[test]
fn a_forgotten_hash_is_noticed() {
    let cpu = Cpu::detect().unwrap();
    for scheme in [Scheme::Prp, Scheme::Tccr, Scheme::Circ, Scheme::Mi] {
        for hash in 0..4 {
            let run = Run::new(scheme, cpu, Fault::Forgets(hash));
            assert!(run.found().is_some(), "{scheme} without hash {hash}");
        }
    }
}
