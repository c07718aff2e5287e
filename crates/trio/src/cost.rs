//! Cost of each step of `trio`, flight by flight.

use crate::convert::adder;
use crate::form::width;
use crate::keys::KEY_BYTES;
use crate::{reveal, seat};
use sealane_parties::PartyId;
use sealane_party::DIGEST_BYTES;
use sealane_protocol::{
    Correlation, Cost, Demand, Domain, Flight, Message, Opening, Setting, StepShape,
};

/// Nominal cost of an AND with its free XORs on 64 lanes, or on fewer: shares of zero, gates, and
/// digests of the messages. Measured, as all here, with VAES-512 on two busy cores of an AMD EPYC
/// (Zen 4), and rounded up.
const AND_WORD_NS: u64 = 20;
/// Nominal cost of a term of an inner product.
const TERM_NS: u64 = 3;
/// Nominal cost of resharing a ring element.
const ELEMENT_NS: u64 = 15;
/// Nominal cost of a bit that is input or revealed.
const BIT_NS: u64 = 1;

pub(crate) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Input {
            owner,
            elements,
            bits,
            ..
        } => Cost {
            compute_ns: elements * bits * BIT_NS,
            ..Cost::of(vec![input(setting, *owner, elements * bits)])
        },
        StepShape::Tape { tape, lanes, .. } => {
            let batches = tape.batches.iter().map(|batch| batch.ands.len() as u64);
            let batches = batches.filter(|ands| *ands > 0);
            let flights = batches.map(|ands| reshare(setting, ands * lanes));
            let ands = tape.ands.len() as u64;
            Cost {
                ands: ands * lanes,
                compute_ns: ands * lanes.div_ceil(64) * AND_WORD_NS,
                ..Cost::of(flights.collect())
            }
        }
        StepShape::Product {
            domain,
            lanes,
            terms,
            ..
        } => {
            let bits = lanes * width_of(*domain).unwrap_or(1);
            Cost {
                compute_ns: lanes * (terms * TERM_NS + ELEMENT_NS),
                ..Cost::of(vec![reshare(setting, bits)])
            }
        }
        StepShape::Convert {
            from,
            to,
            elements,
            bits,
            ..
        } => convert(setting, [*from, *to], *elements, *bits),
        StepShape::Settle { .. } => Cost::of(vec![digests(setting)]),
        StepShape::Open { results } => Cost {
            compute_ns: results.iter().map(|result| result.bits * BIT_NS).sum(),
            ..Cost::of(vec![open(setting, results)])
        },
    }
}

pub(crate) fn demand(setting: &Setting, work: &StepShape) -> Demand {
    let mut demand = Demand::default();
    if let StepShape::Input { owner, .. } = work
        && seat::role(setting, *owner).is_none()
    {
        demand.add(Correlation::Seed { owner: *owner }, 1);
    }
    demand
}

pub(crate) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let message = |from, to| Message {
        from,
        to: seat::party(setting, to),
        bytes: KEY_BYTES,
    };
    let mut flight: Flight = (0..3)
        .map(|role| message(seat::party(setting, role), role + 2))
        .collect();
    for kind in demand.0.keys() {
        if let Correlation::Seed { owner } = kind {
            // Keys of components 0 and 1, to the two holders of each.
            flight.extend([2, 0, 0, 1].map(|role| message(*owner, role)));
        }
    }
    Cost::of(vec![flight])
}

/// An input of so many bits.
fn input(setting: &Setting, owner: PartyId, bits: u64) -> Flight {
    let to = match seat::role(setting, owner) {
        Some(role) => vec![role + 2],
        None => vec![1, 2],
    };
    let message = |role| Message {
        from: owner,
        to: seat::party(setting, role),
        bytes: bits.div_ceil(8),
    };
    to.into_iter().map(message).collect()
}

/// Both directions between bits and integers; all else is local or refused.
fn convert(setting: &Setting, domains: [Domain; 2], elements: u64, bits: u64) -> Cost {
    match domains.map(width_of) {
        [Some(k), None] if bits <= k => {
            let work = StepShape::Tape {
                tape: adder(bits as usize),
                domain: domains[1],
                lanes: elements,
            };
            cost(setting, &work)
        }
        [None, Some(k)] => {
            let inputs = elements * bits.min(k);
            let flights = vec![
                input(setting, seat::party(setting, 0), inputs * k),
                reshare(setting, elements * k),
            ];
            Cost {
                compute_ns: inputs * ELEMENT_NS,
                ..Cost::of(flights)
            }
        }
        _ => Cost::default(),
    }
}

/// Each role sends so many bits to its predecessor.
fn reshare(setting: &Setting, bits: u64) -> Flight {
    let message = |role| Message {
        from: seat::party(setting, role),
        to: seat::party(setting, role + 2),
        bytes: bits.div_ceil(8),
    };
    (0..3).map(message).collect()
}

fn digests(setting: &Setting) -> Flight {
    let message = |(from, to)| Message {
        from,
        to,
        bytes: DIGEST_BYTES,
    };
    seat::links(setting).map(message).collect()
}

/// Cost of the messages that open the results.
fn open(setting: &Setting, results: &[Opening]) -> Flight {
    let to = |to: PartyId| {
        let learnt = results.iter().filter(move |result| result.to.contains(to));
        let bytes = learnt.map(|result| result.bits.div_ceil(8)).sum();
        let givers = reveal::givers(seat::role(setting, to)).into_iter();
        givers.map(move |(giver, _)| Message {
            from: seat::party(setting, giver),
            to,
            bytes,
        })
    };
    setting.everyone().flat_map(to).collect()
}

/// Returns `k` of a ring; none for bits, and for domains that steps refuse.
fn width_of(domain: Domain) -> Option<u64> {
    let width = width(domain).ok().flatten();
    width.map(|k| k as u64)
}
