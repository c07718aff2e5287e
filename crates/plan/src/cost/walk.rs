//! Cost of a plan's steps in all their executions.

use super::clock::Payload;
use super::kernels;
use super::tally::Tally;
use super::timer;
use crate::cross::blocks;
use crate::flow::{IN_FLIGHT, Refill};
use crate::network::Stage;
use crate::steps::{self, Operand, Plan, PlanValue, ResultPlan, StepOp, TapeId, ValuePlan};
use sealane_parties::PartySet;
use sealane_program::types::RowId;
use sealane_protocol::{
    Checks, ConvertShape, Cost, Demand, Flight, LeftOver, Opening, ProductShape, Protocol, Refills,
    RingShape, Setting, SortShape, StepShape, View, Walk,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Counts of a run.
pub(super) struct Counts {
    pub payload: Payload,
    pub demand: Demand,
    /// Set-up and refills.
    pub prepare: Tally,
    /// For each segment and each of its steps, in order: the offline part and the online part.
    pub steps: Vec<Rc<Vec<[Tally; 2]>>>,
    /// The offline and the online part of the openings of all results.
    pub reveal: [Tally; 2],
    /// Settlements of products: their number, what they settle, their payload, and the flights of
    /// the last of them.
    pub proofs: Tally,
    /// Most bits that correlations in pools take, at the party with the larger part.
    pub pool_bits: u64,
    /// Flights of the set-up, and of both parts of the reveal.
    pub set_up_flights: Vec<Flight>,
    pub reveal_flights: [Vec<Flight>; 2],
}

/// Work that is done `times` over, one after the other, on so many lanes.
pub(super) struct Piece<'a> {
    pub times: u64,
    pub lanes: u64,
    pub work: StepShape<'a>,
}

impl<'a> Piece<'a> {
    fn new(times: u64, lanes: u64, work: StepShape<'a>) -> Piece<'a> {
        Piece { times, lanes, work }
    }
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
            known: Known::default(),
        };
        let segments = 0..plan.segments.len();
        let mut counts = Counts {
            payload: Payload::default(),
            demand: Demand::default(),
            prepare: Tally::default(),
            steps: counter.first_segments::<P>(plan.segments.len()),
            reveal: Default::default(),
            proofs: Tally::default(),
            pool_bits: 0,
            set_up_flights: Vec::new(),
            reveal_flights: Default::default(),
        };
        let steps = counts.steps.iter().flat_map(|steps| steps.iter()).flatten();
        for step in steps {
            counts.demand.merge(&step.demand, 1);
            if step.settled.total() > 0 {
                counts.proofs.prove(step);
            }
            if let Some(within) = &step.within {
                counts.proofs.prove(within);
            }
        }

        let none = Demand::default();
        let set_up = P::set_up_cost(setting, &counts.demand);
        counts.prepare.add(0, &set_up, &none, 1);
        let first = P::set_up_counts(setting, &counts.demand);
        let first = P::refill_parts(setting, &first);
        counts.prepare.divided.refill(first, 1);
        counts.set_up_flights = set_up.flights;
        // Tiles in flight may not have taken theirs when others are supplied.
        let tiles = segments.map(|segment| counter.pool_bits_in_flight::<P>(segment));
        let in_flight = tiles.max().unwrap_or(0);
        let mut left = LeftOver::after_set_up::<P>(setting, &counts.demand);
        for (refill, times) in counter.refills() {
            let demand = counter.supply::<P>(&refill);
            if demand.is_empty() {
                continue;
            }
            let refills = left.refills::<P>(setting, &demand, times);
            let bits = most_pool_bits::<P>(setting, &demand, &refills) + in_flight;
            counts.pool_bits = bits.max(counts.pool_bits);
            for (made, times) in refills.counts() {
                let cost = P::refill_cost(setting, made);
                counts.prepare.add(0, &cost, &none, times);
                let parts = P::refill_parts(setting, made);
                counts.prepare.divided.refill(parts, times);
            }
        }

