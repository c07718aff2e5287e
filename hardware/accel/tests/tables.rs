//! The tables of the FASE paper, on the authors' netlists, which lie beside some checkouts.

use sealane_accel::bound::bound;
use sealane_accel::fase::{NetlistCycle, Variant};
use sealane_accel::formats::{Format, Width, read, write};
use sealane_accel::paper::{
    BENCHMARKS, BETTER, BETTER_PARTS, Benchmark, MILLIONAIRES_2, SYNTHESISED, TABLE_3, TABLE5,
};
use sealane_accel::timing::{Order, netlist_cycle, reorder, run, usual_tries};
use sealane_accel::{Netlist, Operand};
use sealane_hw_testkit::released;
use sealane_testkit::testdata;

/// All netlists that are there, with their benchmarks.
fn netlists() -> impl Iterator<Item = (&'static Benchmark, Netlist)> {
    let all = BENCHMARKS.iter();
    all.filter_map(|benchmark| Some((benchmark, released(benchmark)?)))
}

#[test]
fn counts_are_those_of_table_2() {
    for (benchmark, netlist) in netlists() {
        let counts = [netlist.gates().len(), netlist.xors()].map(|count| count as u64);
        assert_eq!(counts, benchmark.gates, "{}", benchmark.name);
    }
}

#[test]
fn garbling_cycles_are_those_of_table_4() {
    for (benchmark, netlist) in netlists() {
        let cycles = [Variant::Plain, Variant::Queued]
            .map(|variant| netlist_cycle(&netlist, variant, NetlistCycle::Later).garbling);
        assert_eq!(cycles, benchmark.of_file(), "{}", benchmark.name);
    }
}

#[test]
fn runs_are_those_of_table_6() {
    for (benchmark, netlist) in netlists() {
        let total = run(&netlist, Variant::Queued, benchmark.netlist_cycles).total;
        assert_eq!(total, benchmark.run, "{}", benchmark.name);
        if benchmark.name == "Mill_8_8" {
            let two = run(&netlist, Variant::Queued, 2).total;
            assert_eq!(two, MILLIONAIRES_2, "Table V");
        }
    }
}

#[test]
fn runs_are_those_of_table_5() {
    for row in TABLE5 {
        let Some((name, netlist_cycles, cycles)) = row.file else {
            continue;
        };
        let printed: f64 = row.fase.parse().expect("a number");
        let off = (cycles as f64 - printed).abs() / printed;
        assert!(off < 0.005, "{}", row.name);
        for (benchmark, netlist) in netlists() {
            if benchmark.name == name {
                let total = run(&netlist, Variant::Queued, netlist_cycles).total;
                assert_eq!(total, cycles, "{}", row.name);
            }
        }
    }
}

/// The paper swaps its rows of both additions, and its longest multiplication is not what its own
/// Table IV gives; all other rows agree to the digits that are printed.
#[test]
fn figures_of_runs_round_to_what_the_paper_prints() {
    for benchmark in BENCHMARKS {
        let printed: f64 = benchmark.table6.parse().expect("a number");
        let off = (benchmark.run as f64 - printed).abs() / printed;
        let contradicts = ["Add_8_1", "Add_8_8", "Mult_1024_2048"].contains(&benchmark.name);
        assert_eq!(off < 0.005, !contradicts, "{}: {off}", benchmark.name);
    }
}

#[test]
fn our_orders_are_at_most_the_best_that_was_known_and_at_least_the_bound() {
    for (benchmark, netlist) in netlists() {
        // Fewer tries than the command takes, and more than enough for all but small netlists.
        let tries = match netlist.gates().len() {
            ..100 => usual_tries(&netlist),
            _ => usual_tries(&netlist) / 2,
        };
        let order = Order::Ours { tries };
        let ours = reorder(&netlist, Variant::Queued, order).expect("an order");
        let cycles = netlist_cycle(&ours, Variant::Queued, NetlistCycle::Later).garbling;
        let least = bound(&netlist);
        assert!(cycles <= benchmark.known, "{}: {cycles}", benchmark.name);
        assert!(cycles >= least.cycles(), "{}: {least:?}", benchmark.name);
    }
}

/// Every part has its counts, and parts are smaller than the whole.
#[test]
fn counts_of_the_synthesis_are_there() {
    let counts: serde_json::Value = serde_json::from_str(SYNTHESISED).expect("JSON");
    let of = |part: &serde_json::Value| {
        ["lut", "ff", "lutram", "bram"].map(|kind| part[kind].as_f64().expect(kind))
    };
    let whole = of(&counts["total"]);
    for part in TABLE_3 {
        let found = of(&counts[part.part]);
        assert!(found[0] > 0.0 && found.iter().zip(whole).all(|(part, whole)| *part <= whole));
    }
    let mut before = 0.0;
    for (machine, _) in BETTER {
        let whole = of(&counts[machine]["total"]);
        for part in BETTER_PARTS {
            let found = of(&counts[machine][part]);
            assert!(found[0] > 0.0 && found.iter().zip(whole).all(|(part, whole)| *part <= whole));
        }
        assert!(whole[0] > before);
        before = whole[0];
    }
}

/// HSCD keeps gates, flip-flops and inputs of SCD; outputs are a set there.
#[test]
fn both_files_of_a_netlist_are_one() {
    for (benchmark, netlist) in netlists() {
        let narrow = write(&netlist, Format::Hscd(Width::Narrow), &[]);
        let fits = benchmark.name != "Mult_1024_2048";
        if fits {
            let name = format!("circuits/fase/{}/Netlist.hscd", benchmark.folder);
            let text = testdata::shared(&name).expect("the file beside the other");
            let file = read(text.as_bytes()).expect("HSCD");
            assert_eq!(file.format, Format::Hscd(Width::Narrow));
            let (scd, hscd) = (netlist.parts(), file.netlist.parts());
            assert_eq!(scd.gates, hscd.gates, "{}", benchmark.name);
            assert_eq!(scd.flip_flops, hscd.flip_flops, "{}", benchmark.name);
            assert_eq!(scd.inputs, hscd.inputs, "{}", benchmark.name);
            let mut outputs = scd.outputs.clone();
            outputs.sort_by_key(|output| Operand::wire(*output));
            outputs.dedup();
            assert_eq!(outputs, hscd.outputs, "{}", benchmark.name);
        }
        assert_eq!(fits, narrow.is_ok(), "{}: {narrow:?}", benchmark.name);
        let wide = write(&netlist, Format::Hscd(Width::Wide), &[]).expect("wide words");
        let again = read(&wide).expect("wide HSCD").netlist;
        assert_eq!(again.gates(), netlist.gates());
    }
}
