//! Runs the steps of a plan over a mesh, for one party of any protocol.
//!
//! [`sealane_plan::flow`] decides when each step runs, and the cost of the plan follows the same
//! schedule. This module executes the steps. The engine moves shares between steps, advances calls
//! from one flight to the next, and is the only one that flushes: at the end of a step round, when
//! every active step has written.
//!
//! | file | content |
//! |---|---|
//! | `execute` | a party as a driver of the flow; what passes between its two walks |
//! | `walker` | one walk: calls from step to step |
//! | `tasks` | calls that run a tape several times: reductions, loops and networks |
//! | `values` | sources and lifetimes of shares |

mod tasks;
#[cfg(test)]
mod tests;
mod values;
mod walker;

use crate::events::{self, Phase};
use crate::journal::{CallStart, PlanRecorder, StepProgress};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_party::{Fault, Opened, Outcome, Party, Start, Step, Steps, Stocks, run_alone};
use sealane_plan::flow::{self, Call, Driver, Refill, TileRun};
use sealane_plan::steps::{self, Plan, StepOp};
use sealane_plan::{Form, supply};
use sealane_program::types::Data;
use sealane_protocol::{Demand, LeftOver, Timing, Walk};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use values::Values;
use walker::{RunningCall, Walker};

/// Arguments of one party for the execution of a plan.
pub(crate) struct PlanStart<'a> {
    /// Row counts that the handshake settled.
    pub rows: &'a [u64],
    pub demand: &'a Demand,
    /// The form of the plan on which the handshake settled.
    pub form: Form,
    pub cpu: Cpu,
    pub coins: Coins,
    /// Transfers that the run took from a pool.
    pub stocks: Stocks,
}

/// Runs a plan to its end, on this party's `inputs` by index of the plan's inputs. Returns the
/// elements of each result that this party learns.
pub(crate) fn execute<P: Party>(
    plan: &Plan,
    inputs: Vec<Option<&Data>>,
    given: PlanStart<'_>,
    mut recorder: PlanRecorder<'_, '_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>> {
    mesh.at_step(0);
    recorder.phase(Phase::Prepare, mesh);
    let since = recorder.start_call(0, mesh);
    let start = Start {
        setting: &plan.setting,
        me: mesh.me(),
        session: mesh.session(),
        cpu: given.cpu,
        coins: given.coins,
        stocks: given.stocks,
    };
    let mut party = P::set_up(start, given.demand, mesh)?;
    let split = party.offline().is_none() || P::SPLIT == P::Offline::SPLIT;
    assert!(split, "both walks of a protocol are split, or none");
    recorder.end_call(&since, StepProgress::All, mesh);
    recorder.phase(Phase::Compute, mesh);
    let mut run = PlanRun::<'_, '_, P> {
        plan,
        rows: given.rows,
        inputs,
        party,
        mesh,
        online: WalkState::new(plan, given.rows),
        offline: WalkState::new(plan, given.rows),
        material: HashMap::new(),
        left_over: LeftOver::after_set_up::<P::Protocol>(&plan.setting, given.demand),
        opening: None,
        expecting: false,
        reported: HashSet::new(),
        first_step: first_steps(plan),
        recorder,
    };
    flow::run(plan, given.rows, &mut run)?;
    run.reveal()
}

/// Result of a part of a run.
type Result<T> = std::result::Result<T, Fault>;

/// Reference-counted share, which steps and tiles hold together.
type ShareRef<W> = Arc<<W as Steps>::Share>;

/// State of one walk over a plan.
struct WalkState<'a, W: Steps + 'a> {
    values: Values<W>,
    under_way: HashMap<Call, RunningCall<'a, W>>,
    /// Checks that no settlement has taken: by segment, tile and step, and whether of its carry.
    checks: BTreeMap<(usize, u64, usize, bool), Vec<W::Check>>,
}

impl<'a, W: Steps + 'a> WalkState<'a, W> {
    fn new(plan: &Plan, rows: &[u64]) -> WalkState<'a, W> {
        WalkState {
            values: Values::new(plan, rows),
            under_way: HashMap::new(),
            checks: BTreeMap::new(),
        }
    }

    /// Takes the checks that a call settles. In a walk over rows these are those of the steps
    /// before it in its tile run, and of the carries of the tiles before; in a segment that runs
    /// once, all of the steps before it and of earlier segments.
    fn due(&mut self, plan: &Plan, call: &Call, half: Half) -> Vec<W::Check> {
        let TileRun { segment, tile, .. } = call.run;
        let planned = &plan.segments[segment];
        if half == Half::Advance || !matches!(op(plan, call), StepOp::Settle) {
            return Vec::new();
        }
        let first = match planned.rows {
            Some(_) => (segment, 0, 0, false),
            None => (0, 0, 0, false),
        };
        let before = self.checks.range(first..(segment, tile, call.step, false));
        let before = before.map(|(key, _)| *key);
        let settles = |(of, at, _, carry): &(usize, u64, usize, bool)| {
            (*of, *at) == (segment, tile) && !carry
                || planned.rows.is_none()
                || *carry && *at < tile
        };
        let before = before.filter(settles).collect::<Vec<_>>();
        let checks = before.iter().flat_map(|key| self.checks.remove(key));
        checks.flatten().collect()
    }

    /// The step of a call that is under way.
    fn pending(&mut self, call: &Call) -> Result<&mut W::Pending<'a>> {
        let running = self.under_way.get_mut(call);
        let running = running.ok_or_else(|| internal("a call advances that was not begun"))?;
        Ok(&mut running.pending)
    }

    /// Keeps the checks of half a call.
    fn keep(&mut self, call: &Call, checks: Vec<W::Check>) {
        if !checks.is_empty() {
            let key = (call.run.segment, call.run.tile, call.step, call.carry);
            self.checks.entry(key).or_default().extend(checks);
        }
    }

    /// Takes all checks that are left.
    fn all_checks(&mut self) -> Vec<W::Check> {
        let checks = std::mem::take(&mut self.checks).into_values();
        checks.flatten().collect()
    }
}

