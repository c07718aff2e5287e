//! Attacks that use that each of `t` runs of `n / t` rows has one error. Sources are those of
//! [`estimate`](super).

use super::Size;
use super::numeric::{grid, log_choose, log_sum};

/// Rows of a run; rows that are over are dropped, with as many columns.
fn runs(size: Size) -> (f64, f64, f64, f64) {
    let run = size.rows / size.errors;
    let dropped = size.rows - run * size.errors;
    let rows = (size.rows - dropped) as f64;
    let secret = (size.secret - dropped) as f64;
    (rows, secret, size.errors as f64, run as f64)
}

/// Information-set decoding with as many columns of every run in the set (Esser and Santini,
/// section 4.1).
pub fn permuted_regular(size: Size) -> f64 {
    let (n, k, t, _) = runs(size);
    let set = k - t;
    2.0 * (n - set).log2() + n.log2() - t * (1.0 - set / n).log2()
}

/// The same with `p` errors in the set, by two lists that agree in `l` bits (Esser and Santini,
/// section 4.2).
pub fn enumerated_regular(size: Size) -> f64 {
    let (n, k, t, run) = runs(size);
    let set = k - t;
    let mut best = f64::INFINITY;
    for p in (0..30).step_by(2).map(f64::from) {
        for l in (0..200).map(f64::from) {
            let share = (set + l) / t;
            if share >= run {
                break;
            }
            let halves =
                log_choose((t / 2.0).floor(), p / 2.0) + log_choose((t / 2.0).ceil(), p / 2.0);
            let chance = halves + p * (share / run).log2() + (t - p) * (1.0 - share / run).log2();
            let list = log_choose((t / 2.0).round(), p / 2.0) + share.log2() * p / 2.0;
            let work = (2.0 * (n - set).log2()).max(1.0 + list).max(2.0 * list - l);
            best = best.min(n.log2() + work - chance);
        }
    }
    best
}

/// Elementary symmetric functions of degrees 1 to 4 from power sums, by Newton's identities: the
/// coefficients of a product of terms `1 + x z`.
fn coefficients(power_sums: [f64; 4]) -> [f64; 4] {
    let p = power_sums;
    let e1 = p[0];
    let e2 = (e1 * p[0] - p[1]) / 2.0;
    let e3 = (e2 * p[0] - e1 * p[1] + p[2]) / 3.0;
    let e4 = (e3 * p[0] - e2 * p[1] + e1 * p[2] - p[3]) / 4.0;
    [e1, e2, e3, e4]
}

/// Guesses `mu` rows without error in each of `f` runs, and linearises the equations that products
/// within a run vanish, in the degree in which their Hilbert series ends (Briaud and Øygarden,
/// section 5).
pub fn algebraic(size: Size) -> f64 {
    let (n, k, t, run) = runs(size);
    let mut best = f64::INFINITY;
    for f in grid(size.errors + 1, 256).map(|f| f as f64) {
        for mu in grid(size.rows / size.errors, 512).map(|mu| mu as f64) {
            if f * mu >= k + 1.0 {
                break;
            }
            // Monomials take one row of a run at most; parity checks take some away.
            let guessed = run - mu - 1.0;
            let monomials =
                [1, 2, 3, 4].map(|i| f * guessed.powi(i) + (t - f) * (run - 1.0).powi(i));
            let series = coefficients(monomials.map(|sum| sum - (n - k - 1.0)));
            let (mut total, mut columns) = (0.0, 0.0);
            let counts = coefficients(monomials);
            for degree in 0..4 {
                total += series[degree];
                columns += counts[degree];
                if degree > 0 && (series[degree] < 1.0 || total < 1.0) {
                    let solve = 2.0 * columns.log2() + (3.0 * (k + 1.0 - f * mu)).log2();
                    best = best.min(solve - f * (1.0 - mu / run).log2());
                    break;
                }
            }
        }
    }
    best
}

/// Guesses `u` rows without error in each run, one more in `f` runs, and the error in `g` runs;
/// then solves the quadratic equations of the rows that are left by linearisation, or has none
/// left.
pub fn hybrid(size: Size) -> f64 {
    let (n, k, t, run) = runs(size);
    let cost = |u: usize, g: usize, f: usize| {
        let guesses = [u, g, f].map(|count| count as f64);
        hybrid_with([n, k, t, run], guesses)
    };
    let (mut best, mut at) = (f64::INFINITY, (0, 0));
    for u in 0..(run as usize).saturating_sub(2) {
        for g in 0..MOST_GUESSED.min(size.errors) {
            for f in grid(size.errors - g, 32) {
                let bits = cost(u, g, f);
                if bits < best {
                    (best, at) = (bits, (u, g));
                }
            }
        }
    }
    // All values beside the best of the grid.
    let (u, g) = at;
    for u in u.saturating_sub(2)..u + 3 {
        for g in g.saturating_sub(2)..(g + 3).min(size.errors) {
            for f in 0..size.errors - g {
                best = best.min(cost(u, g, f));
            }
        }
    }
    best
}

/// Runs whose error is guessed, at most: each costs the logarithm of a run's length.
const MOST_GUESSED: usize = 16;

fn hybrid_with([n, k, t, run]: [f64; 4], [u, g, f]: [f64; 3]) -> f64 {
    let mut guess = -(t - g - f) * (1.0 - u / run).log2();
    if f > 0.0 {
        guess -= f * (1.0 - (u + 1.0) / run).log2();
    }
    let unknowns = k - t - (u + 1.0) * f - (t - f - g) * u;
    let whole = ((n - k) / (run - 1.0)).floor();
    let rest = n - k - whole * (run - u - 2.0);
    let linear = (rest * (n - k) * (rest + unknowns)).max(1.0);
    if unknowns <= 0.0 {
        return guess + linear.log2();
    }
    let pairs = |rows: f64| rows * (rows - 1.0) / 2.0;
    let equations = (t - f - g) * pairs(run - u - 1.0) + f * pairs(run - u - 2.0);
    let known = (run - 1.0) * g;
    let left = unknowns - known;
    let tries = g * run.log2();
    if left <= 0.0 {
        return guess + log_sum(&[linear.log2(), tries]);
    }
    if left > (2.0 * equations).sqrt() - 2.0 {
        return f64::INFINITY;
    }
    let eliminate = left.powi(4) * unknowns.powi(2) / 8.0 / (left * left / 2.0).max(2.0).log2();
    let solve = 1.25 * (2.0 * left * left * known + left * known * known)
        + (2.5 * left).powi(3) / (2.5 * left).max(2.0).log2();
    let parts = [linear, eliminate.max(1.0), solve.max(1.0)].map(f64::log2);
    guess + log_sum(&[parts[0], parts[1], parts[2] + tries])
}