        let results = counter.results();
        let lanes = results.len() as u64;
        let open = StepShape::Open { results };
        for walk in plan.setting.timing.walks() {
            let checks = open_checks(&counts.steps, *walk);
            if checks.total() > 0 {
                let settle = StepShape::Settle {
                    checks: checks.clone(),
                };
                let mut last = Tally {
                    settled: checks.clone(),
                    ..Tally::default()
                };
                last.add(0, &counter.cost::<P>(*walk, &settle), &none, 1);
                counts.proofs.prove(&last);
            }
            let settle = StepShape::Settle { checks };
            for (work, lanes) in [(&settle, 0), (&open, lanes)] {
                let demand = counter.demand::<P>(*walk, work);
                counts.demand.merge(&demand, 1);
                let cost = counter.cost::<P>(*walk, work);
                let reveal = &mut counts.reveal[walk.index()];
                reveal.add(lanes, &cost, &none, 1);
                if let Some(part) = P::part(*walk, work) {
                    reveal.divided.add(part, &cost.flights, 1);
                }
                counts.reveal_flights[walk.index()].extend(cost.flights);
            }
        }
        // Settling and opening are one line of the table.
        counts.reveal.iter_mut().for_each(|reveal| reveal.times = 1);
        let all = counts.steps.iter().flat_map(|steps| steps.iter()).flatten();
        let all = all.chain([&counts.prepare]).chain(&counts.reveal);
        all.for_each(|step| counts.payload.merge(&step.payload, 1));
        counts
    }

    /// Rounds of the counted run, and the most bytes that shares take at a time.
    pub fn rounds_and_bytes<P: Protocol>(
        &self,
        plan: &Plan,
        setting: &Setting,
        rows: &[u64],
    ) -> (u64, u64) {
        let counter = Counter {
            plan,
            setting,
            rows,
            known: Known::default(),
        };
        let left_over = LeftOver::after_set_up::<P>(setting, &self.demand);
        let set_up = (&self.set_up_flights[..], left_over);
        timer::rounds_and_bytes::<P>(&counter, rows, set_up, &self.reveal_flights)
    }

    /// Payload bytes of everything.
    pub fn payload_bytes(&self) -> u64 {
        self.payload.total()
    }
}

/// A step in a tile run.
#[derive(Clone, Copy)]
pub(super) struct TileStep {
    pub segment: usize,
    pub step: usize,
    /// Rows of the tile; 1 where the segment runs once.
    pub rows: u64,
    pub walk: Walk,
    /// True if the tile before was combined with those before it: from the third tile on.
    pub combined: bool,
}

pub(super) struct Counter<'a> {
    pub plan: &'a Plan,
    pub setting: &'a Setting,
    /// Row counts; empty where only demands are counted.
    pub rows: &'a [u64],
    /// Costs of the steps of the first segments: settlements ask for those of all segments before.
    pub known: Known,
}

/// For each segment, the costs of each of its steps in both walks.
pub(super) type Known = RefCell<Vec<Rc<Vec<[Tally; 2]>>>>;

impl<'a> Counter<'a> {
    /// Cost of the part of a step in a walk.
    pub fn cost<P: Protocol>(&self, walk: Walk, work: &StepShape) -> Cost {
        match walk {
            Walk::Offline => P::offline_cost(self.setting, work),
            Walk::Online => P::cost(self.setting, work),
        }
    }

    /// Correlations that the part of a step in a walk takes.
    fn demand<P: Protocol>(&self, walk: Walk, work: &StepShape) -> Demand {
        match walk {
            Walk::Offline => P::offline_demand(self.setting, work),
            Walk::Online => P::demand(self.setting, work),
        }
    }

    /// Full tiles of a segment, their rows, and the rows of a last tile that is not full.
    fn tiles(&self, segment: usize) -> (u64, u64, u64) {
        match self.plan.segments[segment].rows {
            None => (1, 1, 0),
            Some(table) => {
                let table = usize::from(table.0);
                let (count, tile) = (self.rows[table], self.plan.rows[table].tile);
                (count / tile, tile, count % tile)
            }
        }
    }

    /// Rows of a table; its bound where they are not known.
    pub fn all_rows(&self, table: RowId) -> u64 {
        let table = usize::from(table.0);
        let known = self.rows.get(table).copied();
        known.unwrap_or(self.plan.rows[table].bound)
    }

    /// Rows of a full tile of a segment; 1 for one that runs once.
    fn full_tile(&self, segment: usize) -> u64 {
        self.plan.segments[segment]
            .rows
            .map_or(1, |table| self.plan.rows[usize::from(table.0)].tile)
    }

