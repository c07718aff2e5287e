//! All tests of this room in one binary: each binary links the kernels again.

mod common;
mod forms;
mod softspoken;
