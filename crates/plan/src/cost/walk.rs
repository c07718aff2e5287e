//! The walk through a plan that counts.

use super::clock::{Clocks, Exchange, Payload, together};
use crate::steps::{Len, Plan, PlanValue, Segment, StepOp, TapeId};
use sealane_protocol::{Cost, Demand, PartySet, Protocol, Setting, Work};

/// What has been counted.
pub(super) struct Walk {
    pub payload: Payload,
    pub rounds: u64,
    pub demand: Demand,
    /// For each segment and each of its steps, in order.
    pub steps: Vec<Vec<Tally>>,
    pub prepare: Tally,
    pub reveal: Tally,
}

/// What one step costs in all its executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Pieces of work: one for each tile, level or iteration.
    pub times: u64,
    pub lanes: u64,
    pub ands: u64,
    pub checks: u64,
    pub compute_ns: u64,
    pub payload: Payload,
    pub demand: Demand,
}

impl Tally {
    fn add(&mut self, lanes: u64, cost: &Cost, demand: &Demand, times: u64) {
        self.times += times;
        self.lanes += times * lanes;
        self.ands += times * cost.ands;
        self.checks += times * cost.checks;
        self.compute_ns += times * cost.compute_ns;
        self.payload.add(&cost.flights, times);
        demand
            .0
            .iter()
            .for_each(|(kind, count)| self.demand.add(*kind, times * count));
    }

    fn merge(&mut self, other: &Tally, times: u64) {
        self.times += times * other.times;
        self.lanes += times * other.lanes;
        self.ands += times * other.ands;
        self.checks += times * other.checks;
        self.compute_ns += times * other.compute_ns;
        self.payload.merge(&other.payload, times);
        other
            .demand
            .0
            .iter()
            .for_each(|(kind, count)| self.demand.add(*kind, times * count));
    }
}

/// A segment once through: its steps' tallies and what crosses, in order.
struct Pass {
    steps: Vec<Tally>,
    exchanges: Vec<Exchange>,
}

impl Walk {
    /// Counts a run with roles as in `setting`.
    pub fn run<P: Protocol>(plan: &Plan, setting: &Setting, rows: &[u64]) -> Walk {
        assert_eq!(
            rows.len(),
            plan.rows.len(),
            "a number of rows for each table"
        );
        assert!(rows.iter().all(|count| *count > 0), "every table has a row");
        let counter = Counter { plan, setting };
        let tiled = plan
            .segments
            .iter()
            .map(|segment| counter.tiles::<P>(segment, rows));
        let tiled = tiled.collect::<Vec<_>>();
        let mut walk = Walk {
            payload: Payload::default(),
            rounds: 0,
            demand: Demand::default(),
            steps: tiled.iter().map(|tiles| tally(tiles)).collect(),
            prepare: Tally::default(),
            reveal: Tally::default(),
        };
        let steps = walk.steps.iter().flatten();
        steps.for_each(|step| walk.demand.merge(&step.demand));
        let checks = walk.steps.iter().flatten().map(|step| step.checks).sum();

        let none = Demand::default();
        let prepare = P::prepare_cost(setting, &walk.demand);
        walk.prepare.add(0, &prepare, &none, 1);
        let results = counter.results(rows);
        let work = Work::Reveal {
            results: &results,
            checks,
        };
        let reveal = P::cost(setting, &work);
        walk.reveal
            .add(results.len() as u64, &reveal, &P::demand(setting, &work), 1);

        let mut clocks = Clocks::new(setting.parties);
        clocks.pass(&Exchange {
            times: 1,
            flights: prepare.flights,
        });
        for (times, pass) in tiled.iter().flatten() {
            clocks.repeat(*times, |clocks| {
                pass.exchanges
                    .iter()
                    .for_each(|exchange| clocks.pass(exchange));
            });
        }
        clocks.pass(&Exchange {
            times: 1,
            flights: reveal.flights,
        });
        walk.rounds = clocks.rounds;

        let all = walk
            .steps
            .iter()
            .flatten()
            .chain([&walk.prepare, &walk.reveal]);
        all.for_each(|step| walk.payload.merge(&step.payload, 1));
        walk
    }

    /// Everything that crosses.
    pub fn payload_bytes(&self) -> u64 {
        self.payload.total()
    }
}

/// The sum of a segment's passes, step by step.
fn tally(tiles: &[(u64, Pass)]) -> Vec<Tally> {
    let steps = tiles.first().map_or(0, |(_, pass)| pass.steps.len());
    let mut sums = vec![Tally::default(); steps];
    for (times, pass) in tiles {
        sums.iter_mut()
            .zip(&pass.steps)
            .for_each(|(sum, step)| sum.merge(step, *times));
    }
    sums
}