    /// Visits the pieces of each step of a segment in a walk: in tiles, which are given with their
    /// rows, their number and [`TileStep::combined`], and where `carries` tiles are combined with
    /// those before them.
    fn visit<P: Protocol>(
        &self,
        (segment, walk): (usize, Walk),
        tiles: &[(u64, u64, bool)],
        carries: u64,
        mut visit: impl FnMut(usize, Piece<'a>, u64),
    ) {
        for (step, planned) in self.plan.segments[segment].steps.iter().enumerate() {
            for &(rows, times, combined) in tiles.iter().filter(|(_, times, _)| *times > 0) {
                let at = TileStep {
                    segment,
                    step,
                    rows,
                    walk,
                    combined,
                };
                let pieces = self.pieces::<P>(at).into_iter();
                pieces.for_each(|piece| visit(step, piece, times));
            }
            if let Some(piece) = self.carry(&planned.op) {
                visit(step, piece, carries);
            }
        }
    }

    /// Costs of the steps of so many segments, in order.
    fn first_segments<P: Protocol>(&self, count: usize) -> Vec<Rc<Vec<[Tally; 2]>>> {
        loop {
            let known = self.known.borrow().len();
            if known >= count {
                return self.known.borrow()[..count].to_vec();
            }
            // Its settlements ask for those before it, which are known.
            let next = Rc::new(self.segment::<P>(known));
            self.known.borrow_mut().push(next);
        }
    }

    /// Costs of each step of a segment in both walks: all tiles, and the carry from each to the
    /// next.
    fn segment<P: Protocol>(&self, segment: usize) -> Vec<[Tally; 2]> {
        let (full, tile, rest) = self.tiles(segment);
        let blocks = full + u64::from(rest > 0);
        let early = full.min(2);
        let tiles = [
            (tile, early, false),
            (tile, full - early, true),
            (rest, blocks - full, full >= 2),
        ];
        let mut tallies = vec![<[Tally; 2]>::default(); self.plan.segments[segment].steps.len()];
        for walk in self.plan.setting.timing.walks() {
            self.visit::<P>(
                (segment, *walk),
                &tiles,
                blocks - 1,
                |step, piece, times| {
                    let tally = &mut tallies[step][walk.index()];
                    let held = kernels::of_shares::<P>(self, &piece.work);
                    tally.work.add(&held, times * piece.times);
                    let cost = self.cost::<P>(*walk, &piece.work);
                    let demand = self.demand::<P>(*walk, &piece.work);
                    tally.add(piece.lanes, &cost, &demand, times * piece.times);
                    if let Some(part) = P::part(*walk, &piece.work) {
                        tally.divided.add(part, &cost.flights, times * piece.times);
                    }
                    if let StepShape::Settle { checks } = &piece.work {
                        tally.settled.add(checks, times);
                    }
                },
            );
        }
        for (step, tallies) in self.plan.segments[segment].steps.iter().zip(&mut tallies) {
            for (rows, times, _) in tiles.into_iter().filter(|(_, times, _)| *times > 0) {
                let moved = kernels::of_local::<P>(self, &step.op, rows);
                tallies[Walk::Online.index()].work.add(&moved, times);
            }
        }
        tallies
    }

    /// Groups of tiles for which pools are refilled, in order, and how often there is one like it.
    fn refills(&self) -> Vec<(Refill, u64)> {
        let mut refills = Vec::new();
        let supplied = self.plan.segments.iter().enumerate();
        let supplied = supplied.filter_map(|(at, segment)| Some((at, segment.refill?)));
        for walks in self.plan.setting.timing.passes() {
            for (segment, tiles) in supplied.clone() {
                let group = |full, rest, first| Refill {
                    segment,
                    full,
                    rest,
                    // The first tile of all is combined with none before it.
                    carries: full + u64::from(rest > 0) - u64::from(first),
                    walks,
                };
                let (mut full, _, rest) = self.tiles(segment);
                let mut first = true;
                while full >= tiles {
                    let times = if first { 1 } else { full / tiles };
                    refills.push((group(tiles, 0, first), times));
                    full -= times * tiles;
                    first = false;
                }
                if full + rest > 0 {
                    refills.push((group(full, rest, first), 1));
                }
            }
        }
        refills
    }

    /// Bits that the correlations of one full tile of a segment take in pools.
    pub fn pool_bits_of_a_tile<P: Protocol>(&self, segment: usize) -> u64 {
        let passes = self.plan.setting.timing.passes().iter();
        let bits = passes.map(|walks| {
            let one = Refill {
                segment,
                full: 1,
                rest: 0,
                carries: 1,
                walks,
            };
            pool_bits::<P>(self.setting, &self.supply::<P>(&one))
        });
        bits.max().unwrap_or(0)
    }

    /// Bits that the correlations of all tiles but one take that are in flight at once.
    fn pool_bits_in_flight<P: Protocol>(&self, segment: usize) -> u64 {
        let (full, _, rest) = self.tiles(segment);
        let others = (full + u64::from(rest > 0)).saturating_sub(1);
        let passes = self.plan.setting.timing.passes().iter();
        let bits = passes.map(|walks| {
            let one = Refill {
                segment,
                full: full.min(1),
                rest: if full > 0 { 0 } else { rest },
                carries: 1,
                walks,
            };
            P::demand_bits(self.setting, &self.supply::<P>(&one))[1]
        });
        others.min(IN_FLIGHT as u64) * bits.max().unwrap_or(0)
    }

    /// Bits that the outputs of offline parts of one full tile of a segment take.
    pub fn material_bits_of_a_tile<P: Protocol>(&self, segment: usize) -> u64 {
        let (steps, mut bits) = (&self.plan.segments[segment].steps, 0);
        let tile = [(self.full_tile(segment), 1, false)];
        self.visit::<P>((segment, Walk::Offline), &tile, 0, |step, piece, times| {
            // Smaller tiles would leave as much for steps on all rows.
            if steps[step].op.all_rows().is_empty() {
                bits += times * piece.times * P::material_bits(self.setting, &piece.work);
            }
        });
        bits
    }

    /// Correlations of pools that some tiles take.
    pub fn supply<P: Protocol>(&self, refill: &Refill) -> Demand {
        let mut all = Demand::default();
        let segment = refill.segment;
        let tiles = [
            (self.full_tile(segment), refill.full, false),
            (refill.rest, u64::from(refill.rest > 0), false),
        ];
        for walk in refill.walks {
            self.visit::<P>(
                (segment, *walk),
                &tiles,
                refill.carries,
                |_, piece, times| {
                    let demand = self.demand::<P>(*walk, &piece.work);
                    let pooled = demand.only(|kind| P::pool_bits(self.setting, kind) > 0);
                    all.merge(&pooled, times * piece.times);
                },
            );
        }
        all
    }

    /// Checks that a settlement settles: those of the steps between it and the settlement before
    /// it. The first one of a segment also settles what is open from before: in a walk over rows
    /// the checks of the carry of the tile before, elsewhere all of earlier segments.
    fn checks<P: Protocol>(&self, at: TileStep) -> Checks {
        let planned = &self.plan.segments[at.segment];
        let since = planned.steps[..at.step]
            .iter()
            .rposition(|step| matches!(step.op, StepOp::Settle))
            .map_or(0, |before| before + 1);
        let pieces = (since..at.step).flat_map(|step| self.pieces::<P>(TileStep { step, ..at }));
        let mut due = Checks::default();
        let mut add = |piece: Piece| {
            let cost = self.cost::<P>(at.walk, &piece.work);
            due.add(&cost.checks, piece.times)
        };
        pieces.for_each(&mut add);
        match planned.rows {
            _ if since > 0 => {}
            Some(_) if !at.combined => {}
            Some(_) => {
                let carries = planned.steps.iter();
                carries
                    .filter_map(|step| self.carry(&step.op))
                    .for_each(add)
            }
            // Demands, which need no row counts, do not depend on checks.
            None if self.rows.len() < self.plan.rows.len() => {}
            None => {
                let earlier = self.first_segments::<P>(at.segment);
                due.add(&open_checks(&earlier, at.walk), 1)
            }
        }
        due
    }

    /// Work of a step in a tile of `rows` rows, in order.
    pub fn pieces<P: Protocol>(&self, at: TileStep) -> Vec<Piece<'a>> {
        let (rows, op) = (at.rows, &self.plan.segments[at.segment].steps[at.step].op);
        let elements = |value: &PlanValue| {
            let value = &self.plan[value];
            (value.elements * value.rows.map_or(1, |_| rows), value)
        };
        let planned = |of: &Operand| &self.plan[of.value];
        let domain = |out: PlanValue| self.plan[out].domain;
        let once = |lanes, work| vec![Piece::new(1, lanes, work)];
        match op {
            StepOp::Constant { .. }
            | StepOp::RowNumber { .. }
            | StepOp::Rearrange(_)
            | StepOp::Move { .. }
            | StepOp::Concat { .. }
            | StepOp::Append { .. }
            | StepOp::Linear(_) => Vec::new(),
            StepOp::Input { input, out } => {
                let (elements, value) = elements(out);
                let owner = self.plan.owners[*input as usize];
                let work = StepShape::input(owner, value.domain, elements, value.plain_bits());
                once(elements, work)
            }
            StepOp::Convert { value, out } => {
                let (elements, value) = elements(value);
                let work = StepShape::Convert(ConvertShape {
                    from: value.domain,
                    to: domain(*out),
                    elements,
                    bits: value.bits.into(),
                    signed: value.signed,
                });
                once(elements, work)
            }
            StepOp::Product(product) => {
                let lanes = steps::lanes(&product.lanes, rows);
                let both = [&product.left, &product.right];
                let [left, right] = product.known_to;
                let distinct = |of: &Operand, at: &View| View::distinct(&of.lanes.at(rows), at);
                let work = StepShape::Product(ProductShape {
                    domain: domain(product.out),
                    lanes,
                    terms: product.left.inner.count(rows),
                    lines: both.map(|of| distinct(of, &View::whole(1))),
                    matrix: {
                        let [left, right] = both.map(|of| of.lanes.at(rows));
                        View::lines(&left, &right).is_some()
                    },
                    distinct: both.map(|of| distinct(of, &of.inner.at(rows))),
                    numbers: [
                        planned(both[0]).numbers(left),
                        planned(both[1]).numbers(right),
                    ],
                });
                once(lanes, work)
            }
            StepOp::Ring(ring) => {
                let (lanes, value) = (steps::lanes(&ring.lanes, rows), planned(&ring.of));
                let work = StepShape::Ring(RingShape {
                    op: ring.op,
                    domain: value.domain,
                    lanes,
                    bits: value.bits.into(),
                    signed: value.signed,
                });
                once(lanes, work)
            }
            StepOp::Settle => {
                let checks = self.checks::<P>(at);
                once(0, StepShape::Settle { checks })
            }
            StepOp::Open { value, .. } => {
                let (elements, planned) = elements(value);
                let to = PartySet::of(self.setting.everyone());
                let results = vec![opening(planned, elements, to)];
                once(elements, StepShape::Open { results })
            }
            StepOp::Reveal { value, result } => {
                let result = &self.plan.results[*result as usize];
                if !self.plan.in_tiles(result, self.rows) {
                    return Vec::new();
                }
                let (elements, planned) = elements(value);
                let results = vec![opening(planned, elements, result.to)];
                once(elements, StepShape::Open { results })
            }
            StepOp::Tape {
                tape, lanes, outs, ..
            } => {
                vec![self.tape(*tape, outs[0].value, steps::lanes(lanes, rows), 1)]
            }
            StepOp::Scan(scan) => {
                let state = scan.carries.first().copied();
                let out = state.unwrap_or_else(|| scan.outs[0].value);
                vec![self.tape(scan.tape, out, 1, scan.length.at(rows))]
            }
            StepOp::CompareExchange(step) => {
                let rows = step.rows.map_or(1, |table| self.all_rows(table));
                let stages = step.network.stages(step.length.at(rows) as usize);
                let stage =
                    |stage: &Stage| self.tape(step.tape, step.outs[0], stage.pairs() as u64, 1);
                stages.iter().map(stage).collect()
            }
            StepOp::Cross(cross) => {
                let (lanes, all) = (cross.length.at(rows), self.all_rows(cross.rows));
                let mut pieces = Vec::new();
                let mut count = 0;
                // Blocks of one size are alike, and so are the combinations of one with the next.
                for (block, times) in blocks(lanes, all) {
                    count += times;
                    pieces.push(self.tape(cross.tape, cross.outs[0].value, lanes * block, times));
                    for out in &cross.outs {
                        let lanes = lanes * u64::from(out.inner);
                        pieces.extend(self.tree(&out.levels, out.value, (block, 1, lanes), times));
                    }
                }
                for out in cross.outs.iter().filter(|_| count > 1) {
                    let lanes = lanes * u64::from(out.inner);
                    pieces.push(self.tape(out.carry, out.value, lanes, count - 1));
                }
                pieces
            }
            StepOp::Sort(sort) => {
                let rows = sort
                    .length
                    .at(sort.rows.map_or(1, |table| self.all_rows(table)));
                let [planes, key_bits] = sort.bits(|of| planned(of).bits);
                let work = StepShape::Sort(SortShape {
                    domain: domain(sort.outs[0]),
                    rows,
                    planes,
                    key_bits,
                });
                once(rows, work)
            }
            StepOp::Fold(fold) => {
                let lanes = steps::lanes(&fold.lanes, rows);
                let length = fold.length.at(rows);
                self.tree(&fold.levels, fold.out, (length, fold.to, lanes), 1)
            }
        }
    }

