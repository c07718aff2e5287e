//! Suite `stream`: garbling, sending, receiving and evaluating at the same time, two
//! operating-system processes over TLS and over bare TCP on loopback.
//!
//! Each process runs this suite again, told by [`PARTY_VARIABLE`] which of the two it is
//! (`stream/party.rs`). There is no planner and no table of data here: a netlist is called again
//! and again, its outputs fed back into its inputs, so that a run of any length needs the memory of
//! one call.
//!
//! * `wide`: AES-128 on [`WIDE_ROWS`] rows at a time.
//! * `chain`: one row, and every AND depends on the one before.
//! * `long`: AES-128 until 10 billion gates have run, for the peak of memory.
//!
//! Seconds are measured at the evaluator, from its first message until its outputs are decoded:
//! every one of them matches one of the garbler's two labels, or the run is an error. The fastest
//! of the runs counts; `million_ands_per_s_median` is the rate of the usual one.
//! `cpu_ns_per_and` is what all threads of a side took together, in the system too. The thread that
//! computes also waits: for its channel (`waiting_ns_per_and`), and for a core that another thread
//! has (`queueing_ns_per_and`). Bind the suite to two cores (`taskset -c 0,1`) to see the effect.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sealane_block::{Cpu, cpu::TIER_VARIABLE};
use sealane_identity::Identity;
use sealane_net::free_loopback_port;

use crate::{Figures, Options, SuiteError};
use party::{Circuit, Outcome, PartyConfig, Peer};
pub(crate) use party::{cpu_seconds, peak_bytes, thread_seconds};

mod party;

/// The suite's name.
pub const SUITE: &str = "stream";

/// Environment variable that makes a process one of the two parties of a run; JSON.
pub const PARTY_VARIABLE: &str = "SEALANE_BENCH_PARTY";

/// Rows of a call of the wide cases.
pub const WIDE_ROWS: usize = 1024;

/// Runs of each case but the long one.
const RUNS: usize = 3;

/// The two sides, in the order of their parties.
pub(crate) const SIDES: [&str; 2] = ["garbler", "evaluator"];

/// A netlist and the length of its run.
pub(crate) struct Case {
    name: &'static str,
    circuit: Circuit,
    rows: usize,
    until: Until,
    runs: usize,
    tls: &'static [bool],
}

/// The length of a run, rounded up to whole calls.
#[derive(Clone, Copy)]
enum Until {
    /// So many ANDs.
    Ands(u64),
    /// So many gates of all kinds.
    Gates(u64),
}

/// Runs every case on the fastest of the tiers; or is one of the two parties of a run.
///
/// # Errors
/// There is no way to start this suite again, or a run failed.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let cpu = options.best()?;
    if let Some(part) = std::env::var_os(PARTY_VARIABLE) {
        return party::take(cpu, &part);
    }
    if options.again.is_empty() {
        return Err("the suite stream needs to start itself again".into());
    }
    for case in cases(options.quick()) {
        for tls in case.tls {
            let runs = (0..case.runs).map(|_| run_once(&options.again, cpu, &case, *tls));
            let mut runs = runs.collect::<Result<Vec<_>, SuiteError>>()?;
            runs.sort_by(|[_, one], [_, other]| one.seconds.total_cmp(&other.seconds));
            hand_out(&case, *tls, &runs, &mut figures.on(cpu));
        }
    }
    Ok(())
}

/// All cases; short ones to see that the suite works.
fn cases(quick: bool) -> [Case; 3] {
    let (short, runs) = if quick { (100, 1) } else { (1, RUNS) };
    [
        Case {
            runs,
            ..wide(WIDE_ROWS, 100_000_000 / short)
        },
        Case {
            name: "chain",
            circuit: Circuit::Chain,
            rows: 1,
            until: Until::Ands(20_000_000 / short),
            runs,
            tls: &[false, true],
        },
        Case {
            name: "long/aes128",
            circuit: Circuit::Aes128,
            rows: WIDE_ROWS,
            until: Until::Gates(10_000_000_000 / (short * short)),
            runs: 1,
            tls: &[true],
        },
    ]
}

/// The wide case: one run of so many ANDs, on so many rows at a time.
pub(crate) fn wide(rows: usize, ands: u64) -> Case {
    Case {
        name: "wide/aes128",
        circuit: Circuit::Aes128,
        rows,
        until: Until::Ands(ands),
        runs: 1,
        tls: &[false, true],
    }
}

/// Hands out the figures of runs, the fastest of which comes first.
fn hand_out(case: &Case, tls: bool, runs: &[[Outcome; 2]], figures: &mut Figures<'_>) {
    let (outcomes, [_, usual]) = (&runs[0], &runs[runs.len() / 2]);
    let [_, evaluator] = outcomes;
    let ands = evaluator.ands as f64;
    let (best, median) = (evaluator.million_ands_per_s(), usual.million_ands_per_s());
    let name = format!("{}/{}", case.name, if tls { "tls" } else { "tcp" });
    let of_both = [
        ("seconds", evaluator.seconds, "s"),
        ("million_ands_per_s", best, "million/s"),
        ("million_ands_per_s_median", median, "million/s"),
        ("ands", ands, "gates"),
        ("gates", evaluator.gates as f64, "gates"),
    ];
    figures.add(&name, &of_both);
    for (side, outcome) in SIDES.iter().zip(outcomes) {
        let name = format!("{name}/{side}");
        let peak = outcome.peak_bytes as f64 / 1e6;
        figures.add(&name, &[("peak_megabytes", peak, "MB")]);
        for (metric, seconds) in [
            ("cpu_ns_per_and", Some(outcome.cpu_seconds)),
            ("waiting_ns_per_and", outcome.waiting_seconds),
            ("queueing_ns_per_and", outcome.queueing_seconds),
        ] {
            if let Some(seconds) = seconds {
                figures.add(&name, &[(metric, seconds * 1e9 / ands, "ns")]);
            }
        }
    }
}

