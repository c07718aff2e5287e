//! Crate `fuzz`: fuzzing of every parser and every message of a peer.
//!
//! Crate `fuzz-harness` says what a target is. The same table serves the smoke run of `cargo run -p
//! sealane-fuzz`, which mutates a small corpus by a fixed seed, and libFuzzer (`tools/fuzz.sh`),
//! which is guided by coverage.
//!
//! `README.md` lists the checks of each target, and the bounds on its input.

#![forbid(unsafe_code)]

mod arrow;
mod auth;
mod batches;
mod circuits;
mod decimals;
mod files;
mod guarded;
mod pools;
mod programs;
mod proofs;
mod roles;
mod runs;
mod script;
mod sealed;
mod seeds;
mod sessions;
mod settings;
mod transfers;
mod wire;

use sealane_fuzz_harness::{Fuzzer, Target, target};

/// All targets.
#[rustfmt::skip] // One target a line.
pub const TARGETS: &[Target] = &[
    target("bristol", circuits::bristol, circuits::WORDS, 4000),
    target("program", programs::program, programs::WORDS, 4000),
    target("plan", programs::plan, programs::WORDS, 1000),
    target("grow", programs::grow, &[], 60),
    target("type", programs::type_name, &["u", "i", ".wrapping"], 2000),
    target("decimal", decimals::decimal, decimals::WORDS, 2000),
    target("csv", files::csv, files::CSV, 1000),
    target("npy", files::npy, files::NPY, 1000),
    target("parquet", files::parquet, &["PAR1"], 600),
    target("arrow", arrow::arrow, &[], 4000),
    target("config", settings::config, settings::WORDS, 1500),
    target("card", settings::card, settings::CARD, 2000),
    target("aead", batches::batches, &[], 400),
    target("sealed", sealed::sealed, sealed::WORDS, 4000),
    target("frames", wire::frames, &[], 2000),
    target("hello", wire::hello, &["SEALANE\n"], 2000),
    target("key", wire::key, &["ed25519:", "0", "f"], 500),
    target("control", wire::control, &[], 2000),
    target("recording", wire::recording, &["SEALREC\u{1}", "<", ">"], 2000),
    target("mesh", wire::mesh_of_two, &[], 1000),
    target("shown", wire::shown, &["\u{202e}", "\u{1b}[31m", "\u{e0041}"], 2000),
    target("run-folder", runs::folder, runs::WORDS, 1000),
    target("clear-run", sessions::clear, &[], 300),
    target("yao-run", sessions::yao, &[], 60),
    target("trio-run", sessions::trio, &[], 300),
    target("yao-roles", roles::yao, &[], 200),
    target("yao-outside", roles::yao_outside, &[], 200),
    target("trio-roles", roles::trio, &[], 300),
    target("guarded-run", sessions::guarded, &[], 300),
    target("guarded-roles", guarded::guarded, &[], 600),
    target("auth-roles", auth::auth, &[], 150),
    target("proof", proofs::proof, &[], 1000),
    target("ot-softspoken", transfers::softspoken, &[], 300),
    target("ot-ferret", transfers::ferret, &[], 1500),
    target("ot-forms", transfers::forms, &[], 2000),
    target("ot-many", transfers::many, &[], 100),
    target("ot-products", transfers::products, &[], 250),
    target("pool-fill", pools::fill, &[], 60),
    target("pool-offer", pools::offer, &[], 4000),
    target("pool-state", pools::state, &[], 4000),
];

/// The program of these targets.
pub const FUZZER: Fuzzer = Fuzzer {
    folder: env!("CARGO_MANIFEST_DIR"),
    targets: TARGETS,
    seeds: seeds::all,
};
