//! Crate `hw-fuzz`: fuzzing of the formats of netlists, of served clients, and of devices.
//!
//! Crate `fuzz-harness` says what a target is, and `fuzz/README.md` what each compares.

#![forbid(unsafe_code)]

mod netlists;
mod served;

use sealane_fuzz_harness::{Fuzzer, Target, target};

/// All targets.
#[rustfmt::skip] // One target a line.
pub const TARGETS: &[Target] = &[
    target("netlist", netlists::netlist, netlists::WORDS, 4000),
    target("served", served::messages, &[], 2000),
    target("served-input", served::input, served::WORDS, 2000),
    target("device", served::records, &[], 2000),
];

/// The program of these targets.
pub const FUZZER: Fuzzer = Fuzzer {
    folder: env!("CARGO_MANIFEST_DIR"),
    targets: TARGETS,
    seeds: served::seeds,
};
