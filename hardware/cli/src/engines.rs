//! Better engines: one on each benchmark, and several on whole programs.

use crate::args::{BetterArgs, EnginesArgs, HaacArgs};
use crate::bench::{self, NetlistCase};
use crate::simulate::{internal, released};
use crate::tables::{self, columns};
use sealane_accel::bound::engine_bound;
use sealane_accel::engine::{Engine, EngineCycles, Work, simulate_best, usual_tries};
use sealane_accel::functions::{self, Function, PROGRAMS};
use sealane_accel::paper::{BENCHMARKS, HAAC, HAAC_MM2};
use sealane_accel::scratchpad::{self, Traffic};
use sealane_bench::Options;
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::grouped;
use sealane_terminal::print_card;
use serde_json::{Value, json};

/// The machines of the table of benchmarks.
const MACHINES: [(&str, Engine); 5] = [
    ("2r2w", Engine::PORTS),
    ("1a1x", Engine::ONE_XOR),
    ("1a3x", Engine::BANKED),
    ("1a4x", Engine::FOUR_XOR),
    ("1a6x", Engine::SIX_XOR),
];

/// Prints garbling cycles of a netlist cycle, for each client, and the bounds.
pub fn better(args: &BetterArgs) -> Result<(), Failure> {
    let numbers = "ANDs|XORs|2r2w|at least|1a1x|at least|1a3x|at least|1a3x busy|1a4x|at least|1a6x|\
                   at least|1a6x busy";
    let whose = match args.folder {
        Some(_) => "the authors' netlists",
        None => "our own sources",
    };
    let title = format!("Better engines: garbling cycles of a netlist cycle, {whose}");
    let mut card = Card::new(&title);
    let clients = args.clients;
    card.line("clients", format!("{clients}, cycles for each"));
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for benchmark in BENCHMARKS {
        let netlist = match &args.folder {
            Some(folder) => released(folder, benchmark)?,
            None => tables::source(benchmark.name)?.1,
        };
        let xors = netlist.xors() as u64;
        let ands = netlist.gates().len() as u64 - xors;
        let mut row = vec![benchmark.name.to_string(), grouped(ands), grouped(xors)];
        let mut value = json!({ "benchmark": benchmark.name, "ands": ands, "xors": xors });
        for (name, engine) in MACHINES {
            let engine = Engine { clients, ..engine };
            let tries = usual_tries(&netlist, clients);
            let cycles = simulate_best(&netlist, engine, tries);
            let least = engine_bound(&netlist, engine).cycles();
            let each = |cycles: u64| match clients {
                1 => grouped(cycles),
                _ => format!("{:.1}", cycles as f64 / f64::from(clients)),
            };
            row.extend([each(cycles.garbling), each(least)]);
            if ["1a3x", "1a6x"].contains(&name) {
                row.push(format!("{:.1} %", 100.0 * cycles.busy()));
            }
            value[name] = json!({
                "garbling_cycles": cycles.garbling,
                "lower_bound": least,
                "busy": cycles.busy(),
                "moves": cycles.moves,
            });
        }
        rows.push(row);
        values.push(value);
    }
    card.table(None, columns("benchmark", numbers), rows);
    let value = json!({ "title": title, "clients": clients, "rows": values });
    print_card(args.json, &card, &value)
}

/// A program on some engines.
struct Row {
    name: &'static str,
    engines: u32,
    ands: u64,
    path: u64,
    cycles: EngineCycles,
    least: u64,
    traffic: Traffic,
    most: u32,
}

impl Row {
    /// ANDs in a cycle of each engine.
    fn rate(&self) -> f64 {
        self.cycles.busy()
    }

    /// True if there is work for all engines: four times the longest path on each.
    fn is_wide(&self) -> bool {
        self.ands >= 4 * u64::from(self.engines) * self.path
    }

    fn cells(&self) -> Vec<String> {
        let excess = self.traffic.all() as f64 / self.traffic.least() as f64;
        vec![
            self.name.to_string(),
            grouped(u64::from(self.engines)),
            grouped(self.ands),
            grouped(self.path),
            if self.is_wide() { "yes" } else { "no" }.to_string(),
            grouped(self.cycles.garbling),
            grouped(self.least),
            format!("{:.3}", self.rate()),
            grouped(self.traffic.all()),
            format!("{excess:.3}"),
            grouped(u64::from(self.most)),
        ]
    }

    fn json(&self) -> Value {
        let traffic = self.traffic;
        json!({
            "program": self.name,
            "engines": self.engines,
            "ands": self.ands,
            "critical_path": self.path,
            "wide": self.is_wide(),
            "cycles": self.cycles.garbling,
            "lower_bound": self.least,
            "ands_per_cycle_and_engine": self.rate(),
            "traffic": traffic.all(),
            "traffic_lower_bound": traffic.least(),
            "tables": traffic.tables,
            "instructions": traffic.program,
            "inputs": traffic.inputs,
            "stores": traffic.stores,
            "loads": traffic.loads,
            "most_keys": self.most,
        })
    }
}

/// The program of this name.
fn program(name: &str) -> Result<Function, Failure> {
    functions::program(name).ok_or_else(|| internal(format!("no program {name}")))
}

/// The programs that are named, or all.
fn named(names: &[String]) -> impl Iterator<Item = &'static str> {
    let is_named = |name: &&str| names.is_empty() || names.iter().any(|n| n == name);
    PROGRAMS.into_iter().filter(is_named)
}

