//! Programs on shares and labels, whatever is chosen for each step.

use super::{check, planned};
use crate::split_plan::SplitPlan;
use proptest::prelude::*;
use sealane_mixed::{Gmw, Mixed, MixedParty};
use sealane_parties::NetworkClass;
use sealane_plan::steps::StepOp;
use sealane_plan::variants::Variants;
use sealane_plan::{Form, Roster, drawn, in_form, localise};
use sealane_program::text;
use sealane_protocol::Sharing;
use sealane_testkit::random_program::{arithmetic, cases};
use sealane_trio::{Guarded, GuardedParty};
use sealane_yao::Yao;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Each choice of domains of which a run takes one: of least time, on shares alone, on labels
    /// alone.
    #[test]
    fn all_choices_of_domains_compute_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        tile in 1u64..5,
    ) {
        let work = SplitPlan::plan::<Mixed>(&case.program, 0, NetworkClass::LAN, tile);
        prop_assume!(work.is_ok());
        let mut work = work.expect("a plan");
        let others = std::mem::take(&mut work.joint.others);
        check::<MixedParty>(&case.program, &case.inputs, &work);
        for other in others {
            work.joint = other;
            check::<MixedParty>(&case.program, &case.inputs, &work);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Bits alone, and integers modulo a prime, whichever a run would take.
    #[test]
    fn bits_and_integers_with_proofs_compute_what_the_reference_computes(
        case in arithmetic(),
        tile in 1u64..5,
    ) {
        let mut program = case.program;
        program.parties.push("cyd".to_string());
        let work = SplitPlan::plan::<Guarded>(&program, 0, NetworkClass::LAN, tile);
        prop_assume!(work.is_ok());
        let mut work = work.expect("a plan");
        let others = std::mem::take(&mut work.joint.others);
        check::<GuardedParty>(&program, &case.inputs, &work);
        for other in others {
            work.joint = other;
            check::<GuardedParty>(&program, &case.inputs, &work);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// With transfers of silent extensions, whose directions run in step, in each choice of
    /// domains.
    #[test]
    fn silent_transfers_serve_every_choice_of_domains(case in arithmetic(), tile in 1u64..5) {
        let work = SplitPlan::plan::<Mixed>(&case.program, 0, NetworkClass::WAN, tile);
        prop_assume!(work.is_ok());
        let mut work = work.expect("a plan");
        let others = std::mem::take(&mut work.joint.others);
        for plan in std::iter::once(work.joint.clone()).chain(others) {
            let silent = Form { silent: true, ..Form::default() };
            work.joint = in_form::<Mixed>(&plan, silent).into_owned();
            check::<MixedParty>(&case.program, &case.inputs, &work);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever domain each step is given, on tiles and without.
    #[test]
    fn every_assignment_of_domains_computes_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        tile in prop_oneof![1u64..5, Just(u64::MAX)],
        bits in any::<u64>(),
    ) {
        let work = SplitPlan::plan::<Mixed>(&case.program, 0, NetworkClass::LAN, tile);
        prop_assume!(work.is_ok());
        let mut work = work.expect("a plan");
        let joint = localise(&drawn(&case.program).program).expect("a division").joint;
        let (roster, network) = (Roster::of(&case.program, 0), NetworkClass::LAN);
        let plan = work.joint.clone();
        let variants = Variants::new::<Mixed>(&joint, roster, network, tile, &plan);
        let mut variants = variants.expect("units");
        let units = variants.units::<Mixed>();
        let taken = units.iter().map(|unit| (unit.number, (bits >> (unit.number % 64) & 1) as u8));
        work.joint = variants.with::<Mixed>(&taken.collect::<Vec<_>>()).expect("a plan");
        check::<MixedParty>(&case.program, &case.inputs, &work);
    }
}

/// A sum, a comparison and a choice, of which the comparison may be pinned.
fn pinned(sharing: &str) -> String {
    format!(
        r"sealane program 1
name pinned
party ann
party ben
rows n <= 9
input x : ann u8[n] in 0..255
input y : ben u8[n] in 0..255
main {{
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8[n] in 0..255 known ben
  %2 = gt %0, %1 : bool[n] in 0..1 secret
  %3 = share {sharing} %2 : bool[n] in 0..1 secret
  %4 = select %3, %0, %1 : u8[n] in 0..255 secret
  %5 = reduce max %4 axis 0 : u8 in 0..255 secret
}}
reveal most = %5 : u8 to ben
"
    )
}

/// The step takes the sharing in all forms of the plan, and what reads it may take another.
#[test]
fn a_step_takes_the_sharing_that_the_program_asks_for() {
    for (name, sharing) in [("yao", Sharing::YaoLabel), ("xor", Sharing::Xor)] {
        let program = text::parse(&pinned(name), "pinned").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(text::print(&program), pinned(name));
        let joint = planned::<MixedParty>(&program, u64::MAX).joint;
        let mut others = 0;
        for plan in std::iter::once(&joint).chain(&joint.others) {
            let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
            let tapes = steps.filter(|step| matches!(step.op, StepOp::Tape { .. }));
            let domain =
                |at: usize| plan[tapes.clone().nth(at).expect("a step").op.writes()[0]].domain;
            assert_eq!(domain(0).sharing, sharing);
            others += usize::from(domain(1).sharing != sharing);
        }
        assert!(others > 0, "{name}");
        let plan = |of: &str| {
            let refused = match of {
                "yao" => SplitPlan::plan::<Yao>(&program, 0, NetworkClass::LAN, u64::MAX).err(),
                _ => SplitPlan::plan::<Gmw>(&program, 0, NetworkClass::LAN, u64::MAX).err(),
            };
            refused.map(|error| error.message)
        };
        let other = if name == "yao" { "gmw" } else { "yao" };
        assert_eq!(plan(if name == "yao" { "yao" } else { "gmw" }), None);
        let said = plan(other).expect("a refusal");
        assert_eq!(
            said,
            format!("`{other}` does not compute `gt` on {sharing}")
        );
    }
    let refused = text::parse(&pinned("zen"), "pinned");
    let said = refused.expect_err("a refusal").message;
    assert_eq!(said, "there is no sharing `zen`");
}
