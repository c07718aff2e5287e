//! `sealane-hw simulate`: the cycles of a netlist on the model of a machine.

use crate::args::{OrderName, SimulateArgs};
use crate::tables::columns;
use crate::timeline;
use sealane_accel::Netlist;
use sealane_accel::bound::{bound, engine_bound};
use sealane_accel::engine::{self, Engine};
use sealane_accel::formats::{self, NetlistFile};
use sealane_accel::paper::Benchmark;
use sealane_accel::timing::{CycleCount, Order, RUN, RunCycles, reorder, run, usual_tries};
use sealane_diagnostic::Code;
use sealane_engine::EngineError;
use sealane_files::Accept;
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::{counted, grouped};
use sealane_schedule::Priority;
use sealane_terminal::{print_card, write_file};
use serde_json::{Value, json};
use std::path::Path;

/// Longest netlist file: about four times that of [`sealane_accel::netlist::MOST_WIRES`] gates of
/// usual netlists.
const MOST_BYTES: u64 = 1 << 30;

/// Counts the cycles of a netlist.
///
/// # Errors
/// The netlist; the picture or standard output cannot be written.
pub fn simulate(args: &SimulateArgs) -> Result<(), Failure> {
    let file = read(&args.netlist)?;
    let variant = match args.machine.model(args.engines, args.clients) {
        Ok(variant) => variant,
        Err(engine) => return better(args, &file, engine),
    };
    let order = match args.order {
        OrderName::File => Order::File,
        OrderName::Paper => Order::By(Priority::WeightedFanout),
        OrderName::Ours => ours(&file.netlist),
    };
    let netlist = reorder(&file.netlist, variant, order).map_err(internal)?;
    let cycles = run(&netlist, variant, args.cycles);
    let least = bound(&netlist);
    if let Some(path) = &args.plot {
        let heading = format!("{}: a later netlist cycle", args.netlist.display());
        let picture = timeline::svg(&heading, &netlist, &cycles.later);
        write_file("--plot", path, picture.as_bytes())?;
    }
    let value = json!({
        "format": file.format.name(),
        "gates": netlist.gates().len(),
        "xors": netlist.xors(),
        "flip_flops": netlist.flip_flops().len(),
        "garbling_cycles": cycles.later.garbling,
        "total_cycles": cycles.total,
        "held_cycles": cycles.held,
        "netlist_cycles": cycles.netlist_cycles,
        "first": netlist_cycle_json(&cycles.first),
        "later": netlist_cycle_json(&cycles.later),
        "run_cycles": RUN,
        "lower_bound": least.cycles(),
        "lower_bound_path": least.path,
        "lower_bound_ports": least.ports,
    });
    let mut card = card(&args.netlist, &file, &cycles);
    let bounds = [("longest path", least.path), ("ports", least.ports)];
    card.line("at least", at_least(least.cycles(), &bounds));
    print_card(args.json, &card, &value)
}

/// Cycles of an engine that is not FASE's. It has an order of its own.
fn better(args: &SimulateArgs, file: &NetlistFile, engine: Engine) -> Result<(), Failure> {
    let tries = engine::usual_tries(&file.netlist, engine.clients);
    let cycles = engine::simulate_best(&file.netlist, engine, tries);
    let least = engine_bound(&file.netlist, engine);
    let clients = engine.clients.max(1);
    let each = cycles.garbling as f64 / f64::from(clients);
    let mut card = Card::new(args.netlist.display().to_string());
    card.line("format", file.format.name());
    let garbling = grouped(cycles.garbling);
    let garbling = format!("{garbling} cycles of a later netlist cycle");
    card.line("garbling", garbling);
    if clients > 1 {
        card.line("clients", format!("{clients}, {each:.1} cycles each"));
    }
    let busy = 100.0 * cycles.busy();
    let busy = format!("busy in {busy:.1} % of the cycles");
    let pipeline = match engine.engines {
        1 => busy,
        engines => format!("{engines}, {busy}"),
    };
    card.line("pipeline", pipeline);
    let moves = grouped(cycles.moves);
    card.line("moves", format!("{moves} keys of flip-flops"));
    let [ands, xors] = [("ANDs", least.pipelines), ("XORs", least.xor_units)];
    let bounds = [("longest path", least.path), ands, xors];
    card.line("at least", at_least(least.cycles(), &bounds));
    let value = json!({
        "format": file.format.name(),
        "gates": file.netlist.gates().len(),
        "xors": file.netlist.xors(),
        "garbling_cycles": cycles.garbling,
        "engines": engine.engines,
        "clients": clients,
        "garbling_cycles_per_client": each,
        "busy": cycles.busy(),
        "moves": cycles.moves,
        "lower_bound": least.cycles(),
        "lower_bound_path": least.path,
        "lower_bound_ands": least.pipelines,
        "lower_bound_xors": least.xor_units,
    });
    print_card(args.json, &card, &value)
}

