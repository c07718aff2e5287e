//! Tests of bits and integers: products, conversions, lookups, inputs, reveals.

use super::leak::{Choices, leak};
use super::model::{Model, Shared, TestedSteps};
use super::{RING, ViewTest, domain, part};
use crate::ideal::InjectedFault::{Misrouted, Zero};
use crate::tape::under_masks;
use sealane_circuit::function::{Field, Function};
use sealane_circuit::{Builder, Goal, Lookups, Machine, Tape, Wire, compile};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Form, Opened, Outcome, Planes, Selected, Shares, Step};
use std::sync::OnceLock;
use zeroize::Zeroizing;

pub(super) fn tape(model: &mut Model, tape: &'static Tape, operands: &[&Shared]) -> Shared {
    let lanes = operands[0].parts[0].elements();
    model.made(Form::bits(tape.outputs.len(), lanes), |at| Step::Tape {
        tape,
        domain: domain(None),
        lanes,
        operands: operands.iter().map(|of| part(of, at)).collect(),
    })
}

fn product(model: &mut Model, k: u8, left: &Shared, right: &Shared) -> Shared {
    let lanes = left.parts[0].elements();
    model.made(Form::ring(k.into(), 1, lanes), |at| Step::Product {
        domain: domain(Some(k)),
        left: Selected::whole(part(left, at)),
        right: Selected::whole(part(right, at)),
    })
}

/// A conversion of bits, or of integers, of so many bits.
fn convert(
    model: &mut Model,
    [from, to]: [Option<u8>; 2],
    bits: usize,
    signed: bool,
    of: &Shared,
) -> Shared {
    let elements = of.parts[0].elements();
    let form = match to {
        Some(k) => Form::ring(k.into(), 1, elements),
        None => Form::bits(bits, elements),
    };
    model.made(form, |at| Step::Convert {
        from: domain(from),
        to: domain(to),
        bits,
        signed,
        share: part(of, at),
    })
}

/// An input of integers.
fn input(model: &mut Model, owner: usize, k: u8, values: &[u64]) -> Shared {
    model.made(Form::ring(k.into(), 1, values.len()), |at| Step::Input {
        owner: PartyId::from_index(owner),
        domain: domain(Some(k)),
        elements: values.len(),
        bits: k.into(),
        values: (at == owner).then(|| Zeroizing::new(values.to_vec())),
    })
}

/// Opens integers to parties, of which those of `learners` may learn them.
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
            assert_eq!(*values, of.value);
            if learners.contains(&at) {
                model.learns(at, &values);
            }
        }
    }
}

/// A tape for rounds, built once.
fn built(tape: &'static OnceLock<Tape>, build: fn(&mut Builder) -> Vec<Wire>) -> &'static Tape {
    built_for(tape, Lookups::Gates, build)
}

/// The same, with lookups in a form.
pub(super) fn built_for(
    tape: &'static OnceLock<Tape>,
    lookups: Lookups,
    build: fn(&mut Builder) -> Vec<Wire>,
) -> &'static Tape {
    tape.get_or_init(|| {
        let mut b = Builder::for_goal(Goal::Depth).with_lookups(lookups);
        let output = build(&mut b);
        compile(&b.finish(vec![output]), &Machine::ROUNDS)
    })
}

/// Two ANDs, one after the other, with XORs between.
fn bits(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let both = built(&TAPE, |b| {
        let (x, y) = (b.input(1)[0], b.input(1)[0]);
        let first = b.and(x, y);
        let second = b.xor(first, x);
        vec![first, b.and(second, !y)]
    });
    let [x, y] = [(); 2].map(|()| model.shared(Form::bits(1, 1)));
    let out = tape(model, both, &[&x, &y]);
    let (x, y) = (x.value[0], y.value[0]);
    assert_eq!(out.value, [x & y, (x & y ^ x) & (y ^ 1)]);
    vec![out]
}

#[test]
fn products_of_bits_show_nothing() {
    ViewTest::new(bits, Choices::Every).check();
}

/// An inner product of two terms.
fn inner_product(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [(); 2].map(|()| model.shared(Form::ring(1, 2, 2)));
    let out = product(model, 1, &x, &y);
    let term = |lane: usize| x.value[lane] * y.value[lane] + x.value[2 + lane] * y.value[2 + lane];
    assert_eq!(out.value, [0, 1].map(|lane| term(lane) % 2));
    vec![out]
}

#[test]
fn inner_products_show_nothing() {
    ViewTest::new(inner_product, Choices::Unknown(2)).check();
}

