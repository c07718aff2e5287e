//! Attacks that use that each of `t` runs of `n / t` rows has one error. Sources are those of
//! [`estimate`](super).

use super::Size;
use super::numeric::{grid, log_choose, log_sum};
use super::sparse::Part;

/// A problem with at most one error in each of `t` runs of `run` rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    n: f64,
    k: f64,
    t: f64,
    run: f64,
    /// The chance that a run has an error.
    filled: f64,
    /// Operations of a try, at least.
    least: f64,
}

impl Runs {
    /// The rows of a part of the columns: of each run the same part, which has the error of the run
    /// with that chance. An attack is granted what it would know if all runs had an error. The
    /// chance is that of columns drawn anew, so a try has to read the rows at least.
    pub(super) fn within(size: Size, part: Part) -> Runs {
        let filled = part.rows;
        let Runs { n, k, t, run, .. } = Runs::from(size);
        let (n, k, run) = (n * filled, k * part.columns, run * filled);
        Runs {
            n,
            k,
            t,
            run,
            filled,
            least: n,
        }
    }

    /// The cost of a guess that `share` of the rows of each of `runs` runs have no error.
    fn guess(&self, runs: f64, share: f64) -> f64 {
        -runs * (1.0 - self.filled * share).log2()
    }
}

/// Rows that are over are dropped, with as many columns.
impl From<Size> for Runs {
    fn from(size: Size) -> Runs {
        let run = size.rows / size.errors;
        let dropped = size.rows - run * size.errors;
        Runs {
            n: (size.rows - dropped) as f64,
            k: (size.secret - dropped) as f64,
            t: size.errors as f64,
            run: run as f64,
            filled: 1.0,
            least: 1.0,
        }
    }
}

/// Information-set decoding with as many columns of every run in the set (Esser and Santini,
/// section 4.1).
pub fn permuted_regular(size: Size) -> f64 {
    permuted(size.into())
}

pub(super) fn permuted(runs: Runs) -> f64 {
    let set = runs.k - runs.t;
    2.0 * (runs.n - set).log2() + runs.n.log2() + runs.guess(runs.t, set / runs.n)
}

/// The same with `p` errors in the set, by two lists that agree in `l` bits (Esser and Santini,
/// section 4.2).
pub fn enumerated_regular(size: Size) -> f64 {
    enumerated(size.into())
}

