//! Pass `pools`: settlements at the end of tiles, openings of tiles, and refills of pools.
//!
//! All keep memory from growing with rows: checks are settled tile by tile, correlations are made
//! for as many tiles as fit a pool, and results whose shares are large are opened tile by tile.

use crate::cost;
use crate::domains::Domains;
use crate::steps::{Plan, Step, StepOp};
use sealane_protocol::{Corruption, Protocol};

/// Memory of the correlations in pools: 64 MiB.
const POOL_BITS: u64 = (64 << 20) * 8;

/// Appends a settlement to each segment, for protocols that settle their checks there.
pub(crate) fn settle<P: Protocol>(plan: &mut Plan) {
    if !P::profile().settles {
        return;
    }
    for segment in &mut plan.segments {
        segment.steps.push(Step {
            op: StepOp::Settle,
            label: "settle".to_string(),
            span: None,
        });
    }
}

/// Times the memory of a bit from which on a share of it is large.
const LARGE: u64 = 64;

/// Appends the opening of each result to the walk over rows that makes it, where shares are large
/// and no check has to come before.
pub(crate) fn reveal<P: Protocol>(plan: &mut Plan, domains: &Domains) {
    let profile = P::profile();
    let semi_honest = matches!(profile.corruption, Corruption::SemiHonest(_));
    if domains.bit < LARGE || !semi_honest || profile.offline || profile.settles {
        return;
    }
    for index in 0..plan.results.len() {
        let value = plan.results[index].value;
        if !plan.flows(value, &[]) {
            continue;
        }
        let made = |step: &Step| step.op.writes().contains(&value);
        let mut walks = plan.segments.iter_mut().filter(|walk| walk.rows.is_some());
        if let Some(walk) = walks.find(|walk| walk.steps.iter().any(made)) {
            let result = &mut plan.results[index];
            result.by_tile = true;
            let op = StepOp::Reveal {
                value,
                result: index as u32,
            };
            walk.steps.push(Step {
                op,
                label: format!("reveal {}", result.name),
                span: None,
            });
        }
    }
}

/// Decides for each segment for how many of its tiles pools are refilled at a time: as many as fit
/// [`POOL_BITS`], or one tile if even that does not fit.
pub(crate) fn refills<P: Protocol>(plan: &mut Plan) {
    for segment in 0..plan.segments.len() {
        let bits = cost::pool_bits_of_a_tile::<P>(plan, segment);
        plan.segments[segment].refill = match bits {
            0 => None,
            bits => Some((POOL_BITS / bits).max(1)),
        };
    }
}
