//! Plans that are broken in one place each, and the findings of the checker.

use super::*;
use crate::{NetworkClass, plan_in_tiles};
use sealane_parties::{PartyId, PartySet};
use sealane_program::builder::Builder;
use sealane_program::graph::{Binary, Input, Reduction};
use sealane_program::types::{Data, Range, Shape, Type};
use sealane_testkit::fake::Honest;
use sealane_testkit::masked::Masked;
use sealane_trio::Guarded;
use std::sync::Arc;

/// Plan of `x - sum(x)` and a scan: two segments over rows, a fold with carry, conversions.
fn sample() -> Plan {
    sample_of::<Honest>(&["alice", "bob"])
}

/// The sample under a protocol, with its parties.
fn sample_of<P: Protocol>(parties: &[&str]) -> Plan {
    let mut b = Builder::new("sample").unwrap();
    for name in parties {
        b.party(name).unwrap();
    }
    let rows = b.rows("n", 100).unwrap();
    let x = Input::new("x", 0, Type::U8, Shape::with_rows(rows, []));
    let x = b.input(x).unwrap();
    let wide = Type::signed(32);
    let total = b.reduce(Reduction::Sum, x, None, Some(wide), None).unwrap();
    let cast = b.cast(x, wide, None).unwrap();
    let centred = b
        .binary(Binary::Sub, cast.into(), total.into(), None)
        .unwrap();
    b.reveal("centred", centred.into(), &[1], wide, None)
        .unwrap();
    let program = b.finish().unwrap().0;
    plan_in_tiles::<P>(&program, 0, NetworkClass::LAN, 8).unwrap()
}

/// Plan of `x * y`, of which each party knows one.
fn known() -> Plan {
    let mut b = Builder::new("known").unwrap();
    b.party("alice").unwrap();
    b.party("bob").unwrap();
    let [x, y] = [("x", 0), ("y", 1)].map(|(name, owner)| {
        let range = Range::new(0, 9);
        let input = Input::new(name, owner, Type::U8, Shape::scalar());
        b.input(Input { range, ..input }).unwrap()
    });
    let product = b.binary(Binary::Mul, x.into(), y.into(), None).unwrap();
    b.reveal("product", product.into(), &[0, 1], Type::U8, None)
        .unwrap();
    let program = b.finish().unwrap().0;
    plan_in_tiles::<Masked>(&program, 0, NetworkClass::LAN, 8).unwrap()
}

/// Returns the checker's finding after a change to the sample.
fn after(change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = sample();
    change(&mut plan);
    check::<Honest>(&plan).expect_err("the change breaks the plan")
}

fn find(plan: &mut Plan, kind: StepKind) -> &mut StepOp {
    let steps = plan.segments.iter_mut().flat_map(|s| &mut s.steps);
    &mut steps
        .into_iter()
        .find(|step| step.op.kind() == kind)
        .unwrap()
        .op
}

#[test]
fn a_sound_plan_passes() {
    assert_eq!(check::<Honest>(&sample()), Ok(()));
}

/// A protocol that sorts states how many rows it proves at most.
#[test]
fn a_sort_has_no_more_rows_than_its_protocol_sorts() {
    let mut b = Builder::new("sorted").unwrap();
    for name in ["alice", "bob", "cyd"] {
        b.party(name).unwrap();
    }
    let most = Guarded::sorts().expect("it sorts");
    let rows = b.rows("n", most).unwrap();
    let x = Input::new("x", 0, Type::U8, Shape::with_rows(rows, []));
    let x = b.input(x).unwrap();
    let (before, behind) = b.begin_sort(&[x], None).unwrap();
    let less = b.binary(Binary::Lt, behind[0].into(), before[0].into(), None);
    let sorted = b.end_sort(less.unwrap().into(), true, None).unwrap();
    b.reveal("sorted", sorted[0].into(), &[1], Type::U8, None)
        .unwrap();
    let program = b.finish().unwrap().0;
    let mut plan = plan_in_tiles::<Guarded>(&program, 0, NetworkClass::LAN, 8).unwrap();
    assert!(matches!(find(&mut plan, StepKind::Sort), StepOp::Sort(_)));
    assert_eq!(check::<Guarded>(&plan), Ok(()));
    plan.rows[0].bound += 1;
    let text = check::<Guarded>(&plan).expect_err("a row too many");
    assert!(text.contains("more rows than the protocol sorts"), "{text}");
}

