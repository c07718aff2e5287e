//! Cost of set-ups and refills, and what correlations are made of.

use super::portions::{extensions, most_ots};
use crate::cost::bits_of;
use crate::outside::owners;
use sealane_block::Seed;
use sealane_ot::forms::offset_bytes;
use sealane_ot::source::{Source, ahead};
use sealane_ot::traits::{Correlation as _, CotCost};
use sealane_ot::triples::{
    ArithmeticTriples, DaBits, KnownProducts, KnownShape, MatrixShape, MatrixTriples, Ring, Selects,
};
use sealane_ot::{Flight, Flights, SoftSpoken, then};
use sealane_parties::PartyId;
use sealane_party::papers::SILENT;
use sealane_protocol::{
    Algebra, Choices, Correlation, Cost, Demand, Kernel, Message, Setting, Work,
};
use sealane_yao::sides::{GarblerLabels, ot_kernel};

/// Bytes of a seed.
const SEED_BYTES: u64 = Seed::BYTES as u64;
/// An OT of a silent extension, and the row of any OT hashed under a key of its own, or for bits:
/// of 66 million hashed OTs, and 45 and 36 million triples of bits in a second
/// (`docs/protocols/ot.md`).
const SILENT_COT: Kernel = Kernel::ns("silent_ot", 13);
const HASHED: Kernel = Kernel::ns("hashed_ot", 5);
const HASHED_BIT: Kernel = Kernel::ns("hashed_bit_ot", 1);
/// A bit, or a ring element, that a hashed OT hides beside the first.
const WIDE_BIT: Kernel = Kernel::uncharged("wide_bit");
const WIDE_ELEMENT: Kernel = Kernel::uncharged("wide_element");
/// The base OTs of a direction.
const BASE_OTS: Kernel = Kernel::ns("base_ots", 19_000_000);
/// The set-up of OTs in one direction or both, in each the larger trees of an extension that saves
/// bytes, and the first silent extension.
const SET_UP: Kernel = Kernel::uncharged("ot_set_up");
const SMALL_SET_UP: Kernel = Kernel::uncharged("small_ot_set_up");
const SILENT_SET_UP: Kernel = Kernel::uncharged("silent_set_up");

/// The correlation of ANDs with a common operand.
pub(crate) fn wide(width: usize) -> Correlation {
    match width {
        1 => Correlation::Triple {
            algebra: Algebra::Z2,
        },
        bits => Correlation::Wide { bits: bits as u16 },
    }
}

/// Both parties with a role, the one of the smaller number first: it is the sender of the first
/// direction of OTs.
pub(super) fn directions(setting: &Setting) -> [PartyId; 2] {
    let [first, second] = [0, 1].map(|role| setting.player(role));
    [first.min(second), first.max(second)]
}

/// Returns whether a correlation is one of bits, which sends nothing but the OTs it is made of.
pub(super) fn is_bits(kind: Correlation) -> bool {
    matches!(
        kind,
        Correlation::Wide { .. }
            | Correlation::Triple {
                algebra: Algebra::Z2
            }
    )
}

/// Correlated OTs that one correlation takes in each direction.
pub(super) fn ots(setting: &Setting, kind: Correlation) -> [u64; 2] {
    match kind {
        Correlation::Triple { algebra } => [bits_of(algebra); 2],
        Correlation::Wide { .. } | Correlation::Select { .. } => [1; 2],
        Correlation::DaBit { .. } => [1, 0],
        Correlation::Known {
            holder,
            choice_bits,
            ..
        } => {
            let bits = u64::from(choice_bits);
            if holder == directions(setting)[0] {
                [0, bits]
            } else {
                [bits, 0]
            }
        }
        Correlation::Matrix {
            algebra,
            rows,
            inner,
            columns,
        } => [u64::from(inner) * u64::from(rows.min(columns)) * bits_of(algebra); 2],
        Correlation::Cot { .. } | Correlation::Seed { .. } => [0; 2],
    }
}

/// A demand with the correlated OTs of which its correlations are made.
pub(crate) fn transfers(setting: &Setting, mut demand: Demand) -> Demand {
    let [low, high] = directions(setting);
    let counts = hashed(setting, &demand, |_| true);
    for ((sender, receiver), count) in [(low, high), (high, low)].into_iter().zip(counts) {
        demand.add(cot(sender, receiver), count);
    }
    demand
}

