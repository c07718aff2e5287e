//! Cost of a plan's steps in all their executions.

use super::clock::Payload;
use super::timer;
use crate::flow::{IN_FLIGHT, Refill};
use crate::steps::{Len, Plan, PlanValue, Segment, StepOp, TapeId, Timing};
use sealane_parties::PartySet;
use sealane_protocol::{Cost, Demand, Flight, Opening, Protocol, Setting, StepShape, View};

/// Counts of a run.
pub(super) struct Counts {
    pub payload: Payload,
    pub demand: Demand,
    /// Set-up and refills.
    pub prepare: Tally,
    /// For each segment and each of its steps, in order: the offline part and the online part.
    pub steps: Vec<Vec<[Tally; 2]>>,
    /// The offline and the online part of the openings of all results.
    pub reveal: [Tally; 2],
    /// Most bits that correlations in pools take, at the party with the larger part.
    pub pool_bits: u64,
    /// Flights of the set-up, and of both parts of the reveal.
    pub set_up_flights: Vec<Flight>,
    pub reveal_flights: [Vec<Flight>; 2],
}

/// Cost of one step in all its executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Number of executions: one for each tile, level or iteration.
    pub times: u64,
    pub lanes: u64,
    pub flights: u64,
    pub ands: u64,
    /// Checks that the step leaves, and checks that it settles.
    pub checks: u64,
    pub settled: u64,
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
        self.demand.merge(demand, times);
    }
}

/// Work that is done `times` over, one after the other, on so many lanes.
pub(super) struct Piece<'a> {
    pub times: u64,
    pub lanes: u64,
    pub work: StepShape<'a>,
}

impl Counts {
    /// Counts a run with roles as in `setting`.
    pub fn run<P: Protocol>(plan: &Plan, setting: &Setting, rows: &[u64]) -> Counts {
        assert_eq!(
            rows.len(),
            plan.rows.len(),
            "a number of rows for each table"
        );
        assert!(rows.iter().all(|count| *count > 0), "every table has a row");
        let counter = Counter {
            plan,
            setting,
            rows,
        };
        let segments = 0..plan.segments.len();
        let mut walk = Counts {
            payload: Payload::default(),
            demand: Demand::default(),
            prepare: Tally::default(),
            steps: segments
                .map(|segment| counter.segment::<P>(segment, rows))
                .collect(),
            reveal: Default::default(),
            pool_bits: 0,
            set_up_flights: Vec::new(),
            reveal_flights: Default::default(),
        };
        let steps = walk.steps.iter().flatten();
        steps.for_each(|[_, online]| walk.demand.merge(&online.demand, 1));
        let checks = counter.open_checks(&walk.steps);

        let none = Demand::default();
        let set_up = P::set_up_cost(setting, &walk.demand);
        walk.prepare.add(0, &set_up, &none, 1);
        walk.set_up_flights = set_up.flights;
        let mut refilled = Vec::new();
        for (refill, times) in counter.refills(rows) {
            let demand = counter.supply::<P>(&refill);
            let bits = pool_bits::<P>(setting, &demand);
            refilled.push(bits);
            let cost = P::refill_cost(setting, &demand);
            walk.prepare.add(0, &cost, &none, times);
        }

        walk.pool_bits = match plan.timing {
            // Online parts may take what is made before the first of them.
            Timing::AheadOfInputs => pool_bits::<P>(setting, &walk.demand),
            // Tiles in flight may not have taken theirs when others are supplied.
            _ => {
                let segments = 0..plan.segments.len();
                let tiles = segments.map(|segment| counter.pool_bits_of_a_tile::<P>(segment));
                let tile = tiles.max().unwrap_or(0);
                let most = refilled.into_iter().max();
                most.map_or(0, |most| most + IN_FLIGHT as u64 * tile)
            }
        };

        let results = counter.results(rows);
        let settle = StepShape::Settle { checks };
        let lanes = results.len() as u64;
        let open = StepShape::Open { results };
        for (work, lanes) in [(settle, 0), (open, lanes)] {
            let demand = P::demand(setting, &work);
            walk.demand.merge(&demand, 1);
            for (of, cost) in counter.both::<P>(&work).into_iter().enumerate() {
                walk.reveal[of].add(lanes, &cost, &none, 1);
                walk.reveal_flights[of].extend(cost.flights);
            }
        }
        // Settling and opening are one line of the table.
        walk.reveal.iter_mut().for_each(|reveal| reveal.times = 1);
        let all = walk.steps.iter().flatten().flatten();
        let all = all.chain([&walk.prepare]).chain(&walk.reveal);
        all.for_each(|step| walk.payload.merge(&step.payload, 1));
        walk
    }

    /// Rounds of the counted run.
    pub fn rounds<P: Protocol>(&self, plan: &Plan, setting: &Setting, rows: &[u64]) -> u64 {
        let counter = Counter {
            plan,
            setting,
            rows,
        };
        timer::rounds::<P>(&counter, rows, &self.set_up_flights, &self.reveal_flights)
    }

