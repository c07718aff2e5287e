//! Cost of each step, flight by flight.

use crate::carries::{SHARES, Sum};
use crate::convert::floor_of;
use crate::goods::{cot, of_labels, transfers, wide};
use crate::{Gmw, LABELS};
use sealane_circuit::{Goal, Tape};
use sealane_garble::Scheme;
use sealane_ot::forms;
use sealane_parties::PartyId;
use sealane_party::DIGEST_BYTES;
use sealane_protocol::{
    Algebra, ConvertShape, Correlation, Cost, Demand, Domain, Flight, Kernel, Message,
    ProductShape, Protocol, RingOp, Setting, StepShape,
};
use sealane_yao::sides::{and_kernel, tape_work};

/// An AND online, in a lane.
const AND: Kernel = Kernel::ns("and", 1);
/// An AND in all lanes, an XOR in all, and one on 64 of them, or on fewer.
const AND_GATE: Kernel = Kernel::uncharged("and_gate");
const XOR_GATE: Kernel = Kernel::uncharged("xor_gate");
const XOR_WORD: Kernel = Kernel::uncharged("xor_word");
/// A term of a product online: of two that one party knows, of one that it knows, with the bits of
/// that one, of a matrix, and of any others.
const LOCAL_TERM: Kernel = Kernel::ns("local_term", 3);
const KNOWN_TERM: Kernel = Kernel::ns("known_term", 3);
const KNOWN_BIT: Kernel = Kernel::uncharged("known_bit");
const MATRIX_TERM: Kernel = Kernel::ns("matrix_term", 3);
const TERM: Kernel = Kernel::ns("product_term", 3);
/// A bit that becomes a ring element.
const RING_BIT: Kernel = Kernel::ns("bit_to_ring", 3);
/// A choice of a ring element by a bit.
const CHOSEN: Kernel = Kernel::ns("ring_choice", 6);
/// Labels of a shared bit, beside the transfer.
const LABEL: Kernel = Kernel::ns("chosen_label", 10);
/// Labels of an input bit of the garbler.
const INPUT_LABEL: Kernel = Kernel::uncharged("input_label");
/// A label that becomes shares of its bit.
const LABEL_BIT: Kernel = Kernel::ns("label_to_bit", 1);
/// A projection of a bit at the garbler.
const PROJECTION: Kernel = Kernel::ns("label_to_ring", 20);
/// A bit that a party puts in, and one for each party that learns it.
const INPUT_BIT: Kernel = Kernel::uncharged("input_bit");
const OPENED_BIT: Kernel = Kernel::uncharged("opened_bit");

/// Bits of an element; 1 of bits.
pub(crate) fn bits_of(algebra: Algebra) -> u64 {
    algebra.bits()
}

/// The parties with which this one may exchange payload: all others but those without a role, if it
/// has none either.
pub(crate) fn peers(setting: &Setting, me: PartyId) -> impl Iterator<Item = PartyId> {
    let role = |party| setting.role_of(party).is_some();
    let others = setting.others(me);
    others.filter(move |other| role(me) || role(*other))
}

/// Both parties send so many bits each.
fn both(setting: &Setting, parts: &[u64]) -> Flight {
    let [first, second] = [0, 1].map(|role| setting.player(role));
    let bytes = parts.iter().map(|bits| bits.div_ceil(8)).sum();
    vec![
        Message::new(first, second, bytes),
        Message::new(second, first, bytes),
    ]
}

/// The way in which a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// One party knows both operands.
    Local,
    /// A party knows an operand.
    Known(Known),
    /// Each row of the left operand meets each column of the right one.
    Matrix { rows: u32, inner: u32, columns: u32 },
    /// Each term takes a triple.
    Pairs,
}

/// A product of numbers that a party knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The operand.
    pub(crate) at: usize,
    pub(crate) holder: PartyId,
    /// Bits of each number.
    pub(crate) bits: u8,
    /// The numbers: of a matrix each once, elsewhere one for each pair.
    pub(crate) numbers: u64,
    /// Elements that each of them meets.
    pub(crate) partners: u32,
}

impl Known {
    pub(crate) fn kind(self, algebra: Algebra) -> Correlation {
        Correlation::Known {
            holder: self.holder,
            algebra,
            choice_bits: self.bits,
            partners: self.partners,
        }
    }
}

