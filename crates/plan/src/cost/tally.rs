//! Sums of costs.

use super::clock::Payload;
use super::kernels;
use super::parts::Divided;
use sealane_protocol::{Checks, Cost, Demand, Work};

/// Cost of one step in all its executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Number of executions: one for each tile, level or iteration.
    pub times: u64,
    pub lanes: u64,
    pub flights: u64,
    pub ands: u64,
    /// Checks that the step leaves, and checks that it settles.
    pub checks: Checks,
    pub settled: Checks,
    /// Settlements within it.
    pub within: Option<Box<Tally>>,
    pub compute_ns: u64,
    pub work: Work,
    pub payload: Payload,
    /// Parts of the payload, where the protocol states them.
    pub divided: Divided,
    pub demand: Demand,
}

impl Tally {
    pub fn add(&mut self, lanes: u64, cost: &Cost, demand: &Demand, times: u64) {
        self.times += times;
        self.lanes += times * lanes;
        self.flights += times * cost.flights.len() as u64;
        self.ands += times * cost.ands;
        self.checks.add(&cost.checks, times);
        self.compute_ns += times * cost.compute_ns();
        self.work.add(&cost.work, times);
        self.work.add(&kernels::of_cost(cost), times);
        self.payload.add(&cost.flights, times);
        self.demand.merge(demand, times);
        for (checks, flights) in &cost.settled {
            let within = self.within.get_or_insert_default();
            within.times += times;
            within.flights += times * flights.len() as u64;
            within.settled.add(checks, times);
            within.payload.add(flights, times);
        }
    }

    /// Adds settlements, which end after those before.
    pub fn prove(&mut self, settlements: &Tally) {
        self.times += settlements.times;
        self.settled.add(&settlements.settled, 1);
        self.payload.merge(&settlements.payload, 1);
        self.flights = settlements.flights / settlements.times.max(1);
    }
}
