//! `sealane-hw netlist`: netlists for garbling from designs in Verilog.

use crate::args::{NetlistFormat, NetlistVerb, SourceArgs, SynthArgs};
use crate::serve;
use crate::simulate::{gates, internal};
use sealane_accel::Netlist;
use sealane_accel::formats::{Format, Width, WriteError, write};
use sealane_accel::functions::{Function, function};
use sealane_accel::paper::BENCHMARKS;
use sealane_accel::yosys::{Design, DesignError, MAP, OUTPUT, convert, script};
use sealane_diagnostic::{Code, printable};
use sealane_files::Accept;
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::{counted, grouped};
use sealane_terminal::{print_card, write_file};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Most lines of the errors of Yosys that are shown, the last ones.
const MOST_LINES: usize = 12;

/// Longest text that Yosys may write of a design.
const MOST_JSON: u64 = 1 << 30;

/// Runs a verb of `sealane-hw netlist`.
pub fn netlist(verb: &NetlistVerb) -> Result<(), Failure> {
    match verb {
        NetlistVerb::Synth(args) => synth(args),
        NetlistVerb::Source(args) => source(args),
        NetlistVerb::Run(args) => serve::run(args),
    }
}

fn synth(args: &SynthArgs) -> Result<(), Failure> {
    let design = convert(&synthesise(args)?).map_err(|error| undesigned(&error))?;
    let netlist = design.netlist().map_err(|error| {
        let hint = "make the design smaller, or share its parts over more cycles";
        refused(error.to_string(), hint)
    })?;
    keep(args.output.as_deref(), args.format, &netlist)?;
    report(args, &design, &netlist)
}

/// Writes the netlist of one of our own sources, or lists them.
fn source(args: &SourceArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        let mut card = Card::new("our own sources");
        let all = BENCHMARKS.iter().filter_map(|it| function(it.name));
        let all: Vec<Function> = all.collect();
        card.lines("functions", all.iter().map(described));
        let entry = |it: &Function| json!({ "name": it.name, "cycles": it.cycles });
        return print_card(args.json, &card, &all.iter().map(entry).collect());
    };
    let function = function(name).ok_or_else(|| {
        let what = format!("there is no function `{name}`");
        let hint = "`sealane-hw netlist source` lists all";
        Failure::new(Code::NetlistFile, what, hint)
    })?;
    let netlist = function.netlist().map_err(internal)?;
    keep(args.output.as_deref(), args.format, &netlist)?;
    let mut card = Card::new(described(&function));
    card.line("gates", gates(&netlist));
    let [_, held, own, _, fresh, other] = netlist.parts().inputs.counts();
    let bits = |once: u32, each| {
        let once = counted(once.into(), "bit");
        format!("{once} once, {each} in a cycle")
    };
    card.line("garbler", bits(held, fresh));
    card.line("evaluator", bits(own, other));
    if let Some(path) = &args.output {
        card.line("written", path.display().to_string());
    }
    let value = json!({
        "name": function.name,
        "cycles": function.cycles,
        "gates": netlist.gates().len(),
        "xors": netlist.xors(),
        "inputs": netlist.parts().inputs.counts(),
    });
    print_card(args.json, &card, &value)
}

fn described(function: &Function) -> String {
    let cycles = counted(function.cycles, "netlist cycle");
    format!("{}, {cycles}", function.name)
}

/// Writes a netlist to a file, if one is named.
fn keep(path: Option<&Path>, format: NetlistFormat, netlist: &Netlist) -> Result<(), Failure> {
    let bytes = written(netlist, format)
        .map_err(|error| refused(error.to_string(), "choose another format with --format"))?;
    path.map_or(Ok(()), |path| write_file("--output", path, &bytes))
}

/// The failure of a design, or of its netlist.
fn refused(what: impl Into<String>, hint: &str) -> Failure {
    Failure::new(Code::NetlistDesign, what, hint)
}

fn undesigned(error: &DesignError) -> Failure {
    refused(error.to_string(), error.hint())
}

