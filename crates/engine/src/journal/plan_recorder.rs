//! Reports of the execution of one plan to the journal. The joint plan of all parties reports
//! everything. Local work of a party only records its time, since it has no traffic.

use super::{Journal, StepProgress};
use crate::events::{Block, Phase};
use sealane_net::Mesh;
use std::time::{Duration, Instant};

/// The journal from the view of one plan.
pub(crate) struct PlanRecorder<'a, 'o> {
    journal: &'a mut Journal<'o>,
    /// Index among all steps of the job, for each step of the plan, preparation first.
    numbers: Vec<Option<usize>>,
    alone: bool,
    /// AND gates begun so far.
    ands: u64,
}

/// Time at which a call was started or resumed.
pub(crate) struct CallStart {
    at: Instant,
    waited: Duration,
}

impl<'a, 'o> PlanRecorder<'a, 'o> {
    /// Recorder of the plan of all parties, whose steps begin at step `first` of the job.
    pub fn joint(journal: &'a mut Journal<'o>, first: usize, steps: usize) -> PlanRecorder<'a, 'o> {
        PlanRecorder {
            journal,
            numbers: (first..first + steps).map(Some).collect(),
            alone: false,
            ands: 0,
        }
    }

    /// Recorder of a plan that this party runs alone.
    pub fn alone(journal: &'a mut Journal<'o>, numbers: Vec<Option<usize>>) -> Self {
        PlanRecorder {
            journal,
            numbers,
            alone: true,
            ands: 0,
        }
    }

    /// Reports that a phase begins; traffic before it belongs to the phase before.
    pub fn phase(&mut self, phase: Phase, mesh: &Mesh) {
        if !self.alone {
            self.journal.enter(phase, mesh);
        }
    }

    /// Reports that a block begins; returns whether its end is to be reported.
    pub fn block_begins(&mut self, block: Block) -> bool {
        !self.alone && self.journal.block_begins(block)
    }

    /// Reports that a block is done.
    pub fn block_ends(&mut self, block: Block) {
        self.journal.block_ends(block);
    }

    /// Reports the end of a step round, in which all that was written is sent.
    pub fn step_round(&mut self, mesh: &Mesh) {
        if !self.alone {
            self.journal.step_round(mesh);
        }
    }

    /// Notes that a step takes an input.
    pub fn takes_input(&mut self) {
        self.journal.took_input |= !self.alone;
    }

    /// Counts the AND gates of a tape that begins.
    pub fn begin_ands(&mut self, ands: u64) {
        self.ands += ands;
    }

    /// Starts the clock of a step that begins or resumes.
    pub fn start_call(&mut self, step: usize, mesh: &Mesh) -> CallStart {
        let number = self.numbers.get(step).copied().flatten();
        self.journal.times.set_current(number);
        let (at, waited) = (Instant::now(), mesh.waited());
        CallStart { at, waited }
    }

    /// Stops the clock of the current step and adds its progress.
    pub fn end_call(&mut self, since: &CallStart, part: StepProgress, mesh: &Mesh) {
        let waited = mesh.waited().saturating_sub(since.waited);
        let now = Instant::now();
        self.journal.times.record(now - since.at, waited, part);
        if !self.alone {
            self.journal.emit_if_due(now, mesh, self.ands);
        }
    }
}
