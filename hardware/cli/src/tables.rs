//! The tables of the FASE paper, beside what the authors' netlists and our model give.

use crate::args::TableArgs;
use crate::simulate::{internal, ours, released};
use sealane_accel::Netlist;
use sealane_accel::bound::bound;
use sealane_accel::fase::{NetlistCycle, Variant};
use sealane_accel::functions::function;
use sealane_accel::paper::{BENCHMARKS, Benchmark, TABLE5, benchmark};
use sealane_accel::timing::{netlist_cycle, reorder, run};
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::card::Column;
use sealane_page::units::grouped;
use sealane_terminal::print_card;
use serde_json::{Value, json};

/// Table II: netlist cycles, gates, gates of type XOR, other gates; of the paper, of the file and
/// of our own source.
pub fn table2(args: &TableArgs) -> Result<(), Failure> {
    let numbers =
        "cycles|gates|XORs|ANDs|gates of file|XORs of file|our cycles|our gates|our XORs|our ANDs";
    let columns = columns("benchmark", numbers);
    let title = "FASE, Table II: benchmarks";
    table(args, title, columns, |benchmark, netlist| {
        let (found, [gates, xors]) = (counts(netlist), benchmark.gates);
        let (cycles, source) = source(benchmark.name)?;
        let [our_gates, our_xors] = counts(&source);
        let paper = [benchmark.netlist_cycles, gates, xors, gates - xors];
        let ours = [cycles, our_gates, our_xors, our_gates - our_xors];
        let cells = [&paper[..], &found, &ours].concat();
        let value = json!({
            "netlist_cycles": benchmark.netlist_cycles,
            "paper": benchmark.gates,
            "file": found,
            "our_netlist_cycles": cycles,
            "ours": [our_gates, our_xors],
        });
        Ok((cells.into_iter().map(grouped).collect(), value))
    })
}

/// Gates, and those of type XOR.
fn counts(netlist: &Netlist) -> [u64; 2] {
    [netlist.gates().len(), netlist.xors()].map(|count| count as u64)
}

/// Our own source of a function: netlist cycles and netlist.
pub fn source(name: &str) -> Result<(u64, Netlist), Failure> {
    let function = function(name).ok_or_else(|| internal(format!("no source of {name}")))?;
    Ok((function.cycles, function.netlist().map_err(internal)?))
}

/// Table V: cycles of runs beside earlier accelerators, and of our own sources in our order.
pub fn table5(args: &TableArgs) -> Result<(), Failure> {
    let columns = columns("benchmark", "cores|cycles|FASE|model|our order|our source");
    let columns = [&columns[..1], &[Column::text("earlier")], &columns[1..]].concat();
    let title = "FASE, Table V: cycles of a run beside earlier accelerators";
    let mut card = Card::new(title);
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for row in TABLE5 {
        let in_file = |(name, netlist_cycles, _)| -> Result<[u64; 2], Failure> {
            let netlist = of_benchmark(args, name)?;
            let total = run(&netlist, Variant::Queued, netlist_cycles).total;
            Ok([total, in_our_order(&netlist, netlist_cycles)?])
        };
        let of_file = row.file.map(in_file).transpose()?;
        let (cycles, source) = source(row.name)?;
        let ours = in_our_order(&source, cycles)?;
        let (work, cores, before) = row.previous;
        let cell = |index: usize| of_file.map_or("-".to_string(), |cells| grouped(cells[index]));
        rows.push(vec![
            row.name.to_string(),
            work.to_string(),
            grouped(cores),
            before.to_string(),
            row.fase.to_string(),
            cell(0),
            cell(1),
            grouped(ours),
        ]);
        values.push(json!({
            "benchmark": row.name,
            "previous": work,
            "previous_cores": cores,
            "previous_cycles": before,
            "paper": row.fase,
            "model": of_file.map(|cells| cells[0]),
            "our_order": of_file.map(|cells| cells[1]),
            "our_source": ours,
        }));
    }
    card.table(None, columns, rows);
    print_card(args.json, &card, &json!({ "title": title, "rows": values }))
}

