//! Costs of the protocol, flight by flight.

use super::pools::{choices, groups, layout, wide};
use super::ring::result_of;
use super::{DEALER, bytes_of, is_masked, known, planes_of};
use sealane_circuit::Tape;
use sealane_circuit::tape::Batch;
use sealane_parties::PartyId;
use sealane_party::ECHO_BYTES;
use sealane_protocol::{
    Algebra, Batch as Batches, CheckKind, Checks, Correlation, Cost, Demand, Domain, DomainProfile,
    Flight, Goal, Message, Profile, Protocol, RingOp, Role, Setting, Sharing, StepShape,
};

/// The protocol, as plans see it.
pub enum Masked {}

/// Domain of tapes with few ANDs.
const XOR: Domain = Domain {
    sharing: Sharing::Xor,
    algebra: Algebra::Z2,
    authenticated: false,
};

const ROLES: &[Role] = &[Role::one("dealer"), Role::any("others")];

/// Kind of the check of an AND by a triple.
pub(super) const PRODUCT: CheckKind = CheckKind {
    field: Algebra::Z2,
    terms: 1,
};

/// Kind of the check of an element that is converted to an algebra.
pub(super) fn converted(field: Algebra) -> CheckKind {
    CheckKind { field, terms: 0 }
}

/// Words by which checks are settled: one for each ring element, or for 64 bits of a kind.
pub(super) fn words_of(checks: &Checks) -> u64 {
    let words = checks.0.iter().map(|(kind, count)| match kind.field {
        Algebra::Z2 => count.div_ceil(64),
        _ => *count,
    });
    words.sum()
}

/// ANDs of each layer of a tape, on all lanes, and the words of their groups: both factors, of
/// which the first one is common.
fn layers(tape: &Tape, lanes: u64) -> Vec<[u64; 2]> {
    let layer = |batch: &Batch| {
        let ands = batch.ands.len() as u64;
        [ands, ands + groups(tape, batch).len() as u64].map(|count| count * lanes)
    };
    tape.batches
        .iter()
        .map(layer)
        .filter(|[ands, _]| *ands > 0)
        .collect()
}

/// ANDs of a tape on all lanes, and the words of their groups.
fn ands(tape: &Tape, lanes: u64) -> [u64; 2] {
    let layers = layers(tape, lanes);
    [0, 1].map(|of| layers.iter().map(|layer| layer[of]).sum())
}

/// Every party sends so many bytes to every other.
fn all_to_all(setting: &Setting, bytes: u64) -> Flight {
    let from = |from| one_to_all(setting, from, bytes);
    setting.everyone().flat_map(from).collect()
}

fn one_to_all(setting: &Setting, from: PartyId, bytes: u64) -> Flight {
    let message = |to| Message { from, to, bytes };
    setting.others(from).map(message).collect()
}

/// Correlations of a kind of which one is kept.
pub(super) fn bucket(setting: &Setting, kind: Correlation) -> u64 {
    match (kind, setting.batch) {
        (Correlation::Triple { .. }, Some(batch)) => batch.bucket.into(),
        _ => 1,
    }
}

/// A wide triple for each group of ANDs of a tape.
fn triples(tape: &Tape, lanes: u64) -> Demand {
    let mut demand = Demand::default();
    for width in tape.batches.iter().flat_map(|batch| groups(tape, batch)) {
        demand.add(wide(width), lanes);
    }
    demand
}

/// The product of matrices that a product is, if each row of the left operand meets each column of
/// the right one.
pub(super) fn matrix(work: &StepShape) -> Option<Correlation> {
    let StepShape::Product(product) = work else {
        return None;
    };
    let [rows, columns] = product.lines;
    let matrix = rows * columns == product.lanes && known(product.numbers).is_none();
    matrix.then_some(Correlation::Matrix {
        algebra: product.domain.algebra,
        rows: rows as u32,
        inner: product.terms as u32,
        columns: columns as u32,
    })
}

/// The correlation that a product takes for each number that a party knows, and how many numbers:
/// of a matrix product each meets all lines of the other matrix, of another one element.
pub(super) fn known_numbers(work: &StepShape) -> Option<(Correlation, u64)> {
    let StepShape::Product(product) = work else {
        return None;
    };
    let (lanes, lines) = (product.lanes, product.lines);
    let (at, holder) = known(product.numbers)?;
    let (chosen, partners) = if lines[0] * lines[1] == lanes {
        (lines[at] * product.terms, lines[1 - at])
    } else {
        (lanes * product.terms, 1)
    };
    let kind = Correlation::Known {
        holder,
        algebra: product.domain.algebra,
        choice_bits: product.numbers[at].bits.max(1) as u8,
        partners: partners as u32,
    };
    Some((kind, chosen))
}

