//! All tests of this crate in one binary, since each binary links the kernels again.

mod golden;
mod numerics;
mod programs;
mod simulator;
mod vectors;
