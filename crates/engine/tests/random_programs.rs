//! Random programs under every protocol. They agree with the plain reference, every run keeps the
//! promise of its plan, byte by byte and round by round, and every program that its check accepts
//! runs.

use crate::common::{in_tiles, parse};
use proptest::prelude::*;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::{Job, NetworkClass, ProtocolName, RunReport, check as verdict, simulate};
use sealane_plan::fewest_helpers;
use sealane_program::text;
use sealane_program::types::{Data, Type};
use sealane_testkit::random_program::{Case, arithmetic, cases, cases_of_three};
use sealane_testkit::reference;

type Checked<T> = Result<T, TestCaseError>;

/// One reduction of rows, so that a tile leaves little more to settle than its carry.
const ANY: &str = "\
sealane program 1
name any
party ann
party ben
rows n <= 40
input x : ben bool[n] in 0..1
main {
  %0 = param 0 : bool[n] in 0..1 known ben
  %1 = reduce any %0 axis 0 : bool in 0..1 known ben
}
reveal found = %1 : bool to ann
";

/// Runs a case, or refuses it if planning does, for a body that needs all rows at once.
fn run(case: &Case, protocol: ProtocolName, helpers: usize, tile: u64) -> Checked<RunReport> {
    let helpers = ["una", "dos", "tri"][..helpers].iter();
    let helpers = helpers.map(|name| name.to_string());
    let job = match Job::in_tiles(
        case.program.clone(),
        protocol,
        NetworkClass::LAN,
        helpers.collect(),
        tile,
    ) {
        Err(error) if error.finding().code == "whole-rows" => {
            return Err(TestCaseError::reject("a body sees all rows"));
        }
        job => job.unwrap_or_else(|error| panic!("{error}\n{}", text::print(&case.program))),
    };
    let inputs = job
        .program()
        .inputs
        .iter()
        .map(|input| case.inputs[&input.name].clone());
    let report = simulate(&job, inputs.collect());
    Ok(report.unwrap_or_else(|error| panic!("{error}\n{}", text::print(&case.program))))
}

/// Number of helpers that compute for the program's parties, or the fewest that join them.
fn missing(case: &Case, protocol: ProtocolName, outside: bool) -> usize {
    let profile = protocol.profile();
    if outside {
        profile.roles.len()
    } else {
        let fewest = fewest_helpers(&profile, &case.program);
        fewest.expect("some number suits").len()
    }
}