/// A step of a tile run, or its carry, in either walk.
type MaterialKey = (TileRun, usize, bool);

fn place(call: &Call) -> MaterialKey {
    (call.run, call.step, call.carry)
}

fn op<'a>(plan: &'a Plan, call: &Call) -> &'a StepOp {
    &plan.segments[call.run.segment].steps[call.step].op
}

struct PlanRun<'a, 'o, P: Party> {
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: Vec<Option<&'a Data>>,
    party: P,
    mesh: &'a mut Mesh,
    online: WalkState<'a, P>,
    offline: WalkState<'a, P::Offline>,
    /// Outputs of offline parts that their online parts have not taken.
    material: HashMap<MaterialKey, VecDeque<P::Material>>,
    /// Correlations that refills have left over.
    left_over: LeftOver,
    /// Output of the offline part of the reveal, once it has run.
    opening: Option<VecDeque<P::Material>>,
    /// Set once the party knows the tapes of the first tiles.
    expecting: bool,
    /// Tile runs whose start the journal reported, and so has to report their end.
    reported: HashSet<TileRun>,
    /// Number of the first step of each segment, and of the reveal, by walk.
    first_step: [Vec<u32>; 2],
    recorder: PlanRecorder<'a, 'o>,
}

/// Half of a call that is to run.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    Begin,
    Advance,
}

impl<'a, P: Party + 'a> Driver for PlanRun<'a, '_, P> {
    type Error = Fault;

    fn refill(&mut self, refill: &Refill) -> Result<()> {
        let demand = supply::<P::Protocol>(self.plan, self.rows, refill);
        let setting = &self.plan.setting;
        let made = self.left_over.refill::<P::Protocol>(setting, &demand);
        if made.is_empty() {
            return Ok(());
        }
        self.mesh.cancel().check()?;
        self.mesh.at_step(0);
        let since = self.recorder.start_call(0, self.mesh);
        self.party.refill(&made, self.mesh)?;
        self.recorder.end_call(&since, StepProgress::All, self.mesh);
        Ok(())
    }

    fn prepared(&mut self) -> Result<()> {
        self.prepare_reveal()
    }

    fn begin(&mut self, call: &Call) -> Result<bool> {
        // The mesh checks for cancellation only when it waits or sends, which may be long from now.
        self.mesh.cancel().check()?;
        let (known, first) = match call.walk {
            Walk::Offline => (
                self.offline.values.enter(call.run),
                self.plan.setting.timing,
            ),
            Walk::Online => (self.online.values.enter(call.run), Timing::CountsAlone),
        };
        // A block is told of once: where offline parts run ahead, by its online parts.
        let reported = first == Timing::AheadOfInputs || self.reported.contains(&call.run);
        if !known && !reported && self.recorder.block_begins(event_block(&call.run)) {
            self.reported.insert(call.run);
        }
        self.half(call, Half::Begin, StepProgress::Begun)
    }

