//! Room `plan`: lowering, batches, exact cost; knows protocols by their trait alone.
//!
//! CONTRACT SKELETON: the room's owner adds `plan::<P>(...)`, the passes, their checkers and the
//! cost report.
#![forbid(unsafe_code)]

pub mod steps;
