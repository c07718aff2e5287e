//! The options of a source line, for the command.

use crate::Failure;
use sealane_engine::{Considered, Job, StepOption};
use sealane_page::why::{OptionRecord, WhyRecord, WhyStep};
use sealane_plan::CostReport;

/// The steps of a line with what the whole run would cost in each sharing that they could take, at
/// these numbers of rows.
///
/// # Errors
/// As [`Job::why`].
pub fn why(job: &Job, line: u32, rows: &[u64]) -> Result<WhyRecord, Failure> {
    let tables = job.program().rows.iter().map(|table| table.name.clone());
    let time = |cost: &CostReport| cost.estimate_s(job.network());
    let step = |of: Considered| {
        let taken = of.options.iter().find(|option| option.chosen);
        let least = taken.map_or(0.0, |option| time(&option.cost));
        let option = |of: &StepOption| OptionRecord {
            sharing: of.sharing.to_string(),
            chosen: of.chosen,
            payload_bytes: of.cost.promise.payload_bytes(),
            conversion_bytes: conversions(&of.cost),
            rounds: of.cost.promise.rounds,
            estimate_s: time(&of.cost),
            loss_s: time(&of.cost) - least,
        };
        WhyStep {
            step: match of.steps {
                1 => named(&of.operations),
                steps => format!("{}, {steps} steps", named(&of.operations)),
            },
            pinned: of.pinned,
            options: of.options.iter().map(option).collect(),
        }
    };
    Ok(WhyRecord {
        program: job.program().name.clone(),
        protocol: job.protocol().to_string(),
        network: job.network().to_string(),
        pool: job.is_pooled(),
        line,
        rows: tables.zip(rows.iter().copied()).collect(),
        steps: job.why(line, rows)?.into_iter().map(step).collect(),
    })
}

/// Payload bytes of the steps that convert.
fn conversions(cost: &CostReport) -> u64 {
    let steps = cost.steps.iter().filter(|step| step.label == "convert");
    steps.flat_map(|step| &step.sent).sum()
}

/// Most operations of a step that are named.
const NAMED: usize = 4;

/// Names of operations, each once, and the number of those that are left out.
fn named(operations: &[String]) -> String {
    let mut names = Vec::<&str>::new();
    for name in operations {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let names = names.join(", ");
    if more > 0 {
        format!("{names} +{more}")
    } else {
        names
    }
}
