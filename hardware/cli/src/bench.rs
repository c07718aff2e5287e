//! `sealane-hw bench`: the benchmarks of the FASE accelerator on the CPU garbler.
//!
//! A run garbles all netlist cycles of a benchmark, one tape in each, with the default scheme. One
//! instance at a time finds independent ANDs within a cycle alone; [`SIDE_BY_SIDE`] instances also
//! fill the lanes where a cycle has few. Labels of inputs are drawn before, tables stay in cache.
//! Before it is timed, a run is evaluated, decoded, and compared with the circuit in the clear.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use sealane_accel::functions::{Function, function};
use sealane_accel::paper::{BENCHMARKS, Benchmark, CLOCK_MHZ, benchmark};
use sealane_bench::cycles::measure;
use sealane_bench::garble::sides::InPlace;
use sealane_bench::{MachineRecord as Cpus, Options, Record};
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::{CycleTape, Machine, Sequential};
use sealane_diagnostic::Code;
use sealane_garble::{Cycles, Evaluator, Garbler, Scheme, TablesInMemory, decode};
use sealane_host::Failure;
use sealane_terminal::print_line;

use crate::args::BenchArgs;
use crate::simulate::{self, internal};

/// Instances that are garbled side by side.
pub const SIDE_BY_SIDE: usize = 32;

/// A benchmark to measure.
#[derive(Clone, Debug)]
pub struct NetlistCase {
    /// Name in the paper.
    pub name: &'static str,
    /// Origin of the netlist: `ours` or `file`.
    pub source: &'static str,
    /// Netlist cycles of a run.
    pub cycles: u64,
    /// A netlist cycle.
    pub circuit: Sequential,
}

impl NetlistCase {
    /// Returns the case of one of our own sources.
    pub fn of(name: &'static str, source: &'static str, function: Function) -> NetlistCase {
        NetlistCase {
            name,
            source,
            cycles: function.cycles,
            circuit: function.circuit,
        }
    }
}

/// Measures our own sources, and the authors' netlists where their folder is named.
///
/// # Errors
/// A netlist cannot be read, or standard output not be written.
pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let mut options = Options::detect().map_err(|error| {
        let hint = "unset SEALANE_TIER to measure on the best tier";
        Failure::new(Code::CpuTier, error.to_string(), hint)
    })?;
    if args.quick {
        options.budget = Duration::ZERO;
    }
    let machine = Cpus::detect();
    let mut cases = ours();
    if let Some(folder) = &args.folder {
        cases.extend(released(folder)?);
    }
    let (mut printed, mut records) = (Ok(()), Vec::new());
    measure_all(&cases, &options, &mut |record| {
        if printed.is_ok() && args.json {
            printed = print_record(args, &machine, &record);
        }
        records.push(record);
    });
    printed?;
    if args.json {
        return Ok(());
    }
    print_line(text(&records).trim_end())
}

/// Prints a record as JSON, with the data that reproduce it.
fn print_record(args: &BenchArgs, machine: &Cpus, record: &Record) -> Result<(), Failure> {
    let quick = if args.quick { " --quick" } else { "" };
    let folder = args.folder.as_ref();
    let folder = folder.map_or(String::new(), |folder| format!(" {}", folder.display()));
    let command = format!("sealane-hw bench --json{quick}{folder}");
    let line = record.json(machine, command);
    print_line(line.map_err(internal)?)
}

/// The authors' netlists in a folder, as benchmarks for the CPU.
fn released(folder: &Path) -> Result<Vec<NetlistCase>, Failure> {
    let case = |benchmark: &'static Benchmark| {
        let circuit = simulate::released(folder, benchmark)?.sequential();
        let hint = "name the folder of the netlists that the paper's authors have released";
        Ok(NetlistCase {
            name: benchmark.name,
            source: "file",
            cycles: benchmark.netlist_cycles,
            circuit: circuit.map_err(|error| {
                let path = folder.join(benchmark.folder).join("n.scd");
                let what = format!("{}: {error}", path.display());
                Failure::new(Code::NetlistFile, what, hint)
            })?,
        })
    };
    BENCHMARKS.iter().map(case).collect()
}

/// Our own sources of all benchmarks.
fn ours() -> Vec<NetlistCase> {
    let case = |name| Some(NetlistCase::of(name, "ours", function(name)?));
    let all = BENCHMARKS.iter().filter_map(|it| case(it.name));
    all.collect()
}

/// Measures the cases on the best tier: microseconds for a run of one instance, and for each of
/// [`SIDE_BY_SIDE`].
pub fn measure_all(cases: &[NetlistCase], options: &Options, record: &mut dyn FnMut(Record)) {
    let Some(&cpu) = options.cpus.last() else {
        return;
    };
    for case in cases {
        let tape = case.circuit.compile(&Machine::CPU);
        let name = format!("netlists/{}/{}", case.source, case.name);
        let mut emit = |metric: &str, value, unit| {
            let tier = cpu.tier().name();
            record(Record::of("garble", &name, tier, (metric, value, unit)));
        };
        emit("netlist_cycles", case.cycles as f64, "cycles");
        emit("ands_per_cycle", tape.tape.ands.len() as f64, "ANDs");
        check(cpu, case, &tape);
        for (metric, lanes) in [("garble_us", 1), ("garble_us_side_by_side", SIDE_BY_SIDE)] {
            let mut sides = Sides::new(cpu, &tape, lanes);
            let mut tables = InPlace::default();
            let measured = measure(lanes as u64, options.budget, || {
                let mut cycles = Cycles::new(&tape, lanes, 1, &sides.constants, &sides.held);
                for _ in 0..case.cycles {
                    let Ok(()) = cycles.garble(&mut sides.garbler, &sides.fresh, &mut tables);
                }
            });
            emit(metric, measured.median_ns / 1000.0, "us");
        }
        if let Some(paper) = benchmark(case.name) {
            emit("fase_us", paper.run as f64 / CLOCK_MHZ, "us");
            emit("tinygarble_us", paper.tinygarble_us, "us");
        }
    }
}

