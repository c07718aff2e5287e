//! Warnings about a plan whose rounds or time are out of proportion, with the source line that
//! causes them and a replacement.
//!
//! The estimate is the one of the plan, on the declared network class and at the stated row counts.
//! [`warnings`] applies two bounds, which the pages of both codes state.

use crate::check::{is_secret, options};
use crate::job::{Job, ProtocolName};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::NetworkClass;
use sealane_plan::CostReport;
use sealane_plan::cost::{grouped, time};
use sealane_plan::fewest_helpers;
use sealane_plan::steps::{Step, StepOp};
use sealane_protocol::Adversary;

/// Seconds of waiting for messages from which on rounds are too many, if they are most of the time.
const WAITING_S: f64 = 60.0;
/// Seconds from which on a run is long, whatever the cause.
const LONG_S: f64 = 24.0 * 3600.0;

/// Resource that is out of proportion in a job at a cost.
#[derive(Clone, Copy, PartialEq)]
enum Excess {
    Rounds,
    Time,
}

/// Warns of rounds or time that are out of proportion at this cost of the job.
pub fn warnings(job: &Job, cost: &CostReport) -> Vec<Diagnostic> {
    let Some(excess) = excess(cost, job.network()) else {
        return Vec::new();
    };
    let class = job.network();
    let on = class.described();
    let by_step = match excess {
        Excess::Rounds => cost.steps.iter().map(|step| step.flights as f64).collect(),
        Excess::Time => cost.estimate_by_step_s(class),
    };
    let most = (0..by_step.len()).max_by(|a, b| by_step[*a].total_cmp(&by_step[*b]));
    let costliest = most.map(|at| &cost.steps[at]);
    let step = most.and_then(|at| step(job, cost, at));
    let label = costliest.map_or("prepare", |step| step.label.as_str());
    let is_scan = step.is_some_and(|step| matches!(step.op, StepOp::Scan(_)));
    let (code, message, reason, mut hints) = match excess {
        Excess::Rounds => (
            Code::ManyRounds,
            format!(
                "a run takes {} rounds, {} of waiting on {on}",
                grouped(cost.promise.rounds),
                time(cost.waiting_s(class))
            ),
            if is_scan {
                format!(
                    "each turn of this `scan` waits for the one before, and under `{}` each level \
                 of its circuit is a round",
                    job.protocol()
                )
            } else {
                format!("most of them are of `{label}`, one after the other")
            },
            vec![],
        ),
        Excess::Time => (
            Code::LongRun,
            format!("a run takes about {} on {on}", time(cost.estimate_s(class))),
            format!("most of it is `{label}`"),
            vec![],
        ),
    };
    if is_scan && excess == Excess::Rounds {
        let instead =
            "write a reduction (`sum`, `max`, `any`) or `map`, whose rows go side by side";
        hints.push(instead.to_string());
    }
    if let Some(other) = other(job, cost) {
        hints.push(other);
    }
    if !cost.rows.is_empty() {
        let fewer = "declare a lower bound of rows, or state how many you have with `--rows`";
        hints.push(fewer.to_string());
    }
    if hints.is_empty() {
        let less = "compute with narrower types, or with fewer elements";
        hints.push(less.to_string());
    }
    let warning = Diagnostic::new(code, message).because(reason);
    let span = step.and_then(|step| step.span.as_ref());
    vec![warning.hint(hints.join("; or ")).at(span)]
}

/// Returns the resource that is out of proportion, if there is one.
fn excess(cost: &CostReport, class: NetworkClass) -> Option<Excess> {
    let (waiting, total) = (cost.waiting_s(class), cost.estimate_s(class));
    if waiting >= WAITING_S && waiting > total / 2.0 {
        return Some(Excess::Rounds);
    }
    (total >= LONG_S).then_some(Excess::Time)
}

/// Returns the step of the joint plan for line `at` of a cost. `None` for local work of a party,
/// and for lines before or after all steps.
fn step<'a>(job: &'a Job, cost: &CostReport, at: usize) -> Option<&'a Step> {
    let segments = job.plan().segments.iter();
    let steps = segments
        .flat_map(|segment| &segment.steps)
        .collect::<Vec<_>>();
    // The reveal comes after the steps of the plan; local work and preparation come before them.
    let first = cost.steps.len().checked_sub(steps.len() + 1)?;
    steps.get(at.checked_sub(first)?).copied()
}

/// Names a protocol under which the same rows are in proportion and take less time, and that
/// withstands as much: the one with the fewest helpers.
fn other(job: &Job, cost: &CostReport) -> Option<String> {
    let rows = cost
        .rows
        .iter()
        .map(|(_, count)| *count)
        .collect::<Vec<_>>();
    let (program, now) = (job.program(), cost.estimate_s(job.network()));
    let malicious = |of: ProtocolName| of.profile().corruption.covers(Adversary::Malicious);
    let suits = |(protocol, helpers): (ProtocolName, Vec<String>)| {
        let options = options(protocol, &helpers);
        let other = Job::new(program.clone(), protocol, job.network(), helpers).ok()?;
        let cost = other.cost(&rows).ok()?;
        let seconds = cost.estimate_s(job.network());
        let fits = excess(&cost, job.network()).is_none() && seconds < now;
        let rounds = grouped(cost.promise.rounds);
        let time = time(seconds);
        fits.then(|| format!("run it with {options}: {rounds} rounds, about {time}"))
    };
    let others = ProtocolName::ALL.into_iter().filter(is_secret);
    let others = others.filter(|protocol| *protocol != job.protocol());
    let others = others.filter(|of| malicious(*of) || !malicious(job.protocol()));
    let others = others.filter_map(|of| Some((of, fewest_helpers(&of.profile(), program)?)));
    let mut others = others.collect::<Vec<_>>();
    // Each takes the time of a plan, so the search ends with the first that suits.
    others.sort_by_key(|(_, helpers)| helpers.len());
    others.into_iter().find_map(suits)
}
