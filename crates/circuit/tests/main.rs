//! All tests of this crate in one binary: each binary links the kernels again.

mod formats;
mod random_circuits;
mod standard_circuits;
