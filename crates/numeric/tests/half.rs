//! All numbers of f16, against the arithmetic of the machine in f64: that has twice the precision
//! of f16 and two bits more, so that rounding twice is as good as once (Figueroa, "When is double
//! rounding innocuous?", SIGNUM Newsletter 30(3), 1995).

use crate::common::{GOALS, both, check_one};
use crate::values::all;
use sealane_numeric::{Arithmetic, Format, Subnormals};

/// The smallest normal number.
const LOWEST: f64 = 1.0 / 16384.0;

/// The value of a number.
pub fn wide(of: Arithmetic, bits: u128) -> f64 {
    let (field, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64 / 1024.0);
    let size = match field {
        0 if of.subnormals == Subnormals::Flushed => 0.0,
        0 => fraction * LOWEST,
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(field - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The number nearest to a value.
pub fn narrow(of: Arithmetic, x: f64) -> u128 {
    if x.is_nan() {
        return of.format.nan();
    }
    let size = x.abs().min(1e9);
    let power = f64::from_bits(size.to_bits() >> 52 << 52);
    let unit = match of.subnormals {
        Subnormals::Kept => power.max(LOWEST),
        Subnormals::Flushed => power,
    } / 1024.0;
    // The sum has the last place `unit`, and is rounded to it.
    let rounder = unit * 2f64.powi(52);
    let size = (size + rounder) - rounder;
    let magnitude = match of.subnormals {
        Subnormals::Flushed if size < LOWEST => 0,
        Subnormals::Kept if size < LOWEST => (size / LOWEST * 1024.0) as u128,
        // The bias of f64 is 1023, that of f16 15.
        _ => u128::from(size.to_bits() >> 42) - ((1023 - 15) << 10),
    };
    u128::from(x.is_sign_negative()) << 15 | magnitude.min(of.format.infinity())
}

#[test]
fn the_reference_knows_its_own_numbers() {
    let of = Arithmetic::new(Format::F16);
    for bits in 0..1 << 16 {
        let x = wide(of, bits);
        let same = if x.is_nan() { of.format.nan() } else { bits };
        assert_eq!(narrow(of, x), same);
    }
}

#[test]
fn roots_of_f16_are_exact() {
    for of in both(Format::F16) {
        let all = all(Format::F16);
        for goal in GOALS {
            check_one("sqrt", of, goal, &all, |x| {
                narrow(of, wide(of, x[0]).sqrt())
            });
        }
    }
}