#[test]
fn order_is_checked() {
    let text = after(|plan| plan.segments[0].steps.reverse());
    assert!(text.contains("before it is written"), "{text}");
    let text = after(|plan| plan.segments.swap(0, 1));
    assert!(text.contains("before it is written"), "{text}");
    let text = after(|plan| drop(plan.segments.pop()));
    assert!(text.contains("is not computed"), "{text}");
    // The result of a fold over rows is not available in its own segment.
    let text = after(|plan| {
        let second = plan.segments.remove(1);
        plan.segments[0].steps.extend(second.steps);
    });
    assert!(text.contains("not there yet"), "{text}");
}

#[test]
fn what_outlives_its_segment_is_kept() {
    let text = after(|plan| plan.values.iter_mut().for_each(|value| value.kept = false));
    assert!(text.contains("not been kept"), "{text}");
}

#[test]
fn views_and_widths_are_checked() {
    let text = after(|plan| match find(plan, StepKind::Tape) {
        StepOp::Tape { operands, .. } => operands[0].lanes.offset += 1,
        _ => unreachable!(),
    });
    assert!(text.contains("leaves its value"), "{text}");
    let text = after(|plan| match find(plan, StepKind::Tape) {
        StepOp::Tape { operands, .. } => drop(operands.pop()),
        _ => unreachable!(),
    });
    assert!(text.contains("tape's inputs"), "{text}");
    let text = after(|plan| match find(plan, StepKind::Tape) {
        StepOp::Tape { outs, .. } => outs[0].first += 1,
        _ => unreachable!(),
    });
    assert!(text.contains("tape's outputs"), "{text}");
    let text = after(|plan| match find(plan, StepKind::Fold) {
        StepOp::Fold(fold) => fold.bits[1] += 1,
        _ => unreachable!(),
    });
    assert!(text.contains("level's tape"), "{text}");
    let text = after(|plan| match find(plan, StepKind::Fold) {
        StepOp::Fold(fold) => {
            fold.levels.pop();
            fold.bits.pop();
        }
        _ => unreachable!(),
    });
    assert!(text.contains("the result has another width"), "{text}");
}

#[test]
fn parties_that_know_operands_are_checked() {
    let mut plan = known();
    assert_eq!(check::<Masked>(&plan), Ok(()));
    let StepOp::Product(product) = find(&mut plan, StepKind::Product) else {
        unreachable!()
    };
    assert_eq!(product.known_to, [0, 1].map(|owner| Some(PartyId(owner))));
    product.known_to = [1, 0].map(|owner| Some(PartyId(owner)));
    let text = check::<Masked>(&plan).expect_err("it is the other party");
    assert!(text.contains("known to another party"), "{text}");
}

#[test]
fn a_walk_settles_at_its_end() {
    let mut plan = sample_of::<Guarded>(&["alice", "bob", "cyd"]);
    assert_eq!(check::<Guarded>(&plan), Ok(()));
    let steps = &mut plan.segments[0].steps;
    let twice = steps[steps.len() - 1].clone();
    steps.insert(0, twice);
    let text = check::<Guarded>(&plan).expect_err("it settles twice");
    assert!(text.contains("nothing needs"), "{text}");
    let steps = &mut plan.segments[0].steps;
    steps.pop();
    for _ in 0..2 {
        let text = check::<Guarded>(&plan).expect_err("steps stay open");
        assert!(text.contains("checks of a tile stay open"), "{text}");
        plan.segments[0].steps.remove(0);
    }
}

