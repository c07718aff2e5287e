//! Tests of each step.

use super::ViewTest;
use super::dealer::InjectedFault::{Differ, Misrouted};
use super::model::{Model, Shared};
use crate::{Gmw, Share};
use sealane_circuit::{Builder, Goal, Machine, Tape, Wire, compile};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Form, Opened, Outcome, Selected, Step};
use sealane_protocol::{Algebra, Domain, Numbers, Protocol, RingOp, View};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

fn domain(k: Option<u8>) -> Domain {
    Gmw::domain(k.map_or(Algebra::Z2, Algebra::Z2k))
}

/// A party's part of a tensor.
fn part(of: &Shared, at: usize) -> Arc<Share> {
    Arc::clone(&of.parts[at])
}

/// The value modulo `2^k`.
fn low(value: u64, k: u8) -> u64 {
    value & u64::MAX >> (64 - k)
}

fn ring(model: &mut Model, k: u8) -> Shared {
    model.shared(Form::ring(k.into(), 1, 1))
}

fn bits(model: &mut Model, planes: usize) -> Shared {
    model.shared(Form::bits(planes, 1))
}

fn element(k: u8) -> Form {
    Form::ring(k.into(), 1, 1)
}

fn tape(model: &mut Model, tape: &'static Tape, operand: &Shared, want: u64) {
    model.made(Form::bits(tape.outputs.len(), 1), &[want], |at| {
        Step::Tape {
            tape,
            domain: domain(None),
            lanes: 1,
            operands: vec![part(operand, at)],
        }
    });
}

/// A tape for rounds, built once.
fn built(
    tape: &'static OnceLock<Tape>,
    inputs: usize,
    build: fn(&mut Builder, &[Wire]) -> Vec<Wire>,
) -> &'static Tape {
    tape.get_or_init(|| {
        let mut b = Builder::for_goal(Goal::Depth);
        let inputs = b.input(inputs);
        let output = build(&mut b, &inputs);
        compile(&b.finish(vec![output]), &Machine::ROUNDS)
    })
}

/// Two ANDs, one after the other.
fn two_ands(model: &mut Model) {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let both = built(&TAPE, 2, |b, x| {
        let first = b.and(x[0], x[1]);
        let second = b.xor(first, x[0]);
        vec![first, b.and(second, !x[1])]
    });
    let x = bits(model, 2);
    let (x0, x1) = (x.value[0] & 1, x.value[0] >> 1);
    tape(model, both, &x, x0 & x1 | ((x0 & x1 ^ x0) & (x1 ^ 1)) << 1);
}

/// Two ANDs with a common operand, whose mask serves both, and two more of such.
fn wide_ands(model: &mut Model) {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let both = built(&TAPE, 4, |b, x| {
        let ands = [(0, 1), (0, 2), (3, 1), (3, 2)];
        ands.map(|(i, j)| b.and(x[i], x[j])).to_vec()
    });
    let x = bits(model, 4);
    let bit = |at: u64| x.value[0] >> at & 1;
    let want = bit(0) & bit(1) | (bit(0) & bit(2)) << 1 | (bit(3) & bit(1)) << 2;
    tape(model, both, &x, want | (bit(3) & bit(2)) << 3);
}

#[test]
fn ands_show_nothing() {
    ViewTest::new(two_ands).check();
    ViewTest::new(wide_ands).check();
}

fn product(model: &mut Model, k: u8, numbers: [Numbers; 2], [x, y]: [&Shared; 2]) -> Shared {
    let want = low(x.value[0].wrapping_mul(y.value[0]), k);
    let select = |of, numbers| Selected {
        numbers,
        ..Selected::whole(of)
    };
    model.made(element(k), &[want], |at| Step::Product {
        domain: domain(Some(k)),
        left: select(part(x, at), numbers[0]),
        right: select(part(y, at), numbers[1]),
    })
}

/// A product of which nobody knows anything: of single elements, a matrix.
fn products<const K: u8>(model: &mut Model) {
    let [x, y] = [(); 2].map(|()| ring(model, K));
    let once = product(model, K, [Numbers::ANY; 2], [&x, &y]);
    product(model, K, [Numbers::ANY; 2], [&once, &y]);
}

/// Two pairs.
fn pairs<const K: u8>(model: &mut Model) {
    let form = Form::ring(K.into(), 1, 2);
    let [x, y] = [(); 2].map(|()| model.shared(form));
    let want = [0, 1].map(|at| low(x.value[at] * y.value[at], K));
    model.made(form, &want, |at| Step::Product {
        domain: domain(Some(K)),
        left: Selected::whole(part(&x, at)),
        right: Selected::whole(part(&y, at)),
    });
}

