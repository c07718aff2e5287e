//! Arguments of `sealane-hw serve`, and of `sealane-hw netlist run`, its client.

use clap::{Args, ValueEnum};
use sealane_parties::NetworkClass;
use sealane_serve::device::{MOST_BUILT, MOST_CLIENTS};
use sealane_terminal::arguments::{PartyArgs, seconds};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `sealane-hw serve`.
#[derive(Args)]
pub struct ServeArgs {
    /// A netlist in SCD or HSCD, or a folder of files `NAME.scd` and `NAME.hscd`
    pub path: PathBuf,
    /// This party's bits as hexadecimal bytes in a file, perhaps behind `cycles COUNT`, the netlist
    /// cycles of a session [default: the file `NAME.input` beside the netlist, if there is one]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// The device that garbles
    #[arg(long, default_value = "cpu")]
    pub device: ServeDevice,
    /// The machine of `--device model` and `--device rtl` [default: fase]
    #[arg(long)]
    pub machine: Option<ServeMachine>,
    /// Engines of `--machine 1a3x`, which share the memory [default: 1]
    #[arg(long, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_BUILT)))]
    pub engines: Option<u32>,
    /// The bench of the hardware, for `--device rtl`, built for machine and scheme: `make -C
    /// hardware/rtl` with `fase`, `mi`, `banked`, `banked_mi`, `two` or `two_mi`
    #[arg(long, value_name = "PROGRAM", required_if_eq("device", "rtl"))]
    pub bench: Option<PathBuf>,
    /// The garbling scheme, which clients have to state alike
    #[arg(long, default_value = "mi")]
    pub scheme: ServeScheme,
    /// Most clients at the same time
    #[arg(long, value_name = "COUNT", default_value = "32",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CLIENTS)))]
    pub clients: u32,
    /// End after so many sessions that ended well [default: serve until Ctrl-C]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub sessions: Option<u64>,
    /// Most sessions of each client, however they end: each tells it more of this party's bits
    /// [default: no bound]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub sessions_each: Option<u64>,
    /// Most ANDs under a key of the hash, if fewer than the scheme allows
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub most_ands: Option<u64>,
    /// How long to wait for a client that is there and sends nothing
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub patience: Duration,
    /// This party and how it meets others.
    #[command(flatten)]
    pub side: SideArgs,
}

/// Arguments of `sealane-hw netlist run`.
#[derive(Args)]
pub struct NetlistRunArgs {
    /// The netlist in SCD or HSCD, the same as at the server
    pub netlist: PathBuf,
    /// The party that serves it
    #[arg(long, value_name = "PARTY")]
    pub with: String,
    /// This party's bits as hexadecimal bytes in a file, perhaps behind `cycles COUNT`, the netlist
    /// cycles of the session [default: no bits, one cycle]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// The garbling scheme of the server
    #[arg(long, default_value = "mi")]
    pub scheme: ServeScheme,
    /// Print what the session takes, and the hash of the job, and end
    #[arg(long)]
    pub plan: bool,
    /// This party and how it meets others.
    #[command(flatten)]
    pub side: SideArgs,
}

/// The party of this command, and its network.
#[derive(Args)]
pub struct SideArgs {
    /// The party.
    #[command(flatten)]
    pub own: PartyArgs,
    /// The declared network [default: of the configuration, or lan]
    #[arg(long)]
    pub network: Option<NetworkClass>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A garbling device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ServeDevice {
    /// The garbler of this CPU
    Cpu,
    /// The same with the clock cycles of a machine
    Model,
    /// The hardware of rtl/ under Verilator
    Rtl,
}

/// A machine of rtl/.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ServeMachine {
    /// FASE's machine
    Fase,
    /// The better engine: an AND and three XORs a cycle
    #[value(name = "1a3x")]
    Banked,
}

/// A scheme that devices garble under.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ServeScheme {
    /// An AES key for each half of each gate
    Mi,
    /// One AES key for all gates of a session
    Prp,
}