    fn step_round(&mut self) -> Result<()> {
        self.recorder.step_round(self.mesh);
        self.mesh.flush()?;
        if !std::mem::replace(&mut self.expecting, true) {
            self.expect_tapes();
        }
        Ok(())
    }

    fn take(&mut self, calls: &[(Call, u64)]) -> Result<()> {
        if !P::SPLIT {
            return Ok(());
        }
        for (call, _) in calls {
            let since = self.at_step(call);
            match (call.walk, self.party.offline()) {
                (Walk::Offline, Some(party)) => {
                    party.take(self.offline.pending(call)?, self.mesh)?
                }
                _ => self.party.take(self.online.pending(call)?, self.mesh)?,
            }
            self.recorder
                .end_call(&since, StepProgress::Read, self.mesh);
        }
        for (call, _) in calls {
            match (call.walk, self.party.offline()) {
                (Walk::Offline, Some(party)) => party.work(self.offline.pending(call)?)?,
                _ => self.party.work(self.online.pending(call)?)?,
            }
        }
        Ok(())
    }

    fn advance(&mut self, call: &Call) -> Result<bool> {
        self.mesh.cancel().check()?;
        self.half(call, Half::Advance, StepProgress::Flight)
    }

    fn close(&mut self, block: &TileRun) -> Result<()> {
        self.offline.values.leave(block);
        self.online.values.leave(block);
        if self.reported.remove(block) {
            self.recorder.block_ends(event_block(block));
        }
        Ok(())
    }
}

impl<'a, P: Party + 'a> PlanRun<'a, '_, P> {
    /// Runs half of a call in its walk; returns whether the call is finished.
    fn half(&mut self, call: &Call, half: Half, progress: StepProgress) -> Result<bool> {
        let since = self.at_step(call);
        let finished = match call.walk {
            Walk::Online => self.online_half(call, half)?,
            Walk::Offline => self.offline_half(call, half)?,
        };
        self.recorder.end_call(&since, progress, self.mesh);
        Ok(finished)
    }

    fn online_half(&mut self, call: &Call, half: Half) -> Result<bool> {
        if matches!(op(self.plan, call), StepOp::Input { .. }) {
            self.recorder.takes_input();
        }
        let settled = self.online.due(self.plan, call, half);
        let material = self.material.remove(&place(call)).unwrap_or_default();
        let mut walker = Walker {
            plan: self.plan,
            op: op(self.plan, call),
            run: call.run,
            rows: self.rows,
            inputs: &self.inputs,
            state: &mut self.online,
            party: &mut self.party,
            mesh: self.mesh,
            walk: Walk::Online,
            recorder: Some(&mut self.recorder),
            material,
            settled,
            outputs: Vec::new(),
            checks: Vec::new(),
        };
        let finished = walker.half(call, half)?;
        let (checks, material) = (walker.checks, walker.material);
        if !material.is_empty() {
            self.material.insert(place(call), material);
        }
        self.online.keep(call, checks);
        Ok(finished)
    }

    fn offline_half(&mut self, call: &Call, half: Half) -> Result<bool> {
        let Some(party) = self.party.offline() else {
            return Err(internal("an offline walk of a protocol without one"));
        };
        let settled = self.offline.due(self.plan, call, half);
        let mut walker = Walker {
            plan: self.plan,
            op: op(self.plan, call),
            run: call.run,
            rows: self.rows,
            inputs: &[],
            state: &mut self.offline,
            party,
            mesh: self.mesh,
            walk: Walk::Offline,
            recorder: None,
            material: VecDeque::new(),
            settled,
            outputs: Vec::new(),
            checks: Vec::new(),
        };
        let finished = walker.half(call, half)?;
        let (checks, made) = (walker.checks, walker.outputs);
        self.offline.keep(call, checks);
        self.material.entry(place(call)).or_default().extend(made);
        Ok(finished)
    }

    /// Tells the party which tapes the first tiles run, while its first messages are on their way.
    fn expect_tapes(&mut self) {
        for segment in &self.plan.segments {
            let rows = segment.rows.map_or(0, |table| {
                let table = usize::from(table.0);
                self.rows[table].min(self.plan.rows[table].tile)
            });
            for step in &segment.steps {
                if let StepOp::Tape { tape, lanes, .. } = &step.op {
                    let lanes = steps::lanes(lanes, rows);
                    let tape = &self.plan.tapes[tape.0 as usize];
                    self.party.expect(tape, lanes as usize);
                }
            }
        }
    }

