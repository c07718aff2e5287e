//! Report of a cost, and numbers and times for people.

use super::division::{self, Division};
use super::kernels;
use super::memory::Memory;
use super::tally::Tally;
use super::walk::Counts;
use crate::forms::{Form, FormCost};
use crate::steps::{Plan, Step};
use sealane_parties::{NetworkClass, PartyId};
use sealane_protocol::{Basis, Demand, Walk, Work};
use std::collections::BTreeMap;

/// Cost of a run of a plan at a number of rows.
#[derive(Clone, Debug)]
pub struct CostReport {
    /// Name and number of rows of each table.
    pub rows: Vec<(String, u64)>,
    /// Part of the cost that runs are compared with.
    pub promise: Promise,
    /// Preparation; if steps have offline parts, those of all steps and of the reveal; the steps of
    /// the plan in order; the reveal.
    pub steps: Vec<StepCost>,
    /// The payload by parts, for a protocol that states them.
    pub division: Division,
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
    /// Amounts of computing of all parties, by kernel.
    pub work: Work,
    /// The forms among which the plan of this cost was chosen; empty if there is no choice, or
    /// until a caller sets them.
    pub forms: Vec<FormCost>,
    /// The form of the run, on which its parties agree; the first until a caller sets it.
    pub form: Form,
}

/// Products that parties prove to each other, of a protocol against malicious parties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proofs {
    /// Products: ANDs, once for each lane, or others.
    pub products: u64,
    /// Settlements that prove some of them.
    pub settlements: u64,
    /// Payload bytes of these settlements, by sender.
    pub sent: Vec<u64>,
    /// Flights of the last of them.
    pub flights: u64,
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
    /// Proofs; of other protocols none.
    pub proofs: Proofs,
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

    /// Seconds for which messages of a run would cross one after the other: those of all bytes, and
    /// half a round trip for each round.
    pub(crate) fn crossing_s(&self, class: NetworkClass) -> f64 {
        self.promise.payload_bytes() as f64 / class.bytes_per_s() as f64 + self.waiting_s(class)
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
) -> CostReport {
    let parties = plan.setting.parties;
    let division = division::of(&walk, plan.setting.timing);
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
    let tallies = walk.steps.iter().flat_map(|steps| steps.iter());
    let all = tallies.clone().flatten();
    let all = all.chain([&walk.prepare]).chain(&walk.reveal);
    let mut work = kernels::of_run(parties, rounds, walk.payload.total());
    all.for_each(|tally| work.add(&tally.work, 1));
    let mut lines = vec![line("prepare".into(), None, true, &walk.prepare)];
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
            proofs: Proofs {
                sent: sent(&walk.proofs.payload.0, parties),
                products: walk.proofs.settled.total(),
                settlements: walk.proofs.times,
                flights: walk.proofs.flights,
            },
        },
        steps: lines,
        division,
        demand: walk.demand,
        basis,
        memory,
        pool_bytes: walk.pool_bits.div_ceil(8),
        compute_ns,
        work,
        forms: vec![],
        form: Form::default(),
    }
}

fn sent(payload: &BTreeMap<(PartyId, PartyId), u64>, parties: usize) -> Vec<u64> {
    let mut sent = vec![0; parties];
    for ((from, _), bytes) in payload {
        sent[usize::from(from.0)] += bytes;
    }
    sent
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
