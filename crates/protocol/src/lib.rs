//! Room `protocol`: the trait that every protocol implements, and its words.
//!
//! `plan` and `engine` know protocols by this room alone. A protocol says what it is
//! ([`Profile`]), what each piece of [`Work`] costs in bytes, flights and time ([`Cost`]), what it
//! wants prepared ([`Demand`]), and it runs [`Step`]s in two halves: [`Protocol::begin`] writes
//! messages, [`Protocol::advance`] reads them. The engine alone flushes, so steps that do not wait
//! for each other share rounds without any protocol knowing of it.
//!
//! [`fake`] is an n-party protocol with two domains and a pending check and no secrecy at all; it
//! keeps the trait honest in tests until more real protocols stand.
#![forbid(unsafe_code)]

mod cost;
pub mod fake;
mod paper;
mod run;
mod settle;
mod share;
mod words;

pub use cost::{Correlation, Cost, Demand, Flight, Message};
pub use paper::{Paper, Security};
pub use run::{Factor, Fault, Outcome, Progress, Protocol, Step, Term, run_alone};
pub use sealane_circuit::Goal;
pub use sealane_net::{NetworkClass, PartyId};
pub use settle::{DIGEST_BYTES, check_digests, send_digests};
pub use share::{Planes, Shares, View};
pub use words::{
    Algebra, Corruption, Domain, Opening, PartySet, Profile, Setting, Sharing, Work, known_to,
};
