//! The suites of the program `sealane-bench`, which reproduce every figure of the documentation.
//!
//! A suite is a function that measures and hands out [`Record`]s through [`Figures`], and the
//! declaration of its tables and charts ([`table`]); the program prints either, or one JSON object
//! a line. Figures in core cycles come from [`cycles`]. Chained or checked outputs keep the
//! compiler from lifting work out of the loops.
//!
//! Suites that exercise kernels run on every tier of the machine, or on the one that
//! `SEALANE_TIER` forces.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::thread;
use std::time::Duration;

use sealane_block::{Cpu, TierError, cpu::TIER_VARIABLE};
use serde::Serialize;

pub mod aead;
mod alone;
mod auth;
mod block;
mod circuit;
pub mod cycles;
mod e2e;
pub mod garble;
pub mod math;
mod mixed;
mod net;
mod ot;
pub mod peers;
pub mod plot;
mod proof;
mod silent;
mod stream;
mod suites;
pub mod table;
mod trio;

pub use suites::{Missing, RunSuite, SUITES, Suite, SuiteError};

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The suite, as `sealane-bench SUITE` names it.
    pub suite: &'static str,
    /// A path from general to particular, such as `mi/aes128x64`.
    pub case: String,
    /// The CPU tier that ran; `any` where it makes no difference.
    pub tier: &'static str,
    /// The quantity and its unit, such as `garble_cycles_per_and`.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// The unit alone.
    pub unit: &'static str,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (case, tier, metric) = (&self.case, self.tier, &self.metric);
        write!(
            f,
            "{case:<32} {tier:<9} {metric:<28} {:>14.3} {}",
            self.value, self.unit
        )
    }
}

impl Record {
    /// A figure of a case on a tier.
    pub fn of(suite: &'static str, case: &str, tier: &'static str, figure: Figure<'_>) -> Record {
        let (metric, value, unit) = figure;
        Record {
            suite,
            case: case.to_string(),
            tier,
            metric: metric.to_string(),
            value,
            unit,
        }
    }

    /// The record as a JSON object, with the data that reproduce it: the machine, and the command
    /// that measures it.
    ///
    /// # Errors
    /// None that a record of finite figures causes.
    pub fn json(&self, machine: &MachineRecord, command: String) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            record: &'a Record,
            #[serde(flatten)]
            machine: &'a MachineRecord,
            command: String,
        }
        serde_json::to_string(&Line {
            record: self,
            machine,
            command,
        })
    }
}

/// A figure of a case: its metric, its value and its unit.
pub type Figure<'a> = (&'a str, f64, &'static str);

/// A function that takes records.
pub type Take<'a> = dyn FnMut(Record) + 'a;

/// Takes the figures of a suite, each as soon as it is there.
pub struct Figures<'a> {
    suite: &'static str,
    tier: &'static str,
    record: &'a mut Take<'a>,
}

impl<'a> Figures<'a> {
    /// The figures of a suite, on no tier in particular.
    pub fn new(suite: &'static str, record: &'a mut Take<'_>) -> Figures<'a> {
        Figures {
            suite,
            tier: "any",
            record,
        }
    }

    /// The figures of a tier of the CPU.
    pub fn on(&mut self, cpu: Cpu) -> Figures<'_> {
        self.of_tier(cpu.tier().name())
    }

    /// The figures of what is called a tier.
    pub fn of_tier(&mut self, tier: &'static str) -> Figures<'_> {
        Figures {
            suite: self.suite,
            tier,
            record: &mut *self.record,
        }
    }

    /// Adds the figures of a case.
    pub fn add(&mut self, case: &str, figures: &[Figure<'_>]) {
        for figure in figures {
            (self.record)(Record::of(self.suite, case, self.tier, *figure));
        }
    }

    /// Adds the figures of a measurement in core cycles: of quiet windows, their minimum, and of
    /// all; and the share of quiet ones. `side` precedes their metrics, `each` is one operation.
    pub fn cycles(&mut self, case: &str, side: &str, each: &str, measured: &cycles::Measured) {
        let (metric, unit) = (format!("{side}cycles_per_{each}"), "cycles");
        let figures = [
            (&*metric, measured.median_cycles, unit),
            (&format!("{metric}_min"), measured.min_cycles, unit),
            (&format!("{metric}_all"), measured.all_median_cycles, unit),
            (&format!("{side}windows_kept"), measured.kept, "of 1"),
        ];
        self.add(case, &figures);
    }
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
    /// Options for these tiers: a budget, no command, no way to start again, and all parts.
    pub fn new(cpus: Vec<Cpu>, budget: Duration) -> Options {
        Options {
            cpus,
            budget,
            command: Vec::new(),
            again: Vec::new(),
            only: Vec::new(),
        }
    }

    /// The defaults: all tiers of this machine, or the one that `SEALANE_TIER` forces, and half a
    /// second each.
    ///
    /// # Errors
    /// The variable names a tier that is not available.
    pub fn detect() -> Result<Options, TierError> {
        let cpus = match std::env::var_os(TIER_VARIABLE) {
            Some(_) => vec![Cpu::detect()?],
            None => Cpu::available(),
        };
        Ok(Options::new(cpus, Duration::from_millis(500)))
    }

    /// Returns true if there is no time for more than to see that the suite works.
    pub fn quick(&self) -> bool {
        self.budget.is_zero()
    }

    /// The fastest of the tiers.
    ///
    /// # Errors
    /// There is none.
    pub fn best(&self) -> Result<Cpu, String> {
        let best = self.cpus.last().copied();
        best.ok_or_else(|| "no tier to run on".to_string())
    }

    /// Returns true if a part of the suite is to be measured.
    pub fn asks_for(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

/// The machine that figures come from: part of every line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineRecord {
    /// The CPU's name for itself, where the system tells.
    pub cpu: String,
    /// The version of Sealane.
    pub version: &'static str,
}

impl MachineRecord {
    /// This machine.
    pub fn detect() -> MachineRecord {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut lines = info.lines();
        let name = lines.find_map(|line| line.strip_prefix("model name"));
        let name = name.map_or(std::env::consts::ARCH, |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
        MachineRecord {
            cpu: name.to_string(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Runs parties, each on a thread of its own; returns what they end with, in their order.
///
/// # Errors
/// The first failure of a party.
///
/// # Panics
/// If a party panics.
fn side_by_side<P: Send, T: Send, E: Send>(
    parties: impl IntoIterator<Item = P>,
    run: impl Fn(P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    thread::scope(|scope| {
        let run = &run;
        let start = |party| scope.spawn(move || run(party));
        let started: Vec<_> = parties.into_iter().map(start).collect();
        let ended = started.into_iter().map(|party| party.join());
        ended.map(|end| end.expect("no party panics")).collect()
    })
}

/// Runs the work of one party on a thread of its own, and that of the other on this one.
///
/// # Errors
/// The first failure.
///
/// # Panics
/// If the first panics.
fn both<A: Send, B, E: Send>(
    one: impl FnOnce() -> Result<A, E> + Send,
    other: impl FnOnce() -> Result<B, E>,
) -> Result<(A, B), E> {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        Ok((one.join().expect("the first party")?, other?))
    })
}
