//! Module `flow`: the schedule of each step of each tile. Both the cost of a plan and the engine
//! follow it, so that the planned and the actual run cannot differ.
//!
//! A *tile run* is one pass through a segment: all of it, or one tile of its rows. Tile runs begin
//! in order and a few are in flight at once, those of different segments too. A *call* is a step in
//! a tile run; it may begin as soon as its operands exist. All parties proceed in *step rounds*:
//!
//! 1. Every call that may begin does, and writes its first flight.
//! 2. The step round ends: everything that was written is sent, as one message to each peer.
//! 3. Every call under way reads the flight that is due and writes the next one, or is finished. A
//!    party may let all of them read before the first one writes: the stamps are those of step 2.
//!
//! Where preparation depends on the circuit, a plan is walked twice: each step of each tile run has
//! an *offline* call, which knows the operands' masks and no input, and an online call, which
//! follows it ([`Timing`](sealane_protocol::Timing)). Where a segment takes correlations from
//! pools, these are refilled for some tiles at a time, before the first of them, when no call is
//! under way.
//!
//! So calls that do not wait for each other share rounds, whatever they are, and the number of
//! step rounds of a run is its longest chain of flights. This is the paper's `join` (Launchbury et
//! al., ICFP 2012, section 5) on messages, and its pipelined batches; protocols are unaware of it.
//! The order of calls follows from the plan, the row counts and the number of flights of each call
//! alone, which all parties know, so that messages need no label.

use crate::steps::{Plan, PlanValue, Segment, Step, StepOp};
use sealane_protocol::Walk;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{Hash, Hasher};

/// Version of the order in which calls begin and advance; part of a plan, and so of the job's hash.
pub const VERSION: u32 = 1;

/// Most tiles in flight. Tiles are sized so that this many fit in memory.
pub const IN_FLIGHT: usize = 4;

/// One pass through a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRun {
    /// Index of the segment.
    pub segment: usize,
    /// Number of the tile, from 0; 0 for a segment that runs once.
    pub tile: u64,
    /// First row of the tile.
    pub start: u64,
    /// Rows of the tile; 0 for a segment that runs once.
    pub rows: u64,
}

/// Tiles for which pools are refilled at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refill {
    /// The segment.
    pub segment: usize,
    /// Full tiles (or the one run of a segment that runs once).
    pub full: u64,
    /// Rows of a last tile that is not full; 0 if there is none.
    pub rest: u64,
    /// Tiles that are combined with those before them.
    pub carries: u64,
    /// Walks that take the correlations.
    pub walks: &'static [Walk],
}

/// A step in a tile run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tile run.
    pub run: TileRun,
    /// The walk.
    pub walk: Walk,
    /// Index of the step in its segment.
    pub step: usize,
    /// True for the second part of a step that carries: the tile's result is combined with those of
    /// the tiles before it.
    pub carry: bool,
}

// Tables of calls are asked at every flight, so a hash takes what distinguishes runs and calls.

impl Hash for TileRun {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(((self.segment as u64) << 40) ^ self.tile);
    }
}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let part = (u64::from(self.carry) << 1) | self.walk as u64;
        let run = ((self.run.segment as u64) << 40) ^ self.run.tile;
        state.write_u64((((run << 16) ^ self.step as u64) << 2) | part);
    }
}

