//! A run of the bench beside model and garbler.

use std::collections::VecDeque;

use crate::bench::{
    BenchRun, Build, EngineBuild, LABEL, MASKS, Record, Report, Seeds, TABLE, fault,
};
use sealane_accel::Netlist;
use sealane_accel::bundle::{BundleRun, Bundles, bundles};
use sealane_accel::timing::run;
use sealane_hw_testkit::slow::{NetlistCycle, Slow};

/// A netlist cycle, and the records of it that have come.
struct Expected {
    netlist_cycle: NetlistCycle,
    labels: usize,
    /// For each AND, whether its table has come.
    tables: Vec<bool>,
    masks: bool,
}

/// How the records of a machine come.
#[derive(Clone, Copy)]
enum Form<'a> {
    /// Tables and masks in the order of the file.
    File,
    /// Tables in any order, and masks in another order than that of the file: for each, its place
    /// there.
    Issue(&'a [u32]),
}

/// Runs a netlist and compares every record with the garbler, and the cycles with the model. The
/// host takes nothing in `stall` of 1000 cycles; then cycles are more than those of the model.
pub fn compare(build: &Build, netlist: &Netlist, netlist_cycles: u64, stall: u32) -> Report {
    let seeds = Seeds::drawn(7 + netlist_cycles);
    let slow = Slow::new(netlist, seeds.blocks(), build.hash);
    let options = ["--stall", &stall.to_string()];
    let bench = BenchRun::with(build, netlist, netlist_cycles, &[seeds], &options);
    let report = compare_records(slow, bench, netlist_cycles, Form::File);
    let model = run(netlist, build.variant, netlist_cycles);
    let (first, later) = (model.first.garbling, model.later.garbling);
    let last = if netlist_cycles == 1 { first } else { later };
    let garbling = [report.first_garbling, report.garbling];
    let pairs = [first, last, model.total, model.held].into_iter();
    let mut pairs = pairs.zip([garbling[0], garbling[1], report.total, report.held]);
    assert!(
        pairs.all(|(model, counted)| model == counted || stall > 0 && model < counted),
        "{report:?}"
    );
    report
}

/// The same on better engines, with the netlist in the order of their model.
pub fn compare_bundles(
    engines: &EngineBuild,
    netlist: &Netlist,
    netlist_cycles: u64,
    stall: u32,
) -> (Report, Bundles) {
    let bundles = bundles(netlist, engines.engine, 1).expect("bundles");
    let report = compare_made(engines, &bundles, netlist_cycles, stall);
    (report, bundles)
}

/// The same in the best of some orders.
pub fn compare_best(
    engines: &EngineBuild,
    netlist: &Netlist,
    tries: u32,
    netlist_cycles: u64,
) -> (Report, Bundles) {
    let bundles = bundles(netlist, engines.engine, tries).expect("bundles");
    let report = compare_made(engines, &bundles, netlist_cycles, 0);
    (report, bundles)
}

fn compare_made(
    engines: &EngineBuild,
    bundles: &Bundles,
    netlist_cycles: u64,
    stall: u32,
) -> Report {
    let report = compare_file(engines, bundles, netlist_cycles, stall);
    let model = bundles.cycles.garbling;
    let BundleRun { total, held } = bundles.run(netlist_cycles);
    match stall {
        0 => {
            assert_eq!([report.first_garbling, report.garbling], [model; 2]);
            assert_eq!([report.total, report.held], [total, held]);
        }
        _ => assert!(report.first_garbling >= model && report.garbling >= model),
    }
    report
}

/// Compares the records of a file for better engines, whose cycles may be others than the model's.
pub fn compare_file(
    engines: &EngineBuild,
    bundles: &Bundles,
    netlist_cycles: u64,
    stall: u32,
) -> Report {
    let (build, seeds) = (&engines.build, Seeds::drawn(7 + netlist_cycles));
    let slow = Slow::new(&given(bundles), seeds.blocks(), build.hash);
    let options = ["--stall", &stall.to_string()];
    let text = bundles.text.as_bytes();
    let bench = BenchRun::of_text(build, text, netlist_cycles, &[seeds], &options);
    let form = Form::Issue(&bundles.outputs);
    compare_records(slow, bench, netlist_cycles, form)
}

/// The netlist of which the bundles are, its outputs in the order of wires.
fn given(bundles: &Bundles) -> Netlist {
    let first = bundles.netlist.first_gate();
    let mut order = vec![0; bundles.gates.len()];
    for (&gate, wire) in bundles.gates.iter().zip(first..) {
        order[gate as usize] = wire;
    }
    let given = bundles.netlist.reordered(&order).expect("an order");
    let mut parts = given.parts().clone();
    parts.outputs.sort_unstable();
    Netlist::new(parts).expect("a netlist")
}

/// Compares all records of a bench with those of the garbler.
fn compare_records(
    mut slow: Slow,
    mut bench: BenchRun,
    netlist_cycles: u64,
    form: Form<'_>,
) -> Report {
    let (mut begun, mut ended) = (0u64, 0u64);
    let mut open = VecDeque::<Expected>::new();
    while let Some(record) = bench.record() {
        while begun <= u64::from(record.netlist_cycle) {
            let netlist_cycle = slow.netlist_cycle();
            open.push_back(Expected {
                labels: 0,
                tables: vec![false; netlist_cycle.tables.len()],
                netlist_cycle,
                masks: false,
            });
            begun += 1;
        }
        let at = u64::from(record.netlist_cycle).checked_sub(ended);
        let expected = &mut open[at.expect("a netlist cycle that has not ended") as usize];
        check(&record, expected, form);
        while open.front().is_some_and(is_complete) {
            open.pop_front();
            ended += 1;
        }
    }
    assert_eq!((open.len(), ended), (0, netlist_cycles));
    let report = bench.reports().remove(0);
    assert_eq!(report.fault, fault::NONE);
    assert_eq!(report.secret_words_left, 0);
    report
}

fn is_complete(expected: &Expected) -> bool {
    expected.masks
        && expected.labels == expected.netlist_cycle.labels.len()
        && expected.tables.iter().all(|table| *table)
}

/// Checks a record, which has to be the next one of its kind, or a table that has not come yet.
fn check(record: &Record, expected: &mut Expected, form: Form<'_>) {
    let Expected {
        netlist_cycle,
        labels,
        tables,
        masks,
    } = expected;
    let place = (record.netlist_cycle, record.index);
    match record.tag {
        LABEL => {
            let input = netlist_cycle.first_label + *labels;
            assert_eq!(record.index as usize, input, "{place:?}");
            let same = record.block(0).value() == netlist_cycle.labels[*labels].value();
            assert!(same && record.block(1).value() == 0, "label {place:?}");
            *labels += 1;
        }
        TABLE => {
            let index = record.index as usize;
            if let Form::File = form {
                assert!(tables[..index].iter().all(|table| *table), "{place:?}");
            }
            let twice = std::mem::replace(&mut tables[index], true);
            assert!(!twice, "twice {place:?}");
            let same = record.data == netlist_cycle.tables[index];
            assert!(same, "table {place:?}");
        }
        MASKS => {
            assert!(!*masks, "masks twice {place:?}");
            let mut expected = [0; 32];
            for output in 0..netlist_cycle.masks.len() {
                let place = match form {
                    Form::File => output,
                    Form::Issue(places) => places[output] as usize,
                };
                expected[output / 8] |= netlist_cycle.masks[place] << (output % 8);
            }
            assert!(record.data == expected, "masks {place:?}");
            *masks = true;
        }
        tag => panic!("a record of tag {tag}"),
    }
}
