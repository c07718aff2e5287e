//! Runs the steps of a plan over a mesh, for one party of any protocol.
//!
//! When each step runs is said by [`sealane_plan::flow`], which the cost of the plan follows too;
//! here is what it then does. The engine moves shares between steps, takes calls from one flight to
//! the next, and is the only one that flushes: at the end of a turn, when everything that is under
//! way has written.
//!
//! | file | what it does |
//! |---|---|
//! | `execute` | a party as a driver of the flow; calls from step to step |
//! | `tasks` | steps that run a tape several times: reductions and loops |
//! | `values` | where shares come from, and how long they stay |

mod tasks;
#[cfg(test)]
mod tests;
mod values;

use crate::events::{self, Phase};
use crate::journal::{Part, Since, Watch};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_plan::flow::{self, Call, Driver, TileRun};
use sealane_plan::steps::{Plan, PlanValue, StepOp, TapeId};
use sealane_program::types::Data;
use sealane_protocol::{Demand, Fault, Outcome, Progress, Protocol, Step, run_alone};
use std::collections::HashMap;
use std::sync::Arc;
use tasks::Task;
use values::{Kept, Tile};

/// What one party brings to a run.
pub(crate) struct Start<'a> {
    /// Row counts, as the handshake settled them.
    pub rows: &'a [u64],
    /// This party's inputs, by index of the plan's inputs.
    pub inputs: Vec<Option<&'a Data>>,
    pub demand: &'a Demand,
    pub cpu: Cpu,
    pub coins: Coins,
}

