//! The suites of the program `sealane-bench`, which reproduce every figure of the documentation.
//!
//! A suite is a function that measures and hands out [`Record`]s; the command prints them as a
//! table or as one JSON object a line. Figures in core cycles come from [`cycles`]. Chained or
//! checked outputs keep the compiler from lifting work out of the loops.
//!
//! Suites that exercise kernels run on every tier of the machine, or on the one that
//! `SEALANE_TIER` forces.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
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
pub mod math;
pub mod net;
pub mod ot;
pub mod peers;
pub mod plot;
mod silent;
pub mod stream;
mod suites;
pub mod trio;

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
    pub metric: &'static str,
    /// The figure.
    pub value: f64,
    /// The unit alone.
    pub unit: &'static str,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record {
            case,
            tier,
            metric,
            value,
            unit,
            ..
        } = self;
        write!(f, "{case:<32} {tier:<9} {metric:<28} {value:>14.3} {unit}")
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
