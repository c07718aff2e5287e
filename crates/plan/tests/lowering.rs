//! Equality of plans and programs: random programs, run by an interpreter in the clear that knows
//! the contract of a plan alone, against the reference interpreter; in one tile and in tiles of two
//! rows; for a protocol of bits alone, and for one with arithmetic.

use proptest::prelude::*;
use sealane_plan::{NetworkClass, cost, plan_in_tiles};
use sealane_protocol::Protocol;
use sealane_testkit::fake::Honest;
use sealane_testkit::random_program::{Case, cases, random_program};
use sealane_testkit::reference;
use sealane_trio::Trio;

/// Plans and runs a case under both protocols; returns whether the plan was refused, for a
/// documented reason.
pub fn agrees(case: &Case, most_rows: u64) -> Result<bool, String> {
    Ok(agrees_under::<Honest>(case, 0, most_rows)? && agrees_under::<Trio>(case, 1, most_rows)?)
}

fn agrees_under<P: Protocol>(case: &Case, helpers: usize, most_rows: u64) -> Result<bool, String> {
    let rows = reference::rows(&case.program, &case.inputs).map_err(|e| e.to_string())?;
    let plan = match plan_in_tiles::<P>(&case.program, helpers, NetworkClass::LAN, most_rows) {
        Ok(plan) => plan,
        Err(error) if error.code == "whole-rows" => return Ok(false),
        Err(error) => return Err(error.render_with_source()),
    };
    // Every plan can be counted.
    let rounds = cost::<P>(&plan, &rows).promise.rounds;
    assert!(rounds > 0, "{}", plan.text());
    let got = crate::common::run(&plan, &case.program, &case.inputs, &rows);
    let want = reference::evaluate(&case.program, &case.inputs).map_err(|e| e.to_string())?;
    for (name, want) in &want {
        let (got, want) = (got[name].numbers(), want.numbers());
        let (got, want) = (got.collect::<Vec<_>>(), want.collect::<Vec<_>>());
        if got != want {
            return Err(format!("{name} is {got:?}, not {want:?}\n{}", plan.text()));
        }
    }
    Ok(true)
}

#[test]
fn seeded_programs_agree_with_the_reference() {
    let mut planned = 0;
    for seed in 0..160 {
        let case = random_program(seed);
        for most_rows in [u64::MAX, 2] {
            match agrees(&case, most_rows) {
                Ok(yes) => planned += u32::from(yes),
                Err(error) => panic!("seed {seed}: {error}\n{case:?}"),
            }
        }
    }
    // The others see rows of a table whole in a body, which plans refuse.
    assert!(planned > 100, "only {planned} were not refused");
}

proptest! {
    #![proptest_config(ProptestConfig { ..ProptestConfig::default() })]

    #[test]
    fn random_programs_agree_with_the_reference(case in cases(), most_rows in 1u64..5) {
        agrees(&case, most_rows).map_err(TestCaseError::fail)?;
    }
}
