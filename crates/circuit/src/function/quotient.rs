//! Quotients `a / v` and `b / v` in GF(16), 0 where `v` is 0, in one level.
//!
//! They are `a v^14` and `b v^14`. With `v = m + l`, `v^14` is the sum over all even `k` up to 14
//! of `m^(14 - k) l^k`, since these are the odd binomial coefficients. So a party that knows the
//! masked values, and has shares of all `l^k` and of their products with the masks of `a` and `b`,
//! has shares of both quotients. Squares are linear: all even powers follow from `l^3`, `l^5`,
//! which lies in GF(4), and `l^7`.

use super::{Bits, product};

/// Bits that are dealt: three powers of the mask of `v`, and the products of all even powers with
/// the masks of `a` and `b`.
pub const DEALT: usize = 4 + 2 + 4 + 2 * 4 * POWERS;

/// Even powers but the first, which is 1: 2, 4, 6, 8, 10, 12, 14.
pub const POWERS: usize = 7;

/// An element, in the basis of [`product`].
pub type Element<T> = [T; 4];

/// The quotients, of all bits in the clear.
pub(super) fn eval<T: Bits>([v, a, b]: [Element<T>; 3]) -> [Element<T>; 2] {
    let last = even_powers(v, odd_powers(v))[POWERS - 1];
    [product(last, a), product(last, b)]
}

/// The bits that are dealt, from the masks of `v`, `a` and `b`.
#[inline(always)]
pub fn deal<T: Bits>([v, a, b]: [Element<T>; 3]) -> [T; DEALT] {
    let odd = odd_powers(v);
    let even = even_powers(v, odd);
    let [third, fifth, seventh] = odd;
    let mut dealt = [v[0]; DEALT];
    dealt[..4].copy_from_slice(&third);
    dealt[4..6].copy_from_slice(&fifth[..2]);
    dealt[6..10].copy_from_slice(&seventh);
    for k in 0..POWERS {
        dealt[10 + 4 * k..][..4].copy_from_slice(&product(even[k], a));
        dealt[10 + 4 * (POWERS + k)..][..4].copy_from_slice(&product(even[k], b));
    }
    dealt
}

/// A party's shares of both quotients: from the masked values, its shares of their masks and of
/// what is dealt, and its shares of the constants 0, which is 0, and 1.
#[inline(always)]
pub fn open<T: Bits>(
    masked: [Element<T>; 3],
    masks: [Element<T>; 3],
    dealt: &[T; DEALT],
    [none, one]: [T; 2],
) -> [Element<T>; 2] {
    let four = |at: usize| [dealt[at], dealt[at + 1], dealt[at + 2], dealt[at + 3]];
    let fifth = [dealt[4], dealt[5], none, none];
    let shares = even_powers(masks[0], [four(0), fifth, four(6)]);
    let powers = even_powers(masked[0], odd_powers(masked[0]));
    // m^14 beside l^0, and l^14 beside m^0.
    let last = powers[POWERS - 1];
    let mut inverse = shares[POWERS - 1];
    for i in 0..4 {
        inverse[i] = inverse[i] ^ last[i] & one;
    }
    for k in 0..POWERS - 1 {
        inverse = add(inverse, product(powers[POWERS - 2 - k], shares[k]));
    }
    let mut quotients = [[none; 4]; 2];
    for factor in 0..2 {
        let first = 10 + 4 * POWERS * factor;
        let mut sum = product(masked[1 + factor], inverse);
        sum = add(sum, product(last, masks[1 + factor]));
        sum = add(sum, four(first + 4 * (POWERS - 1)));
        for k in 0..POWERS - 1 {
            sum = add(sum, product(powers[POWERS - 2 - k], four(first + 4 * k)));
        }
        quotients[factor] = sum;
    }
    quotients
}

/// The powers 3, 5 and 7.
#[inline(always)]
pub fn odd_powers<T: Bits>(x: Element<T>) -> [Element<T>; 3] {
    let second = square(x);
    let fourth = square(second);
    let third = product(x, second);
    [third, product(x, fourth), product(third, fourth)]
}

/// The powers 2, 4, 6, 8, 10, 12 and 14: squares of those before them and of odd ones. They are
/// linear in the element and its odd powers, so shares of these give shares of them.
#[inline(always)]
pub fn even_powers<T: Bits>(
    x: Element<T>,
    [third, fifth, seventh]: [Element<T>; 3],
) -> [Element<T>; POWERS] {
    let second = square(x);
    let fourth = square(second);
    let sixth = square(third);
    [
        second,
        fourth,
        sixth,
        square(fourth),
        square(fifth),
        square(sixth),
        square(seventh),
    ]
}

/// The square: `x_1 w + x_0` becomes `x_1 w + x_1 + x_0`, and `h z + l` becomes
/// `h^2 z + h^2 w + l^2`.
#[inline(always)]
fn square<T: Bits>([l0, l1, h0, h1]: Element<T>) -> Element<T> {
    let high = h0 ^ h1;
    [l0 ^ l1 ^ h1, l1 ^ h0, high, h1]
}

#[inline(always)]
fn add<T: Bits>(a: Element<T>, b: Element<T>) -> Element<T> {
    [a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]]
}

#[cfg(test)]
mod tests {
    use super::super::tower::{inverse16, times16};
    use super::*;
    use crate::function::Function;

    fn bits(x: u8) -> Element<u64> {
        [0, 1, 2, 3].map(|bit| u64::from(x >> bit & 1))
    }

    fn number(bits: Element<u64>) -> u8 {
        bits.iter()
            .rev()
            .fold(0, |sum, bit| sum << 1 | *bit as u8 & 1)
    }

    #[test]
    fn quotients_are_products_with_inverses() {
        for v in 0..16 {
            assert_eq!(number(square(bits(v))), times16(v, v));
            let inverse = Function::Table(inverse16()).eval(&bits(v));
            for a in 0..16 {
                let found = eval([v, a, a ^ 5].map(bits)).map(number);
                let inverse = number([inverse[0], inverse[1], inverse[2], inverse[3]]);
                assert_eq!(found, [times16(inverse, a), times16(inverse, a ^ 5)]);
            }
        }
    }

    /// Two parties share masks and what is dealt, for all masked values of `v` and `a`, all masks
    /// of `v`, and some of all else.
    #[test]
    fn shares_add_up_to_quotients() {
        let mut mixed = 1u64;
        let mut draw = |bits: u32| {
            mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            (mixed >> (64 - bits)) as u8
        };
        for case in 0..1 << 12 {
            let masked = [case & 15, case >> 4 & 15, draw(4).into()].map(|x: u16| x as u8);
            let masks = [(case >> 8) as u8, draw(4), draw(4)];
            let first = [(); 3].map(|()| draw(4));
            let second: [u8; 3] = std::array::from_fn(|i| masks[i] ^ first[i]);
            let dealt = deal(masks.map(bits));
            let random: [u64; DEALT] = std::array::from_fn(|_| draw(1).into());
            let other = std::array::from_fn(|i| dealt[i] ^ random[i]);
            let one = open(masked.map(bits), first.map(bits), &random, [0, 1]);
            let two = open(masked.map(bits), second.map(bits), &other, [0, 0]);
            let sum = [0, 1].map(|at| number(add(one[at], two[at])));
            let clear: [u8; 3] = std::array::from_fn(|i| masked[i] ^ masks[i]);
            assert_eq!(sum, eval(clear.map(bits)).map(number), "case {case}");
        }
    }
}
