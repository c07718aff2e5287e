//! Cost of each step of `trio`, flight by flight.

use crate::convert::adder;
use crate::keys::KEY_BYTES;
use crate::sort::{BITS_A_PASS, place_bits};
use crate::tape::{reshared, under_masks};
use crate::{masked, reveal, role_index};
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_party::{DIGEST_BYTES, width};
use sealane_protocol::{
    Correlation, Cost, Demand, Domain, Flight, InputShape, Kernel, Message, Opening, Setting,
    StepShape, TapeShape,
};

/// An AND with its free XORs on 64 lanes, or on fewer: shares of zero, gates, and
/// digests of the messages. Measured, as all but two here, with VAES-512 on two busy cores of an
/// AMD EPYC (Zen 4), and rounded up.
const AND_WORD: Kernel = Kernel::ns("and_word", 20);
/// Nominal cost of a bit that is dealt or opened of 64 lanes, in a tape with functions: the mean of
/// all three duties, with streams of keys, messages and their digests. This and the next are of
/// AES-128 on 24,576 blocks, with VAES-512 on two busy cores of an Intel Xeon (model 167): 6.4 ns.
const MASKED_WORD: Kernel = Kernel::ns("masked_word", 7);
/// Nominal cost of an XOR on 64 lanes in such a tape: 0.35 ns, by samples of a profile.
const XOR_WORD: Kernel = Kernel::ns("masked_xor_word", 1);
/// Nominal cost of a term of an inner product.
const TERM: Kernel = Kernel::ns("product_term", 3);
/// Nominal cost of resharing a ring element.
const ELEMENT: Kernel = Kernel::ns("reshared_element", 15);
/// Nominal cost of a row that is shuffled, for each word of it: of a million rows, as many words of
/// memory are read in a random order.
const SHUFFLED: Kernel = Kernel::ns("shuffled_word", 80);
/// Nominal cost of the place of a row in a pass of a sort.
const PASS: Kernel = Kernel::ns("sorted_place", 120);
/// Nominal cost of a bit that is input or revealed.
const BIT: Kernel = Kernel::ns("plain_bit", 1);

pub(crate) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Input(of) => Cost {
            work: BIT.times(of.elements * of.bits),
            ..Cost::of(vec![input(setting, of.owner, of.elements * of.bits)])
        },
        StepShape::Tape(run) if under_masks(run.tape) => masked(setting, run.tape, run.lanes),
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            let batches = (0..tape.batches.len()).map(|batch| reshared(tape, batch) as u64);
            let batches = batches.filter(|bits| *bits > 0).collect::<Vec<_>>();
            let flights = batches.iter().map(|bits| reshare(setting, bits * lanes));
            Cost {
                ands: tape.ands.len() as u64 * lanes,
                work: AND_WORD.times(batches.iter().sum::<u64>() * lanes.div_ceil(64)),
                ..Cost::of(flights.collect())
            }
        }
        StepShape::Product(product) => {
            let bits = product.lanes * width_of(product.domain).unwrap_or(1);
            Cost {
                work: TERM
                    .times(product.lanes * product.terms)
                    .and(ELEMENT, product.lanes),
                ..Cost::of(vec![reshare(setting, bits)])
            }
        }
        // Never planned: the protocol has products and conversions.
        StepShape::Ring(_) => Cost::default(),
        StepShape::Convert(of) => convert(setting, [of.from, of.to], of.elements, of.bits),
        StepShape::Shuffle(of) => {
            let k = width_of(of.domain);
            let bits = of.rows * of.planes * k.unwrap_or(1);
            let words = k.map_or(of.planes.div_ceil(64), |_| of.planes);
            Cost {
                work: SHUFFLED.times(of.rows * words),
                ..Cost::of(shuffle(setting, bits, None))
            }
        }
        StepShape::Sort(of) => sort(setting, of.rows, of.planes, of.key_bits),
        StepShape::Settle { .. } => Cost::of(vec![digests(setting)]),
        StepShape::Open { results } => Cost {
            work: BIT.times(results.iter().map(|result| result.bits).sum()),
            ..Cost::of(vec![open(setting, results)])
        },
    }
}

/// A tape with functions: in each flight the helper of a part deals for a level, and the two other
/// roles open the level before.
fn masked(setting: &Setting, tape: &Tape, lanes: u64) -> Cost {
    let bits = (0..masked::levels(tape)).map(|level| masked::level_bits(tape, level));
    let bits = bits.collect::<Vec<_>>();
    let part = |part: usize| masked::lanes_of(part, lanes as usize) as u64;
    let flight = |flight: usize| {
        let opened = flight
            .checked_sub(1)
            .map_or(0, |level| bits[level][1] as u64);
        let dealt = bits.get(flight).map_or(0, |bits| bits[0] as u64);
        (0..3).flat_map(move |helper| {
            let opens = [[helper + 2, helper + 1], [helper + 1, helper + 2]];
            let opens = opens.map(|link| message(setting, link, opened * part(helper)));
            let deals = message(setting, [helper, helper + 1], dealt * part(helper));
            opens.into_iter().chain([deals])
        })
    };
    let flights = (0..=bits.len()).map(|number| flight(number).collect());
    let words = lanes.div_ceil(64);
    let all = bits.iter().flatten().sum::<usize>() as u64;
    Cost {
        ands: tape.ands.len() as u64 * lanes,
        work: MASKED_WORD
            .times(all * words)
            .and(XOR_WORD, tape.xors.len() as u64 * words),
        ..Cost::of(flights.collect())
    }
}

