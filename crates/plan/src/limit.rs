//! Largest run that may be planned: too large for anybody to wait for, and small enough that every
//! count of it (gates, bytes, nanoseconds) fits in 64 bits.
//!
//! A party states the row counts of its own tables when the run begins, up to the approved bound.
//! No number derived from them may overflow at the other side.

use crate::steps::{Len, LinearTerm, Operand, Plan, Segment, StepOp, TapeId};
use sealane_diagnostic::{Code, Diagnostic};

/// Most gates on all lanes, and bits of all values, of a run with every table at its bound. No
/// protocol spends more than a few hundred bytes or nanoseconds on one.
const MAX_WORK: u128 = 1 << 50;

/// Refuses a plan whose runs could be larger.
///
/// # Errors
/// The bounds of rows are too high for the work of the program on each row.
pub(crate) fn check(plan: &Plan) -> Result<(), Diagnostic> {
    let work = plan.segments.iter();
    let work = work.map(|segment| of_segment(plan, segment));
    let work = work.fold(of_values(plan), u128::saturating_add);
    if work <= MAX_WORK {
        return Ok(());
    }
    let bounds = plan.rows.iter();
    let bounds = bounds.map(|rows| format!("{} <= {}", rows.name, rows.bound));
    Err(Diagnostic {
        code: Code::RunTooLarge,
        message: format!(
            "with {}, a run has more than 2^50 gates and bits",
            bounds.collect::<Vec<_>>().join(", ")
        ),
        span: None,
        reason: "no run of that size ends, and its cost could not be counted".into(),
        hint: "declare a lower bound of rows: the most that you will ever have".into(),
    })
}

/// Bits of all values.
fn of_values(plan: &Plan) -> u128 {
    let bits = plan.values.iter().map(|value| {
        let rows = value
            .rows
            .map_or(1, |table| plan.rows[usize::from(table.0)].bound);
        product([value.elements, rows, u64::from(value.bits)])
    });
    bits.fold(0, u128::saturating_add)
}

/// Gates of all steps, with all rows in one tile: tiles add less than as much again.
fn of_segment(plan: &Plan, segment: &Segment) -> u128 {
    let rows = segment
        .rows
        .map_or(1, |table| plan.rows[usize::from(table.0)].bound);
    let lanes = |lens: &[Len]| product(lens.iter().map(|len| len.at(rows)));
    let gates = |tape: &TapeId| plan.tapes[tape.0 as usize].ands.len() as u128 + 1;
    let of_step = |op: &StepOp| match op {
        StepOp::Tape { tape, lanes: l, .. } => lanes(l).saturating_mul(gates(tape)),
        StepOp::Scan { tape, length, .. } => u128::from(length.at(rows)) * gates(tape),
        StepOp::Fold {
            length,
            lanes: l,
            levels,
            carry,
            ..
        } => {
            let largest = levels.iter().chain(carry).map(gates).max().unwrap_or(1);
            let pairs = lanes(l).saturating_mul(u128::from(length.at(rows)));
            pairs.saturating_mul(largest)
        }
        // Counted with the values that they write.
        StepOp::Input { .. } | StepOp::Constant { .. } | StepOp::Convert { .. } => 0,
        StepOp::Ring { .. } => 0,
        StepOp::Move { .. } | StepOp::Concat { .. } | StepOp::Append { .. } => 0,
        StepOp::RowNumber { .. } | StepOp::Rearrange { .. } => 0,
        StepOp::CompareExchange {
            network,
            tape,
            rows: table,
            length,
            ..
        } => {
            let rows = table.map_or(1, |table| plan.rows[usize::from(table.0)].bound);
            let stages = network.stages(length.at(rows) as usize);
            let pairs = stages.iter().map(|stage| stage.pairs() as u128);
            pairs.sum::<u128>().saturating_mul(gates(tape))
        }
        StepOp::Cross {
            rows: table,
            length,
            tape,
            outs,
            ..
        } => {
            let all = plan.rows[usize::from(table.0)].bound;
            let pairs = product([length.at(rows), all]);
            let combined = outs.iter().map(|out| {
                let tapes = out.levels.iter().chain([&out.carry]);
                u128::from(out.inner) * tapes.map(gates).max().unwrap_or(1)
            });
            pairs.saturating_mul(gates(tape) + combined.sum::<u128>())
        }
        StepOp::Sort {
            keys,
            rows: table,
            length,
            over,
            ..
        } => {
            let rows = table.map_or(1, |table| plan.rows[usize::from(table.0)].bound);
            let bits = |operand: &Operand| u64::from(plan.values[operand.value.0 as usize].bits);
            let row = over.iter();
            let row = row.map(|operand| operand.inner.count(1) * bits(operand));
            let key = keys.iter().map(|key| bits(&over[key.operand as usize]));
            // Each bit of the key moves all rows.
            product([length.at(rows), row.sum::<u64>() + 64, key.sum()])
        }
        StepOp::Settle | StepOp::Open { .. } | StepOp::Reveal { .. } => 0,
        StepOp::Linear {
            terms, lanes: l, ..
        } => {
            let taken = |term: &LinearTerm| u128::from(term.operand.inner.count(rows));
            lanes(l).saturating_mul(terms.iter().map(taken).fold(1, u128::saturating_add))
        }
        StepOp::Product { left, lanes: l, .. } => {
            lanes(l).saturating_mul(u128::from(left.inner.count(rows)) + 1)
        }
    };
    let steps = segment.steps.iter();
    steps
        .map(|step| of_step(&step.op))
        .fold(0, u128::saturating_add)
}

fn product(factors: impl IntoIterator<Item = u64>) -> u128 {
    factors
        .into_iter()
        .map(u128::from)
        .fold(1, u128::saturating_mul)
}