/// A garbler and zero labels of all inputs.
struct Sides {
    garbler: Garbler,
    constants: Vec<Block>,
    held: Vec<Block>,
    fresh: Vec<Block>,
}

impl Sides {
    fn new(cpu: Cpu, tape: &CycleTape, lanes: usize) -> Sides {
        let mut coins = Coins::danger_fixed_seed(lanes as u64);
        let seed = coins.public("hash").block();
        let garbler = Garbler::new(cpu, Scheme::default(), seed, &mut coins);
        let mut labels = |bits: usize| garbler.fresh_labels(&mut coins, bits * lanes).to_vec();
        Sides {
            constants: labels(tape.constants().count()),
            held: labels(tape.held.len()),
            fresh: labels(tape.fresh.len()),
            garbler,
        }
    }
}

/// Garbles and evaluates a run on one instance, with input bits that alternate in an order of their
/// own in each cycle.
///
/// # Panics
/// If it computes something else than the circuit in the clear.
fn check(cpu: Cpu, case: &NetlistCase, tape: &CycleTape) {
    let mut sides = Sides::new(cpu, tape, 1);
    let mut evaluator = Evaluator::new(cpu, Scheme::default(), sides.garbler.seed());
    let delta = sides.garbler.delta();
    let bit = |cycle: usize, index: usize| (cycle * 7 + index * 5 + index / 3) % 4 < 2;
    let active = |zeros: &[Block], bits: &[bool]| -> Vec<Block> {
        let one = |(zero, &bit): (&Block, &bool)| if bit { *zero ^ delta } else { *zero };
        zeros.iter().zip(bits).map(one).collect()
    };
    let words = |widths: &[usize], cycle| -> Vec<Vec<bool>> {
        let mut index = 0;
        let mut next = || {
            index += 1;
            bit(cycle, index)
        };
        let word = |&width: &usize| (0..width).map(|_| next()).collect();
        widths.iter().map(word).collect()
    };
    let constants: Vec<bool> = tape.constants().collect();
    let held = words(case.circuit.held_widths(), 0);
    let mut clear = case.circuit.run(held.clone());
    let mut garbling = Cycles::new(tape, 1, 1, &sides.constants, &sides.held);
    let held = active(&sides.held, &held.concat());
    let constants = active(&sides.constants, &constants);
    let mut evaluating = Cycles::new(tape, 1, 1, &constants, &held);
    let mut expected = Vec::new();
    for cycle in 0..case.cycles as usize {
        let fresh = words(case.circuit.fresh_widths(), cycle);
        expected = clear.cycle(&fresh).concat();
        let mut tables = TablesInMemory::default();
        let Ok(()) = garbling.garble(&mut sides.garbler, &sides.fresh, &mut tables);
        let mut tables = TablesInMemory::from(tables.into_bytes());
        let fresh = active(&sides.fresh, &fresh.concat());
        let Ok(()) = evaluating.evaluate(&mut evaluator, &fresh, &mut tables);
    }
    let count = expected.len();
    let mut table = vec![[Block::ZERO; 2]; count];
    sides.garbler.decode_table(garbling.outputs(0), &mut table);
    let (mut hashes, mut bits) = (vec![Block::ZERO; count], vec![0; count]);
    evaluator.output_hashes(evaluating.outputs(0), &mut hashes);
    decode(&hashes, &table, &mut bits).expect("own tables decode");
    let mut pairs = bits.iter().zip(&expected);
    let right = pairs.all(|(&bit, &expected)| (bit == 1) == expected);
    assert!(right, "{}: wrong outputs", case.name);
}

/// The records as one table.
fn text(records: &[Record]) -> String {
    let mut out = format!(
        "{:<16}{:<7}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}\n",
        "benchmark",
        "source",
        "cycles",
        "ANDs a run",
        "FASE us",
        "TinyG. us",
        "ours us",
        format!("of {SIDE_BY_SIDE} us"),
        "over TinyG.",
    );
    let mut cases: Vec<&str> = records.iter().map(|record| record.case.as_str()).collect();
    cases.dedup();
    for case in cases {
        let figure = |metric: &str| {
            let is_it = |it: &&Record| it.case == case && it.metric == metric;
            records.iter().find(is_it).map_or(f64::NAN, |it| it.value)
        };
        let mut parts = case.split('/').skip(1);
        let source = parts.next().unwrap_or("");
        let name = parts.next().unwrap_or("");
        let cycles = figure("netlist_cycles");
        let (ours, tinygarble) = (figure("garble_us"), figure("tinygarble_us"));
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{name:<16}{source:<7}{cycles:>8}{:>12}{:>12.3}{tinygarble:>12.2}{ours:>12.3}{:>12.3}{:>14.1}",
            cycles * figure("ands_per_cycle"),
            figure("fase_us"),
            figure("garble_us_side_by_side"),
            tinygarble / ours,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The small ones, as a run without a budget measures them.
    #[test]
    fn every_case_has_a_row() {
        let mut options = Options::detect().unwrap();
        options.budget = Duration::ZERO;
        let cases = ours().into_iter().filter(|case| case.cycles <= 32);
        let cases: Vec<NetlistCase> = cases.collect();
        let mut records = Vec::new();
        measure_all(&cases, &options, &mut |record| records.push(record));
        let table = text(&records);
        assert_eq!(table.lines().count(), 1 + cases.len(), "{table}");
        assert!(cases.len() > 8 && !table.contains("NaN"), "{table}");
    }
}
