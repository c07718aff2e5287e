//! Report of a cost, for people and machines.

use super::memory::Memory;
use super::walk::{Counts, Tally};
use crate::forms::FormCost;
use crate::steps::{Plan, Step};
use sealane_parties::{NetworkClass, PartyId};
use sealane_protocol::{Basis, Demand, Walk};
use std::collections::BTreeMap;
use std::fmt;

/// Cost of a run of a plan at a number of rows.
#[derive(Clone, Debug)]
pub struct CostReport {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Names of the parties for people: their indices, until a caller sets the names.
    pub parties: Vec<String>,
    /// Name and number of rows of each table.
    pub rows: Vec<(String, u64)>,
    /// Part of the cost that runs are compared with.
    pub promise: Promise,
    /// Preparation; if steps have offline parts, those of all steps and of the reveal; the steps of
    /// the plan in order; the reveal.
    pub steps: Vec<StepCost>,
    /// Correlations that are prepared.
    pub demand: Demand,
    /// Assumptions and papers on which the run rests.
    pub basis: Basis,
    /// Memory of each party: a bound, without process and connections until a caller adds these.
    pub memory: Vec<Memory>,
    /// Most bytes that correlations take in pools, at the party with the larger part: a bound.
    pub pool_bytes: u64,
    /// Nanoseconds of computing on the slowest party; an estimate.
    pub compute_ns: u64,
    /// Estimate of the payload bytes that one more row of each table adds.
    pub bytes_by_row: Vec<f64>,
    /// Estimate of the payload bytes of a run without rows.
    pub bytes_by_run: f64,
    /// The forms among which the plan of this cost was chosen; empty if there is no choice, or
    /// until a caller sets them.
    pub forms: Vec<FormCost>,
}

/// The part of a cost that a run must meet exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Payload bytes by sender and receiver; pairs that exchange nothing are absent.
    pub payload: BTreeMap<(PartyId, PartyId), u64>,
    /// Payload bytes sent, by party.
    pub sent: Vec<u64>,
    /// Rounds: the largest stamp of any message.
    pub rounds: u64,
    /// AND gates, counted once for each lane.
    pub ands: u64,
}

/// Cost of one step: a line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCost {
    /// Description of the step.
    pub label: String,
    /// True for what is prepared before the step's operands are known: the set-up, refills and the
    /// offline parts of steps.
    pub offline: bool,
    /// Its source line.
    pub line: Option<u32>,
    /// Number of executions: tiles, times levels or iterations.
    pub times: u64,
    /// Lanes of all executions.
    pub lanes: u64,
    /// Flights of all executions: the messages in a row that parties wait for.
    pub flights: u64,
    /// AND gates of all executions.
    pub ands: u64,
    /// Payload bytes of all executions, by sender.
    pub sent: Vec<u64>,
    /// Payload bytes of all executions, in the busiest direction of any link.
    pub busiest: u64,
    /// Nanoseconds of computing on the slowest party; an estimate.
    pub compute_ns: u64,
}

impl Promise {
    /// Payload bytes of all parties together.
    pub fn payload_bytes(&self) -> u64 {
        self.sent.iter().sum()
    }
}

impl CostReport {
    /// Seconds of [`CostReport::estimate_s`] in which parties wait for messages to arrive.
    pub fn waiting_s(&self, class: NetworkClass) -> f64 {
        self.promise.rounds as f64 * class.round_trip().as_secs_f64() / 2.0
    }

    /// Estimated seconds of a run on a network of a class: half a round trip for each round, and
    /// then the longer of computing and of the busiest direction of any link, since tables stream
    /// while the other side computes. Start-up and the handshake are not included.
    pub fn estimate_s(&self, class: NetworkClass) -> f64 {
        let busiest = self.promise.payload.values().max().copied().unwrap_or(0);
        let transfer = busiest as f64 / class.bytes_per_s() as f64;
        self.waiting_s(class) + transfer.max(self.compute_ns as f64 / 1e9)
    }

    /// Estimated seconds of each step on a network of a class: the longer of its computing and its
    /// transfer, and its share of the latency by its flights. Steps overlap, so these add up to
    /// more than the run takes; they show its division.
    pub fn estimate_by_step_s(&self, class: NetworkClass) -> Vec<f64> {
        let flights = self.steps.iter().map(|step| step.flights).sum::<u64>();
        let flight_s = self.waiting_s(class) / flights.max(1) as f64;
        let seconds = |step: &StepCost| {
            let transfer = step.busiest as f64 / class.bytes_per_s() as f64;
            step.flights as f64 * flight_s + transfer.max(step.compute_ns as f64 / 1e9)
        };
        self.steps.iter().map(seconds).collect()
    }
}

