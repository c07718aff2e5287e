//! Cost of each step of `yao`; the flights are those of the numbered steps in the crate's
//! documentation.

use crate::outside;
use crate::sides::{GarblerLabels, ot_kernel, tape_work};
use sealane_block::Seed;
use sealane_garble::{Roles, Scheme};
use sealane_ot::source::{Source, ahead};
use sealane_ot::{Flight, SoftSpoken, forms};
use sealane_parties::PartyId;
use sealane_party::DIGEST_BYTES;
use sealane_party::papers::SILENT;
use sealane_protocol::{
    Choices, Correlation, Cost, Demand, Kernel, Message, Setting, StepShape, TapeShape, Work,
    known_to,
};

/// Bytes of the seed of an owner without a role.
const SEED_BYTES: u64 = Seed::BYTES as u64;
/// Bytes of one hash of a label.
const HASH_BYTES: u64 = 16;

/// One of a silent extension, on either side.
const SILENT_COT: Kernel = Kernel::ns("silent_ot", 40);
/// The base OTs: 256 products in ristretto255 at the evaluator, after the garbler's 128.
const BASE_OTS: Kernel = Kernel::ns("base_ots", 19_000_000);
/// One that was made before, as an input takes it.
const CHOSEN_OT: Kernel = Kernel::ns("chosen_ot", 10);
/// Labels of an input bit that the garbler knows.
const INPUT_LABEL: Kernel = Kernel::uncharged("input_label");
/// A bit of a result for each party that learns it.
const OPENED_LABEL: Kernel = Kernel::uncharged("opened_label");

/// Returns the source of OTs that are made in the run.
pub(crate) fn source(setting: &Setting) -> Source {
    let base = SoftSpoken::on(setting.network);
    if setting.silent {
        Source::Silent(base, SILENT)
    } else {
        Source::SoftSpoken(base)
    }
}

/// Bytes by which the evaluator chooses its labels of so many bits.
fn choices_bytes(setting: &Setting, bits: u64) -> u64 {
    let extension = if setting.silent {
        0
    } else {
        let flights = source(setting).cost().extend(0, bits);
        flights.iter().map(|flight| flight.from_receiver).sum()
    };
    extension + forms::given_bytes(bits)
}

/// An OT that an input takes in the run: a silent one was made before.
fn inputs_kernel(setting: &Setting) -> Kernel {
    if setting.silent || setting.pooled {
        CHOSEN_OT
    } else {
        ot_kernel(setting.network)
    }
}

/// Returns garbler and evaluator.
pub(crate) fn roles(setting: &Setting) -> [PartyId; 2] {
    [setting.player(0), setting.player(1)]
}

/// The parties with which this one may exchange payload: all others but those without a role, if it
/// has none either.
pub(crate) fn peers(setting: &Setting, me: PartyId) -> impl Iterator<Item = PartyId> {
    let role = |party| setting.role_of(party).is_some();
    let others = setting.others(me);
    others.filter(move |other| role(me) || role(*other))
}

/// Returns the roles in the numbering of tapes.
pub(crate) fn garbling_roles(setting: &Setting) -> Roles {
    let [garbler, evaluator] = roles(setting).map(known_to);
    Roles { garbler, evaluator }
}

pub(crate) fn cost(scheme: Scheme, setting: &Setting, work: &StepShape) -> Cost {
    let [garbler, evaluator] = roles(setting);
    let from_garbler = |bytes| Message::new(garbler, evaluator, bytes);
    let from_evaluator = |bytes| Message::new(evaluator, garbler, bytes);
    match work {
        StepShape::Input(input) if input.owner != garbler => {
            let count = input.elements * input.bits;
            let mut flights = if !setting.pooled {
                vec![vec![from_evaluator(choices_bytes(setting, count))]]
            } else {
                vec![
                    vec![from_evaluator(forms::given_bytes(count))],
                    vec![from_garbler(forms::offset_bytes(count))],
                ]
            };
            if input.owner != evaluator {
                // The evaluator gives a share, as soon as it has it.
                let share = Message::new(input.owner, evaluator, count.div_ceil(8));
                flights.insert(0, vec![share]);
            }
            Cost {
                work: inputs_kernel(setting).times(count),
                ..Cost::of(flights)
            }
        }
        StepShape::Input(input) => Cost {
            work: INPUT_LABEL.times(input.elements * input.bits),
            ..Cost::default()
        },
        StepShape::Product(_)
        | StepShape::Ring(_)
        | StepShape::Convert(_)
        | StepShape::Shuffle(_)
        | StepShape::Sort(_) => Cost::default(),
        StepShape::Tape(run) if run.tape.ands.is_empty() => Cost::default(),
        StepShape::Tape(TapeShape { tape, lanes, .. }) => {
            let ands = tape.ands.len() as u64 * lanes;
            Cost {
                ands,
                work: tape_work(scheme, tape, *lanes),
                ..Cost::of(vec![vec![from_garbler(scheme.table_bytes(
                    tape,
                    *lanes,
                    garbling_roles(setting),
                ))]])
            }
        }
        StepShape::Settle { .. } => {
            let from = |from| peers(setting, from).map(move |to| (from, to));
            let digest = |(from, to)| Message::new(from, to, DIGEST_BYTES);
            Cost::of(vec![
                setting.everyone().flat_map(from).map(digest).collect(),
            ])
        }
        StepShape::Open { results } => {
            let to = |to| {
                let learnt = results.iter().filter(|result| result.to.contains(to));
                let bytes = HASH_BYTES * learnt.map(|result| result.bits).sum::<u64>();
                let given = [(garbler, 2 * bytes), (evaluator, bytes)].into_iter();
                let given = given.filter(move |(from, _)| *from != to);
                given.map(move |(from, bytes)| Message { from, to, bytes })
            };
            let learnt = results
                .iter()
                .map(|result| result.bits * result.to.iter().count() as u64);
            Cost {
                work: OPENED_LABEL.times(learnt.sum()),
                ..Cost::of(vec![setting.everyone().flat_map(to).collect()])
            }
        }
    }
}

