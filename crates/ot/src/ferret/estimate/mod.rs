//! Cost of the known attacks on learning parity with noise, in bits: the base-2 logarithm of the
//! operations that they take on a random code with `n` rows, `k` columns and `t` errors.
//!
//! | attack | errors | source |
//! |---|---|---|
//! | [`pooled_gauss`] | any | paper 2 |
//! | [`statistical_decoding`], [`statistical_decoding_2`] | any | paper 1 |
//! | information-set decoding: [`prange`], [`stern`], [`bjmm`] | any | papers 1 and 3 |
//! | the same: [`permuted_regular`], [`enumerated_regular`] | regular | paper 4 |
//! | [`algebraic`]: linearised equations of the runs | regular | paper 5 |
//! | [`hybrid`]: guesses, then quadratic equations | regular | ePrint 2025/1284 |
//! | [`sparse_rows`]: the rows within a part of the columns | any, sparse rows | paper 6 |
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
//! **What they leave out.** Memory is free, and so is the access to it. Other attacks than
//! [`sparse_rows`] are not combined with its smaller problem, and it takes any columns instead of
//! those that most rows use, which would save it a few bits: parameters have a margin for both.
//! Quantum computers are not considered.

mod any;
mod numeric;
mod regular;

pub use any::{
    bjmm, pooled_gauss, prange, sparse_rows, statistical_decoding, statistical_decoding_2, stern,
};
pub use regular::{algebraic, enumerated_regular, hybrid, permuted_regular};

use super::Lpn;

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

/// The cost of every attack on a problem with regular errors, with its name.
pub fn all_regular(size: Size) -> [(&'static str, f64); 11] {
    let rest = size.without_sums();
    [
        ("pooled Gauss", pooled_gauss(rest)),
        ("statistical decoding", statistical_decoding(rest)),
        ("statistical decoding 2.0", statistical_decoding_2(rest)),
        ("Prange", prange(rest)),
        ("Stern", stern(rest)),
        ("BJMM", bjmm(rest)),
        ("permuted regular", permuted_regular(size)),
        ("enumerated regular", enumerated_regular(size)),
        ("algebraic", algebraic(size)),
        ("hybrid", hybrid(size)),
        ("sparse rows", sparse_rows(size, ONES)),
    ]
}

#[cfg(test)]
mod tests;
