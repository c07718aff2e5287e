//! Elementary functions against the machine's, and exact answers.

mod all;
mod double;
pub mod error;
mod half;
pub mod lanes;
mod probe;
mod single;
mod two;