/// Makes a report of a walk.
pub(super) fn report(
    plan: &Plan,
    rows: &[u64],
    (walk, rounds, memory): (Counts, u64, Vec<Memory>),
    basis: Basis,
    bytes_by_row: Vec<f64>,
    bytes_by_run: f64,
) -> CostReport {
    let parties = plan.setting.parties;
    let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
    let line = |label: String, line, offline, tally: &Tally| StepCost {
        label,
        offline,
        line,
        times: tally.times,
        lanes: tally.lanes,
        flights: tally.flights,
        ands: tally.ands,
        sent: sent(&tally.payload.0, parties),
        busiest: tally.payload.0.values().max().copied().unwrap_or(0),
        compute_ns: tally.compute_ns,
    };
    let mut lines = vec![line("prepare".into(), None, true, &walk.prepare)];
    let tallies = walk.steps.iter().flatten();
    for part in plan.setting.timing.walks() {
        let (offline, prefix) = match part {
            Walk::Offline => (true, "offline: "),
            Walk::Online => (false, ""),
        };
        let of_step = |(step, tallies): (&Step, &[Tally; 2])| {
            let label = format!("{prefix}{}", step.label);
            line(label, step.line(), offline, &tallies[part.index()])
        };
        lines.extend(steps.clone().zip(tallies.clone()).map(of_step));
        let reveal = &walk.reveal[part.index()];
        lines.push(line(format!("{prefix}reveal"), None, offline, reveal));
    }
    let compute_ns = lines.iter().map(|line| line.compute_ns).sum();
    CostReport {
        protocol: plan.protocol,
        parties: (0..parties).map(|party| format!("party {party}")).collect(),
        rows: plan
            .rows
            .iter()
            .map(|r| r.name.clone())
            .zip(rows.iter().copied())
            .collect(),
        promise: Promise {
            sent: sent(&walk.payload.0, parties),
            payload: walk.payload.0,
            rounds,
            ands: lines.iter().map(|line| line.ands).sum(),
        },
        steps: lines,
        demand: walk.demand,
        basis,
        memory,
        pool_bytes: walk.pool_bits.div_ceil(8),
        compute_ns,
        bytes_by_row,
        bytes_by_run,
        forms: vec![],
    }
}

fn sent(payload: &BTreeMap<(PartyId, PartyId), u64>, parties: usize) -> Vec<u64> {
    let mut sent = vec![0; parties];
    for ((from, _), bytes) in payload {
        sent[usize::from(from.0)] += bytes;
    }
    sent
}

/// Prints a table for a terminal.
impl fmt::Display for CostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.iter();
        let rows = rows.map(|(name, count)| format!("{name} = {}", grouped(*count)));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let at = if rows.is_empty() {
            String::new()
        } else {
            format!(" at {rows}")
        };
        writeln!(f, "Protocol {}{at}\n", self.protocol)?;
        self.table(f)?;
        self.totals(f)
    }
}

impl CostReport {
    /// Prints one line for each step with a cost.
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = |step: &StepCost| step.sent.iter().sum::<u64>();
        let steps = self
            .steps
            .iter()
            .filter(|step| step.ands > 0 || sent(step) > 0);
        let steps = steps.collect::<Vec<_>>();
        let labels = steps.iter().map(|step| step.label.chars().count());
        let width = labels.max().unwrap_or(0).max(4);
        let rule = "-".repeat(width + 60);
        let row = |f: &mut fmt::Formatter<'_>, label: &str, cells: [String; 5]| {
            let [line, times, lanes, ands, bytes] = cells;
            let cells = format!("{line:>6} {times:>9} {lanes:>13} {ands:>15} {bytes:>12}");
            writeln!(f, "  {label:<width$} {cells}")
        };
        row(
            f,
            "step",
            ["line", "times", "lanes", "ANDs", "payload"].map(String::from),
        )?;
        writeln!(f, "  {rule}")?;
        for step in steps {
            let line = step.line.map_or(String::new(), |line| line.to_string());
            let [times, lanes, ands] = [step.times, step.lanes, step.ands].map(grouped);
            row(
                f,
                &step.label,
                [line, times, lanes, ands, size(sent(step) as f64)],
            )?;
        }
        writeln!(f, "  {rule}\n")
    }

    /// Prints the promise and the estimates that follow from it.
    fn totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promise = &self.promise;
        let name = |party: PartyId| match self.parties.get(usize::from(party.0)) {
            Some(name) => name.clone(),
            None => format!("party {}", party.0),
        };
        let mut lines = vec![
            ("rounds".to_string(), grouped(promise.rounds), ""),
            ("AND gates".to_string(), grouped(promise.ands), ""),
        ];
        for ((from, to), bytes) in &promise.payload {
            let pair = format!("{} -> {}", name(*from), name(*to));
            lines.push((pair, grouped(*bytes), " bytes"));
        }
        let left = lines
            .iter()
            .map(|(name, ..)| name.chars().count())
            .max()
            .unwrap_or(0);
        let right = lines
            .iter()
            .map(|(_, number, _)| number.len())
            .max()
            .unwrap_or(0);
        let right = right.max(5);
        for (name, number, unit) in lines {
            writeln!(f, "  {name:<left$}  {number:>right$}{unit}")?;
        }
        let slopes = self.rows.iter().zip(&self.bytes_by_row);
        let slopes = slopes.map(|((name, _), bytes)| format!(" + {} x {name}", size(*bytes)));
        let payload = size(self.bytes_by_run) + &slopes.collect::<String>();
        let seconds = |class| time(self.estimate_s(class));
        let (lan, wan) = (seconds(NetworkClass::Lan), seconds(NetworkClass::Wan));
        for (name, value) in [("payload", payload), ("LAN", lan), ("WAN", wan)] {
            writeln!(f, "  {name:<left$}  about {value}")?;
        }
        Ok(())
    }
}

/// Formats `1234567` as `1,234,567`.
pub fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats bytes in a suitable unit.
fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let (mut bytes, mut unit) = (bytes, 0);
    while bytes.abs() >= 999.5 && unit + 1 < UNITS.len() {
        (bytes, unit) = (bytes / 1000.0, unit + 1);
    }
    let decimals = if unit == 0 || bytes.abs() >= 100.0 {
        0
    } else {
        1
    };
    format!("{bytes:.decimals$} {}", UNITS[unit])
}

/// Formats seconds in a suitable unit.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
