//! Silent extension of correlated OT: any number of random correlated OTs for less than half a bit
//! each, from a source of a few.
//!
//! Yang, Weng, Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small
//! Communication" (CCS 2020; section numbers below are theirs), with the correlated trees of Guo,
//! Yang, Wang, Zhang, Xie, Liu and Zhao, "Half-Tree: Halving the Cost of Tree Expansion in COT and
//! DPF" (Eurocrypt 2023, section 4).
//!
//! An iteration takes correlated OTs and gives more (Figure 7). With `q`, and `t = q + x delta`,
//! the ones that it takes, `A` a public matrix and `e` a sparse vector of errors that the receiver
//! alone knows:
//!
//! ```text
//! sender                                          receiver
//! trees: v            --- 12 blocks a tree -->    trees: w = v + e delta
//! q' = q A + v                                    t' = t A + w,  x' = x A + e
//!                                                 t' = q' + x' delta
//! ```
//!
//! The last rows are those that the next iteration takes; the others are for the caller.
//!
//! | module | content |
//! |---|---|
//! | `params` | sizes, where errors may be, and what a corrupt party may do |
//! | `sender`, `receiver` | the two parties: their trees, and how they use what both share |
//! | `run` | iterations, and the rows between them and the caller |
//! | `step` | iterations of both directions, which share flights |
//! | `places` | errors at any places (section 4.1) |
//! | `check` | the check of an iteration (section 4.2) |
//! | `keys` | public keys of trees and matrix |
//! | `cost` | messages, for plans |
//! | [`estimate`] | attacks on the assumption, and their cost |
//!
//! # The assumption
//! *Learning parity with noise over a local code, with regular noise*: for random `A` with ten ones
//! in each row, `x` of `k` random bits, and `e` with one error in each of `t` runs of `n / t` rows,
//! at a random place, `x A + e` looks random. With [`Noise::Uniform`] the `t` errors are at any
//! rows instead, which is the weaker assumption. [`estimate`] has the cost of the known attacks, at
//! least 2^128 for every [`Set`], some that use that the code is local among them. That no faster
//! attack on local codes of ten ones exists is an assumption of its own. With regular noise a run
//! is every row with the same number modulo 8 in its batch, instead of neighbouring rows; that is
//! another order of the rows of a matrix whose rows are random, and changes nothing. Places of its
//! errors are the choices of correlated OTs, so that they are random and no message is needed for
//! them.
//!
//! The hash of the trees is assumed to be circular correlation robust for `delta`
//! ([`trees`](sealane_block::silent::trees)). Both its key and the matrix are new, the key
//! in every batch of eight trees and the matrix in every iteration, from contributions of both
//! parties, so that work on one is of no use against another, of this or any other pair of parties.
//! A batch gives a receiver some 2^6.5 hashes under one key, whose search for `delta` they serve
//! together: 2^120 tries.
//!
//! # Security
//! [`Security::SemiHonest`](crate::Security::SemiHonest) is for parties that follow the protocol: a
//! corrupt sender can make OTs wrong where the receiver has certain errors, and see if that shows.
//! [`Security::Malicious`](crate::Security::Malicious) checks every iteration, at the cost of two
//! more messages. It needs a source that is secure against corrupt parties as well, and refuses any
//! other: a set-up with one panics.
//!
//! *What remains.* A corrupt sender can guess places of errors, in any set of its choice for each
//! tree, and learns that all its guesses are right if it is not caught (the functionality of
//! Figure 4; "selective failure"). A guess that is right with probability 2^-c reveals c bits about
//! the errors of one iteration, and is caught with probability 1 - 2^-c; section 4.2 argues that
//! the errors stay hard to find, and the estimates have a margin of some bits. A corrupt receiver
//! learns nothing about `delta`.
//!
//! **After any error this party forgets what it has** and fails from then on. Guesses threaten the
//! receiver's errors, of this iteration alone, and not the offset; but the source may have an
//! offset that guesses threaten, as SoftSpoken's, and must not be used again either. Digests of all
//! that crossed tell messages that a fault of the programs altered
//! ([`OtError::Altered`](crate::OtError::Altered)) from a party that deviates
//! ([`OtError::CheckFailed`](crate::OtError::CheckFailed)).
//!
//! # Bits 0
//! Bit 0 of the offset is 1, and public. Between iterations bit 0 of a `q` is 0 and bit 0 of a `t`
//! is the choice, so that one encoding does for blocks and choices. A row for the caller gets a
//! random bit 0 that both parties know, since they know the other's of an OT anyhow: the receiver
//! knows bit 0 of `q` from `t` and its choice wherever bit 0 of the offset is public.
//!
//! # Memory
//! A party keeps 8.7 MiB between calls: correlations, and room for a batch of trees. If a call has
//! room for the rows of a whole iteration, 64 MiB of them, rows are computed where the caller wants
//! them; else, in a buffer of that size, which stays. A receiver has half a MiB of choices besides.
//! These are the figures of [`Set::Compact`]; `Quick` keeps half, `Uniform` a fifth more.

mod check;
mod cost;
pub mod estimate;
mod keys;
mod params;
mod places;
mod receiver;
mod run;
mod sender;
mod step;

pub use cost::FerretCost;
pub use params::{Lpn, Noise, Params, Set};
pub use receiver::FerretReceiver;
pub use sender::FerretSender;
pub(crate) use step::{BothSetup, Receives, Sends, in_step};

#[cfg(test)]
pub(crate) mod tests;
