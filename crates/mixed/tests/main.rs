//! All tests of this crate in one binary: each binary links the kernels again.

mod common;
mod faults;
mod labels;
mod numbers;
mod products;
mod steps;
