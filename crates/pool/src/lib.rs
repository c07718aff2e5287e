//! Crate `pool`: random oblivious transfers that a pair of parties made ahead, on the disks of
//! both, for runs to come.
//!
//! A [`Pool`] belongs to one party and its dealings with one other. [`Filling`] makes OTs together
//! with that party and adds them. A run takes what it needs before it begins ([`Pool::take`]) and
//! reads it as it goes ([`DiskStock`]).
//!
//! **Never twice.** OTs are counted in batches of [`BATCH`], by numbers that only grow. Before a
//! run, both parties tell each other the next number and the fills that they hold ([`Offer`]); both
//! go on from the larger number, within the fills that both hold, and have this on their disks
//! before they use anything. So a party that was set back to an older state, by a backup or a copy
//! of its machine, uses nothing twice with another that was not set back and follows the protocol.
//! If both were, whatever was used since the later of the two points is used again, and nobody can
//! tell; nor can a party that was set back tell if the other one goes back with it on purpose.
//! SECURITY.md names both.
//!
//! **Used parts cannot be read later.** Each batch is encrypted with AES-128-GCM under a key of its
//! own. The keys are a chain: each follows from the one before by a hash, and the state holds the
//! key of the next batch alone, so whoever reads the disk later finds no key of a batch that was
//! taken. The chain begins with fresh randomness; a key derived from the private key of the party
//! only wraps the state. An old state is overwritten with zeros when a new one takes its place,
//! as far as the file system and the disk do that.
//!
//! **Files.** A folder for each pair, named after both public keys: `state`; a file for each fill
//! and role, `sender-ID.ots` or `receiver-ID.ots`, of batches that are each encrypted and of one
//! length; two empty files whose locks processes hold. Every file appears whole or not at all. A
//! process that is killed leaves at most files without a name of their own or that no state names;
//! the next run or fill removes them.
//!
//! A pool holds *random* OTs, whose keys are hashes, so that it keeps no offset: nothing that a run
//! garbles with is ever on the disk.
//!
//! | file | content |
//! |---|---|
//! | `pool` | reading, taking, destroying |
//! | `fill` | the protocol of the two parties |
//! | `stock` | OTs that were taken, for a run |
//! | `state` | numbers, fills, and the encryption of state and batches |
//! | `keys` | the chain of keys |
//! | `disk` | the folder, behind a trait for tests |
#![forbid(unsafe_code)]

mod disk;
mod error;
mod fill;
#[doc(hidden)]
pub mod fuzzing;
mod keys;
mod pool;
mod state;
mod stock;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod watched;

#[doc(hidden)]
pub use fill::exchange_offers;
pub use fill::{FillError, Filling, Order};
pub use pool::{Count, Pool, Taken};
pub use sealane_ot::Role;
pub use state::{BATCH, MOST_FILLS, Offer};
pub use stock::DiskStock;
