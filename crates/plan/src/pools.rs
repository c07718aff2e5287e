//! Pass `pools`: settlements at the end of tiles, and refills of pools.
//!
//! Both keep memory from growing with rows: checks are settled tile by tile, and correlations are
//! made for as many tiles as fit a pool.

use crate::cost;
use crate::steps::{Plan, Step, StepOp};
use sealane_protocol::Protocol;

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