/// A program on each of 1, 2, 4 and 8 engines.
fn rows(name: &'static str, places: u32) -> Result<Vec<Row>, Failure> {
    let netlist = program(name)?.netlist();
    let netlist = netlist.map_err(internal)?;
    let row = |engines| {
        let engine = Engine {
            engines,
            ..Engine::SIX_XOR
        };
        let work = Work::new(&netlist, engine);
        let issues = work.order(usual_tries(&netlist, 1));
        let gates = issues.iter().map(|issue| issue.node - netlist.first_gate());
        let gates: Vec<u32> = gates.collect();
        let compiled = scratchpad::compile(&netlist, &gates, places);
        let compiled = compiled.map_err(internal)?;
        let bound = engine_bound(&netlist, engine);
        Ok(Row {
            name,
            engines,
            ands: netlist.ands() as u64,
            path: bound.path,
            cycles: work.cycles(&issues),
            least: bound.cycles(),
            traffic: compiled.traffic,
            most: compiled.most,
        })
    };
    [1, 2, 4, 8].into_iter().map(row).collect()
}

/// Prints cycles and traffic of programs on 1, 2, 4 and 8 engines.
pub fn engines(args: &EnginesArgs) -> Result<(), Failure> {
    let mut found = Vec::new();
    for name in named(&args.programs) {
        found.extend(rows(name, args.scratchpad)?);
    }
    let title = "Several engines over a scratchpad: cycles and bytes of memory of whole programs";
    let mut card = Card::new(title);
    let keys = grouped(u64::from(args.scratchpad));
    let engine = "1a6x: a pipeline of AND, six units for XOR, 16 banks";
    card.line("engine", engine);
    card.line("scratchpad", format!("{keys} keys of 16 bytes"));
    let last = "cycles|at least|ANDs a cycle and engine|bytes|over bound|most keys";
    let mut columns = columns("program", "engines|ANDs|longest path");
    columns.extend(tables::columns("wide", last));
    card.table(None, columns, found.iter().map(Row::cells));
    let rows: Vec<Value> = found.iter().map(Row::json).collect();
    let value = json!({ "title": title, "scratchpad": args.scratchpad, "rows": rows });
    print_card(args.json, &card, &value)
}

/// Keys of the scratchpad: a mebibyte.
const KEYS: u32 = 1 << 16;

/// Microseconds that one core of this machine takes to garble a program, and its tier.
fn measured(name: &'static str, options: &Options) -> Result<(f64, &'static str), Failure> {
    let case = NetlistCase::of(name, "program", program(name)?);
    let mut found = None;
    bench::measure_all(&[case], options, &mut |record| {
        if record.metric == "garble_us" {
            found = Some((record.value, record.tier));
        }
    });
    found.ok_or_else(|| internal("nothing was measured"))
}

/// Prints what HAAC states of itself, and the same of ours: how much faster engines at 1 GHz are
/// than one core of this machine.
pub fn haac(args: &HaacArgs) -> Result<(), Failure> {
    let options = Options::detect().map_err(internal)?;
    let (mut cells, mut values, mut tier) = (Vec::new(), Vec::new(), "");
    let mut eight = Vec::new();
    for name in named(&args.programs) {
        let (cpu, used) = measured(name, &options)?;
        tier = used;
        for row in rows(name, KEYS)? {
            // A cycle is a nanosecond.
            let us = row.cycles.garbling as f64 / 1000.0;
            let bytes = row.traffic.all() as f64 / row.cycles.garbling as f64;
            if row.engines == 8 {
                eight.push(cpu / us);
            }
            cells.push(vec![
                name.to_string(),
                grouped(u64::from(row.engines)),
                grouped(row.ands),
                format!("{us:.1}"),
                format!("{bytes:.0}"),
                format!("{cpu:.0}"),
                format!("{:.0}", cpu / us),
            ]);
            values.push(json!({
                "program": name,
                "engines": row.engines,
                "ands": row.ands,
                "us_at_1_ghz": us,
                "gigabytes_per_second": bytes,
                "cpu_us": cpu,
                "over_cpu": cpu / us,
            }));
        }
    }
    let logarithms = eight.iter().map(|ratio| ratio.ln()).sum::<f64>();
    let mean = (logarithms / eight.len() as f64).exp();
    let title = "HAAC beside several engines at 1 GHz";
    let mut card = Card::new(title);
    let mean_of = |(memory, times)| format!("{} times a CPU with {memory}", grouped(times as u64));
    let means = HAAC.map(mean_of).join(", ");
    card.line(
        "HAAC",
        format!("{means}, mean of VIP-Bench; {HAAC_MM2} mm² (its abstract)"),
    );
    let ours = "with 8 engines, geometric mean of these programs";
    card.line(
        "ours",
        format!("{mean:.0} times one core under {tier} {ours}"),
    );
    let differs = "programs, CPU and its garbler; ours waits for no memory";
    card.line("differs", differs);
    let numbers = "engines|ANDs|us at 1 GHz|GB/s|one core, us|times one core";
    card.table(None, columns("program", numbers), cells);
    let haac = HAAC.map(|(memory, times)| json!({ "memory": memory, "over_cpu": times }));
    let value = json!({
        "title": title,
        "haac": { "means": haac, "mm2": HAAC_MM2 },
        "ours_over_cpu": mean,
        "tier": tier,
        "rows": values,
    });
    print_card(args.json, &card, &value)
}
