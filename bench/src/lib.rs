//! The suites behind `sealane bench`, which reproduce every figure of the documentation.
//!
//! A suite is a function that measures and hands out [`Record`]s; the command prints them as a
//! table or as one JSON object a line. Figures in core cycles come from [`cycles`]. Chained or
//! checked outputs keep the compiler from lifting work out of the loops.
//!
//! Suites that exercise kernels run on every tier of the machine, or on the one that
//! `SEALANE_TIER` forces.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use sealane_block::{Cpu, TierError, cpu::TIER_VARIABLE};
use serde::Serialize;

pub mod aead;
pub mod block;
pub mod circuit;
pub mod cycles;
pub mod e2e;
pub mod garble;
pub mod net;
pub mod ot;
pub mod plot;
pub mod stream;

use plot::Chart;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The suite, as `sealane bench SUITE` names it.
    pub suite: &'static str,
    /// A path from general to particular, such as `mi/aes128x64`.
    pub case: String,
    /// The CPU tier that ran; `any` where it makes no difference.
    pub tier: &'static str,
    /// The quantity and its unit, such as `garble_cycles_per_and`.
    pub metric: &'static str,
    /// The figure.
    pub value: f64,
    /// The unit alone.
    pub unit: &'static str,
}

/// The budget of a suite and the machine that it runs on.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tiers to measure, slowest first.
    pub cpus: Vec<Cpu>,
    /// Time for one measurement, of which a suite makes a few dozen. None: as little as it takes
    /// to see that the suite works.
    pub budget: Duration,
    /// The command line that starts `sealane`, with its leading arguments; empty if there is none.
    pub command: Vec<OsString>,
    /// The command line that starts a suite of this program again, with its leading arguments,
    /// which the name of the suite follows; empty if there is no way.
    pub again: Vec<OsString>,
    /// The parts of a suite to measure, out of its [`Suite::parts`]; empty for all.
    pub only: Vec<String>,
}

impl Options {
    /// The defaults: all tiers of this machine, or the one that `SEALANE_TIER` forces, and half a
    /// second each; no command, and no way to start again.
    ///
    /// # Errors
    /// The variable names a tier that is not available.
    pub fn detect() -> Result<Options, TierError> {
        let cpus = match std::env::var_os(TIER_VARIABLE) {
            Some(_) => vec![Cpu::detect()?],
            None => Cpu::available(),
        };
        Ok(Options {
            cpus,
            budget: Duration::from_millis(500),
            command: Vec::new(),
            again: Vec::new(),
            only: Vec::new(),
        })
    }
}

/// The machine that figures come from: part of every line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// The CPU's name for itself, where the system tells.
    pub cpu: String,
    /// The version of Sealane.
    pub version: &'static str,
}

