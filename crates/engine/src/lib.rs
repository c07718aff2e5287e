//! engine
#![forbid(unsafe_code)]
mod bits;
mod execute;
