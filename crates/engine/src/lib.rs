//! engine
#![forbid(unsafe_code)]
mod bits;
pub mod data;
pub mod error;
mod execute;