pub(crate) fn demand(setting: &Setting, work: &StepShape) -> Demand {
    let [garbler, evaluator] = roles(setting);
    let mut demand = Demand::default();
    if let StepShape::Input(input) = work
        && input.owner != garbler
    {
        let kind = Correlation::Cot {
            sender: garbler,
            receiver: evaluator,
            choices: Choices::Given,
        };
        demand.add(kind, input.elements * input.bits);
        if input.owner != evaluator {
            demand.add(Correlation::Seed { owner: input.owner }, 1);
        }
    }
    demand
}

pub(crate) fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
    // With a pool, OTs were made before.
    let made = transfers(demand) > 0 && !setting.pooled;
    let mut flights = if made {
        source(setting).cost().set_up()
    } else {
        vec![Flight::default()]
    };
    // The nonce leaves with the garbler's first message.
    flights[0].from_sender += GarblerLabels::SET_UP_BYTES;
    let first = if setting.silent {
        SILENT.first().rows() as u64
    } else {
        0
    };
    let mut flights = messages(setting, &flights);
    let [garbler, _] = roles(setting);
    let seed = |owner| Message::new(owner, garbler, SEED_BYTES);
    flights[0].extend(outside::owners(demand).into_iter().map(seed));
    let work = if made {
        BASE_OTS.times(1).and(SILENT_COT, first)
    } else {
        Work::default()
    };
    Cost {
        work,
        ..Cost::of(flights)
    }
}

/// Bits of memory of a correlation that is made ahead.
pub(crate) fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
    match (setting.silent, kind) {
        (true, Correlation::Cot { .. }) => ahead::bits(&SILENT),
        _ => 0,
    }
}

/// Bytes that a silent extension keeps beside OTs that are ready: rows of two iterations.
pub(crate) fn state_bytes(setting: &Setting, demand: &Demand) -> u64 {
    let rows = SILENT.main().rows() + 2 * SILENT.first().rows();
    if setting.silent && transfers(demand) > 0 {
        HASH_BYTES * rows as u64
    } else {
        0
    }
}

/// Number of OTs that are made at once.
pub(crate) fn refill_unit() -> u64 {
    SILENT.given() as u64
}

pub(crate) fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
    let count = transfers(demand);
    let flights = ahead::refill(SILENT, SoftSpoken::on(setting.network), count);
    Cost {
        work: SILENT_COT.times(count),
        ..Cost::of(messages(setting, &flights))
    }
}

/// Number of OTs in a demand.
pub(crate) fn transfers(demand: &Demand) -> u64 {
    let ots = demand.only(|kind| matches!(kind, Correlation::Cot { .. }));
    ots.0.values().sum()
}

/// Messages of OTs, whose sender is the garbler.
fn messages(setting: &Setting, flights: &[Flight]) -> Vec<Vec<Message>> {
    let [garbler, evaluator] = roles(setting);
    let of_flight = |flight: &Flight| {
        let both = [
            (evaluator, garbler, flight.from_receiver),
            (garbler, evaluator, flight.from_sender),
        ];
        let sent = both.into_iter().filter(|(_, _, bytes)| *bytes > 0);
        sent.map(|(from, to, bytes)| Message { from, to, bytes })
            .collect()
    };
    flights.iter().map(of_flight).collect()
}
