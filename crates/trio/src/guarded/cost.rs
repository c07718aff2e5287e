//! Cost of each step of the profile against a malicious party, flight by flight.

use super::open::{DIGEST_BYTES, given};
use super::settle::{Among, SESSION_BYTES, shapes};
use super::{SEGMENT, checks, counts_of, places, sort, turns};
use crate::cost as base;
use crate::masked;
use crate::record::{self, Counts, KINDS};
use crate::role_index;
use crate::sort::place_bits;
use crate::tape::{self, under_masks};
use sealane_block::Seed;
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_proof::{Shape, Turn};
use sealane_protocol::{
    Cost, Demand, Flight, Kernel, Message, Opening, Setting, SortShape, StepShape,
};

/// Bytes of the digest of a component of places.
pub(super) const DIGEST: usize = 32;
/// Flights of a settlement of products.
const SETTLE_FLIGHTS: usize = 3;
/// The proof of a statement of each kind, at a party that proves it once and verifies two others:
/// measured with VAES-256 ([the page](../../../../docs/protocols/proof.md#speed)), with its record.
const PROOFS: [Kernel; KINDS.len()] = [
    Kernel::ps("proved_and", 1_500),
    Kernel::ps("proved_product_4", 3_500),
    Kernel::ps("proved_product_16", 3_500),
    Kernel::ps("proved_opening_16", 9_500),
];
/// The proof of 128 bits of a row in a shuffle, for each of two statements, at a party that proves
/// them once and verifies four: measured with a million rows, as the two below.
const TURN: Kernel = Kernel::ns("proved_turn", 65);
/// A word of a row in three turns, and of the order of opened places.
const MOVED: Kernel = Kernel::ns("moved_word", 110);
/// An AND of a place, beside that of its tape and its proof: its operands are made and its product
/// is taken.
const COUNTED: Kernel = Kernel::ps("counted_and", 1_200);
/// A proof beside its statements: levels and hashes.
const PROOF: Kernel = Kernel::ns("proof", 100_000);

/// Bits of memory that an AND counts for in a tile. It takes seven; with so many the ANDs of a tile
/// are no more than a segment has.
const AND_BITS: u64 = 128;
/// Memory of the vectors of proofs, which a party keeps from one to the next.
pub(super) const STATE_BYTES: u64 = 24 << 20;
/// Bits of memory of a statement of each kind, at most, on many lanes.
const STRING_BITS: [u64; KINDS.len()] = [7, 12, 40, 104];
/// Words of memory for a word of a row in a shuffle: nine of rows and constants of six statements,
/// some of which are the shuffled rows, and three while a turn is computed.
const TURNED_WORDS: u64 = 12;
/// Bits of memory of a row in proofs of a shuffle: two elements in each of two vectors, the weight
/// of a place, and two orders.
const VECTOR_BITS: u64 = 5 * 128 + 2 * 32;
/// Bits of memory of a row while its place is counted.
const COUNTED_BITS: u64 = 256;
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
    weighed(&counts(work), |kind| match kind {
        0 => AND_BITS,
        _ => STRING_BITS[kind],
    })
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

/// Memory of the proofs within a sort, pass after pass: strings of ANDs, the rows of all turns,
/// vectors of proofs and what a place is counted from.
pub(super) fn proof_bits(work: &StepShape) -> u64 {
    let StepShape::Sort(of) = work else { return 0 };
    let passes = sort::passes(of.rows, of.key_bits);
    let pass = passes.map(|bits| {
        let words = (of.planes + u64::from(place_bits(of.rows))).div_ceil(64);
        let ands = sort::ands(of.rows, bits) as u64;
        STRING_BITS[0] * ands + TURNED_WORDS * 64 * words + VECTOR_BITS + COUNTED_BITS
    });
    pass.max().unwrap_or(0) * of.rows
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
        StepShape::Settle { checks } => settle(setting, &counts_of(checks), &[], Among::All),
        StepShape::Sort(of) => sort(setting, of),
        StepShape::Open { results } => Cost {
            flights: vec![open(setting, results)],
            ..base::cost(setting, work)
        },
        // Never planned: the profile has bits alone.
        StepShape::Product(_)
        | StepShape::Ring(_)
        | StepShape::Convert(_)
        | StepShape::Shuffle(_) => Cost::default(),
    }
}

