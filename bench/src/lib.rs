//! The suites behind `sealane bench`: every figure of the documentation can be made again here.
//!
//! A suite is a function that measures and hands out [`Record`]s; the command prints them as a
//! table or as one JSON object a line. Figures in core cycles come from [`cycles`]. Chained or
//! checked outputs keep the compiler from lifting work out of the loops.
//!
//! Suites that exercise kernels run on every tier of the machine, or on the one that
//! `SEALANE_TIER` forces.

#![forbid(unsafe_code)]

use std::time::Duration;

use sealane_block::{Cpu, TierError, cpu::TIER_VARIABLE};
use serde::Serialize;

pub mod block;
pub mod cycles;
pub mod garble;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The suite, as `sealane bench SUITE` names it.
    pub suite: &'static str,
    /// A path from general to particular, such as `mi/aes128x64`.
    pub case: String,
    /// The CPU tier that ran.
    pub tier: &'static str,
    /// What was measured and in which unit, such as `garble_cycles_per_and`.
    pub metric: &'static str,
    /// The figure.
    pub value: f64,
    /// The unit alone.
    pub unit: &'static str,
}

/// What a suite may spend and where it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tiers to measure, slowest first.
    pub cpus: Vec<Cpu>,
    /// Time for one measurement, of which a suite makes a few dozen.
    pub budget: Duration,
}

impl Options {
    /// All tiers of this machine, or the one that `SEALANE_TIER` forces, and half a second each.
    ///
    /// # Errors
    /// The variable names a tier that is not to be had.
    pub fn detect() -> Result<Options, TierError> {
        let cpus = match std::env::var_os(TIER_VARIABLE) {
            Some(_) => vec![Cpu::detect()?],
            None => Cpu::available(),
        };
        Ok(Options {
            cpus,
            budget: Duration::from_millis(500),
        })
    }
}

/// A suite by name.
pub struct Suite {
    /// The name on the command line.
    pub name: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// Measures, and hands out every figure as soon as it is there.
    pub run: fn(&Options, &mut dyn FnMut(Record)),
}

/// All suites, from the ground floor up.
pub const SUITES: &[Suite] = &[
    Suite {
        name: block::SUITE,
        about: "AES-128 in three shapes, hashes, GF(2^128), transpose: core cycles a block",
        run: block::run,
    },
    Suite {
        name: garble::SUITE,
        about: "garbling and evaluating AES-128 over rows, in memory: core cycles an AND",
        run: garble::run,
    },
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
        };
        let mut seen = std::collections::HashSet::new();
        for suite in SUITES {
            (suite.run)(&options, &mut |record| {
                assert_eq!(record.suite, suite.name);
                assert!(record.value.is_finite() && record.value > 0.0, "{record:?}");
                assert!(seen.insert((record.suite, record.case, record.tier, record.metric)));
            });
        }
    }
}
