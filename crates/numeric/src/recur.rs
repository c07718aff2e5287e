//! TEMPORARY copy.
use crate::word::flip_if;
use sealane_circuit::{Builder, Int, Wire, Word};
fn bit(w: &Wire) -> Int<'_> {
    Int::unsigned(std::slice::from_ref(w))
}
/// So many bits of x / y, one of them before the point, for numbers of the same width with the
/// highest bit 1; and a remainder, less y if the last bit is 0, as if modulo a power of two.
pub(crate) fn divide(b: &mut Builder, x: &[Wire], y: &[Wire], bits: usize) -> (Word, Word) {
    let width = x.len() + 1;
    let mut remainder = b.sub(Int::unsigned(x), Int::unsigned(y), width);
    let wide = Int::unsigned(y).resize(width);
    let mut quotient = vec![!remainder[width - 1]];
    for _ in 1..bits {
        let subtract = !remainder[width - 1];
        let twice = Int::signed(&remainder).shl(1, width);
        let other = flip_if(b, subtract, &wide);
        let terms = [Int::unsigned(&twice), Int::unsigned(&other), bit(&subtract)];
        remainder = b.sum(&terms, width);
        quotient.insert(0, !remainder[width - 1]);
    }
    (quotient, remainder)
}

/// So many bits of the square root of a number from 1 to 4, given with two bits before the point;
/// one bit of the root is before the point.
pub(crate) fn root(b: &mut Builder, x: &[Wire], bits: usize) -> Word {
    let mut digits = x.iter().rev().copied().chain(std::iter::repeat(Wire::ZERO));
    let mut next = || digits.next().expect("a digit");
    // The first bit is 1, and the remainder the first two digits less 1.
    let (high, low) = (next(), next());
    let mut remainder = vec![!low, b.xor(high, !low), Wire::ZERO];
    let mut root = vec![Wire::ONE];
    for _ in 1..bits {
        // With one more digit q of the root r, either 4 r + 1 is subtracted or 4 r + 3 is added:
        // the lowest two bits add 3 in both cases.
        let (high, low) = (next(), next());
        let width = root.len() + 4;
        let subtract = !remainder[remainder.len() - 1];
        let shifted = [&[low, high], &remainder[..]].concat();
        let wide = [&root[..], &[Wire::ZERO]].concat();
        let other = [&[Wire::ONE; 2], &flip_if(b, subtract, &wide)[..]].concat();
        let sum = b.add(Int::signed(&shifted), Int::signed(&other), width);
        remainder = sum[..root.len() + 3].to_vec();
        root.insert(0, !remainder[remainder.len() - 1]);
    }
    root
}
