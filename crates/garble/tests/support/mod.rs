//! Random tapes, their plain meaning, and one run of both sides in memory.

use std::convert::Infallible;

use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, FIRST_INPUT, Gate};
use sealane_garble::{
    CHUNK_BYTES, ChunkReader, ChunkWriter, DecodeError, Evaluator, Garbler, Labels, Roles, Scheme,
    decode,
};

/// The plain value of every output, one byte a lane, gate by gate as the tape's page says.
pub fn plain(tape: &Tape, lanes: usize, bits: &[u8]) -> Vec<u8> {
    let mut slots = vec![vec![0; lanes]; tape.slots as usize];
    slots[1].fill(1);
    for (input, lane_bits) in bits.chunks_exact(lanes).enumerate() {
        slots[FIRST_INPUT as usize + input] = lane_bits.to_vec();
    }
    for batch in &tape.batches {
        for i in batch.xors.clone() {
            let Gate { a, b, out, .. } = tape.xors[i as usize];
            slots[out as usize] = zip(&slots[a as usize], &slots[b as usize], |a, b| a ^ b);
        }
        for i in batch.ands.clone() {
            let Gate { a, b, out, .. } = tape.ands[i as usize];
            slots[out as usize] = zip(&slots[a as usize], &slots[b as usize], |a, b| a & b);
        }
    }
    let outputs = tape.outputs.iter();
    outputs
        .flat_map(|slot| slots[*slot as usize].clone())
        .collect()
}

