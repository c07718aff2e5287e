//! Sums of weighted bits: fixed-point terms and truncated products, added up once.
//!
//! A product costs about half of the school book's ANDs here. For bits, `2 x y = x + y - (x ^ y)`,
//! so that twice a product of words is the sum of all `-(x_i ^ y_j) 2^(i+j)`, which are free, and
//! of a multiple of each word: one AND for each pair of bits, in the adders, in place of two. It is
//! the multiplier's form of the non-restoring division, whose digits are 1 and -1. If words are
//! signed, the upper halves of these multiples vanish; if a product is cut off at a column, the
//! lower ones may be dropped with the pairs below that column, and the error gets smaller by that:
//! see [`Heap::product`].

use crate::real::Real;
use sealane_circuit::{Builder, Int, Wire, Word};

/// A number with a point: `bits`, signed, times `2^low`.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    /// The bits, in two's complement.
    pub bits: Word,
    /// The weight of the lowest bit is `2^low`.
    pub low: i32,
}

impl Fixed {
    /// Signed bits, of which the lowest has the weight `2^low`.
    pub fn new(bits: Word, low: i32) -> Fixed {
        Fixed { bits, low }
    }

    /// `bits` without a sign.
    pub fn unsigned(bits: &[Wire], low: i32) -> Fixed {
        let mut bits = bits.to_vec();
        bits.push(Wire::ZERO);
        Fixed { bits, low }
    }

    /// Half of the number.
    pub fn halved(mut self) -> Fixed {
        self.low -= 1;
        self
    }

    /// The bit of weight `2^weight`: a copy of the sign above the highest, 0 below the lowest.
    pub fn bit(&self, weight: i32) -> Wire {
        match weight - self.low {
            ..0 => Wire::ZERO,
            i => Int::signed(&self.bits).bit(i as usize),
        }
    }

    /// The bits of weights `2^from` to `2^(to - 1)`.
    pub fn bits(&self, from: i32, to: i32) -> Word {
        (from..to).map(|weight| self.bit(weight)).collect()
    }
}

/// The sum of a whole number and a constant, a signed word of so many bits.
pub(crate) fn plus(b: &mut Builder, x: &Fixed, constant: i64, width: usize) -> Word {
    let mut heap = Heap::new(0);
    heap.signed(x, 0, false);
    heap.constant(&Real::of(constant));
    heap.sum(b, width)
}

/// Bits of weights from `2^low` on, to be added up.
#[derive(Clone, Debug)]
pub(crate) struct Heap {
    low: i32,
    columns: Vec<Word>,
    /// In units of `2^low`.
    constant: i128,
}

impl Heap {
    /// A sum of nothing, with `2^low` as its unit.
    pub fn new(low: i32) -> Heap {
        Heap {
            low,
            columns: Vec::new(),
            constant: 0,
        }
    }

    /// The exponent of its unit.
    pub fn low(&self) -> i32 {
        self.low
    }

    /// Adds or subtracts a bit of weight `2^weight`; one below the unit is dropped.
    pub fn bit(&mut self, bit: Wire, weight: i32, negative: bool) {
        let Ok(column) = usize::try_from(weight - self.low) else {
            return;
        };
        // -x is (1 - x) - 1.
        let bit = if negative { !bit } else { bit };
        self.constant -= i128::from(negative) << column;
        match bit.as_constant() {
            Some(one) => self.constant += i128::from(one) << column,
            None => {
                if self.columns.len() <= column {
                    self.columns.resize(column + 1, Word::new());
                }
                self.columns[column].push(bit);
            }
        }
    }

    /// Adds or subtracts bits without a sign, the lowest of weight `2^low`. Those below the unit
    /// are dropped, which makes the sum (or the number subtracted) less by less than a unit.
    pub fn unsigned(&mut self, bits: &[Wire], low: i32, negative: bool) {
        for (&bit, weight) in bits.iter().zip(low..) {
            self.bit(bit, weight, negative);
        }
    }

    /// Adds or subtracts a signed number times `2^shift`, cut off as by [`Heap::unsigned`].
    pub fn signed(&mut self, x: &Fixed, shift: i32, negative: bool) {
        let Some((&sign, rest)) = x.bits.split_last() else {
            return;
        };
        self.unsigned(rest, x.low + shift, negative);
        self.bit(sign, x.low + shift + rest.len() as i32, !negative);
    }

    /// Adds a constant, rounded to the unit.
    pub fn constant(&mut self, value: &Real) {
        self.constant += value.rounded_i128(-i64::from(self.low));
    }

