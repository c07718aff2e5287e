//! The command line.
//!
//! | file | verbs |
//! |---|---|
//! | `models` | simulate, table2 to table6, resources, better, engines, haac |
//! | `netlist` | netlist |
//! | `serve` | serve, netlist run |

mod models;
mod netlist;
mod serve;

pub use models::{
    BetterArgs, EnginesArgs, HaacArgs, OrderName, ResourcesArgs, SimulateArgs, TableArgs,
};
pub use netlist::{NetlistArgs, NetlistFormat, NetlistVerb, SourceArgs, SynthArgs};
pub use serve::{NetlistRunArgs, ServeArgs, ServeDevice, ServeMachine, ServeScheme, SideArgs};

use clap::{Args, Parser, Subcommand};
use sealane_host::EXIT_CODES;
use std::path::PathBuf;

/// Garbling hardware, after the FASE accelerator: models, netlists, servers of netlists.
#[derive(Parser)]
#[command(name = "sealane-hw", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Verbs of the command.
#[derive(Subcommand)]
pub enum Verb {
    /// Count the cycles that garbling a netlist takes, and say where they go
    Simulate(SimulateArgs),
    /// Print the paper's Table II, gates and netlist cycles, beside those of the files and of our
    /// own sources
    Table2(TableArgs),
    /// Print the paper's Table IV, garbling cycles, beside those of the model and of our order
    Table4(TableArgs),
    /// Print the paper's Table V, FASE beside earlier accelerators, and ours
    Table5(TableArgs),
    /// Print the paper's Table VI, cycles of whole runs, beside those of the model
    Table6(TableArgs),
    /// Print the paper's Table III, what the hardware takes on an FPGA, beside that of
    /// `hardware/rtl`
    Resources(ResourcesArgs),
    /// Count the cycles of each benchmark on the better engines, with the bounds
    Better(BetterArgs),
    /// Count the cycles and the traffic of whole programs on 1, 2, 4 and 8 engines that share a
    /// scratchpad
    Engines(EnginesArgs),
    /// Print the figures of HAAC beside ours: whole programs on several engines at 1 GHz, over one
    /// core of this machine, which is measured
    Haac(HaacArgs),
    /// Make netlists for garbling from designs in Verilog, and run them with a server
    Netlist(NetlistArgs),
    /// Garble netlists for many clients, on a device of choice
    Serve(ServeArgs),
    /// Measure the benchmarks of the FASE accelerator on this CPU
    Bench(BenchArgs),
}

/// Arguments of `sealane-hw bench`.
#[derive(Args)]
pub struct BenchArgs {
    /// The folder of the authors' netlists, one folder each, with its `n.scd`, to measure these as
    /// well as our own sources
    pub folder: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Measure no longer than it takes to see that it works
    #[arg(long)]
    pub quick: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
