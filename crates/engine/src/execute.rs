//! Runs the steps of a plan over a mesh, for one party of any protocol.
//!
//! [`sealane_plan::flow`] decides when each step runs, and the cost of the plan follows the same
//! schedule. This module executes the steps. The engine moves shares between steps, advances calls
//! from one flight to the next, and is the only one that flushes: at the end of a turn, when every
//! active step has written.
//!
//! | file | what it does |
//! |---|---|
//! | `execute` | a party as a driver of the flow; calls from step to step |
//! | `tasks` | calls that run a tape several times: reductions and loops |
//! | `values` | sources and lifetimes of shares |

mod tasks;
#[cfg(test)]
mod tests;
mod values;

use crate::events::{self, Phase};
use crate::journal::{CallStart, PlanRecorder, StepProgress};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_plan::flow::{self, Call, Driver, TileRun};
use sealane_plan::steps::{Plan, PlanValue, StepOp, TapeId};
use sealane_program::types::Data;
use sealane_protocol::{Demand, Fault, Outcome, Progress, Protocol, Step, run_alone};
use std::collections::HashMap;
use std::sync::Arc;
use tasks::Task;
use values::{KeptTiles, Tile};

/// Arguments of one party for the execution of a plan.
pub(crate) struct PlanInputs<'a> {
    /// Row counts that the handshake settled.
    pub rows: &'a [u64],
    /// This party's inputs, by index of the plan's inputs.
    pub inputs: Vec<Option<&'a Data>>,
    pub demand: &'a Demand,
    pub cpu: Cpu,
    pub coins: Coins,
}