/// A product of integers, and the product of that.
fn products(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [(); 2].map(|()| model.shared(Form::ring(2, 1, 1)));
    let once = product(model, 2, &x, &y);
    let twice = product(model, 2, &once, &y);
    assert_eq!(once.value, [x.value[0] * y.value[0] % 4]);
    assert_eq!(twice.value, [once.value[0] * y.value[0] % 4]);
    vec![once, twice]
}

#[test]
fn products_of_integers_show_nothing() {
    ViewTest::new(products, Choices::Unknown(8)).check();
}

/// A product in GF(4), and the product of that with a factor.
fn products_of_field(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let field = || Field::of(0x7).expect("a field");
    let twice = TAPE.get_or_init(|| {
        let mut b = Builder::for_goal(Goal::Depth).with_products(Field::SIZES);
        let (x, y) = (b.input(2), b.input(2));
        let once = b.field_product(&field(), &x, &y);
        let twice = b.field_product(&field(), &once, &y);
        compile(&b.finish(vec![once, twice]), &Machine::ROUNDS)
    });
    assert_eq!((twice.applied.len(), under_masks(twice)), (2, false));
    let [x, y] = [(); 2].map(|()| model.shared(Form::bits(2, 1)));
    let out = tape(model, twice, &[&x, &y]);
    let times = |x: &[u64], y: &[u64]| Function::Field(field()).eval(&[x, y].concat());
    let once = times(&x.value, &y.value);
    assert_eq!(out.value, [&once[..], &times(&once, &y.value)].concat());
    vec![out]
}

#[test]
fn products_of_a_field_show_nothing() {
    ViewTest::new(products_of_field, Choices::Unknown(4)).check();
}

/// Shares of zero at each party, of which the others' are results.
fn zeros(model: &mut Model) -> Vec<Shared> {
    let form = Form::ring(2, 1, 2);
    let zeros = model.inside(
        |party, _| {
            let mut zero = form.zeros();
            party.keys.add_zero(form, zero.data_mut());
            Ok(zero)
        },
        |_, zero, _| Ok(Ok(zero)),
    );
    let sum = form.sum(zeros.iter().map(Planes::data));
    assert_eq!(sum.data(), [0, 0]);
    for at in 0..3 {
        model.learns(at, zeros[at].data());
        // With its own, the third follows.
        model.misses(at, zeros[(at + 1) % 3].data());
    }
    vec![]
}

#[test]
fn shares_of_zero_show_nothing_of_others() {
    ViewTest::new(zeros, Choices::Every).check();
}

/// Bits become integers.
fn weighed<const SIGNED: bool>(model: &mut Model) -> Vec<Shared> {
    let x = model.shared(Form::bits(2, 1));
    let out = convert(model, [None, Some(3)], 2, SIGNED, &x);
    let high = if SIGNED { 8 - 2 } else { 2 };
    assert_eq!(out.value, [(x.value[0] + x.value[1] * high) % 8]);
    vec![out]
}

#[test]
fn bits_to_integers_show_nothing() {
    // The message to role 2 has no summand but the share of zero.
    for run in [weighed::<false> as TestedSteps, weighed::<true>] {
        let test = ViewTest::new(run, Choices::Unknown(4));
        let harmless = &[Zero((1, RING))];
        ViewTest { harmless, ..test }.check();
    }
}

fn decomposed(model: &mut Model) -> Vec<Shared> {
    let x = model.shared(Form::ring(3, 1, 1));
    let out = convert(model, [Some(3), None], 3, false, &x);
    assert_eq!(out.value, [0, 1, 2].map(|bit| x.value[0] >> bit & 1));
    vec![out]
}

#[test]
fn integers_to_bits_show_nothing() {
    ViewTest::new(decomposed, Choices::Unknown(8)).check();
}

/// Nothing crosses where a product becomes smaller.
fn reduced(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [(); 2].map(|()| model.shared(Form::ring(2, 1, 1)));
    let whole = product(model, 2, &x, &y);
    let out = convert(model, [Some(2), Some(1)], 2, false, &whole);
    assert_eq!(out.value, [whole.value[0] & 1]);
    vec![out]
}

#[test]
fn a_smaller_modulus_shows_nothing() {
    ViewTest::new(reduced, Choices::Unknown(8)).check();
}

/// A table of eight entries at an index of three bits.
fn looked_up(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    const TABLE: [u64; 8] = [2, 1, 3, 1, 0, 0, 2, 3];
    let lookup = built(&TAPE, |b| {
        let index = b.input(3);
        let entries = TABLE.map(|entry| b.constant(entry.into(), 2));
        b.lookup(&index, &entries)
    });
    let index = model.shared(Form::bits(3, 1));
    let out = tape(model, lookup, &[&index]);
    let bits = index.value.iter().rev().fold(0, |sum, bit| 2 * sum + bit);
    let entry = TABLE[bits as usize];
    assert_eq!(out.value, [entry & 1, entry >> 1]);
    vec![out]
}

