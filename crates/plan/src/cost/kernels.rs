//! Kernels of all protocols: messages, and shares that steps read and write. They have no nominal
//! time, so that no choice depends on them.

use super::memory::{share, size};
use super::walk::Counter;
use crate::steps::{LinearTerm, StepOp, lanes};
use crate::uses::StepKind;
use sealane_protocol::{Cost, Domain, Kernel, Protocol, StepShape, Work};

/// A run: the allocation and erasure of what every run has.
const RUN: Kernel = Kernel::uncharged("run");
/// A round, at whose end parties wait.
const ROUND: Kernel = Kernel::uncharged("round");
/// A byte of payload: it is copied, digested and encrypted by its sender, and so by its receiver.
const PAYLOAD_BYTE: Kernel = Kernel::uncharged("payload_byte");
/// A message of a step.
const MESSAGE: Kernel = Kernel::uncharged("message");
/// A step that runs once, for one tile.
const STEP: Kernel = Kernel::uncharged("step");
/// A bit of packed shares, a share in a byte, and a word of 64 bits of others, which a step reads
/// or writes.
const SHARE_BIT: Kernel = Kernel::uncharged("share_bit");
const SHARE_BYTE: Kernel = Kernel::uncharged("share_byte");
const SHARE_WORD: Kernel = Kernel::uncharged("share_word");
/// An element times a public factor in a sum.
const LINEAR_TERM: Kernel = Kernel::uncharged("linear_term");

/// Work of a run beside its steps. One of a single party is a part of another.
pub(super) fn of_run(parties: usize, rounds: u64, payload_bytes: u64) -> Work {
    RUN.times(u64::from(parties > 1))
        .and(ROUND, rounds)
        .and(PAYLOAD_BYTE, payload_bytes)
}

/// Work of the execution and of the messages of a cost.
pub(super) fn of_cost(cost: &Cost) -> Work {
    let messages = cost.flights.iter().flatten();
    let messages = messages.filter(|message| message.bytes > 0);
    STEP.times(1).and(MESSAGE, messages.count() as u64)
}

/// Work of so many bits of shares in a domain, where a share of an element has so many.
fn held(share: u64, bits: u64) -> Work {
    match share {
        0..8 => SHARE_BIT.times(bits),
        8..64 => SHARE_BYTE.times(bits / 8),
        _ => SHARE_WORD.times(bits / 64),
    }
}

/// Work of the shares that a step with messages reads and writes.
pub(super) fn of_shares<P: Protocol>(counter: &Counter, work: &StepShape) -> Work {
    let of = |domain: Domain, count: u64| {
        let share = share::<P>(counter, domain);
        held(share, share * count)
    };
    match work {
        StepShape::Input(input) => of(input.domain, input.elements * input.bits),
        StepShape::Tape(run) => {
            let ports = u64::from(run.tape.inputs) + run.tape.outputs.len() as u64;
            of(run.domain, run.lanes * ports)
        }
        StepShape::Product(product) => {
            let elements = product.distinct.iter().sum::<u64>() + product.lanes;
            of(product.domain, elements)
        }
        StepShape::Convert(convert) => {
            let bits = convert.elements * convert.bits;
            let mut all = of(convert.from, bits);
            all.add(&of(convert.to, bits), 1);
            all
        }
        StepShape::Ring(ring) => of(ring.domain, 2 * ring.lanes),
        StepShape::Shuffle(_)
        | StepShape::Sort(_)
        | StepShape::Settle { .. }
        | StepShape::Open { .. } => Work::default(),
    }
}

/// Work of a step that every party does alone, in a tile of so many rows.
pub(super) fn of_local<P: Protocol>(counter: &Counter, op: &StepOp, rows: u64) -> Work {
    if op.kind() != StepKind::Local {
        return Work::default();
    }
    let table = op.all_rows().last().copied();
    let rows = table.map_or(rows, |table| counter.all_rows(table));
    let mut work = STEP.times(1);
    for value in op.writes() {
        let share = share::<P>(counter, counter.plan[value].domain);
        work.add(&held(share, size::<P>(counter, value, rows)), 1);
    }
    if let StepOp::Linear(linear) = op {
        let elements = |term: &LinearTerm| term.operand.inner.count(rows);
        let terms = linear.terms.iter().map(elements).sum::<u64>();
        work = work.and(LINEAR_TERM, terms * lanes(&linear.lanes, rows));
    }
    work
}
