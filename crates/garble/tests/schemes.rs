//! Garbling and evaluating, on random tapes, around every boundary, under every scheme and tier.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use crate::slow::Slow;
use crate::support::{ROLES, Session, active, bits, lane_counts, plain, schemes, tapes};
use proptest::prelude::*;
use sealane_block::{Block, Cpu};
use sealane_circuit::tape::{Batch, Gate, ONE, ZERO};
use sealane_circuit::{
    Builder, Circuit, Int, KnownTo, Machine, Order, Tape, Wire, compile, compile_known,
};
use sealane_garble::machine::block_width;
use sealane_garble::{ChunkReader, ChunkWriter, Evaluator, Labels, Ports, Roles, Scheme};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The main property: decoding yields what the tape computes in the clear, whatever tiers the
    /// two sides run; tables do not depend on the tier.
    #[test]
    fn random_tapes_compute_what_they_say(
        scheme in schemes(), tape in tapes(), lanes in lane_counts(), seed in any::<u64>(),
        broadcast in any::<bool>()
    ) {
        prop_assert_eq!(tape.check(), Ok(()));
        let tiers = Cpu::available();
        let mut first: Option<Vec<u8>> = None;
        for (i, cpu) in tiers.iter().enumerate() {
            let other = tiers[(i + 1) % tiers.len()];
            let mut session = Session::new(scheme, [*cpu, other], seed);
            let labels = session.labels(&tape, lanes, broadcast);
            let bits = bits(&mut session.coins, &tape, lanes, broadcast);
            let expected = plain(&tape, lanes, &bits);
            let run = session.run(&tape, lanes, &labels, &bits);
            let (bits, verdict) = session.decode(&run);
            prop_assert!(verdict.is_ok());
            prop_assert_eq!(bits, expected);
            let tables = first.get_or_insert_with(|| run.tables.clone());
            prop_assert!(*tables == run.tables, "tables differ on {}", cpu.tier());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Circuits of any gates, inversions and known operands, on which compiler and kernels have to
    /// agree.
    #[test]
    fn known_operands_change_no_result(
        gates in prop::collection::vec((any::<bool>(), any::<[u32; 2]>(), any::<[bool; 2]>()), 1..80),
        outputs in prop::collection::vec((any::<u32>(), any::<bool>()), 1..8),
        known in prop::collection::vec(0u8..4, 6), scheme in schemes(), seed in any::<u64>(),
        lanes in prop::sample::select(vec![1usize, 5, 16, 21])
    ) {
        let mut b = Builder::new();
        let mut wires = b.input(6);
        for (is_and, operands, inverted) in gates {
            let [x, y] = [0, 1].map(|i| wire(&wires, operands[i], inverted[i]));
            wires.push(if is_and { b.and(x, y) } else { b.xor(x, y) });
        }
        let output = |(drawn, inverted)| wire(&wires, drawn, inverted);
        let outputs = outputs.into_iter().map(output).collect();
        let circuit = b.finish(vec![outputs]);
        let tape = compile_known(&circuit, &Machine::CPU, &known);
        prop_assert_eq!(tape.check(), Ok(()));
        let mut session = Session::here(scheme, seed);
        let (labels, bits) = session.inputs(&tape, lanes, &known);
        let run = session.run(&tape, lanes, &labels, &bits);
        let (decoded, verdict) = session.decode(&run);
        prop_assert!(verdict.is_ok());
        prop_assert_eq!(&decoded, &plain(&tape, lanes, &bits));
        prop_assert_eq!(decoded, plain(&compile(&circuit, &Machine::ROUNDS), lanes, &bits));
    }
}

/// The wire that was drawn, inverted or not.
fn wire(wires: &[Wire], drawn: u32, inverted: bool) -> Wire {
    let wire = wires[drawn as usize % wires.len()];
    if inverted { !wire } else { wire }
}

/// The schemes with free XOR.
fn free_xor() -> impl Iterator<Item = Scheme> {
    let schemes = Scheme::ALL.into_iter();
    schemes.filter(|scheme| scheme.labels() == 1)
}

/// A tape without tables may be run by both sides at different times.
#[test]
fn tapes_without_tables_take_no_call() {
    let mut b = Builder::new();
    let x = b.input(2);
    let sum = b.xor(x[0], !x[1]);
    let free = compile(&b.finish(vec![vec![sum]]), &Machine::CPU);
    for scheme in free_xor() {
        let mut session = Session::here(scheme, 4);
        let labels = session.labels(&free, 3, false);
        session.garble(&free, 3, &labels);
        let tape = ands(2);
        let (labels, bits) = session.inputs(&tape, 3, &[]);
        let run = session.run(&tape, 3, &labels, &bits);
        assert!(session.decode(&run).1.is_ok(), "{scheme}");
    }
}

#[test]
fn gates_of_which_a_party_knows_an_operand_take_one_row() {
    let circuit = mixed();
    let whole = compile(&circuit, &Machine::CPU);
    let roles = |tape: &Tape, roles| Scheme::Mi.table_bytes(tape, 1, roles);
    for (known, at_most) in knowledge().into_iter().zip([100, 75, 95]) {
        let tape = compile_known(&circuit, &Machine::CPU, &known);
        assert_eq!(tape.ands.len(), whole.ands.len(), "no gate more");
        let (all, some) = (roles(&tape, Roles::default()), roles(&tape, ROLES));
        assert_eq!(all, 32 * whole.ands.len() as u64);
        assert!(some * 100 <= all * at_most, "{some} of {all}");
        for scheme in Scheme::ALL {
            let mut session = Session::here(scheme, 8);
            let mut slow = Slow::new(scheme, session.garbler.seed(), session.garbler.delta());
            for lanes in [3, 16, 85] {
                let (labels, _) = session.inputs(&tape, lanes, &known);
                let (tables, outputs) = session.garble(&tape, lanes, &labels);
                let (expected, labels) = slow.garble(&tape, lanes, &labels);
                assert!(tables == expected);
                assert!(Block::as_bytes(&outputs[0]) == Block::as_bytes(&labels[0]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Over all calls of a garbler, whatever their order, tables and labels are those of the
    /// equations, one gate and lane at a time; and no tweak serves twice: with MI, no AES key
    /// recurs over lanes, blocks of lanes and calls, which is what its bound rests on.
    #[test]
    fn tables_are_those_of_the_equations_and_no_tweak_recurs(
        scheme in schemes(), seed in any::<u64>(),
        tapes in prop::collection::vec((tapes(), lane_counts()), 1..4)
    ) {
        let mut session = Session::here(scheme, seed);
        let mut slow = Slow::new(scheme, session.garbler.seed(), session.garbler.delta());
        for (tape, lanes) in &tapes {
            let lanes = *lanes.min(&81);
            let (labels, bits) = session.inputs(tape, lanes, &[]);
            let run = session.run(tape, lanes, &labels, &bits);
            let (tables, outputs) = slow.garble(tape, lanes, &labels);
            prop_assert!(run.tables == tables);
            for (got, expected) in run.outputs.iter().zip(&outputs) {
                prop_assert!(Block::as_bytes(got) == Block::as_bytes(expected));
            }
            let mut table = vec![[Block::ZERO; 2]; outputs[0].len()];
            session.garbler.decode_table_of(&outputs[0], &outputs[1], &mut table);
            let hashes = &mut vec![Block::ZERO; outputs[0].len()];
            session.evaluator.output_hashes(&run.active_outputs, hashes);
            let expected = slow.decode_table(&outputs);
            let (got, expected) = (table.as_flattened(), expected.as_flattened());
            prop_assert!(Block::as_bytes(got) == Block::as_bytes(expected));
        }
    }
}

/// Some circuit with long and short chains, XORs read once and often, and inversions.
fn mixed() -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input(9), b.input(9));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 18);
    let less = b.lt(Int::signed(&x), Int::signed(&y));
    let parity = x.iter().fold(less, |sum, wire| b.xor(sum, *wire));
    b.finish(vec![product, vec![less, !parity]])
}

/// The batching strategies, each as a machine.
fn strategies() -> Vec<Machine> {
    let orders = [
        Order::None,
        Order::Queue { over_free: false },
        Order::Queue { over_free: true },
        Order::Levels,
        Order::Window { window: 4 },
        Order::Window { window: 256 },
    ];
    let lanes = [1, 4, 16, u32::MAX];
    let machine = |order| lanes.map(|lanes| Machine { lanes, order });
    orders.into_iter().flat_map(machine).collect()
}

/// The table of every gate and lane, from the stream: (is it an AND, number, lane) to bytes.
fn rows_of(
    scheme: Scheme,
    tape: &Tape,
    lanes: usize,
    tables: &[u8],
) -> HashMap<(bool, u32, usize), Vec<u8>> {
    let mut rows = HashMap::new();
    let mut unread = tables;
    crate::slow::each_group(scheme, tape, lanes, |is_and, planes, pairs| {
        let (group, later) = unread.split_at(planes.iter().sum::<usize>() * pairs.len());
        unread = later;
        for (i, &(gate, lane)) in pairs.iter().enumerate() {
            let (mut before, mut bytes) = (0, Vec::new());
            for size in planes {
                bytes.extend(&group[before * pairs.len() + size * i..][..*size]);
                before += size;
            }
            assert!(rows.insert((is_and, gate.number, lane), bytes).is_none());
        }
    });
    assert!(unread.is_empty());
    rows
}

/// Inputs of `mixed` that nobody knows; inputs of which the evaluator knows x and the garbler y;
/// and inputs of which one of them, or a third party, knows some bits.
fn knowledge() -> [Vec<KnownTo>; 3] {
    let (garbler, evaluator) = (ROLES.garbler, ROLES.evaluator);
    let all = [[evaluator; 9], [garbler; 9]].concat();
    let (g, e) = (garbler, evaluator);
    [vec![], all, vec![g, g, 7, 0, e, 0, 7, e, g, e]]
}

#[test]
fn every_strategy_makes_the_same_rows_for_every_gate() {
    let circuit = mixed();
    let schemes = Scheme::ALL.into_iter();
    for (scheme, known) in schemes.flat_map(|s| knowledge().map(|k| (s, k))) {
        for lanes in [1, 5, 16, 21, 64] {
            let mut expected = None;
            for machine in strategies() {
                let tape = compile_known(&circuit, &machine, &known);
                tape.check().unwrap();
                let mut session = Session::here(scheme, 5);
                let (labels, bits) = session.inputs(&tape, lanes, &known);
                let run = session.run(&tape, lanes, &labels, &bits);
                let rows = rows_of(scheme, &tape, lanes, &run.tables);
                let outputs = run.outputs.each_ref().map(|o| Block::as_bytes(o).to_vec());
                let first = expected.get_or_insert_with(|| (rows.clone(), outputs.clone()));
                let same = first.0 == rows && first.1 == outputs;
                assert!(same, "{scheme} {machine:?}");
                session.assert_right(&tape, lanes, &bits, &run);
            }
        }
    }
}

/// `count` ANDs of inputs 0 and 1, all independent.
fn ands(count: u32) -> Tape {
    let ands = (0..count).map(|i| gate(2, 3, 4 + i, i)).collect();
    let outputs = (0..count).map(|i| 4 + i).collect();
    one_batch([2, 4 + count], vec![], ands, outputs)
}

fn gate(a: u32, b: u32, out: u32, number: u32) -> Gate {
    Gate { a, b, out, number }
}

/// A tape of one batch, with so many inputs and slots.
fn one_batch(
    [inputs, slots]: [u32; 2],
    xors: Vec<Gate>,
    ands: Vec<Gate>,
    outputs: Vec<u32>,
) -> Tape {
    Tape {
        inputs,
        slots,
        lone: vec![false; xors.len()],
        known_to: vec![0; ands.len()],
        batches: vec![Batch {
            xors: 0..xors.len() as u32,
            ands: 0..ands.len() as u32,
        }],
        xors,
        ands,
        outputs,
        functions: vec![],
        applied: vec![],
        depth: 1,
        counted: Default::default(),
    }
}

#[test]
fn chunks_are_cut_and_joined_around_their_limit() {
    // 32 bytes a gate and lane: from far below one chunk of 2048 to several, whole and not.
    let alone = [1, 2047, 2048, 2049].map(|count| (count, 1));
    for (count, lanes) in alone.into_iter().chain([(409, 5), (33, 64), (140, 79)]) {
        let tape = ands(count);
        for scheme in Scheme::ALL {
            Session::here(scheme, count as u64).is_right(&tape, lanes);
        }
    }
}

#[test]
fn the_same_labels_never_make_the_same_row_again() {
    let tape = ands(1);
    for scheme in Scheme::ALL {
        let mut session = Session::here(scheme, 5);
        let labels = session.labels(&tape, 20, true);
        let bits = bits(&mut session.coins, &tape, 20, true);
        let mut seen = HashSet::new();
        for _ in 0..4 {
            let run = session.run(&tape, 20, &labels, &bits);
            for row in run.tables.chunks_exact(16) {
                assert!(seen.insert(row.to_vec()), "a row repeats");
            }
            session.assert_right(&tape, 20, &bits, &run);
            let mut hashes = [Block::ZERO];
            session
                .evaluator
                .output_hashes(&labels[0][..1], &mut hashes);
            assert!(seen.insert(hashes[0].to_bytes().to_vec()), "a hash repeats");
            let (zeros, ones) = (&labels[0][..1], &labels[1][..1]);
            session
                .garbler
                .decode_table_of(zeros, ones, &mut [[Block::ZERO; 2]]);
        }
    }
}

/// Every byte of the tables, changed on its own: an output is right or refused, never wrong.
#[test]
fn corrupted_tables_never_decode_to_another_value() {
    let tape = compile(&mixed(), &Machine::CPU);
    for scheme in Scheme::ALL {
        let mut refused = 0;
        let mut places = 0;
        let total = scheme.table_bytes(&tape, 1, ROLES) as usize;
        for place in (0..total).step_by(7) {
            let mut session = Session::here(scheme, 3);
            let (labels, bits) = session.inputs(&tape, 1, &[]);
            let (mut tables, outputs) = session.garble(&tape, 1, &labels);
            tables[place] ^= 1 << (place % 8);
            let active_outputs = session.evaluate(&tape, 1, active(&labels, &bits), &tables);
            let run = crate::support::GarbledTape {
                tables,
                outputs,
                active_outputs,
            };
            let (decoded, verdict) = session.decode(&run);
            places += 1;
            match verdict {
                Ok(()) => assert_eq!(decoded, plain(&tape, 1, &bits), "{scheme} {place}"),
                Err(_) => {
                    assert!(
                        decoded.iter().all(|bit| *bit == 0),
                        "no bit of a failure is told"
                    );
                    refused += 1;
                }
            }
        }
        // About half of the rows are looked at, by a set permute bit.
        assert!(refused > places / 4, "{scheme}: {refused} of {places}");
    }
}

#[test]
fn a_flipped_permute_bit_and_another_seed_are_refused() {
    let cpu = Cpu::detect().unwrap();
    let tape = ands(3);
    for scheme in Scheme::ALL {
        let mut session = Session::new(scheme, [cpu, cpu], 3);
        let (labels, bits) = session.inputs(&tape, 18, &[]);
        let mut run = session.run(&tape, 18, &labels, &bits);
        run.active_outputs[40] ^= Block::new(1);
        let (decoded, verdict) = session.decode(&run);
        assert!(verdict.is_err());
        assert!(decoded.iter().all(|bit| *bit == 0));
        // Labels as keys do not know the seed.
        if ![Scheme::Circ, Scheme::Prf].contains(&scheme) {
            let mut session = Session::new(scheme, [cpu, cpu], 3);
            let labels = session.labels(&tape, 18, false);
            let other = session.garbler.seed() ^ Block::new(1 << 100);
            session.evaluator = Evaluator::new(cpu, scheme, other);
            let run = session.run(&tape, 18, &labels, &bits);
            assert!(session.decode(&run).1.is_err(), "{scheme}");
        }
    }
}

/// The attack on a fixed-key hash without sigma: there, half of the rows T_G satisfy AES^-1(T_G ^
/// H(a) ^ ...) = a ^ delta ^ t, so the evaluator inverts one AES and has the offset. Its results
/// from the labels that it holds, for both rows and both guesses of the permute bit, must never be
/// delta; nor may delta be the sum of any two things that it sees.
#[test]
fn the_attack_on_hashes_without_sigma_finds_no_offset() {
    let lanes = 16;
    let tape = ands(16);
    for scheme in free_xor().filter(|scheme| *scheme != Scheme::ThreeHalves) {
        let mut session = Session::here(scheme, 9);
        let (labels, bits) = session.inputs(&tape, lanes, &[]);
        let run = session.run(&tape, lanes, &labels, &bits);
        let (delta, seed) = (session.garbler.delta(), session.garbler.seed());
        let rows = rows_of(scheme, &tape, lanes, &run.tables);
        let held = active(&labels, &bits);
        let labels = run.active_outputs.iter().chain(&held).map(|b| b.value());
        let (table, _) = run.tables.as_chunks();
        let view = labels.chain(table.iter().map(|row| u128::from_le_bytes(*row)));
        let known: HashSet<u128> = view.collect();
        assert!(known.iter().all(|v| !known.contains(&(v ^ delta.value()))));
        let found = crate::slow::attack(seed, &rows, &held, lanes);
        assert!(!found.is_empty());
        let other = |guess: &Block| guess.value() != delta.value();
        assert!(found.iter().all(other), "{scheme}");
    }
    // The attack is real: on the hash that it is meant for, it finds delta in about half of the
    // rows.
    assert!(crate::slow::attack_on_a_weak_hash() > 16 * 16 / 4);
}

#[test]
fn errors_of_the_stream_come_back() {
    let tape = ands(10);
    let mut session = Session::here(Scheme::Mi, 1);
    let [zeros, _] = session.labels(&tape, 5, false);
    let mut ports = Labels::new(&tape, 5, 1);
    ports.inputs = zeros.into();
    let mut sink = ChunkWriter::new(|_: &[u8]| Err("closed"));
    let Session {
        garbler, evaluator, ..
    } = &mut session;
    garbler.garble(&tape, 5, &mut ports, &mut sink).unwrap();
    assert_eq!(sink.flush(), Err("closed"));
    let mut source = ChunkReader::new(1600, |_: &mut [u8]| Err("gone"));
    let error = evaluator.evaluate(&tape, 5, &mut ports, &mut source);
    assert_eq!(error, Err("gone"));
}

/// Tapes with several pieces: batches that are cut, between batches that are not, in blocks of 64,
/// of 32 and of 16 lanes.
fn long_tapes() -> [Tape; 3] {
    let wide = ands(2100);
    let chain = {
        let mut b = Builder::new();
        let (mut x, y) = (b.input(8), b.input(8));
        for _ in 0..20 {
            x = b.mul(Int::unsigned(&x), Int::unsigned(&y), 8);
        }
        let circuit = b.finish(vec![x]);
        compile(&circuit, &Machine::ROWS)
    };
    // Sums of all wires so far, then ANDs of neighbours, repeatedly.
    let mut cut = Tape {
        slots: 1500,
        outputs: (2..42).collect(),
        ..ands(0)
    };
    for (xors, ands) in [
        (0, 3),
        (5000, 1100),
        (10, 511),
        (1, 2),
        (2048, 512),
        (0, 9),
        (2100, 0),
    ] {
        let start = (cut.xors.len() as u32, cut.ands.len() as u32);
        let batch = Batch {
            xors: start.0..start.0 + xors,
            ands: start.1..start.1 + ands,
        };
        let xor = |i| gate(2 + i % 2, 3 - i % 2, 2 + i % 33, i);
        cut.xors.extend(batch.xors.clone().map(xor));
        let and = |i| gate(2, 3, 4 + (i - start.1), i);
        cut.ands.extend(batch.ands.clone().map(and));
        cut.batches.push(batch);
    }
    cut.lone = vec![false; cut.xors.len()];
    cut.known_to = vec![0; cut.ands.len()];
    // In the first batch, gates write slots that outputs name.
    cut.inputs = 40;
    [wide, chain, cut]
}

/// Tables and labels follow the equations over all pieces and spans, are the same on any number of
/// threads, and decode to the right values.
#[test]
fn pieces_and_threads_make_the_same_tables() {
    let tapes = long_tapes();
    let widths = tapes.each_ref().map(block_width);
    assert_eq!(widths, [16, 32, 16]);
    // How work is divided does not depend on the tier.
    let best = Cpu::available().last() == Some(&Cpu::detect().unwrap());
    let (threads, lanes): (&[usize], &[usize]) = if best {
        (&[1, 2, 3, 4], &[1, 37, 150])
    } else {
        (&[3], &[37])
    };
    for (tape, &lanes) in tapes.iter().flat_map(|t| lanes.iter().map(move |l| (t, l))) {
        for scheme in Scheme::ALL {
            let mut expected = None;
            for &threads in threads {
                let mut session = Session::here(scheme, 7);
                session.garbler.set_threads(threads);
                session.evaluator.set_threads(threads);
                let (labels, bits) = session.inputs(tape, lanes, &[]);
                let (tables, outputs) = expected.get_or_insert_with(|| {
                    let (seed, delta) = (session.garbler.seed(), session.garbler.delta());
                    Slow::new(scheme, seed, delta).garble(tape, lanes, &labels)
                });
                let run = session.run(tape, lanes, &labels, &bits);
                assert!(run.tables == *tables, "{scheme} x {lanes} on {threads}");
                for (got, expected) in run.outputs.iter().zip(outputs) {
                    assert!(Block::as_bytes(got) == Block::as_bytes(expected));
                }
                session.assert_right(tape, lanes, &bits, &run);
            }
        }
    }
}

/// Where a stream ends early, all threads end, and the caller gets the error.
#[test]
fn errors_of_the_stream_end_all_threads() {
    let (tape, lanes) = (ands(1300), 300);
    let total = Scheme::Mi.table_bytes(&tape, lanes as u64, ROLES);
    for threads in [1, 4] {
        for ends in [0, 1, total / 3, total - 1] {
            let mut session = Session::here(Scheme::Mi, 1);
            session.garbler.set_threads(threads);
            session.evaluator.set_threads(threads);
            let [zeros, _] = session.labels(&tape, lanes, false);
            let mut ports = Labels::new(&tape, lanes, 1);
            ports.inputs = zeros.into();
            let within = || {
                let mut left = ends;
                move |bytes: usize| {
                    left = left.checked_sub(bytes as u64).ok_or("ended")?;
                    Ok(())
                }
            };
            let (mut sent, mut received) = (within(), within());
            let mut sink = ChunkWriter::new(|chunk: &[u8]| sent(chunk.len()));
            let garbled = session.garbler.garble(&tape, lanes, &mut ports, &mut sink);
            assert_eq!(garbled.and_then(|()| sink.flush()), Err("ended"));
            let mut source = ChunkReader::new(total, |chunk: &mut [u8]| received(chunk.len()));
            let evaluator = &mut session.evaluator;
            let evaluated = evaluator.evaluate(&tape, lanes, &mut ports, &mut source);
            assert_eq!(evaluated, Err("ended"));
        }
    }
}

/// Ports that count how far lanes have been loaded, and hold stores against it.
struct InOrder {
    loaded: Mutex<HashSet<usize>>,
    stored: usize,
}

impl Ports for InOrder {
    fn load(&self, first_lane: usize, width: usize, _: &mut [Block]) {
        let mut loaded = self.loaded.lock().unwrap();
        loaded.extend(first_lane..first_lane + width);
    }
    fn store(&mut self, _: usize, first_lane: usize, labels: &[Block]) {
        let loaded = self.loaded.lock().unwrap();
        let end = first_lane + labels.len();
        assert!((0..end).all(|lane| loaded.contains(&lane)), "{end} lanes");
        self.stored = end;
    }
}

/// Ports that store outputs over inputs may rely on this order, on any number of threads.
#[test]
fn lanes_are_loaded_before_they_and_later_ones_are_stored() {
    let (tape, lanes) = (ands(1300), 300);
    for threads in [1, 2, 4] {
        let mut session = Session::here(Scheme::Mi, 1);
        session.garbler.set_threads(threads);
        let mut sink = ChunkWriter::new(|_: &[u8]| Ok::<(), ()>(()));
        let mut ports = InOrder {
            loaded: Mutex::default(),
            stored: 0,
        };
        let garbled = session.garbler.garble(&tape, lanes, &mut ports, &mut sink);
        garbled.unwrap();
        assert_eq!(ports.stored, lanes);
    }
}

/// Ports that fail on the second block of lanes.
struct Failing;

impl Ports for Failing {
    fn load(&self, first_lane: usize, _: usize, _: &mut [Block]) {
        assert!(first_lane < 64, "these ports fail");
    }
    fn store(&mut self, _: usize, _: usize, _: &[Block]) {}
}

/// A panic of one thread ends the others and is the caller's.
#[test]
#[should_panic(expected = "these ports fail")]
fn panics_of_a_thread_are_the_callers() {
    let mut session = Session::here(Scheme::Mi, 1);
    session.garbler.set_threads(4);
    let mut sink = ChunkWriter::new(|_: &[u8]| Ok::<(), ()>(()));
    let tape = ands(1300);
    let _ = session.garbler.garble(&tape, 300, &mut Failing, &mut sink);
}

/// A tape that uses the constants in every way: as operands, as outputs, and inverted.
#[test]
fn constants_are_wires_like_any_other() {
    let xors = vec![
        gate(ONE, 2, 3, 0),
        gate(ZERO, ONE, 4, 1),
        gate(ONE, ONE, 5, 2),
        gate(3, ZERO, 6, 3),
    ];
    let ands = vec![gate(2, ONE, 7, 0), gate(ZERO, 3, 8, 1)];
    let tape = one_batch([1, 9], xors, ands, vec![0, 1, 3, 4, 5, 6, 7, 8]);
    tape.check().unwrap();
    for scheme in Scheme::ALL {
        for lanes in [2, 16] {
            Session::here(scheme, 1).is_right(&tape, lanes);
        }
    }
}

#[test]
fn real_tapes_compute_what_they_say() {
    for circuit in [
        sealane_circuit::aes::circuit(),
        sealane_circuit::sha256::circuit(3),
    ] {
        let tape = compile(&circuit, &Machine::ROWS);
        tape.check().unwrap();
        for scheme in Scheme::ALL {
            for cpu in Cpu::available().into_iter().skip(1) {
                Session::new(scheme, [cpu, cpu], 2).is_right(&tape, 70);
            }
        }
    }
}
