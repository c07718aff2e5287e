//! Exact cost of a plan: the promise that runs are compared with.
//!
//! Payload is counted step by step: tiles of equal size cost the same, so the protocol is asked
//! once for each size and step. Rounds are found by running the plan as the engine runs it
//! ([`flow`](crate::flow)), with clocks in place of data: a message is stamped 1 + the clock of its
//! sender when the step round ends, and moves the clock of its receiver to its stamp; the rounds of
//! a run are the largest stamp. Preparation comes first, one reveal of everything last. Tiles are
//! simulated until the same state comes again, and loops once; the rest follows from these, so that
//! time does not grow with rows.

mod clock;
mod division;
mod kernels;
mod memory;
mod parts;
mod report;
mod tally;
mod timer;
mod walk;
pub(crate) mod works;

pub use division::{BytesByLink, Division};
pub use memory::Memory;
pub use report::{CostReport, Promise, Proofs, StepCost, grouped, time};

use crate::flow::Refill;
use crate::steps::Plan;
use sealane_protocol::{Correlation, Cost, Demand, Protocol, Setting, StepShape, Walk};
use walk::{Counts, TileStep};

/// Computes the cost of a plan for protocol `P` at the given number of rows of each table.
///
/// # Panics
/// If `rows` has another length than [`Plan::rows`], or if a number of rows is 0.
pub fn cost<P: Protocol>(plan: &Plan, rows: &[u64]) -> CostReport {
    let total = Counts::run::<P>(plan, &plan.setting, rows);
    let (rounds, shares) = total.rounds_and_bytes::<P>(plan, &plan.setting, rows);
    let memory = memory::by_party::<P>(plan, rows, &total, shares);
    let basis = P::basis(&plan.setting, &total.demand);
    report::report(plan, rows, (total, rounds, memory), basis)
}

/// Correlations that a run takes, with the roles of its setting.
pub(crate) fn demand<P: Protocol>(plan: &Plan, rows: &[u64]) -> Demand {
    Counts::run::<P>(plan, &plan.setting, rows).demand
}

/// Payload bytes of a run, all parties together, with the roles of `setting`.
pub(crate) fn payload_bytes<P: Protocol>(plan: &Plan, setting: &Setting, rows: &[u64]) -> u64 {
    Counts::run::<P>(plan, setting, rows).payload_bytes()
}

/// Nanoseconds of a step, with its offline part and the messages of refills for both: for which
/// their messages would cross one after the other on the network of the setting, and of their work.
/// So many steps share each round.
pub(crate) fn step_ns<P: Protocol>(setting: &Setting, work: &StepShape, together: u32) -> f64 {
    let costs = [P::cost(setting, work), P::offline_cost(setting, work)];
    let mut demand = P::demand(setting, work);
    demand.merge(&P::offline_demand(setting, work), 1);
    let pooled = demand.only(|kind| P::pool_bits(setting, kind) > 0);
    let class = setting.network;
    let seconds = |bytes: f64| bytes / class.bytes_per_s() as f64;
    let round = class.round_trip().as_secs_f64() / 2.0 / f64::from(together);
    let time = |cost: &Cost| {
        let rounds = cost.flights.len() as f64 * round;
        1e9 * (seconds(bytes_of(cost)) + rounds) + cost.compute_ns() as f64
    };
    let mut ns = costs.iter().map(time).sum::<f64>();
    if !pooled.is_empty() {
        // Steps share the rounds of a refill.
        ns += refill_ns::<P>(setting, &pooled) + 1e9 * round;
    }
    ns
}

/// Bytes of all messages.
fn bytes_of(cost: &Cost) -> f64 {
    let bytes = cost.flights.iter().flatten().map(|message| message.bytes);
    bytes.sum::<u64>() as f64
}

/// Nanoseconds of a refill for the demand of a step but for its rounds, which steps share: of its
/// messages, one after the other, and of its work. Steps share correlated OTs that are made many at
/// once, so each counts for those that it takes.
fn refill_ns<P: Protocol>(setting: &Setting, pooled: &Demand) -> f64 {
    let ns = |demand: &Demand| {
        let cost = P::refill_cost(setting, demand);
        let seconds = bytes_of(&cost) / setting.network.bytes_per_s() as f64;
        1e9 * seconds + cost.compute_ns() as f64
    };
    let is_cot = |kind| matches!(kind, Correlation::Cot { .. });
    let made = P::refill_counts(setting, pooled);
    let [taken, many] = [pooled, &made].map(|demand| demand.only(is_cot).0.values().sum::<u64>());
    if taken == many {
        return ns(&made);
    }
    let ots = ns(&made.only(is_cot));
    ns(&made) - ots + ots * taken as f64 / many as f64
}

/// Nanoseconds of the first step of a plan by [`step_ns`], on so many rows of a tile.
pub(crate) fn first_step_ns<P: Protocol>(plan: &Plan, rows: u64, together: u32) -> f64 {
    let at = TileStep {
        segment: 0,
        step: 0,
        rows,
        walk: Walk::Online,
        combined: false,
    };
    let pieces = counter(plan).pieces::<P>(at).into_iter();
    let time = |piece: walk::Piece| {
        piece.times as f64 * step_ns::<P>(&plan.setting, &piece.work, together)
    };
    pieces.map(time).sum()
}

/// Correlations of pools that a refill makes, in a run on so many rows of each table.
pub fn supply<P: Protocol>(plan: &Plan, rows: &[u64], refill: &Refill) -> Demand {
    let counter = walk::Counter {
        rows,
        ..counter(plan)
    };
    counter.supply::<P>(refill)
}

/// Bits that the correlations of one full tile of a segment take in pools, at the party with the
/// larger part.
pub(crate) fn pool_bits_of_a_tile<P: Protocol>(plan: &Plan, segment: usize) -> u64 {
    counter(plan).pool_bits_of_a_tile::<P>(segment)
}

/// Bits that the outputs of offline parts of one full tile take, in the segment with the most.
pub(crate) fn material_bits_of_a_tile<P: Protocol>(plan: &Plan) -> u64 {
    let segments = 0..plan.segments.len();
    let bits = segments.map(|segment| counter(plan).material_bits_of_a_tile::<P>(segment));
    bits.max().unwrap_or(0)
}

fn counter(plan: &Plan) -> walk::Counter<'_> {
    walk::Counter {
        plan,
        setting: &plan.setting,
        rows: &[],
        known: walk::Known::default(),
    }
}
