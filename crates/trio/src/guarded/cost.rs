//! Cost of each step of the profile against a malicious party, flight by flight.

use super::AND;
use super::open::{DIGEST_BYTES, given};
use super::settle::{SESSION_BYTES, segments, shape};
use crate::cost as base;
use crate::role_index;
use crate::tape;
use sealane_block::Seed;
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_proof::Shape;
use sealane_protocol::{
    Checks, Cost, Demand, Flight, Message, Opening, Setting, StepShape, TapeShape,
};

/// Flights of a settlement of ANDs.
const SETTLE_FLIGHTS: usize = 3;
/// Nominal cost of the proof of an AND, in picoseconds, at a party that proves it once and verifies
/// two others: measured with VAES-256 ([the page](../../../../docs/protocols/proof.md#speed)).
const PROOF_PS: u64 = 1_500;
/// Nominal cost of a proof beside its ANDs: levels and hashes.
const PROOF_NS: u64 = 100_000;

/// Bits of memory that an AND counts for in a tile. Its strings take six; with so many a tile is no
/// longer than a segment.
const AND_BITS: u64 = 32;
/// Memory of the vectors of proofs, which a party keeps from one to the next.
pub(super) const STATE_BYTES: u64 = 24 << 20;
/// Bits of memory of an AND until it is settled: its strings, and its message while that is on its
/// way.
const RECORD_BITS: u64 = 7;
/// Bits of memory of the record of a step beside them.
const STEP_BITS: u64 = 8 << 10;
/// Bits of memory of an AND in a settlement: its strings, and their copy in a segment.
const SETTLING_BITS: u64 = 12;

/// Memory of what a step leaves until it is settled.
pub(super) fn material_bits(work: &StepShape) -> u64 {
    match work {
        StepShape::Tape(run) => run.tape.ands.len() as u64 * run.lanes * AND_BITS,
        _ => 0,
    }
}

/// Memory until a settlement, and of a settlement.
pub(super) fn check_bits(work: &StepShape) -> u64 {
    match work {
        StepShape::Tape(run) if !run.tape.ands.is_empty() => {
            run.tape.ands.len() as u64 * run.lanes * RECORD_BITS + STEP_BITS
        }
        StepShape::Settle { checks } => checks.total() * SETTLING_BITS,
        _ => 0,
    }
}

/// Flights of a settlement of so many ANDs: without any, digests alone cross.
pub(super) fn settle_flights(ands: usize) -> usize {
    if ands == 0 { 1 } else { SETTLE_FLIGHTS }
}

/// Flights of a tape.
pub(super) fn flights(tape: &Tape) -> usize {
    let batches = (0..tape.batches.len()).map(|batch| tape::reshared(tape, batch));
    batches.filter(|bits| *bits > 0).count()
}

pub(super) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Input(_) => base::cost(setting, work),
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            let ands = tape.ands.len() as u64 * lanes;
            Cost {
                checks: Checks::of(AND, ands),
                ..base::cost(setting, work)
            }
        }
        StepShape::Settle { checks } => settle(setting, checks.total()),
        StepShape::Open { results } => Cost {
            flights: vec![open(setting, results)],
            ..base::cost(setting, work)
        },
        // Never planned: the profile has bits alone.
        StepShape::Product(_)
        | StepShape::Ring(_)
        | StepShape::Convert(_)
        | StepShape::Shuffle(_)
        | StepShape::Sort(_) => Cost::default(),
    }
}

pub(super) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let mut cost = base::set_up_cost(setting, demand);
    let common = message(setting, [0, 1], Seed::BYTES);
    cost.flights[0].push(common);
    cost
}

fn settle(setting: &Setting, ands: u64) -> Cost {
    let digests = base::cost(
        setting,
        &StepShape::Settle {
            checks: Checks::default(),
        },
    );
    let mut flights = digests.flights;
    for message in &mut flights[0] {
        message.bytes += SESSION_BYTES;
    }
    let shapes = segments(ands as usize).map(shape).collect::<Vec<_>>();
    let links = |bytes: usize| {
        let pairs = (0..3).flat_map(|from| [1, 2].map(|ahead| [from, from + ahead]));
        pairs.map(move |link| message(setting, link, bytes))
    };
    // Digests of inputs, and halves of seeds.
    let segments = shapes.len();
    let guests = super::outsiders(setting).count();
    let first = guests * DIGEST_BYTES as usize + segments * Shape::SEED_BYTES;
    flights[0].extend(links(first));
    let seeds = [[1, 2], [2, 1]].map(|link| message(setting, link, DIGEST_BYTES as usize));
    flights[0].extend(seeds);
    if segments > 0 {
        let left = shapes.iter().map(Shape::left_bytes).sum();
        let right = shapes.iter().map(Shape::right_bytes).sum();
        let proofs = (0..3).flat_map(|role| {
            let to_left = message(setting, [role, role + 2], left);
            [to_left, message(setting, [role, role + 1], right)]
        });
        flights.push(proofs.collect());
        flights.push(links(segments * Shape::ANSWER_BYTES).collect());
    }
    Cost {
        compute_ns: ands * PROOF_PS / 1_000 + segments as u64 * PROOF_NS,
        ..Cost::of(flights)
    }
}

fn open(setting: &Setting, results: &[Opening]) -> Flight {
    let to = |to: PartyId| {
        let learnt = results.iter().filter(move |result| result.to.contains(to));
        let bytes = learnt.clone().map(|result| result.bits.div_ceil(8)).sum();
        let any = learnt.count() > 0;
        let from = move |role, bytes| Message::new(role_index::party(setting, role), to, bytes);
        let given = given(role_index::role(setting, to)).into_iter();
        given
            .filter(move |_| any)
            .flat_map(move |of| [from(of.giver, bytes), from(of.confirms, DIGEST_BYTES)])
    };
    setting.everyone().flat_map(to).collect()
}

fn message(setting: &Setting, [from, to]: [usize; 2], bytes: usize) -> Message {
    let [from, to] = [from, to].map(|role| role_index::party(setting, role));
    Message::new(from, to, bytes as u64)
}
