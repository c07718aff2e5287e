//! All tests of this crate in one binary: each binary links the kernels again.

mod alone;
mod batches;
mod chains;
mod common;
mod counters;
mod detached;
#[cfg(feature = "research")]
mod julius;
mod otr;
mod tampering;
mod traits;
mod vectors;
mod worn_keys;

/// Compiled again here with its own tests, which need its private parts: the library has none,
/// since tests in it would compile the kernels twice.
#[expect(dead_code, reason = "no test counts")]
#[path = "../src/nonces.rs"]
mod nonces;
