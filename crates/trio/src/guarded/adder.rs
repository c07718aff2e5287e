//! The tape that adds the components of integers modulo `2^61 - 1`.

use sealane_block::mersenne::PRIME_BITS;
use sealane_circuit::{Builder, Machine, Tape, Wire, compile};
use sealane_protocol::Goal;
use std::sync::OnceLock;

/// Bits of an element.
pub(super) const BITS: usize = PRIME_BITS as usize;
/// Most bits of a value that lives there.
pub(super) const MOST_BITS: usize = BITS - 1;

/// Adds three components modulo the prime, of which the lowest `bits` bits are outputs: three to
/// two by carries, of which the last one leads back to bit 0, then carries by a tree over all bits.
/// The carry out leads back as well; where no bit stops a carry the sum is the prime itself, to
/// which a carry is added too, so that zero has one form.
pub(super) fn adder(bits: usize) -> &'static Tape {
    static TAPES: [OnceLock<Tape>; BITS] = [const { OnceLock::new() }; BITS];
    TAPES[bits].get_or_init(|| {
        let mut b = Builder::for_goal(Goal::Depth);
        let [x, y, z] = [(); 3].map(|()| b.input(BITS));
        let (mut sums, mut carries) = (Vec::new(), Vec::new());
        for ((x, y), z) in x.into_iter().zip(y).zip(z) {
            let sum = b.xor(x, y);
            sums.push(b.xor(sum, z));
            carries.push(b.majority(x, y, z));
        }
        carries.rotate_right(1);
        let half = sums.iter().zip(&carries);
        let half: Vec<[Wire; 2]> = half.map(|(x, y)| [b.and(*x, *y), b.xor(*x, *y)]).collect();
        // Whether bits from the lowest to this one make a carry, and whether they hand one on.
        let mut all = half.clone();
        let mut block = 1;
        while block < BITS {
            for bit in (0..BITS).filter(|bit| bit & block != 0) {
                let [low_makes, low_hands] = all[(bit | (block - 1)) - block];
                let [makes, hands] = all[bit];
                let through = b.and(hands, low_makes);
                all[bit] = [b.xor(makes, through), b.and(hands, low_hands)];
            }
            block *= 2;
        }
        let [makes, hands] = all[BITS - 1];
        let first = b.xor(makes, hands);
        let out = (0..bits).map(|bit| {
            let carry = match bit.checked_sub(1) {
                None => first,
                Some(below) => {
                    let [makes, hands] = all[below];
                    let through = b.and(hands, first);
                    b.xor(makes, through)
                }
            };
            b.xor(half[bit][1], carry)
        });
        let out = out.collect();
        compile(&b.finish(vec![out]), &Machine::ROUNDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::Prime;

    /// Three components of every number of a few, zero in all of its forms among them.
    #[test]
    fn the_adder_adds_modulo_the_prime() {
        let p = Prime::P;
        let mut parts = vec![0, 1, 2, p - 1, p - 2, 1 << 60, (1 << 60) - 1, p / 3, 12345];
        parts.extend((1..6u64).map(|i| Prime::reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        let mut zeros = 0;
        for bits in [1, 17, MOST_BITS] {
            let tape = adder(bits);
            for x in &parts {
                for y in &parts {
                    let balance = Prime::neg(Prime::add(*x, *y));
                    for z in parts.iter().chain([&balance]) {
                        let words = [*x, *y, *z];
                        let bit = |at: usize| [words[at / BITS] >> (at % BITS) & 1; 8];
                        let inputs = (0..3 * BITS).map(bit).collect::<Vec<_>>();
                        let out = tape.eval(&inputs);
                        let out = out.iter().enumerate();
                        let got = out.fold(0, |sum, (bit, word)| sum | (word[0] & 1) << bit);
                        let want = Prime::add(Prime::add(*x, *y), *z);
                        zeros += usize::from(want == 0);
                        assert_eq!(got, want & ((1 << bits) - 1), "{words:?}");
                    }
                }
            }
        }
        assert!(zeros > 500);
    }
}