/// A column by a row.
fn outer_product(model: &mut Model) {
    let form = Form::ring(1, 1, 2);
    let [x, y] = [(); 2].map(|()| model.shared(form));
    let want = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| x.value[i] & y.value[j]);
    let lanes = |of, steps: [isize; 2]| Selected {
        lanes: View::new(0, vec![(2, steps[0]), (2, steps[1])]),
        ..Selected::whole(of)
    };
    model.made(Form::ring(1, 1, 4), &want, |at| Step::Product {
        domain: domain(Some(1)),
        left: lanes(part(&x, at), [1, 0]),
        right: lanes(part(&y, at), [0, 1]),
    });
}

#[test]
fn products_show_nothing() {
    ViewTest::new(products::<1>).check();
    ViewTest::new(products::<2>).check();
    ViewTest::new(pairs::<1>).check();
    ViewTest::new(outer_product).check();
}

/// A number of some bits that the party of a role knows by two elements, one after the other.
fn known_product<const ROLE: usize, const BITS: u8, const SIGNED: bool>(model: &mut Model) {
    const K: u8 = 2;
    let owner = model.player(ROLE);
    let number = model.private(owner, BITS.into(), 1)[0];
    let negative = SIGNED && number >> (BITS - 1) == 1;
    let given = low(
        if negative {
            number.wrapping_sub(1 << BITS)
        } else {
            number
        },
        K,
    );
    let x = input(model, owner, K, given);
    let numbers = Numbers {
        known_to: Some(PartyId::from_index(owner)),
        bits: BITS.into(),
        signed: SIGNED,
    };
    let y = ring(model, K);
    let once = product(model, K, [numbers, Numbers::ANY], [&x, &y]);
    product(model, K, [Numbers::ANY, numbers], [&once, &x]);
}

#[test]
fn products_by_numbers_that_a_party_knows_show_nothing() {
    ViewTest::new(known_product::<0, 1, false>).check();
    ViewTest::new(known_product::<1, 1, true>).check();
    ViewTest::new(known_product::<0, 2, true>).check();
    ViewTest::new(known_product::<1, 2, false>).check();
}

fn op(model: &mut Model, op: RingOp, (k, bits, signed): (u8, usize, bool), of: &Shared, want: u64) {
    let form = match op {
        RingOp::Extract { count, .. } => Form::bits(count.into(), 1),
        _ => element(k),
    };
    model.made(form, &[want], |at| Step::Ring {
        op,
        domain: domain(Some(k)),
        bits,
        signed,
        bit: None,
        share: part(of, at),
    });
}

/// Two choices by one bit.
fn choices(model: &mut Model) {
    let bit = bits(model, 1);
    for _ in 0..2 {
        let y = ring(model, 2);
        let want = bit.value[0] * y.value[0];
        model.made(element(2), &[want], |at| Step::Ring {
            op: RingOp::Select,
            domain: domain(Some(2)),
            bits: 2,
            signed: false,
            bit: Some(part(&bit, at)),
            share: part(&y, at),
        });
    }
}

#[test]
fn choices_show_nothing() {
    ViewTest::new(choices).check();
}

/// Bits become elements.
fn weighed(model: &mut Model) {
    let x = bits(model, 2);
    let signed = low(x.value[0].wrapping_sub(x.value[0] >> 1 << 2), 3);
    model.made(element(3), &[signed], |at| Step::Convert {
        from: domain(None),
        to: domain(Some(3)),
        bits: 2,
        signed: true,
        share: part(&x, at),
    });
}

#[test]
fn bits_to_elements_show_nothing() {
    ViewTest::new(weighed).check();
}

/// A bit in two sharings that differ leaks nothing, but makes results wrong.
#[test]
fn bits_of_two_sharings_have_to_agree() {
    for run in [weighed, floor::<2, 1, false>] {
        let mut model = Model::new(0);
        assert_eq!(model.leak(run, None), None);
        assert!(model.right);
        assert_eq!(model.leak(run, Some(Differ)), None);
        assert!(!model.right);
    }
}

fn sign(model: &mut Model) {
    let x = ring(model, 3);
    let sign = RingOp::Extract { first: 2, count: 1 };
    op(model, sign, (3, 3, true), &x, x.value[0] >> 2);
}

fn decomposed(model: &mut Model) {
    let x = ring(model, 3);
    model.made(Form::bits(3, 1), &x.value, |at| Step::Convert {
        from: domain(Some(3)),
        to: domain(None),
        bits: 3,
        signed: false,
        share: part(&x, at),
    });
}

#[test]
fn bits_of_elements_show_nothing() {
    ViewTest::new(sign).check();
    ViewTest::new(decomposed).check();
}