    /// Adds `x` times a constant that is rounded to `digits` bits behind the point, an addition for
    /// each digit of its non-adjacent form. Each of them is cut off as by [`Heap::unsigned`].
    pub fn times(&mut self, x: &Fixed, factor: &Real, digits: i32) {
        for (exponent, negative) in signed_digits(factor, digits) {
            self.signed(x, exponent, negative);
        }
    }

    /// Adds a product as [`Heap::product`] does, with the mean of the error by cutting off taken
    /// back.
    pub fn centred_product(&mut self, b: &mut Builder, x: &Fixed, y: &Fixed) {
        self.product(b, x, y);
        let units = truncation(x.bits.len(), y.bits.len(), self.low - x.low - y.low) as i64;
        self.constant(&Real::scaled(-units, i64::from(self.low) - 1));
    }

    /// Adds the product of two signed numbers, cut off at the unit. What is added is too large by
    /// at most [`truncation`] units and never too small.
    ///
    /// With the signs complemented, `x = X - 2^(n-1)` and `y = Y - 2^(m-1)` for words `X` and `Y`
    /// of n and m bits without sign, so `x y = 2^(n+m-2) - X/2 - Y/2 - sum (X_i ^ Y_j) 2^(i+j-1)`.
    /// Pairs below the unit are dropped, and with them the halves of bits of which only some pairs
    /// are kept.
    ///
    /// # Panics
    /// If the product is always less than a unit.
    pub fn product(&mut self, b: &mut Builder, x: &Fixed, y: &Fixed) {
        let (n, m) = (x.bits.len() as i32, y.bits.len() as i32);
        if n == 0 || m == 0 {
            return;
        }
        let (xs, ys) = (flip_sign(&x.bits), flip_sign(&y.bits));
        let base = x.low + y.low;
        // Pairs of `i + j > first` are kept.
        let first = self.low - base;
        for (i, &xi) in xs.iter().enumerate() {
            for (j, &yj) in ys
                .iter()
                .enumerate()
                .filter(|&(j, _)| (i + j) as i32 > first)
            {
                let differ = b.xor(xi, yj);
                self.bit(differ, base + (i + j) as i32 - 1, true);
            }
        }
        for bits in [&xs, &ys] {
            for (i, &bit) in bits.iter().enumerate().filter(|&(i, _)| i as i32 > first) {
                self.bit(bit, base + i as i32 - 1, true);
            }
        }
        let top = usize::try_from(n + m - 2 - first).expect("a product of more than a unit");
        self.constant += 1 << top;
    }

    /// Adds the square of a signed number, as [`Heap::product`] does: where two bits of that
    /// product are the same, one of twice the weight.
    pub fn square(&mut self, b: &mut Builder, x: &Fixed) {
        let n = x.bits.len() as i32;
        let (xs, base) = (flip_sign(&x.bits), 2 * x.low);
        let first = self.low - base;
        for (i, &xi) in xs.iter().enumerate() {
            let below = xs[..i].iter().enumerate();
            for (j, &xj) in below.filter(|&(j, _)| (i + j) as i32 > first) {
                let differ = b.xor(xi, xj);
                self.bit(differ, base + (i + j) as i32, true);
            }
            if i as i32 > first {
                self.bit(xi, base + i as i32, true);
            }
        }
        let top = usize::try_from(2 * n - 2 - first).expect("a square of more than a unit");
        self.constant += 1 << top;
    }

    /// The sum modulo `2^(low + width)`.
    pub fn sum(self, b: &mut Builder, width: usize) -> Word {
        let height = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut rows = vec![b.constant(self.constant, width)];
        rows.extend((0..height).map(|row| {
            let bit = |column: &Word| column.get(row).copied().unwrap_or(Wire::ZERO);
            self.columns.iter().take(width).map(bit).collect()
        }));
        let rows: Vec<Int> = rows.iter().map(|row| Int::unsigned(row)).collect();
        b.sum(&rows, width)
    }

    /// [`Heap::sum`] as a signed number.
    pub fn fixed(self, b: &mut Builder, width: usize) -> Fixed {
        let low = self.low;
        let bits = self.sum(b, width);
        Fixed { bits, low }
    }
}

/// The most by which [`Heap::product`] of words of n and m bits is too large, in units, if `first`
/// is the exponent of the unit less those of the words.
///
/// Of the dropped pairs, `X_i Y_j 2^(i+j)` is missing, and `min(2^first, 2^(i+m-1))` was not
/// subtracted for each `X_i` of `i <= first`, and likewise for each `Y_j`. Half of the missing
/// pairs of a bit are less than that, so the sum is not too small. Where `i + j = first`, the three
/// terms of both bits add up to at most a unit; those of bits without such a partner, on either
/// side, to less than one.
pub(crate) fn truncation(n: usize, m: usize, first: i32) -> usize {
    let Ok(first) = usize::try_from(first) else {
        return 0;
    };
    let partners = (0..n).filter(|&i| i <= first && first - i < m).count();
    partners + usize::from(first >= n) + usize::from(first >= m)
}

