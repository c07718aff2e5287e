//! Rotation of a vector by the CORDIC algorithm (Volder, "The CORDIC Trigonometric Computing
//! Technique", IRE Trans. Electronic Computers 1959), a step in each cycle.

use super::{Cycle, Function};
use crate::netlist::Inputs;
use sealane_circuit::{Builder, Initial, Int, Wire, Word};

/// Bits of a number: a sign, an integer bit, 30 bits behind the point.
const WIDTH: usize = 32;
/// Steps of a run.
pub const STEPS: usize = 31;

/// Angles of the steps in units of 2^-30: arctangents of `2^-i`, rounded to the nearest.
pub fn angles() -> [i64; STEPS] {
    std::array::from_fn(|step| arctangent(step as u32))
}

/// The arctangent of `2^-i` in units of 2^-30, by its series in integers of 2^-60: exact on every
/// machine, where the library of a machine need not be.
fn arctangent(i: u32) -> i64 {
    if i == 0 {
        // Machin: pi / 4 is 4 arctan(1 / 5) - arctan(1 / 239).
        return round(4 * series(5) - series(239));
    }
    round(series(1 << i))
}

/// The arctangent of 1 / x in units of 2^-60.
fn series(x: i128) -> i128 {
    let (mut power, mut sum, mut sign) = ((1i128 << 60) / x, 0, 1);
    for odd in (1..200).step_by(2) {
        sum += sign * power / odd;
        (power, sign) = (power / (x * x), -sign);
    }
    sum
}

fn round(value: i128) -> i64 {
    ((value + (1 << 29)) >> 30) as i64
}

/// Rotates the vector (x, y) of the garbler by the angle z of the evaluator, in radians, and scales
/// it by 1.64676: in step i by the arctangent of `2^-i`, in the direction that brings z to 0. All
/// numbers are signed, with 30 bits behind the point; inputs are given once. The output of the last
/// cycle is x, y and what is left of z.
///
/// The number of the step is a ring of flip-flops, of which one is 1. So the bits of the shift and
/// of the angle are sums of flip-flops, without ANDs.
pub(super) fn rotation() -> Function {
    let kinds = Inputs {
        garbler_initial: 2 * WIDTH as u32,
        evaluator_initial: WIDTH as u32,
        ..Inputs::default()
    };
    let mut cycle = Cycle::new(kinds, STEPS + 3 * WIDTH);
    let (ring, rest) = cycle.state.split_at(STEPS);
    let numbers: Vec<Word> = rest.chunks(WIDTH).map(<[Wire]>::to_vec).collect();
    let b = &mut cycle.b;
    let amount = (0..5).map(|bit| sum_where(b, ring, |step| step >> bit & 1 == 1));
    let amount: Word = amount.collect();
    let angles = angles();
    let angle = (0..WIDTH).map(|bit| sum_where(b, ring, |step| angles[step] >> bit & 1 == 1));
    let angle: Word = angle.collect();
    let [x, y, z] = [0, 1, 2].map(|number| Int::signed(&numbers[number]));
    let (x_part, y_part) = (b.shr(x, &amount, WIDTH), b.shr(y, &amount, WIDTH));
    // A negative angle is one to turn back by.
    let back = z.sign();
    let outputs = [
        add_or_subtract(b, x, &y_part, !back),
        add_or_subtract(b, y, &x_part, back),
        add_or_subtract(b, z, &angle, !back),
    ]
    .concat();
    let mut next = ring.to_vec();
    next.rotate_right(1);
    next.extend(&outputs);
    let mut initial: Vec<Initial> = (0..STEPS).map(|i| Initial::Constant(i == 0)).collect();
    initial.extend((0..3 * WIDTH as u32).map(Initial::Held));
    cycle.finish("CORDIC_32_31", STEPS as u64, (next, initial), outputs)
}

/// The sum of those flip-flops of the ring whose step has a property: 1 in these steps.
fn sum_where(b: &mut Builder, ring: &[Wire], has: impl Fn(usize) -> bool) -> Wire {
    let steps = (0..ring.len()).filter(|&step| has(step));
    steps.fold(Wire::ZERO, |sum, step| b.xor(sum, ring[step]))
}

/// x + y, or x - y where `minus` is 1, modulo `2^WIDTH`.
fn add_or_subtract(b: &mut Builder, x: Int, y: &[Wire], minus: Wire) -> Word {
    let mut carry = minus;
    let bits = x.bits.iter().zip(y).map(|(&x, &y)| {
        let y = b.xor(y, minus);
        let differ = b.xor(x, y);
        let sum = b.xor(differ, carry);
        carry = b.majority(carry, x, y);
        sum
    });
    bits.collect()
}
