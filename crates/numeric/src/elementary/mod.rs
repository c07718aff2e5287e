//! Exponential and logarithmic functions, by piecewise polynomials.

pub(crate) mod exponential;
pub(crate) mod logarithm;
pub(crate) mod pow;
mod reduce;