/// Executor of the calls of a plan: a party of a run, or the clocks of a cost.
pub trait Driver {
    /// Error that ends the run.
    type Error;
    /// Refills pools for some tiles. No call is under way.
    fn refill(&mut self, refill: &Refill) -> Result<(), Self::Error>;
    /// Reports that no offline call is left, where all of them run ahead of inputs.
    fn prepared(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Begins a call; returns whether it is finished already.
    fn begin(&mut self, call: &Call) -> Result<bool, Self::Error>;
    /// Ends a step round: sends everything that calls have written.
    fn step_round(&mut self) -> Result<(), Self::Error>;
    /// Reads the flights that are due to all calls under way, and computes on them, for parties
    /// that do so before any of these calls writes.
    fn take(&mut self, _calls: &[(Call, u64)]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Advances a call by one flight; returns whether it is finished.
    fn advance(&mut self, call: &Call) -> Result<bool, Self::Error>;
    /// Reports that all calls of a tile run are finished.
    fn close(&mut self, run: &TileRun) -> Result<(), Self::Error>;
    /// Finishes the only call under way: nothing else can begin before.
    fn finish_alone(&mut self, call: &Call) -> Result<(), Self::Error> {
        loop {
            self.step_round()?;
            self.take(&[(*call, 0)])?;
            if self.advance(call)? {
                return Ok(());
            }
        }
    }
    /// Returns how many of the next step rounds may be skipped: for a cost, not for a party.
    /// `calls` are all calls under way, with the step rounds that each has taken; none of them ends
    /// in the skipped step rounds, so none begins either.
    fn leap(&mut self, _calls: &[(Call, u64)]) -> u64 {
        0
    }
    /// Returns how many of the next `left` full tiles may be skipped: for a cost, not for a party.
    /// `state` is the state of all tile runs in flight, all of one segment; the rest of the run
    /// depends on it and on the driver's own state alone.
    fn skip(&mut self, _state: &[u32], _left: u64) -> u64 {
        0
    }
}

/// Runs all steps of a plan, on the given number of rows of each table.
///
/// # Errors
/// The errors of the driver.
pub fn run<D: Driver>(plan: &Plan, rows: &[u64], driver: &mut D) -> Result<(), D::Error> {
    for (pass, walks) in plan.setting.timing.passes().iter().enumerate() {
        if pass > 0 {
            driver.prepared()?;
        }
        walk(plan, rows, walks, driver)?;
    }
    Ok(())
}

/// Runs the calls of some walks, over all segments.
fn walk<D: Driver>(
    plan: &Plan,
    rows: &[u64],
    walks: &'static [Walk],
    driver: &mut D,
) -> Result<(), D::Error> {
    let mut flow = Flow::new(plan, rows, walks);
    loop {
        flow.begin(driver)?;
        match flow.running[..] {
            [] => return Ok(()),
            [(call, _)] => {
                driver.finish_alone(&call)?;
                flow.running.clear();
                flow.finished(&call);
            }
            _ => {
                flow.leap(driver);
                driver.step_round()?;
                driver.take(&flow.running)?;
                for (call, step_rounds) in std::mem::take(&mut flow.running) {
                    if driver.advance(&call)? {
                        flow.finished(&call)
                    } else {
                        flow.running.push((call, step_rounds + 1))
                    }
                }
            }
        }
    }
}

/// Dependency of a step.
#[derive(Clone, Copy)]
enum Need {
    /// A step of the same tile run.
    Here(usize),
    /// A step in all tile runs of its segment.
    After { segment: usize, step: usize },
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Waiting,
    Running,
    Done,
}

/// A tile run in flight. Each step has two entries for each walk, the second one for its carry.
struct InFlight {
    run: TileRun,
    status: Vec<[[Status; 2]; 2]>,
    left: usize,
    /// Steps that may be ready: all others wait for a call that is not finished.
    open: BTreeSet<usize>,
}

/// Tile runs of a segment that have not begun.
#[derive(Clone, Copy, Default)]
struct Remaining {
    /// Full tiles (or the one tile run of a segment that runs once), and the rows of a last one.
    full: u64,
    rest: u64,
    /// Tiles begun.
    begun: u64,
    /// All tile runs.
    blocks: u64,
    /// Tile runs for which pools have been filled.
    supplied: u64,
}

struct Flow<'a> {
    plan: &'a Plan,
    /// Walks whose calls run.
    walks: &'static [Walk],
    needs: Vec<Vec<Vec<Need>>>,
    /// For each segment and step, the steps that wait for it, with their segments.
    waiting: Vec<Vec<Vec<(usize, usize)>>>,
    remaining: Vec<Remaining>,
    /// Segment whose tile runs begin next.
    segment: usize,
    flying: VecDeque<InFlight>,
    /// For each segment and step, the number of tile runs in which each walk of it is finished.
    finished: Vec<Vec<[u64; 2]>>,
    /// Calls under way, with the step rounds that they have taken.
    running: Vec<(Call, u64)>,
    /// Set if a call has finished since all steps were checked.
    changed: bool,
}

impl<'a> Flow<'a> {
    fn new(plan: &'a Plan, rows: &[u64], walks: &'static [Walk]) -> Flow<'a> {
        let remaining = |segment: &Segment| match segment.rows {
            None => Remaining {
                full: 1,
                blocks: 1,
                ..Remaining::default()
            },
            Some(table) => {
                let table = usize::from(table.0);
                let (count, tile) = (rows[table], plan.rows[table].tile);
                Remaining {
                    full: count / tile,
                    rest: count % tile,
                    blocks: count.div_ceil(tile),
                    ..Remaining::default()
                }
            }
        };
        let none = |segment: &Segment| vec![[0; 2]; segment.steps.len()];
        let needs = needs(plan);
        Flow {
            plan,
            walks,
            waiting: waiting(plan, &needs),
            needs,
            remaining: plan.segments.iter().map(remaining).collect(),
            segment: 0,
            flying: VecDeque::new(),
            finished: plan.segments.iter().map(none).collect(),
            running: Vec::new(),
            changed: true,
        }
    }

