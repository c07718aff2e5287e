//! All tests of this crate in one binary.

mod kinds;
mod signals;
mod whole;
