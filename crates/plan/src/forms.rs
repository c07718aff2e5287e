//! The choice among forms of a plan, once the numbers of rows are known.
//!
//! A protocol can have several forms of lookups: some take fewer bytes, others fewer rounds. One
//! row on a network of long round trips wants few rounds, many rows want few bytes. Each form is a
//! plan of its own, and the run takes the one that it is estimated to take the least time with. All
//! parties know the numbers of rows when a run begins, and decide alike.

use crate::cost::cost;
use crate::silent;
use crate::steps::Plan;
use sealane_circuit::Lookups;
use sealane_program::graph::{Graph, Op};
use sealane_protocol::Protocol;
use std::borrow::Cow;

/// Cost of a run with lookups in one form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormCost {
    /// The form.
    pub lookups: Lookups,
    /// Payload bytes of all parties together.
    pub payload_bytes: u64,
    /// Rounds.
    pub rounds: u64,
    /// Estimated seconds on the network of the plan.
    pub seconds: f64,
    /// True for the form that the run takes.
    pub chosen: bool,
}

/// Returns the cost of each form in which a plan can run on so many rows; none if it has but one.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn forms<P: Protocol>(plan: &Plan, rows: &[u64]) -> Vec<FormCost> {
    if plan.others.is_empty() {
        return vec![];
    }
    let form = |plan: &Plan| {
        let report = cost::<P>(plan, rows);
        FormCost {
            lookups: plan.lookups,
            payload_bytes: report.promise.payload_bytes(),
            rounds: report.promise.rounds,
            seconds: report.estimate_s(plan.setting.network),
            chosen: false,
        }
    };
    let mut forms = all(plan).map(form).collect::<Vec<_>>();
    let best = forms
        .iter_mut()
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    if let Some(best) = best {
        best.chosen = true;
    }
    forms
}

/// Returns the plan as it runs with these row counts: in the form of lookups that takes the least
/// time, and with correlated OTs of a silent extension where those do.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn at_rows<'a, P: Protocol>(plan: &'a Plan, rows: &[u64]) -> Cow<'a, Plan> {
    in_form::<P>(plan, &forms::<P>(plan, rows), rows)
}

/// As [`at_rows`], with the [`forms`] of the plan on these rows, whose costs need not be computed
/// again.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn in_form<'a, P: Protocol>(plan: &'a Plan, forms: &[FormCost], rows: &[u64]) -> Cow<'a, Plan> {
    let chosen = all(plan).zip(forms).find(|(_, form)| form.chosen);
    silent::at_rows::<P>(chosen.map_or(plan, |(plan, _)| plan), rows)
}

/// All forms of a plan.
fn all(plan: &Plan) -> impl Iterator<Item = &Plan> {
    std::iter::once(plan).chain(&plan.others)
}

/// Returns whether a graph, or a body in it, looks something up.
pub(crate) fn looks_up(graph: &Graph) -> bool {
    graph.values.iter().any(|value| {
        let body = value.op.body().is_some_and(looks_up);
        body || matches!(value.op, Op::Lookup { .. })
    })
}
