//! Comparisons, minimum and maximum.
//!
//! A number whose magnitude is inverted where the sign is set is a two's complement integer in the
//! order of numbers, with -0 just below +0. So an order is one comparison of integers, and NaN and
//! zeros are mended beside it.

use crate::format::{Arithmetic, Parts, Subnormals};
use crate::word::mask;
use sealane_circuit::{Builder, Int, Wire, Word};

impl Arithmetic {
    /// `x = y`: false if one is NaN, true for zeros of any signs.
    pub fn eq(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        let (sign, magnitude) = (x.len() - 1, 0..x.len() - 1);
        let [x_size, y_size] = [x, y].map(|x| Int::unsigned(&x[magnitude.clone()]));
        let same = b.eq(x_size, y_size);
        let class = self.class(b, x);
        let zeros = match self.subnormals {
            Subnormals::Kept => b.and(same, class.zero),
            Subnormals::Flushed => {
                let other = self.class(b, y);
                b.and(class.zero, other.zero)
            }
        };
        let same_sign = !b.xor(x[sign], y[sign]);
        let number = b.and(same_sign, !class.nan);
        let equal = b.and(same, number);
        b.or(equal, zeros)
    }

    /// `x != y`: true if one is NaN.
    pub fn ne(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        !self.eq(b, x, y)
    }

    /// `x < y`: false if one is NaN; zeros of any signs are equal.
    pub fn lt(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        let (numbers, zeros) = self.unordered(b, x, y);
        let below = self.below(b, x, y);
        let below = b.and(below, !zeros);
        b.and(below, numbers)
    }

    /// `x <= y`: false if one is NaN; zeros of any signs are equal.
    pub fn le(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        let (numbers, zeros) = self.unordered(b, x, y);
        let above = self.below(b, y, x);
        let above = b.and(above, !zeros);
        b.and(!above, numbers)
    }

    /// `x > y`.
    pub fn gt(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        self.lt(b, y, x)
    }

    /// `x >= y`.
    pub fn ge(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        self.le(b, y, x)
    }

    /// The smaller number; of a number and NaN the number. -0 counts as smaller than +0.
    pub fn fmin(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let below = self.below(b, x, y);
        self.choose(b, below, x, y)
    }

    /// The larger number; of a number and NaN the number. +0 counts as larger than -0.
    pub fn fmax(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let below = self.below(b, y, x);
        self.choose(b, below, x, y)
    }

    /// `x - y` where `x > y`, else +0; NaN if one is NaN.
    pub fn fdim(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let difference = self.sub(b, x, y);
        // Only a number takes part in an order.
        let zero = self.le(b, x, y);
        mask(b, !zero, &difference)
    }

    /// True if both are numbers; and true if both are zeros.
    fn unordered(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Wire, Wire) {
        let (x, y) = (self.class(b, x), self.class(b, y));
        (b.and(!x.nan, !y.nan), b.and(x.zero, y.zero))
    }

    /// The order of all numbers with -0 below +0; for NaN any value.
    pub(crate) fn below(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        let (x, y) = (ordered(b, x), ordered(b, y));
        b.lt(Int::signed(&x), Int::signed(&y))
    }

    /// `x` or `y`: the one that is a number if the other is none, else as `first` says.
    fn choose(self, b: &mut Builder, first: Wire, x: &[Wire], y: &[Wire]) -> Word {
        let nan = [x, y].map(|x| self.class(b, x).nan);
        let first = b.or(first, nan[1]);
        let first = b.and(first, !nan[0]);
        let chosen = b.select(first, x, y);
        // NaN was chosen only if both are.
        let nan = b.and(nan[0], nan[1]);
        self.canonical(b, &chosen, nan)
    }

    /// The number `x`; the canonical NaN where `nan` says that it is one. Numbers that are read as
    /// zeros are zeros.
    pub(crate) fn canonical(self, b: &mut Builder, x: &[Wire], nan: Wire) -> Word {
        let Parts {
            mut fraction,
            exponent,
            sign,
        } = self.format.split(x);
        let clear = match self.subnormals {
            Subnormals::Kept => nan,
            Subnormals::Flushed => {
                let hidden = b.any(&exponent);
                b.or(nan, !hidden)
            }
        };
        fraction
            .iter_mut()
            .for_each(|bit| *bit = b.and(*bit, !clear));
        let quiet = fraction.last_mut().expect("a fraction field");
        *quiet = b.xor(*quiet, nan);
        let sign = b.and(sign, !nan);
        Parts::new(fraction, exponent, sign).join()
    }
}

/// The integer with the order of the number.
fn ordered(b: &mut Builder, x: &[Wire]) -> Word {
    let (&sign, magnitude) = x.split_last().expect("a number");
    let mut word: Word = magnitude.iter().map(|&bit| b.xor(bit, sign)).collect();
    word.push(sign);
    word
}