/// Bits that the mask of a conversion becomes ring elements of, if it does.
pub(super) fn da_bits(work: &StepShape) -> Option<(Correlation, u64)> {
    let StepShape::Convert(convert) = work else {
        return None;
    };
    let masked = is_masked(convert.from) && is_masked(convert.to);
    let algebra = convert.to.algebra;
    let made = (
        Correlation::DaBit { algebra },
        convert.elements * convert.bits,
    );
    (masked && convert.from.algebra == Algebra::Z2).then_some(made)
}

impl Protocol for Masked {
    fn profile() -> Profile {
        Profile {
            name: "masked",
            roles: ROLES,
            arithmetic: true,
            pools: true,
            settles: true,
            offline: true,
            ..Profile::HIDES_NOTHING
        }
    }

    fn domain(algebra: Algebra) -> Domain {
        Domain {
            sharing: Sharing::Masked,
            algebra,
            authenticated: false,
        }
    }

    fn tape_domains() -> Vec<Domain> {
        vec![XOR, Masked::domain(Algebra::Z2)]
    }

    /// XOR shares become ring elements in one conversion, or by way of masked bits, which may be
    /// there already.
    fn routes(from: Domain, to: Domain) -> Vec<Vec<Domain>> {
        let bits = Masked::domain(Algebra::Z2);
        match (from, to) {
            (XOR, ring) if ring != bits => vec![vec![bits, ring], vec![ring]],
            (ring, XOR) if ring != bits => vec![vec![bits, XOR]],
            _ => vec![vec![to]],
        }
    }

    fn ring_steps() -> bool {
        true
    }

    fn domain_profile(domain: Domain, _: usize) -> DomainProfile {
        DomainProfile {
            goal: match domain.sharing {
                Sharing::Xor => Goal::Size,
                _ => Goal::Depth,
            },
            // A word for each bit, and a mask.
            share_bits: 128,
        }
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        match work {
            StepShape::Input(input) => {
                let words = input.elements * planes_of(input.domain, input.bits as usize) as u64;
                Cost::of(vec![one_to_all(setting, input.owner, 8 * words)])
            }
            StepShape::Tape(run) => {
                // A masked product is one word; a product by a triple is its factors.
                let masked = is_masked(run.domain);
                let [ands, _] = ands(run.tape, run.lanes);
                let layers = layers(run.tape, run.lanes).into_iter();
                let of = usize::from(!masked);
                let flights = layers.map(|layer| all_to_all(setting, 8 * layer[of]));
                Cost {
                    ands,
                    checks: Checks::of(PRODUCT, if masked { 0 } else { ands }),
                    ..Cost::of(flights.collect())
                }
            }
            StepShape::Product(product) => {
                let told = known(product.numbers).zip(known_numbers(work));
                let told = told.map(|((at, owner), (_, count))| {
                    one_to_all(setting, owner, count * bytes_of(product.numbers[at]) as u64)
                });
                let opened = all_to_all(setting, 8 * product.lanes);
                Cost::of(told.into_iter().chain([opened]).collect())
            }
            StepShape::Convert(convert) if is_masked(convert.from) && !is_masked(convert.to) => {
                Cost::default()
            }
            StepShape::Convert(convert) if da_bits(work).is_some() => {
                Cost::of(vec![all_to_all(setting, 8 * convert.elements)])
            }
            StepShape::Convert(convert) => {
                let (from, to, elements) = (convert.from, convert.to, convert.elements);
                let words = |domain| planes_of(domain, convert.bits as usize) as u64 * elements;
                // XOR shares and their masks are one word a bit.
                let words = if is_masked(from) || to.algebra != Algebra::Z2 {
                    words(from) + words(to)
                } else {
                    words(to)
                };
                Cost {
                    checks: Checks::of(converted(to.algebra), elements),
                    ..Cost::of(vec![all_to_all(setting, 8 * words)])
                }
            }
            StepShape::Ring(ring) if ring.op == RingOp::Select => {
                Cost::of(vec![all_to_all(setting, 8 * ring.lanes)])
            }
            // Masks of elements and of results.
            StepShape::Ring(ring) => {
                let (algebra, planes) = result_of(ring.op, ring.domain.algebra);
                let words = 1 + planes as u64;
                Cost {
                    checks: Checks::of(converted(algebra), ring.lanes),
                    ..Cost::of(vec![all_to_all(setting, 8 * words * ring.lanes)])
                }
            }
            // Never called: the protocol has no sorts.
            StepShape::Shuffle(_) | StepShape::Sort(_) => Cost::default(),
            StepShape::Settle { checks } => {
                Cost::of(vec![all_to_all(setting, ECHO_BYTES + 8 * words_of(checks))])
            }
            StepShape::Open { results } => {
                let mut flight = Vec::new();
                for result in results {
                    let words = result.bits / result.domain.algebra.bits();
                    let message = |from, to| Message::new(from, to, 8 * words);
                    for to in result.to.iter() {
                        flight.extend(setting.others(to).map(|from| message(from, to)));
                    }
                }
                Cost::of(vec![flight])
            }
        }
    }

