//! Plans of authenticated garbling: parts of the payload, batches, and what is refused.

use crate::common::{PROGRAM, job_of, parse};
use crate::pool_both_ways::GOODS;
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_plan::CostReport;
use sealane_program::types::Data;
use sealane_protocol::{Algebra, Correlation};
use sealane_testkit::random_program::random_program;

/// Products that a run takes.
fn products(cost: &CostReport) -> u64 {
    cost.demand.count(Correlation::Triple {
        algebra: Algebra::Z2,
    })
}

/// Checks that all parts together are the payload, link by link, and that batches make what is
/// taken and what is left over.
fn divided(cost: &CostReport, what: &str) {
    let division = &cost.division;
    let sum = |from_to| {
        let of_link = division.parts.iter().filter_map(|(_, of)| of.get(from_to));
        of_link.sum::<u64>()
    };
    for (from_to, bytes) in &cost.promise.payload {
        assert_eq!(sum(from_to), *bytes, "{what}: {:?}", division.parts);
    }
    let of_all = division.parts.iter().flat_map(|(_, of)| of.values());
    assert_eq!(of_all.sum::<u64>(), cost.promise.payload_bytes(), "{what}");
    let batches = division.batches.iter();
    let made = batches.map(|(batch, times)| batch.products * times);
    assert_eq!(
        made.sum::<u64>(),
        products(cost) + division.left_over,
        "{what}"
    );
    // Each has what makes a party that deviates know a product with less than `2^-41`.
    for (batch, _) in &division.batches {
        let [products, bucket] = [batch.products as f64, f64::from(batch.bucket)];
        assert!(bucket + (bucket - 1.0) * products.log2() >= 41.0, "{what}");
    }
}

#[test]
fn parts_of_a_plan_are_all_of_its_payload() {
    let mut seen = 0;
    for seed in 0..40 {
        let program = random_program(seed).program;
        for network in [NetworkClass::LAN, NetworkClass::WAN] {
            let job = Job::new(program.clone(), ProtocolName::Auth, network, vec![]);
            let Ok(job) = job else { continue };
            for most in [1, 70, 20_000] {
                let rows = job.plan().rows.iter().map(|rows| rows.bound.min(most));
                // Tables of which one has the rows of others are left out.
                let Ok(cost) = job.cost(&rows.collect::<Vec<_>>()) else {
                    continue;
                };
                divided(&cost, &format!("seed {seed}, {network}, {most} rows"));
                seen += usize::from(!cost.division.batches.is_empty());
            }
        }
    }
    assert!(seen > 60, "{seen} plans with batches");
    // Other protocols state none.
    let yao = job_of(PROGRAM, ProtocolName::Yao, NetworkClass::LAN);
    assert!(yao.cost(&[5]).expect("a cost").division.parts.is_empty());
}

/// Each AND has a product, in larger batches with smaller buckets.
#[test]
fn batches_and_kernels_count_every_and() {
    let job = job_of(GOODS, ProtocolName::Auth, NetworkClass::LAN);
    let (few, many) = (job.cost(&[1]).unwrap(), job.cost(&[40]).unwrap());
    for cost in [&few, &many] {
        divided(cost, "goods");
        let counted = cost.work.counts().collect::<Vec<_>>();
        let of = |name: &str| {
            let found = counted.iter().find(|(kernel, _)| *kernel == name);
            found.map_or(0, |(_, count)| *count)
        };
        assert_eq!(of("authenticated_and"), cost.promise.ands);
        assert_eq!(of("mask_and"), cost.promise.ands);
        let batches = cost.division.batches.iter();
        let leaky = batches.map(|(batch, times)| times * batch.products * u64::from(batch.bucket));
        assert_eq!(of("leaky_product"), leaky.sum::<u64>());
        assert_eq!(products(cost), cost.promise.ands);
    }
    let least = |cost: &CostReport| {
        let batches = cost.division.batches.iter();
        batches.map(|(batch, _)| batch.bucket).min()
    };
    assert!(
        least(&many) <= least(&few),
        "larger batches have smaller buckets"
    );
}

/// A run sends what the parts of its plan say, also where owners have their results in
/// several parts.
#[test]
fn a_run_sends_what_its_parts_say() {
    let job = job_of(PROGRAM, ProtocolName::Auth, NetworkClass::LAN);
    let data = |input: &sealane_program::graph::Input| {
        let mut shape = input.shape.fixed.clone();
        if input.shape.rows.is_some() {
            shape.insert(0, 5);
        }
        let count = shape.iter().product::<u64>() as usize;
        Data {
            ty: input.ty,
            shape,
            elements: vec![1; count],
        }
    };
    let inputs = job.program().inputs.iter().map(data).collect();
    let report = simulate(&job, inputs).expect("a run");
    assert!(report.as_planned());
    let cost = job.cost(&[5]).expect("a cost");
    divided(&cost, "a run");
    let sent = report.sent.iter().flatten().sum::<u64>();
    let of_all = cost.division.parts.iter().flat_map(|(_, of)| of.values());
    assert_eq!(of_all.sum::<u64>(), sent);
}

/// A third party, as an owner, a receiver or a helper, has no role: the refusal names the parties
/// and a protocol that withstands as much among three.
#[test]
fn whoever_does_not_compute_is_refused_by_name() {
    let receiver = PROGRAM.replace("party lab\n", "party lab\nparty bank\n");
    let refused = |text: &str, helpers: &[&str]| {
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        let job = Job::new(parse(text), ProtocolName::Auth, NetworkClass::LAN, helpers);
        job.err().expect("three parties").finding().clone()
    };
    let finding = refused(&receiver, &[]);
    assert_eq!(finding.code, "parties");
    assert!(finding.reason.contains("(clinic, lab, bank)"), "{finding}");
    assert!(
        finding.hint.contains("`--protocol trio-malicious`"),
        "{finding}"
    );
    let finding = refused(PROGRAM, &["ada"]);
    assert!(finding.reason.contains("1 helper"), "{finding}");
    assert!(finding.hint.contains("name no helper"), "{finding}");
}
