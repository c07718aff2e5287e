//! Authenticated garbling over a dealer, through plan and engine: results of the reference, in the
//! planned bytes and rounds. No job names this protocol yet.

use super::{TIMINGS, check, planned, varied};
use crate::split_plan::SplitPlan;
use proptest::prelude::*;
use sealane_auth::{Auth, AuthParty, DangerDealer};
use sealane_parties::NetworkClass;
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_testkit::random_program::{Case, cases};
use std::collections::BTreeMap;

type Dealt = Auth<DangerDealer>;
type DealtParty = AuthParty<DangerDealer>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_give_what_the_reference_computes(case in cases(), tile in 1u64..5) {
        let Case { program, inputs } = &case;
        for timing in TIMINGS {
            let work = SplitPlan::plan::<Dealt>(program, 0, NetworkClass::LAN, tile);
            prop_assume!(!work.as_ref().is_err_and(|error| error.code == "whole-rows"));
            check::<DealtParty>(program, inputs, &varied(work.expect("a plan"), timing, 2));
        }
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
#[test]
fn tiles_and_carries_are_settled_before_anything_is_opened() {
    for (rows, tile) in [(1, 1), (2, 1), (9, 1), (9, 4), (50, 7), (50, 64)] {
        let (program, inputs) = two(rows);
        for timing in TIMINGS {
            let work = varied(planned::<DealtParty>(&program, tile), timing, 2);
            check::<DealtParty>(&program, &inputs, &work);
        }
    }
}
