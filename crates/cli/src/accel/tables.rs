//! The tables of the FASE paper, beside what the authors' netlists and our model give.

use super::{internal, ours, read};
use crate::args::AccelTableArgs;
use crate::output::print_card;
use sealane_accel::Netlist;
use sealane_accel::bound::bound;
use sealane_accel::fase::{Turn, Variant};
use sealane_accel::paper::{BENCHMARKS, Benchmark};
use sealane_accel::timing::{reorder, run, turn};
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::card::Column;
use sealane_page::units::grouped;
use serde_json::{Value, json};
use std::path::Path;

/// Table II: netlist cycles, gates, gates of type XOR.
pub fn table2(args: &AccelTableArgs) -> Result<(), Failure> {
    let columns = columns(&[
        "netlist cycles",
        "gates",
        "XORs",
        "gates of file",
        "XORs of file",
    ]);
    let title = "FASE, Table II: benchmarks";
    table(args, title, columns, |benchmark, netlist| {
        let found = [netlist.gates().len(), netlist.xors()].map(|count| count as u64);
        let [gates, xors] = benchmark.gates;
        let cells = [benchmark.turns, gates, xors, found[0], found[1]].map(grouped);
        let value = json!({
            "netlist_cycles": benchmark.turns,
            "paper": benchmark.gates,
            "ours": found,
        });
        Ok((cells.to_vec(), value))
    })
}

/// Table IV: garbling cycles without and with the optimisation, of the file's order and of ours.
pub fn table4(args: &AccelTableArgs) -> Result<(), Failure> {
    let columns = columns(&[
        "FASE plain",
        "model plain",
        "FASE",
        "model",
        "our order",
        "at least",
    ]);
    let title = "FASE, Table IV: garbling cycles of a netlist cycle";
    table(args, title, columns, |benchmark, netlist| {
        let [plain, queued] = [Variant::Plain, Variant::Queued]
            .map(|variant| turn(netlist, variant, Turn::Later).garbling);
        let reordered = reorder(netlist, Variant::Queued, ours(netlist)).map_err(internal)?;
        let ours = turn(&reordered, Variant::Queued, Turn::Later).garbling;
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
pub fn table6(args: &AccelTableArgs) -> Result<(), Failure> {
    let columns = columns(&["netlist cycles", "FASE", "model", "our order"]);
    let title = "FASE, Table VI: cycles of a run";
    table(args, title, columns, |benchmark, netlist| {
        let total = run(netlist, Variant::Queued, benchmark.turns).total;
        let reordered = reorder(netlist, Variant::Queued, ours(netlist)).map_err(internal)?;
        let ours = run(&reordered, Variant::Queued, benchmark.turns).total;
        let paper = benchmark.table6;
        let cells = vec![
            grouped(benchmark.turns),
            paper.to_string(),
            grouped(total),
            grouped(ours),
        ];
        let value = json!({
            "netlist_cycles": benchmark.turns,
            "paper": paper,
            "model": total,
            "our_order": ours,
        });
        Ok((cells, value))
    })
}

fn columns(names: &[&'static str]) -> Vec<Column> {
    let numbers = names.iter().map(|name| Column::number(name, 7));
    std::iter::once(Column::text("benchmark"))
        .chain(numbers)
        .collect()
}

/// Prints a table with a row for each benchmark: its cells and its JSON.
fn table(
    args: &AccelTableArgs,
    title: &str,
    columns: Vec<Column>,
    row: impl Fn(&Benchmark, &Netlist) -> Result<(Vec<String>, Value), Failure>,
) -> Result<(), Failure> {
    let mut card = Card::new(title);
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for benchmark in BENCHMARKS {
        let path = Path::new(&args.folder).join(benchmark.folder).join("n.scd");
        let netlist = read(&path)?.netlist;
        let (cells, mut value) = row(benchmark, &netlist)?;
        value["benchmark"] = json!(benchmark.name);
        values.push(value);
        rows.push(
            std::iter::once(benchmark.name.to_string())
                .chain(cells)
                .collect(),
        );
    }
    card.table(None, columns, rows);
    print_card(args.json, &card, &json!({ "title": title, "rows": values }))
}
