//! Work by kernel, which plans count: against what they promise, and what reports state of runs.

use crate::common::{job_of, parse};
use crate::pool_both_ways::GOODS;
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_plan::{CostReport, fewest_helpers};
use sealane_program::types::Data;
use sealane_protocol::Correlation;
use sealane_testkit::random_program::random_program;
use std::collections::BTreeMap;

fn counts(cost: &CostReport) -> BTreeMap<&'static str, u64> {
    let counts = cost.work.counts().collect::<Vec<_>>();
    let by_name = counts.iter().copied().collect::<BTreeMap<_, _>>();
    assert_eq!(
        by_name.len(),
        counts.len(),
        "a kernel is counted once: {counts:?}"
    );
    by_name
}

/// Sum of the counts of some kernels.
fn sum(counts: &BTreeMap<&'static str, u64>, kernels: &[&str]) -> u64 {
    kernels.iter().filter_map(|kernel| counts.get(kernel)).sum()
}

/// Every kind of correlation, on a network where OTs are the most, and on one where they are the
/// fewest bytes.
#[test]
fn kernels_count_what_the_promise_has() {
    let protocols = [
        ProtocolName::Yao,
        ProtocolName::YaoThreeHalves,
        ProtocolName::Gmw,
        ProtocolName::Mixed,
    ];
    let networks = [NetworkClass::LAN, NetworkClass::WAN];
    for (protocol, network) in protocols
        .into_iter()
        .flat_map(|protocol| networks.map(|network| (protocol, network)))
    {
        let cost = job_of(GOODS, protocol, network).cost(&[40]).unwrap();
        let (of, promise) = (counts(&cost), &cost.promise);
        let ands = sum(&of, &["and", "garbled_and", "three_halves_and"]);
        assert_eq!(ands, promise.ands, "{protocol}");
        assert_eq!(of["payload_byte"], promise.payload_bytes());
        assert_eq!((of["run"], of["round"]), (1, promise.rounds));
        let all = cost.demand.0.iter();
        let ots = all.filter(|(kind, _)| matches!(kind, Correlation::Cot { .. }));
        let ots = ots.map(|(_, count)| count).sum::<u64>();
        let made = sum(&of, &["ot", "small_ot"]);
        assert!(ots > 0);
        assert_eq!(made, ots, "{protocol} {network}: {of:?}");
        // Those that are not hashed choose labels.
        let hashed = sum(&of, &["hashed_ot", "hashed_bit_ot", "chosen_label"]);
        if [ProtocolName::Gmw, ProtocolName::Mixed].contains(&protocol) {
            assert_eq!(hashed, ots, "{protocol} {network}: {of:?}");
        }
        assert_eq!(cost.work.nominal_ns(), cost.compute_ns, "{protocol}");
    }
}

/// Under all protocols: what parties do alone counts once for each of them, and takes the time of
/// the slowest; picoseconds are rounded in each step.
#[test]
fn work_has_the_nominal_time_of_estimates() {
    let mut compared = 0;
    for seed in 0..60 {
        let program = random_program(seed).program;
        for protocol in ProtocolName::ALL {
            let helpers = fewest_helpers(&protocol.profile(), &program).unwrap_or_default();
            let job = Job::new(program.clone(), protocol, NetworkClass::LAN, helpers);
            let Ok(job) = job else { continue };
            let rows = job.plan().rows.iter().map(|rows| rows.bound.min(70));
            let cost = job.cost(&rows.collect::<Vec<_>>()).unwrap();
            let steps = cost.steps.iter();
            let (alone, joint) =
                steps.partition::<Vec<_>, _>(|step| step.label.starts_with("local at"));
            let alone = alone.iter().map(|step| step.compute_ns).sum::<u64>();
            let nominal = joint.iter().map(|step| step.compute_ns).sum::<u64>() + alone;
            let executions = joint.iter().map(|step| 1 + step.times).sum::<u64>();
            let rounded = cost.work.nominal_ns() - nominal;
            assert!(
                rounded <= executions,
                "{protocol}, seed {seed}: {rounded} ns"
            );
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared} plans");
}

#[test]
fn a_report_states_processor_time() {
    let job = Job::new(parse(GOODS), ProtocolName::Gmw, NetworkClass::LAN, vec![]).unwrap();
    let data = |input: &sealane_program::graph::Input| {
        let mut shape = input.shape.fixed.clone();
        if input.shape.rows.is_some() {
            shape.insert(0, 3);
        }
        let count = shape.iter().product::<u64>() as usize;
        Data {
            ty: input.ty,
            shape,
            elements: vec![1; count],
        }
    };
    let report = simulate(&job, job.program().inputs.iter().map(data).collect()).unwrap();
    assert!(report.cpu_seconds > 0.0 && report.seconds > 0.0);
}
