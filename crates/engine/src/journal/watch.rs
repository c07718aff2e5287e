//! What a plan that is run tells the journal. The plan of all parties tells everything; what a
//! party computes alone books its time and is silent otherwise, since nothing of it crosses.

use super::{Journal, Part};
use crate::events::{Block, Phase};
use sealane_net::Mesh;
use std::time::{Duration, Instant};

/// The journal, as one plan sees it.
pub(crate) struct Watch<'a, 'o> {
    journal: &'a mut Journal<'o>,
    /// For each step of the plan, preparation first: its index among all steps of the job.
    numbers: Vec<Option<usize>>,
    alone: bool,
    /// AND gates begun so far.
    ands: u64,
}

/// When a call was taken up.
pub(crate) struct Since {
    at: Instant,
    waited: Duration,
}

impl<'a, 'o> Watch<'a, 'o> {
    /// The plan of all parties, whose steps are those of the job from `first` on.
    pub fn joint(journal: &'a mut Journal<'o>, first: usize, steps: usize) -> Watch<'a, 'o> {
        Watch {
            journal,
            numbers: (first..first + steps).map(Some).collect(),
            alone: false,
            ands: 0,
        }
    }

    /// A plan of this party alone.
    pub fn alone(journal: &'a mut Journal<'o>, numbers: Vec<Option<usize>>) -> Watch<'a, 'o> {
        Watch {
            journal,
            numbers,
            alone: true,
            ands: 0,
        }
    }

    /// A phase begins; what crossed before belongs to the last one.
    pub fn phase(&mut self, phase: Phase, mesh: &Mesh) {
        if !self.alone {
            self.journal.enter(phase, mesh);
        }
    }

    /// A block is taken up; says whether to tell of its end.
    pub fn opened(&mut self, block: Block) -> bool {
        !self.alone && self.journal.opened(block)
    }

    /// All of a block is done.
    pub fn closed(&mut self, block: Block) {
        self.journal.closed(block);
    }

    /// A turn ends: whatever was written leaves.
    pub fn turn(&mut self, mesh: &Mesh) {
        if !self.alone {
            self.journal.turn(mesh);
        }
    }

    /// A tape begins.
    pub fn begin_ands(&mut self, ands: u64) {
        self.ands += ands;
    }

    /// A step is taken up, or gone on with.
    pub fn take_up(&mut self, step: usize, mesh: &Mesh) -> Since {
        let number = self.numbers.get(step).copied().flatten();
        self.journal.books.at_step(number);
        Since {
            at: Instant::now(),
            waited: mesh.waited(),
        }
    }

    /// The step in hand is left, a part further.
    pub fn lay_down(&mut self, since: &Since, part: Part, mesh: &Mesh) {
        let waited = mesh.waited().saturating_sub(since.waited);
        let now = Instant::now();
        self.journal.books.book(now - since.at, waited, part);
        if !self.alone {
            self.journal.look(now, mesh, self.ands);
        }
    }
}
