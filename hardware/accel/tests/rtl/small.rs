//! Tests that take seconds together; CI runs them.

use std::collections::HashSet;
use std::ops::Range;

use crate::attack;
use crate::bench::{BenchRun, Build, EngineBuild, LABEL, Report, Seeds, fault};
use crate::compare::{compare, compare_best, compare_bundles, compare_file};
use crate::files::{File, LAST, Line, PLACE, changed, field};
use sealane_accel::Netlist;
use sealane_accel::bundle::{Bundles, bundles};
use sealane_accel::formats::{Format, Width, write};
use sealane_accel::functions::program;
use sealane_accel::paper::BENCHMARKS;
use sealane_hw_testkit::{any as netlist, ours, released as benchmark};

/// Cycles from which a run is left to `make test-rtl`.
pub const LONG: u64 = 1_000_000;

/// Runs one session, and returns its counters.
fn report(netlist: &Netlist, netlist_cycles: u64, options: &[&str]) -> Report {
    let seeds = [Seeds::drawn(1)];
    let mut run = BenchRun::with(&Build::FASE, netlist, netlist_cycles, &seeds, options);
    run.records();
    run.reports().remove(0)
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn benchmarks_agree_with_model_and_garbler() {
    for row in BENCHMARKS.iter().filter(|row| row.run < LONG) {
        if let Some(netlist) = benchmark(row) {
            let report = compare(&Build::FASE, &netlist, row.netlist_cycles, 0);
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
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn better_engines_agree_with_their_model_and_the_garbler() {
    for engines in &EngineBuild::ALL {
        for seed in 0..60 {
            let stall = [0, 0, 300][seed as usize % 3];
            compare_bundles(engines, &netlist(seed), 1 + seed % 5, stall);
        }
        for row in BENCHMARKS {
            if let Some(netlist) = benchmark(row).filter(|_| row.run < LONG) {
                compare_bundles(engines, &netlist, row.netlist_cycles.min(5), 0);
            }
            compare_bundles(engines, &ours(row.name), 3, 0);
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
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn a_slow_host_of_better_engines_loses_nothing() {
    for engines in &EngineBuild::ALL {
        for (name, stall) in [("MAC_16_1", 600), ("AES_128_11", 950)] {
            compare_bundles(engines, &ours(name), 3, stall);
        }
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn values_before_reset_do_not_matter() {
    let netlist = netlist(2);
    let seeds = [Seeds::drawn(1)];
    let streams = ["1", "2", "3"].map(|random| {
        let options = ["--random", random];
        BenchRun::with(&Build::FASE, &netlist, 5, &seeds, &options).records()
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
    let mut many = (0..).map(netlist).filter(|netlist| netlist.ands() > 9);
    let netlist = many.next().expect("one of many");
    let ands = netlist.ands() as u64;
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
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn a_key_serves_better_engines_as_many_ands_as_its_limit_and_no_more() {
    let netlist = ours("MAC_8_1");
    let ands = netlist.ands() as u64;
    for engines in &EngineBuild::ALL {
        let made = bundles(&netlist, engines.engine, 1).expect("bundles");
        for limit in [0, 1, 2, 7, ands, 2 * ands - 1, 2 * ands] {
            let options = ["--limit", &limit.to_string()];
            let seeds = [Seeds::drawn(1)];
            let text = made.text.as_bytes();
            let mut run = BenchRun::of_text(&engines.build, text, 2, &seeds, &options);
            run.records();
            let report = run.reports().remove(0);
            let end = [fault::LIMIT, fault::NONE][usize::from(limit == 2 * ands)];
            assert_eq!((report.fault, report.tables), (end, limit));
            assert_eq!(report.secret_words_left, 0);
        }
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn each_session_needs_a_new_key_and_a_netlist() {
    let netlist = netlist(4);
    let [one, two] = [1, 2].map(Seeds::drawn);
    let mut run = BenchRun::of(&Build::FASE, &netlist, 2, &[one, one, two, two, one]);
    let mut labels = HashSet::new();
    let mut count = 0;
    for record in run.records().iter().filter(|record| record.tag == LABEL) {
        labels.insert(record.block(0).value());
        count += 1;
    }
    use fault::{NONE, OLD_KEY};
    let reports = run.reports().into_iter();
    let faults = reports.map(|report| report.fault).collect::<Vec<_>>();
    assert_eq!(faults, [NONE, OLD_KEY, NONE, OLD_KEY, NONE]);
    // No label repeats within a session; the fifth repeats the first because the host did.
    assert_eq!(labels.len() * 3, count * 2);
    assert_eq!(report(&netlist, 0, &[]).fault, fault::NO_CYCLES);
}

/// The end of a session on a file: whether the netlist was loaded, the fault, whether records came.
fn ends(build: &Build, lines: &[String]) -> (bool, u64, bool) {
    let text = lines.join("\n");
    let seeds = [Seeds::drawn(1)];
    let mut run = BenchRun::of_text(build, text.as_bytes(), 1, &seeds, &[]);
    let records = run.records().len();
    let report = run.reports().remove(0);
    (report.loaded, report.fault, records > 0)
}

/// The end of a session on a file that is refused.
const REFUSED: (bool, u64, bool) = (false, fault::NO_NETLIST, false);

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn netlists_out_of_range_are_refused() {
    // A netlist with an input, a flip-flop and at least four gates.
    let fits = |netlist: &Netlist| {
        netlist.flip_flops().len() == 1 && netlist.gates().len() > 3 && netlist.inputs() > 1
    };
    let netlist = (0..).map(netlist).find(fits).expect("one of many");
    let text = write(&netlist, Format::Hscd(Width::Wide), &[]).expect("HSCD");
    let text = String::from_utf8(text).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let ends = |lines: &[String]| ends(&Build::FASE, lines);
    let whole: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    assert_eq!(ends(&whole), (true, fault::NONE, true));
    let refused = |lines: &[String], why: &str| assert_eq!(ends(lines), REFUSED, "{why}");
    refused(&whole[..whole.len() - 1], "too short");
    refused(&[&whole[..], &whole[5..6]].concat(), "too long");
    let replaced = |line: usize, place: Range<usize>, digits: &str, why: &str| {
        let mut lines = whole.clone();
        lines[line].replace_range(place, digits);
        refused(&lines, why);
    };
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
        replaced(line, 0..8, field, why);
    }
    for (gate, index) in [(0, own), (1, own + 1), (2, own + 3)] {
        let why = format!("gate {gate} reads wire {index}");
        replaced(5 + gate, 0..8, &format!("{index:08x}"), &why);
    }
    let input = format!("{:08x}", netlist.inputs());
    replaced(4, 8..16, &input, "I that is a flip-flop");
    for code in [0b00001u32, 0b00110, 0b01010, 0b11110] {
        let why = format!("opcode {}", code >> 1);
        replaced(6, 22..24, &format!("{code:02x}"), &why);
    }
    let mut outputs = netlist.parts().outputs.iter();
    assert!(outputs.any(|output| output.wire().is_some()));
    replaced(2, 8..16, "00000000", "more outputs than the counts say");
}

/// Makes a file of the first of many netlists from which it can be made.
fn first<T>(engines: &EngineBuild, make: impl Fn(&File<'_>) -> Option<T>) -> (Bundles, T) {
    let found = (0..1000).find_map(|seed| {
        let bundles = bundles(&netlist(seed), engines.engine, 1).ok()?;
        let made = make(&File::of(&bundles))?;
        Some((bundles, made))
    });
    found.expect("one of many")
}

#[test]
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn bundles_with_faults_are_refused() {
    for engines in &EngineBuild::ALL {
        words_with_faults_are_refused(engines);
        places_with_faults_are_refused(engines);
    }
}

fn words_with_faults_are_refused(engines: &EngineBuild) {
    // A netlist of two flip-flops, one of which is moved, whose first bundles hold both kinds of
    // gates.
    let (made, driver) = first(engines, |file| {
        let netlist = &file.made.netlist;
        let gates = netlist.gates();
        let both = gates.len() > 3 && gates[..2].iter().any(|gate| gate.kind.is_xor());
        let ands = gates.iter().filter(|gate| !gate.kind.is_xor()).count();
        let moves = file.lines.last()?.gate.is_none();
        let drives = |line: &&Line| line.gate.is_some() && !line.has_place;
        let driver = file.lines.iter().find(drives)?;
        let fits = netlist.flip_flops().len() == 2 && netlist.inputs() > 1;
        (fits && both && moves && ands > engines.engine.engines as usize).then_some(driver.at)
    });
    let lines = File::of(&made).words;
    let ends = |lines: &[String]| ends(&engines.build, lines);
    assert_eq!(ends(&lines), (true, fault::NONE, true));
    let refused = |lines: &[String], why: &str| assert_eq!(ends(lines), REFUSED, "{why}");
    refused(&lines[..lines.len() - 1], "too short");
    refused(&[&lines[..], &lines[6..7]].concat(), "too long");
    let gates = made.netlist.gates();
    let (inputs, own) = (made.netlist.inputs(), made.netlist.first_gate());
    // Four words of counts, then the flip-flops, then gates and moves.
    let end = lines.len() - 1;
    let mut ands = (0..gates.len()).filter(|&gate| !gates[gate].kind.is_xor());
    let one_more = ands.nth(engines.engine.engines as usize);
    // An AND and the number of another one; a gate of type XOR.
    let line_of = |is_xor: bool| {
        let lines = File::of(&made).lines;
        let mut lines = lines.iter().filter_map(|line| Some((line.at, line.gate?)));
        let found = lines.find(|(_, gate)| gates[*gate].kind.is_xor() == is_xor);
        found.expect("both kinds of gates").0
    };
    let [and, xor] = [false, true].map(line_of);
    let own_number = field(&lines[and], 1) >> 24;
    let number = u32::from(own_number == 0);
    type Change = Box<dyn Fn(u32) -> u32>;
    let to = |value: u32| -> Change { Box::new(move |_| value) };
    let set = |bits: u32| -> Change { Box::new(move |old| old | bits) };
    let clear = |bits: u32| -> Change { Box::new(move |old| old & !bits) };
    let other = |bits: u32| -> Change { Box::new(move |old| old ^ bits) };
    let number_one: Change = Box::new(move |old| old & 0xff_ffff | number << 24);
    let faults: Vec<(usize, usize, Change, &str)> = vec![
        (0, 0, to(1 << 16), "more inputs than there is room for"),
        (2, 0, to(0xffff), "more flip-flops than there is room for"),
        (3, 0, to(0xffff), "another number of XORs"),
        (3, 2, to(0xffff), "another number of moves"),
        (3, 2, set(1 << 20), "bits of counts that mean nothing"),
        (4, 0, to(0x00ff_ffff), "D beyond the wires"),
        (4, 0, to(u32::MAX), "a flip-flop without D"),
        (4, 1, to(inputs), "I that is a flip-flop"),
        (6, 0, to(0xff_ffff), "a gate without its first operand"),
        (6, 0, to(0xff_fffc), "an operand that is negative"),
        (
            and,
            1,
            set(0xff << 24),
            "a number of an AND beyond their count",
        ),
        (xor, 1, set(1 << 24), "a number of a gate that is no AND"),
        (and, 1, number_one, "two ANDs have one number"),
        (6, 0, to(own), "a gate that reads itself"),
        (7, 0, to(own + 1), "a gate that reads itself"),
        (6, 2, clear(0x1e), "opcode 0"),
        (end, 2, clear(LAST), "a last bundle that does not end"),
        (
            driver,
            2,
            set(2 << 11),
            "a flip-flop that is not there is driven",
        ),
        (driver, 2, other(1 << 11), "a gate drives another flip-flop"),
        (
            end,
            1,
            other(inputs ^ (inputs + 1)),
            "a move takes another flip-flop",
        ),
    ];
    for (line, field, change, why) in faults {
        let mut lines = lines.clone();
        lines[line] = changed(&lines[line], field, change);
        refused(&lines, why);
    }
    let mut too_many = lines.clone();
    for line in &mut too_many[6..6 + one_more.expect("more ANDs than engines")] {
        *line = changed(line, 2, |old| old & !LAST);
    }
    refused(&too_many, "more ANDs in a bundle than engines");
}

/// A line of the same bundle behind this one, of a gate with a place.
fn placed_behind<'a>(file: &'a File<'_>, line: &Line) -> Option<&'a Line> {
    let mut lines = file.placed().map(|(other, _)| other);
    lines.find(|other| other.bundle == line.bundle && other.at > line.at)
}

fn places_with_faults_are_refused(engines: &EngineBuild) {
    let refuses = |why: &str, change: &dyn Fn(&File<'_>) -> Option<Vec<String>>| {
        let (_, lines) = first(engines, change);
        assert_eq!(ends(&engines.build, &lines), REFUSED, "{why}");
    };
    refuses("a gate takes a place of flip-flops", &|file| {
        let flip_flops = !file.made.netlist.flip_flops().is_empty();
        let (line, _) = file.placed().find(|_| flip_flops)?;
        Some(file.with_place(line, line.place & 0xf << 5))
    });
    refuses("a place beyond the bank", &|file| {
        let (line, _) = file.placed().next()?;
        Some(file.with_place(line, line.place | 1 << 26))
    });
    // The place of a gate goes to another one, in a bundle that has nothing to do with it, and the
    // first one is read later.
    refuses("a place is taken before its key is read", &|file| {
        file.placed().find_map(|(one, gate)| {
            let last = file.readers(gate).into_iter().max()?;
            let mut others = file.placed().filter(|(other, _)| {
                let among = file.lines.iter().filter(|line| line.bundle == other.bundle);
                let mut read = among.flat_map(|line| file.reads(line));
                (one.bundle + 1..last).contains(&other.bundle) && !read.any(|it| it == gate)
            });
            let (other, _) = others.next()?;
            Some(file.with_place(other, one.place))
        })
    });
    // A bundle that reads a key for the last time, and takes its place.
    refuses("a bundle takes a place that it reads", &|file| {
        file.placed().find_map(|(one, gate)| {
            let last = file.readers(gate).into_iter().max()?;
            let reads = |line: &&Line| line.bundle == last && file.reads(line).contains(&gate);
            let reader = file.lines.iter().rfind(reads)?;
            Some(file.with_place(placed_behind(file, reader)?, one.place))
        })
    });
    // Two gates of a bundle, of which nothing reads the first one.
    refuses("two gates of a bundle take one place", &|file| {
        let unread = |gate: usize| file.readers(gate).is_empty();
        let mut dead = file.placed().filter(|(_, gate)| unread(*gate));
        dead.find_map(|(one, _)| Some(file.with_place(placed_behind(file, one)?, one.place)))
    });
    // A gate reads another one of its bundle.
    refuses("a gate reads one of its bundle", &|file| {
        file.placed().find_map(|(one, gate)| {
            let mut others = file.lines.iter().filter(|line| line.gate.is_some());
            let other = others.find(|other| other.bundle == one.bundle && other.at > one.at)?;
            let wire = file.made.netlist.first_gate() + gate as u32;
            let mut words = file.words.clone();
            words[other.at] = changed(&words[other.at], 0, |_| wire);
            Some(words)
        })
    });
}

/// The hardware issues gates when they can go, whatever the file says of banks and places.
#[test]
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn bundles_with_bad_banks_and_hasty_places_give_the_same_records() {
    let mut slower = 0;
    for engines in &EngineBuild::ALL {
        for seed in 0..30 {
            let mut made = bundles(&netlist(seed), engines.engine, 1).expect("bundles");
            let file = File::of(&made);
            // All keys in bank 0, each at a place of its own.
            let pairs = file.made.places;
            let mut words = file.words.clone();
            for (line, gate) in file.placed() {
                let place = (pairs + gate as u32) << 11;
                words[line.at] = changed(&words[line.at], 2, |old| old & !PLACE | place);
            }
            made.text = words.join("\n");
            let report = compare_file(engines, &made, 1 + seed % 3, 0);
            assert!(report.garbling >= made.cycles.garbling);
            slower += u32::from(report.garbling > made.cycles.garbling);
        }
        // An XOR takes the place of an AND that nothing reads, before that one is written.
        let (made, words) = first(engines, |file| {
            let kind = |gate: usize| file.made.netlist.gates()[gate].kind;
            let is = |gate: &usize, xor, unread| {
                kind(*gate).is_xor() == xor && file.readers(*gate).is_empty() == unread
            };
            let mut dead = file.placed().filter(|(_, gate)| is(gate, false, true));
            dead.find_map(|(one, _)| {
                let mut later = file.placed().filter(|(line, _)| line.bundle > one.bundle);
                if later.any(|(line, _)| line.place == one.place) {
                    return None;
                }
                let mut others = file.placed().filter(|(_, gate)| is(gate, true, false));
                let (other, _) = others.find(|(other, _)| other.bundle == one.bundle + 1)?;
                Some(file.with_place(other, one.place))
            })
        });
        let text = words.join("\n");
        compare_file(engines, &Bundles { text, ..made }, 2, 0);
    }
    assert!(slower > 20, "{slower}");
}

/// Renamed wires: the hardware holds programs with more gates than places.
#[test]
#[ignore = "needs another bench of rtl/: make -C hardware/rtl two"]
fn two_engines_garble_a_program_with_more_keys_than_places() {
    let netlist = program("Hamm_4096").expect("a program").netlist();
    let netlist = netlist.expect("a netlist");
    let (_, made) = compare_best(&EngineBuild::TWO, &netlist, 4, 1);
    let banks = EngineBuild::TWO.engine.banks * EngineBuild::TWO.engine.engines;
    assert!(netlist.gates().len() > 1 << 14 && made.places * banks < 1 << 14);
    assert_eq!(made.cycles.garbling, 3_477);
}

/// The cycles that the page of the hardware states.
#[test]
#[ignore = "needs other benches of rtl/: make -C hardware/rtl banked two"]
fn cycles_of_one_engine_and_of_two() {
    for (name, cycles) in [("AES_128_11", [769, 385]), ("MAC_32_1", [1_808, 1_179])] {
        let netlist = ours(name);
        let found = EngineBuild::ALL;
        let found = found.map(|engines| compare_best(&engines, &netlist, 120, 2).0.garbling);
        assert_eq!(found, cycles, "{name}");
    }
}
