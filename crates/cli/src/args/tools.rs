//! Arguments of the verbs that need no program and no peer.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `sealane explain`.
#[derive(Args)]
pub struct ExplainArgs {
    /// A code, such as `range-overflow`; none lists them
    pub code: Option<String>,
}

/// Arguments of `sealane circuit`.
#[derive(Args)]
pub struct CircuitArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: CircuitVerb,
}

/// Verbs of `sealane circuit`.
#[derive(Subcommand)]
pub enum CircuitVerb {
    /// Print wires, gates, ANDs, XORs and depth
    Info {
        /// A circuit in a Bristol format, recognised from its content
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Evaluate in the clear; the first wire of a value is its least significant bit
    Eval {
        /// A circuit in a Bristol format, recognised from its content
        file: PathBuf,
        /// A value in hex, one for each input in order
        #[arg(long = "in", value_name = "0xHEX")]
        inputs: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `sealane bench`.
#[derive(Args)]
pub struct BenchArgs {
    /// Which suite; none lists them
    pub suite: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Measure no longer than it takes to see that the suite works
    #[arg(long)]
    pub quick: bool,
    /// Measure these parts of the suite only, such as modes of `aead`
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// In a checkout: measure other libraries beside `aead`; here, say how
    #[arg(long)]
    pub peers: bool,
    /// Draw bar charts into an SVG file as well
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
