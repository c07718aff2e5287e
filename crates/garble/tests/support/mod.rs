//! Random tapes, their plain meaning, and one run of both sides in memory.

use std::convert::Infallible;

use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, FIRST_INPUT, Gate};
use sealane_garble::{AND_BYTES, CHUNK_BYTES, Evaluator, Garbler, Ports, table_bytes};

/// Labels of inputs and outputs as `[bit][lane]`.
pub struct Labels {
    pub lanes: usize,
    pub inputs: Vec<Block>,
    pub outputs: Vec<Block>,
}

impl Labels {
    pub fn new(tape: &Tape, lanes: usize, inputs: Vec<Block>) -> Labels {
        assert_eq!(inputs.len(), tape.inputs as usize * lanes);
        let outputs = vec![Block::ZERO; tape.outputs.len() * lanes];
        Labels {
            lanes,
            inputs,
            outputs,
        }
    }
}

impl Ports for Labels {
    fn load(&self, input: usize, first_lane: usize, labels: &mut [Block]) {
        let from = input * self.lanes + first_lane;
        labels.copy_from_slice(&self.inputs[from..from + labels.len()]);
    }
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let to = output * self.lanes + first_lane;
        self.outputs[to..to + labels.len()].copy_from_slice(labels);
    }
}

/// The plain value of every output, one byte a lane, gate by gate as the tape's page says.
pub fn plain(tape: &Tape, lanes: usize, bits: &[u8]) -> Vec<u8> {
    let mut slots = vec![vec![0; lanes]; tape.slots as usize];
    slots[1].fill(1);
    for (input, lane_bits) in bits.chunks_exact(lanes).enumerate() {
        slots[FIRST_INPUT as usize + input] = lane_bits.to_vec();
    }
    for batch in &tape.batches {
        for i in batch.xors.clone() {
            let Gate { a, b, out } = tape.xors[i as usize];
            slots[out as usize] = zip(&slots[a as usize], &slots[b as usize], |a, b| a ^ b);
        }
        for i in batch.ands.clone() {
            let Gate { a, b, out } = tape.ands[i as usize];
            slots[out as usize] = zip(&slots[a as usize], &slots[b as usize], |a, b| a & b);
        }
    }
    tape.outputs
        .iter()
        .flat_map(|slot| slots[*slot as usize].clone())
        .collect()
}

fn zip(a: &[u8], b: &[u8], f: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// Both sides of one tape.
pub struct Run {
    pub tables: Vec<u8>,
    pub zero_outputs: Vec<Block>,
    pub active_outputs: Vec<Block>,
}

/// Garbles, then evaluates from the bytes, cut differently.
pub fn run(
    garbler: &mut Garbler,
    evaluator: &mut Evaluator,
    tape: &Tape,
    lanes: usize,
    zero_inputs: &[Block],
    bits: &[u8],
) -> Run {
    let mut tables = Vec::new();
    let mut ports = Labels::new(tape, lanes, zero_inputs.to_vec());
    let mut sink = |chunk: &[u8]| {
        assert!(!chunk.is_empty() && chunk.len() <= CHUNK_BYTES);
        tables.extend_from_slice(chunk);
        Ok::<(), Infallible>(())
    };
    garbler.garble(tape, lanes, &mut ports, &mut sink).unwrap();
    assert_eq!(tables.len() as u64, table_bytes(tape, lanes as u64));
    assert_eq!(tables.len(), tape.ands.len() * lanes * AND_BYTES);

    let delta = garbler.delta();
    let active = zero_inputs
        .iter()
        .zip(bits)
        .map(|(zero, bit)| *zero ^ delta.masked(*bit));
    let mut active_ports = Labels::new(tape, lanes, active.collect());
    let mut unread = &tables[..];
    let mut source = |chunk: &mut [u8]| {
        assert!(!chunk.is_empty() && chunk.len() <= CHUNK_BYTES);
        let (now, later) = unread.split_at(chunk.len());
        chunk.copy_from_slice(now);
        unread = later;
        Ok::<(), Infallible>(())
    };
    evaluator
        .evaluate(tape, lanes, &mut active_ports, &mut source)
        .unwrap();
    assert!(unread.is_empty(), "the evaluator reads every byte");
    Run {
        tables,
        zero_outputs: ports.outputs,
        active_outputs: active_ports.outputs,
    }
}

/// Zero labels for all inputs. Where `broadcast` is set, an input has one label on all lanes, and
/// every third input repeats the one before it.
pub fn zero_labels(coins: &mut Coins, tape: &Tape, lanes: usize, broadcast: bool) -> Vec<Block> {
    let mut labels = vec![Block::ZERO; tape.inputs as usize * lanes];
    coins.fill(&mut labels);
    if broadcast {
        for input in 0..tape.inputs as usize {
            let same = if input % 3 == 2 { input - 1 } else { input };
            let label = labels[same * lanes];
            labels[input * lanes..(input + 1) * lanes].fill(label);
        }
    }
    labels
}

/// Random bits that agree with broadcast labels: equal labels have equal bits.
pub fn bits(coins: &mut Coins, tape: &Tape, lanes: usize, broadcast: bool) -> Vec<u8> {
    let mut bits = vec![0; tape.inputs as usize * lanes];
    coins.fill_bytes(&mut bits);
    for (i, bit) in bits.iter_mut().enumerate() {
        *bit &= 1;
        if broadcast {
            let input = i / lanes;
            *bit = (if input % 3 == 2 { input - 1 } else { input } / 2 % 2) as u8;
        }
    }
    bits
}

pub fn session(garbler_cpu: Cpu, evaluator_cpu: Cpu, seed: u64) -> (Garbler, Evaluator, Coins) {
    let mut coins = Coins::danger_fixed_seed(garbler_cpu, seed);
    let garbler = Garbler::new(garbler_cpu, &mut coins);
    let evaluator = Evaluator::new(evaluator_cpu, garbler.seed());
    (garbler, evaluator, coins)
}

/// The lane counts at which the format changes shape.
pub fn lane_counts() -> impl Strategy<Value = usize> {
    prop_oneof![
        prop::sample::select(vec![
            1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 79, 80, 81, 128
        ]),
        1..=200usize,
    ]
}

/// Any tape that keeps the rules: gates read what was written, overwrite anything but constants
/// (inputs too, and their own operands if XORs), read constants and one slot twice.
pub fn tapes() -> impl Strategy<Value = Tape> {
    let gate = (any::<u32>(), any::<u32>(), any::<u32>());
    let batch = (
        prop::collection::vec(gate, 0..12),
        prop::collection::vec(gate, 0..20),
    );
    let batches = prop::collection::vec(batch, 0..8);
    (
        0u32..9,
        1u32..24,
        batches,
        prop::collection::vec(any::<u32>(), 0..10),
    )
        .prop_map(build)
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
            xors.push(Gate { a, b, out });
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
                kept.push(Gate { a, b, out });
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
    let outputs = raw_outputs
        .into_iter()
        .map(|raw| pick(&written, raw))
        .collect();
    let mut tape = Tape {
        inputs,
        slots,
        xors,
        ands,
        batches,
        outputs,
        depth: 0,
    };
    tape.depth = deepest(&tape);
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
