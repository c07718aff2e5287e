//! The choice between extensions of oblivious transfer, and that of batches of products, once the
//! numbers of rows are known.
//!
//! A silent extension takes hardly any bytes for each correlated OT, but many bytes and messages to
//! begin with. So it pays for runs with many inputs, on a network where bytes cost more than work.
//! All parties know the numbers of rows when a run begins, and decide alike.

use crate::cost::{crossing_s, demand};
use crate::pools;
use crate::steps::Plan;
use sealane_protocol::Protocol;
use std::borrow::Cow;

/// Returns the plan as it runs with these row counts: with correlated OTs of a silent extension, if
/// the protocol can take them and the bytes that they save take longer than the rounds that they
/// add; and with products in batches that suit their number.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub(crate) fn at_rows<'a, P: Protocol>(plan: &'a Plan, rows: &[u64]) -> Cow<'a, Plan> {
    let mut plan = Cow::Borrowed(plan);
    if let Some(batch) = P::batch(&plan.setting, || demand::<P>(&plan, rows)) {
        plan.to_mut().setting.batch = Some(batch);
    }
    let setting = &plan.setting;
    let can = P::profile().silent && setting.network.spares_bytes() && !setting.pooled;
    if !can {
        return plan;
    }
    let mut silent = Plan::clone(&plan);
    silent.setting.silent = true;
    pools::refills::<P>(&mut silent);
    if crossing_s::<P>(&silent, rows) < crossing_s::<P>(&plan, rows) {
        Cow::Owned(silent)
    } else {
        plan
    }
}
