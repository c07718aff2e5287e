//! Attacks that use that a row has few ones: of the rows, a part `b^ones` lies within a part `b` of
//! the columns. They are a problem of their own with the same noise, as long as they are as many as
//! these columns (paper 6 of [`estimate`](super)), and any other attack may go on with it.
//!
//! An attacker chooses the columns. One that takes away the column of the fewest rows again and
//! again, and these rows with it, ends with fewer columns for as many rows: for the smallest
//! problem [`PEELED`] times as many, by a simulation of random rows with ten ones each, at the
//! ratios of rows to columns in use (1024 and 2048 columns agree).

use super::Size;
use super::regular::Runs;

/// Choice of the columns of the smaller problem.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Any.
    Any,
    /// Those that are left when the emptiest are taken away.
    Peeled,
}

/// Columns of the smallest problem by peeling, as a part of what random columns take; rounded down.
const PEELED: f64 = 0.85;

/// A part of the problem: of the rows, and of the columns.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub rows: f64,
    pub columns: f64,
}

/// Parts that are tried for attacks of which each takes a while.
const FEW: usize = 12;
/// Parts that are tried for the others.
const MANY: usize = 500;

/// [`pooled_gauss`](super::pooled_gauss) on the smaller problem. Its equations are sparse as well,
/// so that solving them takes about `3 (ones + 1)` times the square of their number (Wiedemann), or
/// the elimination of dense ones.
pub fn sparse_rows(size: Size, ones: usize, chosen: Columns) -> f64 {
    let (_, k, t) = size.numbers();
    let no_error = -(1.0 - t / size.rows as f64).log2();
    least(size, ones, chosen, MANY, |part| {
        let columns = part.columns * k;
        let dense = 2.8 * columns.log2();
        let sparse = (3.0 * (ones as f64 + 1.0)).log2() + 2.0 * columns.log2();
        dense.min(sparse) + columns * no_error
    })
}

/// An attack on errors at any places, on the smaller problem.
pub fn sparse_then(size: Size, ones: usize, attack: impl Fn(Size) -> f64) -> f64 {
    least(size, ones, Columns::Peeled, FEW, |part| {
        attack(Size {
            rows: (size.rows as f64 * part.rows) as usize,
            secret: (size.secret as f64 * part.columns) as usize,
            errors: (size.errors as f64 * part.rows) as usize,
        })
    })
}

/// An attack on regular errors, on the smaller problem, whose runs have at most one error.
pub(super) fn sparse_then_regular(size: Size, ones: usize, attack: impl Fn(Runs) -> f64) -> f64 {
    let attack = &attack;
    least(size, ones, Columns::Peeled, FEW, |part| {
        attack(Runs::within(size, part))
    })
}

/// The least cost over parts, from the smallest one that has as many rows as columns on.
fn least(
    size: Size,
    ones: usize,
    chosen: Columns,
    steps: usize,
    cost: impl Fn(Part) -> f64,
) -> f64 {
    let smallest = (size.secret as f64 / size.rows as f64).powf(1.0 / (ones as f64 - 1.0));
    let saved = match chosen {
        Columns::Any => 0.0,
        Columns::Peeled => 1.0 - PEELED,
    };
    let parts = (0..=steps).map(|step| {
        // The smaller ones are closer to each other: they count most.
        let along = (step as f64 / steps as f64).powi(2);
        let part = smallest + (1.0 - smallest) * along;
        Part {
            rows: part.powi(ones as i32),
            // Less is saved the more columns are taken, and nothing if all are.
            columns: part * (1.0 - saved * (1.0 - along)),
        }
    });
    parts.map(cost).fold(f64::INFINITY, f64::min)
}
