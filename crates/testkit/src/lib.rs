//! Room `testkit`: slow and obvious reference versions, and random programs to hold the fast ones
//! against. For tests only; nothing here protects a secret.

#![forbid(unsafe_code)]

pub mod random_program;
pub mod reference;
