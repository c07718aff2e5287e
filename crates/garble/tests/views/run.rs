//! One run of garbler and evaluator, with the evaluator's view and the secrets to search it for.

use super::tape::{LANES, Row, SEARCHED, TABLES, WIDTHS, reads_wires, rows, tape};
use crate::slow::{Forgotten, Slow, tweak};
use crate::support::{Session, active, bits, fix_permute_bits, plain};
use sealane_block::{Block, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate};
use sealane_garble::Scheme;
use sealane_testkit::leaks::{self, Secret, View};
use std::ops::Range;

/// A run, from which views are made.
pub(super) struct ViewedRun {
    pub(super) scheme: Scheme,
    pub(super) tape: Tape,
    pub(super) slow: Slow,
    pub(super) seed: Block,
    pub(super) delta: Block,
    /// The labels of 0 and of 1, and the value, of every wire but constants.
    pub(super) labels: [Vec<Block>; 2],
    pub(super) values: Vec<u8>,
    pub(super) view: View,
    pub(super) secrets: Vec<Secret>,
}

/// The fault of a garbler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The seed of the hash is the offset, so that the offset is sent.
    SeedIsOffset,
    /// The garbler leaves out a hash.
    Forgets(Forgotten),
}

impl ViewedRun {
    /// A run of the real garbler and evaluator, or of a slow garbler with a fault and an evaluator
    /// that holds the right labels.
    pub(super) fn new(scheme: Scheme, cpu: Cpu, fault: Fault) -> ViewedRun {
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
    pub(super) fn wire(&self, slot: u32, lane: usize) -> [Block; 2] {
        let at = (slot - FIRST_INPUT) as usize * LANES + lane;
        let value = usize::from(self.values[at]);
        [self.labels[value][at], self.labels[1 - value][at]]
    }

    fn hash(&self, gate: &Gate, lane: usize, part: u32, label: Block) -> Block {
        self.slow.hash(label, tweak(gate.number, 0, lane, part))
    }

    /// The hashes of a gate on a lane, under each of its tweaks, of active labels or of the others.
    /// Where two labels both go into a third hash, the first alone is changed there.
    pub(super) fn hashes(&self, gate: &Gate, is_and: bool, lane: usize, held: bool) -> Vec<Block> {
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
    pub(super) fn permute_bits(&self) -> Vec<u8> {
        let slots = self.tape.ands.iter().map(|gate| gate.out - FIRST_INPUT);
        let zeros = slots.flat_map(|slot| &self.labels[0][slot as usize * LANES..][..LANES]);
        zeros.map(|label| label.lsb()).collect()
    }

    /// Searches the view, and then each gate of it.
    pub(super) fn found(&self) -> Option<String> {
        let found = self.found_in_gates();
        let found = found.or_else(|| leaks::find_heard(&self.view, &self.hashes_not_held()));
        found.or_else(|| leaks::find(&self.view, &self.secrets))
    }

    /// Searches the view with one more message.
    pub(super) fn found_with(&self, message: &[u8]) -> Option<String> {
        let mut view = self.view.clone();
        view.heard.push(message.to_vec());
        leaks::find(&view, &self.secrets)
    }

    /// Hashes of labels that the evaluator does not hold. It may know them up to the offset: a row
    /// is the sum of two hashes, and the offset added or not.
    pub(super) fn hashes_not_held(&self) -> Vec<Secret> {
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
    pub(super) fn classical(&self, chosen: impl Fn([Block; 2]) -> Block) -> Vec<u8> {
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
