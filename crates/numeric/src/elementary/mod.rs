//! Exponential and logarithmic functions, by piecewise polynomials.

pub(crate) mod expm1;
pub(crate) mod exponential;
pub(crate) mod groups;
pub(crate) mod hyperbolic;
pub(crate) mod inverse;
pub(crate) mod log1p;
pub(crate) mod logarithm;
pub(crate) mod pow;
pub(crate) mod reduce;
mod short_arcs;
