//! Known answers: errors against values of many digits, and arguments that are hard.

use crate::real::Real;

/// Arguments of f32 with the worst errors, found by running functions on all of them: samples
/// would miss them.
pub const HARD: &[(&str, u32)] = &[
    ("exp", 0xb969_efff),
    ("exp2", 0xb750_6000),
    ("log", 0x3fa1_fef7),
    ("log", 0x3fa2_22f6),
    ("log2", 0x3f3b_fd0c),
    ("log10", 0x3fa3_eff0),
    ("expm1", 0xbf1b_f0f1),
    ("log1p", 0x3b00_02de),
    ("sin", 0x747a_7646),
    ("cos", 0x48f0_dcd3),
    ("tan", 0x5798_cc29),
    ("asin", 0x3a21_0000),
    ("acos", 0x3f1b_6387),
    ("atan", 0x3e00_070a),
    ("cbrt", 0x0283_fc30),
    ("rsqrt", 0x01cf_ffc3),
    ("sinh", 0x4154_b8dd),
    ("cosh", 0x416a_de8a),
    ("tanh", 0x4110_8900),
    ("asinh", 0x3f00_33e1),
    ("erf", 0x3dca_fe40),
    ("atanh", 0x3f28_0e95),
    ("acosh", 0x4001_0cd1),
    ("sigmoid", 0xc1ff_1bfc),
    ("erfc", 0x393a_dbff),
    ("lgamma", 0x3fff_6f11),
    ("tgamma", 0xb980_323d),
];

/// A row of a table of answers in f64: `operands,rounded,exact`, where operands and the number
/// nearest to the value are hexadecimal digits, and the value is decimal.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Bits of the operands.
    pub operands: Vec<u64>,
    /// Bits of the nearest number.
    pub nearest: u64,
    exact: String,
}

impl Answer {
    /// The rows of a file whose first line is a heading.
    ///
    /// # Panics
    /// If the text is not such a file.
    pub fn table(text: &str) -> Vec<Answer> {
        let hex = |text: &str| u64::from_str_radix(text, 16).expect("bits");
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            Answer {
                operands: cells[0].split(' ').map(hex).collect(),
                nearest: hex(cells[1]),
                exact: cells[2].to_string(),
            }
        };
        text.lines().skip(1).map(row).collect()
    }

    /// The unit in the last place of the nearest number.
    pub fn unit(&self) -> f64 {
        2f64.powi(units(self.nearest).1)
    }

    /// The error of a result in units in the last place of the value, as far as 40 digits tell.
    /// Only an infinity is as good as an infinity.
    pub fn error(&self, found: u64) -> f64 {
        let infinite = |bits: u64| bits << 1 == 0x7ff << 53;
        if infinite(found) || infinite(self.nearest) {
            let same = found == self.nearest;
            return if same { 0.0 } else { f64::INFINITY };
        }
        let (size, exponent) = units(found);
        let (_, place) = units(self.nearest);
        let exact = decimal(&self.exact, -place);
        let off = &Real::scaled(size, i64::from(exponent - place)) - &exact;
        off.abs().rounded_i128(40) as f64 / 2f64.powi(40)
    }
}

/// The significand of a finite number, with its sign, and the exponent of its last place.
fn units(bits: u64) -> (i128, i32) {
    let field = (bits >> 52 & 0x7ff) as i32;
    let low = (bits & ((1 << 52) - 1)) as i128;
    let (size, exponent) = match field {
        0 => (low, -1074),
        _ => (low | 1 << 52, field - 1075),
    };
    (if bits >> 63 == 1 { -size } else { size }, exponent)
}

/// A decimal number with an exponent, times `2^binary`.
fn decimal(text: &str, binary: i32) -> Real {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().expect("an exponent");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // As many digits as the largest integer has.
    let fraction = &fraction[..fraction.len().min(36)];
    let number: i128 = format!("{whole}{fraction}").parse().expect("digits");
    let ten = exponent - fraction.len() as i64;
    // Powers of ten by logarithms would lose digits; those of five are exact and may be large.
    let mut value = Real::of(1);
    let mut shift = i64::from(binary) + ten;
    let five = Real::of(5);
    for _ in 0..ten.abs() {
        value = if ten > 0 {
            &value * &five
        } else {
            &value / &five
        };
        // Keep the number near 1, where it has all its digits.
        let size = value.exponent().unwrap_or(0);
        value = value.shifted(-size);
        shift += size;
    }
    (&value * &Real::scaled(number, -128)).shifted(shift + 128)
}
