//! The choice between extensions of oblivious transfer, once the numbers of rows are known.
//!
//! A silent extension takes hardly any bytes for each correlated OT, but many bytes and messages to
//! begin with. So it pays for runs with many inputs, on a network where bytes cost more than work.
//! All parties know the numbers of rows when a run begins, and decide alike.

use crate::cost::crossing_s;
use crate::pools;
use crate::steps::Plan;
use sealane_protocol::Protocol;

/// Returns whether a run of a plan on so many rows takes less time with correlated OTs of a silent
/// extension: if the protocol can take them and the bytes that they save take longer than the
/// rounds that they add.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub(crate) fn pays<P: Protocol>(plan: &Plan, rows: &[u64]) -> bool {
    let setting = &plan.setting;
    let can = P::profile().silent && setting.network.spares_bytes() && !setting.pooled;
    can && crossing_s::<P>(&silent::<P>(plan), rows) < crossing_s::<P>(plan, rows)
}

/// The plan with correlated OTs of a silent extension.
pub(crate) fn silent<P: Protocol>(plan: &Plan) -> Plan {
    let mut silent = plan.clone();
    silent.setting.silent = true;
    pools::refills::<P>(&mut silent);
    silent
}
