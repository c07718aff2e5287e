//! Logarithms of large numbers.

use std::f64::consts::{LN_2, PI};

/// The natural logarithm of the gamma function, for arguments from 1 on: Stirling's series, with
/// the argument raised to 16 by the recurrence first. The error is below 10^-13 of the value.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut lowered) = (x, 1.0);
    while x < 16.0 {
        lowered *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - lowered.ln()
}

/// The logarithm to base 2 of the number of ways to choose `m` of `n`; minus infinity where there
/// is none.
pub(super) fn log_choose(n: f64, m: f64) -> f64 {
    if m < 0.0 || m > n {
        return f64::NEG_INFINITY;
    }
    (ln_gamma(n + 1.0) - ln_gamma(m + 1.0) - ln_gamma(n - m + 1.0)) / LN_2
}

/// The logarithm of a sum of numbers that are given by their logarithms.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_infinite() {
        return most;
    }
    most + logs
        .iter()
        .map(|log| (log - most).exp2())
        .sum::<f64>()
        .log2()
}

/// About as many numbers as `steps` from 0 up to `end`, the first of them 0.
pub(super) fn grid(end: usize, steps: usize) -> impl Iterator<Item = usize> {
    (0..end).step_by((end / steps).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_of_choices_are_exact() {
        for (n, m, choices) in [
            (0.0, 0.0, 1.0),
            (1.0, 1.0, 1.0),
            (10.0, 3.0, 120.0),
            (52.0, 5.0, 2_598_960.0),
        ] {
            let log: f64 = log_choose(n, m);
            assert!((log - f64::log2(choices)).abs() < 1e-10, "{n} {m} {log}");
        }
        assert_eq!(log_choose(3.0, 4.0), f64::NEG_INFINITY);
        assert!((log_sum(&[3.0, 3.0, f64::NEG_INFINITY]) - 4.0).abs() < 1e-12);
    }
}
