//! Floating-point numbers as their stored numbers: the bits of IEEE 754's interchange formats.
//!
//! Every conversion is correctly rounded: to the nearest number, of two equally near the even one,
//! by integer arithmetic. So the bytes of a program and of its data are the same on every machine.
//! Every NaN becomes the canonical one of its format. (IEEE 754-2019, sections 3.4 and 4.3.1.)

use crate::decimal::{MAX_DECIMAL_BYTES, Nearest, NotStored, parse_exponent};
use num_bigint::BigUint;
pub use sealane_numeric::Format;

/// Most significant digits that a number of 16 bits needs to be told from its neighbours.
const DIGITS_OF_16_BITS: usize = 5;

/// The format with the numbers of both: the wider one, or one that is wider than either.
pub fn common(one: Format, two: Format) -> Format {
    let holds = |format: &Format| {
        format.exponent >= one.exponent.max(two.exponent)
            && format.fraction >= one.fraction.max(two.fraction)
    };
    Format::ALL.into_iter().find(holds).unwrap_or(Format::F64)
}

/// Returns whether a stored number is infinite or NaN.
pub fn is_special(stored: i128, format: Format) -> bool {
    let infinity = format.infinity() as i128;
    stored & infinity == infinity
}

/// The stored number nearest to an `f64`. An overflow is infinite, and not exact.
pub fn from_f64(number: f64, format: Format) -> Nearest {
    let exact = |stored: u128| Nearest {
        stored: stored as i128,
        exact: true,
    };
    let negative = number.is_sign_negative();
    if number.is_nan() {
        return exact(format.nan());
    }
    if number.is_infinite() {
        return exact(format.infinity() | sign(negative, format));
    }
    let bits = number.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    // The value is `mantissa * 2^power`; subnormal numbers have no leading one.
    let (mantissa, power) = match field {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, field - 1075),
    };
    rounded(negative, mantissa.into(), power, false, format)
}

/// The stored number nearest to a whole number.
pub fn from_whole(number: i128, format: Format) -> Nearest {
    rounded(number < 0, number.unsigned_abs(), 0, false, format)
}

/// The stored number nearest to the ratio of a whole number to one above zero.
pub fn from_ratio(numerator: i128, denominator: u128, format: Format) -> Nearest {
    let (over, under) = (numerator.unsigned_abs().into(), denominator.into());
    quotient(numerator < 0, over, under, format)
}

