//! All tests of this crate in one binary: each binary links the kernels again.

mod common;
mod faults;
mod numbers;
mod products;
mod steps;
