//! Authenticated garbling over a dealer and over transfers, through plan and engine: results of the
//! reference, in the planned bytes and rounds.

use super::{TIMINGS, check, planned, varied};
use crate::job::{Job, ProtocolName};
use crate::split_plan::SplitPlan;
use proptest::prelude::*;
use sealane_auth::{Auth, AuthParty, DangerDealer, Products, Transfers};
use sealane_parties::NetworkClass;
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_protocol::{Algebra, Correlation};
use sealane_testkit::random_program::{Case, cases};
use std::collections::BTreeMap;

/// Runs a case over a source of products, unless its plan is refused for its tiles.
fn computes<P: Products>(case: &Case, tile: u64) -> Result<(), TestCaseError> {
    let Case { program, inputs } = case;
    for timing in TIMINGS {
        let work = SplitPlan::plan::<Auth<P>>(program, 0, NetworkClass::LAN, tile);
        prop_assume!(!work.as_ref().is_err_and(|error| error.code == "whole-rows"));
        check::<AuthParty<P>>(program, inputs, &varied(work.expect("a plan"), timing, 2));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_give_what_the_reference_computes(case in cases(), tile in 1u64..5) {
        computes::<DangerDealer>(&case, tile)?;
        computes::<Transfers>(&case, tile)?;
    }
}

/// Elements of both owners: products, a comparison, a sum and a largest one over rows, and a
/// running sum.
const TWO: &str = r#"sealane program 1
name two
party ann
party ben
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben u8[n] in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8[n] in 0..255 known ben
  %2 = cast %0 : i32[n] in 0..255 known ann
  %3 = cast %1 : i32[n] in 0..255 known ben
  %4 = mul %2, %3 : i32[n] in 0..65025 secret
  %5 = gt %4, %3 : bool[n] in 0..1 secret
  %6 = reduce sum %4 axis 0 : i32 in 0..6502500 secret
  %7 = reduce max %4 axis 0 : i32 in 0..65025 secret
}
reveal above = %5 : bool to ann
reveal total = %6 : i32 to ben
reveal largest = %7 : i32 to ann, ben
"#;

fn two(rows: u64) -> (Program, BTreeMap<String, Data>) {
    let program = text::parse(TWO, "two").unwrap_or_else(|error| panic!("{error}"));
    let data = |input: usize, factor: u64| Data {
        ty: program.inputs[input].ty,
        shape: vec![rows],
        elements: (0..rows).map(|row| row * factor % 256).collect(),
    };
    let inputs = BTreeMap::from([
        ("x".to_string(), data(0, 41)),
        ("y".to_string(), data(1, 97)),
    ]);
    (program, inputs)
}

/// Tiles of one row and of all, more tiles than are in flight, and a last one that is shorter.
fn tiles<P: Products>() {
    for (rows, tile) in [(1, 1), (2, 1), (9, 1), (9, 4), (50, 7), (50, 64)] {
        let (program, inputs) = two(rows);
        for timing in TIMINGS {
            let work = varied(planned::<AuthParty<P>>(&program, tile), timing, 2);
            check::<AuthParty<P>>(&program, &inputs, &work);
        }
    }
}

#[test]
fn tiles_and_carries_are_settled_before_anything_is_opened() {
    tiles::<DangerDealer>();
    tiles::<Transfers>();
}

/// A run that takes more than the set-up makes: pools are refilled, each time for the tiles that
/// fit them, in larger batches and so with smaller buckets.
#[test]
fn pools_are_refilled_where_a_run_takes_much() {
    let many = TWO.replace("rows n <= 100", "rows n <= 5000");
    let many = many.replace("6502500", "325125000");
    let program = text::parse(&many, "two").unwrap_or_else(|error| panic!("{error}"));
    let (_, inputs) = two(3000);
    let work = planned::<AuthParty<Transfers>>(&program, 700);
    let cost = work.cost::<Auth<Transfers>>(&[3000]);
    let ands = cost.demand.count(Correlation::Triple {
        algebra: Algebra::Z2,
    });
    assert!(ands > 1 << 19, "more than the set-up makes: {ands}");
    check::<AuthParty<Transfers>>(&program, &inputs, &work);
}

/// The refusal of more parties than compute names them.
#[test]
fn owners_without_a_role_are_refused_by_name() {
    let (program, _) = super::three();
    let job = Job::new(program, ProtocolName::Auth, NetworkClass::LAN, vec![]);
    let refused = job.err().expect("three parties");
    let refused = refused.finding();
    assert_eq!(refused.code, "parties");
    let said = refused.to_string();
    assert!(said.contains("ann, ben, cat"), "{said}");
}
