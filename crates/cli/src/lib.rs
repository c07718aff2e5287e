//! Crate `cli`: the `sealane` command.
//!
//! A verb reads its arguments, and crate `host` loads the program, makes the job, meets the other
//! parties and runs it. Crate `terminal` has text on the terminal and signals. This crate has the
//! command line, prompts, and the verbs that are not runs.
//!
//! | file | content |
//! |---|---|
//! | `args` | the command line |
//! | `verbs` | check, plan, simulate, run |
//! | `local`, `handover` | every party as a process of its own |
//! | `identity`, `doctor` | keys, cards and peers; whether these answer |
//! | `reports` | the folders of past runs |
//! | `psi` | tables for private set intersection, and its results |
//! | `seal` | sealed files |
//! | `tools` | circuits |
//! | `codes`, `explain` | pages of the codes |
#![forbid(unsafe_code)]

mod args;
pub mod codes;
mod doctor;
mod explain;
mod handover;
mod identity;
mod local;
mod pool;
mod psi;
mod reports;
mod seal;
mod tools;
mod verbs;

use sealane_host::ProgramLoader;
use std::ffi::OsString;

/// Services of the program that embeds the command.
pub struct Embedding<'a> {
    /// Loads programs that are not in the text form.
    pub loader: &'a dyn ProgramLoader,
    /// How to start this command once more: the program and its leading arguments.
    pub command: Vec<OsString>,
    /// Numbers of the signals that ask the command to end: those that whoever started it does not
    /// have ignored, as `nohup` does.
    pub signals: Vec<i32>,
}

/// Runs the command with its arguments, without the name of the command. Returns the exit status.
pub fn main(arguments: Vec<OsString>, embedding: &Embedding<'_>) -> u8 {
    let run = |cli: args::Cli| verbs::run(cli.verb, embedding);
    sealane_terminal::run("sealane", arguments, &embedding.signals, run)
}
