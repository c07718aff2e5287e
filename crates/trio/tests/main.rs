//! All tests of this crate in one binary: each binary links the kernels again.

mod common;
mod faults;
mod fields;
mod lookup;
mod order;
mod steps;
mod views;
