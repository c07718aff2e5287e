//! The suite as a whole, with the smallest budget.

use std::collections::BTreeSet;
use std::time::Duration;

use sealane_block::Cpu;

use super::subject::{Batch, Direction, Slot};
use super::*;
use crate::Record;
use crate::plot::Chart;
use crate::table::View;

/// Runs on every tier, so that the short list of the portable one is covered.
fn records(only: &[&str]) -> Vec<Record> {
    let mut options = Options::new(Cpu::available(), Duration::ZERO);
    options.only = only.iter().map(|name| name.to_string()).collect();
    let mut records = Vec::new();
    let mut record = |record| records.push(record);
    let ended = run(&options, &mut Figures::new(SUITE, &mut record));
    assert_eq!(ended, Ok(()));
    records
}

#[test]
fn every_mode_has_every_case_and_stands_in_tables_and_charts() {
    let mut records = records(&[]);
    let name = |r: &Record| (r.case.clone(), r.tier, r.metric.clone());
    let found: BTreeSet<_> = records.iter().map(name).collect();
    let best = Cpu::available().last().expect("a tier").tier().name();
    let rates = ["cycles_per_byte", "cycles_per_byte_min"];
    let has = |case: String, tier, metric: &str| {
        let name = (case, tier, metric.to_string());
        assert!(found.contains(&name), "{name:?}");
    };
    let (singles, many) = (["single/seal", "single/open"], ["many/seal", "many/open"]);
    let batches = ["batch/seal", "own-keys/seal"];
    for mode in modes() {
        for length in LENGTHS {
            for what in [singles, many, batches].concat() {
                for rate in rates {
                    has(format!("{mode}/{what}/{length}"), best, rate);
                }
            }
            has(format!("{mode}/speed-up/seal/{length}"), best, "speed_up");
        }
        for (case, metric) in [
            ("mix/realistic/seal", "cycles_per_byte_min"),
            ("mix/realistic/seal", "equal_length_rate_kept"),
            ("mix/internet/seal", "cycles_per_byte"),
            ("key", "cycles_per_key"),
            ("many", "lanes"),
        ] {
            has(format!("{mode}/{case}"), best, metric);
        }
        has(format!("{mode}/single/seal/2048"), "portable", rates[0]);
    }
    // Beside other work, no window may have had the whole core.
    let sound = |r: &Record| r.value > 0.0 || r.metric == "windows_kept" && r.value == 0.0;
    assert!(records.iter().all(|r| r.value.is_finite() && sound(r)));

    // The figure of a window during which the thread was switched out, which stays apart from the
    // others.
    let of_ccm = |r: &&mut Record| r.case == "ccm/single/seal/512" && r.metric == rates[0];
    let ccm = records.iter_mut().filter(of_ccm);
    ccm.for_each(|r| r.value = 123_456.0);
    let View { text, charts } = tables::view(&records);
    for mode in modes() {
        let of_mode = |line: &&str| line.split(' ').next() == Some(mode);
        let rows: Vec<&str> = text.lines().filter(of_mode).collect();
        assert_eq!(rows.len(), 6, "{mode}: {text}");
        let named = |chart: &Chart| chart.groups.iter().any(|(name, _)| name == mode);
        assert!(charts.iter().all(named), "{mode}");
        // Our figure, and the study's where it has the mode, in the first table.
        let figures = rows[0].split_whitespace().count() - 1;
        let theirs = study::MODES.iter().any(|theirs| theirs.name == mode);
        let one = study::BASELINES.iter().any(|theirs| theirs.name == mode);
        let expected = 5 + 5 * usize::from(theirs) + usize::from(one);
        assert_eq!(figures, expected, "{text}");
    }
    assert_eq!(charts.len(), 5);
    let mut series = charts[0].series.iter();
    assert!(series.any(|name| name.starts_with("Haswell")));
}

#[test]
fn a_run_of_some_modes_has_no_others() {
    let records = records(&["ocb3", "ccm"]);
    let modes: BTreeSet<_> = records
        .iter()
        .map(|record| record.case.trim_start_matches("study/").split('/').next())
        .collect();
    assert_eq!(modes, [Some("ccm"), Some("ocb3")].into());
}

/// A peer has a row of its own, below that of our mode.
#[test]
fn peers_stand_in_tables_and_charts() {
    let mut options = Options::new(vec![Cpu::detect().expect("a tier")], Duration::ZERO);
    options.only = vec!["ctr".to_string()];
    let subject = Mode::new(options.cpus[0], "ocb3").expect("OCB3");
    let peer = Peer::new("somebody", subject);
    let mut records = Vec::new();
    let mut record = |record| records.push(record);
    let ended = run_beside(&[peer], &options, &mut Figures::new(SUITE, &mut record));
    assert_eq!(ended, Ok(()));
    let View { text, charts } = tables::view(&records);
    assert_eq!(text.matches("\ngcm (somebody)").count(), 6, "{text}");
    let named = |c: &Chart| c.groups.iter().any(|(name, _)| name == "gcm (somebody)");
    assert!(charts.iter().all(named));
}

/// A mode whose batches differ from its single messages, or that opens to another text, is found
/// before it is measured.
#[test]
fn wrong_results_are_no_figures() {
    struct Wrong(bool);
    impl Subject for Wrong {
        fn set_up(&self, _: &[u8]) {}
        fn one(&self, _: &Slot, buffer: &mut [u8], way: Direction) {
            let changed = match way {
                Direction::Seal => 1,
                Direction::Open => 1 + u8::from(!self.0),
            };
            buffer.iter_mut().for_each(|byte| *byte ^= changed);
        }
        fn many(&self, batch: &mut Batch, way: Direction) {
            if way == Direction::Open {
                return self.apart(batch, way);
            }
            for (_, buffer) in batch.pieces() {
                let wrong = 1 + u8::from(self.0);
                buffer.iter_mut().for_each(|byte| *byte ^= wrong);
            }
        }
    }
    for (batches, said) in [(true, "one by one"), (false, "another text")] {
        let mut nothing = |_| {};
        let bench = Bench {
            subject: &Wrong(batches),
            case: "wrong".to_string(),
            lanes: 8,
            budget: Duration::ZERO,
            figures: Figures::new(SUITE, &mut nothing),
        };
        let found = bench.check().expect_err("wrong results");
        assert!(found.ends_with(said), "{found}");
    }
}
