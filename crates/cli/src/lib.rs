//! Room `cli`: the `sealane` command.
//!
//! A verb reads its arguments, and room `host` loads the program, makes the job, meets the other
//! parties and runs it. This room has the command line, prompts, text on the terminal, signals,
//! exit statuses, and the verbs that are not runs.
//!
//! | file | content |
//! |---|---|
//! | `args` | the command line |
//! | `accel` | cycles of garbling hardware |
//! | `netlist` | netlists from designs in Verilog, and of our own sources |
//! | `serve` | netlists garbled for many clients; the client |
//! | `verbs` | check, plan, simulate, run |
//! | `local`, `handover` | every party as a process of its own |
//! | `identity`, `doctor` | keys, cards and peers; whether these answer |
//! | `reports` | the folders of past runs |
//! | `psi` | tables for private set intersection, and its results |
//! | `seal` | sealed files |
//! | `tools` | circuits |
//! | `codes`, `explain` | pages of the codes |
//! | `output`, `terminal` | standard output; failures on standard error |
//! | `signals` | requests to end the command |
#![forbid(unsafe_code)]

mod accel;
mod args;
pub mod codes;
mod doctor;
mod explain;
mod handover;
mod identity;
mod local;
mod netlist;
mod output;
mod pool;
mod psi;
mod reports;
mod seal;
mod serve;
mod signals;
mod terminal;
mod tools;
mod verbs;

use clap::Parser;
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
    signals::install_handler(&embedding.signals);
    // A command line that cannot be parsed may still have asked for JSON.
    let asked = arguments.iter().take_while(|argument| *argument != "--");
    let json = asked.into_iter().any(|argument| argument == "--json");
    let named = std::iter::once(OsString::from("sealane")).chain(arguments);
    let cli = match args::Cli::try_parse_from(named) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap as well.
            if !error.use_stderr() {
                let _ = error.print();
                return 0;
            }
            terminal::print_usage_error(&error, json);
            return 2;
        }
    };
    match verbs::run(cli.verb, embedding) {
        Ok(()) => 0,
        Err(failure) => {
            terminal::print_failure(&failure, json);
            failure.status()
        }
    }
}
