//! Cost of each step of `auth`, in either walk.

use crate::bits::bytes_of;
use crate::common::roles;
use crate::products::{PRODUCT, bits_of};
use crate::roles::Roles;
use crate::{masks, open, settle};
use sealane_circuit::Tape;
use sealane_garble::authenticated::table_bytes;
use sealane_party::{COMMITMENT_BYTES, DIGEST_BYTES, ECHO_BYTES, OPENING_BYTES, ZERO_SEED_BYTES};
use sealane_protocol::{Cost, Demand, Flight, Kernel, Message, Setting, StepShape, TapeShape};

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
    let roles = &Roles::of(setting);
    let evaluator = roles.evaluator();
    match work {
        StepShape::Input(input) => {
            let bytes = bytes_of(input.elements * input.bits);
            let given = roles.flight(|from, _| if from == input.owner { bytes } else { 0 });
            Cost::of(compared(roles, vec![given]))
        }
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, inputs] = counts(tape, *lanes);
            let table = table_bytes(ands, roles.everyone().len() - 1);
            let tables = roles.flight(|_, to| if to == evaluator { table } else { 0 });
            Cost {
                ands,
                checks: settle::checks(inputs, ands),
                work: AUTHENTICATED_AND.times(ands),
                ..Cost::of(vec![tables])
            }
        }
        StepShape::Settle { checks } => Cost::of(settled(roles, checks.total())),
        StepShape::Open { results } => {
            let learnt = |to| {
                let learnt = results.iter().filter(|result| result.to.contains(to));
                learnt.map(|result| result.bits).sum::<u64>()
            };
            let opened = |from, to| open::opened_bytes(from != evaluator, learnt(to));
            Cost::of(vec![roles.flight(opened)])
        }
        StepShape::Tape(_)
        | StepShape::Product(_)
        | StepShape::Ring(_)
        | StepShape::Convert(_)
        | StepShape::Shuffle(_)
        | StepShape::Sort(_) => Cost::default(),
    }
}

/// Flights, and then that in which all compare what has been broadcast, where they are more than
/// two.
fn compared(roles: &Roles, mut flights: Vec<Flight>) -> Vec<Flight> {
    if roles.are_many() {
        flights.push(roles.flight(|_, _| ECHO_BYTES));
    }
    flights
}

/// Flights of a settlement of so many masked values.
fn settled(roles: &Roles, values: u64) -> Vec<Flight> {
    let (digest, evaluator) = (DIGEST_BYTES, roles.evaluator());
    if values == 0 {
        return vec![roles.flight(|_, _| digest)];
    }
    let stated = settle::stated_bytes(values) + digest;
    let answer = settle::ANSWER_BYTES + digest;
    let mut flights = vec![roles.flight(|from, _| if from == evaluator { stated } else { 0 })];
    if roles.are_many() {
        flights.push(roles.flight(|from, to| {
            let garblers = from != evaluator && to != evaluator;
            ECHO_BYTES + if garblers { digest } else { 0 }
        }));
    }
    flights.push(roles.flight(|_, to| if to == evaluator { answer } else { 0 }));
    flights
}

pub(crate) fn offline_cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, _] = counts(tape, *lanes);
            let opened = masks::opened_bytes(ands);
            Cost {
                work: MASKED_AND.times(ands),
                ..Cost::of(vec![Roles::of(setting).flight(|_, _| opened)])
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
    let roles = &Roles::of(setting);
    let committed = roles.flight(|from, to| {
        let seed = roles.are_many() && from < to;
        COMMITMENT_BYTES + if seed { ZERO_SEED_BYTES } else { 0 }
    });
    let mut flights = compared(roles, vec![committed, roles.flight(|_, _| OPENING_BYTES)]);
    flights.extend(source.flights);
    Cost { flights, ..source }
}

/// Authenticated bits and products that the offline part of a step takes.
pub(crate) fn offline_demand(setting: &Setting, work: &StepShape) -> Demand {
    let roles = Roles::of(setting);
    let mut demand = Demand::default();
    // Bits of a party, with MACs for all others.
    let mut add = |of, count| {
        for other in roles.peers(of) {
            demand.add(bits_of(other, of), count);
        }
    };
    match work {
        StepShape::Input(input) => add(input.owner, input.elements * input.bits),
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            let [ands, _] = counts(tape, *lanes);
            roles.everyone().iter().for_each(|party| add(*party, ands));
            demand.add(PRODUCT, ands);
        }
        _ => {}
    }
    demand
}

/// Memory of what offline parts leave, for each other party: a mask of a bit, and two of an AND.
pub(crate) fn material_bits(setting: &Setting, work: &StepShape) -> u64 {
    let peers = setting.parties as u64 - 1;
    match work {
        StepShape::Input(input) => 2 * BLOCK_BITS * peers * input.elements * input.bits,
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            4 * BLOCK_BITS * peers * counts(tape, *lanes)[0]
        }
        _ => 0,
    }
}

/// Memory of what has to be settled, at a garbler of two parties: four blocks of an AND, one of an
/// input; of a settlement, the same and masked values. At the evaluator of more it is a label for
/// each garbler, and a MAC.
pub(crate) fn check_bits(setting: &Setting, work: &StepShape) -> u64 {
    let peers = setting.parties as u64 - 1;
    let of_and = 4.max(peers + 1);
    match work {
        StepShape::Tape(TapeShape { tape, lanes, .. }) if !tape.ands.is_empty() => {
            let [ands, inputs] = counts(tape, *lanes);
            BLOCK_BITS * (of_and * ands + peers * inputs)
        }
        StepShape::Settle { checks } => (of_and * BLOCK_BITS + 1) * checks.total(),
        _ => 0,
    }
}
