//! `sealane run --local`: every party is a separate process on this machine, with a key made for
//! this run, over mutual TLS on loopback. The parties share nothing but the machine.
//!
//! No party outlives the command, however that ends, and no key is in a file (`handover.rs`).

use crate::args::RunArgs;
use crate::verbs::job;
use crate::{Embedding, handover};
use sealane_diagnostic::Code;
use sealane_engine::{EngineError, Job};
use sealane_host::Failure;
use sealane_host::approve::approved;
use sealane_host::session::cancelled;
use sealane_host::{inputs, results};
use sealane_identity::Identity;
use sealane_net::{Cancel, free_loopback_port};
use sealane_terminal::CancelOnSignal;
use sealane_terminal::print_line;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time for the others to end once one party has failed.
const GRACE: Duration = Duration::from_secs(3);

/// Interval between two looks at the processes.
const POLL: Duration = Duration::from_millis(10);

/// Starts all parties and waits for them.
///
/// # Errors
/// The first party that failed for a reason of its own, else any that failed.
pub fn run(args: &RunArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let (job, notes) = job(&args.job, None, false, embedding)?;
    if let Some(yes) = &args.yes {
        approved(&job, yes)?;
    }
    let sources = inputs::by_party(job.program(), job.helpers(), &args.input)?;
    inputs::need_files(job.program(), &sources)?;
    let names = job.parties();
    let marks = results::marks(names.iter().map(|name| Some(name.as_str())));
    let of_mark = |mark: &String| Some(results::marked(args.output.as_deref()?, mark));
    let outputs = marks.iter().map(of_mark).collect::<Vec<_>>();
    for (party, output) in (0..).zip(&outputs) {
        results::check(job.program(), Some(party), output.as_deref(), &sources)?;
    }
    let (config, identities) = configuration(&job)?;
    let widths = names.iter().map(|name| name.chars().count());
    let width = widths.max().unwrap_or(0);
    let work = CancelOnSignal::begin();
    let recording = args.record.recording(None, &job, &notes);
    let mut parties = Running(Vec::new());
    let each = names.iter().zip(&sources).zip(&identities).zip(&outputs);
    for (((name, sources), identity), output) in each {
        let mut command = Command::new(&embedding.command[0]);
        command.args(&embedding.command[1..]);
        command.args(["run", &args.job.program, "--as", name]);
        let (protocol, hash) = (job.protocol().to_string(), job.hash());
        command.args(["--protocol", &protocol, "--yes", &hash]);
        command
            .args(["--network", &job.network().to_string()])
            .arg("--handed-over");
        if let Some(patience) = args.patience {
            command.args(["--patience", &patience.as_secs_f64().to_string()]);
        }
        if !job.helpers().is_empty() {
            command.args(["--helpers", &job.helpers().join(",")]);
        }
        command.args(inputs::arguments(sources));
        if let Some(output) = output {
            command.arg("--output").arg(output);
        }
        match &recording {
            Some(all) => command.arg("--record-in").arg(all.party_folder(name)),
            None => command.arg("--no-record"),
        };
        if args.record.no_progress {
            command.arg("--no-progress");
        }
        if args.json {
            command.arg("--json");
        }
        let shown = format!("{name:<width$}");
        let mut party = PartyProcess::start(name, &shown, command, args.json, work.cancel())?;
        if let Some(lead) = &mut party.lead {
            // A party that has ended already reports the reason itself.
            let _ = handover::send(lead, &config, identity);
        }
        parties.0.push(Some(party));
    }
    let parties = wait(parties, work.cancel());
    if let Some(recording) = &recording {
        recording.end(&job);
    }
    if work.cancel().is_cancelled() {
        return Err(cancelled(recording.as_ref()));
    }
    let parties = parties?;
    if args.json {
        return print_line(merge_reports(&job, &parties)?);
    }
    Ok(())
}

/// Creates the configuration of all parties, and the private key of each. The ports are free now.
/// Another process may take one before its party does, which that party reports.
fn configuration(job: &Job) -> Result<(String, Vec<Identity>), Failure> {
    let (mut text, mut identities) = (String::new(), Vec::new());
    for name in job.parties() {
        let identity = Identity::generate();
        let port = free_loopback_port().map_err(cannot_start)?;
        let address = format!("{}:{port}", Ipv4Addr::LOCALHOST);
        let key = identity.public_key();
        text += &format!("[parties.{name}]\naddress = \"{address}\"\nkey = \"{key}\"\n");
        identities.push(identity);
    }
    Ok((text, identities))
}

/// Process of a running party.
struct PartyProcess {
    name: String,
    child: Child,
    /// Its standard input; the party ends when this is closed.
    lead: Option<ChildStdin>,
    /// Threads that forward or collect its output.
    readers: [JoinHandle<String>; 2],
}

/// Party that has ended.
struct EndedParty {
    name: String,
    output: String,
    status: u8,
}

