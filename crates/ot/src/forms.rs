//! The forms of oblivious transfer, from correlated OTs with random choices.
//!
//! | form | sender | receiver | beyond a correlated OT |
//! |---|---|---|---|
//! | given choices | `q_j` | `x_j` of its own, `q_j ^ x_j delta` | 1 bit to the sender |
//! | random | two random keys | the key of a random choice | hashes |
//! | chosen | two strings of its own | that of its choice | hashes, 1 bit, both strings back |
//! | new offset | `q_j` | `x_j` given, `q_j ^ x_j delta` | on random OTs: 1 bit, a block back |
//!
//! **Given choices** (Beaver, "Precomputing Oblivious Transfer", CRYPTO 1995): the receiver sends
//! `d_j = r_j ^ x_j`, where `r_j` is the random choice of the OT, and the sender takes `q_j ^ d_j
//! delta`.
//!
//! **Random** OTs hash the rows, which ends their correlation: keys are `H(j, q_j)` and `H(j, q_j ^
//! delta)`, with `H` the hash MI ([`Mi`](sealane_block::hash::Mi)) under a public seed of the
//! session, the roles and a label. Each number `j` is an AES key of its own, which serves these two
//! blocks, so the number of OTs hardly weakens them: all share `delta`, and under one key `q`
//! hashes would give it away after `2^128 / q` tries. `H` has to be tweakable correlation robust
//! for an offset of which few bits may have leaked (Roy, CRYPTO 2022); MI is, with AES an ideal
//! cipher (Guo, Katz, Wang, Weng and Yu, Crypto 2020).
//!
//! **Security** is that of the correlated OTs beneath: with them secure against corrupt parties, so
//! are these. A corrupt receiver may choose `d_j` as it likes, which is a choice.

mod chosen;
mod given;
mod offset;
#[cfg(test)]
pub(crate) mod offset_vectors;
mod random;

pub use chosen::{Request, chosen_bytes, chosen_flights, receive_chosen, send_chosen};
pub use given::{given_bytes, receive_given, send_given};
pub use offset::{OffsetRequest, offset_bytes, send_under};
pub use offset::{receive_correlated, send_correlated};
pub(crate) use random::BATCH;
pub use random::{HashedReceiver, HashedSender, Hasher};
