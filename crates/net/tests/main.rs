//! All tests of this crate in one binary, since each binary links the kernels again.

#[macro_use]
mod common;

mod backlog;
mod gather;
mod in_place;
mod mesh;
mod probe;
mod reception;
mod record;
mod tcp;
mod throughput;
