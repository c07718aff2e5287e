//! The command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use sealane_engine::{Corruption, Job, NetworkClass, ProtocolName};
use sealane_host::EXIT_CODES;
use sealane_host::progress::Shown;
use sealane_host::record::{RUNS, Recording};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run a Python function on data that stays with its owners.
#[derive(Parser)]
#[command(name = "sealane", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    /// Check types, ranges, and who learns what
    Check(Check),
    /// State protocol, steps, bytes and rounds before anything runs
    Plan(Plan),
    /// Run all parties in this process, on all inputs
    Simulate(Simulate),
    /// Run as one party with the others over the network, or all of them here with --local
    Run(Run),
    /// Open the page that a run has left, or list runs
    Report(Report),
    /// Make a key and a configuration for this party, and print its card, for the others to paste
    Init(Init),
    /// Print the card of this party again
    Card(CardArgs),
    /// Add another party by its card, list the parties, remove one
    Peer(Peer),
    /// Show CPU tier and versions, and whether every peer answers, with the right key and version
    Doctor(Doctor),
    /// Explain the code of an error or warning, or list all codes
    Explain(Explain),
    /// Prepare a table for private set intersection, and read what was found in common
    Psi(Psi),
    /// Make one file of a file or folder that only a key file or a passphrase opens
    Seal(Seal),
    /// Open what `sealane seal` has made, if nobody has changed it
    Open(Open),
    /// Make a key file for `sealane seal` and `sealane open`
    Keygen(Keygen),
    /// Look at and evaluate Boolean circuits in the Bristol formats
    Circuit(Circuit),
    /// Measure
    Bench(Bench),
}

/// Declared class of the network: part of what parties approve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Network {
    /// One building: 0.5 ms there and back, 1 Gbit/s
    Lan,
    /// Two cities: 40 ms there and back, 100 Mbit/s
    Wan,
}

/// Names on the command line, with commas between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names(pub Vec<String>);

impl From<Network> for NetworkClass {
    fn from(network: Network) -> NetworkClass {
        match network {
            Network::Lan => NetworkClass::Lan,
            Network::Wan => NetworkClass::Wan,
        }
    }
}

/// The job: a program, and how it is run.
#[derive(Args)]
pub struct JobArgs {
    /// `FILE.py`, `FILE.py:FUNCTION`, or a program in its text form, `FILE.sealane`
    pub program: String,
    /// Declared class of the network [default: lan]
    #[arg(long)]
    pub network: Option<Network>,
    /// How the parties compute [default: yao]
    #[arg(long, value_parser = protocols())]
    pub protocol: Option<ProtocolName>,
    /// Without cryptography, as the reference: the same as --protocol clear
    #[arg(long, conflicts_with = "protocol")]
    pub clear: bool,
    /// Parties beside those of the program, in order: they own nothing and learn nothing, but may
    /// compute, as in `ada,bob,cyd`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    pub helpers: Option<Names>,
}

impl JobArgs {
    /// The protocol, if the command names one.
    pub fn protocol(&self) -> Option<ProtocolName> {
        match self.clear {
            true => Some(ProtocolName::Clear),
            false => self.protocol,
        }
    }

    /// The helpers, if the command names them or says that there are none.
    pub fn helpers(&self) -> Option<&[String]> {
        self.helpers.as_ref().map(|Names(names)| names.as_slice())
    }
}

