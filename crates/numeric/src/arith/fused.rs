//! Products and sums that are rounded once.
//!
//! The product is exact, in twice the precision. It or the addend goes first, by exponents alone:
//! the difference may be negative, and then changes its sign. Where subnormal numbers are kept the
//! addend has no exponent below 1, so a sum moves up no further than to that one, and neither a
//! small product nor a subnormal addend needs a shift of its own.

use crate::arith::multiply::Factors;
use crate::format::Arithmetic;
use crate::pack::{Class, Special, Unrounded};
use crate::word::{
    bit, complement, flip_if, normalise_sum, normalise_within, shift_layers, shift_right_sticky,
    swap_if,
};
use sealane_circuit::{Builder, Int, Wire, Word};

/// A sum before rounding.
struct Sum {
    sign: Wire,
    /// 1 if the signs of product and addend differ.
    differ: Wire,
    /// The exponent of the bit below the highest.
    exponent: Word,
    significand: Word,
    special: Special,
}

impl Arithmetic {
    /// x y + z.
    pub fn fma(self, b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Word {
        let p = self.precision();
        let sign = b.xor(x[x.len() - 1], y[y.len() - 1]);
        let factors = self.factors(b, x, y);
        let product = b.mul(Int::unsigned(&factors.x), Int::unsigned(&factors.y), 2 * p);
        let z = self.format.split(z);
        let class = self.classify(b, &z);
        let normal = b.any(&z.exponent);
        let (mut hidden, mut exponent) = (Wire::ONE, z.exponent);
        if !self.is_flushed() {
            (hidden, exponent) = (normal, self.lift(b, normal, exponent));
        }
        let addend = [&z.fraction[..], &[hidden]].concat();
        let addend = Int::unsigned(&addend).shl(p, 2 * p);
        let addend = (addend, exponent, class, z.sign);
        let sum = self.sum_of_product(b, sign, &factors, &product, addend);
        if self.is_flushed() {
            self.fused_flushed(b, &sum)
        } else {
            self.fused_kept(b, &sum)
        }
    }

    fn sum_of_product(
        self,
        b: &mut Builder,
        sign: Wire,
        factors: &Factors,
        product: &[Wire],
        (addend, exponent, class, z_sign): (Word, Word, Class, Wire),
    ) -> Sum {
        let width = self.exponent_width() + 1;
        // The highest bit of the product counts as 2.
        let unbias = b.constant(1 - i128::from(self.format.bias()), width);
        let upper = b.add(Int::signed(&factors.exponent), Int::signed(&unbias), width);
        let apart = b.sub(Int::signed(&upper), Int::unsigned(&exponent), width);
        let flushed = self.is_flushed();
        // 1 if the addend goes first. A zero goes second and is shifted out without a trace.
        let mut swap = b.or(apart[width - 1], factors.zero);
        if flushed {
            swap = b.and(swap, !class.zero);
        }
        let mut gone = b.and(factors.zero, swap);
        if flushed {
            let addend_gone = b.and(class.zero, !swap);
            gone = b.or(gone, addend_gone);
        }
        let (large, small) = swap_if(b, swap, product, &addend);
        let mut apart = b.neg_if(apart[width - 1], Int::signed(&apart), width);
        apart.push(gone);
        let small = Int::unsigned(&small).shl(1, small.len() + 1);
        let layers = shift_layers(b, &apart, small.len());
        let (small, lost) = shift_right_sticky(b, &small, &layers);
        let lost = b.and(lost, !gone);

        let differ = b.xor(sign, z_sign);
        let small = [&[lost], &small[..], &[Wire::ZERO]].concat();
        let small = flip_if(b, differ, &small);
        let large = Int::unsigned(&large).shl(2, large.len() + 2);
        let bits = large.len() + 2;
        let terms = [Int::unsigned(&large), Int::signed(&small), bit(&differ)];
        let sum = b.sum(&terms, bits);
        let negative = sum[bits - 1];
        let significand = b.neg_if(negative, Int::signed(&sum), bits - 1);

        let not_finite = [factors.special.not_finite, class.not_finite];
        let opposite = b.all(&[not_finite[0], not_finite[1], differ]);
        // The sign of the product, changed to that of the addend where this counts.
        let flip = b.xor(swap, negative);
        let flip = b.or(flip, not_finite[1]);
        let flip = b.all(&[flip, differ, !not_finite[0]]);
        let exponent = Int::unsigned(&exponent).resize(width);
        Sum {
            sign: b.xor(sign, flip),
            differ,
            exponent: b.select(swap, &exponent, &upper),
            significand,
            special: Special {
                zero: b.and(factors.zero, class.zero),
                not_finite: b.or(not_finite[0], not_finite[1]),
                nan: b.any(&[factors.special.nan, class.nan, opposite]),
            },
        }
    }

    fn fused_flushed(self, b: &mut Builder, sum: &Sum) -> Word {
        let (significand, amount) = normalise_sum(b, &sum.significand, 1);
        let lead = significand[significand.len() - 1];
        let down = complement(&amount);
        let terms = [Int::signed(&sum.exponent), Int::signed(&down)];
        let cancelled = b.or(!lead, sum.special.zero);
        let positive = b.and(cancelled, sum.differ);
        let positive = b.and(positive, !sum.special.not_finite);
        let sign = b.and(sum.sign, !positive);
        let exponent = b.sum(&terms, sum.exponent.len());
        let mut result = Unrounded::whole(sign, exponent, significand);
        result.offset = 2;
        let special = Special::new(cancelled, sum.special.not_finite, sum.special.nan);
        self.pack(b, &result, special)
    }

    fn fused_kept(self, b: &mut Builder, sum: &Sum) -> Word {
        let limit = &sum.exponent[..sum.exponent.len() - 1];
        let advanced = normalise_within(b, &sum.significand, 1, limit);
        let (kept, low) = self.shorten(b, &advanced.word);
        let kept = b.any(&kept);
        let empty = !b.or(kept, low);
        let positive = b.all(&[empty, sum.differ, !sum.special.not_finite]);
        let sign = b.and(sum.sign, !positive);
        self.pack_advanced(b, sign, &advanced, empty, sum.special)
    }
}
