//! Special functions of real numbers, from which tables are computed.

use super::{FRACTION, Real, toward_zero};
use num_bigint::BigInt;
use std::sync::OnceLock;

/// `2^bits * 2 / pi`, rounded down: for reductions of large arguments, which need more bits than a
/// [`Real`] has.
pub fn two_over_pi(bits: usize) -> BigInt {
    const GUARD: usize = 64;
    // Machin's formula once more, with more bits.
    let scale = bits + GUARD;
    let arc = |of: u32| {
        let mut power = (BigInt::from(1) << scale) / of;
        let (mut sum, mut n) = (BigInt::from(0), 1);
        while power != BigInt::from(0) {
            let term = &power / n;
            sum = if n % 4 == 1 { sum + term } else { sum - term };
            power /= of * of;
            n += 2;
        }
        sum
    };
    let pi = 16 * arc(5) - 4 * arc(239);
    ((BigInt::from(1) << (2 * scale + 1)) / pi) >> GUARD
}

impl Real {
    /// The sine and the cosine of a number of any size.
    pub fn turned(&self) -> (Real, Real) {
        let quarter = Real::pi().shifted(-1);
        let times = (self / &quarter).floor();
        let rest = self - &(&Real::scaled(times.clone(), 0) * &quarter);
        let (sine, cosine) = rest.sin_cos();
        match (times.bit(0), times.bit(1)) {
            (false, false) => (sine, cosine),
            (true, false) => (cosine, -&sine),
            (false, true) => (-&sine, -&cosine),
            (true, true) => (-&cosine, sine),
        }
    }

    /// The arc sine of a number from -1 to 1.
    pub fn asin(&self) -> Real {
        let rest = &Real::of(1) - &(self * self);
        match (rest == 0, self.is_negative()) {
            (true, false) => Real::pi().shifted(-1),
            (true, true) => -&Real::pi().shifted(-1),
            (false, _) => (self / &rest.sqrt()).atan(),
        }
    }

    /// The error function, by its series `2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!`: all
    /// terms have one sign. For `|x|` up to 12.
    pub fn erf(&self) -> Real {
        let square = self * self;
        let (mut sum, mut term, mut n) = (Real::of(0), self.clone(), 1);
        while term != 0 {
            sum = &sum + &term;
            n += 2;
            term = toward_zero(&(&term * &square).shifted(1), n);
        }
        let scale = &(-&square).exp() / &Real::pi().sqrt();
        (&sum * &scale).shifted(1)
    }

    /// `exp(x^2) (1 - erf(x))` for `x >= 0`: the complement of the error function without its
    /// exponential part.
    ///
    /// Below 6 from the series of `erf`, beyond by the continued fraction of Laplace (Abramowitz
    /// and Stegun, 7.1.14), whose terms suffice for 2^-150 there.
    pub fn erfcx(&self) -> Real {
        if self < &Real::of(6) {
            let rest = &Real::of(1) - &self.erf();
            return &rest * &(self * self).exp();
        }
        let mut tail = self.clone();
        for k in (1..120).rev() {
            tail = self + &(&Real::ratio(k, 2) / &tail);
        }
        &Real::of(1) / &(&tail * &Real::pi().sqrt())
    }

    /// The natural logarithm of the gamma function of a number above zero: Stirling's series
    /// (Abramowitz and Stegun, 6.1.40) of a number above 60, and the recurrence down from there.
    pub fn lgamma(&self) -> Real {
        let (mut x, mut product) = (self.clone(), Real::of(1));
        while x < 60 {
            product = &product * &x;
            x = &x + &Real::of(1);
        }
        let half = Real::ratio(1, 2);
        let mut sum = &(&(&x - &half) * &x.ln()) - &x;
        sum = &sum + &Real::pi().shifted(1).ln().shifted(-1);
        let inverse = &Real::of(1) / &x;
        let square = &inverse * &inverse;
        let mut power = inverse;
        for (k, bernoulli) in (1..).zip(bernoulli()) {
            let term = toward_zero(&(bernoulli * &power), 2 * k * (2 * k - 1));
            sum = &sum + &term;
            power = &power * &square;
        }
        &sum - &product.ln()
    }

    /// The gamma function of a number above zero.
    pub fn gamma(&self) -> Real {
        self.lgamma().exp()
    }
}

/// The Bernoulli numbers B2, B4, ..., as many as the series above needs.
///
/// In B_m = - sum_{k < m} binomial(m + 1, k) B_k / (m + 1) errors grow by some bits a step, so it
/// runs on numbers with more of them.
fn bernoulli() -> &'static [Real] {
    const COUNT: usize = 36;
    const MORE: usize = 512;
    static NUMBERS: OnceLock<Vec<Real>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let mut numbers = vec![BigInt::from(1) << (FRACTION + MORE)];
        for m in 1..=2 * COUNT {
            let (mut sum, mut binomial) = (BigInt::from(0), BigInt::from(1));
            for (k, number) in numbers.iter().enumerate() {
                sum += &binomial * number;
                binomial = binomial * (m + 1 - k) / (k + 1);
            }
            numbers.push(-sum / (m + 1));
        }
        let even = numbers.iter().skip(2).step_by(2);
        even.map(|number| Real(number >> MORE)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::digits;
    use super::*;

    /// 2/pi, A060294; erf(1), A099286 (its complement to 1 is A099287); gamma(1/3), A073005; of
    /// Abramowitz and Stegun, table 6.1, the logarithm of gamma(1/2) is that of pi, halved.
    #[test]
    fn special_functions_have_the_published_digits() {
        let two_over_pi = Real(two_over_pi(FRACTION));
        let numbers = [two_over_pi, Real::of(1).erf(), Real::ratio(1, 3).gamma()];
        let digits_of = [
            "0.636619772367581343075535053490057448137838582961825794990669",
            "0.842700792949714869341220635082609259296066997966302908459937",
            "2.678938534707747633655692940974677644128689377957301100950428",
        ];
        for (number, published) in numbers.iter().zip(digits_of) {
            assert_eq!(digits(number), published);
        }
    }

    #[test]
    fn special_functions_obey_their_equations() {
        let close = |a: &Real, b: &Real| (a - b).abs() < Real::scaled(1, -140);
        for n in [-900, -300, -97, -1, 0, 1, 50, 97, 400] {
            let x = Real::ratio(n, 97);
            let (sine, cosine) = x.turned();
            assert!(close(&sine, &x.sin_cos().0) && close(&cosine, &x.sin_cos().1));
            if n.abs() <= 97 {
                assert!(close(&x.asin().sin_cos().0, &x));
            }
        }
        let half_of_pi = Real::pi().ln().shifted(-1);
        assert!(close(&Real::ratio(1, 2).lgamma(), &half_of_pi));
        assert!(close(&Real::of(7).gamma(), &Real::of(720)));
        // Both forms of the complement at their border.
        let x = Real::of(6);
        let below = &(&Real::of(1) - &x.erf()) * &(&x * &x).exp();
        assert!(close(&x.erfcx(), &below));
    }
}
