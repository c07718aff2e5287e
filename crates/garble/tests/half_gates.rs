//! Garbling and evaluating, on random tapes, around every boundary, on every tier.

mod support;

use proptest::prelude::*;
use sealane_block::{Aes128, Block, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, Gate};
use sealane_garble::{DecodeError, Evaluator, Garbler, decode};
use support::{Labels, Run, bits, lane_counts, plain, run, session, tapes, zero_labels};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The main property: what is decoded is what the tape computes in the clear, decoded by
    /// either side, whatever tiers the two sides run; tables do not depend on the tier.
    #[test]
    fn random_tapes_compute_what_they_say(
        tape in tapes(), lanes in lane_counts(), seed in any::<u64>(), broadcast in any::<bool>()
    ) {
        prop_assert_eq!(tape.check(), Ok(()));
        let tiers = Cpu::available();
        let mut first: Option<Vec<u8>> = None;
        for (i, cpu) in tiers.iter().enumerate() {
            let other = tiers[(i + 1) % tiers.len()];
            let (mut garbler, mut evaluator, mut coins) = session(*cpu, other, seed);
            let zeros = zero_labels(&mut coins, &tape, lanes, broadcast);
            let bits = bits(&mut coins, &tape, lanes, broadcast);
            let expected = plain(&tape, lanes, &bits);
            let outcome = run(&mut garbler, &mut evaluator, &tape, lanes, &zeros, &bits);
            let (bits, verdict) = decode_outputs(&mut garbler, &mut evaluator, &outcome);
            prop_assert!(verdict.is_ok());
            prop_assert_eq!(bits, expected);
            let tables = first.get_or_insert_with(|| outcome.tables.clone());
            prop_assert!(*tables == outcome.tables, "tables differ on {}", cpu.tier());
        }
    }
}

/// The outputs' bits, or 9 for each where decoding left them alone, and whether it failed.
fn decode_outputs(
    garbler: &mut Garbler,
    evaluator: &mut Evaluator,
    outcome: &Run,
) -> (Vec<u8>, Result<(), DecodeError>) {
    let count = outcome.zero_outputs.len();
    let (mut table, mut bits) = (vec![[Block::ZERO; 2]; count], vec![9; count]);
    garbler.decode_table(&outcome.zero_outputs, &mut table);
    let mut hashes = vec![Block::ZERO; count];
    evaluator.output_hashes(&outcome.active_outputs, &mut hashes);
    let verdict = decode(&hashes, &table, &mut bits);
    (bits, verdict)
}

/// `count` ANDs of inputs 0 and 1, all independent.
fn ands(count: u32) -> Tape {
    Tape {
        inputs: 2,
        slots: 4 + count,
        xors: vec![],
        ands: (0..count)
            .map(|i| Gate {
                a: 2,
                b: 3,
                out: 4 + i,
            })
            .collect(),
        batches: vec![Batch {
            xors: 0..0,
            ands: 0..count,
        }],
        outputs: (0..count).map(|i| 4 + i).collect(),
        depth: 1,
    }
}

fn sigma(x: Block) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(((high ^ low) as u128) << 64 | high as u128)
}

