//! All tests of this crate in one binary, since each binary links the kernels again.

mod common;
mod cost;
mod fixed;
mod floats;
mod localise;
mod lowering;
mod plans;
mod rings;