    /// Begins every call that may begin, in the order of tile runs and steps, and new tile runs as
    /// others finish. Steps come after the steps that they need, so that one pass is enough until a
    /// call finishes elsewhere.
    fn begin<D: Driver>(&mut self, driver: &mut D) -> Result<(), D::Error> {
        while std::mem::take(&mut self.changed) {
            while self.has_room() && self.take_up(driver)? {}
            for at in 0..self.flying.len() {
                let mut next = 0;
                while let Some(step) = self.flying[at].open.range(next..).next().copied() {
                    self.flying[at].open.remove(&step);
                    next = step + 1;
                    for walk in 0..self.walks.len() {
                        let walk = self.walks[walk];
                        while let Some(call) = self.ready(at, step, walk) {
                            let status = &mut self.flying[at].status[step];
                            status[walk.index()][usize::from(call.carry)] = Status::Running;
                            if driver.begin(&call)? {
                                self.finished(&call)
                            } else {
                                self.running.push((call, 0))
                            }
                        }
                    }
                }
            }
            while let Some(at) = self.flying.iter().position(|flying| flying.left == 0) {
                let flying = self.flying.remove(at);
                flying.map_or(Ok(()), |flying| driver.close(&flying.run))?;
                // There is room for another tile run.
                self.changed = true;
            }
        }
        Ok(())
    }

    /// Returns whether another tile run may begin. Segments that run once take little and delay no
    /// tile.
    fn has_room(&self) -> bool {
        let walks_rows = |flying: &&InFlight| flying.run.rows > 0;
        self.flying.iter().filter(walks_rows).count() < IN_FLIGHT
    }

    /// Begins the next tile run; returns whether there was one, and nothing had to be waited for.
    fn take_up<D: Driver>(&mut self, driver: &mut D) -> Result<bool, D::Error> {
        let Some(ahead) = self.remaining.get(self.segment).copied() else {
            return Ok(false);
        };
        if ahead.full == 0 && ahead.rest == 0 {
            self.segment += 1;
            return self.take_up(driver);
        }
        let segment = &self.plan.segments[self.segment];
        let refill = segment.refill;
        let may_skip = ahead.begun > 0 && ahead.full > 1;
        match refill {
            None if may_skip => self.skip(driver),
            Some(tiles) if ahead.supplied == ahead.begun => {
                if !self.running.is_empty() {
                    return Ok(false);
                }
                // Whole groups of tiles alone are skipped.
                if may_skip {
                    self.skip(driver);
                }
                self.refill(tiles, driver)?;
            }
            _ => {}
        }
        let tile = segment
            .rows
            .map(|table| self.plan.rows[usize::from(table.0)].tile);
        let ahead = &mut self.remaining[self.segment];
        let rows = match (tile, ahead.full) {
            (Some(_), 0) => std::mem::take(&mut ahead.rest),
            (Some(tile), _) => tile,
            (None, _) => 0,
        };
        let run = TileRun {
            segment: self.segment,
            tile: ahead.begun,
            start: ahead.begun * tile.unwrap_or(0),
            rows,
        };
        ahead.full = ahead.full.saturating_sub(1);
        ahead.begun += 1;
        let places = |op: &StepOp| {
            let mut places = [[Status::Done; 2]; 2];
            for walk in self.walks {
                places[walk.index()][0] = Status::Waiting;
                if op.carries() {
                    places[walk.index()][1] = Status::Waiting;
                }
            }
            places
        };
        let status = segment.steps.iter().map(|step| places(&step.op));
        let status = status.collect::<Vec<_>>();
        let waiting = status.iter().flatten().flatten();
        let left = waiting.filter(|s| **s == Status::Waiting).count();
        let open = (0..status.len()).collect();
        self.flying.push_back(InFlight {
            run,
            status,
            left,
            open,
        });
        Ok(true)
    }

