//! The configuration file: parties with their addresses and keys, and the way in which they
//! compute.
//!
//! ```toml
//! me = "hospital"                    # the party that reads this file
//! identity = "hospital.key"          # its private key, beside this file
//! network = "lan"                    # or "wan", "20ms/100Mbps"; as the approved job declares
//! protocol = "yao"                   # how the parties compute
//! security = "semi-honest"           # what the protocol has to withstand
//! helpers = ["ada"]                  # parties beside those of the program, in order
//! runs = "runs"                      # where the folders of runs go
//!
//! [parties.hospital]
//! address = "10.0.0.1:7700"
//! key = "ed25519:..."
//!
//! [parties.lab]
//! address = "lab.example:7700"
//! key = "ed25519:..."
//!
//! pool_port = 7701                   # where it meets others to fill pools
//!
//! [limits]
//! timeout_s = 30                     # longest silence of a party
//! wait_s = 600                       # how long this party waits for the others to start
//! patience_s = 3600                  # how long it waits for one that is alive and sends nothing
//! ```
//!
//! The same file serves all parties if each gives its name and its `identity` on the command line,
//! or the latter in its own table. Unknown keys are refused, so that a misspelt one is not silently
//! ignored.

mod edit;
mod read;

pub use edit::{Change, Editor};

use crate::Failure;
use sealane_diagnostic::Code;
use sealane_engine::{Asked, ProtocolChoice};
use sealane_files::Accept;
use sealane_identity::PublicKey;
use sealane_net::Endpoint;
use sealane_parties::NetworkClass;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the configuration file that is read if the command names none.
pub const DEFAULT_FILE: &str = "sealane.toml";

/// Longest configuration: enough for thousands of parties.
pub const MOST_BYTES: u64 = 1 << 20;

#[derive(Default)]
/// Configuration that was read and checked.
pub struct Config {
    /// Parties by name.
    pub parties: BTreeMap<String, Party>,
    /// Party that reads this file, if the file names it.
    pub me: Option<String>,
    /// Private key of that party, if the file names one for all.
    pub identity: Option<PathBuf>,
    /// Protocol, if the file names one.
    pub protocol: Option<ProtocolChoice>,
    /// Security that is asked of the protocol, if the file says so, and where.
    pub security: Option<Asked>,
    /// Folder in which runs leave their records, if the file names one.
    pub runs: Option<PathBuf>,
    /// Folder of the pools of this party: `pools` beside the file.
    pub pools: PathBuf,
    /// Declared class of the network, if the file states one.
    pub network: Option<NetworkClass>,
    /// Helpers, if the file lists any.
    pub helpers: Option<Vec<String>>,
    /// Longest silence of a party before a run ends.
    pub timeout: Option<Duration>,
    /// How long this party waits for the others to start; by default the longest silence.
    pub wait: Option<Duration>,
    /// How long this party waits for what a party that is alive is to send or to take in.
    pub patience: Option<Duration>,
}

#[derive(Clone)]
/// Party of a configuration.
pub struct Party {
    /// Address as `host:port` at which the others reach it.
    pub address: String,
    /// Address as `host:port` at which it listens, if that is another.
    pub listen: Option<String>,
    /// Port at which it meets others to fill pools, if that is another.
    pub pool_port: Option<NonZero<u16>>,
    /// Public key that it has to prove to hold.
    pub key: PublicKey,
    /// File of its private key, at the party itself.
    pub identity: Option<PathBuf>,
}

impl Party {
    /// Where this party, of that name, is reached.
    pub fn endpoint(&self, name: &str) -> Endpoint {
        Endpoint {
            name: name.to_string(),
            address: self.address.clone(),
            key: self.key,
        }
    }

    /// The addresses at which others reach it, and at which it listens if that is another, to fill
    /// pools.
    pub fn for_pools(&self) -> (String, Option<String>) {
        let at = |address: &String| match (self.pool_port, address.rsplit_once(':')) {
            (Some(port), Some((host, _))) => format!("{host}:{port}"),
            _ => address.clone(),
        };
        (at(&self.address), self.listen.as_ref().map(at))
    }
}

impl Config {
    /// Reads the file. Paths in it are relative to its folder.
    ///
    /// The file cannot be read, or its text is wrong: the error has line and column.
    /// With line and column, where the text is wrong.
    pub fn load(path: &Path) -> Result<Config, Failure> {
        Ok(read::config(path, &text(path)?)?)
    }

    /// Parses a text that is not in a file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn from_text(text: &str) -> Result<Config, Failure> {
        Ok(read::config(Path::new(DEFAULT_FILE), text)?)
    }

    /// Reads the file that is named, else `sealane.toml` of this folder.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn find(named: Option<&Path>) -> Result<Config, Failure> {
        Config::load(named.unwrap_or(Path::new(DEFAULT_FILE)))
    }

    /// Reads the file that is named, else `sealane.toml` of this folder if there is one.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn find_if_any(named: Option<&Path>) -> Result<Option<Config>, Failure> {
        match named {
            None if !Path::new(DEFAULT_FILE).exists() => Ok(None),
            named => Config::find(named).map(Some),
        }
    }
}

/// Checks the patience that a call states, in seconds.
///
/// # Errors
/// It is out of the bounds of times in a configuration.
pub fn patience(seconds: f64) -> Result<Duration, Failure> {
    if read::TIMES_S.contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        let what = format!("timeout={seconds} is not between 0.1 seconds and a day");
        let hint = "write a number of seconds, such as 3600";
        Err(Failure::new(Code::ConfigTimeout, what, hint))
    }
}

/// Reads the text of a configuration.
fn text(path: &Path) -> Result<String, Failure> {
    sealane_files::read_text(path, Accept::File, MOST_BYTES).map_err(|error| {
        let message = format!("cannot read the configuration {}", path.display());
        let hint = "make one with `sealane init NAME`, or name one with `--config`";
        Failure::new(Code::ConfigUnreadable, message, hint).because(error.to_string())
    })
}
