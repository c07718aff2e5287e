//! All tests of this room in one binary: each binary links the kernels again.

mod cheats;
mod sessions;
mod views;
