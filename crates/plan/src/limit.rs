//! Largest run that may be planned: too large for anybody to wait for, and small enough that every
//! count of it (gates, bytes, nanoseconds) fits in 64 bits.
//!
//! A party states the row counts of its own tables when the run begins, up to the approved bound.
//! No number derived from them may overflow at the other side.

use crate::steps::{Len, LinearTerm, Plan, Segment, StepOp, TapeId};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::types::RowId;

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
    let all = |table: Option<RowId>| table.map_or(1, |table| plan.rows[usize::from(table.0)].bound);
    let gates = |tape: &TapeId| plan.tapes[tape.0 as usize].ands.len() as u128 + 1;
    let of_step = |op: &StepOp| match op {
        StepOp::Tape { tape, lanes: l, .. } => lanes(l).saturating_mul(gates(tape)),
        StepOp::Scan(scan) => u128::from(scan.length.at(rows)) * gates(&scan.tape),
        StepOp::Fold(fold) => {
            let largest = fold.levels.iter().chain(&fold.carry).map(gates).max();
            let pairs = lanes(&fold.lanes).saturating_mul(u128::from(fold.length.at(rows)));
            pairs.saturating_mul(largest.unwrap_or(1))
        }
        // Counted with the values that they write.
        StepOp::Input { .. } | StepOp::Constant { .. } | StepOp::Convert { .. } => 0,
        StepOp::Ring(_) => 0,
        StepOp::Move { .. } | StepOp::Concat { .. } | StepOp::Append { .. } => 0,
        StepOp::RowNumber { .. } | StepOp::Rearrange(_) => 0,
        StepOp::CompareExchange(step) => {
            let stages = step.network.stages(step.length.at(all(step.rows)) as usize);
            let pairs = stages.iter().map(|stage| stage.pairs() as u128);
            pairs.sum::<u128>().saturating_mul(gates(&step.tape))
        }
        StepOp::Cross(cross) => {
            let pairs = product([cross.length.at(rows), all(Some(cross.rows))]);
            let combined = cross.outs.iter().map(|out| {
                let tapes = out.levels.iter().chain([&out.carry]);
                u128::from(out.inner) * tapes.map(gates).max().unwrap_or(1)
            });
            pairs.saturating_mul(gates(&cross.tape) + combined.sum::<u128>())
        }
        StepOp::Sort(sort) => {
            let [planes, key] = sort.bits(|of| plan[of.value].bits);
            // Each bit of the key moves all rows.
            product([sort.length.at(all(sort.rows)), planes + 64, key])
        }
        StepOp::Settle | StepOp::Open { .. } | StepOp::Reveal { .. } => 0,
        StepOp::Linear(sum) => {
            let taken = |term: &LinearTerm| u128::from(term.operand.inner.count(rows));
            let terms = sum.terms.iter().map(taken).fold(1, u128::saturating_add);
            lanes(&sum.lanes).saturating_mul(terms)
        }
        StepOp::Product(product) => {
            lanes(&product.lanes).saturating_mul(u128::from(product.left.inner.count(rows)) + 1)
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
