//! Plans for a protocol with arithmetic: the values in a ring, the values in bits, and the
//! conversions between them.

use crate::common::Sketch;
use proptest::prelude::*;
use sealane_plan::steps::{Len, LinearFactor, Operand, Plan, PlanValue, Step, StepOp};
use sealane_plan::{NetworkClass, StepKind, cost, cost_in_forms, plan, plan_in_tiles};
use sealane_program::builder::Index;
use sealane_program::graph::{Binary, Program, Reduction};
use sealane_program::types::{Shape, Type};
use sealane_protocol::{
    Algebra, Corruption, Cost, Domain, DomainProfile, Profile, Protocol, Setting, Sharing,
    StepShape, Threshold,
};
use sealane_testkit::random_program::{Case, arithmetic};
use sealane_testkit::reference;
use sealane_trio::{Guarded, Trio};

fn planned(program: &Program) -> Plan {
    plan::<Trio>(program, 1, NetworkClass::LAN).unwrap_or_else(|error| panic!("{error}"))
}

fn steps(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.segments.iter().flat_map(|segment| &segment.steps)
}

fn of(plan: &Plan, kind: StepKind) -> Vec<&StepOp> {
    let ops = steps(plan).map(|step| &step.op);
    ops.filter(|op| op.kind() == kind).collect()
}

fn algebra(plan: &Plan, value: PlanValue) -> Algebra {
    plan[value].domain.algebra
}

/// The algebras in which inputs are shared, by input.
fn shared(plan: &Plan) -> Vec<(u32, Algebra)> {
    let mut shared = Vec::new();
    for op in of(plan, StepKind::Input) {
        if let StepOp::Input { input, out } = op {
            shared.push((*input, algebra(plan, *out)));
        }
    }
    shared.sort_by_key(|(input, algebra)| (*input, *algebra != Algebra::Z2));
    shared
}

/// Bits and algebras before and after of each conversion.
fn converted(plan: &Plan) -> Vec<(u8, Algebra, Algebra)> {
    let conversion = |op: &StepOp| match op {
        StepOp::Convert { value, out } => {
            let bits = plan[value].bits;
            (bits, algebra(plan, *value), algebra(plan, *out))
        }
        _ => unreachable!("a conversion"),
    };
    let steps = of(plan, StepKind::Convert).into_iter();
    steps.map(conversion).collect()
}

fn taken(operand: &Operand) -> u64 {
    operand.inner.count(1)
}

use Algebra::{Fp, Z2, Z2k};

#[test]
fn a_score_is_one_product_and_one_conversion() {
    let mut s = Sketch::new(1_000_000);
    let x = s.input("x", 0, Type::unsigned(16), s.by_rows(&[30]));
    let w = s.input("w", 1, Type::signed(16), Shape::fixed([30]));
    let threshold = s.input("threshold", 1, Type::signed(40), Shape::scalar());
    let score = s.dot(x, w, Type::signed(64));
    let flag = s.binary(Binary::Gt, score, threshold);
    s.reveal("flag", flag, &[0]);
    let plan = planned(&s.finish());
    // 30 products of 16 and 16 bits, signed.
    let ring = Z2k(37);
    let inputs = [(0, ring), (1, ring), (2, Z2)];
    assert_eq!(shared(&plan), inputs, "{}", plan.text());
    assert_eq!(converted(&plan), [(37, ring, Z2)]);
    let [StepOp::Product(product)] = of(&plan, StepKind::Product)[..] else {
        panic!("{}", plan.text())
    };
    assert_eq!((taken(&product.left), taken(&product.right)), (30, 30));
    assert_eq!(product.lanes, [Len::Rows]);
    assert_eq!(of(&plan, StepKind::Tape).len(), 1);
    let all = of(&plan, StepKind::Fold).len() + of(&plan, StepKind::Local).len();
    assert_eq!(all, 0);
}

/// The plans of a program with proofs: with bits alone, and with integers where that is another.
fn proved(program: &Program) -> Vec<Plan> {
    let plan = plan::<Guarded>(program, 1, NetworkClass::LAN);
    let mut plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let others = std::mem::take(&mut plan.others);
    std::iter::once(plan).chain(others).collect()
}