/// `sealane check`.
#[derive(Args)]
pub struct Check {
    /// `FILE.py`, `FILE.py:FUNCTION`, or `FILE.sealane`
    pub program: String,
    /// Print the text form of the program as well
    #[arg(long)]
    pub text: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane plan`.
#[derive(Args)]
pub struct Plan {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// A configuration, whose network class, protocol and helpers hold where none is named here
    /// [default: sealane.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Rows to state the cost for, such as `patients=569`, of several tables `a=100,b=1000`
    /// [default: the upper bounds]
    #[arg(long, value_name = "NAME=COUNT", value_parser = rows, value_delimiter = ',')]
    pub rows: Vec<(String, u64)>,
    /// List every step
    #[arg(long)]
    pub steps: bool,
    /// List what the protocol rests on: papers, assumptions, security levels
    #[arg(long)]
    pub papers: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane simulate`.
#[derive(Args)]
pub struct Simulate {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// Inputs: `PARTY=FILE`, or `NAME=FILE` for one input
    #[arg(long, value_name = "[NAME=]FILE")]
    pub input: Vec<String>,
    /// Write results to this `.csv`, `.parquet` or `.npy` file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What it leaves and shows.
    #[command(flatten)]
    pub traces: Traces,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane run`.
#[derive(Args)]
pub struct Run {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// The party that this process is [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
    /// This party's inputs: `FILE`, or `NAME=FILE` for one of them; with --local `PARTY=FILE`
    #[arg(long, value_name = "[NAME=]FILE")]
    pub input: Vec<String>,
    /// Who is where, with which key [default: sealane.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// This party's private key, if the configuration does not name it
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Approve the job with this hash, all of it
    #[arg(long, value_name = "HASH")]
    pub yes: Option<String>,
    /// Start every party as a process of its own on this machine, with keys made for this run
    #[arg(long, conflicts_with_all = ["party", "config", "identity"])]
    pub local: bool,
    /// Be such a process: configuration and key come by the standard input, whose end ends it
    #[arg(long, hide = true, conflicts_with_all = ["local", "config", "identity"])]
    pub handed_over: bool,
    /// How long to wait for a party that is alive and sends nothing [default: an hour]
    #[arg(long, value_name = "SECONDS", value_parser = patience)]
    pub patience: Option<Duration>,
    /// Write results to this `.csv`, `.parquet` or `.npy` file; --local adds each party's name
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What it leaves and shows.
    #[command(flatten)]
    pub traces: Traces,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What a run leaves and shows besides its results.
#[derive(Args, Clone)]
pub struct Traces {
    /// Leave the folder of the run in this one [default: runs]
    #[arg(long, value_name = "FOLDER")]
    pub runs: Option<PathBuf>,
    /// Leave no folder
    #[arg(long, conflicts_with = "runs")]
    pub no_record: bool,
    /// Show no progress
    #[arg(long)]
    pub no_progress: bool,
    /// Leave everything in this folder, as a part of the run that it belongs to
    #[arg(long, hide = true, conflicts_with_all = ["runs", "no_record"])]
    pub record_in: Option<PathBuf>,
}

impl Traces {
    /// The folder that a run of `job` leaves, if it leaves one; `configured` is what the
    /// configuration says.
    pub fn recording(&self, configured: Option<&Path>, job: &Job) -> Option<Recording> {
        if let Some(folder) = &self.record_in {
            return Recording::in_folder(folder, job);
        }
        let runs = self.runs.as_deref().or(configured);
        match self.no_record {
            true => None,
            false => Recording::begin(runs.unwrap_or(Path::new(RUNS)), job),
        }
    }

    /// What shows how far a run has come, if anything does: scripts that read JSON want none.
    pub fn progress(&self, json: bool) -> Option<fn(&str) -> Shown> {
        (!self.no_progress && !json).then_some(Shown::on_stderr)
    }
}

/// `sealane report`.
#[derive(Args)]
pub struct Report {
    /// The run: its folder, its name, or the beginning of its name [default: the latest]
    pub run: Option<String>,
    /// The folder of runs
    #[arg(long, value_name = "FOLDER", default_value = RUNS)]
    pub runs: PathBuf,
    /// List all runs
    #[arg(long, conflicts_with = "run")]
    pub list: bool,
    /// Print where the page is, and do not open it
    #[arg(long, conflicts_with = "list")]
    pub print: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane init`.
#[derive(Args)]
pub struct Init {
    /// What programs call this party: letters, digits and `_`
    pub name: String,
    /// Where the others reach this party [default: this machine's address, port 7700]
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// Where to put the private key and `sealane.toml`; existing files are never replaced
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// `sealane card`.
#[derive(Args)]
pub struct CardArgs {
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The party whose card it is [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
}

/// `sealane peer`.
#[derive(Args)]
pub struct Peer {
    /// What to do.
    #[command(subcommand)]
    pub verb: PeerVerb,
    /// The configuration [default: sealane.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// What to do with the parties of a configuration.
#[derive(Subcommand)]
pub enum PeerVerb {
    /// Pin the key and the address of a party
    Add {
        /// The card that it sent; white space within it does not matter
        #[arg(required = true)]
        card: Vec<String>,
        /// What programs call it, if that is not what it calls itself
        #[arg(long)]
        name: Option<String>,
        /// Replace the key that is pinned under this name
        #[arg(long)]
        replace: bool,
        /// What the party read to you over the telephone: if one of the thirty digits is another,
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

/// `sealane doctor`.
#[derive(Args)]
pub struct Doctor {
    /// The configuration with the peers to ask [default: sealane.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The party that asks [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
    /// Its private key, if the configuration does not name it
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// How long to wait for peers that do not answer yet, and to answer those who ask
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub wait: Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane explain`.
#[derive(Args)]
pub struct Explain {
    /// A code, such as `range-overflow`; none lists them
    pub code: Option<String>,
}

/// `sealane psi`.
#[derive(Args)]
pub struct Psi {
    /// What to do.
    #[command(subcommand)]
    pub verb: PsiVerb,
}

/// What to do for private set intersection.
#[derive(Subcommand)]
pub enum PsiVerb {
    /// Make the inputs of a program from a column of a CSV file; nothing leaves this machine
    Prepare(PsiPrepare),
    /// List the items that both have, from what the program has revealed
    Match {
        /// The result, as `--output FILE` of the run wrote it
        result: PathBuf,
        /// What `prepare` has kept at this party
        #[arg(long, value_name = "FILE", default_value = "prepared/kept.csv")]
        kept: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `sealane psi prepare`.
#[derive(Args)]
pub struct PsiPrepare {
    /// A CSV file with a header line
    pub file: PathBuf,
    /// The column that holds the items: texts, equal only if all of their bytes are
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// How the program intersects
    #[arg(long)]
    pub method: PsiMethod,
    /// Whether this party learns what is found
    #[arg(long)]
    pub side: PsiSide,
    /// Any text, the same at both parties, agreed on when the sets were there
    #[arg(long, value_name = "TEXT")]
    pub seed: String,
    /// How many items a set has at most, the same at both parties; to shuffle, the next power of two
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=sealane_psi::MAX_SIZE as u64))]
    pub size: u64,
    /// The attempt to make, and no other [default: the first that fits]
    #[arg(long, value_name = "NUMBER")]
    pub attempt: Option<u32>,
    /// Where to put the files, in place of those of an earlier attempt
    #[arg(long, value_name = "FOLDER", default_value = "prepared")]
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How a program intersects two sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PsiMethod {
    /// Merge sorted lists, compare neighbours, shuffle
    Shuffled,
    /// Compare within the bins of hash tables
    Phased,
}

/// What a party of an intersection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PsiSide {
    /// Learns what is found
    Receiver,
    /// Learns nothing
    Sender,
}

/// `sealane seal`.
#[derive(Args)]
pub struct Seal {
    /// A file, or a folder with all that is in it; it stays as it is
    pub input: PathBuf,
    /// Seal with the key in this file, which `sealane keygen` makes [default: ask for a passphrase]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The sealed file [default: the name of the input with `.sealed` behind it]
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// The mode of AES-128
    #[arg(long, default_value = "gcm")]
    pub mode: SealMode,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
    /// Show no progress
    #[arg(long)]
    pub no_progress: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How segments are sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SealMode {
    /// AES-128-GCM, which every library has
    Gcm,
    /// AES-128-OCB3, which takes one pass
    Ocb3,
}

/// `sealane open`.
#[derive(Args)]
pub struct Open {
    /// A sealed file; it stays as it is
    pub input: PathBuf,
    /// The key file that sealed it [default: ask for the passphrase]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The file or folder to make [default: the name of the input without `.sealed`]
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already; a folder is never replaced
    #[arg(long)]
    pub force: bool,
    /// Show no progress
    #[arg(long)]
    pub no_progress: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `sealane keygen`.
#[derive(Args)]
pub struct Keygen {
    /// The new file, which only its owner can read; an existing one is never replaced
    pub file: PathBuf,
}

/// `sealane circuit`.
#[derive(Args)]
pub struct Circuit {
    /// What to do.
    #[command(subcommand)]
    pub verb: CircuitVerb,
}

/// What to do with a circuit.
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

/// `sealane bench`.
#[derive(Args)]
pub struct Bench {
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

/// Every protocol by its name, with what it withstands.
fn protocols() -> impl TypedValueParser<Value = ProtocolName> {
    let value = |protocol: ProtocolName| {
        let profile = protocol.profile();
        let who = match profile.roles {
            [] => "all parties alike".to_string(),
            roles => roles.join(" and "),
        };
        let withstands = match profile.corruption {
            Corruption::None => "hides nothing: the reference".to_string(),
            Corruption::SemiHonest(most) => format!("withstands {most} semi-honest"),
            Corruption::Malicious(most) => format!("withstands {most} malicious"),
        };
        PossibleValue::new(profile.name).help(format!("{who}; {withstands}"))
    };
    let values = ProtocolName::ALL.map(value);
    PossibleValuesParser::new(values).try_map(|name| name.parse::<ProtocolName>())
}

/// `ada,bob,cyd`; nothing at all names nobody.
fn names(text: &str) -> Result<Names, std::convert::Infallible> {
    let names = text.split(',').map(|name| name.trim().to_string());
    Ok(Names(match text.trim() {
        "" => Vec::new(),
        _ => names.collect(),
    }))
}

/// A time to wait, of a day at most.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let seconds = seconds.ok_or("write seconds, at most those of a day, such as 60")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// A time to wait as a configuration has it.
fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let patience = seconds.and_then(|seconds| sealane_host::config::patience(seconds).ok());
    patience.ok_or_else(|| "write seconds, from 0.1 to those of a day, such as 3600".into())
}

fn rows(text: &str) -> Result<(String, u64), String> {
    let read = text.split_once('=').and_then(|(name, count)| {
        let count = count.trim().replace('_', "").parse().ok()?;
        Some((name.trim().to_string(), count))
    });
    read.ok_or_else(|| "write NAME=COUNT, such as patients=569; of several, a=100,b=1000".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    fn job(options: &[&str]) -> Result<JobArgs, clap::Error> {
        let command = ["sealane", "plan", "p.py"].iter().chain(options);
        match Cli::try_parse_from(command)?.verb {
            Verb::Plan(plan) => Ok(plan.job),
            _ => panic!("this is `sealane plan`"),
        }
    }

    #[test]
    fn every_protocol_can_be_named_and_no_other() {
        for protocol in ProtocolName::ALL {
            let named = job(&["--protocol", &protocol.to_string()]);
            assert_eq!(named.unwrap().protocol(), Some(protocol));
        }
        assert_eq!(job(&[]).unwrap().protocol(), None);
        let clear = job(&["--clear"]).unwrap().protocol();
        assert_eq!(clear, Some(ProtocolName::Clear));
        assert!(job(&["--clear", "--protocol", "clear"]).is_err());
        let error = job(&["--protocol", "yoa"]).err().unwrap().to_string();
        let (before, listed) = error.split_once("possible values:").unwrap();
        assert!(before.contains("'yoa'"), "{error}");
        let known = ProtocolName::ALL.map(|protocol| protocol.to_string());
        assert!(known.iter().all(|name| listed.contains(name)), "{error}");
    }

    #[test]
    fn helpers_are_named_in_order() {
        let helpers = |text| job(&["--helpers", text]).unwrap().helpers.unwrap().0;
        assert_eq!(helpers("ada,bob, cyd"), ["ada", "bob", "cyd"]);
        assert_eq!(helpers("ada,,cyd"), ["ada", "", "cyd"]);
        assert!(helpers("").is_empty());
        assert_eq!(job(&[]).unwrap().helpers(), None);
    }

    #[test]
    fn waits_have_an_end() {
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "-1", "1e9", "inf", "NaN", "soon"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rows_are_read() {
        assert_eq!(
            rows("patients=10_000"),
            Ok(("patients".to_string(), 10_000))
        );
        assert!(rows("patients").is_err() && rows("patients=many").is_err());
    }
}
