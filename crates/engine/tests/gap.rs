//! The bound on the times of all assignments of domains, beside all assignments.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sealane_engine::NetworkClass;
use sealane_mixed::Mixed;
use sealane_plan::variants::Variants;
use sealane_plan::{Plan, Roster, drawn, localise, plan_with_roster, settled};
use sealane_program::graph::{Program, summed_rows};
use sealane_program::text;
use sealane_testkit::random_program::{arithmetic, cases};

/// Most steps with a choice of a program all of whose assignments are tried.
const MOST_STEPS: usize = 5;
const NETWORKS: [&str; 6] = [
    "lan",
    "wan",
    "10us/10Gbps",
    "100us/1Mbps",
    "1ms/100Mbps",
    "1s/10Gbps",
];

/// Row counts of at most so many rows in each table.
fn rows(program: &Program, most: u64) -> Vec<u64> {
    let mut rows = Vec::new();
    for table in &program.rows {
        let sum = summed_rows(table, &rows);
        rows.push(sum.or(Some(table.bound.min(most))));
    }
    rows.into_iter().flatten().collect()
}

/// Compares the bounds of a program with the times of all assignments: that of each one by itself,
/// and that of all together. Returns the latter as a part of the least time; none if the program
/// has no plan, or another number of steps.
fn part(
    program: &Program,
    network: NetworkClass,
    (pool, tile, most): (bool, u64, u64),
) -> Option<f64> {
    let joint = localise(&drawn(program).program).ok()?.joint;
    let mut roster = Roster::of(program, 0);
    if pool {
        roster = roster.with_pool();
    }
    let plan = plan_with_roster::<Mixed>(&joint, roster, network, tile).ok()?;
    let rows = rows(&joint, most);
    let mut parts = Vec::new();
    for plan in std::iter::once(&plan).chain(&plan.others) {
        let variants = Variants::new::<Mixed>(&joint, roster, network, tile, plan);
        let mut variants = variants.expect("units");
        let mut free = variants.units::<Mixed>();
        free.retain(|unit| !unit.domains.is_empty());
        if !(1..=MOST_STEPS).contains(&free.len()) {
            continue;
        }
        let time = |plan: &Plan| settled::<Mixed>(plan, &rows).estimate_s(network);
        let bound = variants.bound::<Mixed>(&[], (&rows, 0), f64::INFINITY);
        let bound = bound.expect("a bound");
        let mut least = f64::MAX;
        for all in 0..1u32 << free.len() {
            let taken = free.iter().zip(0..);
            let taken = taken.map(|(unit, at)| (unit.number, (all >> at & 1) as u8));
            let taken = taken.collect::<Vec<_>>();
            let now = time(&variants.with::<Mixed>(&taken).expect("a plan"));
            let alone = variants.bound::<Mixed>(&taken, (&rows, 0), f64::INFINITY);
            let alone = alone.expect("a bound");
            assert!(
                alone <= now * (1.0 + 1e-9),
                "{alone} s in place of {now} s, {taken:?}, {network}, tiles of {tile}, {rows:?}\n{}",
                text::print(program),
            );
            least = least.min(now);
        }
        assert!(
            bound <= least * (1.0 + 1e-9),
            "{bound} s is not below {least} s, {network}"
        );
        let gap = variants
            .gap::<Mixed>(&rows, 0)
            .expect("a gap")
            .expect("steps with a choice");
        assert!(gap.least_s <= least * (1.0 + 1e-9), "{gap:?}, {least} s");
        if gap.tried.is_some() {
            assert!(
                (gap.least_s / least - 1.0).abs() < 1e-9,
                "{gap:?}, {least} s"
            );
        }
        parts.push(bound / least);
    }
    parts.into_iter().reduce(f64::min)
}

/// The largest of so many numbers that two parties add without carries.
fn largest(rows: u64) -> Program {
    let range = "in 0..4294967295";
    let text = format!(
        "sealane program 1\nname largest\nparty alice\nparty bob\nrows n <= {rows}\n\
         input x : alice u32[n] {range}\ninput y : bob u32[n] {range}\nmain {{\n\
         \x20 %0 = param 0 : u32[n] {range} known alice\n\
         \x20 %1 = param 1 : u32[n] {range} known bob\n\
         \x20 %2 = xor %0, %1 : u32[n] {range} secret\n\
         \x20 %3 = reduce max %2 axis 0 : u32 {range} secret\n}}\n\
         reveal result = %3 : u32 to alice\n"
    );
    text::parse(&text, "largest.sealane").unwrap_or_else(|error| panic!("{error}"))
}

/// A run on many rows refills its pools by iterations of silent extensions, whose rounds count:
/// else the bounds would be 0.56 to 0.70 of the least times.
#[test]
fn the_bound_counts_rounds_of_iterations() {
    let cases = [
        ("wan", 1_000_000, 0.60),
        ("wan", 10_000_000, 0.59),
        ("10ms/100Mbps", 1_000_000, 0.71),
        ("100ms/20Mbps", 1_000_000, 0.64),
    ];
    for (network, rows, least) in cases {
        let network = network.parse().expect("a network");
        let case = (false, u64::MAX, u64::MAX);
        let part = part(&largest(rows), network, case).expect("a plan");
        assert!(
            part > least,
            "{part} of the least time, {rows} rows, {network}"
        );
    }
}

/// No assignment is faster than its bound, or than that of all; and most bounds are near.
#[test]
fn no_assignment_is_faster_than_the_bound() {
    let mut runner = TestRunner::deterministic();
    let programs = prop_oneof![cases(), arithmetic()];
    let mut parts = Vec::new();
    for number in 0..400 {
        let case = programs.new_tree(&mut runner).expect("a program").current();
        let network = NETWORKS[number % NETWORKS.len()]
            .parse()
            .expect("a network");
        let tile = [u64::MAX, 1, 3][number / NETWORKS.len() % 3];
        let most = [u64::MAX, 1, 9][number / 7 % 3];
        let pool = number % 4 == 3;
        parts.extend(part(&case.program, network, (pool, tile, most)));
    }
    let near = parts.iter().filter(|part| **part > 0.8).count();
    let all = parts.len();
    assert!(
        all >= 100 && 20 * near >= 17 * all,
        "{near} of {all}: {parts:?}"
    );
}
