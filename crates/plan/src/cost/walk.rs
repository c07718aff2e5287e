//! Cost of a plan's steps in all their executions.

use super::clock::Payload;
use super::timer;
use crate::steps::{Len, Plan, PlanValue, Segment, StepOp, TapeId};
use sealane_protocol::{Cost, Demand, Flight, Opening, Protocol, Setting, StepShape};

/// Counts of a run.
pub(super) struct Walk {
    pub payload: Payload,
    pub demand: Demand,
    /// For each segment and each of its steps, in order.
    pub steps: Vec<Vec<Tally>>,
    pub prepare: Tally,
    pub reveal: Tally,
    /// Flights before the first step and after the last one.
    pub prepare_flights: Vec<Flight>,
    pub reveal_flights: Vec<Flight>,
}

/// Cost of one step in all its executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Number of executions: one for each tile, level or iteration.
    pub times: u64,
    pub lanes: u64,
    pub flights: u64,
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
        self.flights += times * cost.flights.len() as u64;
        self.ands += times * cost.ands;
        self.checks += times * cost.checks;
        self.compute_ns += times * cost.compute_ns;
        self.payload.add(&cost.flights, times);
        demand
            .0
            .iter()
            .for_each(|(kind, count)| self.demand.add(*kind, times * count));
    }
}

/// Work that is done `times` over, one after the other, on so many lanes.
pub(super) struct Piece<'a> {
    pub times: u64,
    pub lanes: u64,
    pub work: StepShape<'a>,
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
        let tally = |segment: &Segment| counter.segment::<P>(segment, rows);
        let mut walk = Walk {
            payload: Payload::default(),
            demand: Demand::default(),
            steps: plan.segments.iter().map(tally).collect(),
            prepare: Tally::default(),
            reveal: Tally::default(),
            prepare_flights: Vec::new(),
            reveal_flights: Vec::new(),
        };
        let steps = walk.steps.iter().flatten();
        steps.for_each(|step| walk.demand.merge(&step.demand));
        let checks = walk.steps.iter().flatten().map(|step| step.checks).sum();

        let none = Demand::default();
        let prepare = P::prepare_cost(setting, &walk.demand);
        walk.prepare.add(0, &prepare, &none, 1);
        let results = counter.results(rows);
        let work = StepShape::Reveal {
            results: &results,
            checks,
        };
        let reveal = P::cost(setting, &work);
        walk.reveal
            .add(results.len() as u64, &reveal, &P::demand(setting, &work), 1);
        (walk.prepare_flights, walk.reveal_flights) = (prepare.flights, reveal.flights);
        let all = walk
            .steps
            .iter()
            .flatten()
            .chain([&walk.prepare, &walk.reveal]);
        all.for_each(|step| walk.payload.merge(&step.payload, 1));
        walk
    }

    /// Rounds of the counted run.
    pub fn rounds<P: Protocol>(&self, plan: &Plan, setting: &Setting, rows: &[u64]) -> u64 {
        let (prepare, reveal) = (&self.prepare_flights, &self.reveal_flights);
        timer::rounds::<P>(&Counter { plan, setting }, rows, prepare, reveal)
    }

    /// Payload bytes of everything.
    pub fn payload_bytes(&self) -> u64 {
        self.payload.total()
    }
}

pub(super) struct Counter<'a> {
    pub plan: &'a Plan,
    pub setting: &'a Setting,
}

impl<'a> Counter<'a> {
    /// Costs of each step of a segment: full tiles, the last one, and the carry from each to the
    /// next.
    fn segment<P: Protocol>(&self, segment: &Segment, rows: &[u64]) -> Vec<Tally> {
        let (full, tile, rest) = match segment.rows.map(|table| usize::from(table.0)) {
            None => (1, 1, 0),
            Some(table) => {
                let (count, tile) = (rows[table], self.plan.rows[table].tile);
                (count / tile, tile, count % tile)
            }
        };
        let blocks = full + u64::from(rest > 0);
        let of_step = |op: &StepOp| {
            let mut tally = Tally::default();
            let mut count = |piece: Piece, times: u64| {
                let cost = P::cost(self.setting, &piece.work);
                let demand = P::demand(self.setting, &piece.work);
                tally.add(piece.lanes, &cost, &demand, times * piece.times);
            };
            for (rows, times) in [(tile, full), (rest, u64::from(rest > 0))] {
                if times > 0 {
                    let pieces = self.pieces(op, rows).into_iter();
                    pieces.for_each(|piece| count(piece, times));
                }
            }
            if let Some(piece) = self.carry(op) {
                count(piece, blocks - 1);
            }
            tally
        };
        segment.steps.iter().map(|step| of_step(&step.op)).collect()
    }