/// The authors' netlist of a benchmark.
fn of_benchmark(args: &TableArgs, name: &str) -> Result<Netlist, Failure> {
    let benchmark = benchmark(name).ok_or_else(|| internal(format!("no benchmark {name}")))?;
    released(&args.folder, benchmark)
}

/// Cycles of a run with the optimisation, in the best order that our search finds.
fn in_our_order(netlist: &Netlist, netlist_cycles: u64) -> Result<u64, Failure> {
    let reordered = reorder(netlist, Variant::Queued, ours(netlist)).map_err(internal)?;
    Ok(run(&reordered, Variant::Queued, netlist_cycles).total)
}

/// Table IV: garbling cycles without and with the optimisation, of the file's order and of ours.
pub fn table4(args: &TableArgs) -> Result<(), Failure> {
    let numbers = "FASE plain|model plain|FASE|model|our order|at least";
    let columns = columns("benchmark", numbers);
    let title = "FASE, Table IV: garbling cycles of a netlist cycle";
    table(args, title, columns, |benchmark, netlist| {
        let [plain, queued] = [Variant::Plain, Variant::Queued]
            .map(|variant| netlist_cycle(netlist, variant, NetlistCycle::Later).garbling);
        let reordered = reorder(netlist, Variant::Queued, ours(netlist)).map_err(internal)?;
        let ours = netlist_cycle(&reordered, Variant::Queued, NetlistCycle::Later).garbling;
        let least = bound(netlist).cycles();
        let [paper_plain, paper] = benchmark.table4;
        let cells = [paper_plain, plain, paper, queued, ours, least].map(grouped);
        let value = json!({
            "paper": benchmark.table4,
            "model": [plain, queued],
            "our_order": ours,
            "lower_bound": least,
        });
        Ok((cells.to_vec(), value))
    })
}

/// Table VI: cycles of whole runs.
pub fn table6(args: &TableArgs) -> Result<(), Failure> {
    let columns = columns("benchmark", "netlist cycles|FASE|model|our order");
    let title = "FASE, Table VI: cycles of a run";
    table(args, title, columns, |benchmark, netlist| {
        let total = run(netlist, Variant::Queued, benchmark.netlist_cycles).total;
        let ours = in_our_order(netlist, benchmark.netlist_cycles)?;
        let paper = benchmark.table6;
        let [cycles, total_cell, ours_cell] = [benchmark.netlist_cycles, total, ours].map(grouped);
        let cells = vec![cycles, paper.to_string(), total_cell, ours_cell];
        let value = json!({
            "netlist_cycles": benchmark.netlist_cycles,
            "paper": paper,
            "model": total,
            "our_order": ours,
        });
        Ok((cells, value))
    })
}

/// A column of names, and columns of numbers, with `|` between their headings.
pub fn columns(first: &'static str, numbers: &'static str) -> Vec<Column> {
    let numbers = numbers.split('|').map(|name| Column::number(name, 7));
    std::iter::once(Column::text(first))
        .chain(numbers)
        .collect()
}

/// Prints a table with a row for each benchmark: its cells and its JSON.
fn table(
    args: &TableArgs,
    title: &str,
    columns: Vec<Column>,
    row: impl Fn(&Benchmark, &Netlist) -> Result<(Vec<String>, Value), Failure>,
) -> Result<(), Failure> {
    let mut card = Card::new(title);
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for benchmark in BENCHMARKS {
        let netlist = released(&args.folder, benchmark)?;
        let (cells, mut value) = row(benchmark, &netlist)?;
        value["benchmark"] = json!(benchmark.name);
        values.push(value);
        rows.push([vec![benchmark.name.to_string()], cells].concat());
    }
    card.table(None, columns, rows);
    print_card(args.json, &card, &json!({ "title": title, "rows": values }))
}
