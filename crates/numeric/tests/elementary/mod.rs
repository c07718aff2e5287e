//! Elementary functions against the machine's, and exact answers.

mod error;
mod lanes;
mod single;
