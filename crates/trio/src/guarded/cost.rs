//! Cost of each step of the profile against a malicious party, flight by flight.

use super::adder::{BITS, MOST_BITS, adder};
use super::crossed::{Among, SESSION_BYTES};
use super::open::{DIGEST_BYTES, given};
use super::settle::shapes;
use super::{Due, SEGMENT, places, sort, turns};
use crate::cost as base;
use crate::masked;
use crate::record::{self, Counts, KINDS, SumCounts};
use crate::role_index;
use crate::sort::place_bits;
use crate::tape::{self, under_masks};
use sealane_block::Seed;
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_party::is_prime;
use sealane_proof::{Shape, Turn};
use sealane_protocol::{
    ConvertShape, Cost, Demand, Flight, Kernel, Message, Opening, Setting, SortShape, StepShape,
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
/// them once and verifies four. This and the two below are parts of the processor time of a sort of
/// a million rows by a profile ([the page](../../../../docs/protocols/trio-malicious.md)), on a
/// machine whose sort of `trio` took 4.2 s: 3.2 s are nominal.
const TURN: Kernel = Kernel::ns("proved_turn", 25);
/// A word of a row in three turns, and of the order of opened places.
const MOVED: Kernel = Kernel::ns("moved_word", 42);
/// An AND of a place, beside that of its tape and its proof: its operands are made and its product
/// is taken.
const COUNTED: Kernel = Kernel::ps("counted_and", 300);
/// The proof of a product of integers, at a party that proves it once and verifies two others: by
/// processor time of the kernels alone, as the next one, on an Intel Xeon.
const SUM: Kernel = Kernel::ns("proved_integer", 70);
/// A term of an inner product of integers.
const TERM: Kernel = Kernel::ns("integer_term", 8);
/// An integer that is sent, with its record: an estimate.
const SENT: Kernel = Kernel::ns("sent_integer", 40);
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
/// Bits of memory of a product of integers in a record: four words of each two, or as many of each
/// bit that becomes an integer.
const SUM_BITS: u64 = 4 * 64;
/// Bits of memory of the record of a step beside them.
const STEP_BITS: u64 = 8 << 10;

/// The statements of a step.
fn due(work: &StepShape) -> Due {
    match work {
        StepShape::Tape(run) => Due::of_bits(record::counts(run.tape, run.lanes as usize)),
        StepShape::Product(of) => {
            let count = if of.matrix { 1 } else { of.lanes };
            sums(2 * of.terms, count)
        }
        StepShape::Convert(of) if is_prime(of.to) => sums(of.bits, of.elements),
        StepShape::Convert(of) => match tape_of(of) {
            Some(tape) => due(&tape),
            None => Due::default(),
        },
        _ => Due::default(),
    }
}

/// So many units of so many products.
fn sums(unit: u64, count: u64) -> Due {
    Due {
        sums: SumCounts::of(unit as usize, count as usize),
        ..Due::default()
    }
}

/// The tape that converts integers to bits.
fn tape_of(of: &ConvertShape) -> Option<StepShape<'static>> {
    let bits = (is_prime(of.from) && of.bits <= MOST_BITS as u64).then_some(of.bits as usize)?;
    Some(StepShape::tape(adder(bits), of.to, of.elements))
}

/// Memory of statements about integers until they are proved, with both constants of each unit.
fn sum_bits(sums: &SumCounts) -> u64 {
    SUM_BITS * sums.products() as u64 + 128 * sums.units() as u64
}

fn weighed(counts: &Counts, weight: impl Fn(usize) -> u64) -> u64 {
    let counts = counts.iter().enumerate();
    counts
        .map(|(kind, count)| *count as u64 * weight(kind))
        .sum()
}

/// Memory of what a step leaves until it is settled.
pub(super) fn material_bits(work: &StepShape) -> u64 {
    let due = due(work);
    let of_segment = AND_BITS * SEGMENT[0] as u64 / record::SEGMENT as u64;
    let bits = weighed(&due.bits, |kind| match kind {
        0 => AND_BITS,
        _ => STRING_BITS[kind],
    });
    bits + of_segment * due.sums.products() as u64
}

