//! All tests of this crate in one binary, since each binary links the kernels again.

mod arrow;
mod common;
mod files;
mod hostile;
mod kinds;
mod parquet;
mod round_trips;
mod texts;
