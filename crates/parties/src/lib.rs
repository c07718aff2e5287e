//! Crate `parties`: the names that plans, protocols and networks share for those who compute: a
//! [`PartyId`] for each, sets of them, and the class of the network between them.
#![forbid(unsafe_code)]

mod network;
mod party;

pub use network::NetworkClass;
pub use party::{PartyId, PartySet};
