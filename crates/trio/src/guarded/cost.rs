//! Cost of each step of the profile against a malicious party, flight by flight.

use super::open::{DIGEST_BYTES, given};
use super::settle::{SESSION_BYTES, segments};
use super::{SEGMENT, checks, counts_of};
use crate::cost as base;
use crate::masked;
use crate::record::{self, Counts, KINDS, shape};
use crate::role_index;
use crate::tape::{self, under_masks};
use sealane_block::Seed;
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_proof::Shape;
use sealane_protocol::{Checks, Cost, Demand, Flight, Message, Opening, Setting, StepShape};

/// Flights of a settlement of products.
const SETTLE_FLIGHTS: usize = 3;
/// Nominal cost of the proof of a statement of each kind, in picoseconds, at a party that proves it
/// once and verifies two others: measured with VAES-256
/// ([the page](../../../../docs/protocols/proof.md#speed)), with its record.
const PROOF_PS: [u64; KINDS.len()] = [1_500, 3_500, 3_500, 9_500];
/// Nominal cost of a proof beside its statements: levels and hashes.
const PROOF_NS: u64 = 100_000;

/// Bits of memory that an AND counts for in a tile. It takes seven; with so many a tile is no
/// longer than a segment.
const AND_BITS: u64 = 32;
/// Memory of the vectors of proofs, which a party keeps from one to the next.
pub(super) const STATE_BYTES: u64 = 24 << 20;
/// Bits of memory of a statement of each kind, at most, on many lanes.
const STRING_BITS: [u64; KINDS.len()] = [7, 12, 40, 104];
/// Bits of memory of the record of a step beside them.
const STEP_BITS: u64 = 8 << 10;

/// The statements of a step, by kind.
fn counts(work: &StepShape) -> Counts {
    match work {
        StepShape::Tape(run) => record::counts(run.tape, run.lanes as usize),
        _ => Counts::default(),
    }
}

fn weighed(counts: &Counts, weight: impl Fn(usize) -> u64) -> u64 {
    let counts = counts.iter().enumerate();
    counts
        .map(|(kind, count)| *count as u64 * weight(kind))
        .sum()
}

/// Memory of what a step leaves until it is settled.
pub(super) fn material_bits(work: &StepShape) -> u64 {
    let most = |kind: usize| AND_BITS * SEGMENT[0] as u64 / SEGMENT[kind] as u64;
    weighed(&counts(work), |kind| most(kind).max(STRING_BITS[kind]))
}

/// Memory until a settlement, and of a settlement.
pub(super) fn check_bits(work: &StepShape) -> u64 {
    match work {
        // Records, and messages while they are on their way.
        StepShape::Tape(run) => {
            let counts = counts(work);
            let bits = weighed(&counts, |kind| {
                STRING_BITS[kind] + KINDS[kind].field.degree() as u64
            });
            let bits = bits.max(record::kept_bits(run.tape, run.lanes as usize));
            if bits == 0 { 0 } else { bits + STEP_BITS }
        }
        // Records of all lanes, where a row ends within a word, and statements that are made.
        StepShape::Settle { checks } => weighed(&counts_of(checks), |kind| 2 * STRING_BITS[kind]),
        _ => 0,
    }
}

/// Flights of a settlement of so many statements: without any, digests alone cross.
pub(super) fn settle_flights(counts: &Counts) -> usize {
    if *counts == Counts::default() {
        1
    } else {
        SETTLE_FLIGHTS
    }
}

/// Flights of a tape.
pub(super) fn flights(tape: &Tape) -> usize {
    if under_masks(tape) {
        return masked::levels(tape) + 1;
    }
    let batches = (0..tape.batches.len()).map(|batch| tape::reshared(tape, batch));
    batches.filter(|bits| *bits > 0).count()
}

pub(super) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Input(_) => base::cost(setting, work),
        StepShape::Tape(_) => Cost {
            checks: checks(&counts(work)),
            ..base::cost(setting, work)
        },
        StepShape::Settle { checks } => settle(setting, &counts_of(checks)),
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

fn settle(setting: &Setting, counts: &Counts) -> Cost {
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
    let shapes = segments(counts)
        .map(|counts| shape(&counts))
        .collect::<Vec<_>>();
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
        compute_ns: weighed(counts, |kind| PROOF_PS[kind]) / 1_000 + segments as u64 * PROOF_NS,
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