pub(crate) fn demand(setting: &Setting, work: &StepShape) -> Demand {
    let mut demand = Demand::default();
    if let StepShape::Input(InputShape { owner, .. }) = work
        && role_index::role(setting, *owner).is_none()
    {
        demand.add(Correlation::Seed { owner: *owner }, 1);
    }
    demand
}

pub(crate) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let message = |from, to| Message::new(from, role_index::party(setting, to), KEY_BYTES);
    let flight = (0..3).map(|role| message(role_index::party(setting, role), role + 2));
    let mut flight: Flight = flight.collect();
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
    let to = match role_index::role(setting, owner) {
        Some(role) => vec![role + 2],
        None => vec![1, 2],
    };
    let message = |role| Message::new(owner, role_index::party(setting, role), bits.div_ceil(8));
    to.into_iter().map(message).collect()
}

/// Both directions between bits and integers; all else is local or refused.
fn convert(setting: &Setting, domains: [Domain; 2], elements: u64, bits: u64) -> Cost {
    match domains.map(width_of) {
        [Some(k), None] if bits <= k => {
            let work = StepShape::tape(adder(bits as usize), domains[1], elements);
            cost(setting, &work)
        }
        [None, Some(k)] => {
            let inputs = elements * bits.min(k);
            let flights = vec![
                input(setting, role_index::party(setting, 0), inputs * k),
                reshare(setting, elements * k),
            ];
            Cost {
                work: ELEMENT.times(inputs),
                ..Cost::of(flights)
            }
        }
        _ => Cost::default(),
    }
}

/// Each role sends so many bits to its predecessor.
pub(crate) fn reshare(setting: &Setting, bits: u64) -> Flight {
    let message = |role| Message {
        from: role_index::party(setting, role),
        to: role_index::party(setting, role + 2),
        bytes: bits.div_ceil(8),
    };
    (0..3).map(message).collect()
}

/// A message of so many bits from one role to another.
pub(crate) fn message(setting: &Setting, [from, to]: [usize; 2], bits: u64) -> Message {
    Message {
        from: role_index::party(setting, from),
        to: role_index::party(setting, to),
        bytes: bits.div_ceil(8),
    }
}

/// Four elements of each row, and six of rows that are opened.
fn shuffle(setting: &Setting, hidden: u64, opened: Option<u64>) -> Vec<Flight> {
    let message = |link, bits| message(setting, link, bits);
    let all = [Some(hidden), opened];
    let to = |link| {
        all.into_iter()
            .flatten()
            .map(move |bits| message(link, bits))
    };
    let pair = opened.map(|bits| [[0, 2], [2, 0]].map(|link| message(link, bits)));
    let last = to([0, 1]).chain(to([2, 1]));
    vec![
        to([0, 2]).collect(),
        to([1, 0]).collect(),
        last.chain(pair.into_iter().flatten()).collect(),
    ]
}

/// The passes of a sort.
fn sort(setting: &Setting, rows: u64, planes: u64, key_bits: u64) -> Cost {
    let mut flights = Vec::new();
    if rows < 2 {
        return Cost::default();
    }
    let places = rows * u64::from(place_bits(rows));
    let mut left = key_bits;
    while left > 0 {
        let bits = left.min(BITS_A_PASS as u64);
        left -= bits;
        flights.push(input(setting, role_index::party(setting, 0), bits * places));
        flights.push(reshare(setting, bits * places));
        if bits > 1 {
            flights.push(reshare(setting, places));
        }
        flights.push(vec![message(setting, [2, 1], places)]);
        flights.extend(shuffle(setting, rows * planes, Some(places)));
    }
    let turns = key_bits.div_ceil(BITS_A_PASS as u64);
    Cost {
        work: PASS
            .times(turns * rows)
            .and(SHUFFLED, turns * rows * planes.div_ceil(64)),
        ..Cost::of(flights)
    }
}

fn digests(setting: &Setting) -> Flight {
    let message = |(from, to)| Message::new(from, to, DIGEST_BYTES);
    role_index::links(setting).map(message).collect()
}

/// Cost of the messages that open the results.
fn open(setting: &Setting, results: &[Opening]) -> Flight {
    let to = |to: PartyId| {
        let learnt = results.iter().filter(move |result| result.to.contains(to));
        let bytes = learnt.map(|result| result.bits.div_ceil(8)).sum();
        let givers = reveal::givers(role_index::role(setting, to)).into_iter();
        givers.map(move |(giver, _)| Message::new(role_index::party(setting, giver), to, bytes))
    };
    setting.everyone().flat_map(to).collect()
}

/// Returns `k` of a ring; none for bits, and for domains that steps refuse.
fn width_of(domain: Domain) -> Option<u64> {
    let width = width(domain).ok().flatten();
    width.map(|k| k as u64)
}
