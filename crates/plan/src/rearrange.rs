//! Pass `rearrange`: the order of steps, from their dependencies alone.
//!
//! The paper's `rearrange` (Launchbury et al., ICFP 2012, section 5) regroups scalar code by data
//! dependency, so that all independent operations go into the same round. That is the order of
//! `sealane-schedule` for rounds: level by level, and in each level the steps without messages
//! first, then those with messages, in the order of the program.
//!
//! The paper's `join` merges many small products into one. Here it is applied three times: to
//! scalar operations, which become gates of one body (pass `fuse`) whose tape has a level for each
//! level of the gates; to steps, of which [`join`] names those of a level; and to messages when
//! steps run (module `flow`), where all steps under way share one message to each peer. Rows and
//! tiles stay symbolic in all three, so this takes the time of the program's text.
//!
//! [`check`] is the specification, which every plan has to meet: the same steps, each after those
//! that it needs, those of a level independent, and no more levels than the longest chain.

use crate::draft::Phase;
use crate::steps::{PlanValue, Segment, Step};
use crate::uses::StepKind;
use sealane_program::types::RowId;
use sealane_schedule::{Graph, Machine, NodeCost, schedule};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

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

/// Returns the steps of each level: places in the segment, one range after the other. Steps of a
/// level do not wait for messages of each other, so all of them share messages.
pub fn join(segment: &Segment) -> Vec<Range<usize>> {
    let (mut levels, mut first) = (Vec::new(), 0);
    // Values that wait for messages of the current level.
    let mut awaited: HashSet<PlanValue> = HashSet::new();
    for (place, step) in segment.steps.iter().enumerate() {
        if step.op.reads().iter().any(|value| awaited.contains(value)) {
            levels.push(first..place);
            first = place;
            awaited.clear();
        }
        if sends(step.op.kind()) {
            awaited.extend(step.op.writes());
        }
    }
    if first < segment.steps.len() {
        levels.push(first..segment.steps.len());
    }
    levels
}

fn sends(kind: StepKind) -> bool {
    kind != StepKind::Local
}

/// A step without its work.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Outline {
    phase: Phase,
    reads: Vec<PlanValue>,
    writes: Vec<PlanValue>,
    kind: StepKind,
}

/// Notes the steps before they are ordered, for [`check`].
pub(crate) fn outline(steps: &[(Phase, Step)]) -> Vec<Outline> {
    let of = |(phase, step): &(Phase, Step)| Outline {
        phase: *phase,
        reads: step.op.reads(),
        writes: step.op.writes(),
        kind: step.op.kind(),
    };
    steps.iter().map(of).collect()
}

/// Checks the order of steps against those that were there before.
///
/// # Errors
/// The fault.
pub(crate) fn check(before: &[Outline], segments: &[Segment]) -> Result<(), String> {
    let mut phases: BTreeMap<Phase, Vec<&Outline>> = BTreeMap::new();
    for step in before {
        phases.entry(step.phase).or_default().push(step);
    }
    if phases.len() != segments.len() {
        return Err("a phase has no segment of its own".to_string());
    }
    for ((phase, outlines), segment) in phases.into_iter().zip(segments) {
        same(phase.rows, &outlines, segment)?;
        ordered(segment)?;
        let levels = join(segment).into_iter();
        let sending = |level: &Range<usize>| {
            let mut steps = segment.steps[level.clone()].iter();
            steps.any(|step| sends(step.op.kind()))
        };
        if levels.filter(sending).count() != longest_chain(&outlines) {
            return Err("more levels than the longest chain of steps".to_string());
        }
    }
    Ok(())
}

/// Checks that a segment has the steps of its phase, each once.
fn same(rows: Option<RowId>, outlines: &[&Outline], segment: &Segment) -> Result<(), String> {
    let mut left: HashMap<_, usize> = HashMap::new();
    for step in outlines {
        let key = (step.kind, step.reads.clone(), step.writes.clone());
        *left.entry(key).or_default() += 1;
    }
    for step in &segment.steps {
        let key = (step.op.kind(), step.op.reads(), step.op.writes());
        match left.get_mut(&key) {
            Some(left) if *left > 0 => *left -= 1,
            _ => return Err("a step that was not there before, or twice".to_string()),
        }
    }
    if segment.rows == rows && left.values().all(|left| *left == 0) {
        Ok(())
    } else {
        Err("a step is missing, or walks over other rows".to_string())
    }
}

