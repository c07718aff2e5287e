//! Arguments of the verbs that work on files: private set intersection and sealed files.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `sealane psi`.
#[derive(Args)]
pub struct PsiArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: PsiVerb,
}

/// Verbs of `sealane psi`.
#[derive(Subcommand)]
pub enum PsiVerb {
    /// Make the inputs of a program from a column of a CSV file; nothing leaves this machine
    Prepare(PsiPrepareArgs),
    /// List the items that both have, from what the program has revealed
    Match {
        /// The result, as `--output FILE` of the run wrote it
        result: PathBuf,
        /// State that `prepare` has kept at this party
        #[arg(long, value_name = "FILE", default_value = "prepared/kept.csv")]
        kept: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `sealane psi prepare`.
#[derive(Args)]
pub struct PsiPrepareArgs {
    /// A CSV file with a header line
    pub file: PathBuf,
    /// The column that holds the items: texts, equal only if all of their bytes are
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// How the program intersects
    #[arg(long)]
    pub method: PsiMethod,
    /// Side of this party: whether it learns the matches
    #[arg(long)]
    pub side: PsiSide,
    /// Any text, the same at both parties, agreed on when the sets were there
    #[arg(long, value_name = "TEXT")]
    pub seed: String,
    /// Most items of a set, the same at both parties; to shuffle, the next power of two
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

/// Method of an intersection of two sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PsiMethod {
    /// Merge sorted lists, compare neighbours, shuffle
    Shuffled,
    /// Compare within the bins of hash tables
    Phased,
}

/// Side of a party in an intersection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PsiSide {
    /// Learns what is found
    Receiver,
    /// Learns nothing
    Sender,
}

/// Arguments of `sealane seal`.
#[derive(Args)]
pub struct SealArgs {
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

/// Mode of AES-128 for sealed files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SealMode {
    /// AES-128-GCM, which every library has
    Gcm,
    /// AES-128-OCB3, which takes one pass
    Ocb3,
}

/// Arguments of `sealane open`.
#[derive(Args)]
pub struct OpenArgs {
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

/// Arguments of `sealane keygen`.
#[derive(Args)]
pub struct KeygenArgs {
    /// The new file, which only its owner can read; an existing one is never replaced
    pub file: PathBuf,
}
