//! Crate `hw`: the command `sealane-hw`.
//!
//! | file | content |
//! |---|---|
//! | `args` | the command line |
//! | `simulate`, `timeline` | cycles of a netlist on the model of a machine; their picture |
//! | `tables`, `resources` | the tables of the FASE paper |
//! | `engines` | better engines, one and several |
//! | `netlist` | netlists from designs in Verilog, and of our own sources |
//! | `serve`, `serving` | netlists garbled for many clients; the client; meeting and failures |
//! | `bench` | the benchmarks of the paper on this CPU |
#![forbid(unsafe_code)]

mod args;
mod bench;
mod engines;
mod netlist;
mod resources;
mod serve;
mod serving;
mod simulate;
mod tables;
mod timeline;

use args::{Cli, Verb};
use sealane_block::heap::Heap;
use sealane_files::Accept;
use sealane_host::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static HEAP: Heap = Heap::new(sealane_host::out_of_memory);

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).collect();
    ExitCode::from(sealane_terminal::run(
        "sealane-hw",
        arguments,
        &signals(),
        run,
    ))
}

fn run(command: Cli) -> Result<(), Failure> {
    match command.verb {
        Verb::Simulate(args) => simulate::simulate(&args),
        Verb::Table2(args) => tables::table2(&args),
        Verb::Table4(args) => tables::table4(&args),
        Verb::Table5(args) => tables::table5(&args),
        Verb::Table6(args) => tables::table6(&args),
        Verb::Resources(args) => resources::resources(&args),
        Verb::Better(args) => engines::better(&args),
        Verb::Engines(args) => engines::engines(&args),
        Verb::Haac(args) => engines::haac(&args),
        Verb::Netlist(args) => netlist::netlist(&args.verb),
        Verb::Serve(args) => serve::serve(&args),
        Verb::Bench(args) => bench::bench(&args),
    }
}

/// The signals that ask the command to end: those that whoever started it does not have ignored, as
/// `nohup` does, where the system says so.
fn signals() -> Vec<i32> {
    let status = Path::new("/proc/self/status");
    let status = sealane_files::read_text(status, Accept::File, 1 << 16).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let is_ignored = |signal: &i32| ignored.unwrap_or(0) >> (signal - 1) & 1 == 1;
    let mut signals = vec![SIGINT, SIGTERM, SIGHUP];
    signals.retain(|signal| !is_ignored(signal));
    signals
}
