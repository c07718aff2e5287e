//! Crate `ot`: oblivious transfer.
//!
//! In a *correlated OT* the sender ends with a random block `q`, the receiver with a choice `x` and
//! `t = q ^ x * delta`, where `delta` is a secret of the sender, one for all OTs. The evaluator of
//! a garbled circuit gets the labels of its input bits so: `q` is the zero label of a wire and
//! `delta` the free-XOR offset. All other forms are made of correlated OTs.
//!
//! ```text
//! base            128 OTs from elliptic curves, once for a session
//!   softspoken    any number of correlated OTs from these (IKNP is the smallest case)
//!     one_of_n    keys of many strings, of which the receiver gets one, from the same trees
//!     ferret      many more correlated OTs from a few, for less than half a bit each
//!       forms     of either: given choices; random, chosen, strings
//!       triples   of either: shares of products of random secrets
//! ```
//!
//! | module | content |
//! |---|---|
//! | `base` | 128 random OTs: endemic OT of Masny and Rindal, in ristretto255 |
//! | [`softspoken`] | extension to correlated OTs: SoftSpoken, and IKNP; semi-honest or malicious |
//! | [`ferret`] | silent extension: Ferret, with an estimator of its parameters |
//! | [`source`] | one of these extensions by the class of a network; OTs made ahead of their use |
//! | [`forms`] | correlated OTs with given choices, random OTs, OTs of chosen strings |
//! | [`softspoken::one_of_n`] | OTs of one of 4, 16 or 256 strings, and of up to 2^64 |
//! | [`triples`] | OLEs and triples of all kinds, daBits, selects, known products; semi-honest |
//! | [`traits`] | each form behind a trait, so that any source of it serves |
//! | [`ideal`] | the ideal functionality of each form behind the same trait, for tests |
//!
//! A set-up is two calls, so that the first messages of both parties cross: `set_up` writes, and
//! `finish` reads. Each state is a type of its own, so a wrong order does not compile. Two parties
//! that set up both directions call in the order of `docs/protocols/ot.md`, "Both directions".
//!
//! ```
//! # use sealane_net::Mesh;
//! # use sealane_ot::{OtError, softspoken::{Receiver, ReceiverSetup}, traits::CotReceiver};
//! fn receiver(setup: ReceiverSetup, mesh: &mut Mesh) -> Result<Receiver, OtError> {
//!     let mut receiver = setup.finish(mesh)?;
//!     receiver.extend(mesh, &mut [], &mut [])?;
//!     Ok(receiver)
//! }
//! ```
//!
//! No OT is made before the set-up has ended:
//!
//! ```compile_fail,E0599
//! # use sealane_net::Mesh;
//! # use sealane_ot::{OtError, softspoken::ReceiverSetup, traits::CotReceiver};
//! fn receiver(mut setup: ReceiverSetup, mesh: &mut Mesh) -> Result<(), OtError> {
//!     setup.extend(mesh, &mut [], &mut [])
//! }
//! ```
//!
//! and no set-up ends twice, nor a request:
//!
//! ```compile_fail,E0382
//! # use sealane_net::Mesh;
//! # use sealane_ot::{OtError, softspoken::{Receiver, ReceiverSetup}};
//! fn receiver(setup: ReceiverSetup, mesh: &mut Mesh) -> Result<Receiver, OtError> {
//!     setup.finish(mesh)?;
//!     setup.finish(mesh)
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use sealane_net::Mesh;
//! # use sealane_ot::{OtError, forms::OffsetRequest};
//! fn answered(request: OffsetRequest, mesh: &mut Mesh) -> Result<(), OtError> {
//!     request.finish(mesh)?;
//!     request.finish(mesh).map(drop)
//! }
//! ```
//!
//! Costs are exact: [`CotCost`](traits::CotCost) lists the bytes of every flight, for plans.
//!
//! Each module says what it assumes and which attacks it withstands.

#![forbid(unsafe_code)]

mod base;
pub mod ferret;
mod flights;
pub mod forms;
pub mod ideal;
mod security;
pub mod softspoken;
pub mod source;
pub mod traits;
mod transcript;
pub mod triples;

pub use flights::{Flight, Flights, Role, then};
pub use security::Security;
pub use softspoken::SoftSpoken;

use sealane_net::NetError;
use sealane_parties::PartyId;

/// Result of a part of an oblivious transfer.
pub type Result<T, E = OtError> = std::result::Result<T, E>;

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
    /// The peer failed a check that an honest one passes. It may have learned bits of the offset
    /// by it, so whatever was made with that offset is destroyed.
    #[error(
        "{0} failed a check of oblivious transfers, which an honest party never does; do not run \
         with it again before you know why"
    )]
    CheckFailed(PartyId),
    /// A message was altered on its way above TLS, by a fault of the programs of one party.
    #[error("what {0} sent is not what came")]
    Altered(PartyId),
    /// An OT was asked for after a failure.
    #[error("oblivious transfers ended with an earlier failure; begin a new session")]
    Ended,
}