#[test]
fn a_lookup_shows_nothing() {
    ViewTest::new(looked_up, Choices::Unknown(4)).check();
}

/// An input of each role.
fn inputs(model: &mut Model) -> Vec<Shared> {
    let role = |owner: usize, model: &mut Model| {
        let values = model.private(owner, 2, 2);
        let out = input(model, owner, 1, &values);
        assert_eq!(out.value, values);
        out
    };
    (0..3).map(|owner| role(owner, model)).collect()
}

#[test]
fn inputs_of_roles_show_nothing() {
    ViewTest::new(inputs, Choices::Every).check();
}

/// The input of a party without a role, who masks it, before another one who watches.
fn input_of_guest(model: &mut Model) -> Vec<Shared> {
    let values = model.private(3, 2, 2);
    let out = input(model, 3, 1, &values);
    assert_eq!(out.value, values);
    vec![out]
}

#[test]
fn inputs_of_outsiders_show_nothing() {
    let test = ViewTest::new(input_of_guest, Choices::Every);
    ViewTest {
        outsiders: 1,
        // Roles 1 and 2 get the same message.
        harmless: &[Misrouted([3, 1, 2]), Misrouted([3, 2, 1])],
        ..test
    }
    .check();
}

/// The masks of two outsiders under a product that a role learns.
fn masks_of_guests(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [3, 4].map(|owner| {
        let values = model.private(owner, 2, 1);
        input(model, owner, 1, &values)
    });
    let out = product(model, 1, &x, &y);
    open(model, 1, &out, &[1, 4], &[1, 4]);
    vec![x, y]
}

#[test]
fn masks_of_outsiders_hide_a_product() {
    let test = ViewTest::new(masks_of_guests, Choices::Unknown(3));
    ViewTest {
        outsiders: 2,
        // Role 1 learns the result, so component 0 of it, and role 2 holds that and component 2.
        // Roles 1 and 2 get the same message of an owner.
        harmless: &[
            Misrouted([0, 1, 2]),
            Misrouted([0, 2, 1]),
            Misrouted([0, 4, 1]),
            Misrouted([1, 4, 2]),
            Misrouted([3, 1, 2]),
            Misrouted([3, 2, 1]),
            Misrouted([4, 1, 2]),
            Misrouted([4, 2, 1]),
        ],
        ..test
    }
    .check();
}

/// A sum of shared integers is opened to role 1.
fn opened_to_role(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [(); 2].map(|()| model.shared(Form::ring(2, 1, 1)));
    let out = product(model, 2, &x, &y);
    open(model, 2, &out, &[1], &[1]);
    vec![]
}

#[test]
fn reveals_to_a_role_show_the_result_alone() {
    let test = ViewTest::new(opened_to_role, Choices::Unknown(4));
    // Component 0 opens the result to role 1, and role 2 holds it.
    let harmless = &[Misrouted([0, 1, 2]), Misrouted([0, 2, 1])];
    ViewTest { harmless, ..test }.check();
}

/// The same, to a party without a role.
fn opened_to_outsider(model: &mut Model) -> Vec<Shared> {
    let [x, y] = [(); 2].map(|()| model.shared(Form::ring(1, 1, 1)));
    let out = product(model, 1, &x, &y);
    open(model, 1, &out, &[3], &[3]);
    open(model, 1, &x, &[3], &[3]);
    vec![]
}

#[test]
fn reveals_to_outsiders_show_the_result_alone() {
    let test = ViewTest::new(opened_to_outsider, Choices::Unknown(4));
    ViewTest {
        outsiders: 1,
        // Role 2 holds component 2, which role 1 sends.
        harmless: &[Misrouted([1, 3, 2])],
        ..test
    }
    .check();
}

/// The component that opens a result goes to a role that must not learn it.
fn opened_to_another<const WRONG: usize>(model: &mut Model) -> Vec<Shared> {
    let x = model.shared(Form::ring(2, 1, 1));
    open(model, 2, &x, &[1, WRONG], &[1]);
    vec![]
}

#[test]
fn a_component_for_the_wrong_role_is_caught() {
    for (wrong, run) in [
        (0, opened_to_another::<0> as TestedSteps),
        (2, opened_to_another::<2>),
    ] {
        let leak = leak(&mut Model::new(0), run, Choices::Unknown(2), None);
        assert_eq!(leak, Some(wrong));
    }
}
