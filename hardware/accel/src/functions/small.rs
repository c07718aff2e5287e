//! Comparison, addition and Hamming distance.

use super::{Cycle, Function, fresh, zeros};
use sealane_circuit::{Initial, Int, Wire};

/// The millionaires' problem, least significant bits first: the output of the last cycle is 1 if
/// the garbler has at least as much. The carry of x + NOT y + 1.
pub(super) fn millionaires(name: &'static str, cycles: u64) -> Function {
    let mut cycle = Cycle::new(fresh(1, 1), 1);
    let (x, y, carry) = (cycle.garbler()[0], cycle.evaluator()[0], cycle.state[0]);
    let carry = cycle.b.majority(x, !y, carry);
    let initial = vec![Initial::Constant(true)];
    cycle.finish(name, cycles, (vec![carry], initial), vec![carry])
}

/// The sum of two numbers of `w` bits modulo `2^w`.
pub(super) fn sum_at_once(name: &'static str, w: usize) -> Function {
    let mut cycle = Cycle::new(fresh(w as u32, w as u32), 0);
    let (x, y) = (cycle.garbler(), cycle.evaluator());
    let sum = cycle.b.add(Int::unsigned(&x), Int::unsigned(&y), w);
    cycle.finish(name, 1, (vec![], vec![]), sum)
}

/// The sum of two bytes modulo 256, a bit of both in each cycle.
pub(super) fn sum_by_bits() -> Function {
    let mut cycle = Cycle::new(fresh(1, 1), 1);
    let (x, y, carry) = (cycle.garbler()[0], cycle.evaluator()[0], cycle.state[0]);
    let differ = cycle.b.xor(x, y);
    let sum = cycle.b.xor(differ, carry);
    let carry = cycle.b.majority(x, y, carry);
    cycle.finish("Add_8_8", 8, (vec![carry], zeros(1)), vec![sum])
}

/// The number of bits in which two words of `bits` bits differ.
pub(super) fn hamming_at_once(name: &'static str, bits: u32) -> Function {
    let mut cycle = Cycle::new(fresh(bits, bits), 0);
    let (x, y) = (cycle.garbler(), cycle.evaluator());
    let differ: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| cycle.b.xor(x, y)).collect();
    let count = cycle.b.popcount(&differ, bits.ilog2() as usize + 1);
    cycle.finish(name, 1, (vec![], vec![]), count)
}

/// The same, a bit of both in each cycle: a counter.
pub(super) fn hamming_by_bits(name: &'static str, bits: u64) -> Function {
    let width = (bits.ilog2() + 1) as usize;
    let mut cycle = Cycle::new(fresh(1, 1), width);
    let differ = cycle.b.xor(cycle.garbler()[0], cycle.evaluator()[0]);
    let count = cycle.state.clone();
    let (count, differ) = (Int::unsigned(&count), [differ]);
    let more = cycle.b.add(count, Int::unsigned(&differ), width);
    cycle.finish(name, bits, (more.clone(), zeros(width)), more)
}
