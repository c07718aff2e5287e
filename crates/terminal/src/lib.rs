//! Crate `terminal`: a command of this project at a terminal, whatever its verbs are.
//!
//! | file | content |
//! |---|---|
//! | `arguments` | arguments that verbs of several commands take |
//! | `output` | standard output |
//! | `failures` | failures and warnings on standard error |
//! | `signals` | requests to end the command |
//! | `hidden` | a terminal without echo |
#![forbid(unsafe_code)]

pub mod arguments;
mod failures;
mod hidden;
mod output;
mod signals;

pub use failures::{print_note, print_warning};
pub use hidden::Hidden;
pub use output::{print_card, print_line, print_view, print_view_to_stderr, write_file};
pub use signals::{CancelOnSignal, exit_now, request_end};

use clap::Parser;
use sealane_host::Failure;
use std::ffi::OsString;

/// Parses the arguments of the command `name`, without that name, and runs what they ask for.
/// The `signals` ask it to end. Returns the exit status; failures are printed.
pub fn run<C: Parser>(
    name: &str,
    arguments: Vec<OsString>,
    signals: &[i32],
    run: impl FnOnce(C) -> Result<(), Failure>,
) -> u8 {
    signals::install_handler(name, signals);
    // A command line that cannot be parsed may still have asked for JSON.
    let asked = arguments.iter().take_while(|argument| *argument != "--");
    let json = asked.into_iter().any(|argument| argument == "--json");
    let named = std::iter::once(OsString::from(name)).chain(arguments);
    let command = match C::try_parse_from(named) {
        Ok(command) => command,
        Err(error) => {
            // Help and version are errors to clap as well.
            if !error.use_stderr() {
                let _ = error.print();
                return 0;
            }
            failures::print_usage_error(&error, json);
            return 2;
        }
    };
    match run(command) {
        Ok(()) => 0,
        Err(failure) => {
            failures::print_failure(&failure, json);
            failure.status()
        }
    }
}