impl Machine {
    /// This machine.
    pub fn detect() -> Machine {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let name = name.map_or(std::env::consts::ARCH, |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
        Machine {
            cpu: name.to_string(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Function that measures a suite and passes on every figure as soon as it is there, or returns a
/// reason why it cannot.
pub type RunSuite = fn(&Options, &mut dyn FnMut(Record)) -> Result<(), String>;

/// A suite by name.
pub struct Suite {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The function that runs the suite.
    pub run: RunSuite,
    /// The charts of its records.
    pub charts: fn(&[Record]) -> Vec<Chart>,
    /// The tables for a terminal, where a line for each record would be too many.
    pub tables: Option<fn(&[Record]) -> String>,
    /// The names that [`Options::only`] may hold; none where the suite is measured as a whole.
    pub parts: fn() -> Vec<&'static str>,
}

impl Suite {
    /// A suite without tables or parts.
    const fn new(
        name: &'static str,
        about: &'static str,
        run: RunSuite,
        charts: fn(&[Record]) -> Vec<Chart>,
    ) -> Suite {
        Suite {
            name,
            about,
            run,
            charts,
            tables: None,
            parts: Vec::new,
        }
    }

    /// Checks that the suite has all these parts.
    ///
    /// # Errors
    /// A message for the user that names the wrong part.
    pub fn check_parts(&self, only: &[String]) -> Result<(), String> {
        let (name, parts) = (self.name, (self.parts)());
        match only.iter().find(|part| !parts.contains(&part.as_str())) {
            None => Ok(()),
            Some(_) if parts.is_empty() => Err(format!("`{name}` is measured as a whole")),
            Some(part) => {
                let known = parts.join(", ");
                Err(format!("`{name}` has no part `{part}`; there are: {known}"))
            }
        }
    }
}

/// All suites, from the lowest room up.
pub const SUITES: &[Suite] = &[
    Suite::new(
        block::SUITE,
        "AES-128 in three shapes, hashes, GF(2^128), transpose: core cycles a block",
        |options, record| {
            block::run(options, record);
            Ok(())
        },
        Chart::by_metric,
    ),
    Suite {
        tables: Some(aead::tables::text),
        parts: aead::modes,
        ..Suite::new(
            aead::SUITE,
            "every mode of authenticated encryption, one message and many at once: cycles a byte",
            aead::run,
            aead::tables::charts,
        )
    },
    Suite::new(
        circuit::SUITE,
        "sizes of the standard circuits; nanoseconds a gate to compile them",
        |options, record| {
            circuit::run(options, record);
            Ok(())
        },
        Chart::by_metric,
    ),
    Suite::new(
        garble::SUITE,
        "every garbling scheme on AES-128, SHA-1 and set intersection, batched in six ways: cycles an AND",
        |options, record| {
            garble::run(options, record);
            Ok(())
        },
        garble::charts,
    ),
    Suite::new(
        net::SUITE,
        "bytes one way and round trips, over memory, TCP and TLS in one process",
        net::run,
        Chart::by_metric,
    ),
    Suite::new(
        ot::SUITE,
        "correlated oblivious transfers between two threads, in memory",
        |options, record| {
            ot::run(options, record);
            Ok(())
        },
        Chart::by_metric,
    ),
    Suite::new(
        e2e::SUITE,
        "AES-128 and the hospital example, two processes over TLS: AND gates a second",
        e2e::run,
        Chart::by_metric,
    ),
    Suite::new(
        stream::SUITE,
        "garbling to evaluating between two processes: AND gates a second, peak memory",
        stream::run,
        Chart::by_metric,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Every suite runs, checks its own results, and names its figures once each. The fastest
    /// tier stands for all: the same code runs on each.
    #[test]
    fn suites_give_sound_and_distinct_records() {
        let cpus = Cpu::available().pop().into_iter().collect();
        let options = Options {
            cpus,
            budget: Duration::ZERO,
            command: vec![],
            again: vec![],
            only: vec![],
        };
        let mut seen = std::collections::HashSet::new();
        // Suites of two processes need the command; the tests of the Python package run them.
        let alone = |suite: &&Suite| ![e2e::SUITE, stream::SUITE].contains(&suite.name);
        for suite in SUITES.iter().filter(alone) {
            let mut records = Vec::new();
            let ended = (suite.run)(&options, &mut |record| {
                assert_eq!(record.suite, suite.name);
                // Beside other work, no window may have had the whole core.
                let may_be_none = record.metric.ends_with("windows_kept") && record.value == 0.0;
                assert!(record.value.is_finite(), "{record:?}");
                assert!(record.value > 0.0 || may_be_none, "{record:?}");
                let name = (
                    record.suite,
                    record.case.clone(),
                    record.tier,
                    record.metric,
                );
                assert!(seen.insert(name));
                records.push(record);
            });
            assert_eq!(ended, Ok(()));
            let charts = (suite.charts)(&records);
            let bars = charts.iter().flat_map(|chart| &chart.groups);
            assert!(
                bars.map(|(_, bars)| bars.len()).sum::<usize>() > 0,
                "{}",
                suite.name
            );
        }
    }
}