    /// Work of a step in a tile of `rows` rows, in order.
    pub fn pieces(&self, op: &StepOp, rows: u64) -> Vec<Piece<'a>> {
        let elements = |value: &PlanValue| {
            let value = &self.plan.values[value.0 as usize];
            (value.elements * value.rows.map_or(1, |_| rows), value)
        };
        let product = |lens: &[Len]| lens.iter().map(|len| len.at(rows)).product::<u64>();
        let once = |lanes, work| {
            vec![Piece {
                times: 1,
                lanes,
                work,
            }]
        };
        match op {
            StepOp::Constant { .. }
            | StepOp::Move { .. }
            | StepOp::Concat { .. }
            | StepOp::Linear { .. } => Vec::new(),
            StepOp::Input { input, out } => {
                let (elements, value) = elements(out);
                let work = StepShape::Input {
                    owner: self.plan.owners[*input as usize],
                    domain: value.domain,
                    elements,
                    bits: value.plain_bits(),
                };
                once(elements, work)
            }
            StepOp::Convert { value, out } => {
                let to = self.plan.values[out.0 as usize].domain;
                let (elements, value) = elements(value);
                let work = StepShape::Convert {
                    from: value.domain,
                    to,
                    elements,
                    bits: value.bits.into(),
                    signed: value.signed,
                };
                once(elements, work)
            }
            StepOp::Product {
                left, lanes, out, ..
            } => {
                let lanes = product(lanes);
                let work = StepShape::Product {
                    domain: self.plan.values[out.0 as usize].domain,
                    lanes,
                    terms: left.inner.count(rows),
                };
                once(lanes, work)
            }
            StepOp::Tape { tape, lanes, .. } => vec![self.tape(*tape, product(lanes), 1)],
            StepOp::Scan { tape, length, .. } => vec![self.tape(*tape, 1, length.at(rows))],
            StepOp::Fold {
                length,
                lanes,
                levels,
                ..
            } => {
                let lanes = product(lanes);
                let mut pieces = Vec::new();
                let mut left = length.at(rows);
                for level in levels {
                    let pairs = left / 2;
                    if pairs > 0 {
                        pieces.push(self.tape(*level, pairs * lanes, 1));
                    }
                    left -= pairs;
                }
                pieces
            }
        }
    }

    /// Work of combining the result of a tile with that of the tiles before it, if there is any.
    pub fn carry(&self, op: &StepOp) -> Option<Piece<'a>> {
        let StepOp::Fold {
            carry: Some(tape),
            lanes,
            ..
        } = op
        else {
            return None;
        };
        // The carry has no rows.
        let lanes = lanes.iter().map(|len| len.at(1)).product::<u64>();
        Some(self.tape(*tape, lanes, 1))
    }

    fn tape(&self, tape: TapeId, lanes: u64, times: u64) -> Piece<'a> {
        let tape = &self.plan.tapes[tape.0 as usize];
        Piece {
            times,
            lanes,
            work: StepShape::Tape { tape, lanes },
        }
    }

    /// Domain, bits and receivers of each result.
    fn results(&self, rows: &[u64]) -> Vec<Opening> {
        let opening = |result: &crate::steps::ResultPlan| {
            let value = &self.plan.values[result.value.0 as usize];
            let rows = value.rows.map_or(1, |table| rows[usize::from(table.0)]);
            Opening {
                domain: value.domain,
                bits: value.elements * rows * value.plain_bits(),
                to: result.to,
            }
        };
        self.plan.results.iter().map(opening).collect()
    }
}
