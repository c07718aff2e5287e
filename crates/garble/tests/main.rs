//! All tests of this crate in one binary: each binary links the kernels again.

mod authenticated;
mod golden;
mod schemes;
mod slow;
mod support;
mod three_halves;
mod views;