/// Runs a plan to its end. Returns the elements of each result that this party learns.
pub(crate) fn execute<P: Protocol>(
    plan: &Plan,
    start: PlanInputs<'_>,
    mut recorder: PlanRecorder<'_, '_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>, Fault> {
    let mut party = P::start(&plan.setting, mesh.me(), start.cpu, start.coins);
    mesh.at_step(0);
    recorder.phase(Phase::Prepare, mesh);
    let since = recorder.start_call(0, mesh);
    party.prepare(start.demand, mesh)?;
    recorder.end_call(&since, StepProgress::All, mesh);
    recorder.phase(Phase::Compute, mesh);
    let mut run = PlanRun::<'_, '_, P> {
        plan,
        rows: start.rows,
        inputs: start.inputs,
        party,
        mesh,
        tiles: HashMap::new(),
        under_way: HashMap::new(),
        stored: HashMap::new(),
        kept: HashMap::new(),
        readers: values::readers(plan),
        first_step: first_steps(plan),
        checks: Vec::new(),
        recorder,
    };
    flow::run(plan, start.rows, &mut run)?;
    run.reveal()
}

/// Reference-counted share, which steps and tiles hold together.
type ShareRef<P> = Arc<<P as Protocol>::Share>;
/// Shares by plan value.
type ShareMap<P> = HashMap<PlanValue, ShareRef<P>>;

struct PlanRun<'a, 'o, P: Protocol> {
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: Vec<Option<&'a Data>>,
    party: P,
    mesh: &'a mut Mesh,
    /// Blocks in flight.
    tiles: HashMap<TileRun, Tile<P>>,
    under_way: HashMap<Call, RunningCall<'a, P>>,
    /// Values without rows, and kept values with all their rows.
    stored: ShareMap<P>,
    /// Tiles so far of the kept values.
    kept: HashMap<PlanValue, KeptTiles<P>>,
    /// Number of steps of a segment that read each value, by segment.
    readers: Vec<HashMap<PlanValue, usize>>,
    /// Number of the first step of each segment, and of the reveal.
    first_step: Vec<u32>,
    checks: Vec<P::Check>,
    recorder: PlanRecorder<'a, 'o>,
}

/// Call in progress.
struct RunningCall<'a, P: Protocol + 'a> {
    task: Task<P>,
    pending: P::Pending<'a>,
}

impl<'a, P: Protocol + 'a> Driver for PlanRun<'a, '_, P> {
    type Error = Fault;

    fn begin(&mut self, call: &Call) -> Result<bool, Fault> {
        // The mesh checks for cancellation only when it waits or sends, which may be long from now.
        self.mesh.cancel().check()?;
        self.tiles.entry(call.run).or_insert_with(|| {
            let readers = self.readers[call.run.segment].clone();
            Tile::new(readers, self.recorder.block_begins(event_block(&call.run)))
        });
        let since = self.at_step(call);
        let finished = match self.task(call)? {
            None => self.finished(call),
            Some((task, step)) => {
                let progress = self.party.begin(step, self.mesh)?;
                self.advance_call(call, task, progress)
            }
        }?;
        self.recorder
            .end_call(&since, StepProgress::Begun, self.mesh);
        Ok(finished)
    }

    fn turn(&mut self) -> Result<(), Fault> {
        self.recorder.turn(self.mesh);
        Ok(self.mesh.flush()?)
    }

    fn advance(&mut self, call: &Call) -> Result<bool, Fault> {
        let Some(RunningCall { task, pending }) = self.under_way.remove(call) else {
            return Err(internal("a call advances that was not begun"));
        };
        self.mesh.cancel().check()?;
        let since = self.at_step(call);
        let progress = self.party.advance(pending, self.mesh)?;
        let finished = self.advance_call(call, task, progress)?;
        self.recorder
            .end_call(&since, StepProgress::Flight, self.mesh);
        Ok(finished)
    }

    fn close(&mut self, block: &TileRun) -> Result<(), Fault> {
        let tile = self.tiles.remove(block);
        if tile.is_some_and(|tile| tile.reported) {
            self.recorder.block_ends(event_block(block));
        }
        Ok(())
    }
}

impl<'a, P: Protocol + 'a> PlanRun<'a, '_, P> {
    /// Attributes the traffic from here on to the step of a call.
    fn at_step(&mut self, call: &Call) -> CallStart {
        let step = self.first_step[call.run.segment] + call.step as u32;
        self.mesh.at_step(step);
        self.recorder.start_call(step as usize, self.mesh)
    }

    /// Returns the operation of a call. It lives as long as the plan, so that steps may borrow
    /// tapes.
    fn op(&self, call: &Call) -> &'a StepOp {
        let plan: &'a Plan = self.plan;
        &plan.segments[call.run.segment].steps[call.step].op
    }

    /// Advances a call from step to step until it has to wait for a flight, or ends.
    fn advance_call(
        &mut self,
        call: &Call,
        mut task: Task<P>,
        mut progress: Progress<'a, P>,
    ) -> Result<bool, Fault> {
        loop {
            let outcome = match progress {
                Progress::More(pending) => {
                    self.under_way.insert(*call, RunningCall { task, pending });
                    return Ok(false);
                }
                Progress::Done(outcome) => outcome,
            };
            let share = match outcome {
                Outcome::Share(share, checks) => {
                    self.checks.extend(checks);
                    share
                }
                Outcome::Revealed(_) => {
                    return Err(internal("a step revealed what it should share"));
                }
            };
            match self.next(call, &mut task, share)? {
                None => return self.finished(call),
                Some(step) => {
                    self.mesh.cancel().check()?;
                    progress = self.party.begin(step, self.mesh)?;
                }
            }
        }
    }

    /// Frees the values that no step reads any more. (Carried values have been read by the first
    /// part.)
    fn finished(&mut self, call: &Call) -> Result<bool, Fault> {
        if !call.carry {
            let reads = self.op(call).reads();
            self.tile(call.run)?.release(&reads);
        }
        Ok(true)
    }

    /// Creates the step that runs a tape.
    fn run_tape(&mut self, tape: TapeId, lanes: usize, operands: Vec<ShareRef<P>>) -> Step<'a, P> {
        let plan: &'a Plan = self.plan;
        let tape = &plan.tapes[tape.0 as usize];
        let ands = tape.ands.len() as u64 * lanes as u64;
        self.recorder.begin_ands(ands);
        Step::Tape {
            tape,
            lanes,
            operands,
        }
    }

    /// Settles and opens all results: the last step, which shares its rounds with no other.
    fn reveal(mut self) -> Result<Vec<Option<Data>>, Fault> {
        let results = self.plan.results.iter();
        let results = results.map(|result| {
            let share = self.stored.get(&result.value).cloned();
            let share = share.ok_or_else(|| internal("a result was never computed"))?;
            let domain = self.plan.values[result.value.0 as usize].domain;
            Ok((share, domain, result.to))
        });
        let results = results.collect::<Result<Vec<_>, Fault>>()?;
        let checks = std::mem::take(&mut self.checks);
        let last = self.first_step.last().copied().unwrap_or(1);
        self.mesh.at_step(last);
        self.recorder.phase(Phase::Reveal, self.mesh);
        let since = self.recorder.start_call(last as usize, self.mesh);
        let step = Step::Reveal { results, checks };
        let Outcome::Revealed(bits) = run_alone(&mut self.party, self.mesh, step)? else {
            return Err(internal("a reveal revealed nothing"));
        };
        self.recorder.end_call(&since, StepProgress::All, self.mesh);
        let results = self.plan.results.iter().zip(bits);
        Ok(results
            .map(|(result, bits)| bits.map(|bits| self.revealed(result, &bits)))
            .collect())
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

/// Numbers the steps through all segments, from 1: step 0 is the preparation.
fn first_steps(plan: &Plan) -> Vec<u32> {
    let mut numbers = vec![1];
    for segment in &plan.segments {
        let next = numbers.last().copied().unwrap_or(1) + segment.steps.len() as u32;
        numbers.push(next);
    }
    numbers
}

fn internal(what: &str) -> Fault {
    Fault::Internal(what.to_string())
}