    /// Attributes the traffic from here on to the step of a call.
    fn at_step(&mut self, call: &Call) -> CallStart {
        let first = &self.first_step[usize::from(call.walk == Walk::Online)];
        let step = first[call.run.segment] + call.step as u32;
        self.mesh.at_step(step);
        self.recorder.start_call(step as usize, self.mesh)
    }

    /// Runs the offline part of the reveal, unless it has run.
    fn prepare_reveal(&mut self) -> Result<()> {
        if self.plan.setting.timing == Timing::CountsAlone || self.opening.is_some() {
            return Ok(());
        }
        let Some(party) = self.party.offline() else {
            return Err(internal("an offline walk of a protocol without one"));
        };
        let last = self.first_step[0].last().copied().unwrap_or(0);
        self.mesh.at_step(last);
        let since = self.recorder.start_call(last as usize, self.mesh);
        let results = self.offline.values.results(self.plan, self.rows)?;
        let mut made = VecDeque::new();
        let checks = self.offline.all_checks();
        for step in [Step::Settle { checks }, Step::Open { results }] {
            match run_alone(party, self.mesh, step, None)? {
                Outcome::Settled(output) | Outcome::Opened(_, output) => made.push_back(output),
                Outcome::Share(..) | Outcome::Columns(..) => {
                    return Err(internal("an opening made a share"));
                }
            }
        }
        self.opening = Some(made);
        self.recorder.end_call(&since, StepProgress::All, self.mesh);
        Ok(())
    }

    /// Settles, and opens all results that no tile has opened: the last steps, which share their
    /// rounds with no other.
    fn reveal(mut self) -> Result<Vec<Option<Data>>> {
        self.prepare_reveal()?;
        let results = self.online.values.results(self.plan, self.rows)?;
        let last = self.first_step[1].last().copied().unwrap_or(1);
        self.mesh.at_step(last);
        self.recorder.phase(Phase::Reveal, self.mesh);
        let since = self.recorder.start_call(last as usize, self.mesh);
        let mut material = self.opening.take().unwrap_or_default();
        let checks = self.online.all_checks();
        let settle = Step::Settle { checks };
        run_alone(&mut self.party, self.mesh, settle, material.pop_front())?;
        let open = Step::Open { results };
        let outcome = run_alone(&mut self.party, self.mesh, open, material.pop_front())?;
        let Outcome::Opened(words, ()) = outcome else {
            return Err(internal("a reveal revealed nothing"));
        };
        self.recorder.end_call(&since, StepProgress::All, self.mesh);
        let mut words = words.into_iter();
        let results = (0..).zip(&self.plan.results).map(|(index, result)| {
            let tiles = if self.plan.in_tiles(result, self.rows) {
                result
                    .to
                    .contains(self.mesh.me())
                    .then(|| self.online.values.take_opened(index))
            } else {
                words.next().flatten().map(|words| vec![words])
            };
            tiles.map(|tiles| values::revealed(self.plan, self.rows, result, tiles))
        });
        Ok(results.collect())
    }
}

impl<W: Steps> Values<W> {
    /// The results of the plan that no tile has opened.
    fn results(&self, plan: &Plan, rows: &[u64]) -> Result<Vec<Opened<W::Share>>> {
        let results = plan.results.iter();
        let last = results.filter(|result| !plan.in_tiles(result, rows));
        let results = last.map(|result| {
            let share = self.stored(result.value);
            let share = share.ok_or_else(|| internal("a result was never computed"))?;
            let (domain, to) = (plan[result.value].domain, result.to);
            Ok(Opened { share, domain, to })
        });
        results.collect()
    }
}

/// Converts a block of the plan into a block of events.
fn event_block(block: &TileRun) -> events::Block {
    events::Block {
        segment: block.segment,
        tile: block.tile,
        rows: block.rows,
    }
}

/// Numbers the steps through all segments, offline and online, as the cost of the plan does: step 0
/// is the preparation; behind the steps of each walk stands its reveal.
fn first_steps(plan: &Plan) -> [Vec<u32>; 2] {
    let mut next = 1;
    let mut numbers = <[Vec<u32>; 2]>::default();
    for walk in plan.setting.timing.walks() {
        let of = &mut numbers[usize::from(*walk == Walk::Online)];
        for segment in &plan.segments {
            of.push(next);
            next += segment.steps.len() as u32;
        }
        of.push(next);
        next += 1;
    }
    numbers
}

fn internal(what: &str) -> Fault {
    Fault::internal(what)
}