/// Runs a plan to its end. For each result: its elements, if this party learns it.
pub(crate) fn execute<P: Protocol>(
    plan: &Plan,
    start: Start<'_>,
    mut watch: Watch<'_, '_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>, Fault> {
    let mut party = P::start(&plan.setting, mesh.me(), start.cpu, start.coins);
    mesh.at_step(0);
    watch.phase(Phase::Prepare, mesh);
    let since = watch.take_up(0, mesh);
    party.prepare(start.demand, mesh)?;
    watch.lay_down(&since, Part::All, mesh);
    watch.phase(Phase::Compute, mesh);
    let mut run = Run::<'_, '_, P> {
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
        watch,
    };
    flow::run(plan, start.rows, &mut run)?;
    run.reveal()
}

/// Shares that steps and tiles hold together.
type Held<P> = Arc<<P as Protocol>::Share>;
/// Shares by value.
type Stored<P> = HashMap<PlanValue, Held<P>>;

struct Run<'a, 'o, P: Protocol> {
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: Vec<Option<&'a Data>>,
    party: P,
    mesh: &'a mut Mesh,
    /// The blocks in flight.
    tiles: HashMap<TileRun, Tile<P>>,
    under_way: HashMap<Call, Running<'a, P>>,
    /// Values without rows, and kept ones with all their rows.
    stored: Stored<P>,
    /// The tiles so far of values that are kept.
    kept: HashMap<PlanValue, Kept<P>>,
    /// How many steps of a segment read each value, by segment.
    readers: Vec<HashMap<PlanValue, usize>>,
    /// The number of the first step of each segment, and that of the reveal.
    first_step: Vec<u32>,
    checks: Vec<P::Check>,
    watch: Watch<'a, 'o>,
}

/// A call that has been begun.
struct Running<'a, P: Protocol + 'a> {
    task: Task<P>,
    pending: P::Pending<'a>,
}

impl<'a, P: Protocol + 'a> Driver for Run<'a, '_, P> {
    type Error = Fault;

    fn begin(&mut self, call: &Call) -> Result<bool, Fault> {
        // Nothing may wait or cross for long, so that the mesh does not look.
        self.mesh.cancel().check()?;
        self.tiles.entry(call.run).or_insert_with(|| {
            let readers = self.readers[call.run.segment].clone();
            Tile::new(readers, self.watch.opened(told(&call.run)))
        });
        let since = self.at_step(call);
        let finished = match self.task(call)? {
            None => self.finished(call),
            Some((task, step)) => {
                let progress = self.party.begin(step, self.mesh)?;
                self.go_on(call, task, progress)
            }
        }?;
        self.watch.lay_down(&since, Part::Begun, self.mesh);
        Ok(finished)
    }

    fn turn(&mut self) -> Result<(), Fault> {
        self.watch.turn(self.mesh);
        Ok(self.mesh.flush()?)
    }

    fn advance(&mut self, call: &Call) -> Result<bool, Fault> {
        let Some(Running { task, pending }) = self.under_way.remove(call) else {
            return Err(internal("a call advances that was not begun"));
        };
        self.mesh.cancel().check()?;
        let since = self.at_step(call);
        let progress = self.party.advance(pending, self.mesh)?;
        let finished = self.go_on(call, task, progress)?;
        self.watch.lay_down(&since, Part::Flight, self.mesh);
        Ok(finished)
    }

    fn close(&mut self, block: &TileRun) -> Result<(), Fault> {
        let tile = self.tiles.remove(block);
        if tile.is_some_and(|tile| tile.told) {
            self.watch.closed(told(block));
        }
        Ok(())
    }
}

impl<'a, P: Protocol + 'a> Run<'a, '_, P> {
    /// Books what crosses from here on to the step of a call.
    fn at_step(&mut self, call: &Call) -> Since {
        let step = self.first_step[call.run.segment] + call.step as u32;
        self.mesh.at_step(step);
        self.watch.take_up(step as usize, self.mesh)
    }

    /// The operation of a call. It lives as long as the plan, so that steps may hold on to tapes.
    fn op(&self, call: &Call) -> &'a StepOp {
        let plan: &'a Plan = self.plan;
        &plan.segments[call.run.segment].steps[call.step].op
    }

    /// Takes a call from step to step until it has to wait for a flight, or is finished.
    fn go_on(
        &mut self,
        call: &Call,
        mut task: Task<P>,
        mut progress: Progress<'a, P>,
    ) -> Result<bool, Fault> {
        loop {
            let outcome = match progress {
                Progress::More(pending) => {
                    self.under_way.insert(*call, Running { task, pending });
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

    /// Forgets what nobody reads any more. (What is carried has been read by the first part.)
    fn finished(&mut self, call: &Call) -> Result<bool, Fault> {
        if !call.carry {
            let reads = self.op(call).reads();
            self.tile(call.run)?.release(&reads);
        }
        Ok(true)
    }

    /// A tape as a step.
    fn run_tape(&mut self, tape: TapeId, lanes: usize, operands: Vec<Held<P>>) -> Step<'a, P> {
        let plan: &'a Plan = self.plan;
        let tape = &plan.tapes[tape.0 as usize];
        let ands = tape.ands.len() as u64 * lanes as u64;
        self.watch.begin_ands(ands);
        Step::Tape {
            tape,
            lanes,
            operands,
        }
    }

    /// Settles and opens all results: the last step, alone.
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
        self.watch.phase(Phase::Reveal, self.mesh);
        let since = self.watch.take_up(last as usize, self.mesh);
        let step = Step::Reveal { results, checks };
        let Outcome::Revealed(bits) = run_alone(&mut self.party, self.mesh, step)? else {
            return Err(internal("a reveal revealed nothing"));
        };
        self.watch.lay_down(&since, Part::All, self.mesh);
        let results = self.plan.results.iter().zip(bits);
        Ok(results
            .map(|(result, bits)| bits.map(|bits| self.revealed(result, &bits)))
            .collect())
    }
}

/// A block, as events have it.
fn told(block: &TileRun) -> events::Block {
    events::Block {
        segment: block.segment,
        tile: block.tile,
        rows: block.rows,
    }
}

/// Steps are numbered through all segments, from 1: step 0 is the preparation.
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
