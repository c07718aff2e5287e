//! Real numbers of high precision, from which the constants of circuits are computed.
//!
//! All parties have to build the same circuit, on every machine. So constants come from integer
//! arithmetic and never from the floating point of the machine at hand. A [`Real`] is a multiple of
//! `2^-FRACTION`; each operation is off by a few of these units, and each function here by less
//! than `2^-TRUSTED` for arguments of the size that tables have (below `2^16`). A table has some
//! hundred or thousand entries, of some 20 microseconds each.

pub(crate) mod special;

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::OnceLock;

/// Bits behind the point of a [`Real`].
pub const FRACTION: usize = 320;

/// Bits behind the point that functions of [`Real`] compute correctly.
pub const TRUSTED: usize = 240;

/// A multiple of `2^-FRACTION`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Real(BigInt);

impl Real {
    /// A whole number.
    pub fn of(number: i64) -> Real {
        Real(BigInt::from(number) << FRACTION)
    }

    /// `number * 2^exponent`, rounded down.
    pub fn scaled(number: impl Into<BigInt>, exponent: i64) -> Real {
        let number = number.into();
        match exponent + FRACTION as i64 {
            up @ 0.. => Real(number << up as usize),
            down => Real(number >> down.unsigned_abs() as usize),
        }
    }

    /// `over / under`.
    pub fn ratio(over: i64, under: i64) -> Real {
        &Real::of(over) / &Real::of(under)
    }

    /// The number times `2^by`, rounded down.
    pub fn shifted(&self, by: i64) -> Real {
        match by {
            0.. => Real(&self.0 << by as usize),
            _ => Real(&self.0 >> by.unsigned_abs() as usize),
        }
    }

    /// The whole number nearest to `self * 2^bits`; a half is rounded up.
    pub fn rounded(&self, bits: i64) -> BigInt {
        let half = Real::scaled(1, -1);
        (&self.shifted(bits) + &half).0 >> FRACTION
    }

    /// [`Real::rounded`] as a number of the machine.
    ///
    /// # Panics
    /// If it does not fit.
    pub fn rounded_i128(&self, bits: i64) -> i128 {
        i128::try_from(self.rounded(bits)).expect("a constant of at most 127 bits")
    }

    /// The largest whole number that is not above.
    pub fn floor(&self) -> BigInt {
        &self.0 >> FRACTION
    }

    /// True below zero.
    pub fn is_negative(&self) -> bool {
        self.0.sign() == Sign::Minus
    }

    /// The magnitude.
    pub fn abs(&self) -> Real {
        if self.is_negative() {
            -self
        } else {
            self.clone()
        }
    }

    /// The largest `e` with `2^e <= |self|`; `None` for zero.
    pub fn exponent(&self) -> Option<i64> {
        let bits = self.0.bits();
        (bits > 0).then(|| bits as i64 - 1 - FRACTION as i64)
    }

    /// The square root of a number that is not negative.
    pub fn sqrt(&self) -> Real {
        Real((&self.0 << FRACTION).sqrt())
    }

    /// Euler's number to the power of `self`.
    pub fn exp(&self) -> Real {
        const HALVINGS: i64 = 16;
        let times = (self / &Real::ln2()).floor();
        let rest = self - &(&Real(&times << FRACTION) * &Real::ln2());
        let mut power = exponential(&rest.shifted(-HALVINGS));
        for _ in 0..HALVINGS {
            power = &power * &power;
        }
        power.shifted(i64::try_from(times).expect("an exponent of a small number"))
    }

    /// The natural logarithm of a number above zero.
    ///
    /// # Panics
    /// If it is not above zero.
    pub fn ln(&self) -> Real {
        assert!(self > &Real::of(0), "a logarithm of a number above zero");
        let exponent = self.exponent().unwrap_or(0);
        let number = self.shifted(-exponent);
        // The logarithm of a number near, of a table, and that of the quotient.
        let place = usize::try_from(number.shifted(NEAR).floor()).expect("a number below 2");
        let near = Real::scaled(place as i64, -NEAR);
        let z = &(&number - &near) / &(&number + &near);
        let log = &near_logarithms()[place - (1 << NEAR)] + &odd_series(&z, false).shifted(1);
        match exponent {
            0 => log,
            _ => &log + &(&Real::of(exponent) * &Real::ln2()),
        }
    }

    /// The arc tangent.
    pub fn atan(&self) -> Real {
        const HALVINGS: i64 = 16;
        let one = Real::of(1);
        let mut tangent = self.clone();
        for _ in 0..HALVINGS {
            let secant = (&one + &(&tangent * &tangent)).sqrt();
            tangent = &tangent / &(&one + &secant);
        }
        odd_series(&tangent, true).shifted(HALVINGS)
    }

    /// The sine and the cosine of a small number: terms grow with its size.
    pub fn sin_cos(&self) -> (Real, Real) {
        let (mut sine, mut cosine) = (Real::of(0), Real::of(0));
        let mut term = Real::of(1);
        let mut n = 0;
        while term.0.sign() != Sign::NoSign {
            let sum = if n % 2 == 0 { &mut cosine } else { &mut sine };
            *sum = if n % 4 < 2 {
                &*sum + &term
            } else {
                &*sum - &term
            };
            n += 1;
            term = toward_zero(&(&term * self), n);
        }
        (sine, cosine)
    }

    /// The ratio of a circle's circumference to its diameter.
    pub fn pi() -> Real {
        // Machin, 1706.
        static PI: OnceLock<Real> = OnceLock::new();
        let part = |times, of| &Real::of(times) * &odd_series(&Real::ratio(1, of), true);
        PI.get_or_init(|| &part(16, 5) - &part(4, 239)).clone()
    }

