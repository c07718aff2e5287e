//! Costs of the protocol, flight by flight.

use super::{DEALER, choices, is_masked, planes_of};
use sealane_parties::PartyId;
use sealane_party::ECHO_BYTES;
use sealane_protocol::{
    Algebra, Batch, CheckKind, Checks, Correlation, Cost, Demand, Domain, DomainProfile, Flight,
    Goal, Message, Profile, Protocol, Role, Setting, Sharing, StepShape, TapeUse,
};

/// The protocol, as plans see it.
pub enum Masked {}

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

/// Words of a tape's ANDs on all lanes, and how often parties wait for them.
fn ands(work: &StepShape) -> (u64, Vec<u64>) {
    let StepShape::Tape { tape, lanes, .. } = work else {
        return (0, Vec::new());
    };
    let layers = tape
        .batches
        .iter()
        .map(|batch| batch.ands.len() as u64 * lanes);
    let layers = layers.filter(|count| *count > 0).collect::<Vec<_>>();
    (layers.iter().sum(), layers)
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

/// Triples of which one is kept.
pub(super) fn bucket(setting: &Setting) -> u64 {
    setting.batch.map_or(1, |batch| batch.bucket.into())
}

/// A triple for each AND of a tape.
fn triples(work: &StepShape) -> Demand {
    let mut demand = Demand::default();
    let algebra = Algebra::Z2;
    demand.add(Correlation::Triple { algebra }, ands(work).0);
    demand
}

impl Protocol for Masked {
    fn profile() -> Profile {
        Profile {
            name: "masked",
            roles: ROLES,
            arithmetic: true,
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

    fn tape_domain(tape: TapeUse) -> Domain {
        let sharing = match tape {
            TapeUse::Fold => Sharing::Xor,
            TapeUse::Map | TapeUse::Scan => Sharing::Masked,
        };
        Domain {
            sharing,
            ..Masked::domain(Algebra::Z2)
        }
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
            StepShape::Input {
                owner,
                domain,
                elements,
                bits,
            } => {
                let words = elements * planes_of(*domain, *bits as usize) as u64;
                Cost::of(vec![one_to_all(setting, *owner, 8 * words)])
            }
            StepShape::Tape { domain, .. } => {
                let (ands, layers) = ands(work);
                // A masked product is one word, a product by a triple two.
                let bytes = if is_masked(*domain) { 8 } else { 16 };
                let flights = layers
                    .iter()
                    .map(|count| all_to_all(setting, bytes * count));
                Cost {
                    ands,
                    checks: Checks::of(PRODUCT, if is_masked(*domain) { 0 } else { ands }),
                    ..Cost::of(flights.collect())
                }
            }
            StepShape::Product { lanes, .. } => Cost::of(vec![all_to_all(setting, 8 * lanes)]),
            StepShape::Convert { from, to, .. } if is_masked(*from) && !is_masked(*to) => {
                Cost::default()
            }
            StepShape::Convert {
                from,
                to,
                elements,
                bits,
                ..
            } => {
                let words = |domain: &Domain| planes_of(*domain, *bits as usize) as u64 * elements;
                let words = if is_masked(*from) {
                    words(from) + words(to)
                } else {
                    words(to)
                };
                Cost {
                    checks: Checks::of(converted(to.algebra), *elements),
                    ..Cost::of(vec![all_to_all(setting, 8 * words)])
                }
            }
            // Never called: the protocol has no sorts.
            StepShape::Shuffle { .. } | StepShape::Sort { .. } => Cost::default(),
            StepShape::Settle { checks } => {
                Cost::of(vec![all_to_all(setting, ECHO_BYTES + 8 * words_of(checks))])
            }
            StepShape::Open { results } => {
                let mut flight = Vec::new();
                for result in results {
                    let words = match result.domain.algebra {
                        Algebra::Z2 => result.bits,
                        Algebra::Z2k(k) | Algebra::Gf2k(k) => result.bits / u64::from(k),
                    };
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
            StepShape::Tape { domain, .. } if is_masked(*domain) => match ands(work) {
                (0, _) => Cost::default(),
                (ands, _) => Cost {
                    checks: Checks::of(PRODUCT, ands),
                    ..Cost::of(vec![all_to_all(setting, 16 * ands)])
                },
            },
            StepShape::Settle { .. } => Masked::cost(setting, work),
            // Masks of all elements, each once, to the dealer; parts of their products back.
            StepShape::Product {
                lanes, distinct, ..
            } => {
                let dealer = setting.player(DEALER);
                let asked = setting
                    .others(dealer)
                    .map(|from| Message::new(from, dealer, 8 * distinct.iter().sum::<u64>()));
                Cost::of(vec![
                    asked.collect(),
                    one_to_all(setting, dealer, 8 * lanes),
                ])
            }
            _ => Cost::default(),
        }
    }

    fn material_bits(_: &Setting, work: &StepShape) -> u64 {
        match work {
            StepShape::Tape { domain, .. } if is_masked(*domain) => 192 * ands(work).0,
            _ => 0,
        }
    }

    fn demand(_: &Setting, work: &StepShape) -> Demand {
        match work {
            StepShape::Tape { domain, .. } if !is_masked(*domain) => triples(work),
            _ => Demand::default(),
        }
    }

    fn offline_demand(setting: &Setting, work: &StepShape) -> Demand {
        let mut demand = Demand::default();
        match work {
            StepShape::Input {
                owner,
                domain,
                elements,
                bits,
            } => {
                let words = elements * planes_of(*domain, *bits as usize) as u64;
                for sender in setting.others(*owner) {
                    demand.add(choices(sender, *owner), words);
                }
            }
            StepShape::Tape { domain, .. } if is_masked(*domain) => demand = triples(work),
            _ => {}
        }
        demand
    }

    fn pool_bits(_: &Setting, kind: Correlation) -> u64 {
        match kind {
            Correlation::Triple { .. } => 192,
            _ => 64,
        }
    }

    /// Larger batches and smaller buckets where a run takes many triples.
    fn batch(_: &Setting, demand: impl FnOnce() -> Demand) -> Option<Batch> {
        let algebra = Algebra::Z2;
        let many = demand().count(Correlation::Triple { algebra }) > 1000;
        let (products, bucket) = if many { (9, 2) } else { (5, 3) };
        Some(Batch { products, bucket })
    }

    /// Odd numbers, another for each kind, so that refills leave something over.
    fn refill_unit(setting: &Setting, kind: Correlation) -> u64 {
        match kind {
            Correlation::Triple {
                algebra: Algebra::Z2,
            } => setting.batch.map_or(5, |batch| batch.products),
            Correlation::Triple { .. } => 3,
            _ => 7,
        }
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        let mut flight = Vec::new();
        for (kind, count) in &demand.0 {
            match *kind {
                Correlation::Cot {
                    sender, receiver, ..
                } => flight.push(Message::new(sender, receiver, 8 * count)),
                _ => {
                    let words = 3 * count * bucket(setting);
                    flight.extend(one_to_all(setting, setting.player(DEALER), 8 * words))
                }
            }
        }
        Cost::of(vec![flight])
    }
}
