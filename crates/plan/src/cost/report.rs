//! What people and machines read of a cost.

use super::walk::{Tally, Walk};
use crate::steps::{Plan, Step};
use sealane_net::NetworkClass;
use sealane_protocol::{Demand, PartyId, Protocol};
use std::collections::BTreeMap;
use std::fmt;

/// What a run of a plan will cost at a number of rows.
#[derive(Clone, Debug)]
pub struct CostReport {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Name and number of rows of each table.
    pub rows: Vec<(String, u64)>,
    /// What runs are held to.
    pub promise: Promise,
    /// Preparation, the steps of the plan in order, the reveal.
    pub steps: Vec<StepCost>,
    /// What is prepared.
    pub demand: Demand,
    /// Nanoseconds of computing on the slowest party; an estimate.
    pub compute_ns: u64,
    /// Payload bytes that one more row of each table adds, about.
    pub bytes_by_row: Vec<f64>,
    /// Payload bytes that every run has, about.
    pub bytes_by_run: f64,
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

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCost {
    /// What it does.
    pub label: String,
    /// Its source line.
    pub line: Option<u32>,
    /// How often it runs: tiles, times levels or iterations.
    pub times: u64,
    /// Lanes in all.
    pub lanes: u64,
    /// AND gates in all.
    pub ands: u64,
    /// Payload bytes in all, by sender.
    pub sent: Vec<u64>,
}

impl Promise {
    /// Payload bytes of all parties together.
    pub fn payload_bytes(&self) -> u64 {
        self.sent.iter().sum()
    }
}

impl CostReport {
    /// Seconds that a run takes on a network of a class, about: half a round trip for each round,
    /// and then the longer of computing and of the busiest direction of any link, since tables
    /// stream while the other side computes. Start-up and the handshake are not in it.
    pub fn estimate_s(&self, class: NetworkClass) -> f64 {
        let latency = self.promise.rounds as f64 * class.round_trip().as_secs_f64() / 2.0;
        let busiest = self.promise.payload.values().max().copied().unwrap_or(0);
        let transfer = busiest as f64 / class.bytes_per_s() as f64;
        latency + transfer.max(self.compute_ns as f64 / 1e9)
    }
}

/// Puts a walk into the words of a report.
pub(super) fn report<P: Protocol>(
    plan: &Plan,
    rows: &[u64],
    walk: Walk,
    bytes_by_row: Vec<f64>,
    bytes_by_run: f64,
) -> CostReport {
    let parties = plan.setting.parties;
    let steps = plan
        .segments
        .iter()
        .flat_map(|segment| segment.batches.iter().flatten());
    let tallies = walk.steps.iter().flatten();
    let line = |label: &str, line, tally: &Tally| StepCost {
        label: label.into(),
        line,
        times: tally.times,
        lanes: tally.lanes,
        ands: tally.ands,
        sent: sent(&tally.payload.0, parties),
    };
    let mut lines = vec![line("prepare", None, &walk.prepare)];
    let of_step = |(step, tally): (&Step, &Tally)| line(&step.label, step.line(), tally);
    lines.extend(steps.zip(tallies.clone()).map(of_step));
    lines.push(line("reveal", None, &walk.reveal));
    let every = tallies.chain([&walk.prepare, &walk.reveal]);
    let compute_ns = every.map(|tally| tally.compute_ns).sum();
    CostReport {
        protocol: plan.protocol,
        rows: plan
            .rows
            .iter()
            .map(|r| r.name.clone())
            .zip(rows.iter().copied())
            .collect(),
        promise: Promise {
            sent: sent(&walk.payload.0, parties),
            payload: walk.payload.0,
            rounds: walk.rounds,
            ands: lines.iter().map(|line| line.ands).sum(),
        },
        steps: lines,
        demand: walk.demand,
        compute_ns,
        bytes_by_row,
        bytes_by_run,
    }
}

fn sent(payload: &BTreeMap<(PartyId, PartyId), u64>, parties: usize) -> Vec<u64> {
    let mut sent = vec![0; parties];
    for ((from, _), bytes) in payload {
        sent[usize::from(from.0)] += bytes;
    }
    sent
}

/// A table for a terminal.
impl fmt::Display for CostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self
            .rows
            .iter()
            .map(|(name, count)| format!("{name} = {}", grouped(*count)));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let at = if rows.is_empty() {
            String::new()
        } else {
            format!(" at {rows}")
        };
        writeln!(f, "Protocol {}{at}", self.protocol)?;
        self.table(f)?;
        let promise = &self.promise;
        writeln!(f)?;
        writeln!(f, "  rounds       {:>14}", grouped(promise.rounds))?;
        writeln!(f, "  AND gates    {:>14}", grouped(promise.ands))?;
        for ((from, to), bytes) in &promise.payload {
            let pair = format!("{} -> {}", from.0, to.0);
            writeln!(
                f,
                "  {pair:<12} {:>14} bytes  ({})",
                grouped(*bytes),
                size(*bytes as f64)
            )?;
        }
        let slopes = self.rows.iter().zip(&self.bytes_by_row);
        let slope =
            |((name, _), bytes): (&(String, u64), &f64)| format!(" + {} x {name}", size(*bytes));
        let slopes = slopes.map(slope).collect::<String>();
        writeln!(
            f,
            "  payload      about {}{slopes}",
            size(self.bytes_by_run)
        )?;
        for (name, class) in [("LAN", NetworkClass::Lan), ("WAN", NetworkClass::Wan)] {
            writeln!(f, "  {name} estimate {:>13}", time(self.estimate_s(class)))?;
        }
        Ok(())
    }
}

impl CostReport {
    /// One line for each step that costs anything.
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |step: &&StepCost| {
            step.times > 0 && (step.ands > 0 || step.sent.iter().sum::<u64>() > 0)
        };
        let steps = self.steps.iter().filter(shown).collect::<Vec<_>>();
        let width = steps
            .iter()
            .map(|step| step.label.chars().count())
            .max()
            .unwrap_or(0)
            .max(4);
        let rule = "-".repeat(width + 60);
        let head = ["line", "times", "lanes", "ANDs", "payload"];
        let [line, times, lanes, ands, payload] = head;
        writeln!(
            f,
            "  {:<width$} {line:>6} {times:>9} {lanes:>13} {ands:>15} {payload:>12}",
            "step"
        )?;
        writeln!(f, "  {rule}")?;
        for step in steps {
            let line = step.line.map_or(String::new(), |line| line.to_string());
            writeln!(
                f,
                "  {:<width$} {line:>6} {:>9} {:>13} {:>15} {:>12}",
                step.label,
                grouped(step.times),
                grouped(step.lanes),
                grouped(step.ands),
                size(step.sent.iter().sum::<u64>() as f64)
            )?;
        }
        writeln!(f, "  {rule}")
    }
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that fits.
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

/// Seconds in the unit that fits.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{:.1} min", s / 60.0),
    }
}