/// Returns the stored number nearest to a text: a decimal as [`decimal::parse`] reads it, or `nan`,
/// `inf` or `infinity` in letters of any case, with a sign or none.
///
/// # Errors
/// The fault of the text, or a finite number beyond all numbers of the format.
///
/// [`decimal::parse`]: crate::decimal::parse
pub fn parse(text: &str, format: Format) -> Result<Nearest, NotStored> {
    if text.len() > MAX_DECIMAL_BYTES {
        return Err(NotStored::TooLong);
    }
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let is = |word: &str| unsigned.eq_ignore_ascii_case(word);
    if is("nan") || is("inf") || is("infinity") {
        let number = if is("nan") { f64::NAN } else { f64::INFINITY };
        return Ok(from_f64(if negative { -number } else { number }, format));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [before, behind].concat();
    let number = if digits.bytes().all(|digit| digit.is_ascii_digit()) {
        BigUint::parse_bytes(digits.as_bytes(), 10).ok_or(NotStored::NotADecimal)?
    } else {
        return Err(NotStored::NotADecimal);
    };
    let ten = |power: i64| BigUint::from(10u8).pow(power.unsigned_abs() as u32);
    let nearest = match i64::from(exponent) - behind.len() as i64 {
        up @ 0.. => quotient(negative, number * ten(up), BigUint::from(1u8), format),
        down => quotient(negative, number, ten(down), format),
    };
    if is_special(nearest.stored, format) {
        Err(NotStored::TooLarge { negative })
    } else {
        Ok(nearest)
    }
}

/// The value of a stored number; every number of a format is an `f64`.
pub fn to_f64(stored: i128, format: Format) -> f64 {
    let bits = stored as u128;
    let fraction = (bits & ((1 << format.fraction) - 1)) as u64;
    let field = (bits >> format.fraction) as i32 & ((1 << format.exponent) - 1);
    let (bias, places) = (format.bias(), format.fraction as i32);
    let magnitude = match field {
        0 => scaled(fraction, 1 - bias - places),
        _ if is_special(stored, format) => match fraction {
            0 => f64::INFINITY,
            _ => return f64::NAN,
        },
        _ => scaled(fraction | 1 << places, field - bias - places),
    };
    match bits >> (format.bits() - 1) & 1 {
        1 => -magnitude,
        _ => magnitude,
    }
}

/// `mantissa * 2^power`, an `f64`.
fn scaled(mantissa: u64, power: i32) -> f64 {
    // In two steps: the power itself may be below all normal numbers.
    let half = power / 2;
    mantissa as f64 * 2f64.powi(half) * 2f64.powi(power - half)
}

/// The shortest decimal that is read as the same stored number: `0.1`, `1e30`, `-0.0`, `nan`,
/// `-inf`.
pub fn text(stored: i128, format: Format) -> String {
    let value = to_f64(stored, format);
    if value.is_nan() {
        return "nan".into();
    }
    match format.bits() {
        _ if !value.is_finite() => format!("{value}"),
        64 => format!("{value:?}"),
        32 => format!("{:?}", value as f32),
        _ => {
            let digits = |count: usize| format!("{value:.count$e}");
            let same =
                |text: &String| parse(text, format).is_ok_and(|nearest| nearest.stored == stored);
            let shortest = (0..DIGITS_OF_16_BITS).map(digits).find(same);
            let number = shortest.and_then(|text| text.parse::<f64>().ok());
            format!("{:?}", number.unwrap_or(value))
        }
    }
}

fn sign(negative: bool, format: Format) -> u128 {
    u128::from(negative) << (format.bits() - 1)
}

/// The number nearest to a ratio.
fn quotient(negative: bool, over: BigUint, under: BigUint, format: Format) -> Nearest {
    // Bits of the quotient: more than any format of programs has, so that no tie is missed.
    const BITS: i64 = 66;
    let up = under.bits() as i64 - over.bits() as i64 + BITS;
    let (over, under) = match up {
        0.. => (over << up as u64, under),
        _ => (over, under << up.unsigned_abs()),
    };
    let (whole, rest) = (&over / &under, &over % &under);
    let mantissa = u128::try_from(whole).unwrap_or(u128::MAX);
    rounded(negative, mantissa, -up, rest != BigUint::ZERO, format)
}

/// The number nearest to `mantissa * 2^power`, or to a number above it by less than `2^power`; such
/// a mantissa has more bits than the format.
fn rounded(negative: bool, mantissa: u128, power: i64, above: bool, format: Format) -> Nearest {
    let done = |magnitude: u128, exact: bool| Nearest {
        stored: (magnitude | sign(negative, format)) as i128,
        exact,
    };
    if mantissa == 0 {
        return done(0, !above);
    }
    let leading = i64::from(127 - mantissa.leading_zeros()) + power;
    if leading > format.max_exponent().into() {
        return done(format.infinity(), false);
    }
    let least = i64::from(1 - format.bias());
    let exponent = leading.max(least);
    let dropped = exponent - format.fraction as i64 - power;
    let (mut kept, mut exact) = (0, false);
    if dropped <= 0 {
        (kept, exact) = (mantissa << dropped.unsigned_abs(), !above);
    } else if dropped < 128 {
        kept = mantissa >> dropped;
        let (rest, half) = (mantissa & ((1 << dropped) - 1), 1 << (dropped - 1));
        let up = rest > half || rest == half && (above || kept & 1 == 1);
        kept += u128::from(up);
        exact = rest == 0 && !above;
    }
    // The leading one of a normal number counts as one in the exponent field, and so does a carry.
    let magnitude = kept + (((exponent - least) as u128) << format.fraction);
    done(magnitude, exact && magnitude < format.infinity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: [Format; 2] = [Format::F16, Format::BF16];

    fn stored(text: &str, format: Format) -> i128 {
        parse(text, format).map_or(-1, |nearest| nearest.stored)
    }

    #[test]
    fn known_numbers_have_the_bits_of_the_standard() {
        // IEEE 754-2019, table 3.5; values of half precision as in its Wikipedia article.
        for (text, format, bits) in [
            ("1", Format::F16, 0x3c00),
            ("-2", Format::F16, 0xc000),
            ("65504", Format::F16, 0x7bff),
            ("65519.99", Format::F16, 0x7bff),
            ("5.960464477539063e-8", Format::F16, 0x0001),
            ("2.9802322387695312e-8", Format::F16, 0x0000),
            ("2.98023223876953126e-8", Format::F16, 0x0001),
            ("0.00006103515625", Format::F16, 0x0400),
            ("0.33325195", Format::F16, 0x3555),
            ("nan", Format::F16, 0x7e00),
            ("-INF", Format::F16, 0xfc00),
            ("3.140625", Format::BF16, 0x4049),
            ("1.00390625", Format::BF16, 0x3f80),
            (
                "1.003906250000000000000000000000000001",
                Format::BF16,
                0x3f81,
            ),
            ("-0", Format::F32, 0x8000_0000),
            ("0.1", Format::F32, 0x3dcc_cccd),
            ("Infinity", Format::F32, 0x7f80_0000),
            ("0.1", Format::F64, 0x3fb9_9999_9999_999a),
        ] {
            assert_eq!(stored(text, format), bits, "{text}");
        }
        for text in ["65520", "-1e400", "1e1200"] {
            assert!(matches!(
                parse(text, Format::F16),
                Err(NotStored::TooLarge { .. })
            ));
        }
        for text in ["", ".", "e5", "1e", "0x10", "1_0", "nanny", "--1", "1e1201"] {
            assert!(parse(text, Format::F64).is_err(), "{text}");
        }
    }

    #[test]
    fn formats_find_the_next_one_that_holds_both() {
        assert_eq!(common(Format::F16, Format::BF16), Format::F32);
        assert_eq!(common(Format::F16, Format::F16), Format::F16);
        assert_eq!(common(Format::F64, Format::BF16), Format::F64);
        assert_eq!(common(Format::F32, Format::F16), Format::F32);
    }

    #[test]
    fn all_numbers_of_16_bits_come_back_from_their_text_and_value() {
        for format in SMALL {
            for number in 0..1 << 16 {
                let value = to_f64(number, format);
                let want = if value.is_nan() {
                    format.nan() as i128
                } else {
                    number
                };
                assert_eq!(from_f64(value, format).stored, want, "{number:x}");
                assert!(from_f64(value, format).exact);
                assert_eq!(stored(&text(want, format), format), want, "{number:x}");
                if format == Format::BF16 && !value.is_nan() {
                    // A bfloat16 is the upper half of an f32.
                    let single = f32::from_bits((number as u32) << 16);
                    assert_eq!(f64::from(single).to_bits(), value.to_bits());
                }
            }
        }
        assert_eq!(text(0x2e66, Format::F16), "0.1");
        assert_eq!(text(0x3f80_0000, Format::F32), "1.0");
        assert_eq!(text(1, Format::F64), "5e-324");
    }

    proptest! {
        /// The machine's conversions are correctly rounded.
        #[test]
        fn singles_and_doubles_are_those_of_rust(bits in any::<u64>()) {
            let (double, single) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            prop_assume!(!double.is_nan() && !single.is_nan());
            prop_assert_eq!(from_f64(double, Format::F64).stored, i128::from(bits));
            prop_assert_eq!(to_f64(bits.into(), Format::F64).to_bits(), bits);
            let narrow = from_f64(double, Format::F32);
            prop_assert_eq!(narrow.stored, i128::from((double as f32).to_bits()));
            prop_assert_eq!(narrow.exact, f64::from(double as f32) == double);
            let value = to_f64(i128::from(bits as u32), Format::F32);
            prop_assert_eq!(value.to_bits(), f64::from(single).to_bits());
            for text in [format!("{double:e}"), format!("{single:?}"), text(bits.into(), Format::F64)] {
                let is = |parsed: f64| i128::from(parsed.to_bits());
                prop_assert_eq!(stored(&text, Format::F64), text.parse().map_or(-2, is));
            }
        }

        #[test]
        fn decimals_and_ratios_are_those_of_rust(
            digits in any::<i64>(), places in 0u32..30, single in any::<bool>(),
        ) {
            let text = format!("{digits}e-{places}");
            let (format, want) = if single { (Format::F32, text.parse::<f32>().map_or(-2, |x| x.to_bits().into())) } else { (Format::F64, text.parse::<f64>().map_or(-2, |x| x.to_bits().into())) };
            prop_assert_eq!(stored(&text, format), want);
            let ratio = from_ratio(digits.into(), 10u128.pow(places), format);
            prop_assert_eq!(ratio.stored, want);
        }
    }
}
