//! Verbs that need no program and no peer: `circuit`, `bench`.

use crate::Embedding;
use crate::args::{BenchArgs, CircuitVerb};
use sealane_bench::{Machine, Options, Record, SUITES, Suite, SuiteError, aead, plot};
use sealane_circuit::bristol::{self, CircuitFile, Format};
use sealane_diagnostic::{Code, printable};
use sealane_engine::EngineError;
use sealane_files::Accept;
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::{counted, grouped};
use sealane_terminal::{print_card, print_line, write_file};
use serde::Serialize;
use serde_json::json;
use std::io::{Write, stderr};
use std::path::Path;
use std::time::Duration;

/// Longest file of a circuit, some four million gates.
const MOST_BYTES: u64 = 1 << 26;

/// Prints the sizes of a circuit, or its outputs.
pub fn circuit(verb: &CircuitVerb) -> Result<(), Failure> {
    match verb {
        CircuitVerb::Info { file, json } => circuit_info(file, *json),
        CircuitVerb::Eval { file, inputs, json } => {
            let circuit = read(file)?.circuit;
            let outputs = sealane_circuit::eval_hex(&circuit, inputs).map_err(|error| {
                let widths = circuit
                    .input_widths()
                    .iter()
                    .map(|width| counted(*width as u64, "bit"));
                let widths = widths.collect::<Vec<_>>().join(", ");
                let hint = format!("its inputs have {widths}");
                Failure::new(Code::CircuitValue, error.to_string(), hint)
            })?;
            if *json {
                return print_line(json!({ "outputs": outputs }));
            }
            outputs.iter().try_for_each(print_line)
        }
    }
}

fn circuit_info(path: &Path, json: bool) -> Result<(), Failure> {
    let file = read(path)?;
    let (info, inputs, outputs) = (
        file.info,
        file.circuit.input_widths(),
        file.circuit.output_widths(),
    );
    let mut card = Card::new(path.display().to_string());
    let counts = [
        ("wires", info.wires),
        ("gates", info.gates),
        ("ANDs", info.ands),
        ("XORs", info.xors),
        ("depth", info.depth),
    ];
    let format = match file.format {
        Format::Bristol => "Bristol",
        Format::BristolFashion => "Bristol Fashion",
    };
    card.line("format", format);
    counts
        .iter()
        .for_each(|(label, count)| card.line(label, grouped(*count)));
    let widths = |widths: &[usize]| match widths {
        [1] => "1 bit".to_string(),
        _ => {
            let widths = widths.iter().map(usize::to_string);
            format!("{} bits", widths.collect::<Vec<_>>().join(", "))
        }
    };
    card.line("inputs", widths(inputs));
    card.line("outputs", widths(&outputs));
    let value = json!({
        "format": format,
        "wires": info.wires,
        "gates": info.gates,
        "ands": info.ands,
        "xors": info.xors,
        "depth": info.depth,
        "inputs": inputs,
        "outputs": outputs,
    });
    print_card(json, &card, &value)
}

fn read(path: &Path) -> Result<CircuitFile, Failure> {
    let shown = path.display();
    let text = sealane_files::read_text(path, Accept::FileOrPipe, MOST_BYTES).map_err(|error| {
        let what = format!("cannot read {shown}");
        Failure::new(Code::CircuitFile, what, "name a text file").because(error.to_string())
    })?;
    bristol::read(&text).map_err(|error| {
        let hint = "Bristol Fashion and the older Bristol format are known";
        Failure::new(Code::CircuitFile, format!("{shown}: {error}"), hint)
    })
}

