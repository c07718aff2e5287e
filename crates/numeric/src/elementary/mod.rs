//! Exponential and logarithmic functions, by piecewise polynomials.

pub(crate) mod exponential;
pub(crate) mod logarithm;
mod reduce;
