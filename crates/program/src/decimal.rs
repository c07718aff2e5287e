//! Exact conversion of decimal text and floating point to and from stored numbers.
//!
//! A fixed-point value is `stored / 2^fraction` for an integer that is stored. Every such value is
//! a finite decimal, so printing is exact. Reading a decimal or an `f64` gives the nearest stored
//! number, in a tie the even one, and reports whether it equals the number that was read: rounding
//! is never silent.
//!
//! Only functions named after floats use floating point, and no intermediate result is rounded: the
//! digits after the point are kept in limbs until the last bit is known.

use crate::float;
use crate::types::{Range, Type};

/// Longest decimal that is read, in bytes. The longest exact form of an `f64` fits.
pub const MAX_DECIMAL_BYTES: usize = 1200;
/// Largest absolute value of an exponent that is read.
pub const MAX_EXPONENT: i32 = 1200;

/// Digits of a limb: the largest power of ten that leaves 64 bits of a `u128` free.
const LIMB_DIGITS: usize = 18;
const LIMB: u128 = 10u128.pow(LIMB_DIGITS as u32);

/// The stored number nearest to a number that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The stored number: the value times `2^fraction`.
    pub stored: i128,
    /// True if it equals the number that was read.
    pub exact: bool,
}

/// Reason why a number has no stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStored {
    /// The text is not a number in decimal.
    #[error("a decimal is written in digits with at most one point, as 12.5 or 1.25e1")]
    NotADecimal,
    /// The text, or its exponent, is longer than any number needs.
    #[error("a decimal has at most {MAX_DECIMAL_BYTES} characters and {MAX_EXPONENT} as exponent")]
    TooLong,
    /// Infinite, or not a number.
    #[error("the number is not finite")]
    NotFinite,
    /// No type holds it. The sign is that of the number.
    #[error("no type holds a number that large")]
    TooLarge {
        /// True if the number is negative.
        negative: bool,
    },
}

/// Returns the stored number with `fraction` bits (at most 64) after the binary point that is
/// nearest to a decimal: a sign or none, digits with at most one point, an exponent (`e-3`) or
/// none.
///
/// # Errors
/// The fault of the text. The caller checks whether a type holds the number.
pub fn parse(text: &str, fraction: u8) -> Result<Nearest, NotStored> {
    if text.len() > MAX_DECIMAL_BYTES {
        return Err(NotStored::TooLong);
    }
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = Vec::with_capacity(mantissa.len());
    for digit in before.bytes().chain(behind.bytes()) {
        match digit {
            b'0'..=b'9' => digits.push(digit - b'0'),
            _ => return Err(NotStored::NotADecimal),
        }
    }
    if digits.is_empty() {
        return Err(NotStored::NotADecimal);
    }
    let point = before.len() as i64 + i64::from(exponent);
    let magnitude = nearest_magnitude(&digits, point, fraction);
    magnitude
        .and_then(|(magnitude, exact)| signed(magnitude, negative, exact))
        .ok_or(NotStored::TooLarge { negative })
}

/// Returns the stored number with `fraction` bits (at most 64) after the binary point that is
/// nearest to a float.
///
/// # Errors
/// The number is not finite, or no type holds it.
pub fn from_f64(number: f64, fraction: u8) -> Result<Nearest, NotStored> {
    if !number.is_finite() {
        return Err(NotStored::NotFinite);
    }
    let negative = number.is_sign_negative();
    let bits = number.to_bits();
    let (exponent, mantissa) = (
        (bits >> 52 & 0x7ff) as i32,
        u128::from(bits & ((1 << 52) - 1)),
    );
    // The value is `mantissa * 2^power`; subnormal numbers have no leading one.
    let (mantissa, power) = match exponent {
        0 => (mantissa, -1074),
        _ => (mantissa | 1 << 52, exponent - 1075),
    };
    let shift = power + i32::from(fraction);
    let magnitude = if mantissa == 0 {
        Some((0, true))
    } else if shift >= 0 {
        // A mantissa of 53 bits leaves 75 above it.
        (shift < 75).then(|| (mantissa << shift, true))
    } else {
        Some(shift_right(mantissa, shift.unsigned_abs()))
    };
    magnitude
        .and_then(|(magnitude, exact)| signed(magnitude, negative, exact))
        .ok_or(NotStored::TooLarge { negative })
}

