//! Cost of the known attacks on learning parity with noise, in bits: the base-2 logarithm of the
//! operations that they take on a random code with `n` rows, `k` columns and `t` errors.
//!
//! | attack | errors | source |
//! |---|---|---|
//! | [`pooled_gauss`] | any | paper 2 |
//! | [`statistical_decoding`], [`statistical_decoding_2`] | any | paper 1 |
//! | information-set decoding: [`prange`], [`stern`], [`bjmm`] | any | papers 1 and 3 |
//! | the same: [`permuted_regular`], [`enumerated_regular`] | regular | paper 4 |
//! | [`algebraic`], [`algebraic_in_steps`]: linearised equations of the runs | regular | paper 5 |
//! | [`hybrid`]: guesses, then quadratic equations | regular | ePrint 2025/1284 |
//! | [`sparse_rows`]: the rows within a part of the columns | any | paper 6 |
//! | [`sparse_then`] another attack on these rows | as that attack | papers 6 and 1 to 5 |
//!
//! 1. Liu, Wang, Yang and Yu, "The Hardness of LPN over Any Integer Ring and Field for PCG
//!    Applications", Eurocrypt 2024 (ePrint 2022/712).
//! 2. Esser, Kübler and May, "LPN Decoded", Crypto 2017.
//! 3. Hamdaoui and Sendrier, "A Non Asymptotic Analysis of Information Set Decoding", ePrint
//!    2013/162.
//! 4. Esser and Santini, "Not Just Regular Decoding: Asymptotics and Improvements of Regular
//!    Syndrome Decoding Attacks", Crypto 2024 (ePrint 2023/1568).
//! 5. Briaud and Øygarden, "A New Algebraic Approach to the Regular Syndrome Decoding Problem and
//!    Implications for PCG Constructions", Eurocrypt 2023.
//! 6. Chen, Shu and Zhou, "Algorithms for Sparse LPN and LSPN Against Low-noise", COLT 2025 (arXiv
//!    2407.19215).
//!
//! Formulas are those of the papers, with the constants of the estimator that the authors of paper
//! 1 publish (lpnestimator.com), whose values the tests here repeat. Attacks on any errors apply to
//! regular ones after a step that uses the runs: in a run one error is left, so the sum of its rows
//! is a row without error, and one row and one column fewer remain for each run (paper 1, section
//! 6).
//!
//! **What they leave out.** Memory is free, and so is the access to it. Those that go on with
//! sparse rows take columns that are chosen well ([`Columns::Peeled`]); whether others are better
//! still is not known, and parameters have a margin. Quantum computers are not considered.

mod any;
mod numeric;
mod regular;
mod sparse;

pub use any::{bjmm, pooled_gauss, prange, statistical_decoding, statistical_decoding_2, stern};
pub use regular::{algebraic, algebraic_in_steps, enumerated_regular, hybrid, permuted_regular};
pub use sparse::{Columns, sparse_rows, sparse_then};

use super::{Lpn, Noise};
use sparse::sparse_then_regular;

/// Ones in a row of the matrix in use.
const ONES: usize = 10;

/// The size of a problem.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rows, `n`.
    pub rows: usize,
    /// Bits of the secret, `k`.
    pub secret: usize,
    /// Errors, `t`.
    pub errors: usize,
}

impl Size {
    /// The problem that is left when the sum of the rows of every run is known to have an error.
    fn without_sums(self) -> Size {
        Size {
            rows: self.rows - self.errors,
            secret: self.secret - self.errors,
            errors: self.errors,
        }
    }

    /// Numbers of rows, bits and errors.
    fn numbers(self) -> (f64, f64, f64) {
        (self.rows as f64, self.secret as f64, self.errors as f64)
    }
}

impl From<Lpn> for Size {
    fn from(lpn: Lpn) -> Size {
        Size {
            rows: lpn.rows(),
            secret: lpn.secret(),
            errors: lpn.errors(),
        }
    }
}

/// An attack's name and its cost.
pub type Cost = (&'static str, f64);

/// The cost of every attack on an instance.
pub fn all(lpn: Lpn) -> Vec<Cost> {
    match lpn.noise() {
        Noise::Regular => all_regular(lpn.into()),
        Noise::Uniform => all_uniform(lpn.into()),
    }
}

/// The cost of every attack on a problem with regular errors.
pub fn all_regular(size: Size) -> Vec<Cost> {
    let own = [
        ("permuted regular", permuted_regular(size)),
        ("enumerated regular", enumerated_regular(size)),
        ("algebraic", algebraic(size)),
        ("hybrid", hybrid(size)),
        ("algebraic in steps", algebraic_in_steps(size)),
    ];
    let after = |attack: fn(regular::Runs) -> f64| sparse_then_regular(size, ONES, attack);
    let after_sparse = [
        ("sparse, permuted regular", after(regular::permuted)),
        ("sparse, enumerated regular", after(regular::enumerated)),
        ("sparse, algebraic in steps", after(regular::in_steps)),
        ("sparse, hybrid", after(regular::guessed_and_quadratic)),
    ];
    let mut all = of_any_errors(size.without_sums()).to_vec();
    all.extend(own);
    all.extend(of_sparse_rows(size));
    all.extend(after_sparse);
    all
}

/// The cost of every attack on a problem with errors at any places.
pub fn all_uniform(size: Size) -> Vec<Cost> {
    [&of_any_errors(size)[..], &of_sparse_rows(size)].concat()
}

fn of_any_errors(size: Size) -> [Cost; 6] {
    [
        ("pooled Gauss", pooled_gauss(size)),
        ("statistical decoding", statistical_decoding(size)),
        ("statistical decoding 2.0", statistical_decoding_2(size)),
        ("Prange", prange(size)),
        ("Stern", stern(size)),
        ("BJMM", bjmm(size)),
    ]
}

/// Where a part of the rows is left, the sum of a run tells nothing.
fn of_sparse_rows(size: Size) -> [Cost; 4] {
    let after = |attack: fn(Size) -> f64| sparse_then(size, ONES, attack);
    [
        ("sparse rows", sparse_rows(size, ONES, Columns::Peeled)),
        (
            "sparse, statistical decoding 2.0",
            after(statistical_decoding_2),
        ),
        ("sparse, Stern", after(stern)),
        ("sparse, BJMM", after(bjmm)),
    ]
}

#[cfg(test)]
mod tests;
