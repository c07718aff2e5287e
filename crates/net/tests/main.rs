//! All tests of this room in one binary, since each binary links the kernels again.

mod backlog;
mod common;
mod gather;
mod in_place;
mod mesh;
mod probe;
mod reception;
mod record;
mod tcp;
mod throughput;