/// The bound of all orders, and the bounds that it is the largest of.
fn at_least(cycles: u64, bounds: &[(&str, u64)]) -> String {
    let bounds = bounds
        .iter()
        .map(|(name, bound)| format!("{name} {}", grouped(*bound)));
    let bounds = bounds.collect::<Vec<_>>().join(", ");
    format!(
        "{} garbling cycles in any order ({bounds})",
        grouped(cycles)
    )
}

fn card(path: &Path, file: &NetlistFile, cycles: &RunCycles) -> Card {
    let netlist = &file.netlist;
    let mut card = Card::new(path.display().to_string());
    card.line("format", file.format.name());
    card.line("gates", gates(netlist));
    let garbling = grouped(cycles.later.garbling);
    card.line("garbling", format!("{garbling} cycles"));
    let netlist_cycles = counted(cycles.netlist_cycles, "netlist cycle");
    let total = grouped(cycles.total);
    card.line("run", format!("{total} cycles, for {netlist_cycles}"));
    let numbers = "issue|port stalls|dependencies|drain|flip-flops|all";
    let row = |name: &str, netlist_cycle: &CycleCount| {
        let numbers = [
            netlist_cycle.issues.len() as u64,
            netlist_cycle.port_stalls,
            netlist_cycle.dependency_stalls,
            netlist_cycle.drain,
            netlist_cycle.flip_flops,
            netlist_cycle.total,
        ];
        let numbers = numbers.into_iter().map(grouped);
        std::iter::once(name.to_string()).chain(numbers).collect()
    };
    let mut rows = vec![row("the first netlist cycle", &cycles.first)];
    if cycles.netlist_cycles > 1 {
        rows.push(row("each later one", &cycles.later));
    }
    card.table(None, columns("cycles of", numbers), rows);
    card
}

fn netlist_cycle_json(netlist_cycle: &CycleCount) -> Value {
    json!({
        "garbling_cycles": netlist_cycle.garbling,
        "port_stalls": netlist_cycle.port_stalls,
        "dependency_stalls": netlist_cycle.dependency_stalls,
        "drain": netlist_cycle.drain,
        "flip_flops": netlist_cycle.flip_flops,
        "total_cycles": netlist_cycle.total,
    })
}

/// The order of `--order ours` for a netlist.
pub fn ours(netlist: &Netlist) -> Order {
    let tries = usual_tries(netlist);
    Order::Ours { tries }
}

/// Counts of the gates of a netlist, for a card.
pub fn gates(netlist: &Netlist) -> String {
    let [all, xors] = [netlist.gates().len(), netlist.xors()].map(|count| grouped(count as u64));
    format!("{all}, of which {xors} of type XOR")
}

/// A failure of ours: a checked netlist in an order that its machine issued breaks no rule, and our
/// own sources keep all of them.
pub fn internal(error: impl ToString) -> Failure {
    EngineError::internal(error.to_string()).into()
}

/// The authors' netlist of a benchmark, in a folder of all of them.
///
/// # Errors
/// As of [`read`].
pub fn released(folder: &Path, benchmark: &Benchmark) -> Result<Netlist, Failure> {
    Ok(read(&folder.join(benchmark.folder).join("n.scd"))?.netlist)
}

/// Reads a netlist.
///
/// # Errors
/// The file cannot be read, or holds no netlist.
pub fn read(path: &Path) -> Result<NetlistFile, Failure> {
    let shown = path.display();
    let bytes = sealane_files::read(path, Accept::FileOrPipe, MOST_BYTES).map_err(|error| {
        let what = format!("cannot read {shown}");
        Failure::new(Code::NetlistFile, what, "name a file with a netlist")
            .because(error.to_string())
    })?;
    formats::read(&bytes)
        .map_err(|error| Failure::new(Code::NetlistFile, format!("{shown}: {error}"), error.hint))
}
