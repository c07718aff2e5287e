//! Elementary functions against the machine's, and exact answers.

mod all;
mod costs;
pub mod double;
pub mod error;
mod gamma;
mod half;
pub mod lanes;
mod single;
mod two;