/// Runs a suite of benchmarks, or all of them, or lists them.
pub fn bench(args: &BenchArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let Some(name) = args.suite.as_deref() else {
        let mut card = Card::new("sealane bench SUITE");
        SUITES
            .iter()
            .for_each(|suite| card.line(suite.name, suite.about));
        card.line("all", "every one of these");
        return print_line(card);
    };
    let chosen = SUITES
        .iter()
        .filter(|suite| name == "all" || name == suite.name);
    let chosen = chosen.collect::<Vec<_>>();
    if chosen.is_empty() {
        let known = SUITES
            .iter()
            .map(|suite| suite.name)
            .chain(["all"])
            .collect::<Vec<_>>();
        let hint = format!("there are: {}", known.join(", "));
        let what = format!("there is no suite `{name}`");
        return Err(Failure::new(Code::UnknownSuite, what, hint));
    }
    if args.peers {
        return Err(no_peers(name));
    }
    for suite in &chosen {
        check_parts(suite, &args.only)?;
    }
    let mut options = Options::detect().map_err(|error| {
        let hint = "unset SEALANE_TIER to measure every tier";
        Failure::new(Code::CpuTier, error.to_string(), hint)
    })?;
    options.command.clone_from(&embedding.command);
    if !embedding.command.is_empty() {
        options.again = [&embedding.command[..], &["bench".into()]].concat();
    }
    options.only.clone_from(&args.only);
    if args.quick {
        options.budget = Duration::ZERO;
    }
    let machine = Machine::detect();
    let mut charts = Vec::new();
    for suite in chosen {
        match suite.left_out(&args.only) {
            Ok(notes) => notes.iter().for_each(|note| print_note("left out", note)),
            Err(error) if name == "all" => {
                print_note("left out", &error.what());
                continue;
            }
            Err(error) => return Err(failed(error)),
        }
        let (mut printed, mut records) = (Ok(()), Vec::new());
        let tables = suite.tables.filter(|_| !args.json);
        let ended = (suite.run)(&options, &mut |record| {
            if printed.is_ok() && tables.is_none() {
                printed = print_record(args, &machine, &record);
            }
            records.push(record);
        });
        printed?;
        ended.map_err(failed)?;
        if let Some(tables) = tables {
            print_line(tables(&records).trim_end())?;
        }
        charts.extend((suite.charts)(&records));
    }
    let Some(file) = &args.plot else {
        return Ok(());
    };
    let heading = format!("sealane bench {name}: {}, {}", machine.cpu, machine.version);
    let drawn = plot::svg(&heading, &charts);
    write_file("--plot", file, drawn.as_bytes())
}

/// Prints a note to standard error, apart from the figures.
fn print_note(what: &str, note: &str) {
    let _ = writeln!(stderr(), "{what}: {}", printable(note));
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

/// Refuses parts that the suite does not have.
fn check_parts(suite: &Suite, only: &[String]) -> Result<(), Failure> {
    let hint = "leave `--only` out to measure all of it";
    let checked = suite.check_parts(only);
    checked.map_err(|what| Failure::new(Code::UnknownPart, what, hint))
}

/// Refusal of `--peers`: the peers are dependencies of a feature of room `bench`, so that none of
/// them is in a build for users.
fn no_peers(suite: &str) -> Failure {
    if suite != aead::SUITE {
        let hint = format!("leave `--peers` out, or measure `{}`", aead::SUITE);
        let what = format!("nothing of others is measured beside `{suite}`");
        return Failure::new(Code::NoPeers, what, hint);
    }
    let hint = "in a checkout: `cargo run --release -p sealane-bench --features peers --example \
                suite -- aead --peers --tables`";
    let what = "this command is built without the libraries to compare with";
    Failure::new(Code::NoPeers, what, hint)
}

/// Prints a line of a table, or JSON with the data that reproduce the record.
fn print_record(args: &BenchArgs, machine: &Machine, record: &Record) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(flatten)]
        record: &'a Record,
        #[serde(flatten)]
        machine: &'a Machine,
        command: String,
    }
    if args.json {
        let quick = if args.quick { " --quick" } else { "" };
        let only = match &args.only[..] {
            [] => String::new(),
            parts => format!(" --only {}", parts.join(",")),
        };
        let suite = record.suite;
        let command = format!("sealane bench {suite} --json{quick}{only}");
        let line = serde_json::to_string(&Line {
            record,
            machine,
            command,
        });
        return print_line(line.map_err(|error| EngineError::internal(error.to_string()))?);
    }
    let Record {
        case,
        tier,
        metric,
        value,
        unit,
        ..
    } = record;
    print_line(format!(
        "{case:<32} {tier:<9} {metric:<28} {value:>14.3} {unit}"
    ))
}