    /// The natural logarithm of 2.
    pub fn ln2() -> Real {
        static LN2: OnceLock<Real> = OnceLock::new();
        LN2.get_or_init(|| odd_series(&Real::ratio(1, 3), false).shifted(1))
            .clone()
    }
}

/// Bits behind the point of the numbers of [`near_logarithms`].
const NEAR: i64 = 6;

/// The natural logarithms of 1 and the multiples of `2^-NEAR` up to 2.
fn near_logarithms() -> &'static [Real] {
    static LOGARITHMS: OnceLock<Vec<Real>> = OnceLock::new();
    LOGARITHMS.get_or_init(|| {
        let mut logarithms = vec![Real::of(0)];
        for below in 1 << NEAR..2 << NEAR {
            let step = odd_series(&Real::ratio(1, 2 * below + 1), false).shifted(1);
            logarithms.push(&logarithms[logarithms.len() - 1] + &step);
        }
        logarithms
    })
}

/// `1 + x + x^2/2! + ...`
fn exponential(x: &Real) -> Real {
    let (mut sum, mut term, mut n) = (Real::of(0), Real::of(1), 0);
    while term.0.sign() != Sign::NoSign {
        sum = &sum + &term;
        n += 1;
        term = toward_zero(&(&term * x), n);
    }
    sum
}

/// `x + x^3/3 + x^5/5 + ...`, with alternating signs if so asked, for `|x| < 1`.
fn odd_series(x: &Real, alternating: bool) -> Real {
    let square = x * x;
    let (mut sum, mut power, mut n) = (Real::of(0), x.clone(), 1);
    while power.0.sign() != Sign::NoSign {
        let term = toward_zero(&power, n);
        sum = if alternating && n % 4 == 3 {
            &sum - &term
        } else {
            &sum + &term
        };
        n += 2;
        power = toward_zero(&(&power * &square), 1);
    }
    sum
}

/// The quotient by a whole number, rounded towards zero: so that series end.
fn toward_zero(of: &Real, by: i64) -> Real {
    // Products are rounded down, which would keep a small negative number for ever.
    let quotient = Real(&of.0 / by);
    if quotient.0 == BigInt::from(-1) {
        Real::of(0)
    } else {
        quotient
    }
}

impl Add for &Real {
    type Output = Real;
    fn add(self, other: &Real) -> Real {
        Real(&self.0 + &other.0)
    }
}

impl Sub for &Real {
    type Output = Real;
    fn sub(self, other: &Real) -> Real {
        Real(&self.0 - &other.0)
    }
}

impl Mul for &Real {
    type Output = Real;
    fn mul(self, other: &Real) -> Real {
        Real((&self.0 * &other.0) >> FRACTION)
    }
}

impl Div for &Real {
    type Output = Real;
    fn div(self, other: &Real) -> Real {
        Real((&self.0 << FRACTION) / &other.0)
    }
}

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(-&self.0)
    }
}

impl PartialEq<i64> for Real {
    fn eq(&self, other: &i64) -> bool {
        *self == Real::of(*other)
    }
}

impl PartialOrd<i64> for Real {
    fn partial_cmp(&self, other: &i64) -> Option<Ordering> {
        self.partial_cmp(&Real::of(*other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits of a real number, cut off behind 60 of them.
    pub(super) fn digits(of: &Real) -> String {
        let scaled = (of.abs().0 * BigInt::from(10).pow(60)) >> FRACTION;
        let text = format!("{scaled:0>61}");
        let (whole, rest) = text.split_at(text.len() - 60);
        format!("{}{whole}.{rest}", if of.is_negative() { "-" } else { "" })
    }

    /// Digits from the tables of the On-Line Encyclopedia of Integer Sequences (A000796, A002162,
    /// A001113, A002193, A049469, A049470, A002391).
    #[test]
    fn constants_have_the_published_digits() {
        let of = Real::of;
        let (sine, cosine) = of(1).sin_cos();
        let numbers = [
            Real::pi(),
            Real::ln2(),
            of(1).exp(),
            of(2).sqrt(),
            sine,
            cosine,
            of(3).ln(),
        ];
        let digits_of = [
            "3.141592653589793238462643383279502884197169399375105820974944",
            "0.693147180559945309417232121458176568075500134360255254120680",
            "2.718281828459045235360287471352662497757247093699959574966967",
            "1.414213562373095048801688724209698078569671875376948073176679",
            "0.841470984807896506652502321630298999622563060798371065672751",
            "0.540302305868139717400936607442976603732310420617922227670097",
            "1.098612288668109691395245236922525704647490557822749451734694",
        ];
        for (number, published) in numbers.iter().zip(digits_of) {
            assert_eq!(digits(number), published);
        }
        assert_eq!(digits(&of(1).atan().shifted(2)), digits_of[0]);
    }

    #[test]
    fn functions_and_their_inverses_agree() {
        let close = |a: &Real, b: &Real| (a - b).abs() < Real::scaled(1, -(TRUSTED as i64));
        for n in [-300, -17, -1, 1, 5, 40, 1000] {
            let x = Real::ratio(n, 97);
            assert!(close(&x.exp().ln(), &x), "{n}");
            let (sine, cosine) = x.sin_cos();
            let squares = &(&sine * &sine) + &(&cosine * &cosine);
            assert!(close(&squares, &Real::of(1)));
            let tangent = x.atan().sin_cos();
            assert!(close(&(&tangent.0 / &tangent.1), &x), "{n}");
            let square = &x * &x;
            assert!(close(&square.sqrt(), &x.abs()));
            assert_eq!(x.rounded(10), Real::scaled(x.rounded(10), 0).floor());
        }
    }
}
