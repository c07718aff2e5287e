//! Times of steps, and progress of the work.
//!
//! Steps are weighted by the time that the plan expects of them on the declared network, whatever
//! they do: gates, products, transfers, rounds. Within a step, all flights have equal weight.

use super::micros;
use crate::events::StepTime;
use sealane_net::{Mesh, Traffic};
use sealane_parties::NetworkClass;
use sealane_plan::{CostReport, StepCost};
use std::time::{Duration, Instant};

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Fraction of the planned work that is done, from 0 to 1.
    pub done: f64,
    /// Seconds that the plan expects in all, on the declared network.
    pub planned_s: f64,
    /// Seconds since the work began.
    pub elapsed_s: f64,
    /// AND gates begun.
    pub ands: u64,
    /// Payload bytes written and read by this party.
    pub bytes: u64,
}

/// Progress of a step between two reads of the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepProgress {
    /// It has begun; a step without flights is then done.
    Begun,
    /// A flight has been read, and the step is to go on in this step round.
    Read,
    /// A flight has been read, and the next one written.
    Flight,
    /// The whole step is done.
    All,
}

/// Times and progress of all steps of a plan.
#[derive(Default)]
pub(super) struct StepTimes {
    steps: Vec<Step>,
    /// The step that the mesh counts as its first one.
    first: usize,
    current: Option<usize>,
    began: Option<Instant>,
    planned_s: f64,
    done_s: f64,
}

/// Time and progress of one step.
struct Step {
    /// Unit that its progress counts: flights, or for a step without flights its beginnings.
    goes_by: StepProgress,
    /// Number of units that remain.
    left: u64,
    /// Seconds that the plan expects of each unit.
    part_s: f64,
    busy: Duration,
    waited: Duration,
}

impl StepTimes {
    /// Starts the times of a plan with this cost, of which the mesh counts the steps from `first`.
    pub fn new(cost: &CostReport, network: NetworkClass, first: usize) -> StepTimes {
        let steps = cost.steps.iter().zip(cost.estimate_by_step_s(network));
        let step = |(cost, planned_s): (&StepCost, f64)| {
            let (goes_by, parts) = match cost.flights {
                0 => (StepProgress::Begun, cost.times),
                flights => (StepProgress::Flight, flights),
            };
            Step {
                goes_by,
                left: parts,
                part_s: planned_s / parts.max(1) as f64,
                busy: Duration::ZERO,
                waited: Duration::ZERO,
            }
        };
        let steps = steps.map(step).collect::<Vec<_>>();
        StepTimes {
            planned_s: steps
                .iter()
                .map(|step| step.left as f64 * step.part_s)
                .sum(),
            steps,
            first,
            began: Some(Instant::now()),
            ..StepTimes::default()
        }
    }

    /// Returns the current step, for failures.
    pub fn current(&self) -> Option<usize> {
        self.current
    }

    /// Sets the current step; `None` for a step that is not timed.
    pub fn set_current(&mut self, step: Option<usize>) {
        self.current = step;
    }

    /// Adds time to the current step: `took` in all, of which this party waited for others for
    /// `waited`, and the progress that was made.
    pub fn record(&mut self, took: Duration, waited: Duration, part: StepProgress) {
        let step = self.current.and_then(|step| self.steps.get_mut(step));
        let Some(step) = step else { return };
        step.waited += waited;
        step.busy += took.saturating_sub(waited);
        let done = match part {
            StepProgress::All => step.left,
            _ => step.left.min(u64::from(part == step.goes_by)),
        };
        step.left -= done;
        self.done_s += done as f64 * step.part_s;
    }

    /// Returns the progress of the work.
    pub fn progress(&self, ands: u64, bytes: u64) -> Progress {
        let elapsed = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        Progress {
            done: (self.done_s / self.planned_s.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
            planned_s: self.planned_s,
            elapsed_s: elapsed.as_secs_f64(),
            ands,
            bytes,
        }
    }

    /// Returns the times and the traffic of the steps.
    pub fn close(&mut self, mesh: &mut Mesh) -> Vec<StepTime> {
        self.current = self.current.filter(|step| *step < self.steps.len());
        let mut payload = mesh.counters().payload_by_step;
        let steps = self.steps.iter().enumerate();
        let time = |(step, times): (usize, &Step)| {
            let number = step.checked_sub(self.first)?.try_into().ok();
            let crossed = number.and_then(|number: u32| payload.remove(&number));
            let crossed = crossed.unwrap_or_default();
            let by_party = |of: fn(&Traffic) -> u64| crossed.iter().map(of).collect::<Vec<_>>();
            let time = StepTime {
                step,
                busy_us: micros(times.busy),
                waited_us: micros(times.waited),
                sent: by_party(|traffic| traffic.sent),
                received: by_party(|traffic| traffic.received),
            };
            let took = time.busy_us > 0 || time.waited_us > 0 || !crossed.is_empty();
            took.then_some(time)
        };
        steps.filter_map(time).collect()
    }
}
