//! Crate `identity`: identities of parties, and the cards by which they learn each other's.
//!
//! An [`Identity`] is an Ed25519 key. There is no certificate, no name in the key and no date.
//! Parties exchange public keys once, over a channel that they trust, and write them into their
//! configurations: each *pins* the keys of the others. A [`ContactCard`] carries a public key with
//! the name and the address of its party, and a [fingerprint](PublicKey::fingerprint) lets people
//! compare keys by voice.
//!
//! # What it does not do
//!
//! It opens no connection: crate `net` proves the possession of a key to a peer, and compares the
//! peer's key with the pinned one.

#![forbid(unsafe_code)]

mod address;
mod contact;
mod identity;
mod public_key;

pub use address::host_and_port;
pub use contact::{CardError, ContactCard};
pub use identity::{Identity, KeyFileError};
pub use public_key::{PublicKey, PublicKeyError};