/// The way in which parties compute a product.
pub(crate) fn method(setting: &Setting, product: &ProductShape) -> Method {
    let (lanes, terms, lines) = (product.lanes, product.terms, product.lines);
    let whole = lines[0] * lines[1] == lanes;
    let known = |at: usize| {
        let holder = product.numbers[at].known_to?;
        setting.role_of(holder)?;
        let bits = product.numbers[at]
            .bits
            .clamp(1, bits_of(product.domain.algebra));
        let (numbers, partners) = if whole {
            (lines[at] * terms, lines[1 - at] as u32)
        } else {
            (lanes * terms, 1)
        };
        Some(Known {
            at,
            holder,
            bits: bits as u8,
            numbers,
            partners,
        })
    };
    match [known(0), known(1)] {
        [Some(left), Some(right)] if left.holder == right.holder => Method::Local,
        [left, right] => {
            let ots = |known: &Known| known.numbers * u64::from(known.bits);
            match left.into_iter().chain(right).min_by_key(ots) {
                Some(known) => Method::Known(known),
                None if whole => Method::Matrix {
                    rows: lines[0] as u32,
                    inner: terms as u32,
                    columns: lines[1] as u32,
                },
                None => Method::Pairs,
            }
        }
    }
}

/// Flights and ANDs of a tape.
fn tape(setting: &Setting, tape: &Tape, lanes: u64) -> Cost {
    let opened = tape.shared_operands().opened.iter();
    let ands = tape.ands.len() as u64 * lanes;
    Cost {
        ands,
        work: AND
            .times(ands)
            .and(AND_GATE, tape.ands.len() as u64)
            .and(XOR_GATE, tape.xors.len() as u64)
            .and(XOR_WORD, tape.xors.len() as u64 * lanes.div_ceil(64)),
        ..Cost::of(opened.map(|bits| both(setting, &[bits * lanes])).collect())
    }
}

/// The garbling scheme of a run: three-halves where the bytes that it saves take longer to cross
/// the declared network than its hashes.
pub(crate) fn scheme(setting: &Setting) -> Scheme {
    let [few, many] = [Scheme::ThreeHalves, Scheme::Mi];
    let crossing = |scheme: Scheme| {
        let crossing = scheme.and_bytes() * 1_000_000_000 / setting.network.bytes_per_s();
        crossing + and_kernel(scheme).nominal_ns(1)
    };
    if crossing(few) < crossing(many) {
        few
    } else {
        many
    }
}

/// A tape on labels.
fn label_tape(setting: &Setting, tape: &Tape, lanes: u64) -> Cost {
    if tape.ands.is_empty() {
        return Cost::default();
    }
    let [garbler, evaluator] = [0, 1].map(|role| setting.player(role));
    let ands = tape.ands.len() as u64 * lanes;
    let scheme = scheme(setting);
    let bytes = scheme.table_bytes(tape, lanes, SHARES);
    Cost {
        ands,
        work: tape_work(scheme, tape, lanes),
        ..Cost::of(vec![vec![Message::new(garbler, evaluator, bytes)]])
    }
}

/// Bits of which the evaluator chooses labels, in a step that makes these.
fn chosen(setting: &Setting, work: &StepShape) -> u64 {
    match work {
        StepShape::Convert(convert) if convert.to == LABELS => convert.bits * convert.elements,
        StepShape::Input(input) if setting.role_of(input.owner) == Some(1) => {
            input.bits * input.elements
        }
        _ => 0,
    }
}

/// A choice of labels of so many bits.
fn choice(setting: &Setting, count: u64) -> Cost {
    if count == 0 {
        return Cost::default();
    }
    let [garbler, evaluator] = [0, 1].map(|role| setting.player(role));
    let bytes = forms::given_bytes(count);
    Cost {
        work: LABEL.times(count),
        ..Cost::of(vec![vec![Message::new(evaluator, garbler, bytes)]])
    }
}

