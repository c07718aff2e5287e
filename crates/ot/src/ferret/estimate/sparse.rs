//! Attacks that use that a row has few ones: of the rows, a part `b^ones` lies within a part `b` of
//! the columns. They are a problem of their own with the same noise, as long as they are as many as
//! these columns (paper 6 of [`estimate`](super)), and any other attack may go on with it.

use super::Size;
use super::regular::Runs;

/// Parts that are tried for attacks of which each takes a while.
const FEW: usize = 12;
/// Parts that are tried for the others.
const MANY: usize = 500;

/// [`pooled_gauss`](super::pooled_gauss) on the smaller problem. Its equations are sparse as well,
/// so that solving them takes about `3 (ones + 1)` times the square of their number (Wiedemann), or
/// the elimination of dense ones.
pub fn sparse_rows(size: Size, ones: usize) -> f64 {
    let (_, k, t) = size.numbers();
    let no_error = -(1.0 - t / size.rows as f64).log2();
    least(size, ones, MANY, |part| {
        let columns = part * k;
        let dense = 2.8 * columns.log2();
        let sparse = (3.0 * (ones as f64 + 1.0)).log2() + 2.0 * columns.log2();
        dense.min(sparse) + columns * no_error
    })
}

/// An attack on errors at any places, on the smaller problem.
pub fn sparse_then(size: Size, ones: usize, attack: impl Fn(Size) -> f64) -> f64 {
    least(size, ones, FEW, |part| {
        let filled = part.powi(ones as i32);
        attack(Size {
            rows: (size.rows as f64 * filled) as usize,
            secret: (size.secret as f64 * part) as usize,
            errors: (size.errors as f64 * filled) as usize,
        })
    })
}

/// An attack on regular errors, on the smaller problem, whose runs have at most one error.
pub(super) fn sparse_then_regular(size: Size, ones: usize, attack: impl Fn(Runs) -> f64) -> f64 {
    let attack = &attack;
    least(size, ones, FEW, |part| {
        attack(Runs::within(size, part, ones))
    })
}

/// The least cost over parts of the columns, from the smallest one that has enough rows on.
fn least(size: Size, ones: usize, steps: usize, cost: impl Fn(f64) -> f64) -> f64 {
    let smallest = (size.secret as f64 / size.rows as f64).powf(1.0 / (ones as f64 - 1.0));
    let parts = (0..=steps).map(|step| {
        // The smaller ones are closer to each other: they count most.
        let along = (step as f64 / steps as f64).powi(2);
        smallest + (1.0 - smallest) * along
    });
    parts.map(cost).fold(f64::INFINITY, f64::min)
}
