//! Arguments of `sealane accel`.

use clap::{Args, Subcommand, ValueEnum};
use sealane_accel::fase::Variant;
use std::path::PathBuf;

/// Arguments of `sealane accel`.
#[derive(Args)]
pub struct AccelArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: AccelVerb,
}

/// Verbs of `sealane accel`.
#[derive(Subcommand)]
pub enum AccelVerb {
    /// Count the cycles that garbling a netlist takes, and say where they go
    Simulate(AccelSimulateArgs),
    /// Print the paper's Table II, gates and netlist cycles, beside those of the files
    Table2(AccelTableArgs),
    /// Print the paper's Table IV, garbling cycles, beside those of the model and of our order
    Table4(AccelTableArgs),
    /// Print the paper's Table VI, cycles of whole runs, beside those of the model
    Table6(AccelTableArgs),
}

/// Arguments of `sealane accel simulate`.
#[derive(Args)]
pub struct AccelSimulateArgs {
    /// A netlist in SCD or HSCD, recognised from its content
    pub netlist: PathBuf,
    /// The machine
    #[arg(long, default_value = "fase")]
    pub machine: AccelMachine,
    /// The order in which gates are issued
    #[arg(long, default_value = "file")]
    pub order: AccelOrder,
    /// Netlist cycles of the run
    #[arg(long, value_name = "COUNT", default_value = "1",
          value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub cycles: u64,
    /// Draw the pipeline over time into an SVG file as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the verbs that print a table.
#[derive(Args)]
pub struct AccelTableArgs {
    /// The folder of the authors' netlists, one folder each, with its `n.scd`
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A machine by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AccelMachine {
    /// FASE with the optimisation of its memory: one write can wait
    Fase,
    /// FASE without it
    FaseNoopt,
}

impl From<AccelMachine> for Variant {
    fn from(machine: AccelMachine) -> Variant {
        match machine {
            AccelMachine::Fase => Variant::Queued,
            AccelMachine::FaseNoopt => Variant::Plain,
        }
    }
}

/// An order by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AccelOrder {
    /// As in the file
    File,
    /// By weighted fan-out, as in the paper
    Paper,
    /// The best of many list schedules inside the model of the machine
    Ours,
}
