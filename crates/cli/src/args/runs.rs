//! Arguments of the verbs that work on programs and on the records of runs.

use super::{JobArgs, patience, rows};
use clap::Args;
use sealane_engine::Job;
use sealane_host::progress::ProgressDisplay;
use sealane_host::record::{RUNS, Recording};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `sealane check`.
#[derive(Args)]
pub struct CheckArgs {
    /// `FILE.py`, `FILE.py:FUNCTION`, or `FILE.sealane`
    pub program: String,
    /// Print the text form of the program as well
    #[arg(long)]
    pub text: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane plan`.
#[derive(Args)]
pub struct PlanArgs {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// A configuration, whose network class, protocol, security and helpers hold where none is
    /// named here [default: sealane.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Rows to state the cost for, such as `patients=569`, of several tables `a=100,b=1000`
    /// [default: the upper bounds]
    #[arg(long, value_name = "NAME=COUNT", value_parser = rows, value_delimiter = ',')]
    pub rows: Vec<(String, u64)>,
    /// Take oblivious transfers from the pool that `sealane pool fill` made; part of the job
    #[arg(long)]
    pub pool: bool,
    /// Compare all protocols that can run the program, side by side
    #[arg(long, conflicts_with_all = ["steps", "levels", "references", "export"])]
    pub compare: bool,
    /// List the steps of this line of the source, with what the run would cost if they were
    /// computed on other shares
    #[arg(long, value_name = "LINE", conflicts_with_all = ["compare", "steps", "levels", "references", "export"])]
    pub why: Option<u32>,
    /// List every step
    #[arg(long)]
    pub steps: bool,
    /// List the steps by level: those of a level do not wait for each other, and share messages
    #[arg(long)]
    pub levels: bool,
    /// List what a run at these rows rests on: references, assumptions, security levels
    #[arg(long, conflicts_with_all = ["steps", "levels", "export"])]
    pub references: bool,
    /// Write the text of the job, which its hashes cover, to files in this folder
    #[arg(long, value_name = "FOLDER")]
    pub export: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane simulate`.
#[derive(Args)]
pub struct SimulateArgs {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// Inputs: `PARTY=FILE`, or `NAME=FILE` for one input
    #[arg(long, value_name = "[NAME=]FILE")]
    pub input: Vec<String>,
    /// Write results to this `.csv`, `.parquet` or `.npy` file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Record and progress.
    #[command(flatten)]
    pub record: RecordArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sealane run`.
#[derive(Args)]
pub struct RunArgs {
    /// The job.
    #[command(flatten)]
    pub job: JobArgs,
    /// The party that this process is [default: the one that the configuration says]
    #[arg(long = "as", value_name = "PARTY")]
    pub party: Option<String>,
    /// This party's inputs: `FILE`, or `NAME=FILE` for one of them; with --local `PARTY=FILE`
    #[arg(long, value_name = "[NAME=]FILE")]
    pub input: Vec<String>,
    /// File with the addresses and keys of all parties [default: sealane.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// This party's private key, if the configuration does not name it
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Approve the job with this hash, all of it
    #[arg(long, value_name = "HASH")]
    pub yes: Option<String>,
    /// Take oblivious transfers from the pool that `sealane pool fill` made; part of the job
    #[arg(long, conflicts_with_all = ["local", "handed_over"])]
    pub pool: bool,
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
    /// Record and progress.
    #[command(flatten)]
    pub record: RecordArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Record and progress of a run.
#[derive(Args, Clone)]
pub struct RecordArgs {
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

impl RecordArgs {
    /// Returns the folder that a run of `job` leaves, if it leaves one: `configured` is the folder
    /// that the configuration names, `notes` are about the numbers of the program.
    pub fn recording(
        &self,
        configured: Option<&Path>,
        job: &Job,
        notes: &[String],
    ) -> Option<Recording> {
        if let Some(folder) = &self.record_in {
            return Recording::in_folder(folder, job, notes);
        }
        let runs = self.runs.as_deref().or(configured);
        if self.no_record {
            None
        } else {
            Recording::begin(runs.unwrap_or(Path::new(RUNS)), job, notes)
        }
    }

    /// Returns the display of progress, if there is one: scripts that read JSON want none.
    pub fn progress(&self, json: bool) -> Option<fn(&str) -> ProgressDisplay> {
        (!self.no_progress && !json).then_some(ProgressDisplay::on_stderr)
    }
}

/// Arguments of `sealane report`.
#[derive(Args)]
pub struct ReportArgs {
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