    /// Work of a tree over so many elements in each lane, to so many, `times` over.
    fn tree(
        &self,
        levels: &[TapeId],
        out: PlanValue,
        (mut left, to, lanes): (u64, u64, u64),
        times: u64,
    ) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        for level in levels {
            let pairs = steps::pairs(left, to);
            if pairs > 0 {
                pieces.push(self.tape(*level, out, pairs * lanes, times));
            }
            left -= pairs;
        }
        pieces
    }

    /// Work of combining the result of a tile with that of the tiles before it, if there is any.
    pub fn carry(&self, op: &StepOp) -> Option<Piece<'a>> {
        let StepOp::Fold(fold) = op else {
            return None;
        };
        // The carry has no rows.
        let lanes = fold.to * steps::lanes(&fold.lanes, 1);
        Some(self.tape(fold.carry?, fold.out, lanes, 1))
    }

    /// Work of a tape, in the domain of its result.
    fn tape(&self, tape: TapeId, out: PlanValue, lanes: u64, times: u64) -> Piece<'a> {
        let tape = &self.plan.tapes[tape.0 as usize];
        let domain = self.plan[out].domain;
        Piece::new(times, lanes, StepShape::tape(tape, domain, lanes))
    }

    /// Domain, bits and receivers of each result that is opened at the end.
    fn results(&self) -> Vec<Opening> {
        let results = self.plan.results.iter();
        let last = results.filter(|result| !self.plan.in_tiles(result, self.rows));
        let opening = |result: &ResultPlan| {
            let value = &self.plan[result.value];
            let rows = value.rows.map_or(1, |table| self.all_rows(table));
            opening(value, value.elements * rows, result.to)
        };
        last.map(opening).collect()
    }
}

