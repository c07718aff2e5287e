//! Kernels of silent oblivious transfer: trees of pseudorandom blocks, a sparse matrix over GF(2),
//! and sums that check correlations.
//!
//! | module | content |
//! |---|---|
//! | [`trees`] | levels of many GGM trees at once, and the secret leaf of each without an index |
//! | [`matrix`] | products with a public matrix that has ten ones in a row |
//! | [`sums`] | blocks and bits, weighted with powers of a point of GF(2^128) |
//!
//! Protocols that use them are in crate `ot`, and so are their assumptions.

pub mod matrix;
pub mod sums;
pub mod trees;
