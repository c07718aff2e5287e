//! All tests of this room in one binary.

mod kinds;
mod signals;
mod whole;
