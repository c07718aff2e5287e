//! Operations on ring elements that take the place of other steps, where protocols have them.

use crate::draft::Draft;
use crate::steps::{Len, Operand, Plan, PlanValue, Ring, Step, StepOp, SymView, ValuePlan};
use sealane_circuit::Tape;
use sealane_circuit::tape::FIRST_INPUT;
use sealane_protocol::{Algebra, RingOp};
use std::collections::HashMap;

/// Returns the bits that are read of each value as bits, from the lowest to behind the highest,
/// where these are not all. `forms` holds the steps of all units in each domain of tapes.
pub(crate) fn parts(
    draft: &Draft,
    plan: &Plan,
    forms: &[Vec<Step>],
) -> HashMap<PlanValue, [u8; 2]> {
    let bits_of = |value: PlanValue| plan[value].bits;
    let mut parts = HashMap::new();
    let mut note = |value: PlanValue, [low, high]: [u8; 2]| {
        let part = parts.entry(value).or_insert([low, high]);
        *part = [part[0].min(low), part[1].max(high)];
    };
    let steps = forms.iter().flat_map(|steps| draft.units.iter().zip(steps));
    for (_, step) in steps.filter(|(unit, _)| draft.algebra(unit) == Algebra::Z2) {
        let StepOp::Tape { tape, operands, .. } = &step.op else {
            let reads = step.op.reads().into_iter();
            reads.for_each(|value| note(value, [0, bits_of(value)]));
            continue;
        };
        let read = inputs_read(&plan.tapes[tape.0 as usize]);
        let mut inputs = read.iter();
        for operand in operands {
            for _ in 0..operand.inner.count(1) {
                let bits = (0..bits_of(operand.value)).zip(&mut inputs);
                let read = bits.filter(|(_, read)| **read);
                read.for_each(|(bit, _)| note(operand.value, [bit, bit + 1]));
            }
        }
    }
    parts.retain(|value, part| *part != [0, bits_of(*value)]);
    parts
}

/// Returns for each input of a tape whether a gate, a function or an output reads it.
fn inputs_read(tape: &Tape) -> Vec<bool> {
    let (first, inputs) = (FIRST_INPUT as usize, tape.inputs as usize);
    let (mut read, mut holds) = (
        vec![false; tape.slots as usize],
        vec![false; tape.slots as usize],
    );
    holds[first..][..inputs].fill(true);
    let mut run = |operands: &[u32], outs: &[u32]| {
        for slot in operands {
            read[*slot as usize] |= holds[*slot as usize];
        }
        outs.iter().for_each(|slot| holds[*slot as usize] = false);
    };
    for (number, batch) in tape.batches.iter().enumerate() {
        let xors = &tape.xors[batch.xors.start as usize..batch.xors.end as usize];
        let ands = &tape.ands[batch.ands.start as usize..batch.ands.end as usize];
        let gates = xors.iter().chain(ands);
        gates.for_each(|gate| run(&[gate.a, gate.b], &[gate.out]));
        let applied = tape.applied_in(number).iter();
        applied.for_each(|applied| run(&applied.operands, &applied.outs));
    }
    run(&tape.outputs, &[]);
    read[first..][..inputs].to_vec()
}

/// Returns the choice by the operand that is a bit in place of a product of single elements, and
/// that bit.
pub(crate) fn choice(
    product: &Step,
    is_bit: impl Fn(PlanValue) -> bool,
) -> Option<(PlanValue, Step)> {
    let StepOp::Product(of_two) = &product.op else {
        return None;
    };
    let (left, right) = (&of_two.left, &of_two.right);
    let pairs = [(left, right), (right, left)];
    let (bit, of) = pairs.into_iter().find(|(bit, _)| is_bit(bit.value))?;
    let single = left.inner.dims.is_empty() && right.inner.dims.is_empty();
    let op = StepOp::Ring(Ring {
        op: RingOp::Select,
        bit: Some(bit.clone()),
        of: of.clone(),
        lanes: of_two.lanes.clone(),
        out: of_two.out,
    });
    let (label, span) = (product.label.clone(), product.span.clone());
    single.then(|| (bit.value, Step { op, label, span }))
}

/// The conversion of a part of the bits of a value of a ring, all of its elements.
pub(crate) fn extract(
    [low, high]: [u8; 2],
    (value, planned): (PlanValue, &ValuePlan),
    out: PlanValue,
) -> StepOp {
    let elements = planned.elements;
    let rows = planned.rows.map(|_| (Len::Rows, elements as i64));
    let dims = rows.into_iter().chain([(Len::Fixed(elements), 1)]);
    let dims = dims.collect::<Vec<_>>();
    let (first, count) = (low, high - low);
    StepOp::Ring(Ring {
        op: RingOp::Extract { first, count },
        bit: None,
        lanes: dims.iter().map(|(len, _)| *len).collect(),
        of: Operand {
            value,
            lanes: SymView { offset: 0, dims },
            inner: SymView {
                offset: 0,
                dims: vec![],
            },
        },
        out,
    })
}