fn check(case: &Case, protocol: ProtocolName, helpers: usize, tile: u64) -> Checked<()> {
    let want = reference::evaluate(&case.program, &case.inputs).expect("inputs of the case");
    let report = run(case, protocol, helpers, tile)?;
    for result in &report.results {
        let got = result.data.as_ref().expect("somebody learns every result");
        let want = &want[&result.name];
        assert!(
            got.elements == want.elements && got.shape == want.shape,
            "{protocol}: {} is {:?} {:?}, not {:?} {:?}\n{}",
            result.name,
            got.shape,
            got.elements,
            want.shape,
            want.elements,
            text::print(&case.program)
        );
    }
    assert!(
        report.as_planned(),
        "{protocol}: sent {:?} in {} rounds, planned {:?}\n{}",
        report.sent,
        report.rounds,
        report.promise,
        text::print(&case.program)
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn clear_computes_what_the_reference_computes(case in cases(), tile in 1u64..5) {
        check(&case, ProtocolName::Clear, 0, tile)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn yao_computes_what_the_reference_computes(
        case in cases(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        for protocol in [ProtocolName::Yao, ProtocolName::YaoThreeHalves] {
            check(&case, protocol, missing(&case, protocol, outside), tile)?;
        }
    }

    /// The owners of inputs compute, where they are two; else two helpers do.
    #[test]
    fn yao_computes_for_three_parties(
        case in cases_of_three(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        let protocol = ProtocolName::Yao;
        check(&case, protocol, missing(&case, protocol, outside), tile)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn trio_computes_what_the_reference_computes(
        case in cases(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        for protocol in [ProtocolName::Trio, ProtocolName::TrioMalicious] {
            check(&case, protocol, missing(&case, protocol, outside), tile)?;
        }
    }

    #[test]
    fn trio_computes_for_three_parties(
        case in cases_of_three(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        for protocol in [ProtocolName::Trio, ProtocolName::TrioMalicious] {
            check(&case, protocol, missing(&case, protocol, outside), tile)?;
        }
    }

    /// Sums and products, which trio computes in rings, between operations on bits.
    #[test]
    fn trio_adds_and_multiplies_as_the_reference_does(
        case in arithmetic(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        for protocol in [ProtocolName::Trio, ProtocolName::TrioMalicious] {
            check(&case, protocol, missing(&case, protocol, outside), tile)?;
        }
    }
}

/// Checks that an accepted program runs under these protocols, with the helpers that each needs, or
/// is warned of; the cost has rows of every table at their bounds.
fn taken_runs(case: &Case, protocols: &[ProtocolName]) -> Checked<()> {
    let found = verdict(&case.program);
    for &protocol in protocols {
        let helpers = fewest_helpers(&protocol.profile(), &case.program);
        let planned = helpers
            .map(|helpers| Job::new(case.program.clone(), protocol, NetworkClass::WAN, helpers));
        let named = |warning: &Diagnostic| {
            warning.code == Code::OtherProtocol
                && warning.message.contains(&format!("`{protocol}`"))
                && !warning.message.contains("without helpers")
        };
        match (&found, planned) {
            (Ok(_), Some(Ok(job))) => {
                job.cost(&job.bounds()).expect("bounds are in bounds");
                let inputs = job.program().inputs.iter();
                let inputs = inputs.map(|input| case.inputs[&input.name].clone());
                let report = simulate(&job, inputs.collect());
                let report = report.unwrap_or_else(|error| panic!("{protocol}: {error}"));
                prop_assert!(report.as_planned());
            }
            (Ok(checked), _) => prop_assert!(checked.warnings.iter().any(named), "{protocol}"),
            (Err(refusal), Some(Err(error))) => prop_assert_eq!(error.finding(), refusal),
            (Err(refusal), Some(Ok(_))) => prop_assert!(false, "{}: {}", protocol, refusal),
            (Err(_), None) => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_a_check_takes_runs(case in cases()) {
        taken_runs(&case, &[ProtocolName::Yao, ProtocolName::YaoThreeHalves, ProtocolName::Trio])?;
    }

    /// In one batch, or in none, with whatever buckets these rows ask for.
    #[test]
    fn auth_computes_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        tile in 1u64..5,
    ) {
        let protocol = ProtocolName::Auth;
        check(&case, protocol, missing(&case, protocol, false), tile)?;
        taken_runs(&case, &[protocol])?;
    }

    /// The default protocol computes with two parties, and the check warns of that.
    #[test]
    fn what_a_check_takes_of_three_parties_runs(case in cases_of_three()) {
        taken_runs(&case, &[ProtocolName::Yao, ProtocolName::Trio])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn gmw_computes_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        let protocol = ProtocolName::Gmw;
        check(&case, protocol, missing(&case, protocol, outside), tile)?;
    }

    #[test]
    fn mixed_computes_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        let protocol = ProtocolName::Mixed;
        check(&case, protocol, missing(&case, protocol, outside), tile)?;
    }

    #[test]
    fn gmw_computes_for_three_parties(
        case in cases_of_three(),
        outside in any::<bool>(),
        tile in 1u64..5,
    ) {
        let protocol = ProtocolName::Gmw;
        check(&case, protocol, missing(&case, protocol, outside), tile)?;
    }
}

/// A cost walks few tiles and counts the rest; these are all numbers of tiles around the few.
#[test]
fn a_plan_holds_for_each_number_of_tiles() {
    let program = parse(ANY);
    for protocol in [ProtocolName::Trio, ProtocolName::TrioMalicious] {
        for rows in 1..=40 {
            let job = in_tiles(program.clone(), protocol, &["cat"], 1);
            let input = Data::from_numbers(Type::Bool, vec![rows], &vec![0; rows as usize]);
            let report = simulate(&job, vec![input.unwrap()]).unwrap();
            assert!(report.as_planned(), "{rows} tiles: {:?}", report.promise);
        }
    }
}
