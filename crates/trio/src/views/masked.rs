//! Tests of tapes with functions: what a helper deals, and what the two others open. One lane is
//! in one part, and each role is its helper in turn.

use super::ViewTest;
use super::leak::Choices;
use super::model::{Model, Shared};
use super::steps::{built_for, tape};
use crate::masked::TURNED;
use crate::tape::under_masks;
use sealane_circuit::function::{Field, Function, inverse16};
use sealane_circuit::{Lookups, Tape, Wire};
use sealane_party::Form;
use std::sync::OnceLock;

fn with_each_helper(check: impl Fn()) {
    for turned in 0..3 {
        TURNED.set(turned);
        check();
    }
}

/// A table of eight entries at an index of three bits, with products of two and of three masks, and
/// the AND of both bits of its entry: two levels.
fn looked_up(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    const TABLE: [u64; 8] = [2, 1, 3, 1, 0, 0, 2, 3];
    let lookup = built_for(&TAPE, Lookups::Tables, |b| {
        let index = b.input(3);
        let entries = TABLE.map(|entry| b.constant(entry.into(), 2));
        let mut out = b.lookup(&index, &entries);
        out.push(b.and(out[0], !out[1]));
        out
    });
    assert_eq!((lookup.applied.len(), lookup.ands.len()), (1, 1));
    let index = model.shared(Form::bits(3, 1));
    let out = tape(model, lookup, &[&index]);
    let bits = index.value.iter().rev().fold(0, |sum, bit| 2 * sum + bit);
    let (low, high) = (TABLE[bits as usize] & 1, TABLE[bits as usize] >> 1);
    assert_eq!(out.value, [low, high, low & (high ^ 1)]);
    vec![out]
}

#[test]
fn a_table_under_masks_shows_nothing() {
    with_each_helper(|| ViewTest::new(looked_up, Choices::Unknown(3)).check());
}

/// A product in GF(4), by the kernel for all fields.
fn product_of_field(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let function = Function::Field(Field::of(0x7).expect("a field"));
    let times = built_for(&TAPE, Lookups::Gates, |b| {
        // Nothing reads this one, but a tape with such a function runs under masks.
        b.apply(&Function::Product, &[Wire::ZERO; 8]);
        let factors = [b.input(2), b.input(2)].concat();
        b.apply(&Function::Field(Field::of(0x7).expect("a field")), &factors)
    });
    assert_eq!((times.applied.len(), under_masks(times)), (1, true));
    let [x, y] = [(); 2].map(|()| model.shared(Form::bits(2, 1)));
    let out = tape(model, times, &[&x, &y]);
    assert_eq!(out.value, function.eval(&[&x.value[..], &y.value].concat()));
    vec![out]
}

/// A tape with a function that no output needs has gates alone, and no level under masks.
#[test]
fn a_function_that_nothing_reads_takes_no_masks() {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let tape = built_for(&TAPE, Lookups::Gates, |b| {
        b.apply(&Function::Product, &[Wire::ZERO; 8]);
        let bits = b.input(2);
        vec![b.and(bits[0], bits[1])]
    });
    assert_eq!((tape.functions.len(), under_masks(tape)), (1, false));
}

#[test]
fn a_product_of_any_field_under_masks_shows_nothing() {
    with_each_helper(|| ViewTest::new(product_of_field, Choices::Unknown(4)).check());
}

/// A product in GF(16), of which one factor is 1, w, z or w z or a sum of some.
fn product(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let times = built_for(&TAPE, Lookups::Gates, |b| {
        let factors = [b.input(4), b.input(4)].concat();
        b.apply(&Function::Product, &factors)
    });
    let [x, y] = [(); 2].map(|()| model.shared(Form::bits(4, 1)));
    let out = tape(model, times, &[&x, &y]);
    let wanted = Function::Product.eval(&[&x.value[..], &y.value].concat());
    assert_eq!(out.value, wanted);
    vec![out]
}

#[test]
fn a_product_under_masks_shows_nothing() {
    with_each_helper(|| ViewTest::new(product, Choices::Unknown(1)).check());
}

/// The inverse of an element of GF(16) that two bits determine: ten bits are dealt for it, which
/// are its powers 3, 5 and 7 but for linear maps, and its power 14 is opened of the masked element.
/// Towers have it, and the profile with proofs sends the same messages.
fn inverse(model: &mut Model) -> Vec<Shared> {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    let function = Function::Table(inverse16());
    let inverted = built_for(&TAPE, Lookups::Gates, |b| {
        let (x, y) = (b.input(1)[0], b.input(1)[0]);
        let sum = b.xor(x, y);
        b.apply(&Function::Table(inverse16()), &[x, y, sum, x])
    });
    assert_eq!((inverted.applied.len(), under_masks(inverted)), (1, true));
    let [x, y] = [(); 2].map(|()| model.shared(Form::bits(1, 1)));
    let out = tape(model, inverted, &[&x, &y]);
    let (x, y) = (x.value[0], y.value[0]);
    assert_eq!(out.value, function.eval(&[x, y, x ^ y, x]));
    vec![out]
}

#[test]
fn an_inverse_under_masks_shows_nothing() {
    with_each_helper(|| ViewTest::new(inverse, Choices::Unknown(1)).check());
}