/// Starts one run with a process for each side, and returns both outcomes.
pub(crate) fn run_once(
    again: &[OsString],
    cpu: Cpu,
    case: &Case,
    tls: bool,
) -> Result<[Outcome; 2], SuiteError> {
    let folder = tempfile::tempdir()?;
    let parts = parts(folder.path(), case, tls)?;
    let mut children = Vec::new();
    for part in &parts {
        children.push(start(again, cpu, part)?);
    }
    let mut failures = Vec::new();
    for (side, child) in SIDES.iter().zip(children) {
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            failures.push(format!("the {side} failed: {}", said.trim_end()));
        }
    }
    if !failures.is_empty() {
        return Err(failures.join("; ").into());
    }
    let [garbler, evaluator] = &parts;
    Ok([Outcome::read(garbler)?, Outcome::read(evaluator)?])
}

/// Makes the configurations of both sides. Their keys are fresh and lie in `folder`.
fn parts(folder: &Path, case: &Case, tls: bool) -> Result<[PartyConfig; 2], SuiteError> {
    let mut peers = Vec::new();
    for side in SIDES {
        let identity = Identity::generate();
        let port = free_loopback_port()?;
        identity.save(&folder.join(format!("{side}.key")))?;
        peers.push(Peer {
            address: format!("127.0.0.1:{port}"),
            key: identity.public_key().to_string(),
        });
    }
    let calls = party::calls(case.circuit, case.rows, case.until);
    let part = |me: u8| PartyConfig {
        me,
        identity: folder.join(format!("{}.key", SIDES[usize::from(me)])),
        outcome: folder.join(format!("{}.json", SIDES[usize::from(me)])),
        peers: peers.clone(),
        tls,
        circuit: case.circuit,
        rows: case.rows,
        calls,
    };
    Ok([part(0), part(1)])
}

fn start(again: &[OsString], cpu: Cpu, part: &PartyConfig) -> Result<Child, SuiteError> {
    let part = serde_json::to_string(part)?;
    let child = Command::new(&again[0])
        .args(&again[1..])
        .arg(SUITE)
        .env(PARTY_VARIABLE, part)
        .env(TIER_VARIABLE, cpu.tier().name())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    child.map_err(|error| format!("cannot start a party: {error}").into())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;

    /// The parties of a run that a test starts: this program again, with the name of this test.
    #[test]
    fn party_of_a_run() {
        if let Some(part) = std::env::var_os(PARTY_VARIABLE) {
            let cpu = Cpu::detect().expect("the tier of the other test");
            party::take(cpu, &part).expect("a run");
        }
    }

    /// The command line that starts [`party_of_a_run`]. The name of the suite, which follows, is
    /// the name of no test.
    pub(crate) fn again() -> Vec<OsString> {
        let me = std::env::current_exe().expect("this program");
        let words = ["--nocapture", "--exact", "stream::tests::party_of_a_run"];
        let words = words.map(OsString::from);
        [me.into_os_string()].into_iter().chain(words).collect()
    }

    #[test]
    fn a_short_run_has_all_figures_of_both_sides() {
        let cpu = Cpu::detect().expect("a tier");
        let case = wide(20, 1);
        let mut records: Vec<crate::Record> = Vec::new();
        for tls in [false, true] {
            let run = run_once(&again(), cpu, &case, tls).expect("a run");
            let mut record = |record| records.push(record);
            hand_out(&case, tls, &[run], &mut Figures::new(SUITE, &mut record));
        }
        let value = |case: &str, metric: &str| {
            let mut all = records.iter();
            let found = all.find(|r| r.case == case && r.metric == metric);
            found.map(|record| record.value)
        };
        for link in ["tcp", "tls"] {
            let case = format!("wide/aes128/{link}");
            for metric in ["million_ands_per_s", "million_ands_per_s_median"] {
                assert!(value(&case, metric).expect(metric) > 0.0);
            }
            for side in SIDES {
                let case = format!("{case}/{side}");
                assert!(value(&case, "cpu_ns_per_and").expect("CPU time") >= 0.0);
                // Not all systems tell.
                let waits = ["waiting_ns_per_and", "queueing_ns_per_and"];
                let waits = waits.map(|metric| value(&case, metric));
                assert!(waits.iter().flatten().all(|ns| *ns >= 0.0), "{waits:?}");
                assert_eq!(waits[0].is_some(), waits[1].is_some());
            }
        }
    }

    #[test]
    fn a_suite_that_cannot_start_itself_says_so() {
        let options = Options::new(vec![Cpu::detect().expect("a tier")], Duration::ZERO);
        let ended = run(&options, &mut Figures::new(SUITE, &mut |_| unreachable!()));
        let what = ended.expect_err("no way").what();
        assert!(what.contains("start itself again"));
    }
}