/// Correlated OTs of which some correlations of a demand are made, by direction.
pub(super) fn hashed(
    setting: &Setting,
    demand: &Demand,
    some: impl Fn(Correlation) -> bool,
) -> [u64; 2] {
    let mut counts = [0; 2];
    for (kind, count) in demand.0.iter().filter(|(kind, _)| some(**kind)) {
        let each = ots(setting, *kind);
        counts = [0, 1].map(|at| counts[at] + count * each[at]);
    }
    counts
}

/// Correlated OTs whose sender has the offset.
pub(crate) fn cot(sender: PartyId, receiver: PartyId) -> Correlation {
    Correlation::Cot {
        sender,
        receiver,
        choices: Choices::Random,
    }
}

/// Numbers of correlated OTs in a demand, by direction.
pub(super) fn counts(setting: &Setting, demand: &Demand) -> [u64; 2] {
    let [low, high] = directions(setting);
    [(low, high), (high, low)].map(|(sender, receiver)| demand.count(cot(sender, receiver)))
}

/// Correlated OTs in a demand of which nothing is made, by direction: those of labels.
pub(super) fn labels(setting: &Setting, demand: &Demand) -> [u64; 2] {
    let (counts, hashed) = (counts(setting, demand), hashed(setting, demand, |_| true));
    [0, 1].map(|at| counts[at] - hashed[at])
}

/// Flights of both parties, the one of the smaller number as sender.
fn messages(setting: &Setting, flights: &[Flight]) -> Vec<Vec<Message>> {
    let [low, high] = directions(setting);
    let of_flight = |flight: &Flight| {
        let both = [
            (low, high, flight.from_sender),
            (high, low, flight.from_receiver),
        ];
        let sent = both.into_iter().filter(|(_, _, bytes)| *bytes > 0);
        sent.map(|(from, to, bytes)| Message::new(from, to, bytes))
            .collect()
    };
    flights.iter().map(of_flight).collect()
}

/// Flights that are on their way at the same time.
fn together(one: Flights, other: Flights) -> Flights {
    let count = one.len().max(other.len());
    let at = |flights: &Flights, at: usize| flights.get(at).copied().unwrap_or_default();
    let flight = |i| {
        let (one, other) = (at(&one, i), at(&other, i));
        Flight::new(
            one.from_sender + other.from_sender,
            one.from_receiver + other.from_receiver,
        )
    };
    (0..count).map(flight).collect()
}

/// Flights of two directions that cross.
fn crossed(one: Flights, other: Flights) -> Flights {
    let turned = other.into_iter();
    let turned = turned.map(|flight| Flight::new(flight.from_receiver, flight.from_sender));
    together(one, turned.collect())
}

/// The source of OTs of both directions.
pub(super) fn source(setting: &Setting) -> Source {
    let base = SoftSpoken::on(setting.network);
    if setting.silent {
        Source::Silent(base, SILENT)
    } else {
        Source::SoftSpoken(base)
    }
}

/// Nonce of the garbler, which a run with labels demands.
pub(crate) fn of_labels(setting: &Setting) -> Correlation {
    Correlation::Seed {
        owner: setting.player(0),
    }
}

/// Returns whether a run with this demand has labels.
pub(crate) fn takes_labels(setting: &Setting, demand: &Demand) -> bool {
    demand.count(of_labels(setting)) > 0
}

pub(crate) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    let taken = counts(setting, demand).map(|count| count > 0 && !setting.pooled);
    let source = source(setting);
    let made = set_up_counts(setting, demand).0.into_values();
    let made = made.max().unwrap_or(0);
    let one_way = |taken: bool| match (taken, made) {
        (false, _) => Flights::new(),
        (true, 0) => source.cost().set_up(),
        (true, made) => then(source.cost().set_up(), source.cost().extend(0, made)),
    };
    let [one, other] = match taken {
        [true, true] => [(); 2].map(|()| source.set_up_both()),
        taken => taken.map(one_way),
    };
    let mut flights = messages(setting, &crossed(one, other));
    if flights.is_empty() {
        flights.push(Vec::new());
    }
    let [first, second] = [0, 1].map(|role| setting.player(role));
    if setting.parties > setting.roles.len() {
        flights[0].push(Message::new(first, second, SEED_BYTES));
    }
    if takes_labels(setting, demand) {
        flights[0].push(Message::new(first, second, GarblerLabels::SET_UP_BYTES));
    }
    let seeds = owners(setting, demand).into_iter();
    flights[0].extend(seeds.map(|owner| Message::new(owner, first, SEED_BYTES)));
    let silent = u64::from(setting.silent) * SILENT.first().rows() as u64;
    let directions = taken.map(u64::from).iter().sum::<u64>();
    let spares = u64::from(setting.network.spares_bytes());
    Cost {
        work: BASE_OTS
            .times(directions)
            .and(SET_UP, directions.min(1))
            .and(SMALL_SET_UP, spares * directions)
            .and(SILENT_SET_UP, u64::from(setting.silent) * directions)
            .and(SILENT_COT, directions * (silent + made)),
        ..Cost::of(flights)
    }
}

