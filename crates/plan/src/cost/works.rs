//! Parts of single steps in the cost of a run, for bounds on the costs of many plans.
//!
//! Bytes, computing and correlations of a run are sums over its steps. Of its rounds a step has a
//! part in those of each chain of steps that it is in: by [`Work::leads`], for clocks of the two
//! parties that play roles of one.

use super::clock::Delays;
use super::tally::Tally;
use super::walk::{Counter, Counts, Known, Piece, TileStep};
use crate::flow::IN_FLIGHT;
use crate::steps::{Plan, StepOp};
use sealane_parties::PartyId;
use sealane_program::types::RowId;
use sealane_protocol::{Cost, Demand, Flight, Protocol, Setting, StepShape, Walk};
use std::collections::BTreeMap;

/// Rounds by which the clock of one player after some flights is at least that of one before them:
/// entry `[from][to]`.
///
/// Clocks of two players that hear of each other alone never differ by more than 1: so where no
/// message leads from one to the other, the entry is -1.
pub(crate) type Lead = [[f64; 2]; 2];

/// Leads of no flight.
pub(crate) const NO_LEAD: Lead = [[0.0, -1.0], [-1.0, 0.0]];

/// Part of a step in the cost of a run, all tiles together.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Payload bytes by sender and receiver.
    pub payload: BTreeMap<(PartyId, PartyId), u64>,
    /// Nanoseconds of computing.
    pub compute_ns: u64,
    /// Correlations that it takes.
    pub demand: Demand,
    /// Its leads in a full tile, and in the last one.
    pub leads: [Lead; 2],
    /// Leads of the combinations of all tiles with those before them, one after the other.
    pub carries: Option<Lead>,
}

/// Tiles of a walk over a table, or the only one of a segment that runs once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    /// Full tiles that run one after the other, at least: a tile begins when fewer than
    /// [`IN_FLIGHT`] are under way.
    pub loops: u64,
    /// True if the last tile, which has fewer rows, runs after these.
    pub rest: bool,
}

impl Tiles {
    /// The tiles of a walk over a table of a plan.
    pub fn of(plan: &Plan, rows: &[u64], table: Option<RowId>) -> Tiles {
        let (full, _, rest) = sizes(plan, rows, table);
        let flight = IN_FLIGHT as u64;
        let after = full.is_multiple_of(flight) && rest > 0;
        Tiles {
            loops: full.div_ceil(flight),
            rest: after,
        }
    }
}

/// Full tiles of a walk, their rows, and the rows of a last tile that is not full.
fn sizes(plan: &Plan, rows: &[u64], table: Option<RowId>) -> (u64, u64, u64) {
    let Some(table) = table else {
        return (1, 1, 0);
    };
    let table = usize::from(table.0);
    let tile = plan.rows[table].tile;
    (rows[table] / tile, tile, rows[table] % tile)
}

