//! What steps take, and how far the work has come.
//!
//! Steps count by the time that the plan expects of them on the declared network, whatever they
//! do: gates, products, transfers, rounds. Within a step, each flight counts alike.

use super::micros;
use crate::events::StepTime;
use sealane_net::{Mesh, NetworkClass, Traffic};
use sealane_plan::{CostReport, StepCost};
use std::time::{Duration, Instant};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The part of the planned work that is done, from 0 to 1.
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

/// What of a step has been done between two looks at the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// It has begun; without flights, it is done.
    Begun,
    /// A flight has been read.
    Flight,
    /// All of it.
    All,
}

/// The books of all steps of a plan.
#[derive(Default)]
pub(super) struct Books {
    steps: Vec<Step>,
    in_hand: Option<usize>,
    began: Option<Instant>,
    planned_s: f64,
    done_s: f64,
}

/// What is known of a step.
struct Step {
    /// What it goes by: flights, or how often a step without flights is begun.
    goes_by: Part,
    /// How many of these are left.
    left: u64,
    /// Seconds that the plan expects of each.
    part_s: f64,
    busy: Duration,
    waited: Duration,
}

impl Books {
    /// Books for a plan that costs so much.
    pub fn new(cost: &CostReport, network: NetworkClass) -> Books {
        let steps = cost.steps.iter().zip(cost.estimate_by_step_s(network));
        let step = |(cost, planned_s): (&StepCost, f64)| {
            let (goes_by, parts) = match cost.flights {
                0 => (Part::Begun, cost.times),
                flights => (Part::Flight, flights),
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
        Books {
            planned_s: steps
                .iter()
                .map(|step| step.left as f64 * step.part_s)
                .sum(),
            steps,
            began: Some(Instant::now()),
            ..Books::default()
        }
    }

    /// The step in hand, for failures.
    pub fn in_hand(&self) -> Option<usize> {
        self.in_hand
    }

    /// A step is in hand, or one that has no books.
    pub fn at_step(&mut self, step: Option<usize>) {
        self.in_hand = step;
    }

    /// Books `took` to the step in hand, in which this party waited for others for `waited`, and
    /// which brought it a part further.
    pub fn book(&mut self, took: Duration, waited: Duration, part: Part) {
        let step = self.in_hand.and_then(|step| self.steps.get_mut(step));
        let Some(step) = step else { return };
        step.waited += waited;
        step.busy += took.saturating_sub(waited);
        let done = match part {
            Part::All => step.left,
            _ => step.left.min(u64::from(part == step.goes_by)),
        };
        step.left -= done;
        self.done_s += done as f64 * step.part_s;
    }

    /// How far the work has come.
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

    /// What the steps took, with what crossed: the mesh books its step `i` as step `first + i`.
    pub fn close(&mut self, first: usize, mesh: &mut Mesh) -> Vec<StepTime> {
        self.in_hand = self.in_hand.filter(|step| *step < self.steps.len());
        let mut payload = mesh.counters().payload_by_step;
        let steps = self.steps.iter().enumerate();
        let time = |(step, books): (usize, &Step)| {
            let number = step.checked_sub(first)?.try_into().ok();
            let crossed = number.and_then(|number: u32| payload.remove(&number));
            let crossed = crossed.unwrap_or_default();
            let by_party = |of: fn(&Traffic) -> u64| crossed.iter().map(of).collect::<Vec<_>>();
            let time = StepTime {
                step,
                busy_us: micros(books.busy),
                waited_us: micros(books.waited),
                sent: by_party(|traffic| traffic.sent),
                received: by_party(|traffic| traffic.received),
            };
            let took = time.busy_us > 0 || time.waited_us > 0 || !crossed.is_empty();
            took.then_some(time)
        };
        steps.filter_map(time).collect()
    }
}