impl PartyProcess {
    /// Starts a party. Its lines are forwarded with its name in front as `shown`, until `cancel` is
    /// set: then one message speaks for all.
    fn start(
        name: &str,
        shown: &str,
        mut command: Command,
        quiet: bool,
        cancel: &Cancel,
    ) -> Result<PartyProcess, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .map_err(cannot_start)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let out = reader(shown, out, false, quiet, cancel);
        let readers = [out, reader(shown, err, true, false, cancel)];
        let (name, lead) = (name.to_string(), child.stdin.take());
        Ok(PartyProcess {
            name,
            child,
            lead,
            readers,
        })
    }

    fn end(self, status: u8) -> EndedParty {
        let [output, _] = self.readers.map(|reader| reader.join().unwrap_or_default());
        EndedParty {
            name: self.name,
            output,
            status,
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parties that may still run. Dropping it ends them, so that none outlives the command.
struct Running(Vec<Option<PartyProcess>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.iter_mut().flatten().for_each(PartyProcess::kill);
    }
}

/// Waits for all parties. Once one has failed, or `cancel` is set, the others get a moment to
/// report why they end too.
fn wait(mut running: Running, cancel: &Cancel) -> Result<Vec<EndedParty>, Failure> {
    let mut ended = Vec::new();
    let mut deadline = None;
    while running.0.iter().any(Option::is_some) {
        if cancel.is_cancelled() {
            let parties = running.0.iter_mut().flatten();
            parties.for_each(|party| party.lead = None);
            deadline.get_or_insert(Instant::now() + GRACE);
        }
        for slot in &mut running.0 {
            let Some(party) = slot else { continue };
            let status = party.child.try_wait().map_err(cannot_start)?;
            let late = deadline.is_some_and(|deadline| Instant::now() > deadline);
            if status.is_none() && !late {
                continue;
            }
            if status.is_none() {
                party.kill();
            }
            // Without a status, the process was killed; for the others it is a peer that is gone.
            let code = status.map_or(5, |status| status.code().unwrap_or(5));
            if code != 0 {
                deadline.get_or_insert(Instant::now() + GRACE);
            }
            let code = if late { 5 } else { code as u8 };
            ended.extend(slot.take().map(|party| party.end(code)));
        }
        thread::sleep(POLL);
    }
    // A party that saw another one fail ends with the status of the network.
    let failed = || ended.iter().filter(|party| party.status != 0);
    let cause = failed().find(|party| party.status != 5).or(failed().next());
    match cause {
        Some(EndedParty { name, status, .. }) => Err(Failure::local_party(name, *status)),
        None => Ok(ended),
    }
}

/// Starts a thread that forwards lines with the party's name in front, or collects them. Standard
/// error is forwarded line by line; a report is forwarded in one piece, so that the reports of two
/// parties do not mix.
fn reader(
    name: &str,
    stream: Option<impl Read + Send + 'static>,
    to_stderr: bool,
    collect: bool,
    cancel: &Cancel,
) -> JoinHandle<String> {
    let (name, cancel) = (name.to_string(), cancel.clone());
    thread::spawn(move || {
        let mut collected = String::new();
        let stream = stream.map(BufReader::new).into_iter();
        let lines = stream.flat_map(BufRead::lines);
        for line in lines.map_while(Result::ok) {
            if to_stderr && cancel.is_cancelled() {
                continue;
            } else if to_stderr {
                let _ = writeln!(std::io::stderr(), "{name} │ {line}");
            } else if collect {
                let _ = writeln!(collected, "{line}");
            } else {
                let _ = writeln!(collected, "{name} │ {line}");
            }
        }
        if !collect && !cancel.is_cancelled() {
            let _ = std::io::stdout().write_all(collected.as_bytes());
        }
        collected
    })
}

/// Merges the reports of all parties: the common part, and the results of each.
fn merge_reports(job: &Job, parties: &[EndedParty]) -> Result<Value, Failure> {
    let mut reports = serde_json::Map::new();
    for party in parties {
        let EndedParty { name, output, .. } = party;
        let report = serde_json::from_str::<Value>(output).map_err(|error| {
            EngineError::internal(format!("the report of {name} cannot be read: {error}"))
        })?;
        reports.insert(name.clone(), report);
    }
    let first = reports.values().next();
    let shared = |key: &str| first.map_or(Value::Null, |first| first[key].clone());
    let kept = reports.values().all(|report| report["as_planned"] == true);
    let all = |key: &'static str| {
        let reports = reports.values();
        reports.filter_map(move |report| report[key].as_f64())
    };
    Ok(json!({
        "program": job.program().name,
        "job": job.hash(),
        "protocol": shared("protocol"),
        "rows": shared("rows"),
        "payload_bytes": shared("payload_bytes"),
        "rounds": shared("rounds"),
        "ands": shared("ands"),
        "planned": shared("planned"),
        "as_planned": kept,
        "seconds": all("seconds").fold(0.0, f64::max),
        "cpu_seconds": all("cpu_seconds").sum::<f64>(),
        "parties": reports,
    }))
}

fn cannot_start(error: std::io::Error) -> Failure {
    let what = "this machine refused what a local run needs";
    let hint = "a local run needs a process and a port of loopback for each party";
    Failure::new(Code::LocalRun, what, hint).because(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_refuses_a_local_run_is_asked_for_what_it_needs() {
        let none = Command::new("/no such/sealane");
        let started = PartyProcess::start("lab", "lab", none, true, &Cancel::default());
        let failure = started.err().expect("there is no such command");
        sealane_testkit::page::shows("local-run", &failure.to_string());
    }
}