/// The rows of figure 2 of the paper, one gate at a time, with hashes from single AES calls: the
/// slow and obvious version, and the format of the crate's page.
#[test]
fn rows_are_those_of_the_paper_in_the_documented_order() {
    let cpu = Cpu::available()[0];
    for lanes in [3, 16, 21] {
        let tape = ands(2);
        let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, 11);
        let zeros = zero_labels(&mut coins, &tape, lanes, false);
        let bits = bits(&mut coins, &tape, lanes, false);
        let outcome = run(&mut garbler, &mut evaluator, &tape, lanes, &zeros, &bits);

        let (seed, delta) = (garbler.seed(), garbler.delta());
        let hash = |x: Block, number: u128, half: u128| {
            let key = seed ^ Block::new(number | half << 64);
            Aes128::new(cpu, key).encrypt(sigma(x)) ^ sigma(x)
        };
        // Groups of (gate, lane) pairs: 16 lanes of one gate, then what is left of both.
        let whole = lanes - lanes % 16;
        let mut groups: Vec<Vec<(usize, usize)>> = Vec::new();
        for gate in 0..2 {
            let pairs: Vec<_> = (0..whole).map(|lane| (gate, lane)).collect();
            groups.extend(pairs.chunks(16).map(<[_]>::to_vec));
        }
        let rest: Vec<_> = (0..2)
            .flat_map(|g| (whole..lanes).map(move |lane| (g, lane)))
            .collect();
        groups.extend(rest.chunks(16).map(<[_]>::to_vec));

        let mut expected = Vec::new();
        for (group, pairs) in groups.into_iter().enumerate() {
            let mut rows = [Vec::new(), Vec::new()];
            for (place, (gate, lane)) in pairs.into_iter().enumerate() {
                let number = 16 * group as u128 + place as u128;
                let (a, b) = (zeros[lane], zeros[lanes + lane]);
                let (a0, a1) = (hash(a, number, 0), hash(a ^ delta, number, 0));
                let (b0, b1) = (hash(b, number, 1), hash(b ^ delta, number, 1));
                let garbler_row = a0 ^ a1 ^ delta.masked(b.lsb());
                let evaluator_row = b0 ^ b1 ^ a;
                rows[0].push(garbler_row);
                rows[1].push(evaluator_row);
                let garbler_wire = a0 ^ garbler_row.masked(a.lsb());
                let evaluator_wire = b0 ^ (evaluator_row ^ a).masked(b.lsb());
                let c = outcome.zero_outputs[gate * lanes + lane];
                assert_eq!(c.value(), (garbler_wire ^ evaluator_wire).value());
            }
            expected.extend(rows.concat());
        }
        assert!(
            outcome.tables == Block::as_bytes(&expected),
            "{lanes} lanes"
        );
    }
}

/// A garbler written from the crate's page, one gate and lane at a time, that notes every AES key.
struct Slow {
    cpu: Cpu,
    seed: Block,
    delta: Block,
    group: u128,
    keys: std::collections::HashSet<u128>,
}

impl Slow {
    /// The hashes of both labels, under the one key that serves no other pair.
    fn hashes(&mut self, zero: Block, place: usize, half: u128) -> [Block; 2] {
        let number = 16 * self.group + place as u128;
        let key = self.seed ^ Block::new(number | half << 64);
        assert!(self.keys.insert(key.value()), "an AES key serves twice");
        let aes = Aes128::new(self.cpu, key);
        [zero, zero ^ self.delta].map(|x| aes.encrypt(sigma(x)) ^ sigma(x))
    }

    /// Table bytes and zero labels of outputs, as `[output][lane]`.
    fn garble(&mut self, tape: &Tape, lanes: usize, zeros: &[Block]) -> (Vec<u8>, Vec<Block>) {
        let mut tables = Vec::new();
        let mut outputs = vec![Block::ZERO; tape.outputs.len() * lanes];
        let mut first = 0;
        while first < lanes {
            let width = match lanes - first {
                64.. => 64,
                left @ 16.. => left / 16 * 16,
                left => left,
            };
            let mut slots = vec![vec![Block::ZERO; width]; tape.slots as usize];
            slots[1].fill(self.delta);
            for input in 0..tape.inputs as usize {
                let from = input * lanes + first;
                slots[2 + input].copy_from_slice(&zeros[from..from + width]);
            }
            for batch in &tape.batches {
                for gate in &tape.xors[batch.xors.start as usize..batch.xors.end as usize] {
                    let (a, b) = (&slots[gate.a as usize], &slots[gate.b as usize]);
                    slots[gate.out as usize] = a.iter().zip(b).map(|(a, b)| *a ^ *b).collect();
                }
                let gates = &tape.ands[batch.ands.start as usize..batch.ands.end as usize];
                let pairs = gates
                    .iter()
                    .flat_map(|gate| (0..width).map(move |lane| (gate, lane)));
                for group in pairs.collect::<Vec<_>>().chunks(16) {
                    let mut rows = [Vec::new(), Vec::new()];
                    for (place, (gate, lane)) in group.iter().enumerate() {
                        let (a, b) = (slots[gate.a as usize][*lane], slots[gate.b as usize][*lane]);
                        let [a0, a1] = self.hashes(a, place, 0);
                        let [b0, b1] = self.hashes(b, place, 1);
                        let row = a0 ^ a1 ^ self.delta.masked(b.lsb());
                        rows[0].push(row);
                        rows[1].push(b0 ^ b1 ^ a);
                        let c = a0 ^ row.masked(a.lsb()) ^ b0 ^ (b0 ^ b1).masked(b.lsb());
                        slots[gate.out as usize][*lane] = c;
                    }
                    tables.extend_from_slice(Block::as_bytes(&rows.concat()));
                    self.group += 1;
                }
            }
            for (output, slot) in tape.outputs.iter().enumerate() {
                let to = output * lanes + first;
                outputs[to..to + width].copy_from_slice(&slots[*slot as usize]);
            }
            first += width;
        }
        (tables, outputs)
    }

