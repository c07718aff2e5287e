//! One walk over a plan, while a call of it runs.

use super::tasks::Task;
use super::{Half, ShareRef, WalkState, internal};
use crate::journal::PlanRecorder;
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_party::{Fault, Outcome, Pairs, Progress, Step, Steps};
use sealane_plan::flow::Call;
use sealane_plan::steps::{Plan, PlanValue, StepOp, TapeId};
use sealane_program::types::Data;
use sealane_protocol::Walk;
use std::collections::VecDeque;

/// Call in progress.
pub(super) struct RunningCall<'a, W: Steps + 'a> {
    task: Task<W>,
    pub pending: W::Pending<'a>,
}

/// A walk with the party that runs it, for the time of half a call.
pub(super) struct Walker<'s, 'a, 'r, 'o, W: Steps + 'a> {
    pub plan: &'a Plan,
    pub rows: &'s [u64],
    /// This party's inputs; none in the offline walk.
    pub inputs: &'s [Option<&'a Data>],
    pub state: &'s mut WalkState<'a, W>,
    pub party: &'s mut W,
    pub mesh: &'s mut Mesh,
    pub walk: Walk,
    /// The journal, which counts the gates of the online walk.
    pub recorder: Option<&'s mut PlanRecorder<'r, 'o>>,
    /// Outputs of the offline part of the call, one for each of its steps.
    pub material: VecDeque<W::Material>,
    /// Checks that the call settles.
    pub settled: Vec<W::Check>,
    /// Outputs of the steps of the call, beside shares, one for each.
    pub outputs: Vec<W::Output>,
    /// Checks that the steps of the call leave.
    pub checks: Vec<W::Check>,
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    /// Begins a call, or reads the flight that is due; returns whether the call is finished.
    pub fn half(&mut self, call: &Call, half: Half) -> Result<bool, Fault> {
        match half {
            Half::Begin => match self.task(call)? {
                None => self.finished(call),
                Some((task, step)) => self.run(call, task, step),
            },
            Half::Advance => {
                let Some(RunningCall { task, pending }) = self.state.under_way.remove(call) else {
                    return Err(internal("a call advances that was not begun"));
                };
                let progress = if W::SPLIT {
                    self.party.put(pending, self.mesh)?
                } else {
                    self.party.advance(pending, self.mesh)?
                };
                self.proceed(call, task, progress)
            }
        }
    }

    fn run(&mut self, call: &Call, task: Task<W>, step: Step<'a, W>) -> Result<bool, Fault> {
        let material = self.material.pop_front();
        let progress = self.party.begin(step, material, self.mesh)?;
        self.proceed(call, task, progress)
    }

    /// Advances a call from step to step until it has to wait for a flight, or ends.
    fn proceed(
        &mut self,
        call: &Call,
        mut task: Task<W>,
        mut progress: Progress<'a, W>,
    ) -> Result<bool, Fault> {
        loop {
            let outcome = match progress {
                Progress::More(pending) => {
                    let running = RunningCall { task, pending };
                    self.state.under_way.insert(*call, running);
                    return Ok(false);
                }
                Progress::Done(outcome) => outcome,
            };
            let next = match outcome {
                Outcome::Share(share, checks, output) => {
                    self.checks.extend(checks);
                    self.outputs.push(output);
                    self.next(call, &mut task, share)?
                }
                Outcome::Columns(columns, output) => {
                    self.outputs.push(output);
                    self.next_stage(call, &mut task, columns)?
                }
                Outcome::Settled(output) => {
                    self.outputs.push(output);
                    None
                }
                Outcome::Opened(values, output) => {
                    self.outputs.push(output);
                    let words = values.into_iter().next().flatten();
                    self.opened(call, words)?;
                    None
                }
            };
            match next {
                None => return self.finished(call),
                Some(step) => {
                    self.mesh.cancel().check()?;
                    let material = self.material.pop_front();
                    progress = self.party.begin(step, material, self.mesh)?;
                }
            }
        }
    }

    /// Returns the operation of a call. It lives as long as the plan, so that steps may borrow
    /// tapes.
    pub fn op(&self, call: &Call) -> &'a StepOp {
        let plan: &'a Plan = self.plan;
        &plan.segments[call.run.segment].steps[call.step].op
    }

    /// Frees the values that no step reads any more. (Carried values have been read by the first
    /// part.)
    fn finished(&mut self, call: &Call) -> Result<bool, Fault> {
        if !self.material.is_empty() {
            return Err(internal("a step has more offline parts than online ones"));
        }
        let op = self.op(call);
        // A network has freed its operands when it began.
        if !call.carry && !matches!(op, StepOp::CompareExchange { .. }) {
            self.state.values.release(call.run, &op.reads())?;
        }
        Ok(true)
    }

    /// Creates the step that runs a tape, in the domain of its result.
    pub fn run_tape(
        &mut self,
        tape: TapeId,
        out: PlanValue,
        lanes: usize,
        operands: Vec<ShareRef<W>>,
    ) -> Step<'a, W> {
        let tape = self.counted(tape, lanes);
        Step::Tape {
            tape,
            domain: self.plan.values[out.0 as usize].domain,
            lanes,
            operands,
        }
    }

    /// Creates the step that runs a tape on pairs and writes over them.
    pub fn compare_exchange_in_place(
        &mut self,
        tape: TapeId,
        out: PlanValue,
        lanes: usize,
        pairs: Pairs<W::Share>,
    ) -> Step<'a, W> {
        let tape = self.counted(tape, lanes);
        let domain = self.plan.values[out.0 as usize].domain;
        Step::CompareExchange {
            tape,
            domain,
            pairs,
        }
    }

    /// A tape that is about to run; its gates are counted.
    fn counted(&mut self, tape: TapeId, lanes: usize) -> &'a Tape {
        let plan: &'a Plan = self.plan;
        let tape = &plan.tapes[tape.0 as usize];
        let ands = tape.ands.len() as u64 * lanes as u64;
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_ands(ands);
        }
        tape
    }
}
