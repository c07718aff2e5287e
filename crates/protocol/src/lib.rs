//! Room `protocol`: the trait that every protocol implements, and its words.
//!
//! `plan` and `engine` know protocols by this room alone. A protocol says what it is
//! ([`Profile`]), what each piece of [`Work`] costs in bytes, flights and time ([`Cost`]), what it
//! wants prepared ([`Demand`]), and it runs [`Step`]s in two halves: [`Protocol::begin`] writes
//! messages, [`Protocol::advance`] reads them. The engine alone flushes, so independent steps
//! share rounds without any protocol knowing of it.
//!
//! [`fake`] is an n-party protocol with two domains and a pending check and no secrecy at all; it
//! keeps the trait honest in tests until more real protocols stand.
#![forbid(unsafe_code)]

mod cost;
pub mod fake;
mod run;
mod share;
mod words;

pub use cost::{Correlation, Cost, Demand, Flight, Message};
pub use run::{Fault, Outcome, Progress, Protocol, Step};
pub use sealane_net::{NetworkClass, PartyId};
pub use share::{Planes, Shares, View};
pub use words::{Algebra, Corruption, Domain, PartySet, Profile, Setting, Sharing, Work};
