//! Products.

use crate::format::Arithmetic;
use crate::pack::{Class, Special, Unrounded};
use crate::word::{bit, complement, normalise, swap_if};
use sealane_circuit::{Builder, Int, Wire, Word};

/// The significands and the exponent of a product.
pub(crate) struct Factors {
    pub x: Word,
    pub y: Word,
    /// The biased exponent of the product of the highest bits.
    pub exponent: Word,
    /// The class. A product of two subnormal numbers may count as one that is not zero.
    pub special: Special,
    /// 1 if a factor is zero.
    pub zero: Wire,
}

impl Arithmetic {
    /// x y.
    pub fn mul(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Word {
        let sign = b.xor(x[x.len() - 1], y[y.len() - 1]);
        let factors = self.factors(b, x, y);
        let p = self.precision();
        let (x, y) = (Int::unsigned(&factors.x), Int::unsigned(&factors.y));
        let product = b.mul(x, y, 2 * p);
        // A product below 2 has its highest bit a place further down.
        let above = product[2 * p - 1];
        let upper = &product[p - 1..2 * p - 1];
        let mut significand = b.select(above, upper, &product[p - 2..2 * p - 2]);
        significand.push(Wire::ONE);
        let last = b.and(above, product[p - 2]);
        let low = b.any(&product[..p - 2]);
        let mut result = Unrounded::whole(sign, factors.exponent, significand);
        result.offset = -i128::from(self.format.bias());
        (result.above, result.sticky) = (above, b.or(low, last));
        self.pack(b, &result, factors.special)
    }

    /// Both significands, with the highest bit 1, and the exponent of their product.
    pub(crate) fn factors(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Factors {
        if !(self.is_flushed() || self.is_narrow()) {
            return self.sorted_factors(b, x, y);
        }
        let (x, y) = (self.unpack(b, x), self.unpack(b, y));
        let zero = b.or(x.class.zero, y.class.zero);
        let exponents = [Int::signed(&x.exponent), Int::signed(&y.exponent)];
        Factors {
            exponent: self.product_exponent(b, &exponents),
            special: product_class(b, x.class, y.class, zero),
            zero,
            x: x.significand,
            y: y.significand,
        }
    }

    /// As the product of two subnormal numbers is rounded to zero, only one operand is normalised:
    /// the other is first put second if it is not normal.
    fn sorted_factors(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Factors {
        let (x, y) = (self.format.split(x), self.format.split(y));
        let classes = [&x, &y].map(|parts| self.classify(b, parts));
        let normal = [&x, &y].map(|parts| b.any(&parts.exponent));
        let (mut first, mut second) = swap_if(b, normal[0], &x.fraction, &y.fraction);
        first.push(b.and(normal[0], normal[1]));
        let (mut first, amount) = normalise(b, &first);
        let zero = !first[self.format.fraction];
        first[self.format.fraction] = Wire::ONE;
        second.push(Wire::ONE);
        let x = self.lift(b, normal[0], x.exponent);
        let y = self.lift(b, normal[1], y.exponent);
        // -amount is its complement and 1.
        let down = complement(&amount);
        let exponents = [
            Int::unsigned(&x),
            Int::unsigned(&y),
            Int::signed(&down),
            bit(&Wire::ONE),
        ];
        Factors {
            exponent: self.product_exponent(b, &exponents),
            special: product_class(b, classes[0], classes[1], zero),
            zero: b.or(classes[0].zero, classes[1].zero),
            x: first,
            y: second,
        }
    }

    /// The sum of exponents, each with its bias.
    fn product_exponent(self, b: &mut Builder, exponents: &[Int]) -> Word {
        let width = self.exponent_width();
        b.sum(exponents, width)
    }
}

fn product_class(b: &mut Builder, x: Class, y: Class, zero: Wire) -> Special {
    let not_finite = b.or(x.not_finite, y.not_finite);
    let invalid = b.and(not_finite, zero);
    Special::new(zero, not_finite, b.any(&[x.nan, y.nan, invalid]))
}