/// Parts of all steps of a plan, and of the opening of all results, whose leads end at any party.
pub(crate) fn works<'a, P: Protocol>(
    plan: &'a Plan,
    rows: &'a [u64],
) -> (Vec<(&'a StepOp, Work)>, Work) {
    let (counter, counts) = (
        counter(plan, rows),
        Counts::run::<P>(plan, &plan.setting, rows),
    );
    let mut works = Vec::new();
    for (number, (segment, tallies)) in plan.segments.iter().zip(&counts.steps).enumerate() {
        let (full, tile, rest) = sizes(plan, rows, segment.rows);
        for (step, (planned, tallies)) in segment.steps.iter().zip(&**tallies).enumerate() {
            let leads = [tile, rest].map(|rows| {
                let at = TileStep {
                    segment: number,
                    step,
                    rows,
                    walk: Walk::Online,
                    combined: false,
                };
                let pieces = (rows > 0).then(|| counter.pieces::<P>(at));
                lead::<P>(&plan.setting, pieces.into_iter().flatten())
            });
            let carry = counter.carry(&planned.op);
            let carry = carry.filter(|_| full + u64::from(rest > 0) > 1);
            let times = full + u64::from(rest > 0) - 1;
            let carries = carry.map(|piece| {
                let piece = Piece { times, ..piece };
                lead::<P>(&plan.setting, std::iter::once(piece))
            });
            let tally = &tallies[Walk::Online.index()];
            works.push((&planned.op, work(tally, leads, carries)));
        }
    }
    let mut delays = Delays::none(plan.setting.parties);
    delays.pass(1, &counts.reveal_flights[Walk::Online.index()]);
    let last = [0, 1].map(|from| {
        let from = plan.setting.player(from);
        let after = plan
            .setting
            .everyone()
            .filter_map(|to| delays.lead(from, to));
        [after.max().unwrap_or(0) as f64; 2]
    });
    let reveal = work(&counts.reveal[Walk::Online.index()], [last; 2], None);
    (works, reveal)
}

/// Part of a step of this shape that runs in each tile of a table; `shape` takes its rows.
pub(crate) fn shaped<'a, P: Protocol>(
    plan: &Plan,
    rows: &[u64],
    table: Option<RowId>,
    shape: impl Fn(u64) -> StepShape<'a>,
) -> Work {
    let (full, tile, rest) = sizes(plan, rows, table);
    let setting = &plan.setting;
    let mut tally = Tally::default();
    let mut leads = [NO_LEAD; 2];
    for (at, (rows, times)) in [(tile, full), (rest, u64::from(rest > 0))]
        .iter()
        .enumerate()
    {
        if *times > 0 {
            let work = shape(*rows);
            tally.add(
                0,
                &P::cost(setting, &work),
                &P::demand(setting, &work),
                *times,
            );
            let (times, lanes) = (1, 0);
            leads[at] = lead::<P>(setting, std::iter::once(Piece { times, lanes, work }));
        }
    }
    work(&tally, leads, None)
}

fn work(tally: &Tally, leads: [Lead; 2], carries: Option<Lead>) -> Work {
    Work {
        payload: tally.payload.0.clone(),
        compute_ns: tally.compute_ns,
        demand: tally.demand.clone(),
        leads,
        carries,
    }
}

/// Payload bytes, nanoseconds and leads of a cost by itself.
pub(crate) fn once(setting: &Setting, cost: &Cost) -> Work {
    let mut tally = Tally::default();
    tally.add(0, cost, &Demand::default(), 1);
    let lead = of_flights(setting, [(1, &cost.flights[..])]);
    work(&tally, [lead; 2], None)
}

/// Leads of pieces one after the other.
fn lead<'a, P: Protocol>(setting: &Setting, pieces: impl Iterator<Item = Piece<'a>>) -> Lead {
    let flights = pieces.map(|piece| (piece.times, P::cost(setting, &piece.work).flights));
    let flights = flights.collect::<Vec<_>>();
    of_flights(setting, flights.iter().map(|(times, of)| (*times, &of[..])))
}

fn of_flights<'a>(
    setting: &Setting,
    flights: impl IntoIterator<Item = (u64, &'a [Flight])>,
) -> Lead {
    let players = [0, 1].map(|role| setting.player(role));
    let mut delays = Delays::none(setting.parties);
    for (times, flights) in flights {
        // What they hear of others only makes them later.
        let between = flights.iter().map(|flight| {
            let messages = flight.iter().copied();
            let messages =
                messages.filter(|of| [of.from, of.to].iter().all(|at| players.contains(at)));
            messages.collect()
        });
        delays.pass(times, &between.collect::<Vec<Flight>>());
    }
    players.map(|from| players.map(|to| delays.lead(from, to).map_or(-1.0, |lead| lead as f64)))
}

fn counter<'a>(plan: &'a Plan, rows: &'a [u64]) -> Counter<'a> {
    Counter {
        plan,
        setting: &plan.setting,
        rows,
        known: Known::default(),
    }
}