/// A conversion to labels or from them.
fn label_convert(setting: &Setting, convert: &ConvertShape) -> Option<Cost> {
    let [garbler, evaluator] = [0, 1].map(|role| setting.player(role));
    let (elements, ring) = (convert.elements, convert.to.algebra != Algebra::Z2);
    if convert.to == LABELS {
        let mut cost = choice(setting, convert.bits * elements);
        if convert.from.algebra != Algebra::Z2 {
            let (first, count) = (0, convert.bits as u8);
            let sum = Sum::Bits { first, count }.tape(Goal::Size);
            let added = label_tape(setting, &sum, elements);
            cost.ands = added.ands;
            cost.work.add(&added.work, 1);
            cost.flights.extend(added.flights);
        }
        return Some(cost);
    }
    if convert.from != LABELS {
        return None;
    }
    if !ring {
        return Some(Cost {
            work: LABEL_BIT.times(convert.bits * elements),
            ..Cost::default()
        });
    }
    let k = bits_of(convert.to.algebra);
    let planes = convert.bits.min(k);
    let bytes = (0..planes).map(|plane| ((k - plane) * elements).div_ceil(8));
    let told = Message::new(garbler, evaluator, bytes.sum());
    Some(Cost {
        work: PROJECTION.times(planes * elements),
        ..Cost::of(vec![vec![told]])
    })
}

/// The circuit of a step on ring elements, its lanes, and the carries that become ring elements.
fn sum_of(work: &StepShape) -> Option<(Sum, u64, u64)> {
    match work {
        StepShape::Ring(ring) => match ring.op {
            RingOp::Extract { first, count } => Some((Sum::Bits { first, count }, ring.lanes, 0)),
            RingOp::Floor { by } => {
                let k = bits_of(ring.domain.algebra) as usize;
                let (_, sum) = floor_of(k, (ring.bits as usize, ring.signed), by);
                Some((sum, ring.lanes, 2))
            }
            RingOp::Select => None,
        },
        StepShape::Convert(convert) if convert.to == shares_of_bits() => {
            let (first, count) = (0, convert.bits as u8);
            Some((Sum::Bits { first, count }, convert.elements, 0))
        }
        _ => None,
    }
}

/// Bits that a conversion makes ring elements of.
fn converted(work: &StepShape) -> Option<u64> {
    match work {
        StepShape::Convert(convert) if convert.from == shares_of_bits() => {
            Some(convert.bits.min(bits_of(convert.to.algebra)) * convert.elements)
        }
        _ => None,
    }
}

/// The domain of XOR shares.
fn shares_of_bits() -> Domain {
    Gmw::domain(Algebra::Z2)
}

/// A product, by the way in which it is computed.
fn product_cost(setting: &Setting, product: &ProductShape) -> Cost {
    let (k, pairs) = (
        bits_of(product.domain.algebra),
        product.lanes * product.terms,
    );
    let (flights, work) = match method(setting, product) {
        Method::Local => (Vec::new(), LOCAL_TERM.times(pairs)),
        Method::Known(known) => {
            let other = setting.player(usize::from(setting.player(0) == known.holder));
            let told = (known.numbers * u64::from(known.bits)).div_ceil(8);
            let met = (known.numbers * u64::from(known.partners) * k).div_ceil(8);
            let crossed = vec![
                Message::new(known.holder, other, told),
                Message::new(other, known.holder, met),
            ];
            let work = KNOWN_TERM.times(pairs);
            let work = work.and(KNOWN_BIT, pairs * u64::from(known.bits));
            (vec![crossed], work)
        }
        Method::Matrix {
            rows,
            inner,
            columns,
        } => {
            let elements = u64::from(inner) * (u64::from(rows) + u64::from(columns));
            let flight = both(setting, &[elements * k]);
            (vec![flight], MATRIX_TERM.times(pairs))
        }
        Method::Pairs => (vec![both(setting, &[2 * pairs * k])], TERM.times(pairs)),
    };
    Cost {
        work,
        ..Cost::of(flights)
    }
}