/// A matrix product of inputs modulo the prime: inputs arrive as bits, and each is converted once.
#[test]
fn inputs_become_integers_of_a_prime_after_they_are_bits() {
    let mut s = Sketch::new(9);
    let x = s.input("x", 0, Type::unsigned(16), s.by_rows(&[8]));
    let w = s.input("w", 1, Type::signed(16), Shape::fixed([8, 20]));
    let all = s.dot(x, w, Type::signed(64));
    s.reveal("all", all, &[0]);
    let [bits, integers] = &proved(&s.finish())[..] else {
        panic!("two plans")
    };
    let of_bits = bits.values.iter().all(|value| value.domain.algebra == Z2);
    assert!(of_bits, "{}", bits.text());
    assert_eq!(shared(integers), [(0, Z2), (1, Z2)], "{}", integers.text());
    assert_eq!(converted(integers), [(16, Z2, Fp); 2]);
    let [StepOp::Product(product)] = of(integers, StepKind::Product)[..] else {
        panic!("{}", integers.text())
    };
    assert_eq!((taken(&product.left), taken(&product.right)), (8, 8));
    let result = &integers.results[0];
    assert_eq!(
        (result.value, algebra(integers, result.value)),
        (product.out, Fp)
    );
}

/// A run takes the faster one: integers where each number meets many others.
#[test]
fn many_products_of_each_number_run_modulo_the_prime() {
    let check = |wanted: usize, [bits, inner, columns, rows]: [u64; 4]| {
        let (ty, mut s) = (Type::unsigned(bits as u8), Sketch::new(1 << 20));
        let x = s.input("x", 0, ty, s.by_rows(&[inner]));
        let w = s.input("w", 1, ty, Shape::fixed([inner, columns]));
        let all = s.dot(x, w, Type::unsigned(64));
        s.reveal("all", all, &[0]);
        let plan = plan::<Guarded>(&s.finish(), 1, NetworkClass::LAN);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        let forms = cost_in_forms::<Guarded>(&plan, &[rows]).forms;
        assert!(forms[wanted].chosen, "{bits} {inner} {columns}: {forms:?}");
    };
    check(0, [16, 4, 1, 10_000]);
    check(1, [16, 20, 20, 10_000]);
    check(1, [24, 8, 8, 10_000]);
}

/// Types that wrap, results of more than 60 bits, and sums of what gates make are bits.
#[test]
fn what_a_prime_does_not_hold_is_bits() {
    let product = |ty: Type, to: Type| {
        let mut s = Sketch::new(9);
        let [x, y] = s.columns(ty).map(|of| s.cast(of, to));
        let all = s.binary(Binary::Mul, x, y);
        s.reveal("all", all, &[0]);
        proved(&s.finish()).len()
    };
    let exact = Type::unsigned(64);
    assert_eq!(product(Type::unsigned(30), exact), 2);
    assert_eq!(product(Type::unsigned(31), exact), 1);
    let wraps = Type::unsigned(32).wrapping();
    assert_eq!(product(wraps, wraps), 1);
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::unsigned(16));
    let sum = s.reduce_to(Reduction::Sum, x, None, Type::unsigned(32));
    s.reveal("sum", sum, &[0, 1]);
    assert_eq!(proved(&s.finish()).len(), 1);
}

#[test]
fn flags_are_counted_after_a_conversion_of_single_bits() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::unsigned(16));
    let flags = s.binary(Binary::Gt, x, 300);
    let count = s.reduce_to(Reduction::Sum, flags, None, Type::unsigned(32));
    s.reveal("count", count, &[0, 1]);
    let plan = planned(&s.finish());
    assert_eq!(converted(&plan), [(1, Z2, Z2k(10))], "{}", plan.text());
    let [StepOp::Linear(sum)] = of(&plan, StepKind::Local)[..] else {
        panic!("{}", plan.text())
    };
    let shape = (sum.terms.len(), sum.lanes.len(), sum.carried);
    assert_eq!(shape, (1, 0, true));
    assert_eq!(sum.terms[0].operand.inner.dims, [(Len::Rows, 1)]);
    // It is revealed as it is.
    let found = (plan.results[0].value, algebra(&plan, sum.out));
    assert_eq!(found, (sum.out, Z2k(10)));
}

