//! The command line: smoke run, and tools for a finding.
//!
//! ```text
//! cargo run -p sealane-fuzz -- smoke               every target: corpus, long inputs, mutations
//! cargo run -p sealane-fuzz -- smoke --seed 7 csv  one target from another seed
//! cargo run -p sealane-fuzz -- replay csv FILE     one input; panics as the target does
//! cargo run -p sealane-fuzz -- seeds               writes the seeds that the code itself makes
//! ```

use crate::child::{self, Finding, Tally};
use crate::corpus::{self, minimise};
use crate::{Fuzzer, Target};
use clap::{Parser, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest time for one target; a target that takes longer hangs on the current input.
const MOST_TIME: Duration = Duration::from_secs(600);
/// Address space of a child in KiB: enough for threads and their stacks, far too little for a
/// forged length. Beyond it the child's allocator aborts it.
const ADDRESS_SPACE_KIB: u64 = 4 << 20;
/// Most children that are started to minimise a finding.
const TRIES: usize = 100;

#[derive(Parser)]
#[command(about = "Fuzz targets of Sealane")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Names all targets
    List,
    /// Runs targets, each in a process of its own
    Smoke {
        /// Which; all if none is named
        targets: Vec<String>,
        /// Where the mutations start
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many times the usual number of mutations
        #[arg(long, default_value_t = 1)]
        times: u32,
    },
    /// Runs a target in this process
    #[command(hide = true)]
    Child {
        target: String,
        seed: u64,
        mutations: u32,
        in_hand: PathBuf,
    },
    /// Runs one input
    Replay { target: String, file: PathBuf },
    /// Writes the seeds that the code itself makes into the corpora
    Seeds,
}

impl Fuzzer {
    /// Does what the command line of this process asks for.
    pub fn main(&self) -> ExitCode {
        match Arguments::parse().verb {
            Verb::List => {
                let names = self.targets.iter().map(|target| target.name);
                names.for_each(|name| println!("{name}"));
            }
            Verb::Smoke {
                targets,
                seed,
                times,
            } => return self.smoke(&targets, seed, times),
            Verb::Child {
                target,
                seed,
                mutations,
                in_hand,
            } => {
                let target = self.named(&target);
                let corpus = self.corpus(target.name);
                let result = child::run(target, &corpus, seed, mutations, &in_hand);
                return self.report(target, result);
            }
            Verb::Replay { target, file } => {
                let input = fs::read(&file).expect("the file can be read");
                let verdict = (self.named(&target).run)(&input);
                println!("{}", verdict.map_or("Refused", |_| "Accepted"));
            }
            Verb::Seeds => self.write_seeds(),
        }
        ExitCode::SUCCESS
    }

    fn named(&self, name: &str) -> &'static Target {
        let target = self.targets.iter().find(|target| target.name == name);
        target.unwrap_or_else(|| panic!("there is no target `{name}`; `list` names them"))
    }

    /// Writes the seeds that the code itself makes into the corpora.
    fn write_seeds(&self) {
        for (target, name, bytes) in (self.seeds)() {
            let folder = self.corpus(target);
            fs::create_dir_all(&folder).expect("a folder that can be made");
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    fn smoke(&self, names: &[String], seed: u64, times: u32) -> ExitCode {
        let named = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
        let folder = tempfile::tempdir().expect("a folder for the input in hand");
        let in_hand = folder.path().join("input");
        let mut failed = 0;
        for target in self.targets.iter().filter(|target| named(target.name)) {
            let mutations = target.smoke.saturating_mul(times);
            let arguments = [target.name, &seed.to_string(), &mutations.to_string()];
            let mut child = start("child", &arguments, &in_hand, Stdio::inherit());
            match end(&mut child) {
                Some(status) if status.success() => continue,
                // The child has reported it itself.
                Some(status) if status.code() == Some(FOUND) => {}
                status => {
                    let found = died(target, status, &in_hand, folder.path());
                    self.report(target, Err(found));
                }
            }
            failed += 1;
        }
        if failed > 0 {
            println!("{failed} targets have findings");
            return ExitCode::FAILURE;
        }
        ExitCode::SUCCESS
    }

    fn report(&self, target: &Target, result: Result<Tally, Finding>) -> ExitCode {
        let name = target.name;
        match result {
            Ok(tally) => {
                let (inputs, accepted) = (tally.inputs, tally.accepted);
                let (ms, mib) = (tally.slowest_ns / 1_000_000, tally.peak_bytes >> 20);
                println!(
                    "{name:<14} {inputs:>6} inputs, {accepted:>6} accepted, slowest {ms:>5} ms, {mib:>4} MiB"
                );
                ExitCode::SUCCESS
            }
            Err(Finding {
                input,
                what,
                origin,
            }) => {
                println!("{name}: FOUND ({origin}): {what}");
                let hex = hex::encode(&input[..input.len().min(512)]);
                println!("{} bytes: {hex}", input.len());
                match corpus::add(&self.corpus(name), "found", &input) {
                    Ok(path) => println!("kept in {}", path.display()),
                    Err(error) => println!("it cannot be kept: {error}"),
                }
                ExitCode::from(FOUND as u8)
            }
        }
    }
}

/// Exit status of a child that has reported its finding.
const FOUND: i32 = 1;

/// Starts this program once more, with bounded address space where the shell can bound it.
fn start(verb: &str, arguments: &[&str], file: &Path, output: Stdio) -> Child {
    let me = std::env::current_exe().expect("the path of this program");
    let bounded = format!("ulimit -v {ADDRESS_SPACE_KIB} 2>/dev/null; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &bounded])
        .arg(me)
        .arg(verb)
        .args(arguments)
        .arg(file)
        .stdout(output)
        .spawn()
        .expect("a child")
}

/// Waits for the end of a child; none if it had to be stopped.
fn end(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + MOST_TIME;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("the child can be asked") {
            return Some(status);
        }
        sleep(Duration::from_millis(10));
    }
    let stopped = child.kill().and_then(|()| child.wait());
    stopped.expect("the child can be stopped");
    None
}

/// Makes the finding of a child that ended without a report: its last input.
fn died(target: &Target, status: Option<ExitStatus>, in_hand: &Path, folder: &Path) -> Finding {
    let input = fs::read(in_hand).unwrap_or_default();
    let (what, small) = match status {
        None => {
            let what = format!("does not end within {} s", MOST_TIME.as_secs());
            (what, input)
        }
        Some(status) => {
            let file = folder.join("smaller");
            let dies = |input: &[u8]| {
                fs::write(&file, input).expect("an input");
                let mut child = start("replay", &[target.name], &file, Stdio::null());
                end(&mut child).is_none_or(|status| !status.success())
            };
            let what = format!("ends the process: {status}");
            (what, minimise(&input, TRIES, dies))
        }
    };
    Finding::new(small, what, "the last input of the run".to_string())
}