/// Steps between a settlement and an opening may leave checks, whatever they make.
#[test]
fn an_opening_is_directly_behind_a_settlement() {
    let mut plan = sample_of::<Guarded>(&["alice", "bob", "cyd"]);
    let total = find(&mut plan, StepKind::Fold).writes()[0];
    let mut open = |value| {
        let mut opened = plan[value].clone();
        opened.kept = false;
        plan.values.push(opened);
        let out = PlanValue(plan.values.len() as u32 - 1);
        (step(StepOp::Open { value, out }), out)
    };
    let (first, out) = open(total);
    let (second, _) = open(total);
    let (again, _) = open(out);
    let value = plan.values.len() as u32;
    plan.values.push(plan[total].clone());
    let data = Data {
        ty: Type::signed(32),
        shape: vec![],
        elements: vec![0],
    };
    let out = PlanValue(value);
    let other = step(StepOp::Constant { data, out });
    let settle = || step(StepOp::Settle);
    let checked = |rows, steps: Vec<Step>| {
        let mut plan = plan.clone();
        plan.segments.push(Segment {
            rows,
            refill: None,
            steps,
        });
        check::<Guarded>(&plan)
    };
    let behind = Err("an opening that is not directly behind a settlement");
    let needless = Err("a settlement that nothing needs");
    let (first, second, again) = (&first, &second, &again);
    for (steps, want) in [
        (vec![settle(), first.clone(), settle()], Ok(())),
        (
            vec![
                settle(),
                first.clone(),
                second.clone(),
                again.clone(),
                settle(),
            ],
            Ok(()),
        ),
        (
            vec![
                settle(),
                first.clone(),
                other.clone(),
                settle(),
                second.clone(),
                settle(),
            ],
            Ok(()),
        ),
        (vec![first.clone(), settle()], behind),
        (vec![other.clone(), first.clone(), settle()], behind),
        (
            vec![settle(), other.clone(), first.clone(), settle()],
            behind,
        ),
        (
            vec![
                settle(),
                first.clone(),
                other.clone(),
                second.clone(),
                settle(),
            ],
            behind,
        ),
        (vec![settle(), settle(), first.clone(), settle()], needless),
        // As many settlements as openings, and one of them for none.
        (
            vec![
                settle(),
                first.clone(),
                second.clone(),
                settle(),
                other,
                settle(),
            ],
            needless,
        ),
        (
            vec![settle(), first.clone()],
            Err("checks of a tile stay open"),
        ),
    ] {
        let found = checked(None, steps);
        match want {
            Ok(()) => assert_eq!(found, Ok(())),
            Err(want) => {
                let text = found.expect_err(want);
                assert!(text.contains(want), "{text}, not: {want}");
            }
        }
    }
    let rows = plan.segments[0].rows;
    let text = checked(rows, vec![settle(), first.clone(), settle()]);
    let text = text.expect_err("an opening in each tile");
    assert!(text.contains("in a walk over rows"), "{text}");
}

fn step(op: StepOp) -> Step {
    Step {
        op,
        label: "added".to_string(),
        span: None,
    }
}

#[test]
fn domains_results_and_tapes_are_checked() {
    let text = after(|plan| {
        let input = plan.values[0].domain;
        let values = plan.values.iter_mut();
        values.for_each(|value| value.domain = input);
    });
    assert!(text.contains("domain"), "{text}");
    let text = after(|plan| plan.results[0].fixed.push(2));
    assert!(text.contains("another shape"), "{text}");
    let text = after(|plan| plan.results[0].value = PlanValue(99));
    assert!(text.contains("does not exist"), "{text}");
    let text = after(|plan| Arc::make_mut(&mut plan.tapes[0]).outputs[0] = u32::MAX);
    assert!(text.starts_with("tape 0"), "{text}");
    // The program decides who learns a result; that is no rule of plans.
    let mut plan = sample();
    plan.results[0].to = PartySet::of([]);
    assert_eq!(check::<Honest>(&plan), Ok(()));
}