struct Counter<'a> {
    plan: &'a Plan,
    setting: &'a Setting,
}

impl Counter<'_> {
    /// The passes of a segment and how often each is run: the first tile, which carries nothing;
    /// full tiles; the rest.
    fn tiles<P: Protocol>(&self, segment: &Segment, rows: &[u64]) -> Vec<(u64, Pass)> {
        let Some(table) = segment.rows.map(|rows| usize::from(rows.0)) else {
            return vec![(1, self.pass::<P>(segment, 1, false))];
        };
        let (count, tile) = (rows[table], self.plan.rows[table].tile);
        let (full, rest) = (count / tile, count % tile);
        let mut tiles = Vec::new();
        if full > 0 {
            tiles.push((1, self.pass::<P>(segment, tile, false)));
        }
        if full > 1 {
            tiles.push((full - 1, self.pass::<P>(segment, tile, true)));
        }
        if rest > 0 {
            tiles.push((1, self.pass::<P>(segment, rest, full > 0)));
        }
        tiles
    }

    /// A segment over a tile of `rows` rows; `carries` says that another tile came before.
    fn pass<P: Protocol>(&self, segment: &Segment, rows: u64, carries: bool) -> Pass {
        let mut pass = Pass {
            steps: Vec::new(),
            exchanges: Vec::new(),
        };
        for batch in &segment.batches {
            let mut flights = Vec::new();
            for step in batch {
                let mut tally = Tally::default();
                for (times, lanes, work) in self.works(&step.op, rows, carries) {
                    let cost = P::cost(self.setting, &work);
                    tally.add(lanes, &cost, &P::demand(self.setting, &work), times);
                    if step.op.kind().is_alone() {
                        pass.exchanges.push(Exchange {
                            times,
                            flights: cost.flights,
                        });
                    } else {
                        flights.push(cost.flights);
                    }
                }
                pass.steps.push(tally);
            }
            pass.exchanges.push(Exchange {
                times: 1,
                flights: together(flights),
            });
        }
        pass
    }

    /// The work of a step in a tile, in order: how often, on how many lanes, what.
    fn works(&self, op: &StepOp, rows: u64, carries: bool) -> Vec<(u64, u64, Work<'_>)> {
        let elements = |value: &PlanValue| {
            let value = &self.plan.values[value.0 as usize];
            (value.elements * value.rows.map_or(1, |_| rows), value)
        };
        let product = |lens: &[Len]| lens.iter().map(|len| len.at(rows)).product::<u64>();
        match op {
            StepOp::Constant { .. } | StepOp::Move { .. } | StepOp::Concat { .. } => Vec::new(),
            StepOp::Input { input, out } => {
                let owner = self.plan.owners[*input as usize];
                let (elements, value) = elements(out);
                vec![(
                    1,
                    elements,
                    Work::Input {
                        owner,
                        elements,
                        bits: value.bits.into(),
                    },
                )]
            }
            StepOp::Convert { value, out } => {
                let to = self.plan.values[out.0 as usize].domain;
                let (elements, value) = elements(value);
                let (from, bits) = (value.domain, value.bits.into());
                vec![(
                    1,
                    elements,
                    Work::Convert {
                        from,
                        to,
                        elements,
                        bits,
                    },
                )]
            }
            StepOp::Tape { tape, lanes, .. } => vec![self.tape(*tape, product(lanes), 1)],
            StepOp::Scan { tape, length, .. } => vec![self.tape(*tape, 1, length.at(rows))],
            StepOp::Fold {
                length,
                lanes,
                levels,
                carry,
                ..
            } => {
                let lanes = product(lanes);
                let mut works = Vec::new();
                let mut left = length.at(rows);
                for level in levels {
                    let pairs = left / 2;
                    if pairs > 0 {
                        works.push(self.tape(*level, pairs * lanes, 1));
                    }
                    left -= pairs;
                }
                let carry = carry.filter(|_| carries && *length == Len::Rows);
                works.extend(carry.map(|carry| self.tape(carry, lanes, 1)));
                works
            }
        }
    }

    fn tape(&self, tape: TapeId, lanes: u64, times: u64) -> (u64, u64, Work<'_>) {
        let tape = &self.plan.tapes[tape.0 as usize];
        (times, lanes, Work::Tape { tape, lanes })
    }

    /// Bits and receivers of each result.
    fn results(&self, rows: &[u64]) -> Vec<(u64, PartySet)> {
        let bits = |result: &crate::steps::ResultPlan| {
            let value = &self.plan.values[result.value.0 as usize];
            let rows = value.rows.map_or(1, |table| rows[usize::from(table.0)]);
            (value.elements * rows * u64::from(value.bits), result.to)
        };
        self.plan.results.iter().map(bits).collect()
    }
}