/// Memory until a settlement, and of a settlement.
pub(super) fn check_bits(work: &StepShape) -> u64 {
    match work {
        // Records, and messages while they are on their way.
        StepShape::Tape(run) => {
            let counts = due(work).bits;
            let bits = weighed(&counts, |kind| {
                STRING_BITS[kind] + KINDS[kind].field.degree() as u64
            });
            let bits = bits.max(record::kept_bits(run.tape, run.lanes as usize));
            if bits == 0 { 0 } else { bits + STEP_BITS }
        }
        // Records of all lanes, where a row ends within a word, and statements that are made.
        StepShape::Settle { checks } => {
            let due = Due::among(checks);
            weighed(&due.bits, |kind| 2 * STRING_BITS[kind]) + settled_bits(&due.sums)
        }
        StepShape::Convert(of) => match tape_of(of) {
            Some(tape) => check_bits(&tape),
            None => kept(&due(work).sums),
        },
        // Of a matrix, both components of each line, and both constants of each result.
        StepShape::Product(of) if of.matrix => {
            let [rows, columns] = of.lines;
            64 * 2 * (of.terms * (rows + columns) + of.lanes) + STEP_BITS
        }
        StepShape::Product(_) => kept(&due(work).sums),
        _ => 0,
    }
}

/// Memory of the record of a step on integers.
fn kept(sums: &SumCounts) -> u64 {
    if sums.is_empty() {
        0
    } else {
        sum_bits(sums) + STEP_BITS
    }
}

/// Memory of records of integers, and of the largest of their proofs: copies of operands, weights,
/// and two vectors.
fn settled_bits(sums: &SumCounts) -> u64 {
    let segments = sums.segments();
    let products = segments.iter().map(|cut| record::sum_shape(cut));
    let most = products.map(|shape| shape.products()).max().unwrap_or(0);
    sum_bits(sums) + (SUM_BITS + 3 * 128) * most as u64
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
pub(super) fn settle_flights(due: &Due) -> usize {
    if due.is_empty() { 1 } else { SETTLE_FLIGHTS }
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
            checks: due(work).checks(),
            ..base::cost(setting, work)
        },
        StepShape::Product(of) => Cost {
            checks: due(work).checks(),
            work: TERM.times(of.lanes * of.terms).and(SENT, of.lanes),
            ..Cost::of(vec![base::reshare(setting, of.lanes * BITS as u64)])
        },
        StepShape::Convert(of) => match tape_of(of) {
            Some(tape) => cost(setting, &tape),
            None => {
                let bits = of.elements * of.bits * BITS as u64;
                let flights = vec![
                    vec![base::message(setting, [0, 2], bits)],
                    base::reshare(setting, of.elements * BITS as u64),
                ];
                Cost {
                    checks: due(work).checks(),
                    work: SENT.times(of.elements * (of.bits + 1)),
                    ..Cost::of(flights)
                }
            }
        },
        StepShape::Settle { checks } => settle(setting, &Due::among(checks), &[], Among::All),
        StepShape::Sort(of) => sort(setting, of),
        StepShape::Open { results } => Cost {
            flights: vec![open(setting, results)],
            ..base::cost(setting, work)
        },
        // Never planned: there are products and conversions.
        StepShape::Ring(_) | StepShape::Shuffle(_) => Cost::default(),
    }
}

pub(super) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let mut cost = base::set_up_cost(setting, demand);
    let common = message(setting, [0, 1], Seed::BYTES);
    cost.flights[0].push(common);
    cost
}

/// A settlement of so many statements, and of a shuffle with these ones.
fn settle(setting: &Setting, due: &Due, turns: &[Turn], among: Among) -> Cost {
    let role = |party: &PartyId| among == Among::All || role_index::role(setting, *party).is_some();
    let crossed = role_index::links(setting).filter(|(from, to)| role(from) && role(to));
    let crossed = crossed
        .map(|(from, to)| Message::new(from, to, SESSION_BYTES + sealane_party::DIGEST_BYTES));
    let mut flights: Vec<Flight> = vec![crossed.collect()];
    let shapes = shapes(due, turns);
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
    for (kernel, count) in PROOFS.into_iter().zip(due.bits) {
        work = work.and(kernel, count as u64);
    }
    work = work.and(SUM, due.sums.products() as u64);
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
        let due = Due::of_bits(counts);
        let settled = settle(setting, &due, &[turn; 2], Among::Roles);
        all.settled.push((due.checks(), settled.flights.clone()));
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