pub(crate) fn cost(setting: &Setting, work: &StepShape) -> Cost {
    match work {
        StepShape::Convert(convert) => {
            if let Some(cost) = label_convert(setting, convert) {
                return cost;
            }
        }
        StepShape::Input(input) if input.domain == LABELS => {
            let mut cost = choice(setting, chosen(setting, work));
            if setting.role_of(input.owner) == Some(0) {
                cost.work = INPUT_LABEL.times(input.elements * input.bits);
            }
            return cost;
        }
        _ => {}
    }
    if let Some((sum, lanes, carries)) = sum_of(work) {
        let mut cost = tape(setting, &sum.tape(Goal::Depth), lanes);
        if carries > 0 {
            cost.flights.push(both(setting, &[carries * lanes]));
            cost.work = cost.work.and(RING_BIT, carries * lanes);
        }
        return cost;
    }
    if let Some(bits) = converted(work) {
        return Cost {
            work: RING_BIT.times(bits),
            ..Cost::of(vec![both(setting, &[bits])])
        };
    }
    match work {
        StepShape::Input(input) if setting.role_of(input.owner).is_none() => {
            let bytes = (input.elements * input.bits).div_ceil(8);
            let rest = Message::new(input.owner, setting.player(1), bytes);
            Cost::of(vec![vec![rest]])
        }
        StepShape::Tape(run) if run.domain == LABELS => label_tape(setting, run.tape, run.lanes),
        StepShape::Tape(run) => tape(setting, run.tape, run.lanes),
        StepShape::Ring(ring) => Cost {
            work: CHOSEN.times(ring.lanes),
            ..Cost::of(vec![both(
                setting,
                &[ring.lanes, ring.lanes * bits_of(ring.domain.algebra)],
            )])
        },
        StepShape::Product(product) => product_cost(setting, product),
        StepShape::Settle { .. } => {
            let from = |from| peers(setting, from).map(move |to| (from, to));
            let digest = |(from, to)| Message::new(from, to, DIGEST_BYTES);
            Cost::of(vec![
                setting.everyone().flat_map(from).map(digest).collect(),
            ])
        }
        StepShape::Open { results } => {
            let to = |to: PartyId| {
                let learnt = results.iter().filter(|result| result.to.contains(to));
                let bytes = learnt.map(|result| result.bits.div_ceil(8)).sum::<u64>();
                let roles = [0, 1].map(|role| setting.player(role)).into_iter();
                let from = roles.filter(move |from| *from != to);
                from.map(move |from| Message::new(from, to, bytes))
            };
            let learnt = results
                .iter()
                .map(|result| result.bits * result.to.iter().count() as u64);
            Cost {
                work: OPENED_BIT.times(learnt.sum()),
                ..Cost::of(vec![setting.everyone().flat_map(to).collect()])
            }
        }
        StepShape::Input(input) => Cost {
            work: INPUT_BIT.times(input.elements * input.bits),
            ..Cost::default()
        },
        StepShape::Convert(_) | StepShape::Shuffle(_) | StepShape::Sort(_) => Cost::default(),
    }
}

pub(crate) fn demand(setting: &Setting, work: &StepShape) -> Demand {
    let mut demand = Demand::default();
    let tape_demand = |demand: &mut Demand, tape: &Tape, lanes: u64| {
        for (width, groups) in &tape.shared_operands().groups {
            demand.add(wide(*width), groups * lanes);
        }
    };
    let on_labels = match work {
        StepShape::Tape(run) => run.domain == LABELS,
        StepShape::Input(input) => input.domain == LABELS,
        StepShape::Convert(convert) => [convert.from, convert.to].contains(&LABELS),
        _ => false,
    };
    if on_labels {
        let bits = chosen(setting, work);
        demand.add(cot(setting.player(0), setting.player(1)), bits);
        demand.add(of_labels(setting), 1);
        return demand;
    }
    if let Some((sum, lanes, carries)) = sum_of(work) {
        tape_demand(&mut demand, &sum.tape(Goal::Depth), lanes);
        if let StepShape::Ring(ring) = work {
            let algebra = ring.domain.algebra;
            demand.add(Correlation::DaBit { algebra }, carries * lanes);
        }
        return transfers(setting, demand);
    }
    match work {
        StepShape::Input(input) if setting.role_of(input.owner).is_none() => {
            demand.add(Correlation::Seed { owner: input.owner }, 1);
        }
        StepShape::Tape(run) => tape_demand(&mut demand, run.tape, run.lanes),
        StepShape::Ring(ring) => {
            let algebra = ring.domain.algebra;
            demand.add(Correlation::Select { algebra }, ring.lanes);
        }
        StepShape::Convert(convert) => {
            let algebra = convert.to.algebra;
            demand.add(Correlation::DaBit { algebra }, converted(work).unwrap_or(0));
        }
        StepShape::Product(product) => {
            let algebra = product.domain.algebra;
            match method(setting, product) {
                Method::Local => {}
                Method::Known(known) => demand.add(known.kind(algebra), known.numbers),
                Method::Matrix {
                    rows,
                    inner,
                    columns,
                } => {
                    let matrix = Correlation::Matrix {
                        algebra,
                        rows,
                        inner,
                        columns,
                    };
                    demand.add(matrix, 1);
                }
                Method::Pairs => {
                    let pairs = product.lanes * product.terms;
                    demand.add(Correlation::Triple { algebra }, pairs);
                }
            }
        }
        _ => {}
    }
    transfers(setting, demand)
}