/// The opening of so many elements of a value.
fn opening(value: &ValuePlan, elements: u64, to: PartySet) -> Opening {
    Opening {
        domain: value.domain,
        bits: elements * value.plain_bits(),
        to,
    }
}

/// Checks that no settlement of a segment settles.
fn open_checks(steps: &[Rc<Vec<[Tally; 2]>>], walk: Walk) -> Checks {
    let (mut open, mut settled) = (Checks::default(), Checks::default());
    for tallies in steps.iter().flat_map(|steps| steps.iter()) {
        open.add(&tallies[walk.index()].checks, 1);
        settled.add(&tallies[walk.index()].settled, 1);
    }
    open.without(&settled)
}

/// Bits that correlations take in pools, at the party with the larger part.
fn pool_bits<P: Protocol>(setting: &Setting, demand: &Demand) -> u64 {
    let bits = demand.0.iter();
    bits.map(|(kind, count)| count * P::pool_bits(setting, *kind))
        .sum()
}

/// Bits that pools take at most once they are refilled for this demand, at the party with the
/// larger part: beside it, what these refills leave over, or others that lack one.
fn most_pool_bits<P: Protocol>(setting: &Setting, demand: &Demand, refills: &Refills) -> u64 {
    let left = demand.0.keys().map(|kind| {
        let one = P::refill_counts(setting, &Demand([(*kind, 1)].into()));
        let left = one
            .count(*kind)
            .saturating_sub(1)
            .max(refills.most_left(*kind));
        left * P::pool_bits(setting, *kind)
    });
    P::demand_bits(setting, demand)[0] + left.sum::<u64>()
}