/// The value of a stored number as a decimal, exactly and in the fewest digits.
pub fn text(stored: i128, fraction: u8) -> String {
    let magnitude = stored.unsigned_abs();
    let mask = (1u128 << fraction) - 1;
    let mut text = format!("{}", magnitude >> fraction);
    let mut rest = magnitude & mask;
    if rest != 0 {
        text.push('.');
    }
    while rest != 0 {
        // Below `2^64`, so that ten times it fits.
        rest *= 10;
        text.push(char::from(b'0' + (rest >> fraction) as u8));
        rest &= mask;
    }
    if stored < 0 { format!("-{text}") } else { text }
}

/// The value of a stored number of `ty` in digits: an exact decimal, or for floating point the
/// shortest one that is read as the same number.
pub fn value_text(stored: i128, ty: Type) -> String {
    match ty {
        Type::Float(format) => float::text(stored, format),
        ty => text(stored, ty.fraction()),
    }
}

/// The range of stored numbers of `ty` in values: `-1.5..1.5`. Of floating point it is of all
/// numbers, or of magnitudes beside zero.
pub fn range_text(range: Range, ty: Type) -> String {
    if ty.is_float() {
        return match ty.magnitudes(range) {
            Some(Range { lo, hi }) => {
                format!("magnitudes {}..{}", value_text(lo, ty), value_text(hi, ty))
            }
            None => "-inf..inf".into(),
        };
    }
    let (lo, hi) = (text(range.lo, ty.fraction()), text(range.hi, ty.fraction()));
    format!("{lo}..{hi}")
}

/// The value of a stored number as the nearest `f64`, and whether that is the value itself.
pub fn to_f64(stored: i128, fraction: u8) -> (f64, bool) {
    let float = stored as f64;
    // Dividing by a power of two is exact: the exponents of fixed point are far from the ends.
    let value = float / 2f64.powi(fraction.into());
    let magnitude = stored.unsigned_abs();
    let significant = match magnitude {
        0 => 0,
        _ => 128 - magnitude.leading_zeros() - magnitude.trailing_zeros(),
    };
    (value, significant <= f64::MANTISSA_DIGITS)
}

/// Returns whether every value of the type is an `f64`.
pub fn fits_f64(ty: Type) -> bool {
    // The smallest number, which needs one more bit, is a power of two.
    u32::from(ty.bits()) - u32::from(ty.is_signed()) <= f64::MANTISSA_DIGITS
}

/// The exponent of a decimal, bounded by [`MAX_EXPONENT`].
pub(crate) fn parse_exponent(text: &str) -> Result<i32, NotStored> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(NotStored::NotADecimal);
    }
    let exponent = text.parse::<i32>().map_err(|_| NotStored::TooLong)?;
    if exponent.unsigned_abs() > MAX_EXPONENT.unsigned_abs() {
        return Err(NotStored::TooLong);
    }
    Ok(exponent)
}

/// The stored number of `digits` with the point before digit number `point`, and whether it is
/// exact; `None` above `u128`.
fn nearest_magnitude(digits: &[u8], point: i64, fraction: u8) -> Option<(u128, bool)> {
    let mut whole: u128 = 0;
    for place in 0..point.max(0) as usize {
        let digit = digits.get(place).copied().unwrap_or(0);
        whole = whole.checked_mul(10)?.checked_add(digit.into())?;
    }
    let whole = whole.checked_mul(1 << fraction)?;
    let mut limbs = limbs(digits, point);
    let bits = limbs_times(&mut limbs, fraction);
    let half = match limbs.split_first() {
        None => return whole.checked_add(bits).map(|stored| (stored, true)),
        Some((first, rest)) if *first == LIMB / 2 && rest.iter().all(|limb| *limb == 0) => {
            std::cmp::Ordering::Equal
        }
        Some((first, _)) if *first < LIMB / 2 => std::cmp::Ordering::Less,
        Some(_) => std::cmp::Ordering::Greater,
    };
    let exact = limbs.iter().all(|limb| *limb == 0);
    let stored = whole.checked_add(bits)?;
    let up = half.is_gt() || (half.is_eq() && stored % 2 == 1);
    Some((stored.checked_add(up.into())?, exact))
}