/// The netlist in the format that is asked for; HSCD is narrow where its wires fit.
fn written(netlist: &Netlist, format: NetlistFormat) -> Result<Vec<u8>, WriteError> {
    let hscd = |width| write(netlist, Format::Hscd(width), &[]);
    match format {
        NetlistFormat::Scd => write(netlist, Format::Fase, &[]),
        NetlistFormat::Tinygarble => write(netlist, Format::TinyGarble, &[]),
        NetlistFormat::Hscd => match hscd(Width::Narrow) {
            Err(WriteError::TooLarge { .. }) => hscd(Width::Wide),
            other => other,
        },
    }
}

/// Runs Yosys in a folder of its own, and returns the JSON that it writes.
fn synthesise(args: &SynthArgs) -> Result<Vec<u8>, Failure> {
    let script = script(args.top.as_deref()).map_err(|error| undesigned(&error))?;
    let sources = args.sources.iter().map(|source| whole(source));
    let sources = sources.collect::<Result<Vec<PathBuf>, Failure>>()?;
    let folder = tempfile::tempdir().map_err(|error| no_folder(&error))?;
    for (name, text) in [("map.v", MAP), ("script.ys", &script)] {
        std::fs::write(folder.path().join(name), text).map_err(|error| no_folder(&error))?;
    }
    let output = Command::new(&args.yosys)
        .current_dir(folder.path())
        .args(["-q", "-s", "script.ys"])
        .args(&sources)
        .output()
        .map_err(|error| {
            let what = format!("cannot start {}", args.yosys.display());
            let hint = "install Yosys 0.23 or a later one (Debian: `apt-get install yosys`), or \
                        name its program with --yosys";
            refused(what, hint).because(error.to_string())
        })?;
    let json = sealane_files::read(&folder.path().join(OUTPUT), Accept::File, MOST_JSON);
    match (output.status.success(), json) {
        (true, Ok(json)) => Ok(json),
        _ => Err(failed(&output)),
    }
}

/// The source with its whole path: Yosys runs in another folder.
fn whole(source: &Path) -> Result<PathBuf, Failure> {
    let found = source
        .canonicalize()
        .and_then(|path| sealane_files::open(&path, Accept::File).map(|_| path));
    found.map_err(|error| {
        let what = format!("cannot read {}", source.display());
        let hint = "name files in Verilog (.v) or SystemVerilog (.sv)";
        refused(what, hint).because(error.to_string())
    })
}

fn no_folder(error: &std::io::Error) -> Failure {
    let hint = "see that the folder for temporary files, $TMPDIR or /tmp, has space";
    refused("cannot make a folder for Yosys", hint).because(error.to_string())
}

/// Yosys says on standard error what is wrong, with file and line.
fn failed(output: &Output) -> Failure {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    let said = if last.is_empty() {
        format!("it ended with {}", output.status)
    } else {
        printable(&last.join("\n"))
    };
    let hint =
        "mend the design where Yosys says; with several modules, name the top one with --top";
    refused("Yosys cannot synthesise the design", hint).because(said)
}

fn report(args: &SynthArgs, design: &Design, netlist: &Netlist) -> Result<(), Failure> {
    let ands = netlist.ands() as u64;
    let inputs = design.inputs;
    let mut card = Card::new(format!("module {}", design.top));
    card.line("gates", gates(netlist));
    card.line("ANDs", grouped(ands));
    card.line("flip-flops", grouped(netlist.flip_flops().len() as u64));
    let counts = inputs.counts();
    for (name, counts) in ["bits once", "in a cycle"]
        .into_iter()
        .zip(counts.chunks(3))
    {
        let [public, garbler, evaluator] = [counts[0], counts[1], counts[2]];
        let each =
            format!("{public} public, {garbler} of the garbler, {evaluator} of the evaluator");
        card.line(name, each);
    }
    let outputs = design.outputs.iter();
    let outputs = outputs.map(|(name, width)| format!("{name} ({width})"));
    card.line("outputs", outputs.collect::<Vec<_>>().join(", "));
    if let Some(path) = &args.output {
        card.line("written", path.display().to_string());
    }
    let value = json!({
        "top": design.top,
        "gates": netlist.gates().len(),
        "xors": netlist.xors(),
        "ands": ands,
        "flip_flops": netlist.flip_flops().len(),
        "inputs": inputs.counts(),
        "outputs": design.outputs,
    });
    print_card(args.json, &card, &value)
}
