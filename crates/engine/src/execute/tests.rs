//! The fake n-party protocol through plan and engine: two domains, flights of several messages
//! between all pairs of parties, a check that stays pending until the reveal.

use super::PlanInputs;
use crate::journal::Journal;
use crate::split_plan::SplitPlan;
use proptest::prelude::*;
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::NetworkClass;
use sealane_parties::PartyId;
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_protocol::fake::{Fake, Honest};
use sealane_protocol::{Fault, Protocol};
use sealane_testkit::random_program::{Case, cases};
use sealane_testkit::reference;
use std::collections::BTreeMap;
use std::thread;

/// Program of three owners who learn different results: a product, a comparison, a sum over rows
/// and a scan.
const THREE: &str = r#"sealane program 1
name three
party ann
party ben
party cat
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben i8[n] in -128..127
input z : cat i32 in -5..5
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : i8[n] in -128..127 known ben
  %2 = param 2 : i32 in -5..5 known cat
  %3 = cast %0 : i32[n] in 0..255 known ann
  %4 = cast %1 : i32[n] in -128..127 known ben
  %5 = mul %3, %4 : i32[n] in -32640..32385 secret
  %6 = gt %5, %2 : bool[n] in 0..1 secret
  %7 = reduce sum %5 axis 0 : i32 in -3264000..3238500 secret
}
reveal above = %6 : bool to ann, cat
reveal total = %7 : i32 to ben
"#;

type Outcome = Result<(Vec<Option<Data>>, Vec<u64>, u64), Fault>;

/// Runs all parties in threads. Returns for each its results, payload bytes sent to others, and
/// rounds.
fn run<P: Protocol>(
    program: &Program,
    inputs: &BTreeMap<String, Data>,
    tile: u64,
) -> (Vec<Outcome>, sealane_plan::CostReport) {
    let work = SplitPlan::plan::<P>(program, 0, NetworkClass::Lan, tile).expect("a plan");
    let rows = reference::rows(program, inputs).expect("row counts");
    let cost = work.cost::<P>(&rows);
    let party = |mesh: &mut Mesh| -> Outcome {
        let cpu = Cpu::detect().expect("a tier");
        let me = mesh.me();
        let own = program
            .inputs
            .iter()
            .map(|input| (input.owner == me.0).then(|| &inputs[&input.name]));
        let start = PlanInputs {
            rows: &rows,
            inputs: own.collect(),
            demand: &cost.demand,
            cpu,
            coins: Coins::danger_fixed_seed(u64::from(me.0)),
        };
        let journal = &mut Journal::silent();
        let results = work.run::<P>(start, journal, mesh)?;
        let sent = |to| if to == me { 0 } else { mesh.payload_sent(to) };
        let sent = (0..mesh.parties())
            .map(PartyId::from_index)
            .map(sent)
            .collect();
        let rounds = u64::from(mesh.rounds());
        mesh.finish()?;
        Ok((results, sent, rounds))
    };
    // No party leaves before all have ended: a party that leaves early would end the runs of the
    // others with its absence, before they find the error under test.
    let mut meshes = Mesh::in_memory(program.parties.len());
    let outcomes = thread::scope(|scope| {
        let threads = meshes
            .iter_mut()
            .map(|mesh| scope.spawn(|| party(mesh)))
            .collect::<Vec<_>>();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    (outcomes, cost)
}

fn check(program: &Program, inputs: &BTreeMap<String, Data>, tile: u64) {
    let want = reference::evaluate(program, inputs).expect("inputs of the case");
    let (outcomes, cost) = run::<Honest>(program, inputs, tile);
    let mut rounds = 0;
    for (me, outcome) in outcomes.into_iter().enumerate() {
        let (results, sent, seen) = outcome.expect("an honest run");
        for (result, data) in program.results.iter().zip(results) {
            assert_eq!(data.is_some(), result.to.contains(&(me as u8)));
            let got = data.map(|data| (data.shape.clone(), data.elements.clone()));
            let want = &want[&result.name];
            let want = (want.shape.clone(), want.elements.clone());
            assert!(
                got.is_none_or(|got| got == want),
                "{}",
                text::print(program)
            );
        }
        for (to, bytes) in sent.into_iter().enumerate() {
            let link = (PartyId::from_index(me), PartyId::from_index(to));
            assert_eq!(bytes, cost.promise.payload.get(&link).copied().unwrap_or(0));
        }
        rounds = rounds.max(seen);
    }
    assert_eq!(rounds, cost.promise.rounds);
}

fn three() -> (Program, BTreeMap<String, Data>) {
    let program = text::parse(THREE, "three").unwrap_or_else(|error| panic!("{error}"));
    let data = |input: usize, shape: &[u64], elements: Vec<u64>| Data {
        ty: program.inputs[input].ty,
        shape: shape.to_vec(),
        elements,
    };
    let inputs = BTreeMap::from([
        (
            "x".to_string(),
            data(0, &[50], (0..50).map(|i| i * 5).collect()),
        ),
        (
            "y".to_string(),
            data(1, &[50], (0..50).map(|i| (i as i64 - 25) as u64).collect()),
        ),
        ("z".to_string(), data(2, &[], vec![(-3i64) as u64])),
    ]);
    (program, inputs)
}

#[test]
fn three_parties_learn_what_they_may_in_the_planned_rounds() {
    let (program, inputs) = three();
    for tile in [1, 7, 64, 100] {
        check(&program, &inputs, tile);
    }
}

#[test]
fn a_spoilt_check_ends_every_honest_run_before_anything_is_revealed() {
    let (program, inputs) = three();
    let (outcomes, _) = run::<Fake<1>>(&program, &inputs, 64);
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Fault::CheckFailed)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_fake_computes_what_the_reference_computes(case in cases(), tile in 1u64..5) {
        let Case { program, inputs } = &case;
        let work = SplitPlan::plan::<Honest>(program, 0, NetworkClass::Lan, tile);
        prop_assume!(!work.is_err_and(|error| error.code == "whole-rows"));
        check(program, inputs, tile);
    }
}
