//! All tests of this crate in one binary: each binary links the kernels again.

mod builder;
mod by_row;
mod common;
mod kinds;
mod shown;
mod text;
