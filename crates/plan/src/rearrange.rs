//! Pass `rearrange`: the order of steps, from their dependencies alone.
//!
//! The paper's `rearrange` (Launchbury et al., ICFP 2012, section 5) regroups scalar code by data
//! dependency, so that all independent operations go into the same round. That is the order of
//! `sealane-schedule` for rounds: level by level, and in each level the steps without messages
//! first, then those with messages, in the order of the program. The paper's `join`, which merges
//! many small products into one, has been applied to operations before (pass `fuse`), and is
//! applied to messages when the steps run (module `flow`): all steps under way share one message to
//! each peer.

use crate::draft::Phase;
use crate::steps::{PlanValue, Segment, Step};
use crate::uses::StepKind;
use sealane_schedule::{Graph, Machine, NodeCost, schedule};
use std::collections::{BTreeMap, HashMap};

/// Sorts steps into segments, and the steps of each.
pub(crate) fn rearrange(steps: Vec<(Phase, Step)>) -> Vec<Segment> {
    let mut phases: BTreeMap<Phase, Vec<Step>> = BTreeMap::new();
    for (phase, step) in steps {
        phases.entry(phase).or_default().push(step);
    }
    let segment = |(phase, steps): (Phase, Vec<Step>)| Segment {
        rows: phase.rows,
        refill: None,
        steps: by_levels(topological(steps)),
    };
    phases.into_iter().map(segment).collect()
}

/// Orders the steps of a segment so that each follows the steps that it needs. Only conversions,
/// which are made at their first use, may be out of order.
fn topological(steps: Vec<Step>) -> Vec<Step> {
    let mut waiting = steps.into_iter().map(Some).collect::<Vec<_>>();
    let mut maker: HashMap<PlanValue, usize> = HashMap::new();
    for (index, step) in waiting.iter().enumerate() {
        let writes = step.iter().flat_map(|step| step.op.writes());
        maker.extend(writes.map(|value| (value, index)));
    }
    let mut sorted = Vec::with_capacity(waiting.len());
    let mut stack = (0..waiting.len()).rev().collect::<Vec<_>>();
    while let Some(&index) = stack.last() {
        let Some(step) = &waiting[index] else {
            stack.pop();
            continue;
        };
        let reads = step.op.reads();
        let missing = reads.iter().filter_map(|value| maker.get(value).copied());
        let missing = missing.filter(|&maker| maker != index && waiting[maker].is_some());
        let missing = missing.collect::<Vec<_>>();
        if missing.is_empty() {
            stack.pop();
            sorted.extend(waiting[index].take());
        } else {
            stack.extend(missing);
        }
    }
    sorted
}

/// Orders sorted steps level by level.
fn by_levels(steps: Vec<Step>) -> Vec<Step> {
    let mut graph = Graph::new(0);
    let mut maker: HashMap<PlanValue, u32> = HashMap::new();
    for step in &steps {
        let reads = step.op.reads();
        let needs = reads.iter().filter_map(|value| maker.get(value).copied());
        let work = match step.op.kind() {
            StepKind::Local => NodeCost::Free,
            _ => NodeCost::Costly,
        };
        let node = graph.push(work, &needs.collect::<Vec<_>>());
        maker.extend(step.op.writes().into_iter().map(|value| (value, node)));
    }
    let order = schedule(&graph, &Machine::ROUNDS);
    let nodes = order.batches.iter().flat_map(|batch| {
        let (free, costly) = (order.free_of(batch), order.costly_of(batch));
        free.iter().chain(costly)
    });
    let mut steps = steps.into_iter().map(Some).collect::<Vec<_>>();
    nodes
        .filter_map(|node| steps[*node as usize].take())
        .collect()
}
