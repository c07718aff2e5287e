//! Room `cli`: the `sealane` command.
#![forbid(unsafe_code)]

pub mod args;
pub mod card;
pub mod config;
pub mod failure;