/// The ANDs of [`Heap::product`], about: the bits that it puts.
pub(crate) fn product_bits(n: usize, m: usize, first: i32) -> usize {
    (0..n as i32)
        .map(|i| {
            (m as i32)
                .min(n as i32 + m as i32 - 1 - first.max(-1) - 1 - i)
                .max(0) as usize
        })
        .sum()
}

fn flip_sign(bits: &[Wire]) -> Word {
    let mut bits = bits.to_vec();
    bits.last_mut().into_iter().for_each(|sign| *sign = !*sign);
    bits
}

/// The non-adjacent form of a constant rounded to `digits` bits behind the point: exponents of
/// powers of two, and true for those that are subtracted.
pub(crate) fn signed_digits(constant: &Real, digits: i32) -> Vec<(i32, bool)> {
    let mut rest = constant.rounded_i128(i64::from(digits));
    let mut powers = Vec::new();
    let mut exponent = -digits;
    while rest != 0 {
        if rest & 1 == 1 {
            let negative = rest & 3 == 3;
            powers.push((exponent, negative));
            rest += if negative { 1 } else { -1 };
        }
        rest >>= 1;
        exponent += 1;
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::eval_words;

    /// The signed value of the low `width` bits.
    fn signed(word: u128, width: usize) -> i128 {
        (word as i128) << (128 - width) >> (128 - width)
    }

    /// All products of two words, at every unit: never too small, too large by the stated bound at
    /// most, and exact where nothing is cut off.
    #[test]
    fn products_are_off_by_what_is_stated() {
        for (n, m) in [(5, 5), (3, 6), (6, 2)] {
            for low in -3..(n + m - 1) as i32 {
                let mut b = Builder::new();
                let (x, y) = (b.input(n), b.input(m));
                let mut heap = Heap::new(low);
                let (fx, fy) = (Fixed::new(x, 0), Fixed::new(y, 0));
                heap.product(&mut b, &fx, &fy);
                let width = 16;
                let sum = heap.sum(&mut b, width);
                let circuit = b.finish(vec![sum]);
                let bound = truncation(n, m, low) as i128;
                for (x, y) in (0..1u128 << n).flat_map(|x| (0..1u128 << m).map(move |y| (x, y))) {
                    let sum = signed(eval_words(&circuit, &[x, y]).unwrap()[0], width);
                    // In units of 2^-3 or of 2^low.
                    let product = signed(x, n) * signed(y, m);
                    let (found, exact) = (sum << (low + 3), product << 3);
                    let off = found - exact;
                    let bounds = 0..=bound << (low + 3);
                    assert!(bounds.contains(&off), "{x} * {y} at {low}: {off}");
                }
            }
        }
    }

    /// A square is the product of a word with itself.
    #[test]
    fn squares_are_products() {
        for low in -3..9 {
            let mut b = Builder::new();
            let x = b.input(5);
            let x = Fixed::new(x, 0);
            let sums = [0, 1].map(|square| {
                let mut heap = Heap::new(low);
                match square {
                    1 => heap.square(&mut b, &x),
                    _ => heap.product(&mut b, &x, &x),
                }
                heap.sum(&mut b, 16)
            });
            let circuit = b.finish(sums.to_vec());
            for x in 0..32 {
                let sums = eval_words(&circuit, &[x]).unwrap();
                assert_eq!(sums[0], sums[1], "{x} at {low}");
            }
        }
    }

    #[test]
    fn a_product_takes_an_and_for_each_pair_of_bits() {
        for (n, low, ands) in [(24, -1, 24 * 26), (24, 24, 300), (53, -1, 53 * 55)] {
            let mut b = Builder::new();
            let (x, y) = (b.input(n), b.input(n));
            let mut heap = Heap::new(low);
            heap.product(&mut b, &Fixed::new(x, 0), &Fixed::new(y, 0));
            let sum = heap.sum(&mut b, (2 * n as i32 - low) as usize);
            let found = b.finish(vec![sum]).info().ands;
            assert!(found <= ands, "{n} bits at {low}: {found}");
        }
    }

    #[test]
    fn signed_digits_are_the_number() {
        let third = Real::ratio(1, 3);
        let digits = signed_digits(&third, 40);
        assert!(digits.len() <= 21);
        let sum = digits
            .iter()
            .fold(Real::of(0), |sum, &(exponent, negative)| {
                let power = Real::scaled(if negative { -1 } else { 1 }, i64::from(exponent));
                &sum + &power
            });
        assert!((&sum - &third).abs() <= Real::scaled(1, -41));
    }
}
