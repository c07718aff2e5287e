//! Circuits on labels between circuits on shares, with constants, with parties without a role, and
//! in messages of several parts.

use crate::common::{LABELS, arbitrary, domain, low, session, settings};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use sealane_party::Steps;
use std::sync::Arc;

/// The low half of the product of two numbers, plus the second one.
fn product_and_sum(bits: usize) -> Tape {
    let mut b = Builder::for_goal(Goal::Size);
    let [x, y] = [0, 1].map(|_| b.input(bits));
    let [wide_x, wide_y] = [&x, &y].map(|bits| Int::unsigned(bits));
    let product = b.mul(wide_x, wide_y, bits);
    let sum = b.add(Int::unsigned(&product), wide_y, bits);
    compile(&b.finish(vec![sum]), &Machine::CPU)
}

#[test]
fn tapes_on_labels_compute_between_shares() {
    const BITS: usize = 7;
    let tape = product_and_sum(BITS);
    for setting in settings() {
        session::<true>(&setting, |side| {
            for lanes in [1, 64, 65, 5000] {
                let values = [1, 2].map(|seed| arbitrary(seed, lanes, BITS as u8));
                let held = (BITS, false);
                let operands = values.each_ref().map(|values| {
                    let share = side.bits(BITS, values);
                    side.convert_between([domain(None), LABELS], held, &share)
                });
                let out = side.tape_in(LABELS, &tape, &[&operands[0], &operands[1]]);
                let constant = arbitrary(3, lanes, BITS as u8);
                let constant = side.party.constant(LABELS, BITS, &constant);
                let out = side.tape_in(LABELS, &tape, &[&out, &Arc::new(constant)]);
                let shares = side.convert_between([LABELS, domain(None)], held, &out);
                let step = |x: u64, y: u64| low(x * y + y, BITS as u8);
                let public = arbitrary(3, lanes, BITS as u8);
                let pairs = values[0].iter().zip(&values[1]).zip(&public);
                let want = pairs.map(|((x, y), z)| step(step(*x, *y), *z)).collect();
                side.expect_bits(format!("{lanes} lanes"), BITS, &shares, want);
            }
        });
    }
}

/// An input of either party with a role has labels at once, of any number of bits.
#[test]
fn inputs_of_both_have_labels() {
    for setting in settings() {
        session::<true>(&setting, |side| {
            for (role, lanes, bits) in [(0, 1, 64), (1, 1, 64), (0, 5000, 3), (1, 5000, 3)] {
                let owner = setting.player(role);
                let values = arbitrary(role as u64, lanes, bits as u8);
                let label = side.input_in(LABELS, owner, bits, &values);
                let shares = side.convert_between([LABELS, domain(None)], (bits, false), &label);
                side.expect_bits(format!("{lanes} of {bits} bits"), bits, &shares, values);
            }
        });
    }
}

/// A tape without ANDs sends nothing, and a share without data is zero.
#[test]
fn xors_of_labels_are_local() {
    let mut b = Builder::for_goal(Goal::Size);
    let x = b.input(2);
    let out = vec![b.xor(x[0], x[1]), !x[1]];
    let tape = compile(&b.finish(vec![out]), &Machine::CPU);
    for setting in settings() {
        session::<true>(&setting, |side| {
            let share = side.bits(1, &[1, 0]);
            let label = side.convert_between([domain(None), LABELS], (1, false), &share);
            let zero = Arc::new(sealane_party::Shares::zeros(1, 2));
            let out = side.tape_in(LABELS, &tape, &[&label, &zero]);
            let shares = side.convert_between([LABELS, domain(None)], (2, false), &out);
            side.expect_bits("xors".into(), 2, &shares, vec![3, 2]);
        });
    }
}
