//! Arguments of the verbs that set up parties and check them.

use clap::{Args, Subcommand};
use sealane_parties::NetworkClass;
use sealane_terminal::arguments::{PartyArgs, seconds};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `sealane init`.
#[derive(Args)]
pub struct InitArgs {
    /// Name of this party in programs: letters, digits and `_`
    pub name: String,
    /// Where the others reach this party [default: this machine's address, port 7700]
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// Where to put the private key and `sealane.toml`; existing files are never replaced
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// Arguments of `sealane card`.
#[derive(Args)]
pub struct CardArgs {
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The party whose card it is [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
}

/// Arguments of `sealane peer`.
#[derive(Args)]
pub struct PeerArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PeerVerb,
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// Verbs of `sealane peer`.
#[derive(Subcommand)]
pub enum PeerVerb {
    /// Pin the key and the address of a party
    Add {
        /// The card that it sent; white space within it does not matter
        #[arg(required = true)]
        card: Vec<String>,
        /// Name in programs, if it is another than on the card
        #[arg(long)]
        name: Option<String>,
        /// Replace the key that is pinned under this name
        #[arg(long)]
        replace: bool,
        /// Digits that the party read to you over the telephone: if one of the thirty is another,
        /// nothing is pinned
        #[arg(long, value_name = "DIGITS", value_parser = crate::identity::whole_fingerprint)]
        fingerprint: Option<String>,
    },
    /// List all parties with addresses and fingerprints
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a party out
    Remove {
        /// Its name
        name: String,
    },
}

/// Arguments of `sealane doctor`.
#[derive(Args)]
pub struct DoctorArgs {
    /// The party that asks the peers of its configuration.
    #[command(flatten)]
    pub own: PartyArgs,
    /// How long to wait for peers that do not answer yet, and to answer those who ask
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub wait: Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane pool`.
#[derive(Args)]
pub struct PoolArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PoolVerb,
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// The party whose pools they are [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY", global = true)]
    pub party: Option<String>,
    /// Its private key, if the configuration does not name it
    #[arg(long, value_name = "FILE", global = true)]
    pub identity: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// Verbs of `sealane pool`.
#[derive(Subcommand)]
pub enum PoolVerb {
    /// Make oblivious transfers with another party, which calls this at the same time
    Fill {
        /// The other party
        #[arg(long, value_name = "PARTY")]
        with: String,
        /// How many to make that each party receives; `sealane plan --pool` states what a run takes
        #[arg(long, value_name = "COUNT", default_value = "1000000",
              value_parser = clap::value_parser!(u64).range(1..=MOST_TRANSFERS))]
        transfers: u64,
        /// Stay, and make so many again whenever fewer than COUNT are left; both parties do
        #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=MOST_TRANSFERS))]
        keep: Option<u64>,
        /// The one party that receives: under `yao` the one that evaluates [default: either]
        #[arg(long, value_name = "PARTY")]
        evaluator: Option<String>,
        /// The declared network, by which they are made [default: of the configuration, or lan]
        #[arg(long)]
        network: Option<NetworkClass>,
        /// Show no progress
        #[arg(long)]
        no_progress: bool,
    },
    /// Show what there is, with every other party
    Show,
    /// Remove what there is with another party; the other party forgets its part at the next fill
    Drop {
        /// The other party
        #[arg(long, value_name = "PARTY")]
        with: String,
    },
}

/// Most transfers of one fill, for which a file of 500 GB holds the sender's part.
const MOST_TRANSFERS: u64 = 1 << 34;