fn zip(a: &[u8], b: &[u8], f: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// The result of garbling and evaluating one tape.
pub struct GarbledTape {
    pub tables: Vec<u8>,
    /// The labels of 0 of all outputs, and those of 1.
    pub outputs: Pairs,
    pub active_outputs: Vec<Block>,
}

/// The labels of 0 of some wires on some lanes, and those of 1.
pub type Pairs = [Vec<Block>; 2];

/// The parties of tapes.
pub const ROLES: Roles = Roles {
    garbler: 1,
    evaluator: 2,
};

/// Both sides of an instance, and where their inputs come from.
pub struct Session {
    pub garbler: Garbler,
    pub evaluator: Evaluator,
    pub coins: Coins,
}

impl Session {
    pub fn new(scheme: Scheme, cpus: [Cpu; 2], seed: u64) -> Session {
        let mut coins = Coins::danger_fixed_seed(seed);
        let seed = coins.public("hash").block();
        let mut garbler = Garbler::new(cpus[0], scheme, seed, &mut coins);
        let mut evaluator = Evaluator::new(cpus[1], scheme, garbler.seed());
        garbler.set_roles(ROLES);
        evaluator.set_roles(ROLES);
        Session {
            garbler,
            evaluator,
            coins,
        }
    }

    /// Both sides on the best tier.
    pub fn here(scheme: Scheme, seed: u64) -> Session {
        Session::new(scheme, [Cpu::detect().unwrap(); 2], seed)
    }

    /// Labels and bits of all inputs, of which some are known: see [`fix_permute_bits`].
    pub fn inputs(&mut self, tape: &Tape, lanes: usize, known: &[u8]) -> (Pairs, Vec<u8>) {
        let mut labels = self.labels(tape, lanes, false);
        let bits = bits(&mut self.coins, tape, lanes, false);
        if self.garbler.scheme().labels() == 1 {
            fix_permute_bits(&mut labels, &bits, known, lanes);
        }
        (labels, bits)
    }

    /// Asserts that a run decodes to what the tape computes in the clear.
    pub fn assert_right(&mut self, tape: &Tape, lanes: usize, bits: &[u8], run: &GarbledTape) {
        let scheme = self.garbler.scheme();
        let (decoded, verdict) = self.decode(run);
        assert!(verdict.is_ok(), "{scheme} x {lanes}");
        assert_eq!(decoded, plain(tape, lanes, bits), "{scheme} x {lanes}");
    }

    /// Runs a tape on random inputs, and asserts that it is right.
    pub fn is_right(&mut self, tape: &Tape, lanes: usize) {
        let (labels, bits) = self.inputs(tape, lanes, &[]);
        let run = self.run(tape, lanes, &labels, &bits);
        self.assert_right(tape, lanes, &bits, &run);
    }

    /// Labels of 0 and of 1 for all inputs. Where `broadcast` is set, an input has the same labels
    /// on all lanes, and every third input repeats the one before it.
    pub fn labels(&mut self, tape: &Tape, lanes: usize, broadcast: bool) -> Pairs {
        let count = tape.inputs as usize * lanes;
        let mut zeros = self.garbler.fresh_labels(&mut self.coins, count).to_vec();
        let mut ones = self.ones(&mut zeros);
        for labels in [&mut zeros, &mut ones] {
            for input in (0..tape.inputs as usize).filter(|_| broadcast) {
                let same = if input % 3 == 2 { input - 1 } else { input };
                let label = labels[same * lanes];
                labels[input * lanes..(input + 1) * lanes].fill(label);
            }
        }
        [zeros, ones]
    }

    pub fn garble(&mut self, tape: &Tape, lanes: usize, labels: &Pairs) -> (Vec<u8>, Pairs) {
        let scheme = self.garbler.scheme();
        let inputs = match scheme.labels() {
            2 => labels.concat(),
            _ => labels[0].clone(),
        };
        let mut tables = Vec::new();
        let mut ports = Labels::new(tape, lanes, scheme.labels());
        ports.inputs = inputs.into();
        let mut sink = ChunkWriter::new(|chunk: &[u8]| {
            assert!(!chunk.is_empty() && chunk.len() <= CHUNK_BYTES);
            tables.extend_from_slice(chunk);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = self.garbler.garble(tape, lanes, &mut ports, &mut sink);
        let Ok(()) = sink.flush();
        drop(sink);
        let bytes = scheme.table_bytes(tape, lanes as u64, ROLES);
        assert_eq!(tables.len() as u64, bytes);
        let mut zeros = std::mem::take(&mut *ports.outputs);
        let ones = self.ones(&mut zeros);
        (tables, [zeros, ones])
    }

    /// The labels of 1, which stand behind those of 0 where a scheme has no offset.
    fn ones(&self, zeros: &mut Vec<Block>) -> Vec<Block> {
        match self.garbler.scheme().labels() {
            2 => zeros.split_off(zeros.len() / 2),
            _ => zeros
                .iter()
                .map(|zero| *zero ^ self.garbler.delta())
                .collect(),
        }
    }

    pub fn evaluate(
        &mut self,
        tape: &Tape,
        lanes: usize,
        active: Vec<Block>,
        tables: &[u8],
    ) -> Vec<Block> {
        let mut ports = Labels::new(tape, lanes, 1);
        ports.inputs = active.into();
        let mut unread = tables;
        let mut source = ChunkReader::new(tables.len() as u64, |chunk: &mut [u8]| {
            assert!(!chunk.is_empty() && chunk.len() <= CHUNK_BYTES);
            let (now, later) = unread.split_at(chunk.len());
            chunk.copy_from_slice(now);
            unread = later;
            Ok::<(), Infallible>(())
        });
        let evaluator = &mut self.evaluator;
        let Ok(()) = evaluator.evaluate(tape, lanes, &mut ports, &mut source);
        drop(source);
        assert!(unread.is_empty(), "the evaluator reads every byte");
        std::mem::take(&mut *ports.outputs)
    }

    /// Garbles, then evaluates from the bytes, cut differently.
    pub fn run(&mut self, tape: &Tape, lanes: usize, labels: &Pairs, bits: &[u8]) -> GarbledTape {
        let (tables, outputs) = self.garble(tape, lanes, labels);
        let active_outputs = self.evaluate(tape, lanes, active(labels, bits), &tables);
        GarbledTape {
            tables,
            outputs,
            active_outputs,
        }
    }

    /// The outputs' bits, or 9 for each where decoding left them alone, and whether it failed.
    pub fn decode(&mut self, run: &GarbledTape) -> (Vec<u8>, Result<(), DecodeError>) {
        let count = run.active_outputs.len();
        let (mut table, mut bits) = (vec![[Block::ZERO; 2]; count], vec![9; count]);
        let [zeros, ones] = &run.outputs;
        self.garbler.decode_table_of(zeros, ones, &mut table);
        let mut hashes = vec![Block::ZERO; count];
        let evaluator = &mut self.evaluator;
        evaluator.output_hashes(&run.active_outputs, &mut hashes);
        let verdict = decode(&hashes, &table, &mut bits);
        (bits, verdict)
    }
}

/// Gives the labels of inputs the permute bits that known operands need: see `known_operand`.
pub fn fix_permute_bits(labels: &mut Pairs, bits: &[u8], known: &[u8], lanes: usize) {
    let [zeros, ones] = labels;
    for (i, (zero, one)) in zeros.iter_mut().zip(ones).enumerate() {
        let wanted = match known.get(i / lanes) {
            Some(&known_to) if known_to == ROLES.evaluator => 0,
            Some(&known_to) if known_to == ROLES.garbler => bits[i],
            _ => continue,
        };
        if zero.lsb() != wanted {
            *zero ^= Block::new(1);
            *one ^= Block::new(1);
        }
    }
}

/// The labels of the given bits.
pub fn active(labels: &Pairs, bits: &[u8]) -> Vec<Block> {
    let label = |(i, bit): (usize, &u8)| labels[usize::from(*bit)][i];
    bits.iter().enumerate().map(label).collect()
}

/// Any scheme.
pub fn schemes() -> impl Strategy<Value = Scheme> {
    prop::sample::select(Scheme::ALL.to_vec())
}

/// Random bits that agree with broadcast labels: equal labels have equal bits.
pub fn bits(coins: &mut Coins, tape: &Tape, lanes: usize, broadcast: bool) -> Vec<u8> {
    let mut bits = vec![0; tape.inputs as usize * lanes];
    coins.secret("bits").fill_bytes(&mut bits);
    for (i, bit) in bits.iter_mut().enumerate() {
        *bit &= 1;
        if broadcast {
            let input = i / lanes;
            *bit = (if input % 3 == 2 { input - 1 } else { input } / 2 % 2) as u8;
        }
    }
    bits
}

/// The lane counts at which the format changes shape.
pub fn lane_counts() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(&[
            1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 79, 80, 81, 128
        ]),
        1..=200usize,
    ]
}

/// Any valid tape: gates read what was written, overwrite anything but constants (inputs too, and
/// their own operands if XORs), read constants and one slot twice.
pub fn tapes() -> impl Strategy<Value = Tape> {
    let gate = (any::<u32>(), any::<u32>(), any::<u32>());
    let gates = |most| prop::collection::vec(gate, 0..most);
    let batches = prop::collection::vec((gates(12), gates(20)), 0..8);
    let outputs = prop::collection::vec(any::<u32>(), 0..10);
    (0u32..9, 1u32..24, batches, outputs).prop_map(build)
}

type RawGate = (u32, u32, u32);
type RawBatch = (Vec<RawGate>, Vec<RawGate>);

fn build((inputs, spare, raw, raw_outputs): (u32, u32, Vec<RawBatch>, Vec<u32>)) -> Tape {
    let slots = FIRST_INPUT + inputs + spare;
    let mut written: Vec<u32> = (0..FIRST_INPUT + inputs).collect();
    let (mut xors, mut ands, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    let pick = |from: &[u32], raw: u32| from[raw as usize % from.len()];
    for (raw_xors, raw_ands) in raw {
        let start = (xors.len() as u32, ands.len() as u32);
        for (a, b, out) in raw_xors {
            let (a, b) = (pick(&written, a), pick(&written, b));
            let out = FIRST_INPUT + out % (slots - FIRST_INPUT);
            let number = xors.len() as u32;
            xors.push(Gate { a, b, out, number });
            if !written.contains(&out) {
                written.push(out);
            }
        }
        // An AND is kept if it touches no slot in a way that another one forbids.
        let mut kept: Vec<Gate> = Vec::new();
        for (a, b, out) in raw_ands {
            let (a, b) = (pick(&written, a), pick(&written, b));
            let out = FIRST_INPUT + out % (slots - FIRST_INPUT);
            let clash =
                |g: &Gate| g.out == out || [g.a, g.b].contains(&out) || [a, b].contains(&g.out);
            if ![a, b].contains(&out) && !kept.iter().any(clash) {
                let number = (ands.len() + kept.len()) as u32;
                kept.push(Gate { a, b, out, number });
            }
        }
        for gate in &kept {
            if !written.contains(&gate.out) {
                written.push(gate.out);
            }
        }
        ands.extend(kept);
        batches.push(Batch {
            xors: start.0..xors.len() as u32,
            ands: start.1..ands.len() as u32,
        });
    }
    let outputs = raw_outputs.into_iter().map(|raw| pick(&written, raw));
    let mut tape = Tape {
        inputs,
        slots,
        lone: vec![false; xors.len()],
        known_to: vec![0; ands.len()],
        xors,
        ands,
        batches,
        outputs: outputs.collect(),
        functions: vec![],
        applied: vec![],
        depth: 0,
        counted: Default::default(),
    };
    tape.depth = deepest(&tape);
    mark_lone(&mut tape);
    tape
}

/// The longest chain of ANDs, counted along the tape.
fn deepest(tape: &Tape) -> u32 {
    let mut depths = vec![0u32; tape.slots as usize];
    let mut deepest = 0;
    for batch in &tape.batches {
        for i in batch.xors.clone() {
            let gate = tape.xors[i as usize];
            depths[gate.out as usize] = depths[gate.a as usize].max(depths[gate.b as usize]);
        }
        for i in batch.ands.clone() {
            let gate = tape.ands[i as usize];
            let depth = depths[gate.a as usize].max(depths[gate.b as usize]) + 1;
            depths[gate.out as usize] = depth;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// Marks every operand that may be marked, by asking the tape's own check about each.
fn mark_lone(tape: &mut Tape) {
    for i in 0..tape.xors.len() {
        tape.lone[i] = true;
        tape.lone[i] = tape.check().is_ok();
    }
}
