//! Products with one AND for each pair of bits, half of what a school book takes.
//!
//! A factor `a` of `n` bits becomes digits `s_i = 2 a_i - 1`, which are 1 or -1. A partial product
//! `s_i b` takes no AND: `-b` is `NOT b + 1`, so it is `b` XOR `m_i`, plus `m_i`, where `m_i = NOT
//! a_i`. Only the adders are left. The sum of `2^i s_i` is not even, so `2 a` is that sum and one
//! more digit, which the first partial product absorbs.

use super::{Cycle, Function, fresh, zeros};
use crate::netlist::Inputs;
use sealane_circuit::{Builder, Initial, Int, Wire, Word};

/// The product of a factor of the garbler, a bit in each cycle and then zeros, and one of the
/// evaluator, which is given once; a bit in each cycle, least significant first, from the second
/// cycle on. Both are unsigned numbers of `n` bits, and there are `2 n + 1` cycles.
///
/// Over all cycles, `sum of 2^i s_i = 2 a + 1` modulo `2^(2 n + 1)`. So the output, which is `2 a
/// b`, is the sum of `2^i s_i b`, and `-b`. In terms of the machine:
///
/// * `-b` is `NOT b + 1 - 2^n`. It is the first value of the accumulator, which holds complements.
/// * `s_i b` is `(b XOR m_i) + m_i - m_i 2^n`, and all `m_i 2^i` together are `-1 - a`. With the 1
///   above, `-a` is left, which is subtracted from the output bit by bit.
/// * `-m_i 2^n` is `a_i 2^n - 2^n`. The part above the accumulator is `-2^n` before each cycle, and
///   `a_i 2^n - 2^(n + 1)` after it: a bit for the accumulator, and the same part again.
pub(super) fn by_bits(name: &'static str, n: usize) -> Function {
    let kinds = Inputs {
        evaluator_initial: n as u32,
        garbler: 1,
        ..Inputs::default()
    };
    // Complements of the sums of cells, carries of cells, the borrow.
    let mut cycle = Cycle::new(kinds, 2 * n + 1);
    let (a, factor) = (cycle.garbler()[0], cycle.inputs[2].clone());
    let (sums, rest) = cycle.state.split_at(n);
    let (carries, rest) = rest.split_at(n);
    let (sums, carries, borrow) = (sums.to_vec(), carries.to_vec(), rest[0]);
    let b = &mut cycle.b;
    let (mut next_sums, mut next_carries) = (Word::new(), Word::new());
    for cell in 0..n {
        let partial = b.xor(factor[cell], !a);
        let (sum, carry) = full(b, partial, !sums[cell], carries[cell]);
        next_sums.push(sum);
        next_carries.push(carry);
    }
    next_sums.push(a);
    let lowest = next_sums.remove(0);
    // lowest - a - borrow.
    let differ = b.xor(lowest, a);
    let output = b.xor(differ, borrow);
    let next_borrow = b.majority(!lowest, a, borrow);
    let mut next: Word = next_sums.into_iter().map(|sum| !sum).collect();
    next.extend(next_carries);
    next.push(next_borrow);
    let mut initial: Vec<Initial> = (0..n as u32).map(Initial::Held).collect();
    initial.extend(zeros(n + 1));
    cycle.finish(name, 2 * n as u64 + 1, (next, initial), vec![output])
}

/// Multiplies and accumulates signed numbers of `w` bits: the new total is the mean of the last one
/// and of `a b / 2^w`, rounded to the nearest, down where two are as near. So totals never
/// overflow.
///
/// The product less one is cut to its upper half, which is `(a b - 1) / 2^w` rounded down. With
/// that total and 1 the sum is halved: altogether `(2^w t + a b + 2^w - 1) / 2^(w + 1)`, rounded
/// down.
pub(super) fn accumulate(name: &'static str, w: usize) -> Function {
    let mut cycle = Cycle::new(fresh(w as u32, w as u32), w);
    let (a, factor) = (cycle.garbler(), cycle.evaluator());
    let total = cycle.state.clone();
    let b = &mut cycle.b;
    let product = less_one(b, &a, &factor);
    let quotient = &product[w..];
    let mut carry = Wire::ONE;
    let mut sums = Word::new();
    for bit in 0..=w {
        let [x, y] = [&total[..], quotient].map(|word| word[bit.min(word.len() - 1)]);
        let (sum, next) = full(b, x, y, carry);
        sums.push(sum);
        carry = next;
    }
    sums.remove(0);
    cycle.finish(name, 1, (sums.clone(), zeros(w)), sums)
}

/// The product of signed numbers of `w` bits in `2 w` bits.
pub(super) fn product(name: &'static str, w: usize) -> Function {
    let mut cycle = Cycle::new(fresh(w as u32, w as u32), 0);
    let (a, factor) = (cycle.garbler(), cycle.evaluator());
    let less = less_one(&mut cycle.b, &a, &factor);
    let one = [Wire::ONE];
    let product = cycle.b.add(Int::signed(&less), Int::unsigned(&one), 2 * w);
    cycle.finish(name, 1, (vec![], vec![]), product)
}

/// `a b - 1` for signed numbers of `w` bits, in `2 w - 1` bits: `w^2` ANDs.
///
/// For a signed factor the last digit counts negatively, and the sum of all digits is `2 a + 1`.
/// The first partial product, with the digit that is too much, is `s_0 b - b`, or `-2 m_0 b`. Rows
/// begin with `NOT (m_0 AND b)`, which is `-m_0 b - 1`, so they end with `a b - 1`.
fn less_one(b: &mut Builder, a: &[Wire], factor: &[Wire]) -> Word {
    let w = a.len();
    let mut row: Word = factor.iter().map(|&bit| !b.and(bit, !a[0])).collect();
    let mut product = Word::new();
    for (digit, &a) in a.iter().enumerate().skip(1) {
        // The last digit counts negatively.
        let minus = if digit + 1 < w { !a } else { a };
        let mut carry = minus;
        let mut sums = Word::new();
        // One bit more than both operands: their signs again.
        for cell in 0..=w {
            let partial = b.xor(factor[cell.min(w - 1)], minus);
            let (sum, next) = full(b, row[cell.min(w - 1)], partial, carry);
            sums.push(sum);
            carry = next;
        }
        row = sums;
        if digit + 1 < w {
            product.push(row.remove(0));
        }
    }
    product.extend(row);
    product
}

/// A full adder: sum and carry.
fn full(b: &mut Builder, x: Wire, y: Wire, carry: Wire) -> (Wire, Wire) {
    let differ = b.xor(x, y);
    let sum = b.xor(differ, carry);
    (sum, b.majority(carry, x, y))
}
