//! Room `cli`: the `sealane` command, and what the Python binding shares with it.
//!
//! A verb reads its arguments, loads a program, makes a job and hands it to the engine; what is
//! here is only what a person meets: arguments, configuration, approval, tables, JSON, exit status.
//!
//! | file | what it does |
//! |---|---|
//! | `args` | the command line |
//! | `program` | programs by file: text form here, Python through [`ProgramLoader`] |
//! | `config`, `meet` | who is where; the mesh of a run |
//! | `identity`, `doctor` | keys, cards and peers; whether these answer |
//! | `approve` | `--yes`, the prompt, the refusal |
//! | `inputs`, `results` | files to and from parties |
//! | `local`, `handover` | every party as a process of its own |
//! | `signals` | requests to end, by whoever has started the command |
//! | `view`, `part` | tables and JSON |
//! | `session` | runs with what they leave and show |
//! | `record`, `reports` | the folder of a run, and how to look at it again |
//! | `progress` | how far a run has come |
//! | `psi` | tables for private set intersection, and what was found |
//! | `seal` | sealed files |
//! | `codes` | every code, with who has to act and a title |
//! | `explain` | the page of a code |
//! | `failure`, `terminal` | what went wrong, and the exit status |
#![forbid(unsafe_code)]

mod approve;
mod args;
pub mod codes;
pub mod config;
mod doctor;
mod explain;
mod failure;
mod handover;
mod identity;
mod inputs;
mod local;
pub mod meet;
mod part;
mod program;
mod progress;
mod psi;
mod record;
mod reports;
pub mod results;
mod seal;
mod session;
mod signals;
mod terminal;
mod tools;
mod verbs;
pub mod view;

pub use approve::approved;
pub use failure::Failure;
pub use program::{Loaded, ProgramLoader, notes};
pub use progress::{Line, Shown};
pub use record::{RUNS, Recording};
pub use session::{meet_and_run, simulate};
pub use verbs::rows;

use clap::Parser;
use std::ffi::OsString;

/// What the command needs from whoever embeds it.
pub struct Host<'a> {
    /// Loads programs that are not in the text form.
    pub loader: &'a dyn ProgramLoader,
    /// How to start this command once more: the program and its leading arguments.
    pub command: Vec<OsString>,
}

/// Runs the command with its arguments, without the name of the command. Returns the exit status.
pub fn main(arguments: Vec<OsString>, host: &Host<'_>) -> u8 {
    // A command line that cannot be read may still have asked for JSON.
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
            terminal::show_misuse(&error, json);
            return 2;
        }
    };
    signals::handle();
    match verbs::run(cli.verb, host) {
        Ok(()) => 0,
        Err(failure) => {
            terminal::show(&failure, json);
            failure.status()
        }
    }
}