#[test]
fn a_mean_is_a_sum_without_messages_and_one_division() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::unsigned(16));
    let n = s.input("count", 1, Type::unsigned(10), Shape::scalar());
    let n = s.binary(Binary::Max, n, 1);
    let total = s.reduce_to(Reduction::Sum, x, None, Type::unsigned(32));
    let mean = s.binary(Binary::FloorDiv, total, n);
    s.reveal("mean", mean, &[0]);
    let plan = planned(&s.finish());
    // Of all rows, one number is converted to bits: 1000 times 16 bits.
    assert_eq!(converted(&plan), [(26, Z2k(26), Z2)], "{}", plan.text());
    assert_eq!(shared(&plan), [(0, Z2k(26)), (1, Z2)]);
    let converts = |step: &Step| step.op.kind() == StepKind::Convert;
    let mut at = plan.segments.iter();
    let at = at.position(|s| s.steps.iter().any(converts));
    assert_eq!((at, plan.segments.len()), (Some(2), 3));
}

#[test]
fn inputs_and_their_sums_are_had_in_both_worlds() {
    let program = || {
        let mut s = Sketch::new(1000);
        let [x, y] = s.columns(Type::signed(16));
        let [x, y] = [x, y].map(|of| s.cast(of, Type::signed(40)));
        let difference = s.binary(Binary::Sub, x, y);
        let square = s.binary(Binary::Mul, difference, difference);
        let flag = s.binary(Binary::Gt, difference, 100);
        s.reveal("square", square, &[0]);
        s.reveal("flag", flag, &[1]);
        s.finish()
    };
    let plan = planned(&program());
    let ring = Z2k(32);
    let both = [(0, Z2), (0, ring), (1, Z2), (1, ring)];
    assert_eq!(shared(&plan), both, "{}", plan.text());
    assert_eq!(converted(&plan), [], "{}", plan.text());

    // A cheater could share two numbers that are not the same.
    let plan = self::plan::<Watchful>(&program(), 1, NetworkClass::LAN).unwrap();
    assert_eq!(shared(&plan), [(0, Z2), (1, Z2)]);
    let ways = converted(&plan).into_iter().map(|(_, from, to)| (from, to));
    let mut ways = ways.collect::<Vec<_>>();
    ways.sort_by_key(|(_, to)| *to != Z2);
    // From the domain of inputs, and then into the ring.
    let wanted = [(Z2, Z2), (Z2, Z2), (Z2, ring), (Z2, ring)];
    assert_eq!(ways, wanted, "{}", plan.text());
}

#[test]
fn what_is_computed_in_one_world_is_converted_once_for_the_other() {
    let mut s = Sketch::new(1000);
    let [x, y] = s.columns(Type::unsigned(8));
    let [x, y] = [x, y].map(|of| s.cast(of, Type::unsigned(32)));
    let product = s.binary(Binary::Mul, x, y);
    let low = s.binary(Binary::Min, product, x);
    let high = s.binary(Binary::Max, product, y);
    let more = s.binary(Binary::Add, product, 1);
    let squares = [low, high].map(|of| s.binary(Binary::Mul, of, more));
    let sum = s.binary(Binary::Add, squares[0], squares[1]);
    s.reveal("sum", sum, &[0]);
    let plan = planned(&s.finish());
    let ring = Z2k(32);
    let want = [(16, ring, Z2), (8, Z2, ring), (16, Z2, ring)];
    let mut ways = converted(&plan);
    ways.sort_by_key(|(bits, from, _)| (*from == Z2, *bits));
    assert_eq!(ways, want, "{}", plan.text());
}

#[test]
fn public_tables_multiply_without_messages() {
    let mut s = Sketch::new(1000);
    let ty = Type::signed(32);
    let x = s.input("x", 0, Type::signed(8), s.by_rows(&[3]));
    let x = s.cast(x, ty);
    let weights = s.constant(ty, &[1, -2, 3]);
    let weighted = s.binary(Binary::Mul, x, weights);
    let score = s.dot(weighted, weights, ty);
    let first = s.index(weighted, &[Index::Ellipsis, Index::At(0)]);
    let sum = s.binary(Binary::Sub, score, first);
    s.reveal("sum", sum, &[0]);
    let plan = planned(&s.finish());
    let talks = steps(&plan).filter(|step| step.op.kind() != StepKind::Local);
    let kinds = talks.map(|step| step.op.kind()).collect::<Vec<_>>();
    assert_eq!(kinds, [StepKind::Input], "{}", plan.text());
    let tables = steps(&plan).filter_map(|step| match &step.op {
        StepOp::Linear(sum) => Some(&sum.terms),
        _ => None,
    });
    let tables = tables
        .flatten()
        .filter(|t| matches!(t.factor, LinearFactor::Table { .. }));
    assert_eq!(tables.count(), 2);
    // The weights are in the tables, and nowhere else.
    assert!(steps(&plan).all(|step| !matches!(step.op, StepOp::Constant { .. })));
    let report = cost::<Trio>(&plan, &[1000]);
    assert_eq!(report.promise.ands, 0);
}

