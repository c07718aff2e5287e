//! The choice among forms of a plan, once the numbers of rows are known.
//!
//! A protocol can have several forms of lookups: some take fewer bytes, others fewer rounds. A
//! protocol that runs tapes in several domains has several choices among them, for the same reason.
//! One row on a network of long round trips wants few rounds, many rows want few bytes. Each form
//! is a plan of its own, and the run takes the one that it is estimated to take the least time
//! with. All parties know the numbers of rows when a run begins, and decide alike: the handshake
//! compares the hash of an instance, of which the [`Form`] is a part.

use crate::cost::{CostReport, cost, demand};
use crate::silent;
use crate::steps::Plan;
use sealane_circuit::Lookups;
use sealane_program::graph::{Graph, Op};
use sealane_protocol::{Batch, Choice, Protocol};
use std::borrow::Cow;

/// Cost of a run with lookups in one form and one choice of domains.
#[derive(Clone, Debug, PartialEq)]
pub struct FormCost {
    /// The form, with all else that rows decide.
    pub form: Form,
    /// The form of lookups.
    pub lookups: Lookups,
    /// The choice of domains of tapes.
    pub choice: Choice,
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
    cost_in_forms::<P>(plan, rows).forms
}

/// The cost of a run on so many rows in the form that takes the least time, with those of all
/// forms.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn cost_in_forms<P: Protocol>(plan: &Plan, rows: &[u64]) -> CostReport {
    let network = plan.setting.network;
    let (mut best, mut least) = costed::<P>(plan, 0, rows);
    let (mut forms, mut chosen) = (Vec::new(), 0);
    let mut note = |number: usize, form: Form, report: &CostReport| {
        let plan = all(plan).nth(number).unwrap_or(plan);
        forms.push(FormCost {
            form,
            lookups: plan.lookups,
            choice: plan.choice,
            payload_bytes: report.promise.payload_bytes(),
            rounds: report.promise.rounds,
            seconds: report.estimate_s(network),
            chosen: false,
        });
    };
    if !plan.others.is_empty() {
        note(0, best, &least);
    }
    for number in 1..all(plan).count() {
        let (form, report) = costed::<P>(plan, number, rows);
        note(number, form, &report);
        if report.estimate_s(network) < least.estimate_s(network) {
            (best, least, chosen) = (form, report, number);
        }
    }
    if let Some(best) = forms.get_mut(chosen) {
        best.chosen = true;
    }
    CostReport {
        forms,
        form: best,
        ..least
    }
}

/// The form of this number, with what else takes the least time, and its cost.
fn costed<P: Protocol>(plan: &Plan, number: usize, rows: &[u64]) -> (Form, CostReport) {
    let (form, known) = Form::settled::<P>(plan, number, rows);
    let cost = known.unwrap_or_else(|| cost::<P>(&in_form::<P>(plan, form), rows));
    (form, cost)
}

/// The form in which a plan runs on so many rows. Parties decide it from these alone, and agree on
/// it before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The plan itself, or from 1 on one of [`Plan::others`].
    pub plan: u8,
    /// True if its correlated OTs come from a silent extension.
    pub silent: bool,
    /// Batches in which refills make products, for a protocol that makes them so.
    pub batch: Option<Batch>,
}

impl Form {
    /// The form that takes the least time, of a plan with these [`forms`] on these rows.
    ///
    /// # Panics
    /// As [`cost`](fn@crate::cost::cost).
    pub fn chosen<P: Protocol>(plan: &Plan, forms: &[FormCost], rows: &[u64]) -> Form {
        let chosen = forms.iter().find(|form| form.chosen);
        chosen.map_or_else(|| Form::settled::<P>(plan, 0, rows).0, |chosen| chosen.form)
    }

    /// The form of this number, with what else takes the least time, and its cost where that had to
    /// be known.
    fn settled<P: Protocol>(
        plan: &Plan,
        number: usize,
        rows: &[u64],
    ) -> (Form, Option<CostReport>) {
        let form = Form {
            plan: u8::try_from(number).expect("a plan has few forms"),
            silent: false,
            batch: None,
        };
        let planned = in_form::<P>(plan, form);
        let batch = P::batch(&planned.setting, || demand::<P>(&planned, rows));
        let form = Form { batch, ..form };
        let paid = silent::pays::<P>(&in_form::<P>(plan, form), rows);
        let silent = paid.as_ref().is_some_and(|(silent, _)| *silent);
        (Form { silent, ..form }, paid.map(|(_, cost)| cost))
    }

    /// Its bytes in a hash.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.plan, self.silent.into()];
        if let Some(batch) = self.batch {
            bytes.extend(batch.products.to_le_bytes());
            bytes.extend(batch.bucket.to_le_bytes());
        }
        bytes
    }
}

/// Returns the plan as it runs with these row counts: in the form of lookups that takes the least
/// time, with correlated OTs of a silent extension where those do, and with products in batches
/// that suit their number.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn at_rows<'a, P: Protocol>(plan: &'a Plan, rows: &[u64]) -> Cow<'a, Plan> {
    in_form::<P>(plan, Form::chosen::<P>(plan, &forms::<P>(plan, rows), rows))
}

/// The cost of one form of a plan at these rows, with the transfers and batches that take the least
/// time.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub fn settled<P: Protocol>(plan: &Plan, rows: &[u64]) -> CostReport {
    costed::<P>(plan, 0, rows).1
}

/// Returns the plan in a form.
pub fn in_form<P: Protocol>(plan: &Plan, form: Form) -> Cow<'_, Plan> {
    let mut chosen = Cow::Borrowed(all(plan).nth(form.plan.into()).unwrap_or(plan));
    if form.batch.is_some() {
        chosen.to_mut().setting.batch = form.batch;
    }
    if form.silent {
        chosen = Cow::Owned(silent::silent::<P>(&chosen));
    }
    chosen
}

/// All forms of a plan.
fn all(plan: &Plan) -> impl Iterator<Item = &Plan> {
    std::iter::once(plan).chain(&plan.others)
}

/// Returns whether a graph, or a body in it, has something that differs with the form of lookups.
pub(crate) fn looks_up(graph: &Graph, forms: &[Lookups]) -> bool {
    graph.values.iter().any(|value| match &value.op {
        Op::Lookup { .. } => true,
        Op::Call(name, _) => name == "aes128" && forms.contains(&Lookups::Wide),
        op => op.body().is_some_and(|body| looks_up(body, forms)),
    })
}
