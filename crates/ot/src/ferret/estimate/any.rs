//! Attacks that do not use where errors are: on `n` rows, `k` bits and `t` errors at any places.
//! Section numbers are those of paper 1 of [`estimate`](super).

use super::Size;
use super::numeric::{log_choose, log_sum};

/// Guesses `k` rows without error until a guess is right, and solves for the secret. Inverting a
/// matrix takes `k^2.8` operations.
pub fn pooled_gauss(size: Size) -> f64 {
    let (n, k, t) = size.numbers();
    2.8 * k.min(n - k).log2() - (log_choose(n - k, t) - log_choose(n, t))
}

/// Tests many parity checks of low weight, with a bias of `(1 - 2 w / n)^t` (section 4).
pub fn statistical_decoding(size: Size) -> f64 {
    let (n, k, t) = size.numbers();
    (k + 1.0).log2() + 2.0 * t * ((n - t + 1.0) / (n - k - t)).log2()
}

/// Guesses bits of the secret besides, for the price of a Fourier transform: as many as the cost of
/// [`pooled_gauss`] has, which is an upper bound (section 4).
pub fn statistical_decoding_2(size: Size) -> f64 {
    let guessed = pooled_gauss(size).floor() as usize;
    let secret = size.secret.saturating_sub(guessed).max(1);
    statistical_decoding(Size { secret, ..size })
}

/// Information-set decoding without any error in the information set.
pub fn prange(size: Size) -> f64 {
    let (n, k, t) = size.numbers();
    elimination(n, k, 0.0) + n.log2() - (log_choose(n - k, t) - log_choose(n, t))
}

/// Gaussian elimination with the method of four Russians, for each of `n` columns.
fn elimination(n: f64, k: f64, l: f64) -> f64 {
    let rows = n - k - l;
    (rows * n / rows.log2()).log2()
}

/// Most errors in an information set that are tried, and bits by which lists are merged.
const MOST_ERRORS: usize = 24;
const MOST_BITS: usize = 240;

/// Information-set decoding with two lists, in the form of Finiasz and Sendrier: `p` errors in
/// `k + l` columns, half of them in each half, that agree in `l` bits (Theorem 14).
pub fn stern(size: Size) -> f64 {
    let (n, k, t) = size.numbers();
    let mut best = prange(size);
    for p in (2..MOST_ERRORS).step_by(2).map(|p| p as f64) {
        for l in (2..MOST_BITS).step_by(2).map(|l| l as f64) {
            if n - k - l < 2.0 {
                break;
            }
            let list = log_choose((k + l) / 2.0, p / 2.0);
            let merged = 2.0 * list - l;
            let cost = n.log2() + log_sum(&[elimination(n, k, l), 1.0 + list, 1.0 + merged]);
            let chance = log_choose(n - k - l, t - p) - log_choose(n, t) + l + merged;
            if chance < 0.0 {
                best = best.min(cost - chance);
            }
        }
    }
    best
}

/// Information-set decoding with representations, in three levels of lists (Theorem 16): `p2`
/// errors at the lowest, of which `e2` cancel in a sum, `p1 = 2 (p2 - e2)` above, of which `e1`
/// cancel.
pub fn bjmm(size: Size) -> f64 {
    let mut best = f64::INFINITY;
    for p2 in (2..=8).step_by(2) {
        for e2 in 0..p2 {
            let p1 = 2 * (p2 - e2);
            for e1 in 0..p1 {
                for l in (0..MOST_BITS).step_by(2) {
                    let lists = [p2, e2, p1, e1].map(|count| count as f64);
                    best = best.min(bjmm_with(size, lists, l as f64));
                }
            }
        }
    }
    best
}

/// Bits by which lists are merged at the lower levels are those of Hamdaoui and Sendrier: as many
/// as leave one representation.
fn bjmm_with(size: Size, [p2, e2, p1, e1]: [f64; 4], l: f64) -> f64 {
    let (n, k, t) = size.numbers();
    let (columns, p) = (k + l, 2.0 * (p1 - e1));
    if p > t || n - columns < 2.0 {
        return f64::INFINITY;
    }
    // Chance that the sum of two random vectors of one level has the weight of the next.
    let right_weight = |weight: f64, cancelled: f64| {
        log_choose(weight, cancelled) + log_choose(columns - weight, weight - cancelled)
            - log_choose(columns, weight)
    };
    let (mu2, mu1) = (right_weight(p2, e2), right_weight(p1, e1));
    let lowest = log_choose(columns.div_euclid(2.0), p2 / 2.0);
    let r2 = (mu2 + 4.0 * lowest - log_choose(columns, p1))
        .floor()
        .clamp(0.0, (l - 1.0).max(0.0));
    let both = mu1 + 2.0 * log_choose(columns, p1) - log_choose(columns, p);
    let r1 = (both.floor() - r2).clamp(0.0, (l - r2 - 1.0).max(0.0));

    let pairs3 = 2.0 * lowest - r2;
    let pairs2 = 2.0 * pairs3 - r1;
    let list1 = (mu2 + pairs2).min(log_choose(columns, p1) - (r1 + r2));
    let pairs1 = 2.0 * list1 - (l - r1 - r2);
    let list0 = (mu1 + pairs1).min(log_choose(columns, p) - l);
    let lists = [
        3.0 + lowest,
        2.0 + pairs3,
        1.0 + pairs2,
        1.0 + pairs1,
        elimination(n, k, l),
    ];
    let chance = log_choose(n - columns, t - p) - log_choose(n, t) + l + list0;
    if chance < 0.0 {
        n.log2() + log_sum(&lists) - chance
    } else {
        f64::INFINITY
    }
}