    /// Payload bytes of everything.
    pub fn payload_bytes(&self) -> u64 {
        self.payload.total()
    }
}

pub(super) struct Counter<'a> {
    pub plan: &'a Plan,
    pub setting: &'a Setting,
    /// Row counts; empty where only demands are counted.
    pub rows: &'a [u64],
}

impl<'a> Counter<'a> {
    /// Cost of both parts of a step, the offline one first.
    pub fn both<P: Protocol>(&self, work: &StepShape) -> [Cost; 2] {
        let offline = match self.plan.timing {
            Timing::CountsAlone => Cost::default(),
            Timing::TileByTile | Timing::AheadOfInputs => P::offline_cost(self.setting, work),
        };
        [offline, P::cost(self.setting, work)]
    }

    /// Full tiles of a segment, their rows, and the rows of a last tile that is not full.
    fn tiles(&self, segment: &Segment, rows: &[u64]) -> (u64, u64, u64) {
        match segment.rows.map(|table| usize::from(table.0)) {
            None => (1, 1, 0),
            Some(table) => {
                let (count, tile) = (rows[table], self.plan.rows[table].tile);
                (count / tile, tile, count % tile)
            }
        }
    }

    /// Costs of each step of a segment: full tiles, the last one, and the carry from each to the
    /// next.
    fn segment<P: Protocol>(&self, segment: usize, rows: &[u64]) -> Vec<[Tally; 2]> {
        let steps = &self.plan.segments[segment].steps;
        let (full, tile, rest) = self.tiles(&self.plan.segments[segment], rows);
        let blocks = full + u64::from(rest > 0);
        let of_step = |step: usize| {
            let mut tallies = <[Tally; 2]>::default();
            let mut count = |piece: Piece, times: u64| {
                if let StepShape::Settle { checks } = piece.work {
                    tallies[1].settled += times * checks;
                }
                let demand = P::demand(self.setting, &piece.work);
                let demands = [Demand::default(), demand];
                let costs = self.both::<P>(&piece.work);
                for ((tally, cost), demand) in tallies.iter_mut().zip(costs).zip(demands) {
                    tally.add(piece.lanes, &cost, &demand, times * piece.times);
                }
            };
            for (rows, times) in [(tile, full), (rest, u64::from(rest > 0))] {
                if times > 0 {
                    let pieces = self.pieces::<P>(segment, step, rows).into_iter();
                    pieces.for_each(|piece| count(piece, times));
                }
            }
            if let Some(piece) = self.carry(&steps[step].op) {
                count(piece, blocks - 1);
            }
            tallies
        };
        (0..steps.len()).map(of_step).collect()
    }

    /// Checks that no step of a tile settles: those of carries, and of segments without a
    /// settlement.
    fn open_checks(&self, steps: &[Vec<[Tally; 2]>]) -> u64 {
        let all = steps.iter().flatten().map(|[_, online]| online.checks);
        let settled = steps.iter().flatten().map(|[_, online]| online.settled);
        all.sum::<u64>() - settled.sum::<u64>()
    }

    /// Groups of tiles for which pools are refilled, and how often there is one like it.
    fn refills(&self, rows: &[u64]) -> Vec<(Refill, u64)> {
        let mut refills = Vec::new();
        for (index, segment) in self.plan.segments.iter().enumerate() {
            let Some(tiles) = segment.refill else {
                continue;
            };
            let (mut full, _, rest) = self.tiles(segment, rows);
            let mut first = true;
            while full >= tiles {
                // The first group has a tile that is combined with none before it.
                let times = if first { 1 } else { full / tiles };
                let refill = Refill {
                    segment: index,
                    full: tiles,
                    rest: 0,
                    carries: tiles - u64::from(first),
                };
                refills.push((refill, times));
                full -= times * tiles;
                first = false;
            }
            let count = full + u64::from(rest > 0);
            if count > 0 {
                let refill = Refill {
                    segment: index,
                    full,
                    rest,
                    carries: count - u64::from(first),
                };
                refills.push((refill, 1));
            }
        }
        refills
    }

    /// Bits that the correlations of one full tile of a segment take in pools.
    pub fn pool_bits_of_a_tile<P: Protocol>(&self, segment: usize) -> u64 {
        let one = Refill {
            segment,
            full: 1,
            rest: 0,
            carries: 1,
        };
        pool_bits::<P>(self.setting, &self.supply::<P>(&one))
    }

    /// Bits that the outputs of offline parts of one full tile of a segment take.
    pub fn material_bits_of_a_tile<P: Protocol>(&self, segment: usize) -> u64 {
        let planned = &self.plan.segments[segment];
        let tile = planned
            .rows
            .map_or(1, |table| self.plan.rows[usize::from(table.0)].tile);
        let steps = 0..planned.steps.len();
        let pieces = steps.flat_map(|step| self.pieces::<P>(segment, step, tile));
        pieces
            .map(|piece| piece.times * P::material_bits(self.setting, &piece.work))
            .sum()
    }

