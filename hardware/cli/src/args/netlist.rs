//! Arguments of `sealane-hw netlist`.

use super::NetlistRunArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `sealane-hw netlist`.
#[derive(Args)]
pub struct NetlistArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: NetlistVerb,
}

/// Verbs of `sealane-hw netlist`.
#[derive(Subcommand)]
pub enum NetlistVerb {
    /// Make a netlist of a design in Verilog, with Yosys and few ANDs
    Synth(SynthArgs),
    /// Write the netlist of one of our own sources, or list them
    Source(SourceArgs),
    /// Evaluate a netlist that another party serves, and learn its outputs
    Run(NetlistRunArgs),
}

/// Arguments of `sealane-hw netlist source`.
#[derive(Args)]
pub struct SourceArgs {
    /// The function, as in the tables of `sealane-hw`; without it, all are listed
    pub name: Option<String>,
    /// Write the netlist to this file
    #[arg(long, short, value_name = "FILE", requires = "name")]
    pub output: Option<PathBuf>,
    /// The format of the file
    #[arg(long, default_value = "scd")]
    pub format: NetlistFormat,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane-hw netlist synth`.
#[derive(Args)]
pub struct SynthArgs {
    /// Files in Verilog or SystemVerilog
    #[arg(required = true)]
    pub sources: Vec<PathBuf>,
    /// The top module [default: the one that no other contains]
    #[arg(long, value_name = "MODULE")]
    pub top: Option<String>,
    /// Write the netlist to this file; without it, only its sizes are printed
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format of the file
    #[arg(long, default_value = "scd")]
    pub format: NetlistFormat,
    /// The program of Yosys
    #[arg(long, value_name = "PROGRAM", default_value = "yosys")]
    pub yosys: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A format of netlists that have flip-flops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum NetlistFormat {
    /// SCD of FASE
    Scd,
    /// SCD of TinyGarble
    Tinygarble,
    /// HSCD, wide where its wires do not fit 13 bits
    Hscd,
}
