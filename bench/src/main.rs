//! The program `sealane-bench`: measures suites, and prints lines, tables, JSON or charts.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use sealane_bench::plot::{self, Chart};
use sealane_bench::{Figures, MachineRecord, Options, Record, aead, peers};
use sealane_bench::{SUITES, Suite, SuiteError};
use sealane_diagnostic::{Code, printable};
use sealane_engine::EngineError;
use sealane_host::{EXIT_CODES, Failure};
use sealane_page::Card;
use sealane_terminal::{print_line, write_file};

/// Measure Sealane on this machine.
#[derive(Parser)]
#[command(name = "sealane-bench", version, after_help = EXIT_CODES)]
struct Args {
    /// Which suite, or `all`; none lists them
    suite: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// Measure no longer than it takes to see that the suite works
    #[arg(long)]
    quick: bool,
    /// Measure these parts of the suite only, such as modes of `aead`
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<String>,
    /// Measure other libraries beside `aead`, in a build with the feature `peers`
    #[arg(long)]
    peers: bool,
    /// Draw bar charts into an SVG file as well
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// The command whose runs the suite `e2e` measures
    #[arg(long, value_name = "PROGRAM", default_value = "sealane")]
    sealane: OsString,
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).collect();
    let run = |args: Args| run(&args);
    ExitCode::from(sealane_terminal::run("sealane-bench", arguments, &[], run))
}

/// Measures a suite, or all of them, or lists them.
fn run(args: &Args) -> Result<(), Failure> {
    let Some(name) = args.suite.as_deref() else {
        return print_line(list());
    };
    let chosen = chosen(args, name)?;
    let options = options(args)?;
    let machine = MachineRecord::detect();
    let mut charts = Vec::new();
    for suite in chosen {
        match suite.left_out(&args.only) {
            Ok(notes) => notes.iter().for_each(|note| print_note(note)),
            Err(error) if name == "all" => {
                print_note(&error.what());
                continue;
            }
            Err(error) => return Err(failed(error)),
        }
        charts.extend(measure(args, suite, &options, &machine)?);
    }
    let Some(file) = &args.plot else {
        return Ok(());
    };
    let heading = format!("sealane-bench {name}: {}, {}", machine.cpu, machine.version);
    write_file("--plot", file, plot::svg(&heading, &charts).as_bytes())
}

/// The suites, each with what it measures.
fn list() -> Card {
    let mut card = Card::new("sealane-bench SUITE");
    for suite in SUITES {
        card.line(suite.name, suite.about);
    }
    card.line("all", "every one of these");
    card
}

/// The suites of a name, which have what the arguments ask for.
fn chosen(args: &Args, name: &str) -> Result<Vec<&'static Suite>, Failure> {
    let named = |suite: &&Suite| name == "all" || name == suite.name;
    let chosen: Vec<&Suite> = SUITES.iter().filter(named).collect();
    if chosen.is_empty() {
        let known = SUITES.iter().map(|suite| suite.name).chain(["all"]);
        let hint = format!("there are: {}", known.collect::<Vec<_>>().join(", "));
        let what = format!("there is no suite `{name}`");
        return Err(Failure::new(Code::UnknownSuite, what, hint));
    }
    if args.peers && name != aead::SUITE {
        let hint = format!("leave `--peers` out, or measure `{}`", aead::SUITE);
        let what = format!("nothing of others is measured beside `{name}`");
        return Err(Failure::new(Code::NoPeers, what, hint));
    }
    if args.peers && peers::libraries().is_empty() {
        let hint = "in a checkout: `cargo run --release -p sealane-bench --features peers -- aead \
                    --peers`";
        let what = "this program is built without the libraries to compare with";
        return Err(Failure::new(Code::NoPeers, what, hint));
    }
    for suite in &chosen {
        suite.check_parts(&args.only).map_err(|what| {
            let hint = "leave `--only` out to measure all of it";
            Failure::new(Code::UnknownPart, what, hint)
        })?;
    }
    Ok(chosen)
}

fn options(args: &Args) -> Result<Options, Failure> {
    let mut options = Options::detect().map_err(|error| {
        let hint = "unset SEALANE_TIER to measure every tier";
        Failure::new(Code::CpuTier, error.to_string(), hint)
    })?;
    options.command = vec![args.sealane.clone()];
    options.again = std::env::current_exe()
        .into_iter()
        .map(OsString::from)
        .collect();
    options.only.clone_from(&args.only);
    if args.quick {
        options.budget = Duration::ZERO;
    }
    Ok(options)
}

/// Measures a suite and prints its figures: each as soon as it is there, or all as tables. Returns
/// their charts.
fn measure(
    args: &Args,
    suite: &Suite,
    options: &Options,
    machine: &MachineRecord,
) -> Result<Vec<Chart>, Failure> {
    let (mut printed, mut records) = (Ok(()), Vec::new());
    let tables = suite.has_tables && !args.json;
    let mut record = |record: Record| {
        if printed.is_ok() && !tables {
            printed = print_record(args, machine, &record);
        }
        records.push(record);
    };
    let ended = if args.peers {
        let mut figures = Figures::new(suite.name, &mut record);
        aead::run_beside(&peers::libraries(), options, &mut figures)
    } else {
        suite.measure(options, &mut record)
    };
    printed?;
    ended.map_err(failed)?;
    let view = (suite.view)(&records);
    if tables {
        print_line(view.text.trim_end())?;
    }
    Ok(view.charts)
}

/// Prints a note on what a suite leaves out to standard error, apart from the figures.
fn print_note(note: &str) {
    let _ = writeln!(stderr(), "left out: {}", printable(note));
}

/// The failure of a suite.
fn failed(error: SuiteError) -> Failure {
    match error {
        SuiteError::Peer(what) => {
            let hint = "`sealane explain no-peers` says what can be measured beside ours, and how";
            Failure::new(Code::NoPeers, what, hint)
        }
        SuiteError::Failed(what) => EngineError::internal(what).into(),
    }
}

/// Prints a line of a table, or JSON with the data that reproduce the record.
fn print_record(args: &Args, machine: &MachineRecord, record: &Record) -> Result<(), Failure> {
    if !args.json {
        return print_line(record);
    }
    let quick = if args.quick { " --quick" } else { "" };
    let only = match &args.only[..] {
        [] => String::new(),
        parts => format!(" --only {}", parts.join(",")),
    };
    let command = format!("sealane-bench {} --json{quick}{only}", record.suite);
    let line = record.json(machine, command);
    print_line(line.map_err(|error| EngineError::internal(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_testkit::page;

    /// The refusal of a command line.
    fn refused(words: &[&str]) -> String {
        let args = Args::parse_from(["sealane-bench"].iter().chain(words));
        run(&args).expect_err("a refusal").finding().to_string()
    }

    #[test]
    fn pages_show_what_is_refused() {
        page::shows("unknown-suite", &refused(&["aes"]));
        page::shows("unknown-part", &refused(&["block", "--only", "gcm"]));
        if peers::libraries().is_empty() {
            page::shows("no-peers", &refused(&["aead", "--peers"]));
        }
        let beside = refused(&["block", "--peers"]);
        assert!(beside.contains("leave `--peers` out, or measure `aead`"));
    }

    #[test]
    fn suites_are_listed() {
        let listed = list().to_string();
        assert!(listed.contains("every one of these"));
        assert!(SUITES.iter().all(|suite| listed.contains(suite.name)));
    }
}
