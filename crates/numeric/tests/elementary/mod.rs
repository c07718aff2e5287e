//! Elementary functions against the machine's, and exact answers.

mod all;
mod costs;
mod double;
mod error;
mod half;
mod lanes;
mod single;
mod two;
