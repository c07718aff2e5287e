//! Sums of limbs as numbers, and their means.

use super::Accumulator;
use crate::format::{Arithmetic, Format, Parts};
use crate::word::{layers, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

impl Arithmetic {
    /// The number nearest to `dividend / (divisor 2^fraction)`, for a positive divisor; if that is
    /// 0, the result is unspecified.
    pub fn quotient_of_integers(
        self,
        b: &mut Builder,
        dividend: Int,
        divisor: Int,
        fraction: usize,
    ) -> Word {
        let minus = dividend.sign();
        let magnitude = b.abs(dividend, dividend.bits.len());
        let (magnitude, unit) = self.divided(b, &magnitude, -(fraction as i32), divisor.bits);
        let mut number = self.round_integer(b, &magnitude, unit);
        number.push(minus);
        number
    }

    /// The quotient of a magnitude in a power of two as its unit, and the unit of the quotient: as
    /// many bits as decide how it is rounded, and one that tells whether any are left.
    fn divided(
        self,
        b: &mut Builder,
        magnitude: &[Wire],
        unit: i32,
        divisor: &[Wire],
    ) -> (Word, i32) {
        // Where a unit is no more than the smallest number, one bit below it decides.
        let smallest = 1 - self.format.bias() - self.format.fraction as i32;
        let most = (divisor.len() + self.precision()) as i32;
        let more = 1 + (unit - smallest).clamp(0, most);
        let width = magnitude.len() + more as usize;
        let dividend = Int::unsigned(magnitude).shl(more as usize, width);
        let (dividend, bits) = (Int::unsigned(&dividend), divisor.len());
        let (quotient, rest) = b.div_rem(dividend, Int::unsigned(divisor), width, bits);
        let mut magnitude = vec![b.any(&rest)];
        magnitude.extend(quotient);
        (magnitude, unit - more - 1)
    }
}

impl Accumulator {
    /// The sum, rounded once to a number of the format `to`, from the sums of each of the words of
    /// all addends, of any widths.
    ///
    /// # Panics
    /// If there is not a sum for each of the words.
    pub fn finish(&self, b: &mut Builder, sums: &[Word], to: Format) -> Word {
        self.rounded(b, sums, to, None)
    }

    /// The sum divided by `count`, rounded once to a number of the format `to`: with the number of
    /// addends, their mean. It takes the bits of the window times those of `count`.
    ///
    /// `count` is an unsigned integer of which no more bits are read than
    /// [`addends`](Accumulator::addends) has; for 0 the result is unspecified.
    ///
    /// # Panics
    /// If there is not a sum for each of the words.
    pub fn mean(&self, b: &mut Builder, sums: &[Word], count: &[Wire], to: Format) -> Word {
        self.rounded(b, sums, to, Some(count))
    }

    fn rounded(
        &self,
        b: &mut Builder,
        sums: &[Word],
        format: Format,
        count: Option<&[Wire]>,
    ) -> Word {
        let to = Arithmetic {
            format,
            ..self.arithmetic
        };
        let widths = self.limbs();
        assert_eq!(sums.len(), widths.len(), "a sum for each word");
        let (limbs, rest) = sums.split_at(sums.len() - 4);
        let negative = &rest[0];
        let flags = [1, 2, 3].map(|i| b.any(&rest[i]));
        let total = self.total(b, limbs, negative);
        let minus = total[total.len() - 1];
        let magnitude = b.neg_if(minus, Int::signed(&total), total.len());
        let some = b.any(&magnitude);
        let all = b.constant(self.addends.into(), 65);
        let all = b.eq(Int::unsigned(negative), Int::unsigned(&all));
        let minus_zero = match self.addends {
            0 => Wire::ZERO,
            _ => b.and(all, !some),
        };
        let (magnitude, unit) = match count {
            Some(count) => {
                let count = Int::unsigned(count).resize(layers(self.addends as usize + 1));
                to.divided(b, &magnitude, self.unit(), &count)
            }
            None => (magnitude, self.unit()),
        };
        let number = to.round_integer(b, &magnitude, unit);
        let [nan, plus, less] = flags;
        let both = b.and(plus, less);
        let nan = b.or(nan, both);
        let infinite = b.or(plus, less);
        let special = b.or(nan, infinite);
        let (fraction, exponent) = number.split_at(format.fraction);
        let mut fraction = mask(b, !special, fraction);
        fraction[format.fraction - 1] = b.xor(fraction[format.fraction - 1], nan);
        let sign = b.xor(minus, minus_zero);
        let sign = b.mux(infinite, less, sign);
        Parts {
            fraction,
            exponent: exponent.iter().map(|&bit| b.or(bit, special)).collect(),
            sign: b.and(sign, !nan),
        }
        .join()
    }

    /// The signed sum of all addends in units of the window.
    fn total(&self, b: &mut Builder, limbs: &[Word], negative: &[Wire]) -> Word {
        let window = self.window();
        let width = window + layers(self.addends as usize + 1) + 1;
        let mut place = 0;
        let mut terms: Vec<Word> = Vec::new();
        for (limb, bits) in limbs.iter().zip(self.limbs()) {
            terms.push(Int::unsigned(limb).shl(place, width));
            place += bits;
        }
        // N - N 2^W, of which -N is its complement and 1.
        terms.push(Int::unsigned(negative).resize(width));
        let complement: Word = negative
            .iter()
            .map(|&bit| !bit)
            .chain([Wire::ONE])
            .collect();
        terms.push(Int::signed(&complement).shl(window, width));
        terms.push(Int::unsigned(&[Wire::ONE]).shl(window, width));
        let terms: Vec<Int> = terms.iter().map(|term| Int::unsigned(term)).collect();
        b.sum(&terms, width)
    }
}
