//! Near-best polynomials by interpolation at Chebyshev's nodes.

use crate::real::Real;

/// Interpolation at Chebyshev's nodes on [0, 1].
pub(crate) struct Chebyshev {
    /// The nodes.
    pub nodes: Vec<Real>,
    /// Matrix from the values at the nodes to the highest of their Chebyshev coefficients, and then
    /// to the coefficients of powers of `t - 1/2` of the sum of the others.
    pub rows: Vec<Vec<Real>>,
}

impl Chebyshev {
    /// Nodes of so many values, of which the polynomials use all but the highest coefficient.
    pub fn new(count: usize) -> Chebyshev {
        let over = 2 * count as i64;
        let step = &Real::pi() / &Real::of(over);
        // The cosine of m times the angle of node i.
        let cosines: Vec<Real> = (0..2 * over)
            .map(|i| (&Real::of(i) * &step).sin_cos().1)
            .collect();
        let cosine = |m: usize, i: usize| &cosines[m * (2 * i + 1) % cosines.len()];
        let half = Real::scaled(1, -1);
        let nodes = (0..count)
            .map(|i| &half + &cosine(1, i).shifted(-1))
            .collect();
        // The coefficient of the m-th polynomial, for each node.
        let weights = |m: usize| -> Vec<Real> {
            let scale = Real::ratio(if m == 0 { 1 } else { 2 }, count as i64);
            (0..count).map(|i| &scale * cosine(m, i)).collect()
        };
        let mut rows = vec![weights(count - 1)];
        rows.extend(vec![vec![Real::of(0); count]; count - 1]);
        let (mut last, mut polynomial) = (vec![], vec![1]);
        for m in 0..count - 1 {
            for (power, &factor) in polynomial.iter().enumerate() {
                // Powers of 2 t - 1 are those of t - 1/2 times powers of two.
                let factor = Real::of(factor).shifted(power as i64);
                for (sum, weight) in rows[power + 1].iter_mut().zip(weights(m)) {
                    *sum = &*sum + &(&factor * &weight);
                }
            }
            let next = next_polynomial(&last, &polynomial);
            last = std::mem::replace(&mut polynomial, next);
        }
        Chebyshev { nodes, rows }
    }
}

/// The Chebyshev polynomial after two of them: `2 z T_m - T_(m-1)`, and `T_1 = z` after `T_0`.
fn next_polynomial(last: &[i64], this: &[i64]) -> Vec<i64> {
    let factor = if last.is_empty() { 1 } else { 2 };
    let mut next = vec![0];
    next.extend(this.iter().map(|c| factor * c));
    next.iter_mut().zip(last).for_each(|(c, last)| *c -= last);
    next
}

/// The inner product.
pub(crate) fn dot(x: &[Real], y: &[Real]) -> Real {
    let products = x.iter().zip(y).map(|(x, y)| x * y);
    products.fold(Real::of(0), |sum, product| &sum + &product)
}