    /// Correlations of pools that some tiles take.
    pub fn supply<P: Protocol>(&self, refill: &Refill) -> Demand {
        let mut all = Demand::default();
        let segment = &self.plan.segments[refill.segment];
        let tile = segment
            .rows
            .map_or(1, |table| self.plan.rows[usize::from(table.0)].tile);
        let mut take = |piece: Piece, times: u64| {
            let demand = P::demand(self.setting, &piece.work);
            let pooled = demand.only(|kind| P::pool_bits(self.setting, kind) > 0);
            all.merge(&pooled, times * piece.times);
        };
        for (step, planned) in segment.steps.iter().enumerate() {
            for (rows, times) in [
                (tile, refill.full),
                (refill.rest, u64::from(refill.rest > 0)),
            ] {
                if times > 0 {
                    let pieces = self.pieces::<P>(refill.segment, step, rows).into_iter();
                    pieces.for_each(|piece| take(piece, times));
                }
            }
            if let Some(piece) = self.carry(&planned.op) {
                take(piece, refill.carries);
            }
        }
        all
    }

    /// Checks that the settlement `settle` of a segment settles, in a tile of `rows` rows: those of
    /// all steps between it and the settlement before it; in a segment that runs once, also those
    /// that earlier segments left open.
    fn checks<P: Protocol>(&self, segment: usize, settle: usize, rows: u64) -> u64 {
        let steps = &self.plan.segments[segment].steps[..settle];
        let since = steps
            .iter()
            .rposition(|step| matches!(step.op, StepOp::Settle))
            .map_or(0, |before| before + 1);
        let pieces = (since..settle).flat_map(|step| self.pieces::<P>(segment, step, rows));
        let here = pieces.map(|piece| piece.times * P::cost(self.setting, &piece.work).checks);
        let open = match (self.plan.segments[segment].rows, since) {
            (None, 0) if !self.rows.is_empty() => {
                let earlier = (0..segment).map(|segment| self.segment::<P>(segment, self.rows));
                self.open_checks(&earlier.collect::<Vec<_>>())
            }
            _ => 0,
        };
        here.sum::<u64>() + open
    }

    /// Work of a step in a tile of `rows` rows, in order.
    pub fn pieces<P: Protocol>(&self, segment: usize, step: usize, rows: u64) -> Vec<Piece<'a>> {
        let op = &self.plan.segments[segment].steps[step].op;
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
                left,
                right,
                lanes,
                out,
            } => {
                let lanes = product(lanes);
                let work = StepShape::Product {
                    domain: self.plan.values[out.0 as usize].domain,
                    lanes,
                    terms: left.inner.count(rows),
                    distinct: [left, right].map(|operand| {
                        View::distinct(&operand.lanes.at(rows), &operand.inner.at(rows))
                    }),
                };
                once(lanes, work)
            }
            StepOp::Settle => {
                let checks = self.checks::<P>(segment, step, rows);
                once(0, StepShape::Settle { checks })
            }
            StepOp::Open { value, .. } => {
                let (elements, planned) = elements(value);
                let opening = Opening {
                    domain: planned.domain,
                    bits: elements * planned.plain_bits(),
                    to: PartySet::of(self.setting.everyone()),
                };
                let results = vec![opening];
                once(elements, StepShape::Open { results })
            }
            StepOp::Tape {
                tape, lanes, outs, ..
            } => vec![self.tape(*tape, outs[0].value, product(lanes), 1)],
            StepOp::Scan {
                tape,
                length,
                carries,
                outs,
                ..
            } => {
                let state = carries.first().copied();
                let out = state.unwrap_or_else(|| outs[0].value);
                vec![self.tape(*tape, out, 1, length.at(rows))]
            }
            StepOp::Fold {
                length,
                lanes,
                levels,
                out,
                ..
            } => {
                let lanes = product(lanes);
                let mut pieces = Vec::new();
                let mut left = length.at(rows);
                for level in levels {
                    let pairs = left / 2;
                    if pairs > 0 {
                        pieces.push(self.tape(*level, *out, pairs * lanes, 1));
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
            out,
            ..
        } = op
        else {
            return None;
        };
        // The carry has no rows.
        let lanes = lanes.iter().map(|len| len.at(1)).product::<u64>();
        Some(self.tape(*tape, *out, lanes, 1))
    }

    /// Work of a tape, in the domain of its result.
    fn tape(&self, tape: TapeId, out: PlanValue, lanes: u64, times: u64) -> Piece<'a> {
        let tape = &self.plan.tapes[tape.0 as usize];
        let domain = self.plan.values[out.0 as usize].domain;
        Piece {
            times,
            lanes,
            work: StepShape::Tape {
                tape,
                domain,
                lanes,
            },
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

/// Bits that correlations take in pools, at the party with the larger part.
fn pool_bits<P: Protocol>(setting: &Setting, demand: &Demand) -> u64 {
    let bits = demand.0.iter();
    bits.map(|(kind, count)| count * P::pool_bits(setting, *kind))
        .sum()
}