/// Numbers of `K - FREE` bits.
fn floor<const K: u8, const FREE: usize, const SIGNED: bool>(model: &mut Model) {
    let x = ring(model, K);
    let (bits, by) = (usize::from(K) - FREE, 1);
    let held = |bits: usize| {
        let moved = x.value[0] << (64 - bits);
        if SIGNED {
            moved as i64 >> (64 - bits)
        } else {
            (moved >> (64 - bits)) as i64
        }
    };
    let number = held(K.into());
    let (floor, fits) = ((number >> by) as u64, number == held(bits));
    let right = model.right;
    op(
        model,
        RingOp::Floor { by },
        (K, bits, SIGNED),
        &x,
        low(floor, K),
    );
    // A number that is too large has no floor, but shows nothing either.
    model.right |= right && !fits;
}

#[test]
fn floors_show_nothing() {
    ViewTest::new(floor::<2, 0, false>).check();
    ViewTest::new(floor::<2, 1, false>).check();
    ViewTest::new(floor::<3, 1, true>).check();
    ViewTest::new(floor::<2, 0, true>).check();
}

fn input(model: &mut Model, owner: usize, k: u8, value: u64) -> Shared {
    model.made(element(k), &[value], |at| Step::Input {
        owner: PartyId::from_index(owner),
        domain: domain(Some(k)),
        elements: 1,
        bits: k.into(),
        values: (at == owner).then(|| Zeroizing::new(vec![value])),
    })
}

/// Two inputs of a party without a role.
fn inputs_of_guest(model: &mut Model) {
    for value in model.private(2, 2, 2) {
        input(model, 2, 2, value);
    }
}

#[test]
fn inputs_of_outsiders_show_nothing() {
    let test = ViewTest::new(inputs_of_guest);
    ViewTest {
        outsiders: 2,
        // Another party without a role has neither part.
        harmless: &[Misrouted([2, 0, 3])],
        ..test
    }
    .check();
}

/// Opens elements to parties, of which those of `learners` may learn them.
fn open(model: &mut Model, k: u8, of: &Shared, to: &[usize], learners: &[usize]) {
    let to = PartySet::of(to.iter().map(|at| PartyId::from_index(*at)));
    let outcomes = model.step(|at| Step::Open {
        results: vec![Opened {
            share: part(of, at),
            domain: domain(Some(k)),
            to,
        }],
    });
    for (at, outcome) in outcomes.into_iter().enumerate() {
        let Outcome::Opened(values, ()) = outcome else {
            panic!("results were due");
        };
        let learnt = values.into_iter().next().flatten();
        assert_eq!(learnt.is_some(), to.contains(PartyId::from_index(at)));
        if let Some(values) = learnt {
            model.right &= *values == of.value;
            if learners.contains(&at) {
                model.learns(at, &values);
            }
        }
    }
}

/// A product is opened to a role.
fn opened_to_role<const ROLE: usize>(model: &mut Model) {
    let [x, y] = [(); 2].map(|()| ring(model, 1));
    let out = product(model, 1, [Numbers::ANY; 2], [&x, &y]);
    let to = model.player(ROLE);
    open(model, 1, &out, &[to], &[to]);
}

/// An input of each role, so shares that are no random values, and shares of any kind.
fn opened_to_outsiders(model: &mut Model) {
    let of_roles = [0, 1].map(|role| {
        let owner = model.player(role);
        let value = model.private(owner, 2, 1)[0];
        input(model, owner, 2, value)
    });
    let any = ring(model, 1);
    open(model, 2, &of_roles[0], &[2], &[2]);
    open(model, 2, &of_roles[1], &[2, 3], &[2, 3]);
    open(model, 1, &any, &[3, 0], &[3, 0]);
}

#[test]
fn results_show_themselves_alone() {
    ViewTest::new(opened_to_role::<0>).check();
    ViewTest::new(opened_to_role::<1>).check();
    ViewTest {
        outsiders: 2,
        // A share that both roles have changed shows nothing to the other party without a role.
        // Role 1, which is party 0, learns the one result of party 3 that role 0 has a share of.
        harmless: &[
            Misrouted([0, 2, 3]),
            Misrouted([0, 3, 2]),
            Misrouted([1, 2, 3]),
            Misrouted([1, 3, 0]),
            Misrouted([1, 3, 2]),
        ],
        ..ViewTest::new(opened_to_outsiders)
    }
    .check();
}

/// A share goes to a party that must not learn the result.
fn opened_to_another<const WRONG: usize>(model: &mut Model) {
    let x = ring(model, 2);
    open(model, 2, &x, &[1, WRONG], &[1]);
}

#[test]
fn a_result_for_the_wrong_party_is_caught() {
    assert_eq!(Model::new(1).leak(opened_to_another::<0>, None), Some(0));
    assert_eq!(Model::new(1).leak(opened_to_another::<2>, None), Some(2));
}
