//! All tests of this crate in one binary: each binary links the kernels again.

mod ahead;
mod chosen;
mod common;
mod faults;
mod ferret;
mod forms;
mod one_of_n;
mod softspoken;
mod triples;
mod vectors;
