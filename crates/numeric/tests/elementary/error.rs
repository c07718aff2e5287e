//! Errors of results, and the nearest numbers of values.

use sealane_numeric::{Arithmetic, Subnormals};

pub use sealane_numeric::measure::{error, operand, sample, value};

/// The number of a format that is nearest to a value, of two the even one; where subnormal numbers
/// are flushed, rounded as if exponents had no lower bound, and then 0 below the normal numbers.
pub fn rounded(arithmetic: Arithmetic, exact: f64) -> u64 {
    let format = arithmetic.format;
    let sign = u64::from(exact.is_sign_negative()) << (format.bits() - 1);
    if exact.is_nan() {
        return format.nan() as u64;
    }
    let infinity = format.infinity() as u64;
    if exact.is_infinite() {
        return sign | infinity;
    }
    let flushed = arithmetic.subnormals == Subnormals::Flushed;
    if exact.abs() < 2f64.powi(-format.bias() - format.fraction as i32 - 2) {
        return sign;
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let least = 1 - format.bias();
    let kept = exponent.max(least);
    let lowest = if flushed { exponent } else { kept };
    let units = (exact.abs() / 2f64.powi(lowest - format.fraction as i32)).round_ties_even();
    let size = units * 2f64.powi(lowest - format.fraction as i32);
    if flushed && size < 2f64.powi(least) {
        return sign;
    }
    if lowest < least {
        // Rounded up to the smallest normal number.
        return sign | 1 << format.fraction;
    }
    if size >= 2f64.powi(format.max_exponent() + 1) {
        return sign | infinity;
    }
    // A carry out of the fraction is one into the exponent.
    let field = (lowest - least) as u64;
    sign | ((field << format.fraction) + units as u64)
}
