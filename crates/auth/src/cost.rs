//! Cost of each step of `auth`, in either walk.

use crate::bits::bytes_of;
use crate::common::roles;
use crate::products::{PRODUCT, bits_of};
use crate::{masks, open, settle};
use sealane_circuit::Tape;
use sealane_garble::authenticated::table_bytes;
use sealane_party::{COMMITMENT_BYTES, DIGEST_BYTES, OPENING_BYTES};
use sealane_protocol::{Cost, Demand, Kernel, Message, Setting, StepShape, TapeShape};

/// An AND online, with its proof and its part of a settlement: 54 cycles at 2.4 GHz, and 30 for
/// sums of MACs and planes.
const AUTHENTICATED_AND: Kernel = Kernel::ns("authenticated_and", 35);
/// An AND offline, over products that are there.
const MASKED_AND: Kernel = Kernel::ns("mask_and", 20);

/// Bits of a block.
const BLOCK_BITS: u64 = 128;

/// ANDs of a tape on all lanes, and inputs.
fn counts(tape: &Tape, lanes: u64) -> [u64; 2] {
    [tape.ands.len() as u64, tape.inputs.into()].map(|count| count * lanes)
}

pub(crate) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    let [garbler, evaluator] = roles(setting);
    let to_evaluator = |bytes| Message::new(garbler, evaluator, bytes);
    let to_garbler = |bytes| Message::new(evaluator, garbler, bytes);
    match work {
        StepShape::Input(input) => {
            let bytes = bytes_of(input.elements * input.bits);
            Cost::of(vec![vec![if input.owner == garbler {
                to_evaluator(bytes)
            } else {
                to_garbler(bytes)
            }]])
        }
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, inputs] = counts(tape, *lanes);
            Cost {
                ands,
                checks: settle::checks(inputs, ands),
                work: AUTHENTICATED_AND.times(ands),
                ..Cost::of(vec![vec![to_evaluator(table_bytes(ands))]])
            }
        }
        StepShape::Settle { checks } => {
            let digest = DIGEST_BYTES;
            Cost::of(match checks.total() {
                0 => vec![vec![to_evaluator(digest), to_garbler(digest)]],
                values => vec![
                    vec![to_garbler(settle::stated_bytes(values) + digest)],
                    vec![to_evaluator(settle::ANSWER_BYTES + digest)],
                ],
            })
        }
        StepShape::Open { results } => {
            let learnt = |to| {
                let learnt = results.iter().filter(|result| result.to.contains(to));
                learnt.map(|result| result.bits).sum::<u64>()
            };
            Cost::of(vec![vec![
                to_evaluator(open::opened_bytes(true, learnt(evaluator))),
                to_garbler(open::opened_bytes(false, learnt(garbler))),
            ]])
        }
        StepShape::Tape(_)
        | StepShape::Product(_)
        | StepShape::Ring(_)
        | StepShape::Convert(_)
        | StepShape::Shuffle(_)
        | StepShape::Sort(_) => Cost::default(),
    }
}

pub(crate) fn offline_cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, _] = counts(tape, *lanes);
            Cost {
                work: MASKED_AND.times(ands),
                ..both(setting, [masks::opened_bytes(ands); 2])
            }
        }
        _ => Cost::default(),
    }
}

/// Garbler and evaluator send so many bytes at once.
pub(crate) fn both(setting: &Setting, bytes: [u64; 2]) -> Cost {
    let [garbler, evaluator] = roles(setting);
    Cost::of(vec![vec![
        Message::new(garbler, evaluator, bytes[0]),
        Message::new(evaluator, garbler, bytes[1]),
    ]])
}

/// Messages of the set-up, of which those of the source of products are the last.
pub(crate) fn set_up_cost(setting: &Setting, source: Cost) -> Cost {
    let toss = [COMMITMENT_BYTES, OPENING_BYTES].map(|bytes| both(setting, [bytes; 2]));
    let before = toss.into_iter().flat_map(|cost| cost.flights);
    Cost {
        flights: before.chain(source.flights).collect(),
        ..source
    }
}

/// Authenticated bits and products that the offline part of a step takes.
pub(crate) fn offline_demand(setting: &Setting, work: &StepShape) -> Demand {
    let [garbler, evaluator] = roles(setting);
    let mut demand = Demand::default();
    match work {
        StepShape::Input(input) => {
            let other = if input.owner == garbler {
                evaluator
            } else {
                garbler
            };
            demand.add(bits_of(other, input.owner), input.elements * input.bits);
        }
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            let [ands, _] = counts(tape, *lanes);
            demand.add(bits_of(garbler, evaluator), ands);
            demand.add(bits_of(evaluator, garbler), ands);
            demand.add(PRODUCT, ands);
        }
        _ => {}
    }
    demand
}

/// Memory of what offline parts leave: a mask of a bit, and two of an AND.
pub(crate) fn material_bits(work: &StepShape) -> u64 {
    match work {
        StepShape::Input(input) => 2 * BLOCK_BITS * input.elements * input.bits,
        StepShape::Tape(TapeShape { tape, lanes, .. }) => 4 * BLOCK_BITS * counts(tape, *lanes)[0],
        _ => 0,
    }
}

/// Memory of what has to be settled, at the garbler: four blocks of an AND, one of an input; of a
/// settlement, the same and masked values.
pub(crate) fn check_bits(work: &StepShape) -> u64 {
    match work {
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, inputs] = counts(tape, *lanes);
            BLOCK_BITS * (4 * ands + inputs)
        }
        StepShape::Settle { checks } => (4 * BLOCK_BITS + 1) * checks.total(),
        _ => 0,
    }
}
