//! The hardware of `rtl/` under Verilator, against the model of this crate and the slow garbler of
//! crate `hw-testkit`: cycles, and every label, table and mask. The tests of crate `serve` hold
//! that garbler against crate `garble`.
//!
//! `make test-rtl` builds the benches and runs all of it; `.ci/hardware` runs the module `small`.

mod attack;
mod bench;
mod compare;
mod files;
mod small;

use bench::{Build, EngineBuild};
use compare::{compare, compare_bundles};
use sealane_accel::fase::Variant;
use sealane_accel::paper::BENCHMARKS;
use sealane_hw_testkit::{self as netlists, released as benchmark};

/// Cycles of runs of the benchmarks that take seconds and more; one has 26 million.
#[test]
#[ignore = "needs the bench of rtl/, and minutes: make test-rtl"]
fn long_benchmarks_agree_with_model_and_garbler() {
    for row in BENCHMARKS.iter().filter(|row| row.run >= small::LONG) {
        if let Some(netlist) = benchmark(row) {
            compare(&Build::FASE, &netlist, row.netlist_cycles, 0);
        }
    }
}

#[test]
#[ignore = "needs another bench of rtl/: make test-rtl"]
fn without_the_queue_the_cycles_are_those_of_the_first_column_of_table_4() {
    for row in BENCHMARKS.iter().filter(|row| row.run < small::LONG) {
        if let Some(netlist) = benchmark(row) {
            let report = compare(&Build::PLAIN, &netlist, row.netlist_cycles.min(3), 0);
            assert_eq!(report.garbling, row.of_file()[0], "{}", row.name);
        }
    }
    for seed in 0..20 {
        compare(&Build::PLAIN, &netlists::any(seed), 4, 0);
    }
    assert_eq!(Build::PLAIN.variant, Variant::Plain);
}

#[test]
#[ignore = "needs another bench of rtl/: make test-rtl"]
fn a_key_for_each_half_gives_the_tables_of_mi() {
    for row in BENCHMARKS.iter().filter(|row| row.run < small::LONG) {
        if let Some(netlist) = benchmark(row) {
            compare(&Build::MI, &netlist, row.netlist_cycles.min(3), 0);
        }
    }
    assert_eq!(attack::found(&Build::MI), 0);
    for engines in &EngineBuild::MI {
        for seed in 0..20 {
            compare_bundles(engines, &netlists::any(seed), 1 + seed % 5, 0);
        }
        for name in ["MAC_16_1", "AES_128_11"] {
            compare_bundles(engines, &netlists::ours(name), 3, 0);
        }
    }
}
