//! Conversions between formats, each rounded once.

use crate::format::{Arithmetic, Format, Parts};
use crate::pack::Unrounded;
use crate::word::{bit, mask};
use sealane_circuit::{Builder, Int, Wire, Word};

impl Arithmetic {
    /// The number in another format: exact where that holds it, else the nearest one. Subnormal
    /// numbers are kept or flushed in both formats alike.
    pub fn convert(self, b: &mut Builder, x: &[Wire], format: Format) -> Word {
        let to = Arithmetic { format, ..self };
        let from = self.format;
        if from.exponent == format.exponent {
            return self.with_fraction(b, x, to);
        }
        // Subnormal numbers of a format with larger exponents are below half of the smallest
        // number of the other, and count as zeros.
        let lost = format.bias() + (format.fraction as i32) + 1 < from.bias();
        let number = if lost {
            self.flushed().unpack(b, x)
        } else {
            self.unpack(b, x)
        };
        let shift = format.bias() - from.bias();
        let width = number.exponent.len().max(format.exponent + 1) + 1;
        let significand = number.significand;
        if format.bias() < from.bias() + from.fraction as i32 {
            let exponent = Int::signed(&number.exponent).resize(width);
            let mut result = Unrounded::whole(number.sign, exponent, significand);
            result.offset = shift.into();
            result.carries = from.fraction > format.fraction;
            return to.pack(b, &result, number.class);
        }
        // All numbers are normal in the other format, and none is beyond its largest. The highest
        // bit of the significand makes the field 1 more.
        let shift = b.constant(i128::from(shift) - 1, width);
        let (exponent, shift) = (Int::signed(&number.exponent), Int::signed(&shift));
        let field = b.add(exponent, shift, format.exponent);
        let magnitude = rounded(b, significand, from.fraction, &field, format.fraction);
        let class = number.class;
        let replaced = b.or(class.zero, class.not_finite);
        let magnitude = mask(b, !replaced, &magnitude);
        let (fraction, field) = magnitude.split_at(format.fraction);
        let mut fraction = fraction.to_vec();
        fraction[format.fraction - 1] = b.xor(fraction[format.fraction - 1], class.nan);
        Parts {
            fraction,
            exponent: field
                .iter()
                .map(|&bit| b.xor(bit, class.not_finite))
                .collect(),
            sign: b.and(number.sign, !class.nan),
        }
        .join()
    }

    /// The number in a format with the same exponents: its bits as an integer, rounded.
    fn with_fraction(self, b: &mut Builder, x: &[Wire], to: Arithmetic) -> Word {
        let parts = self.format.split(x);
        let class = self.class(b, x);
        let fraction = if self.is_flushed() {
            mask(b, class.hidden, &parts.fraction)
        } else {
            parts.fraction
        };
        let (from, to_bits) = (self.format.fraction, to.format.fraction);
        let mut number = rounded(b, fraction, from, &parts.exponent, to_bits);
        number.push(parts.sign);
        // Rounding carries a large NaN beyond its field.
        let parts = to.format.split(&number);
        let number = Parts {
            exponent: parts
                .exponent
                .iter()
                .map(|&bit| b.or(bit, class.nan))
                .collect(),
            ..parts
        };
        to.canonical(b, &number.join(), class.nan)
    }
}

/// The magnitude of a significand, whose bits from `point` on count in the exponent field, with a
/// fraction field of `fraction` bits.
fn rounded(
    b: &mut Builder,
    significand: Word,
    point: usize,
    field: &[Wire],
    fraction: usize,
) -> Word {
    let width = fraction + field.len();
    let cut = point.saturating_sub(fraction);
    let more = fraction.saturating_sub(point);
    let mut kept = vec![Wire::ZERO; more];
    kept.extend(&significand[cut..]);
    let up = match cut.checked_sub(1) {
        None => Wire::ZERO,
        Some(guard) => {
            let sticky = b.any(&significand[..guard]);
            let inexact = b.or(sticky, kept[0]);
            b.and(significand[guard], inexact)
        }
    };
    let field = Int::unsigned(field).shl(fraction, width);
    let terms = [Int::unsigned(&kept), Int::unsigned(&field), bit(&up)];
    b.sum(&terms, width)
}