pub(super) fn enumerated(runs: Runs) -> f64 {
    let Runs { n, k, t, run, .. } = runs;
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
            let in_set = p * (runs.filled * share / run).log2();
            let chance = halves + in_set - runs.guess(t - p, share / run);
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

/// Highest degree of an equation that is considered.
const DEGREES: usize = 4;

/// Guesses of rows without error, `mu` of them in each of `f` runs, and the systems of equations
/// that they leave.
struct Guessed {
    f: f64,
    mu: f64,
    /// For all degrees up to 1, 2, 3 and 4: the monomials, and how many of them the equations leave
    /// over. Once none are, the system is solved or refutes the guess.
    systems: [(f64, f64); DEGREES],
}

impl Guessed {
    fn all(runs: Runs) -> impl Iterator<Item = Guessed> {
        let of_runs = grid(runs.t as usize + 1, 256).map(|f| f as f64);
        of_runs.flat_map(move |f| {
            let rows = grid(runs.run as usize, 512).map(|mu| mu as f64);
            let fit = rows.take_while(move |mu| f * mu < runs.k + 1.0);
            fit.map(move |mu| Guessed::new(runs, f, mu))
        })
    }

    fn new(runs: Runs, f: f64, mu: f64) -> Guessed {
        let Runs { n, k, t, run, .. } = runs;
        // Monomials take one row of a run at most; parity checks take some away.
        let left = run - mu - 1.0;
        let sums = [1, 2, 3, 4].map(|i| f * left.powi(i) + (t - f) * (run - 1.0).powi(i));
        let series = coefficients(sums.map(|sum| sum - (n - k - 1.0)));
        let (mut monomials, mut over) = (0.0, 0.0);
        let counts = coefficients(sums);
        let mut systems = [(0.0, 0.0); DEGREES];
        for (degree, system) in systems.iter_mut().enumerate() {
            monomials += counts[degree];
            over += series[degree];
            *system = (monomials, over);
        }
        Guessed { f, mu, systems }
    }

    /// The degree, from 2 on, at which no monomials are left over.
    fn degree(&self) -> Option<usize> {
        (1..DEGREES).find(|&degree| {
            let (over, before) = (self.systems[degree].1, self.systems[degree - 1].1);
            over < 1.0 || over - before < 1.0
        })
    }

    fn cost(&self, runs: Runs) -> f64 {
        runs.guess(self.f, self.mu / runs.run)
    }

    /// The logarithm of the time of Wiedemann's algorithm on as many monomials.
    fn wiedemann(&self, runs: Runs, monomials: f64) -> f64 {
        2.0 * monomials.log2() + (3.0 * (runs.k + 1.0 - self.f * self.mu)).log2()
    }
}

/// Guesses rows without error in some runs, and linearises the equations that products within a
/// run vanish, in the degree in which their Hilbert series ends (Briaud and Øygarden, section 5).
pub fn algebraic(size: Size) -> f64 {
    linearised(size.into())
}

pub(super) fn linearised(runs: Runs) -> f64 {
    let cost = |guessed: Guessed| {
        let (monomials, _) = guessed.systems[guessed.degree()?];
        Some(guessed.wiedemann(runs, monomials) + guessed.cost(runs))
    };
    let costs = Guessed::all(runs).filter_map(cost);
    costs.fold(f64::INFINITY, f64::min)
}

/// The same in two steps, the form that the estimator at lpnestimator.com calls AGB 2.0: eliminates
/// with a part of the guesses, and makes the others on the monomials that this leaves over. For the
/// second step, an attack is granted the likeliest guesses of all that end at its degree, also ones
/// that do not continue those of the first.
pub fn algebraic_in_steps(size: Size) -> f64 {
    in_steps(size.into())
}

pub(super) fn in_steps(runs: Runs) -> f64 {
    let mut finish = [f64::INFINITY; DEGREES];
    for guessed in Guessed::all(runs) {
        if let Some(degree) = guessed.degree() {
            for finish in &mut finish[degree..] {
                *finish = finish.min(guessed.cost(runs));
            }
        }
    }
    let mut best = linearised(runs);
    for guessed in Guessed::all(runs) {
        let guess = guessed.cost(runs);
        for (&(monomials, over), finish) in guessed.systems.iter().zip(finish).skip(1) {
            if guess > finish {
                continue;
            }
            let over = over.max(1.0);
            let rank = (monomials - over).max(2.0);
            let dense = monomials.log2() + 2.0 * rank.log2() - rank.log2().log2();
            let eliminate = dense.min(guessed.wiedemann(runs, monomials));
            let solve = 5.64f64.log2() + 2.8 * over.min(rank).log2();
            best = best.min(log_sum(&[eliminate + guess, solve + finish]));
        }
    }
    best
}

/// Guesses `u` rows without error in each run, one more in `f` runs, and the error in `g` runs;
/// then solves the quadratic equations of the rows that are left by linearisation, or has none
/// left.
pub fn hybrid(size: Size) -> f64 {
    guessed_and_quadratic(size.into())
}

pub(super) fn guessed_and_quadratic(runs: Runs) -> f64 {
    let (run, errors) = (runs.run as usize, runs.t as usize);
    let cost = |u: usize, g: usize, f: usize| {
        let guesses = [u, g, f].map(|count| count as f64);
        hybrid_with(runs, guesses)
    };
    let (mut best, mut at) = (f64::INFINITY, (0, 0));
    for u in 0..run.saturating_sub(2) {
        for g in 0..MOST_GUESSED.min(errors) {
            for f in grid(errors - g, 32) {
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
        for g in g.saturating_sub(2)..(g + 3).min(errors) {
            for f in 0..errors - g {
                best = best.min(cost(u, g, f));
            }
        }
    }
    best
}

/// Runs whose error is guessed, at most: each costs the logarithm of a run's length.
const MOST_GUESSED: usize = 16;

fn hybrid_with(runs: Runs, [u, g, f]: [f64; 3]) -> f64 {
    let Runs { n, k, t, run, .. } = runs;
    let mut guess = runs.guess(t - g - f, u / run);
    if f > 0.0 {
        guess += runs.guess(f, (u + 1.0) / run);
    }
    let unknowns = k - t - (u + 1.0) * f - (t - f - g) * u;
    let whole = ((n - k) / (run - 1.0)).floor();
    let rest = n - k - whole * (run - u - 2.0);
    let linear = (rest * (n - k) * (rest + unknowns)).max(runs.least);
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
