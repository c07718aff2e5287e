//! Shape of plans: fused bodies, stored values, walks over the rows, numbers of gates, and
//! refusals.

use crate::common::Sketch;
use sealane_plan::steps::{Plan, PlanValue, Step, StepOp};
use sealane_plan::{JobPart, JobParts, JobText, NetworkClass, StepKind, plan, plan_in_tiles};
use sealane_program::builder::Index;
use sealane_program::graph::{Binary, Program, Reduction};
use sealane_program::types::{Shape, Type};
use sealane_testkit::fake::Honest;

fn planned(program: &Program) -> Plan {
    plan::<Honest>(program, 0, NetworkClass::LAN).unwrap_or_else(|error| panic!("{error}"))
}

fn job(program: &Program, parties: &[String], plan: &Plan, network: NetworkClass) -> JobParts {
    JobText::new::<Honest>(program, parties, network, plan, vec![]).parts()
}

fn steps(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.segments.iter().flat_map(|segment| &segment.steps)
}

fn count(plan: &Plan, kind: StepKind) -> usize {
    steps(plan).filter(|step| step.op.kind() == kind).count()
}

/// AND gates of the only tape of element-wise steps.
fn ands(plan: &Plan) -> usize {
    let tapes = steps(plan).filter_map(|step| match &step.op {
        StepOp::Tape { tape, .. } => Some(*tape),
        _ => None,
    });
    let tapes = tapes.collect::<Vec<_>>();
    assert_eq!(tapes.len(), 1, "{}", plan.text());
    plan.tapes[tapes[0].0 as usize].ands.len()
}

#[test]
fn neighbouring_operations_are_one_tape() {
    let mut s = Sketch::new(1000);
    let [x, y] = s.columns(Type::unsigned(8));
    let wide = Type::unsigned(20);
    let [x, y] = [x, y].map(|of| s.cast(of, wide));
    let product = s.binary(Binary::Mul, x, y);
    let sum = s.binary(Binary::Add, product, x);
    let flag = s.binary(Binary::Gt, sum, 1000);
    s.reveal("flag", flag, &[0]);
    s.reveal("sum", sum, &[1]);
    let plan = planned(&s.finish());
    assert_eq!((count(&plan, StepKind::Tape), plan.tapes.len()), (1, 1));
    // The sum leaves the body as a second output; the product is never stored.
    let outs = steps(&plan).find_map(|step| match &step.op {
        StepOp::Tape { outs, .. } => Some(outs.len()),
        _ => None,
    });
    assert_eq!(outs, Some(2));
    // 8 x 8 bits, a sum of 17, a comparison with a constant: widths are those of the ranges.
    assert!(ands(&plan) <= 2 * 64 + 17 + 17, "{}", ands(&plan));
}

#[test]
fn comparisons_that_ranges_decide_take_no_gate() {
    let mut s = Sketch::new(10);
    let x = s.column("x", 0, Type::unsigned(8));
    let flag = s.binary(Binary::Lt, x, 256);
    s.reveal("flag", flag, &[0]);
    assert_eq!(ands(&planned(&s.finish())), 0);
}

#[test]
fn known_operations_take_known_numbers_of_gates() {
    let of = |op: Binary, ty: Type, y_is: Option<i128>| {
        let mut s = Sketch::new(10);
        let x = s.column("x", 0, ty);
        let result = match y_is {
            Some(number) => s.binary(op, x, number),
            None => {
                let y = s.column("y", 1, ty);
                s.binary(op, x, y)
            }
        };
        s.reveal("result", result, &[0]);
        ands(&planned(&s.finish()))
    };
    let word = Type::unsigned(32).wrapping();
    assert_eq!(of(Binary::Add, word, None), 31);
    assert_eq!(of(Binary::Xor, word, None), 0);
    assert_eq!(of(Binary::And, word, None), 32);
    assert_eq!(of(Binary::Eq, word, None), 31);
    assert_eq!(of(Binary::Lt, word, None), 32);
    assert_eq!(of(Binary::Max, word, None), 64);
    assert_eq!(of(Binary::Shr, word, Some(5)), 0);
    // The school-book method for the low half: n (n + 1) / 2 products and as many sums.
    assert!(of(Binary::Mul, Type::unsigned(16).wrapping(), None) <= 16 * 16);
    // A product by a power of two is a shift.
    assert_eq!(of(Binary::Mul, word, Some(64)), 0);
    assert!(of(Binary::Mul, word, Some(10)) <= 32);
}

#[test]
fn slices_and_broadcasts_are_strides() {
    let mut s = Sketch::new(100);
    let x = s.input("x", 0, Type::unsigned(8), s.by_rows(&[4]));
    let w = s.input("w", 1, Type::unsigned(8), Shape::fixed([4]));
    let parts = [0, 2].map(|at| s.index(x, &[Index::Ellipsis, Index::At(at)]));
    let first = s.binary(Binary::Xor, parts[0], parts[1]);
    let second = s.binary(Binary::Xor, x, w);
    s.reveal("first", first, &[0]);
    s.reveal("second", second, &[0]);
    let plan = planned(&s.finish());
    let counts = (count(&plan, StepKind::Local), count(&plan, StepKind::Tape));
    assert_eq!(counts, (0, 2));
}