    fn decode_table(&mut self, zeros: &[Block]) -> Vec<[Block; 2]> {
        let mut table = Vec::new();
        for group in zeros.chunks(16) {
            let places = group.iter().enumerate();
            table.extend(places.map(|(place, zero)| self.hashes(*zero, place, 0)));
            self.group += 1;
        }
        table
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Over all calls of a garbler, whatever their order, it takes the keys of the crate's page,
    /// and none of these serves twice: what the bound of the multi-instance hash rests on.
    #[test]
    fn every_aes_key_of_a_session_serves_one_pair_of_labels(
        tapes in prop::collection::vec((tapes(), lane_counts()), 1..4), seed in any::<u64>()
    ) {
        let cpu = Cpu::detect().unwrap();
        let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, seed);
        let (seed, delta) = (garbler.seed(), garbler.delta());
        let keys = std::collections::HashSet::new();
        let mut slow = Slow { cpu, seed, delta, group: 0, keys };
        for (tape, lanes) in &tapes {
            let lanes = lanes.min(&81);
            let zeros = zero_labels(&mut coins, tape, *lanes, false);
            let bits = bits(&mut coins, tape, *lanes, false);
            let outcome = run(&mut garbler, &mut evaluator, tape, *lanes, &zeros, &bits);
            let (tables, outputs) = slow.garble(tape, *lanes, &zeros);
            prop_assert!(outcome.tables == tables);
            prop_assert!(Block::as_bytes(&outcome.zero_outputs) == Block::as_bytes(&outputs));
            let mut table = vec![[Block::ZERO; 2]; outputs.len()];
            garbler.decode_table(&outputs, &mut table);
            evaluator.output_hashes(&outcome.active_outputs, &mut vec![Block::ZERO; outputs.len()]);
            let expected = slow.decode_table(&outputs);
            let (got, expected) = (table.as_flattened(), expected.as_flattened());
            prop_assert!(Block::as_bytes(got) == Block::as_bytes(expected));
        }
    }
}

#[test]
fn chunks_are_cut_and_joined_around_their_limit() {
    // 32 bytes a gate and lane: from far below one chunk of 2048 to several, whole and not.
    for (count, lanes) in [
        (1, 1),
        (2047, 1),
        (2048, 1),
        (2049, 1),
        (409, 5),
        (33, 64),
        (140, 79),
    ] {
        let tape = ands(count);
        for cpu in Cpu::available() {
            let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, count as u64);
            let zeros = zero_labels(&mut coins, &tape, lanes, false);
            let bits = bits(&mut coins, &tape, lanes, false);
            let outcome = run(&mut garbler, &mut evaluator, &tape, lanes, &zeros, &bits);
            let (decoded, verdict) = decode_outputs(&mut garbler, &mut evaluator, &outcome);
            assert!(verdict.is_ok());
            assert_eq!(decoded, plain(&tape, lanes, &bits), "{count} x {lanes}");
        }
    }
}

#[test]
fn no_tweak_repeats_across_calls() {
    let cpu = Cpu::detect().unwrap();
    let tape = ands(1);
    let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, 5);
    let zeros = zero_labels(&mut coins, &tape, 20, false);
    let bits = bits(&mut coins, &tape, 20, false);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..4 {
        // The same labels again: only a fresh tweak makes the rows differ.
        let outcome = run(&mut garbler, &mut evaluator, &tape, 20, &zeros, &bits);
        for row in outcome.tables.chunks_exact(16) {
            assert!(seen.insert(row.to_vec()), "a row repeats");
        }
        let (decoded, verdict) = decode_outputs(&mut garbler, &mut evaluator, &outcome);
        assert!(verdict.is_ok());
        assert_eq!(decoded, plain(&tape, 20, &bits));
        let mut hashes = vec![Block::ZERO; 1];
        evaluator.output_hashes(&zeros[..1], &mut hashes);
        assert!(seen.insert(hashes[0].to_bytes().to_vec()), "a hash repeats");
        garbler.decode_table(&zeros[..1], &mut [[Block::ZERO; 2]]);
    }
}

