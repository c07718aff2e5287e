//! Arguments of the verbs about models of machines.

use clap::{Args, ValueEnum};
use sealane_accel::engine::{Engine, MOST_CLIENTS, MOST_ENGINES};
use sealane_accel::fase::Variant;
use sealane_accel::scratchpad::MOST_PLACES;
use std::path::PathBuf;

/// Arguments of `sealane-hw better`.
#[derive(Args)]
pub struct BetterArgs {
    /// The folder of the authors' netlists, one folder each, with its `n.scd`; our own sources if
    /// none is named
    pub folder: Option<PathBuf>,
    /// Clients that garble the same netlist and take turns
    #[arg(long, value_name = "COUNT", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CLIENTS)))]
    pub clients: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane-hw engines`.
#[derive(Args)]
pub struct EnginesArgs {
    /// Programs, all if none is named
    #[arg(value_name = "PROGRAM", value_parser = sealane_accel::functions::PROGRAMS)]
    pub programs: Vec<String>,
    /// Keys that the scratchpad holds, of 16 bytes each
    #[arg(long, value_name = "KEYS", default_value = "65536",
          value_parser = clap::value_parser!(u32).range(3..=i64::from(MOST_PLACES)))]
    pub scratchpad: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane-hw haac`.
#[derive(Args)]
pub struct HaacArgs {
    /// Programs, all if none is named
    #[arg(value_name = "PROGRAM", value_parser = sealane_accel::functions::PROGRAMS)]
    pub programs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane-hw resources`.
#[derive(Args)]
pub struct ResourcesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane-hw simulate`.
#[derive(Args)]
pub struct SimulateArgs {
    /// A netlist in SCD or HSCD, recognised from its content
    pub netlist: PathBuf,
    /// The machine
    #[arg(long, default_value = "fase")]
    pub machine: ModelName,
    /// The order in which gates are issued
    #[arg(long, default_value = "file")]
    pub order: OrderName,
    /// Netlist cycles of the run
    #[arg(long, value_name = "COUNT", default_value = "1",
          value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub cycles: u64,
    /// Engines that share the memory; other than those of FASE
    #[arg(long, value_name = "COUNT", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ENGINES)))]
    pub engines: u32,
    /// Clients that garble the same netlist and take turns; on engines other than those of FASE
    #[arg(long, value_name = "COUNT", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CLIENTS)))]
    pub clients: u32,
    /// Draw the pipeline over time into an SVG file as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the verbs that print a table.
#[derive(Args)]
pub struct TableArgs {
    /// The folder of the authors' netlists, one folder each, with its `n.scd`
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A machine by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ModelName {
    /// FASE with the optimisation of its memory: one write can wait
    Fase,
    /// FASE without it
    FaseNoopt,
    /// A key memory with two ports for reading and two for writing
    #[value(name = "2r2w")]
    Ports,
    /// The same with a unit for XOR beside the pipeline of AND
    #[value(name = "1a1x")]
    OneXor,
    /// Three units for XOR beside the pipeline, and keys in eight banks
    #[value(name = "1a3x")]
    Banked,
    /// Four units for XOR beside the pipeline, and keys in eight banks
    #[value(name = "1a4x")]
    FourXor,
    /// Six units for XOR beside the pipeline, and keys in sixteen banks
    #[value(name = "1a6x")]
    SixXor,
}

impl ModelName {
    /// The variant of FASE, or the better engine.
    pub fn model(self, engines: u32, clients: u32) -> Result<Variant, Engine> {
        let engine = match self {
            ModelName::Fase => return Ok(Variant::Queued),
            ModelName::FaseNoopt => return Ok(Variant::Plain),
            ModelName::Ports => Engine::PORTS,
            ModelName::OneXor => Engine::ONE_XOR,
            ModelName::Banked => Engine::BANKED,
            ModelName::FourXor => Engine::FOUR_XOR,
            ModelName::SixXor => Engine::SIX_XOR,
        };
        Err(Engine {
            engines,
            clients,
            ..engine
        })
    }
}

/// An order by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OrderName {
    /// As in the file
    File,
    /// By weighted fan-out, as in the paper
    Paper,
    /// The best of many list schedules inside the model of the machine
    Ours,
}
