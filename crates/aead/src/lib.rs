//! Crate `aead`: authenticated encryption with AES-128, of one message or of many at once, after
//! Bogdanov, Lauridsen and Tischhauser, "AES-Based Authenticated Encryption Modes in Parallel
//! High-Performance Software" (DIAC 2014).
//!
//! * A [`Suite`] is a mode with its version and length of tag; a [`Cipher`] is one under a key. It
//!   seals and opens messages, and counts what the key has sealed.
//! * [`seal_many`] and [`open_many`] take an iterator of messages of any lengths and bring them to
//!   the vector lanes side by side. Each result is that of the message alone.
//! * [`RowBatch`] holds messages of equal lengths under one key, contiguous in memory: they cost
//!   less to hand over.
//! * [`traits`] has the everyday modes as types with the traits of the `aead` crate.
//!
//! `modes` holds each mode once, as equations on waves of lanes; `lanes` maps lanes to messages,
//! and runs the modes on one message or on many.
//!
//! **Assumption.** AES-128 is a pseudorandom permutation, and a nonce occurs once under a key (a
//! batch refuses one that it has used before, and knows of no other batch); the page of each mode
//! in `docs/aead` states what a repeated nonce reveals. GCM, CCM and OCB3 are for everyday use.
//! ECB, CTR and CBC authenticate nothing. The modes behind the feature `research` are for study:
//! some are broken.
#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

mod batch;
mod cipher;
mod counts;
mod error;
mod lanes;
mod lengths;
#[macro_use]
mod modes;
mod nonces;
mod registry;
mod rows;
mod suite;
pub mod traits;

pub use batch::{Done, Many, Message, WINDOW, open_many, seal_many};
pub use cipher::Cipher;
pub use counts::Counts;
pub use error::Error;
pub use nonces::{KeyId, Nonces};
pub use rows::{Ads, RowBatch};
pub use suite::Suite;
