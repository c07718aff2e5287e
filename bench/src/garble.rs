//! Suite `garble`: both sides of half-gates on AES-128, in memory, on one core.
//!
//! A first run keeps its tables, is decoded, and is compared with AES itself, so a figure of wrong
//! work cannot be printed. The timed runs then stream through a ring of 256 KiB, as a channel
//! would; the evaluator finds stale tables there, which take the same time.

use std::convert::Infallible;

use sealane_block::{Aes128, Block, Coins, Cpu};
use sealane_circuit::{Machine, Tape, compile};
use sealane_garble::{ChunkReader, ChunkWriter, Evaluator, Garbler, Labels, Roles, Scheme, decode};

use crate::cycles::{Measured, measure};
use crate::{Options, Record};

/// The suite's name.
pub const SUITE: &str = "garble";

/// Rows of a case: one instance, one group, the lane block of the format and one more, and many.
const ROWS: [usize; 3] = [1, 64, 65];

/// Bytes of tables between the two sides of a channel.
const RING_BYTES: usize = 256 * 1024;

/// Measures every number of rows on every tier.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) {
    let tape = compile(&sealane_circuit::aes::circuit(), &Machine::CPU);
    for cpu in &options.cpus {
        for (scheme, rows) in Scheme::ALL.into_iter().flat_map(|s| ROWS.map(|r| (s, r))) {
            let (garble, evaluate) = measure_rows(*cpu, scheme, &tape, rows, options);
            let figures = [
                ("garble_cycles_per_and", garble.median_cycles, "cycles"),
                ("garble_cycles_per_and_min", garble.min_cycles, "cycles"),
                (
                    "garble_million_ands_per_s",
                    1e3 / garble.median_ns,
                    "million/s",
                ),
                ("eval_cycles_per_and", evaluate.median_cycles, "cycles"),
                ("eval_cycles_per_and_min", evaluate.min_cycles, "cycles"),
                (
                    "eval_million_ands_per_s",
                    1e3 / evaluate.median_ns,
                    "million/s",
                ),
                ("ands", (tape.ands.len() * rows) as f64, "gates"),
            ];
            for (metric, value, unit) in figures {
                let (case, tier) = (format!("{scheme}/aes128x{rows}"), cpu.tier().name());
                record(Record {
                    suite: SUITE,
                    case,
                    tier,
                    metric,
                    value,
                    unit,
                });
            }
        }
    }
}

fn measure_rows(
    cpu: Cpu,
    scheme: Scheme,
    tape: &Tape,
    rows: usize,
    options: &Options,
) -> (Measured, Measured) {
    let mut coins = Coins::danger_fixed_seed(cpu, rows as u64);
    let mut garbler = Garbler::new(cpu, scheme, &mut coins);
    let mut tables = vec![0; scheme.table_bytes(tape, rows as u64, Roles::default()) as usize];
    let mut zeros = Labels::new(tape, rows, scheme.labels());
    zeros.inputs = garbler
        .fresh_labels(&mut coins, tape.inputs as usize * rows)
        .to_vec();
    let count = tape.inputs as usize * rows;
    garble(&mut garbler, tape, &mut zeros, &mut tables);

    let mut bits = vec![0; count];
    coins.fill_bytes(&mut bits);
    bits.iter_mut().for_each(|bit| *bit &= 1);
    let mut active = Labels::new(tape, rows, 1);
    for i in 0..count {
        let zero = zeros.inputs[i];
        let one = if scheme.labels() == 2 {
            zeros.inputs[count + i]
        } else {
            zero ^ garbler.delta()
        };
        active.inputs[i] = if bits[i] == 1 { one } else { zero };
    }
    let mut evaluator = Evaluator::new(cpu, scheme, garbler.seed());
    evaluate(&mut evaluator, scheme, tape, &mut active, &tables);
    if scheme.labels() == 1 {
        check(cpu, &mut garbler, &mut evaluator, &zeros, &active, &bits);
    }

    let ands = (tape.ands.len() * rows) as u64;
    let mut ring = vec![0; RING_BYTES];
    let garbled = measure(ands, options.budget, || {
        garble(&mut garbler, tape, &mut zeros, &mut ring)
    });
    let evaluated = measure(ands, options.budget, || {
        evaluate(&mut evaluator, scheme, tape, &mut active, &ring)
    });
    (garbled, evaluated)
}

/// Writes the tables into `ring` and starts over where it ends.
fn garble(garbler: &mut Garbler, tape: &Tape, labels: &mut Labels, ring: &mut [u8]) {
    let rows = labels.lanes();
    let mut next = 0;
    let mut sink = |chunk: &[u8]| {
        next = if next + chunk.len() > ring.len() {
            0
        } else {
            next
        };
        ring[next..next + chunk.len()].copy_from_slice(chunk);
        next += chunk.len();
        Ok::<(), Infallible>(())
    };
    let mut writer = ChunkWriter::new(&mut sink);
    let Ok(()) = garbler.garble(tape, rows, labels, &mut writer);
    let Ok(()) = writer.flush();
}

/// Reads the tables from `ring` and starts over where it ends.
fn evaluate(
    evaluator: &mut Evaluator,
    scheme: Scheme,
    tape: &Tape,
    labels: &mut Labels,
    ring: &[u8],
) {
    let rows = labels.lanes();
    let mut next = 0;
    let mut source = |chunk: &mut [u8]| {
        next = if next + chunk.len() > ring.len() {
            0
        } else {
            next
        };
        chunk.copy_from_slice(&ring[next..next + chunk.len()]);
        next += chunk.len();
        Ok::<(), Infallible>(())
    };
    let total = scheme.table_bytes(tape, rows as u64, Roles::default());
    let mut reader = ChunkReader::new(total, &mut source);
    let Ok(()) = evaluator.evaluate(tape, rows, labels, &mut reader);
}

/// Decodes the outputs and compares every row with AES.
fn check(
    cpu: Cpu,
    garbler: &mut Garbler,
    evaluator: &mut Evaluator,
    zeros: &Labels,
    active: &Labels,
    bits: &[u8],
) {
    let count = zeros.outputs.len();
    let (mut table, mut decoded) = (vec![[Block::ZERO; 2]; count], vec![0; count]);
    garbler.decode_table(&zeros.outputs, &mut table);
    let mut hashes = vec![Block::ZERO; count];
    evaluator.output_hashes(&active.outputs, &mut hashes);
    decode(&hashes, &table, &mut decoded).expect("own tables decode");
    let rows = zeros.lanes();
    for row in 0..rows {
        let key = word(&bits[..128 * rows], rows, row);
        let block = word(&bits[128 * rows..], rows, row);
        let cipher = Aes128::new(cpu, key).encrypt(block);
        assert_eq!(
            word(&decoded, rows, row).value(),
            cipher.value(),
            "row {row} is not AES"
        );
    }
}

/// The 128-bit value of one row of bits that lie as `[bit][row]`, first bit lowest.
fn word(bits: &[u8], rows: usize, row: usize) -> Block {
    let bit = |i: usize| (bits[i * rows + row] as u128) << i;
    Block::new((0..128).fold(0, |sum, i| sum | bit(i)))
}
