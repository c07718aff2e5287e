//! Pass `batch`: segments, and in each of them batches of independent steps.
//!
//! The order is that of `sealane-schedule` for rounds: a step runs as soon as what it needs is
//! there, together with everything else that can. Each such group is then cut by kind, so that a
//! batch never streams in both directions; steps that send nothing come first.

use crate::draft::Phase;
use crate::steps::{PlanValue, Segment, Step};
use crate::uses::StepKind;
use sealane_schedule::{Graph, Machine, Work, schedule};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Sorts steps into segments and batches.
pub(crate) fn batch(steps: Vec<(Phase, Step)>) -> Vec<Segment> {
    let mut phases: BTreeMap<Phase, Vec<Step>> = BTreeMap::new();
    for (phase, step) in steps {
        phases.entry(phase).or_default().push(step);
    }
    let segment = |(phase, steps): (Phase, Vec<Step>)| Segment {
        rows: phase.rows,
        batches: batches(topological(steps)),
    };
    phases.into_iter().map(segment).collect()
}

/// The steps of a segment, each after those that it needs. Conversions are made at their first
/// use, so only they may stand too late.
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

fn batches(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let mut graph = Graph::new(0);
    let mut maker: HashMap<PlanValue, u32> = HashMap::new();
    for step in &steps {
        let reads = step.op.reads();
        let needs = reads.iter().filter_map(|value| maker.get(value).copied());
        let work = match step.op.kind() {
            StepKind::Local => Work::Free,
            _ => Work::Costly,
        };
        let node = graph.push(work, &needs.collect::<Vec<_>>());
        maker.extend(step.op.writes().into_iter().map(|value| (value, node)));
    }
    let order = schedule(&graph, &Machine::ROUNDS);
    let mut steps = steps.into_iter().map(Some).collect::<Vec<_>>();
    let mut take = |node: &u32| steps[*node as usize].take();
    let mut batches = Vec::new();
    for group in &order.batches {
        let free = order.free_of(group).iter().filter_map(&mut take);
        batches.extend(independent(free.collect()));
        let mut by_kind: BTreeMap<StepKind, Vec<Step>> = BTreeMap::new();
        for step in order.costly_of(group).iter().filter_map(&mut take) {
            by_kind.entry(step.op.kind()).or_default().push(step);
        }
        for (kind, steps) in by_kind {
            match kind.is_alone() {
                true => batches.extend(steps.into_iter().map(|step| vec![step])),
                false => batches.push(steps),
            }
        }
    }
    batches
}

/// Cuts steps in order wherever one reads what another of its batch writes.
fn independent(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let mut batches: Vec<Vec<Step>> = Vec::new();
    let mut written: HashSet<PlanValue> = HashSet::new();
    for step in steps {
        let waits = step.op.reads().iter().any(|value| written.contains(value));
        if waits || batches.is_empty() {
            batches.push(Vec::new());
            written.clear();
        }
        written.extend(step.op.writes());
        if let Some(batch) = batches.last_mut() {
            batch.push(step);
        }
    }
    batches
}
