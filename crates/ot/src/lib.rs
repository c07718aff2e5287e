//! Room `ot`: oblivious transfer.
//!
//! The evaluator of a garbled circuit has input bits and needs, for each, the one label of its
//! wire that stands for the bit; the garbler must not learn the bit, the evaluator not the other
//! label. That is a *correlated OT*: the garbler ends with a random block `q`, its zero label, and
//! the evaluator with `q` if its choice is 0 and `q ^ delta` if it is 1, where `delta` is the
//! garbler's free-XOR offset, the same for all wires.
//!
//! ```text
//! CotSender (garbler)                              CotReceiver (evaluator)
//! setup(delta)          <---- 32 bytes ----        setup()
//!                       --- 128 * 32 bytes -->
//! extend(count)         <-- 16 bytes a choice --   extend(choices)        as often as needed
//! zero labels q_j                                  labels q_j ^ choice_j * delta
//! ```
//!
//! * `base`: 128 OTs from elliptic curves (Chou and Orlandi 2015), once for a session;
//! * `cot`: any number of correlated OTs from these, with symmetric cryptography alone (Ishai,
//!   Kilian, Nissim and Petrank 2003; Asharov, Lindell, Schneider and Zohner 2013).
//!
//! Security is semi-honest. Each module says what it assumes and which active attacks it does not
//! stop. Functions of this file give the bytes of every message, so that a plan can state them
//! exactly.

#![forbid(unsafe_code)]

mod base;
mod cot;
pub mod ferret;
mod flights;
pub mod traits;

pub use cot::{CotReceiver, CotSender};
pub use flights::{Flight, Flights, Role};

use sealane_net::NetError;
use sealane_parties::PartyId;

/// Bytes of the opening message of the base OTs, receiver of COTs to sender.
pub const SETUP_OPENING_BYTES: u64 = base::POINT_BYTES as u64;
/// Bytes of the reply, sender of COTs to receiver.
pub const SETUP_REPLY_BYTES: u64 = base::REPLY_BYTES as u64;
/// Returns the bytes of one extension message for `count` COTs, receiver to sender.
pub const fn extend_bytes(count: u64) -> u64 {
    // Whole groups of 128, so that a column is a whole number of blocks.
    count.div_ceil(128) * 128 * 16
}

/// Errors of an oblivious transfer. After any of these the session is over: the two parties'
/// streams no longer agree.
#[derive(Debug, thiserror::Error)]
pub enum OtError {
    /// The network failed, or the peer left in the middle of a message.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer sent 32 bytes that are no canonical point of ristretto255, or the identity. An
    /// honest peer never does; nothing that depends on an input has been sent so far.
    #[error(
        "{0} sent a malformed curve point in the set-up of oblivious transfers; see that both \
         parties run the same version, and that nothing alters what passes between them"
    )]
    BadPoint(PartyId),
}
