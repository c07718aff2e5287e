//! Division, rounding down as Python's `//` and `%` do.
//!
//! The quotient is found bit by bit from the top. A step of restoring division on a partial
//! remainder of i bits takes about 2 i ANDs (subtract, then select); a step of non-restoring
//! division takes one AND for each bit of the divisor (add or subtract, by the sign of the
//! remainder) but always its whole width. So the first steps, whose remainder is shorter than half
//! the divisor, restore, and the others do not: 3/4 n^2 ANDs for n by n bits.

use crate::builder::{Builder, Wire, Word};
use crate::word::Int;
use crate::word::columns::Columns;

impl Builder {
    /// Quotient and remainder of x by y with x = q y + r, where r is 0 or has the sign of y; each
    /// modulo 2^`width` of its own.
    ///
    /// For y = 0 the result is unspecified: a caller that cannot exclude it must check.
    pub fn div_rem(&mut self, x: Int, y: Int, q_width: usize, r_width: usize) -> (Word, Word) {
        let (x, y) = (x.trim(), y.trim());
        if let Some(exponent) = power_of_two(y) {
            let remainder = Int::unsigned(&x.resize(exponent)).resize(r_width);
            return (x.shr(exponent, q_width), remainder);
        }
        // Both change their signs where y is negative: then y is not, and q stays the same.
        let y_sign = y.sign();
        let divisor = self.abs(y, y.bits.len());
        let dividend = match y_sign {
            Wire::ZERO => x.resize(x.signed_width()),
            _ => self.neg_if(y_sign, x, x.signed_width() + 1),
        };
        // For x < 0 the complement -1 - x is not negative, and rounds the other way: from
        // -1 - x = q' y + r' follows x = (-1 - q') y + (y - 1 - r').
        let x_sign = Int::signed(&dividend).sign();
        let magnitude = self.invert_if(x_sign, &dividend[..dividend.len() - 1]);
        let Parts {
            quotient,
            remainder,
            negative,
        } = self.divide(&magnitude, &divisor);

        let mut q = self.invert_if(x_sign, &quotient);
        q.push(x_sign);
        // With r' = remainder + y [negative], both r' and y - 1 - r' are one masked addition.
        let correct = self.xor(negative, x_sign);
        let base = self.invert_if(x_sign, &remainder);
        let correction: Word = divisor.iter().map(|&bit| self.and(bit, correct)).collect();
        let (base, correction) = (Int::unsigned(&base), Int::unsigned(&correction));
        let r = self.add(base, correction, divisor.len());
        let r = self.neg_if(y_sign, Int::unsigned(&r), r_width);
        (Int::signed(&q).resize(q_width), r)
    }

    /// x / y rounded down; see [`Builder::div_rem`].
    pub fn div(&mut self, x: Int, y: Int, width: usize) -> Word {
        self.div_rem(x, y, width, 0).0
    }

    /// x - y (x / y rounded down): 0 or of the sign of y; see [`Builder::div_rem`].
    pub fn rem(&mut self, x: Int, y: Int, width: usize) -> Word {
        self.div_rem(x, y, 0, width).1
    }

    /// Divides unsigned words.
    fn divide(&mut self, x: &[Wire], y: &[Wire]) -> Parts {
        let mut quotient = vec![Wire::ZERO; x.len()];
        let restoring = (y.len().saturating_sub(1) / 2).min(x.len());
        // beyond[i]: some bit of y from i on is 1, so y is more than any number of i bits.
        let from_top: Word = y.iter().rev().copied().collect();
        let mut beyond = self.scan(&from_top, Builder::or);
        beyond.reverse();
        let mut steps = x.iter().zip(quotient.iter_mut()).rev();
        let mut remainder = Word::new();
        for (&bit, q) in steps.by_ref().take(restoring) {
            remainder.insert(0, bit);
            let bits = remainder.len();
            let (left, low) = (Int::unsigned(&remainder), Int::unsigned(&y[..bits]));
            let difference = self.sub(left, low, bits + 1);
            *q = self.and(!difference[bits], !beyond[bits]);
            remainder = self.select(*q, &difference[..bits], &remainder);
        }
        // From here on the remainder is signed, in -y..y.
        let mut remainder = Int::unsigned(&remainder).resize(y.len() + 1);
        let mut negative = Wire::ZERO;
        for (&bit, q) in steps {
            remainder.insert(0, bit);
            let flipped = self.invert_if(!negative, y);
            let mut columns = Columns::new(y.len() + 1);
            columns.add(Int::unsigned(&remainder[..y.len() + 1]), 0);
            // y where the remainder is negative, else -y = !y + 1, whose sign bit is 1.
            columns.add(Int::unsigned(&flipped), 0);
            columns.add(Int::unsigned(&[!negative]), 0);
            columns.add(Int::unsigned(&[!negative]), y.len());
            remainder = columns.sum(self);
            negative = remainder[y.len()];
            *q = !negative;
        }
        remainder.truncate(y.len());
        Parts {
            quotient,
            remainder,
            negative,
        }
    }
}

/// The result of [`Builder::divide`]: the true remainder is `remainder`, plus the divisor if
/// `negative`, in as many bits as the divisor has.
struct Parts {
    quotient: Word,
    remainder: Word,
    negative: Wire,
}

fn power_of_two(y: Int) -> Option<usize> {
    let (last, rest) = y.bits.split_last()?;
    let is_power = !y.signed && *last == Wire::ONE && rest.iter().all(|&bit| bit == Wire::ZERO);
    is_power.then_some(rest.len())
}
