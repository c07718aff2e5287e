//! Tests that take seconds together; CI runs them.

use std::collections::HashSet;

use crate::attack;
use crate::bench::{Build, EngineBuild, LABEL, Report, Run, Seeds, fault};
use crate::compare::{benchmark, compare, compare_bundles};
use crate::reference::Reference;
use sealane_accel::bundle::bundles;
use sealane_accel::engine::Engine;
use sealane_accel::formats::{Format, Width, write};
use sealane_accel::paper::BENCHMARKS;
use sealane_accel::{Netlist, Operand};
use sealane_testkit::netlists::any as netlist;

/// Cycles from which a run is left to `make test-rtl`.
pub const LONG: u64 = 1_000_000;

/// Seeds of a session, by number.
fn seeds(netlist: &Netlist, number: u64) -> Seeds {
    Reference::new(netlist, Build::FASE.scheme, number).seeds
}

/// Runs one session, and returns its counters.
fn report(netlist: &Netlist, turns: u64, options: &[&str]) -> Report {
    let mut run = Run::with(&Build::FASE, netlist, turns, &[seeds(netlist, 1)], options);
    run.records();
    run.reports().remove(0)
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn benchmarks_agree_with_model_and_garbler() {
    for row in BENCHMARKS.iter().filter(|row| row.run < LONG) {
        if let Some(netlist) = benchmark(row) {
            let report = compare(&Build::FASE, &netlist, row.turns, 0);
            assert_eq!(report.total, row.run, "{}", row.name);
            assert_eq!(report.garbling, row.of_file()[1], "{}", row.name);
            // The one benchmark in which a flip-flop takes an AND that is late.
            assert_eq!(report.held > 0, row.name == "Add_8_8", "{}", row.name);
        }
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn random_netlists_agree_with_model_and_garbler() {
    for seed in 0..60 {
        compare(&Build::FASE, &netlist(seed), 1 + seed % 5, 0);
    }
}

#[test]
#[ignore = "needs other benches of rtl/: make -C rtl banked two"]
fn better_engines_agree_with_their_model_and_the_garbler() {
    for engines in &EngineBuild::ALL {
        for seed in 0..60 {
            let stall = [0, 0, 300][seed as usize % 3];
            compare_bundles(engines, &netlist(seed), 1 + seed % 5, stall);
        }
        for row in BENCHMARKS.iter().filter(|row| row.run < LONG) {
            if let Some(netlist) = benchmark(row) {
                compare_bundles(engines, &netlist, row.turns.min(5), 0);
            }
        }
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn a_slow_host_loses_nothing() {
    for (seed, stall) in (0..20).zip([100, 500, 950].into_iter().cycle()) {
        compare(&Build::FASE, &netlist(seed), 4, stall);
    }
    if let Some(netlist) = benchmark(&BENCHMARKS[9]) {
        compare(&Build::FASE, &netlist, 2, 900);
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn values_before_reset_do_not_matter() {
    let netlist = netlist(2);
    let seeds = [seeds(&netlist, 1)];
    let streams = ["1", "2", "3"].map(|random| {
        let options = ["--random", random];
        Run::with(&Build::FASE, &netlist, 5, &seeds, &options).records()
    });
    assert!(!streams[0].is_empty());
    assert!(streams[0] == streams[1] && streams[0] == streams[2]);
}

#[test]
#[ignore = "needs the benches of rtl/: make test-rtl"]
fn the_attack_finds_the_offset_without_sigma_only() {
    assert_eq!(attack::found(&Build::FASE), 0);
    let found = attack::found(&Build::INSECURE);
    // One bit decides for each half, so half to three quarters of the 66 ANDs.
    assert!(found > 20, "{found}");
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn a_key_serves_as_many_ands_as_its_limit_and_no_more() {
    let ands = |netlist: &Netlist| (netlist.gates().len() - netlist.xors()) as u64;
    let mut many = (0..).map(netlist).filter(|netlist| ands(netlist) > 9);
    let netlist = many.next().expect("one of many");
    let ands = ands(&netlist);
    let limited = |limit: u64| report(&netlist, 3, &["--limit", &limit.to_string()]);
    for limit in [0, 1, ands, 3 * ands - 1] {
        let report = limited(limit);
        assert_eq!((report.fault, report.tables), (fault::LIMIT, limit));
        assert_eq!(report.secret_words_left, 0);
    }
    let report = limited(3 * ands);
    assert_eq!((report.fault, report.tables), (fault::NONE, 3 * ands));
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn each_session_needs_a_new_key_and_a_netlist() {
    let netlist = netlist(4);
    let [one, two] = [1, 2].map(|number| seeds(&netlist, number));
    let mut run = Run::of(&Build::FASE, &netlist, 2, &[one, one, two, two, one]);
    let mut labels = HashSet::new();
    let mut count = 0;
    for record in run.records().iter().filter(|record| record.tag == LABEL) {
        labels.insert(record.block(0).value());
        count += 1;
    }
    let faults = run
        .reports()
        .iter()
        .map(|report| report.fault)
        .collect::<Vec<_>>();
    use fault::{NONE, OLD_KEY};
    assert_eq!(faults, [NONE, OLD_KEY, NONE, OLD_KEY, NONE]);
    // No label repeats within a session; the fifth repeats the first because the host did.
    assert_eq!(labels.len() * 3, count * 2);
    assert_eq!(report(&netlist, 0, &[]).fault, fault::NO_TURNS);
}

/// The end of a session on a file: whether the netlist was loaded, the fault, whether records came.
fn ends(build: &Build, lines: &[String], seeds: Seeds) -> (bool, u64, bool) {
    let text = lines.join("\n");
    let mut run = Run::of_text(build, text.as_bytes(), 1, &[seeds], &[]);
    let records = run.records().len();
    let report = run.reports().remove(0);
    (report.loaded, report.fault, records > 0)
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn netlists_out_of_range_are_refused() {
    // A netlist with an input, a flip-flop and at least four gates.
    let netlist = (0..).map(netlist).find(|netlist| {
        netlist.flip_flops().len() == 1 && netlist.gates().len() > 3 && netlist.inputs() > 1
    });
    let netlist = netlist.expect("one of many");
    let text = write(&netlist, Format::Hscd(Width::Wide), &[]).expect("HSCD");
    let text = String::from_utf8(text).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let seeds = seeds(&netlist, 1);
    let ends = |lines: &[String]| ends(&Build::FASE, lines, seeds);
    let refused = (false, fault::NO_NETLIST, false);
    let whole: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    assert_eq!(ends(&whole), (true, fault::NONE, true));
    assert_eq!(ends(&whole[..whole.len() - 1]), refused, "too short");
    assert_eq!(
        ends(&[&whole[..], &whole[5..6]].concat()),
        refused,
        "too long"
    );
    let own = netlist.first_gate();
    let faults = [
        (0, "00010000", "more inputs than there is room for"),
        (2, "0000ffff", "more flip-flops than there is room for"),
        (3, "0000ffff", "another number of XORs"),
        (4, "00ffffff", "D beyond the wires"),
        (4, "ffffffff", "a flip-flop without D"),
        (5, "ffffffff", "a gate without its first operand"),
        (5, "fffffffc", "an operand that is negative"),
    ];
    for (line, field, why) in faults {
        let mut lines = whole.clone();
        lines[line].replace_range(0..8, field);
        assert_eq!(ends(&lines), refused, "{why}");
    }
    for (gate, index) in [(0, own), (1, own + 1), (2, own + 3)] {
        let mut lines = whole.clone();
        lines[5 + gate].replace_range(0..8, &format!("{index:08x}"));
        assert_eq!(ends(&lines), refused, "gate {gate} reads wire {index}");
    }
    let mut lines = whole.clone();
    lines[4].replace_range(8..16, &format!("{:08x}", netlist.inputs()));
    assert_eq!(ends(&lines), refused, "I that is a flip-flop");
    for code in [0b00001u32, 0b00110, 0b01010, 0b11110] {
        let mut lines = whole.clone();
        lines[6].replace_range(22..24, &format!("{code:02x}"));
        assert_eq!(ends(&lines), refused, "opcode {}", code >> 1);
    }
    let outputs = netlist
        .parts()
        .outputs
        .iter()
        .filter_map(|output| Operand::wire(*output));
    assert!(outputs.count() > 0);
    let mut lines = whole.clone();
    lines[2].replace_range(8..16, "00000000");
    assert_eq!(ends(&lines), refused, "more outputs than the counts say");
}

/// A word of a netlist with one of its three fields changed.
fn changed(line: &str, field: usize, change: impl Fn(u32) -> u32) -> String {
    let at = 8 * field..8 * (field + 1);
    let old = u32::from_str_radix(&line[at.clone()], 16).expect("a field");
    let mut line = line.to_string();
    line.replace_range(at, &format!("{:08x}", change(old)));
    line
}

#[test]
#[ignore = "needs another bench of rtl/: make -C rtl banked"]
fn bundles_with_faults_are_refused() {
    const LAST: u32 = 1 << 9;
    const DRIVES: u32 = 1 << 10;
    // A netlist of one flip-flop, whose first bundles hold an AND and an XOR.
    let found = (0..).map(netlist).find_map(|netlist| {
        let made = bundles(&netlist, Engine::BANKED).ok()?;
        let gates = made.netlist.gates();
        let both = gates.len() > 3 && gates[..2].iter().any(|gate| gate.kind.is_xor());
        let both = both && gates.iter().filter(|gate| !gate.kind.is_xor()).count() > 1;
        (netlist.flip_flops().len() == 1 && netlist.inputs() > 1 && both).then_some(made)
    });
    let made = found.expect("one of many");
    let lines: Vec<String> = made.text.lines().map(str::to_string).collect();
    let seeds = seeds(&made.netlist, 1);
    let ends = |lines: &[String]| ends(&EngineBuild::BANKED.build, lines, seeds);
    assert_eq!(ends(&lines), (true, fault::NONE, true));
    let refused = |lines: &[String], why: &str| {
        assert_eq!(ends(lines), (false, fault::NO_NETLIST, false), "{why}");
    };
    refused(&lines[..lines.len() - 1], "too short");
    refused(&[&lines[..], &lines[5..6]].concat(), "too long");
    let gates = made.netlist.gates();
    let (inputs, own) = (made.netlist.inputs(), made.netlist.first_gate());
    // Four words of counts, then the flip-flop, then gates and moves.
    let end = lines.len() - 1;
    let second_and = (0..gates.len()).filter(|&gate| !gates[gate].kind.is_xor());
    let second_and = 5 + second_and.clone().nth(1).expect("two ANDs");
    type Change = Box<dyn Fn(u32) -> u32>;
    let to = |value: u32| -> Change { Box::new(move |_| value) };
    let set = |bits: u32| -> Change { Box::new(move |old| old | bits) };
    let clear = |bits: u32| -> Change { Box::new(move |old| old & !bits) };
    let faults: Vec<(usize, usize, Change, &str)> = vec![
        (0, 0, to(1 << 16), "more inputs than there is room for"),
        (2, 0, to(0xffff), "more flip-flops than there is room for"),
        (3, 0, to(0xffff), "another number of XORs"),
        (3, 2, to(0xffff), "another number of moves"),
        (3, 2, set(1 << 20), "bits of counts that mean nothing"),
        (4, 0, to(0x00ff_ffff), "D beyond the wires"),
        (4, 0, to(u32::MAX), "a flip-flop without D"),
        (4, 1, to(inputs), "I that is a flip-flop"),
        (5, 0, to(u32::MAX), "a gate without its first operand"),
        (5, 0, to(u32::MAX - 3), "an operand that is negative"),
        (5, 0, to(own), "a gate that reads itself"),
        (6, 0, to(own + 1), "a gate that reads itself"),
        (5, 2, clear(0x1e), "opcode 0"),
        (end, 2, clear(LAST), "a last bundle that does not end"),
        (
            5,
            2,
            set(DRIVES | 1 << 11),
            "a flip-flop that is not there is driven",
        ),
    ];
    for (line, field, change, why) in faults {
        let mut lines = lines.clone();
        lines[line] = changed(&lines[line], field, change);
        refused(&lines, why);
    }
    let mut two_ands = lines.clone();
    for line in &mut two_ands[5..second_and] {
        *line = changed(line, 2, |old| old & !LAST);
    }
    refused(&two_ands, "two ANDs in a bundle");
}
