//! Errors of results, against the machine's functions in f64.

use sealane_numeric::{Arithmetic, Format, Subnormals};

/// The value of a number of a format of at most 32 bits.
pub fn value(format: Format, bits: u64) -> f64 {
    let (fraction, bias) = (format.fraction as i32, format.bias());
    let field = (bits >> fraction) as i32 & ((1 << format.exponent) - 1);
    let low = bits & ((1 << fraction) - 1);
    let size = match field {
        0 => low as f64 * 2f64.powi(1 - bias - fraction),
        _ if field == (1 << format.exponent) - 1 && low != 0 => f64::NAN,
        _ if field == (1 << format.exponent) - 1 => f64::INFINITY,
        _ => (low + (1 << fraction)) as f64 * 2f64.powi(field - bias - fraction),
    };
    match bits >> (format.bits() - 1) & 1 {
        0 => size,
        _ => -size,
    }
}

/// The weight of the last place of a number of a size.
fn place(format: Format, exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let exponent = exponent.clamp(1 - format.bias(), format.max_exponent());
    2f64.powi(exponent - format.fraction as i32)
}

/// The error of a result in units in the last place; infinite if it is of another kind.
pub fn error(arithmetic: Arithmetic, found: u64, exact: f64) -> f64 {
    let format = arithmetic.format;
    let number = value(format, found);
    if exact.is_nan() || number.is_nan() {
        let canonical = exact.is_nan() && u128::from(found) == format.nan();
        return if canonical { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 || number == 0.0 {
        let least = 2f64.powi(1 - format.bias());
        let flushed = arithmetic.subnormals == Subnormals::Flushed && exact.abs() < least;
        if exact.is_sign_negative() != number.is_sign_negative() {
            return f64::INFINITY;
        }
        if flushed && number == 0.0 {
            return 0.0;
        }
    }
    // An infinity stands for the first number beyond the largest.
    let beyond = 2f64.powi(format.max_exponent() + 1);
    if exact.is_infinite() || exact.abs() >= beyond {
        return if number.is_infinite() && number.signum() == exact.signum() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let number = number.clamp(-beyond, beyond);
    (number - exact).abs() / place(format, exact)
}

/// The operand as the circuit reads it.
pub fn operand(arithmetic: Arithmetic, bits: u64) -> f64 {
    let x = value(arithmetic.format, bits);
    let least = 2f64.powi(1 - arithmetic.format.bias());
    match arithmetic.subnormals {
        Subnormals::Flushed if x.abs() < least => 0f64.copysign(x),
        _ => x,
    }
}

/// Numbers of every exponent and both signs: borders, and `count` others of each exponent.
pub fn sample(format: Format, count: usize, seed: u64) -> Vec<u64> {
    let fraction = format.fraction;
    let mut state = seed;
    let mut next = move || {
        // A linear congruential generator (Knuth, MMIX); its upper bits are used.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state >> (64 - fraction.min(33))
    };
    let mut numbers = Vec::new();
    for field in 0..1u64 << (format.exponent + 1) {
        let ones = (1 << fraction) - 1;
        let half = 1 << (fraction - 1);
        let borders = [0, 1, 2, 3, half - 1, half, half + 1, ones - 1, ones];
        let others = (0..count).map(|_| next() & ones);
        numbers.extend(
            borders
                .into_iter()
                .chain(others)
                .map(|low| field << fraction | low),
        );
    }
    numbers
}

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
    let lowest = if flushed {
        exponent
    } else {
        exponent.max(least)
    };
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
    // Rounded up to the least normal number.
    if lowest < least {
        return sign | 1 << format.fraction;
    }
    // A carry out of the fraction is one into the exponent.
    let field = (lowest - least) as u64;
    sign | ((field << format.fraction) + units as u64)
}
