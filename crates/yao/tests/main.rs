//! All tests of this crate in one binary: each binary links the kernels again.

mod cheats;
mod common;
mod outside;
mod pairs;
mod sessions;
mod views;
