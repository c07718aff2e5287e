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

/// Elements of five owners: what two have, compared with a value of a third, and sums over rows
/// that the other two add to.
const FIVE: &str = r#"sealane program 1
name five
party ann
party ben
party cat
party dan
party eve
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben u8[n] in 0..255
input z : cat i32 in 0..50000
input v : dan i32 in -9..9
input w : eve i32 in -9..9
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8[n] in 0..255 known ben
  %2 = param 2 : i32 in 0..50000 known cat
  %3 = param 3 : i32 in -9..9 known dan
  %4 = param 4 : i32 in -9..9 known eve
  %5 = cast %0 : i32[n] in 0..255 known ann
  %6 = cast %1 : i32[n] in 0..255 known ben
  %7 = mul %5, %6 : i32[n] in 0..65025 secret
  %8 = gt %7, %2 : bool[n] in 0..1 secret
  %9 = reduce sum %7 axis 0 : i32 in 0..6502500 secret
  %10 = mul %3, %4 : i32 in -81..81 secret
  %11 = add %9, %10 : i32 in -81..6502581 secret
}
reveal above = %8 : bool to ann, eve
reveal total = %11 : i32 to ben, cat, dan
"#;

/// Three and five parties over a dealer: tiles of one row and of all, in all timings.
#[test]
fn several_garblers_give_what_the_reference_computes() {
    let of_three = super::three();
    for tile in [1, 7, 64] {
        for timing in TIMINGS {
            let work = planned::<AuthParty<DangerDealer>>(&of_three.0, tile);
            let work = varied(work, timing, 2);
            check::<AuthParty<DangerDealer>>(&of_three.0, &of_three.1, &work);
        }
    }
    let program = text::parse(FIVE, "five").unwrap_or_else(|error| panic!("{error}"));
    let data = |input: usize, elements: Vec<u64>| Data {
        ty: program.inputs[input].ty,
        shape: program.inputs[input]
            .shape
            .rows
            .iter()
            .map(|_| 20)
            .collect(),
        elements,
    };
    let rows = |factor: u64| (0..20).map(|row| row * factor % 256).collect::<Vec<_>>();
    let inputs = BTreeMap::from([
        ("x".to_string(), data(0, rows(41))),
        ("y".to_string(), data(1, rows(97))),
        ("z".to_string(), data(2, vec![9000])),
        ("v".to_string(), data(3, vec![(-7_i64) as u64])),
        ("w".to_string(), data(4, vec![9])),
    ]);
    for (tile, timing) in [(3, TIMINGS[0]), (64, TIMINGS[1])] {
        let work = varied(
            planned::<AuthParty<DangerDealer>>(&program, tile),
            timing,
            2,
        );
        check::<AuthParty<DangerDealer>>(&program, &inputs, &work);
    }
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