#[test]
fn a_large_tensor_has_a_small_plan() {
    let mut s = Sketch::new(10);
    let ty = Type::unsigned(8).wrapping();
    // Every table needs an input that tells its rows; this one is dropped.
    s.column("rows", 0, ty);
    let x = s.input("x", 0, ty, Shape::fixed([1000, 1000]));
    let y = s.input("y", 1, ty, Shape::fixed([1000, 1000]));
    let sum = s.binary(Binary::Add, x, y);
    let total = s.reduce(Reduction::Sum, sum, Some(0));
    s.reveal("total", total, &[0, 1]);
    let plan = planned(&s.finish());
    assert_eq!((ands(&plan), count(&plan, StepKind::Input)), (7, 2));
    // Ten levels of a wrapping sum are one tape; the tape of the earlier sum adds the same, but its
    // operands are known to their owners.
    assert_eq!(plan.tapes.len(), 2, "{}", plan.text());
}

#[test]
fn widths_grow_with_the_levels_of_a_fold() {
    let mut s = Sketch::new(10);
    let x = s.input("x", 0, Type::unsigned(8), s.by_rows(&[30]));
    let total = s.reduce_to(Reduction::Sum, x, Some(1), Type::unsigned(16));
    s.reveal("total", total, &[0]);
    let plan = planned(&s.finish());
    let bits = steps(&plan).find_map(|step| match &step.op {
        StepOp::Fold(fold) => Some(fold.bits.clone()),
        _ => None,
    });
    // 30 x 255 = 7650 fits in 13 bits.
    assert_eq!(bits, Some(vec![8, 9, 10, 11, 12, 13]));
}

#[test]
fn a_second_walk_keeps_what_it_needs() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::unsigned(8));
    let late = s.column("late", 1, Type::unsigned(8));
    let total = s.reduce_to(Reduction::Sum, x, None, Type::signed(32));
    let wide = s.cast(x, Type::signed(32));
    let centred = s.binary(Binary::Sub, wide, total);
    let wide = s.cast(late, Type::signed(32));
    let result = s.binary(Binary::Max, centred, wide);
    s.reveal("result", result, &[0]);
    let plan = planned(&s.finish());
    let walks = plan.segments.iter().map(|segment| segment.rows.is_some());
    let walks: Vec<_> = walks.collect();
    // The fake protocol converts inputs; the result of the fold needs no conversion.
    assert_eq!(walks, [true, true], "{}", plan.text());
    let kept = |value: PlanValue| plan[value].kept;
    let made_in = |segment: usize, kind: StepKind| {
        let steps = plan.segments[segment].steps.iter();
        let made = steps.filter(move |s| s.op.kind() == kind);
        made.flat_map(|s| s.op.writes()).collect::<Vec<_>>()
    };
    // The converted x is walked again; the other input waits for the walk that needs it.
    let converted = made_in(0, StepKind::Convert);
    assert_eq!(converted.iter().filter(|v| kept(**v)).count(), 1);
    assert_eq!(made_in(0, StepKind::Input).len(), 1);
    assert_eq!(made_in(1, StepKind::Input).len(), 1);
    assert!(made_in(1, StepKind::Convert).iter().all(|v| !kept(*v)));
}

