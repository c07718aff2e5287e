//! All tests of this room in one binary.

mod signals;
mod whole;
