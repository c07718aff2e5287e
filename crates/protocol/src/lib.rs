//! Room `protocol`: the trait that every protocol implements, and its types.
//!
//! `plan` and `engine` use protocols through this room alone. A protocol describes itself
//! ([`Profile`]), the cost of each step in bytes, flights and time ([`Cost`], computed from a
//! [`StepShape`]), and the correlations that it needs prepared ([`Demand`]). It runs [`Step`]s in
//! two halves: [`Protocol::begin`] writes messages, [`Protocol::advance`] reads them. The engine
//! alone flushes, so steps that do not wait for each other share rounds without any protocol's
//! help.
#![forbid(unsafe_code)]

mod cost;
pub mod fake;
mod paper;
mod run;
mod settle;
mod share;
mod types;

pub use cost::{Correlation, Cost, Demand, Flight, Message};
pub use paper::{Paper, Security};
pub use run::{Factor, Fault, Outcome, Progress, Protocol, Step, Term, run_alone};
pub use sealane_circuit::Goal;
pub use settle::{DIGEST_BYTES, check_digests, send_digests};
pub use share::{Planes, Shares, View};
pub use types::{
    Algebra, Corruption, Domain, Opening, Profile, Setting, Sharing, StepShape, known_to,
};