    /// Refills pools for the next `tiles` tiles, or as many as there are.
    fn refill<D: Driver>(&mut self, tiles: u64, driver: &mut D) -> Result<(), D::Error> {
        let ahead = &mut self.remaining[self.segment];
        let full = tiles.min(ahead.full);
        let rest = if full < tiles { ahead.rest } else { 0 };
        let count = full + u64::from(rest > 0);
        let refill = Refill {
            segment: self.segment,
            full,
            rest,
            carries: count - u64::from(ahead.begun == 0),
            walks: self.walks,
        };
        ahead.supplied = ahead.begun + count;
        driver.refill(&refill)
    }

    /// Asks the driver whether step rounds in which no call ends can be skipped.
    fn leap<D: Driver>(&mut self, driver: &mut D) {
        let left_out = driver.leap(&self.running);
        self.running
            .iter_mut()
            .for_each(|(_, step_rounds)| *step_rounds += left_out);
    }

    /// Asks the driver whether full tiles of the current segment can be skipped.
    fn skip<D: Driver>(&mut self, driver: &mut D) {
        // The first tile combines with none before it, and the second settles no check of a carry.
        let unlike = |run: TileRun| run.segment != self.segment || run.tile < 2;
        if self.flying.iter().any(|flying| unlike(flying.run)) {
            return;
        }
        let ahead = &mut self.remaining[self.segment];
        let mut state = vec![self.segment as u32];
        for flying in &self.flying {
            state.push((ahead.begun - flying.run.tile) as u32);
            let statuses = flying.status.iter().flatten().flatten();
            state.extend(statuses.map(|status| *status as u32));
        }
        for (call, step_rounds) in &self.running {
            let tile = (ahead.begun - call.run.tile) as u32;
            let walk = call.walk as u32;
            state.extend([tile, call.step as u32, walk, u32::from(call.carry)]);
            state.extend([*step_rounds as u32, (*step_rounds >> 32) as u32]);
        }
        let skipped = driver.skip(&state, ahead.full - 1);
        ahead.full -= skipped;
        ahead.blocks -= skipped;
    }

    /// Returns the call of a step in a tile run in flight, if it may begin.
    fn ready(&self, at: usize, step: usize, walk: Walk) -> Option<Call> {
        let flying = &self.flying[at];
        let TileRun { segment, tile, .. } = flying.run;
        let op = &self.plan.segments[segment].steps[step].op;
        let of = walk.index();
        let in_step_round = self.finished[segment][step][of] == tile;
        let there = |need: &Need| match *need {
            Need::Here(step) => flying.status[step][of][0] == Status::Done,
            Need::After { segment, step } => {
                self.finished[segment][step][of] == self.remaining[segment].blocks
            }
        };
        // A settlement takes the checks of carries of the tiles before its own, too.
        let carried = || match op {
            StepOp::Settle => {
                self.plan.segments[segment]
                    .steps
                    .iter()
                    .enumerate()
                    .all(|(other, of_other)| {
                        !of_other.op.carries() || self.finished[segment][other][of] >= tile
                    })
            }
            _ => true,
        };
        let (carry, may) = match flying.status[step][of] {
            [Status::Waiting, _] => (false, !op.in_order() || in_step_round && carried()),
            [Status::Done, Status::Waiting] => (true, in_step_round),
            _ => return None,
        };
        let call = Call {
            run: flying.run,
            walk,
            step,
            carry,
        };
        // The online part takes the output of the offline part; an input is given when preparation
        // has settled its checks.
        let steps = self.plan.segments[segment].steps.iter().zip(&flying.status);
        let settled = walk == Walk::Offline
            || !matches!(op, StepOp::Input { .. })
            || steps
                .filter(|(step, _)| matches!(step.op, StepOp::Settle))
                .all(|(_, status)| status[Walk::Offline.index()][0] == Status::Done);
        let offline = flying.status[step][Walk::Offline.index()][usize::from(carry)];
        let prepared = walk == Walk::Offline || offline == Status::Done;
        let needs = carry || self.needs[segment][step].iter().all(there);
        (may && prepared && settled && needs).then_some(call)
    }