#[test]
fn corrupted_tables_and_labels_do_not_decode() {
    let cpu = Cpu::detect().unwrap();
    let tape = ands(3);
    let lanes = 18;
    // What is corrupted: a byte of each row, the label's permute bit, or the seed.
    for place in 0..4 {
        let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, 3);
        let zeros = zero_labels(&mut coins, &tape, lanes, false);
        // Both active labels have permute bit 1, so that both rows of every gate are used.
        let mut bits = vec![0; 2 * lanes];
        for (bit, zero) in bits.iter_mut().zip(&zeros) {
            *bit = 1 - zero.lsb();
        }
        let mut outcome = run(&mut garbler, &mut evaluator, &tape, lanes, &zeros, &bits);
        let (mut garbler, mut evaluator, _) = session(cpu, cpu, 3);
        let mut tables = outcome.tables.clone();
        match place {
            0 | 1 => tables[place * 256 + 7] ^= 0x10,
            2 => {}
            _ => evaluator = Evaluator::new(cpu, garbler.seed() ^ Block::new(1 << 100)),
        }
        let mut ports = Labels::new(&tape, lanes, zeros.clone());
        garbler
            .garble(&tape, lanes, &mut ports, &mut |_: &[u8]| {
                Ok::<_, DecodeError>(())
            })
            .unwrap();
        let delta = garbler.delta();
        let active = zeros
            .iter()
            .zip(&bits)
            .map(|(zero, bit)| *zero ^ delta.masked(*bit));
        let mut active = Labels::new(&tape, lanes, active.collect());
        let mut unread = &tables[..];
        evaluator
            .evaluate(&tape, lanes, &mut active, &mut |chunk: &mut [u8]| {
                let (now, later) = unread.split_at(chunk.len());
                chunk.copy_from_slice(now);
                unread = later;
                Ok::<_, DecodeError>(())
            })
            .unwrap();
        outcome.active_outputs = active.outputs;
        if place == 2 {
            outcome.active_outputs[40] ^= Block::new(1);
        }
        let (bits, verdict) = decode_outputs(&mut garbler, &mut evaluator, &outcome);
        assert!(verdict.is_err(), "{place}");
        assert!(
            bits.iter().all(|bit| *bit == 0),
            "no bit of a failed decoding is told"
        );
    }
}

#[test]
fn errors_of_the_stream_come_back() {
    let cpu = Cpu::detect().unwrap();
    let tape = ands(10);
    let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, 1);
    let zeros = zero_labels(&mut coins, &tape, 5, false);
    let mut ports = Labels::new(&tape, 5, zeros);
    let error = garbler.garble(&tape, 5, &mut ports, &mut |_: &[u8]| Err("closed"));
    assert_eq!(error, Err("closed"));
    let error = evaluator.evaluate(&tape, 5, &mut ports, &mut |_: &mut [u8]| Err("gone"));
    assert_eq!(error, Err("gone"));
}

#[test]
fn a_real_tape_computes_what_it_says() {
    let tape = sealane_circuit::compile(
        &sealane_circuit::aes::circuit(),
        &sealane_circuit::Machine::ROWS,
    );
    let cpu = Cpu::detect().unwrap();
    let lanes = 70;
    let (mut garbler, mut evaluator, mut coins) = session(cpu, cpu, 2);
    let zeros = zero_labels(&mut coins, &tape, lanes, false);
    let bits = bits(&mut coins, &tape, lanes, false);
    let outcome = run(&mut garbler, &mut evaluator, &tape, lanes, &zeros, &bits);
    let (decoded, verdict) = decode_outputs(&mut garbler, &mut evaluator, &outcome);
    assert!(verdict.is_ok());
    assert_eq!(decoded, plain(&tape, lanes, &bits));
}