/// Checks that each step stands behind those that it needs.
fn ordered(segment: &Segment) -> Result<(), String> {
    let steps = &segment.steps;
    let mut left: HashSet<PlanValue> = steps.iter().flat_map(|step| step.op.writes()).collect();
    for step in steps {
        let writes = step.op.writes();
        let mut needs = step.op.reads().into_iter();
        if needs.any(|value| left.contains(&value) && !writes.contains(&value)) {
            return Err("a step before one that it needs".to_string());
        }
        writes.iter().for_each(|value| {
            left.remove(value);
        });
    }
    Ok(())
}

/// Number of steps with messages in the longest chain of steps that need each other.
fn longest_chain(steps: &[&Outline]) -> usize {
    let writes = |(at, step): (usize, &&Outline)| {
        let values = step.writes.clone().into_iter();
        values.map(move |value| (value, at))
    };
    let maker: HashMap<PlanValue, usize> = steps.iter().enumerate().flat_map(writes).collect();
    let needs = |at: usize| {
        let makers = steps[at].reads.iter().filter_map(|value| maker.get(value));
        makers.copied().filter(move |maker| *maker != at)
    };
    // The longest chain up to each step; a stack, since chains may be as long as a program.
    let mut chains = vec![None; steps.len()];
    let mut stack = (0..steps.len()).collect::<Vec<_>>();
    while let Some(&at) = stack.last() {
        let missing: Vec<_> = needs(at).filter(|need| chains[*need].is_none()).collect();
        if chains[at].is_none() && !missing.is_empty() {
            stack.extend(missing);
            continue;
        }
        stack.pop();
        let before = needs(at).filter_map(|need| chains[need]).max();
        let own = usize::from(sends(steps[at].kind));
        chains[at] = Some(before.unwrap_or(0) + own);
    }
    chains.into_iter().flatten().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_parties::NetworkClass;
    use sealane_program::text;
    use sealane_testkit::fake::Honest;

    /// Two chains that do not need each other, over other shapes, so that nothing fuses them.
    const CHAINS: &str = "sealane program 1\nname chains\nparty a\nparty b\n\
        input x : a u8[3] in 0..255\ninput y : b u8[5] in 0..255\nmain {\n\
        \x20 %0 = param 0 : u8[3] in 0..255 known a\n\
        \x20 %1 = param 1 : u8[5] in 0..255 known b\n\
        \x20 %2 = reduce max %0 axis 0 : u8 in 0..255 known a\n\
        \x20 %3 = reduce min %1 axis 0 : u8 in 0..255 known b\n\
        \x20 %4 = and %2, %3 : u8 in 0..255 secret\n\
        }\nreveal r = %4 : u8 to a\n";

    /// The steps of a plan as they are before the pass, and its segments.
    fn planned() -> (Vec<Outline>, Vec<Segment>) {
        let program = text::parse(CHAINS, "chains").unwrap_or_else(|error| panic!("{error}"));
        let plan = crate::plan::<Honest>(&program, 0, NetworkClass::LAN);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        let phase = |(level, segment): (usize, &Segment)| Phase {
            level: level as u32,
            rows: segment.rows,
        };
        let steps = plan.segments.iter().enumerate().flat_map(|(at, segment)| {
            let phase = phase((at, segment));
            segment.steps.iter().map(move |step| (phase, step.clone()))
        });
        (outline(&steps.collect::<Vec<_>>()), plan.segments)
    }

    /// Two inputs, then two steps of each chain side by side, then the conjunction of both.
    #[test]
    fn independent_steps_share_a_level() {
        let (before, segments) = planned();
        assert_eq!(check(&before, &segments), Ok(()));
        let levels = segments.iter().map(join);
        let sizes = levels.flatten().map(|level| level.len());
        assert_eq!(sizes.collect::<Vec<_>>(), [2, 2, 2, 1]);
    }

    #[test]
    fn steps_in_a_wrong_order_or_in_needless_levels_are_noticed() {
        let (before, segments) = planned();
        let changed = |change: fn(&mut Vec<Step>)| {
            let mut segments = segments.clone();
            change(&mut segments[0].steps);
            check(&before, &segments).is_err()
        };
        assert!(changed(|steps| steps.reverse()));
        assert!(changed(|steps| {
            steps.pop();
        }));
        assert!(changed(|steps| steps.push(steps[0].clone())));
        // The second input waits for the first chain.
        assert!(changed(|steps| {
            let first = steps[0].op.writes();
            let fold = steps.iter().position(|step| step.op.reads() == first);
            let fold = steps.remove(fold.unwrap());
            steps.insert(1, fold);
        }));
    }
}