#[test]
fn what_comes_from_gates_and_goes_to_gates_stays_there() {
    let mut s = Sketch::new(1000);
    let [x, y] = s.columns(Type::unsigned(8));
    let [low, high] = [Binary::Min, Binary::Max].map(|op| s.binary(op, x, y));
    let [low, high] = [low, high].map(|of| s.cast(of, Type::unsigned(32)));
    let small = s.binary(Binary::Mul, low, high);
    let flag = s.binary(Binary::Gt, small, 1000);
    s.reveal("flag", flag, &[0]);
    let plan = planned(&s.finish());
    assert_eq!(converted(&plan), [], "{}", plan.text());
    assert_eq!(plan.tapes.len(), 1, "{}", plan.text());
}

#[test]
fn a_masked_sum_converts_flags_and_not_numbers() {
    for by_product in [true, false] {
        let mut s = Sketch::new(1000);
        let ty = Type::unsigned(16);
        let [x, y] = s.columns(ty);
        let flag = s.binary(Binary::Gt, x, y);
        let masked = if by_product {
            let flag = s.cast(flag, ty);
            s.binary(Binary::Mul, flag, x)
        } else {
            s.select(flag, x, 0)
        };
        let total = s.reduce_to(Reduction::Sum, masked, None, Type::unsigned(32));
        s.reveal("total", total, &[0]);
        let plan = planned(&s.finish());
        assert_eq!(converted(&plan), [(1, Z2, Z2k(26))], "{}", plan.text());
        assert_eq!(of(&plan, StepKind::Product).len(), 1);
    }
}

#[test]
fn a_type_that_wraps_has_a_ring_of_its_own() {
    let mut s = Sketch::new(1000);
    let byte = Type::U8.wrapping();
    let [x, y] = s.columns(byte);
    let product = s.binary(Binary::Mul, x, y);
    // The number, below 256, in a wider ring: bits above the byte must not come back.
    let wide = s.cast(product, Type::unsigned(32));
    let total = s.reduce(Reduction::Sum, wide, None);
    s.reveal("total", total, &[0]);
    let plan = planned(&s.finish());
    assert_eq!(shared(&plan), [(0, Z2k(8)), (1, Z2k(8))]);
    let want = [(8, Z2k(8), Z2), (8, Z2, Z2k(18))];
    assert_eq!(converted(&plan), want, "{}", plan.text());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Equality of ring and bits: both match the reference, in tiles of any size, with any
    /// corruption.
    #[test]
    fn arithmetic_means_what_the_reference_computes(case in arithmetic(), most_rows in 1u64..4) {
        let Case { program, inputs } = &case;
        let rows = reference::rows(program, inputs).expect("inputs of the case");
        let want = reference::evaluate(program, inputs).expect("inputs of the case");
        let plans = [
            plan_in_tiles::<Trio>(program, 1, NetworkClass::LAN, most_rows),
            plan_in_tiles::<Watchful>(program, 1, NetworkClass::LAN, most_rows),
        ];
        for plan in plans {
            let plan = plan.map_err(|error| TestCaseError::fail(format!("{error} {program:?}")))?;
            prop_assert!(cost::<Trio>(&plan, &rows).promise.rounds > 0);
            let got = crate::common::run(&plan, program, inputs, &rows);
            for (name, want) in &want {
                let same = got[name].elements == want.elements;
                prop_assert!(same, "{name}: {program:?} {}", plan.text());
            }
        }
    }
}

/// A protocol with costs only: like `trio`, but against malicious parties, and with inputs in
/// another domain.
struct Watchful;

impl Protocol for Watchful {
    fn profile() -> Profile {
        Profile {
            name: "watchful",
            corruption: Corruption::Malicious(Threshold::Exactly(1)),
            ..Trio::profile()
        }
    }

    fn domain(algebra: Algebra) -> Domain {
        Trio::domain(algebra)
    }

    fn input_domain(algebra: Algebra) -> Domain {
        Domain {
            sharing: Sharing::Masked,
            ..Trio::domain(algebra)
        }
    }

    fn domain_profile(domain: Domain, parties: usize) -> DomainProfile {
        Trio::domain_profile(domain, parties)
    }

    fn cost(_: &Setting, _: &StepShape) -> Cost {
        Cost::default()
    }
}
