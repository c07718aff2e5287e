//! All tests of this room in one binary: each binary links the kernels again.

mod builder;
mod common;
mod kinds;
mod text;
