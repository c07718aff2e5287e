//! Suite `e2e`: whole runs between two operating-system processes over TLS on loopback, started
//! through the `sealane` command on the examples of the repository, as a user would.
//!
//! Seconds are those of the report: from the end of the handshake to the last result, base OTs and
//! the slower party included. A run whose payload or rounds are not the planned ones is an error,
//! so no figure comes from a faulty run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use sealane_block::cpu::TIER_VARIABLE;
use serde_json::Value;

use crate::{Figures, Options, SuiteError};

/// Runs of each case, of which the fastest counts.
const RUNS: usize = 3;

/// One case: its name, its program, and `PARTY=FILE` for each party.
struct Case {
    name: String,
    program: &'static str,
    inputs: [String; 2],
}

/// Runs every case on the fastest of the tiers.
///
/// # Errors
/// There is no command to run, this is not the root of the repository, or a run failed.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    if options.command.is_empty() {
        return Err("the suite e2e needs the `sealane` command".into());
    }
    let cpu = options.best()?;
    let folder = tempfile::tempdir()?;
    let (runs, blocks) = if options.quick() {
        (1, &[100][..])
    } else {
        (RUNS, &[100, 10_000][..])
    };
    for case in cases(folder.path(), blocks)? {
        let mut best = f64::INFINITY;
        let mut report = Value::Null;
        for _ in 0..runs {
            report = run_once(&options.command, cpu.tier().name(), &case)?;
            best = best.min(number(&report, "seconds")?);
        }
        let payload = report["payload_bytes"].as_object();
        let payload = payload.ok_or("a report without payload")?;
        let payload = payload.values().filter_map(Value::as_f64).sum();
        let ands = number(&report, "ands")?;
        let of_case = [
            ("seconds", best, "s"),
            ("million_ands_per_s", ands / best / 1e6, "million/s"),
            ("ands", ands, "gates"),
            ("payload_bytes", payload, "bytes"),
            ("rounds", number(&report, "rounds")?, "rounds"),
        ];
        figures.on(cpu).add(&case.name, &of_case);
    }
    Ok(())
}

/// The cases, on the examples and on files in `folder`, with so many blocks of AES.
fn cases(folder: &Path, blocks: &[u32]) -> Result<Vec<Case>, SuiteError> {
    let examples = Path::new("examples");
    if !examples.join("hospital/program.py").is_file() {
        let what = "the suite e2e runs the examples: start it in the root of the repository";
        return Err(what.into());
    }
    let mut cases = vec![Case {
        name: "hospital/569/tls".to_string(),
        program: "examples/hospital/program.py",
        inputs: ["hospital", "lab"].map(|party| format!("{party}=examples/hospital/{party}.csv")),
    }];
    for count in blocks {
        let file = folder.join(format!("{count}.csv"));
        fs::write(&file, blocks_csv(*count))?;
        cases.push(Case {
            name: format!("aes128/{count}/tls"),
            program: "examples/aes128/program.py",
            inputs: [
                "keeper=examples/aes128/keeper.csv".to_string(),
                format!("client={}", file.display()),
            ],
        });
    }
    Ok(cases)
}

/// Blocks that count upwards, one a line: AES makes no difference between blocks.
fn blocks_csv(count: u32) -> String {
    let columns = (0..16).map(|i| format!("b{i}")).collect::<Vec<_>>();
    let mut text = columns.join(",");
    for block in 0..u128::from(count) {
        let cells = block.to_be_bytes().map(|byte| byte.to_string());
        let _ = write!(text, "\n{}", cells.join(","));
    }
    text + "\n"
}

/// One run with a process for each party; its report.
fn run_once(command: &[OsString], tier: &str, case: &Case) -> Result<Value, String> {
    let mut run = Command::new(&command[0]);
    run.args(&command[1..])
        .args(["run", case.program, "--local", "--json"]);
    run.args(case.inputs.iter().flat_map(|input| ["--input", input]));
    run.env(TIER_VARIABLE, tier).stdin(Stdio::null());
    let output = run.output().map_err(|error| {
        let program = command[0].display();
        format!("cannot start {program}: {error}; name the command with `--sealane`")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed: {}", case.name, said.trim_end()));
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the report of {}: {error}", case.name))?;
    if report["as_planned"] != true {
        return Err(format!("{} did not keep its plan", case.name));
    }
    Ok(report)
}

fn number(report: &Value, key: &str) -> Result<f64, String> {
    let value = report[key].as_f64();
    value.ok_or_else(|| format!("a report without `{key}`"))
}
