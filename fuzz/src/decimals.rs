//! Decimals and floating point to stored numbers and back, compared with arbitrary-precision
//! arithmetic.

use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_program::decimal::{Nearest, NotStored, from_f64, parse, text, to_f64};
use std::cmp::Ordering;

/// Words of decimals.
pub const WORDS: &[&str] = &[
    "e",
    "E-",
    "e+",
    ".",
    "-",
    "+",
    "5",
    "0000000000",
    "e-1200",
    "2147483648",
];

/// Reads a decimal; the first byte gives the number of fraction bits.
pub fn decimal(bytes: &[u8]) -> Verdict {
    let (fraction, rest) = bytes.split_first()?;
    let fraction = fraction % 65;
    if let Some(bits) = rest.first_chunk() {
        floating(f64::from_le_bytes(*bits), fraction);
    }
    let written = str::from_utf8(rest).ok()?;
    match parse(written, fraction) {
        Ok(nearest) => {
            is_nearest(written, fraction, nearest);
            same_again(nearest.stored, fraction);
            Some(Accepted)
        }
        Err(error) => {
            if let NotStored::TooLarge { negative } = error {
                assert_eq!(negative, written.starts_with('-'));
                let (value, ten) = fraction_of(written, fraction);
                assert!(value.compare(&ten.product(1 << 63)) != Ordering::Less);
            }
            None
        }
    }
}

fn same_again(stored: i128, fraction: u8) {
    let exact = true;
    let nearest = Ok(Nearest { stored, exact });
    assert_eq!(parse(&text(stored, fraction), fraction), nearest);
    let (float, fits) = to_f64(stored, fraction);
    if fits {
        assert_eq!(from_f64(float, fraction), nearest);
    }
}

/// Checks that a float converts like its exact decimal.
fn floating(number: f64, fraction: u8) {
    let nearest = from_f64(number, fraction);
    assert_eq!(nearest == Err(NotStored::NotFinite), !number.is_finite());
    let written = format!("{number:.1074}");
    let written = written.trim_end_matches('0');
    if number.is_finite() && written.len() <= 1200 {
        assert_eq!(nearest, parse(written, fraction), "{written}");
    }
}

/// Checks a stored number against the decimal: twice the distance is at most one.
fn is_nearest(written: &str, fraction: u8, nearest: Nearest) {
    let (value, ten) = fraction_of(written, fraction);
    let magnitude = nearest.stored.unsigned_abs();
    let times = |number: u128| ten.product(number);
    let twice = value.times(2);
    let below = twice.compare(&times((2 * magnitude).saturating_sub(1)));
    let above = twice.compare(&times(2 * magnitude + 1));
    let even = magnitude.is_multiple_of(2);
    assert!(below == Ordering::Greater || (below == Ordering::Equal && even) || magnitude == 0);
    assert!(above == Ordering::Less || (above == Ordering::Equal && even));
    let exact = twice.compare(&times(2 * magnitude)) == Ordering::Equal;
    assert_eq!(nearest.exact, exact, "{written} as {magnitude}");
    assert!(nearest.stored <= 0 || !written.starts_with('-'));
    assert!(nearest.stored >= 0 || written.starts_with('-'));
}

/// An accepted decimal times `2^fraction`, without its sign, as the quotient of two numbers.
fn fraction_of(written: &str, fraction: u8) -> (Natural, Natural) {
    let unsigned = written.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().expect("an accepted exponent");
    let behind = mantissa.split_once('.');
    let behind = behind.map_or(0, |(_, behind)| behind.len());
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    let value = digits.fold(Natural::of(0), |sum, digit| {
        sum.times(10).plus((digit - b'0').into())
    });
    let power = exponent - behind as i32;
    let tens = |count: i32| (0..count).fold(Natural::of(1), |ten, _| ten.times(10));
    let value = (0..power).fold(value, |value, _| value.times(10));
    let value = (0..fraction).fold(value, |value, _| value.times(2));
    (value, tens(-power))
}

/// A natural number of any length: limbs of 32 bits, the lowest first, without zeros on top.
#[derive(Clone)]
struct Natural(Vec<u32>);

impl Natural {
    fn of(number: u128) -> Natural {
        let limbs = (0..4).map(|limb| (number >> (32 * limb)) as u32);
        Natural(limbs.collect()).trimmed()
    }

    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn plus(self, number: u32) -> Natural {
        self.line(1, number)
    }

    fn times(&self, factor: u32) -> Natural {
        self.clone().line(factor, 0)
    }

    fn product(&self, factor: u128) -> Natural {
        let limbs = Natural::of(factor).0;
        limbs.iter().rev().fold(Natural::of(0), |sum, limb| {
            let shifted = Natural([&[0], &sum.0[..]].concat()).trimmed();
            shifted.sum(&self.times(*limb))
        })
    }

    /// The number times `factor` plus `carry`.
    fn line(mut self, factor: u32, carry: u32) -> Natural {
        let mut carry = u64::from(carry);
        for limb in &mut self.0 {
            let sum = u64::from(*limb) * u64::from(factor) + carry;
            (*limb, carry) = (sum as u32, sum >> 32);
        }
        self.0.push(carry as u32);
        self.trimmed()
    }

    fn sum(&self, other: &Natural) -> Natural {
        let mut carry = 0;
        let limb = |of: &Natural, at: usize| u64::from(of.0.get(at).copied().unwrap_or(0));
        let sums = (0..=self.0.len().max(other.0.len())).map(|at| {
            let sum = limb(self, at) + limb(other, at) + carry;
            carry = sum >> 32;
            sum as u32
        });
        Natural(sums.collect()).trimmed()
    }

    fn compare(&self, other: &Natural) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arithmetic_agrees_with_short() {
        let (a, b) = (0xffff_ffff_ffff_ffff_u128, 0x1_2345_6789_u128);
        let same = |one: Natural, other: u128| one.compare(&Natural::of(other)) == Ordering::Equal;
        assert!(same(Natural::of(b).product(a), a * b));
        assert!(same(Natural::of(a).times(10).plus(7), a * 10 + 7));
        assert!(same(Natural::of(a).sum(&Natural::of(b)), a + b));
        assert_eq!(Natural::of(a).compare(&Natural::of(b)), Ordering::Greater);
        let (value, ten) = fraction_of("-12.5e-1", 3);
        assert!(same(value, 1000) && same(ten, 100));
    }
}
