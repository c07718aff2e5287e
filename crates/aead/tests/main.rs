//! All tests of this room in one binary: each binary links the kernels again.

mod batches;
mod chains;
mod counters;
mod detached;
mod otr;
mod tampering;
mod traits;
mod vectors;