/// OTs that a set-up makes: an iteration of each silent direction.
pub(crate) fn set_up_counts(setting: &Setting, demand: &Demand) -> Demand {
    let mut made = Demand::default();
    let [low, high] = directions(setting);
    let taken = counts(setting, demand).into_iter();
    for ((sender, receiver), count) in [(low, high), (high, low)].into_iter().zip(taken) {
        if count > 0 && setting.silent && !setting.pooled {
            made.add(cot(sender, receiver), unit(setting) as u64);
        }
    }
    made
}

/// Bits of memory that correlations of a demand take: while they are made, and then.
pub(crate) fn demand_bits(setting: &Setting, demand: &Demand) -> [u64; 2] {
    let cot = pool_bits(setting, cot(setting.player(0), setting.player(1)));
    let kinds = demand.0.iter();
    let kinds = kinds.filter(|(kind, _)| !matches!(kind, Correlation::Cot { .. }));
    let made: u64 = kinds
        .map(|(kind, count)| count * pool_bits(setting, *kind))
        .sum();
    let with = |ots: [u64; 2]| made + cot * (ots[0] + ots[1]);
    [most_ots(setting, demand), labels(setting, demand)].map(with)
}

/// Bits of memory of a correlation.
pub(crate) fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
    match kind {
        Correlation::Cot { .. } if setting.silent => ahead::bits(&SILENT),
        // Both keys, and a bit.
        Correlation::Cot { .. } if setting.pooled => 257,
        Correlation::Cot { .. } => 129,
        Correlation::Seed { .. } => 0,
        Correlation::Triple {
            algebra: Algebra::Z2,
        } => 3,
        Correlation::Triple { .. } => 3 * 64,
        Correlation::Wide { bits } => 1 + 2 * u64::from(bits),
        Correlation::DaBit { .. } => 65,
        Correlation::Select { .. } => 193,
        Correlation::Known {
            choice_bits,
            partners,
            ..
        } => 64 * u64::from(partners) * (1 + u64::from(choice_bits)),
        Correlation::Matrix {
            rows,
            inner,
            columns,
            ..
        } => {
            let [rows, inner, columns] = [rows, inner, columns].map(u64::from);
            64 * (rows * inner + inner * columns + rows * columns)
        }
    }
}

/// Bytes that silent extensions keep beside OTs that are ready, in the directions that a run takes:
/// rows of two iterations.
pub(crate) fn state_bytes(setting: &Setting, demand: &Demand) -> u64 {
    let rows = SILENT.main().rows() + 2 * SILENT.first().rows();
    let directions = counts(setting, demand).map(|count| u64::from(count > 0));
    u64::from(setting.silent) * directions.iter().sum::<u64>() * 16 * rows as u64
}

/// Multiples in which OTs are made.
pub(crate) fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
    lacking.in_units(|kind, _| match kind {
        Correlation::Cot { .. } => unit(setting) as u64,
        _ => 1,
    })
}

/// Number of OTs of which a refill makes a multiple.
pub(super) fn unit(setting: &Setting) -> usize {
    if setting.silent { SILENT.given() } else { 1 }
}