/// The digits behind the point in limbs of [`LIMB_DIGITS`], the first ones first.
fn limbs(digits: &[u8], point: i64) -> Vec<u128> {
    let behind = (digits.len() as i64 - point).max(0) as usize;
    let digit = |place: usize| {
        let place = place as i64 + point;
        let index = usize::try_from(place).ok();
        u128::from(
            index
                .and_then(|index| digits.get(index))
                .copied()
                .unwrap_or(0),
        )
    };
    let limb = |index: usize| {
        let places = index * LIMB_DIGITS..(index + 1) * LIMB_DIGITS;
        places.fold(0, |limb, place| limb * 10 + digit(place))
    };
    (0..behind.div_ceil(LIMB_DIGITS)).map(limb).collect()
}

/// Multiplies the fraction in `limbs` by `2^by` and removes the integer part.
fn limbs_times(limbs: &mut [u128], by: u8) -> u128 {
    let mut carry = 0;
    for limb in limbs.iter_mut().rev() {
        let product = (*limb << by) + carry;
        (*limb, carry) = (product % LIMB, product / LIMB);
    }
    carry
}

/// Returns the integer nearest to `magnitude / 2^by`, in a tie the even one, and whether it is
/// exact.
fn shift_right(magnitude: u128, by: u32) -> (u128, bool) {
    if by > 64 {
        // A mantissa has 53 bits: what remains is below a half.
        return (0, magnitude == 0);
    }
    let (floor, rest, half) = (magnitude >> by, magnitude & ((1 << by) - 1), 1 << (by - 1));
    let up = rest > half || (rest == half && floor % 2 == 1);
    (floor + u128::from(up), rest == 0)
}

