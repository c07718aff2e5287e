//! One walk over a plan, while a call of it runs.

use super::tasks::Task;
use super::{Half, Result, ShareRef, WalkState, internal};
use crate::journal::PlanRecorder;
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_party::{Outcome, Progress, Step, Steps};
use sealane_plan::flow::{Call, TileRun};
use sealane_plan::steps::{Plan, PlanValue, StepOp, TapeId};
use sealane_program::types::Data;
use sealane_protocol::{Domain, Walk};
use std::collections::VecDeque;

/// Call in progress.
pub(super) struct RunningCall<'a, W: Steps + 'a> {
    task: Task<W>,
    pub pending: W::Pending<'a>,
}

/// A walk with the party that runs it, for the time of half a call.
pub(super) struct Walker<'s, 'a, 'r, 'o, W: Steps + 'a> {
    pub plan: &'a Plan,
    /// The operation of the call. It lives as long as the plan, so that steps may borrow tapes.
    pub op: &'a StepOp,
    /// The tile run of the call.
    pub run: TileRun,
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
    pub fn half(&mut self, call: &Call, half: Half) -> Result<bool> {
        match half {
            Half::Begin => match self.task(call)? {
                None => self.finished(call),
                Some((task, step)) => {
                    let progress = self.begin(step)?;
                    self.proceed(call, task, progress)
                }
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

    fn begin(&mut self, step: Step<'a, W>) -> Result<Progress<'a, W>> {
        let material = self.material.pop_front();
        self.party.begin(step, material, self.mesh)
    }

    /// Advances a call from step to step until it has to wait for a flight, or ends.
    fn proceed(
        &mut self,
        call: &Call,
        mut task: Task<W>,
        mut progress: Progress<'a, W>,
    ) -> Result<bool> {
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
                    self.next(&mut task, share)?
                }
                Outcome::Columns(columns, output) => {
                    self.outputs.push(output);
                    self.next_stage(&mut task, columns)?
                }
                Outcome::Settled(output) => {
                    self.outputs.push(output);
                    None
                }
                Outcome::Opened(values, output) => {
                    self.outputs.push(output);
                    let words = values.into_iter().next().flatten();
                    self.opened(words)?;
                    None
                }
            };
            match next {
                None => return self.finished(call),
                Some(step) => {
                    self.mesh.cancel().check()?;
                    progress = self.begin(step)?;
                }
            }
        }
    }

    /// Frees the values that no step reads any more. (Carried values have been read by the first
    /// part.)
    fn finished(&mut self, call: &Call) -> Result<bool> {
        if !self.material.is_empty() {
            return Err(internal("a step has more offline parts than online ones"));
        }
        // A network has freed its operands when it began.
        if !call.carry && !matches!(self.op, StepOp::CompareExchange(_)) {
            self.state.values.release(self.run, &self.op.reads())?;
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
        Step::Tape {
            tape: self.counted(tape, lanes),
            domain: self.domain(out),
            lanes,
            operands,
        }
    }

    /// The domain of a value.
    pub fn domain(&self, value: PlanValue) -> Domain {
        self.plan[value].domain
    }

    /// A tape that is about to run; its gates are counted.
    pub fn counted(&mut self, tape: TapeId, lanes: usize) -> &'a Tape {
        let plan: &'a Plan = self.plan;
        let tape = &plan.tapes[tape.0 as usize];
        let ands = tape.ands.len() as u64 * lanes as u64;
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_ands(ands);
        }
        tape
    }
}