#[test]
fn constants_fold_before_anything_is_shared() {
    let mut s = Sketch::new(100);
    let x = s.input("x", 0, Type::unsigned(8), s.by_rows(&[3]));
    let table = s.constant(Type::unsigned(8), &[3, 5, 7]);
    let doubled = s.binary(Binary::Mul, table, 2);
    let total = s.reduce_to(Reduction::Sum, doubled, None, Type::unsigned(8));
    let x = s.cast(x, Type::unsigned(20));
    let wide = s.cast(doubled, Type::unsigned(20));
    let product = s.binary(Binary::Mul, x, wide);
    s.reveal("product", product, &[0]);
    s.reveal("total", total, &[0]);
    let plan = planned(&s.finish());
    let constants = steps(&plan).filter_map(|step| match &step.op {
        StepOp::Constant { data, .. } => Some(data.numbers().collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(constants.collect::<Vec<_>>(), [vec![6, 10, 14], vec![30]]);
    assert_eq!(count(&plan, StepKind::Fold), 0);
}

#[test]
fn plans_are_deterministic_and_hashes_tell_plans_apart() {
    let program = |factor: i128| {
        let mut s = Sketch::new(1000);
        let x = s.input("x", 0, Type::signed(16), s.by_rows(&[7]));
        let w = s.input("w", 1, Type::signed(16), Shape::fixed([7]));
        let score = s.dot(x, w, Type::signed(48));
        let scaled = s.binary(Binary::Mul, score, factor);
        s.reveal("scaled", scaled, &[0]);
        s.finish()
    };
    let [one, again, other] = [3, 3, 5].map(|factor| planned(&program(factor)));
    assert_eq!((one.text(), one.hash()), (again.text(), again.hash()));
    assert_ne!(one.hash(), other.hash());
    let parts = |factor| {
        let program = program(factor);
        let plan = planned(&program);
        job(&program, &program.parties, &plan, NetworkClass::LAN)
    };
    assert_eq!(parts(3).hash(), parts(3).hash());
    let differ = parts(3).differences(&parts(5));
    assert_eq!(differ, [JobPart::Program, JobPart::Plan]);
    let parties = program(3).parties;
    let wan = job(&program(3), &parties, &one, NetworkClass::WAN);
    assert_eq!(parts(3).differences(&wan), [JobPart::Network]);
    assert_ne!(parts(3).hash(), wan.hash());
    let declared = |text: &str| job(&program(3), &parties, &one, text.parse().unwrap());
    assert_eq!(declared("0.5ms/1Gbps"), parts(3));
    assert_eq!(declared("22ms/100Mbps"), declared("18ms/95Mbps"));
    for text in ["20ms/100Mbps", "0.5ms/2Gbps", "0.6ms/1Gbps"] {
        let differences = parts(3).differences(&declared(text));
        assert_eq!(differences, [JobPart::Network], "{text}");
    }
}

#[test]
fn helpers_and_their_order_are_part_of_a_job() {
    let mut s = Sketch::new(100);
    let x = s.column("x", 0, Type::unsigned(8));
    s.reveal("x", x, &[0]);
    let program = s.finish();
    let parts = |helpers: &[&str]| {
        let plan = plan::<Honest>(&program, helpers.len(), NetworkClass::LAN).expect("a plan");
        assert_eq!(plan.setting.parties, program.parties.len() + helpers.len());
        let helpers = helpers.iter().map(|name| name.to_string());
        let parties: Vec<_> = program.parties.iter().cloned().chain(helpers).collect();
        job(&program, &parties, &plan, NetworkClass::LAN)
    };
    let (none, two, turned) = (parts(&[]), parts(&["ada", "cyd"]), parts(&["cyd", "ada"]));
    assert_eq!(two.differences(&turned), [JobPart::Protocol]);
    assert_eq!(two.differences(&none), [JobPart::Protocol, JobPart::Plan]);
    assert_eq!(parts(&["ada", "cyd"]).hash(), two.hash());
}

#[test]
fn tiles_depend_on_the_width_of_rows() {
    let tile = |columns: u64| {
        let mut s = Sketch::new(10_000_000);
        let x = s.input("x", 0, Type::unsigned(8), s.by_rows(&[columns]));
        let flag = s.binary(Binary::Gt, x, 17);
        s.reveal("flag", flag, &[0]);
        planned(&s.finish()).rows[0].tile
    };
    // 8 + 1 bits an element, a byte a bit, 16 MiB a tile: 1,864,135 elements.
    assert_eq!((tile(1), tile(64), tile(100_000)), (65536, 16384, 64));
}

#[test]
fn a_plan_stays_as_small_for_any_tile() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::unsigned(8));
    let total = s.reduce_to(Reduction::Sum, x, None, Type::unsigned(32));
    s.reveal("total", total, &[0]);
    let plan = plan_in_tiles::<Honest>(&s.finish(), 0, NetworkClass::LAN, 4).unwrap();
    let carry = steps(&plan).find_map(|step| match &step.op {
        StepOp::Fold(fold) => Some((fold.levels.len(), fold.carry.is_some())),
        _ => None,
    });
    assert_eq!(carry, Some((2, true)));
}

#[test]
fn a_body_without_measure_is_refused_with_a_hint() {
    let mut s = Sketch::new(100);
    let x = s.input("x", 0, Type::U8, s.by_rows(&[60_000]));
    let hash = s.call("sha256", &[x]);
    s.reveal("hash", hash, &[0]);
    let error = plan::<Honest>(&s.finish(), 0, NetworkClass::LAN).err();
    let error = error.expect("a refusal");
    assert_eq!(error.code, "circuit-too-large");
    assert!(error.hint.contains("scan"), "{}", error.hint);
}

#[test]
fn rows_seen_whole_are_refused_with_a_hint() {
    let mut s = Sketch::new(100);
    let x = s.column("x", 0, Type::unsigned(8));
    let y = s.column("y", 0, Type::unsigned(8));
    let odd = s.map(x, |s, element| {
        let equal = s.binary(Binary::Eq, y, element);
        let sofar = s.accumulate(Reduction::Any, equal);
        s.reduce(Reduction::All, sofar, None)
    });
    s.reveal("odd", odd, &[0]);
    let error = plan::<Honest>(&s.finish(), 0, NetworkClass::LAN).err();
    let error = error.expect("a refusal");
    assert_eq!(error.code, "whole-rows");
}