fn signed(magnitude: u128, negative: bool, exact: bool) -> Option<Nearest> {
    let stored = i128::try_from(magnitude).ok()?;
    let stored = if negative { -stored } else { stored };
    Some(Nearest { stored, exact })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(text: &str, fraction: u8) -> (i128, bool) {
        let nearest = parse(text, fraction).unwrap();
        (nearest.stored, nearest.exact)
    }

    #[test]
    fn decimals_are_read_to_the_nearest_stored_number() {
        assert_eq!(near("1.5", 16), (98304, true));
        assert_eq!(near("-1.5", 1), (-3, true));
        assert_eq!(near("+.25", 2), (1, true));
        assert_eq!(near("7.", 0), (7, true));
        assert_eq!(near("1.25e1", 1), (25, true));
        assert_eq!(near("125E-1", 1), (25, true));
        // Python: round(Fraction("0.1") * 2**16), and of 2**64.
        assert_eq!(near("0.1", 16), (6554, false));
        assert_eq!(near("0.1", 64), (1_844_674_407_370_955_162, false));
        assert_eq!(near("1e-1200", 64), (0, false));
        assert_eq!(near("0e1200", 64), (0, true));
    }

    #[test]
    fn ties_go_to_the_even_number() {
        for (text, stored) in [
            ("0.5", 0),
            ("1.5", 2),
            ("2.5", 2),
            ("-0.5", 0),
            ("-1.5", -2),
        ] {
            assert_eq!(near(text, 0), (stored, false), "{text}");
        }
        // One digit far behind decides.
        assert_eq!(near(&format!("0.5{}1", "0".repeat(600)), 0), (1, false));
        assert_eq!(near(&format!("0.4{}", "9".repeat(600)), 0), (0, false));
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in [
            "", "-", ".", "1.2.3", "1e", "e1", "1,5", "0x1", "nan", "inf", "1_0", "--1", "1e+-2",
        ] {
            assert_eq!(parse(text, 8), Err(NotStored::NotADecimal), "{text}");
        }
        assert_eq!(
            parse(&"1".repeat(MAX_DECIMAL_BYTES + 1), 0),
            Err(NotStored::TooLong)
        );
        for text in ["1e1201", "1e-1201", "1e99999999999"] {
            assert_eq!(parse(text, 0), Err(NotStored::TooLong), "{text}");
        }
        let large = |negative| Err(NotStored::TooLarge { negative });
        assert_eq!(parse("1e1200", 0), large(false));
        assert_eq!(parse("-1e39", 0), large(true));
        assert_eq!(parse("1e20", 64), large(false));
    }

    #[test]
    fn floats_are_read_to_the_nearest_stored_number() {
        let near = |number, fraction| from_f64(number, fraction).unwrap();
        assert_eq!(
            near(-1.5, 16),
            Nearest {
                stored: -98304,
                exact: true
            }
        );
        assert_eq!(
            near(2.5, 0),
            Nearest {
                stored: 2,
                exact: false
            }
        );
        assert_eq!(
            near(-0.0, 8),
            Nearest {
                stored: 0,
                exact: true
            }
        );
        assert_eq!(
            near(f64::from_bits(1), 64),
            Nearest {
                stored: 0,
                exact: false
            }
        );
        assert_eq!(from_f64(f64::NAN, 8), Err(NotStored::NotFinite));
        assert_eq!(from_f64(f64::INFINITY, 8), Err(NotStored::NotFinite));
        assert_eq!(
            from_f64(-1e300, 8),
            Err(NotStored::TooLarge { negative: true })
        );
    }

    #[test]
    fn values_are_written_exactly() {
        let cases = [
            (0, 16, "0"),
            (-98304, 16, "-1.5"),
            (1, 4, "0.0625"),
            (-1, 0, "-1"),
            (256, 8, "1"),
            (
                i128::from(u64::MAX),
                64,
                "0.9999999999999999999457898913757247782996273599565029144287109375",
            ),
        ];
        for (stored, fraction, expected) in cases {
            assert_eq!(text(stored, fraction), expected);
        }
        assert_eq!(
            range_text(Type::fixed(2, 2).range(), Type::fixed(2, 2)),
            "-2..1.75"
        );
    }

    #[test]
    fn a_float_says_whether_it_is_the_value() {
        assert_eq!(to_f64(-98304, 16), (-1.5, true));
        assert_eq!(to_f64((1 << 53) + 1, 0), (9_007_199_254_740_992.0, false));
        assert_eq!(to_f64(1 << 63, 64), (0.5, true));
        assert!(fits_f64(Type::fixed(16, 38)) && !fits_f64(Type::fixed(16, 39)));
        assert!(fits_f64(Type::ufixed(16, 37)) && !fits_f64(Type::ufixed(16, 38)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(stored in any::<i64>(), fraction in 0u8..=64) {
            let stored = i128::from(stored);
            let written = text(stored, fraction);
            prop_assert_eq!(parse(&written, fraction), Ok(Nearest { stored, exact: true }));
        }

        /// A decimal of few digits, against the definition in whole numbers.
        #[test]
        fn the_nearest_is_within_half_a_unit(
            digits in 0u64..1_000_000_000_000, places in 0u32..12, fraction in 0u8..=64,
        ) {
            let unit = 10u128.pow(places);
            let written = format!("{}.{:0width$}", u128::from(digits) / unit,
                u128::from(digits) % unit, width = places as usize);
            let nearest = parse(&written, fraction).unwrap();
            let scaled = u128::from(digits) << fraction;
            let rest = scaled % unit;
            let up = 2 * rest > unit || (2 * rest == unit && (scaled / unit) % 2 == 1);
            let expected = scaled / unit + u128::from(up);
            prop_assert_eq!(nearest.stored, expected as i128);
            prop_assert_eq!(nearest.exact, rest == 0);
        }

        /// Both ways to one stored number agree: through the exact decimal of a float, and
        /// directly.
        #[test]
        fn a_float_is_read_as_its_decimal(number in -1e12f64..1e12, fraction in 0u8..=64) {
            let written = format!("{number:.1100}");
            prop_assert_eq!(from_f64(number, fraction), parse(&written, fraction));
        }

        #[test]
        fn a_value_within_a_float_comes_back(
            stored in -(1i64 << 53)..1 << 53, fraction in 0u8..=64,
        ) {
            let (value, exact) = to_f64(stored.into(), fraction);
            prop_assert!(exact);
            let stored = i128::from(stored);
            prop_assert_eq!(from_f64(value, fraction), Ok(Nearest { stored, exact: true }));
        }
    }
}