/// Messages of the correlations of a kind beyond the OTs beneath.
fn flights(setting: &Setting, kind: Correlation, count: u64) -> Flights {
    let ahead = Ahead;
    let ring = |algebra| Ring::new(bits_of(algebra) as u32);
    match kind {
        Correlation::Triple { algebra } => {
            ArithmeticTriples::flights(&ahead, 0, ring(algebra), count)
        }
        Correlation::DaBit { algebra } => DaBits::flights(&ahead, 0, ring(algebra), count),
        Correlation::Select { algebra } => Selects::flights(&ahead, 0, ring(algebra), count),
        Correlation::Known { holder, .. } => {
            let flights = KnownProducts::flights(&ahead, 0, known_shape(kind), count);
            if holder == directions(setting)[1] {
                flights
            } else {
                crossed(Flights::new(), flights)
            }
        }
        Correlation::Matrix { .. } => MatrixTriples::flights(&ahead, 0, matrix_shape(kind), count),
        // Those of bits take nothing but OTs.
        Correlation::Wide { .. } | Correlation::Cot { .. } | Correlation::Seed { .. } => {
            Flights::new()
        }
    }
}

/// OTs that were made ahead send nothing.
struct Ahead;

impl CotCost for Ahead {
    fn set_up(&self) -> Flights {
        Flights::new()
    }

    fn extend(&self, _: u64, _: u64) -> Flights {
        Flights::new()
    }

    fn one_way(&self) -> bool {
        true
    }
}

pub(crate) fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
    let (source, counts) = (source(setting).cost(), counts(setting, demand));
    let made = if setting.pooled {
        let offsets = |count| match offset_bytes(count) {
            0 => Flights::new(),
            bytes => vec![Flight::new(bytes, 0)],
        };
        let [one, other] = labels(setting, demand).map(offsets);
        crossed(one, other)
    } else {
        let extend = |count| match count {
            0 => Flights::new(),
            count => source.extend(0, count),
        };
        let extensions = if setting.silent {
            // Iterations of a direction follow one another, each with trees of the next.
            vec![counts]
        } else {
            extensions(setting, demand)
        };
        let extensions = extensions.into_iter().map(|counts| {
            let [one, other] = counts.map(extend);
            crossed(one, other)
        });
        extensions.fold(Flights::new(), together)
    };
    // Those of bits send nothing more, and messages of all others cross.
    let all = demand.0.iter().filter(|(kind, _)| !is_bits(**kind));
    let all = all.map(|(kind, count)| flights(setting, *kind, *count));
    let numbers = all.fold(Flights::new(), together);
    let extended = if setting.silent {
        SILENT_COT
    } else {
        ot_kernel(setting.network)
    };
    let mut work = extended.times(counts[0] + counts[1]);
    for (kind, count) in &demand.0 {
        work.add(&hashing(setting, *kind), *count);
    }
    Cost {
        work,
        ..Cost::of(messages(setting, &then(made, numbers)))
    }
}

/// Work of making a correlation of OTs: a row is hashed for each, to all elements that it hides.
fn hashing(setting: &Setting, kind: Correlation) -> Work {
    let rows = ots(setting, kind).iter().sum::<u64>();
    let (hash, wide, hidden): (_, _, u64) = match kind {
        Correlation::Wide { bits } => (HASHED_BIT, WIDE_BIT, bits.into()),
        Correlation::Known { partners, .. } => (HASHED, WIDE_ELEMENT, partners.into()),
        Correlation::Matrix { rows, columns, .. } => {
            (HASHED, WIDE_ELEMENT, rows.max(columns).into())
        }
        kind if is_bits(kind) => (HASHED_BIT, WIDE_BIT, 1),
        _ => (HASHED, WIDE_ELEMENT, 1),
    };
    hash.times(rows).and(wide, rows * (hidden - 1))
}

pub(super) fn known_shape(kind: Correlation) -> KnownShape {
    let Correlation::Known {
        algebra,
        choice_bits,
        partners,
        ..
    } = kind
    else {
        unreachable!("the shape of another kind")
    };
    KnownShape {
        ring: Ring::new(bits_of(algebra) as u32),
        choice_bits: choice_bits.into(),
        partners: partners as usize,
    }
}

pub(super) fn matrix_shape(kind: Correlation) -> MatrixShape {
    let Correlation::Matrix {
        algebra,
        rows,
        inner,
        columns,
    } = kind
    else {
        unreachable!("the shape of another kind")
    };
    MatrixShape {
        ring: Ring::new(bits_of(algebra) as u32),
        rows: rows as usize,
        inner: inner as usize,
        columns: columns as usize,
    }
}