    fn finished(&mut self, call: &Call) {
        let mut flying = self.flying.iter_mut();
        let flying = flying.find(|flying| flying.run == call.run);
        let Some(flying) = flying else { return };
        let status = &mut flying.status[call.step][call.walk.index()];
        status[usize::from(call.carry)] = Status::Done;
        flying.left -= 1;
        self.changed = true;
        let TileRun { segment, .. } = call.run;
        if *status == [Status::Done; 2] {
            self.finished[segment][call.step][call.walk.index()] += 1;
        }
        // Its other parts, in other tile runs too, and what waits for it.
        let own = [(segment, call.step)];
        for (segment, step) in own.iter().chain(&self.waiting[segment][call.step]) {
            let flying = self.flying.iter_mut();
            let flying = flying.filter(|flying| flying.run.segment == *segment);
            flying.for_each(|flying| {
                flying.open.insert(*step);
            });
        }
    }
}

/// For each step of each segment, the steps that may become ready when it is finished in a tile
/// run.
fn waiting(plan: &Plan, needs: &[Vec<Vec<Need>>]) -> Vec<Vec<Vec<(usize, usize)>>> {
    let none = |segment: &Segment| vec![Vec::new(); segment.steps.len()];
    let mut waiting = plan.segments.iter().map(none).collect::<Vec<_>>();
    for (segment, steps) in needs.iter().enumerate() {
        for (step, needs) in steps.iter().enumerate() {
            for need in needs {
                let (of, needed) = match *need {
                    Need::Here(needed) => (segment, needed),
                    Need::After { segment, step } => (segment, step),
                };
                waiting[of][needed].push((segment, step));
            }
        }
        let steps = &plan.segments[segment].steps;
        let is_settle = |step: &usize| matches!(steps[*step].op, StepOp::Settle);
        for settle in (0..steps.len()).filter(is_settle) {
            for (step, of) in steps.iter().enumerate() {
                // A settlement waits for carries of tiles before, and inputs for a settlement.
                if of.op.carries() {
                    waiting[segment][step].push((segment, settle));
                }
                if matches!(of.op, StepOp::Input { .. }) {
                    waiting[segment][settle].push((segment, step));
                }
            }
        }
    }
    waiting
}

/// Dependencies of each step of each segment.
fn needs(plan: &Plan) -> Vec<Vec<Vec<Need>>> {
    let mut maker: HashMap<PlanValue, (usize, usize)> = HashMap::new();
    for (segment, steps) in plan.segments.iter().map(|s| &s.steps).enumerate() {
        for (step, made) in steps.iter().enumerate() {
            let values = made.op.writes().into_iter();
            maker.extend(values.map(|value| (value, (segment, step))));
        }
    }
    let of_segment = |(segment, walked): (usize, &Segment)| {
        let need = |value: &PlanValue| {
            let (made_in, step) = *maker.get(value)?;
            let need = Need::After {
                segment: made_in,
                step,
            };
            Some(if made_in == segment {
                Need::Here(step)
            } else {
                need
            })
        };
        let of_step = |(at, step): (usize, &Step)| {
            let mut needs = step.op.reads().iter().filter_map(need).collect::<Vec<_>>();
            let before = walked.steps[..at].iter().enumerate();
            match step.op {
                StepOp::Settle => {
                    needs.extend((0..at).map(Need::Here));
                    let earlier = match walked.rows {
                        None => &plan.segments[..segment],
                        Some(_) => &[],
                    };
                    for (segment, earlier) in earlier.iter().enumerate() {
                        let steps = 0..earlier.steps.len();
                        needs.extend(steps.map(|step| Need::After { segment, step }));
                    }
                }
                StepOp::Open { .. } => needs.extend(
                    before
                        .filter(|(_, step)| matches!(step.op, StepOp::Settle))
                        .map(|(settle, _)| Need::Here(settle)),
                ),
                _ => {}
            }
            needs
        };
        walked.steps.iter().enumerate().map(of_step).collect()
    };
    plan.segments.iter().enumerate().map(of_segment).collect()
}
