//! One suite, for those who work on Sealane: one JSON line a figure, or tables.
//!
//! ```text
//! cargo run --release -p sealane-bench --example suite -- SUITE
//!     [--only gcm,ocb3]  these parts of the suite
//!     [--quick]          no longer than it takes to see that it works
//!     [--tables]         tables, in suites that have them
//!     [--plot FILE]      bar charts as well
//!     [--peers]          in `aead`: GCM of other libraries, in the same run (`--features peers`)
//! ```
//!
//! Other libraries are built with `--features peers` alone, since they take minutes. So the suite
//! `peers` measures them here, and in the installed command only EMP.

use std::process::exit;
use std::time::Duration;

use sealane_bench::{Machine, Options, Record, SUITES, Suite, aead, peers, plot};
use sealane_files::Rights;

/// The arguments of the command line.
#[derive(Default)]
struct Args {
    suite: String,
    only: Vec<String>,
    plot: Option<String>,
    quick: bool,
    tables: bool,
    peers: bool,
}

fn main() {
    if let Err((status, what)) = parse().and_then(|args| run(&args)) {
        eprintln!("{what}");
        exit(status);
    }
}

fn libraries() -> Result<Vec<aead::Peer>, Failure> {
    let libraries = peers::libraries();
    if libraries.is_empty() {
        let hint =
            "run it with `cargo run --release -p sealane-bench --features peers --example suite`";
        return Err(misuse(format!("this build has no peers: {hint}")));
    }
    Ok(libraries)
}

/// An exit status and a message.
type Failure = (i32, String);

fn parse() -> Result<Args, Failure> {
    let mut args = Args::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| misuse(format!("{word} needs a value")))
        };
        match word.as_str() {
            "--only" => args.only.extend(value()?.split(',').map(str::to_string)),
            "--plot" => args.plot = Some(value()?),
            "--quick" => args.quick = true,
            "--tables" => args.tables = true,
            "--peers" => args.peers = true,
            _ if word.starts_with('-') || !args.suite.is_empty() => {
                return Err(misuse(format!("what is `{word}`?")));
            }
            _ => args.suite = word,
        }
    }
    Ok(args)
}

fn misuse(what: String) -> Failure {
    (2, what)
}

fn run(args: &Args) -> Result<(), Failure> {
    let name = &args.suite;
    let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
        let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        return Err(misuse(format!(
            "no suite `{name}`; there are: {}",
            names.join(", ")
        )));
    };
    if args.peers && name != aead::SUITE {
        return Err(misuse(format!(
            "`{name}` has no peers; `{}` has",
            aead::SUITE
        )));
    }
    suite.check_parts(&args.only).map_err(misuse)?;
    let notes = suite
        .left_out(&args.only)
        .map_err(|error| misuse(error.what()))?;
    notes.iter().for_each(|note| eprintln!("left out: {note}"));
    let mut options = Options::detect().map_err(|error| misuse(error.to_string()))?;
    options.again = std::env::args_os().take(1).collect();
    options.only.clone_from(&args.only);
    if args.quick {
        options.budget = Duration::ZERO;
    }

    let tables = suite.tables.filter(|_| args.tables);
    let mut records = Vec::new();
    let mut record = |record: Record| {
        if tables.is_none() {
            match serde_json::to_string(&record) {
                Ok(line) => println!("{line}"),
                Err(error) => eprintln!("{error}"),
            }
        }
        records.push(record);
    };
    let ended = match args.peers {
        true => aead::run_beside(&libraries()?, &options, &mut record).map_err(Into::into),
        false => (suite.run)(&options, &mut record),
    };
    ended.map_err(|error| (1, error.what()))?;
    if let Some(tables) = tables {
        print!("{}", tables(&records));
    }
    draw(args, suite, &records)
}

fn draw(args: &Args, suite: &Suite, records: &[Record]) -> Result<(), Failure> {
    let Some(file) = &args.plot else {
        return Ok(());
    };
    let machine = Machine::detect();
    let heading = format!("{}: {}, {}", suite.name, machine.cpu, machine.version);
    let drawn = plot::svg(&heading, &(suite.charts)(records));
    sealane_files::replace(file.as_ref(), Rights::Usual, drawn.as_bytes())
        .map_err(|error| (1, format!("cannot write {file}: {error}")))
}