    fn offline_cost(setting: &Setting, work: &StepShape) -> Cost {
        match work {
            // The owner tells its choices.
            StepShape::Input(input) if setting.pooled && input.domain.algebra == Algebra::Z2 => {
                Masked::cost(setting, work)
            }
            StepShape::Tape(run) if is_masked(run.domain) => match ands(run.tape, run.lanes) {
                [0, _] => Cost::default(),
                [ands, words] => Cost {
                    checks: Checks::of(PRODUCT, ands),
                    ..Cost::of(vec![all_to_all(setting, 8 * words)])
                },
            },
            StepShape::Convert(_) => match da_bits(work) {
                Some((_, count)) => Cost::of(vec![all_to_all(setting, 8 * count)]),
                None => Cost::default(),
            },
            // The masks of a bit and of an element.
            StepShape::Ring(ring) if ring.op == RingOp::Select => {
                Cost::of(vec![all_to_all(setting, 16 * ring.lanes)])
            }
            StepShape::Settle { .. } => Masked::cost(setting, work),
            // The masks of the elements that each number meets.
            StepShape::Product(product) if known(product.numbers).is_some() => {
                Cost::of(vec![all_to_all(setting, 8 * product.lanes * product.terms)])
            }
            StepShape::Product(product) if matrix(work).is_some() => {
                let words = product.terms * product.lines.iter().sum::<u64>();
                Cost::of(vec![all_to_all(setting, 8 * words)])
            }
            // Masks of all elements, each once, to the dealer; parts of their products back.
            StepShape::Product(product) => {
                let dealer = setting.player(DEALER);
                let bytes = 8 * product.distinct.iter().sum::<u64>();
                let asked = setting.others(dealer);
                let asked = asked.map(|from| Message::new(from, dealer, bytes));
                let parts = one_to_all(setting, dealer, 8 * product.lanes);
                Cost::of(vec![asked.collect(), parts])
            }
            _ => Cost::default(),
        }
    }

    fn material_bits(_: &Setting, work: &StepShape) -> u64 {
        match work {
            StepShape::Tape(run) if is_masked(run.domain) => 192 * ands(run.tape, run.lanes)[0],
            _ => 0,
        }
    }

    fn demand(_: &Setting, work: &StepShape) -> Demand {
        match work {
            StepShape::Tape(run) if !is_masked(run.domain) => triples(run.tape, run.lanes),
            _ => Demand::default(),
        }
    }

    fn offline_demand(setting: &Setting, work: &StepShape) -> Demand {
        let mut demand = Demand::default();
        match work {
            StepShape::Input(input) if input.domain.algebra == Algebra::Z2 => {
                let words = input.elements * input.bits;
                for sender in setting.others(input.owner) {
                    demand.add(choices(sender, input.owner), words);
                }
            }
            StepShape::Tape(run) if is_masked(run.domain) => {
                demand = triples(run.tape, run.lanes);
            }
            StepShape::Ring(ring) if ring.op == RingOp::Select => {
                let algebra = ring.domain.algebra;
                demand.add(Correlation::Select { algebra }, ring.lanes);
            }
            _ => {}
        }
        matrix(work)
            .into_iter()
            .for_each(|kind| demand.add(kind, 1));
        let many = da_bits(work).into_iter().chain(known_numbers(work));
        many.for_each(|(kind, count)| demand.add(kind, count));
        demand
    }

    fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
        match kind {
            Correlation::Cot { .. } if setting.pooled => 0,
            _ => 64 * layout(kind).len() as u64,
        }
    }

    /// Larger batches and smaller buckets where a run takes many triples.
    fn batch(_: &Setting, demand: impl FnOnce() -> Demand) -> Option<Batches> {
        let algebra = Algebra::Z2;
        let many = demand().count(Correlation::Triple { algebra }) > 1000;
        let (products, bucket) = if many { (9, 2) } else { (5, 3) };
        Some(Batches { products, bucket })
    }

    /// Multiples of odd numbers, another for each kind, so that refills leave something over;
    /// larger ones where much is lacking.
    fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
        lacking.in_units(|kind, count| {
            let unit = match kind {
                Correlation::Triple {
                    algebra: Algebra::Z2,
                } => setting.batch.map_or(5, |batch| batch.products),
                Correlation::Triple { .. } => 3,
                Correlation::Matrix { .. } => 1,
                _ => 7,
            };
            unit + u64::from(count > 5) * 2
        })
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        let mut flight = Vec::new();
        for (kind, count) in &demand.0 {
            match *kind {
                Correlation::Cot {
                    sender, receiver, ..
                } => flight.push(Message::new(sender, receiver, 8 * count)),
                kind => {
                    let made = count * bucket(setting, kind);
                    let bytes = 8 * layout(kind).len() as u64 * made;
                    flight.extend(one_to_all(setting, setting.player(DEALER), bytes));
                }
            }
        }
        Cost::of(vec![flight])
    }
}