pub(super) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let mut cost = base::set_up_cost(setting, demand);
    let common = message(setting, [0, 1], Seed::BYTES);
    cost.flights[0].push(common);
    cost
}

/// A settlement of so many statements, and of a shuffle with these ones.
fn settle(setting: &Setting, counts: &Counts, turns: &[Turn], among: Among) -> Cost {
    let role = |party: &PartyId| among == Among::All || role_index::role(setting, *party).is_some();
    let crossed = role_index::links(setting).filter(|(from, to)| role(from) && role(to));
    let crossed = crossed
        .map(|(from, to)| Message::new(from, to, SESSION_BYTES + sealane_party::DIGEST_BYTES));
    let mut flights: Vec<Flight> = vec![crossed.collect()];
    let shapes = shapes(counts, turns);
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
    let pieces = |turn: &Turn| (turn.rows * turn.words.div_ceil(2)) as u64;
    let turned = turns.iter().map(pieces);
    let mut work = TURN.times(turned.sum()).and(PROOF, segments as u64);
    for (kernel, count) in PROOFS.into_iter().zip(counts) {
        work = work.and(kernel, *count as u64);
    }
    Cost {
        work,
        ..Cost::of(flights)
    }
}

/// The passes of a sort.
fn sort(setting: &Setting, of: &SortShape) -> Cost {
    let (rows, k) = (of.rows, u64::from(place_bits(of.rows)));
    let mut all = Cost::default();
    for bits in sort::passes(rows, of.key_bits) {
        let (cases, levels) = (places::cases(bits), k as usize);
        let ands = (0..levels).map(|level| places::ands(cases, level, levels));
        let tapes = std::iter::once(places::flags(bits)).chain(ands.map(places::products));
        for tape in tapes {
            add(
                &mut all,
                base::cost(setting, &StepShape::tape(tape, of.domain, rows)),
            );
        }
        let row = of.planes + k;
        for turn in 0..turns::TURNS {
            let messages = [0, 1].map(|place| [turn + place, turn + 2]);
            let bytes = (rows * row).div_ceil(8) as usize;
            let messages = messages.map(|link| message(setting, link, bytes));
            all.flights.push(messages.into());
        }
        let turn = turns::shape(rows as usize, row as usize);
        let mut counts = Counts::default();
        counts[0] = sort::ands(rows, bits) * rows as usize;
        let settled = settle(setting, &counts, &[turn; 2], Among::Roles);
        all.settled.push((checks(&counts), settled.flights.clone()));
        add(&mut all, settled);
        let opened = (0..3).flat_map(|role| {
            let given = message(setting, [role, role + 1], (rows * k).div_ceil(8) as usize);
            [given, message(setting, [role, role + 2], DIGEST)]
        });
        all.flights.push(opened.collect());
        all.work = all.work.and(MOVED, rows * turn.words as u64);
        all.work = all.work.and(COUNTED, counts[0] as u64);
    }
    all
}

/// Adds what comes behind.
fn add(all: &mut Cost, more: Cost) {
    all.flights.extend(more.flights);
    all.ands += more.ands;
    all.work.add(&more.work, 1);
}

/// Flights of a sort of so many rows by so many bits.
pub(super) fn sort_flights(rows: u64, key_bits: u64) -> usize {
    let counted = place_bits(rows) as usize + turns::TURNS + SETTLE_FLIGHTS + 1;
    let passes = sort::passes(rows, key_bits);
    let flights = passes.map(|bits| self::flights(places::flags(bits)) + counted);
    flights.sum()
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
