//! The choice between extensions of oblivious transfer, once the numbers of rows are known.
//!
//! A silent extension takes hardly any bytes for each correlated OT, but many bytes and messages to
//! begin with. So it pays for runs with many inputs, on a network where bytes cost more than work.
//! All parties know the numbers of rows when a run begins, and decide alike.

use crate::cost::{CostReport, cost};
use crate::pools;
use crate::steps::Plan;
use sealane_protocol::{Choice, Protocol, Setting};

/// Returns whether a run of a plan on so many rows takes less time with correlated OTs of a silent
/// extension, if the bytes that they save take longer than the rounds that they add, with the cost
/// of that run; none if the protocol cannot take them.
///
/// # Panics
/// As [`cost`](fn@crate::cost::cost).
pub(crate) fn pays<P: Protocol>(plan: &Plan, rows: &[u64]) -> Option<(bool, CostReport)> {
    can::<P>(&plan.setting).then(|| {
        let [silent, plain] = [&silent::<P>(plan), plan].map(|plan| cost::<P>(plan, rows));
        let pays = silent.crossing_s(plan.setting.network) < plain.crossing_s(plan.setting.network);
        (pays, if pays { silent } else { plain })
    })
}

/// Rows for which one that chooses domains does not expect a silent extension.
const FEW: u64 = 64;

/// Returns whether a plan that chooses domains for so many rows counts times of a silent extension.
/// Which one a run takes is decided when its rows are known.
pub(crate) fn expected<P: Protocol>(setting: &Setting, choice: Choice) -> bool {
    let many = matches!(choice, Choice::Least { rows, .. } if rows > FEW);
    many && P::choices().len() > 1 && can::<P>(setting)
}

/// Returns whether the protocol has a silent extension, on a network where bytes cost most.
pub(crate) fn can<P: Protocol>(setting: &Setting) -> bool {
    P::profile().silent && setting.network.spares_bytes() && !setting.pooled
}

/// The plan with correlated OTs of a silent extension.
pub(crate) fn silent<P: Protocol>(plan: &Plan) -> Plan {
    let mut silent = plan.clone();
    silent.setting.silent = true;
    pools::refills::<P>(&mut silent);
    silent
}
