//! Digests of what crossed, before a check that altered messages would fail.
//!
//! A failed check says that the peer deviated. A message that was altered on the way, by a fault of
//! the programs, would fail it as well; so each party tells the digest of what it sent, and the two
//! cases are told apart. Nothing is secured by it: a peer that deviates may claim anything.

use crate::OtError;
use sealane_net::Mesh;
use sealane_parties::PartyId;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// Writes the digest of all that was sent to a party before.
pub(crate) fn send_digest(mesh: &mut Mesh, to: PartyId) -> Result<(), OtError> {
    let digest = mesh.digest_sent(to);
    Ok(mesh.send(to, &digest)?)
}

/// Reads the digest of a party and compares it with what came from it.
///
/// # Errors
/// [`OtError::Altered`] if they differ; the network failed.
pub(crate) fn check_digest(mesh: &mut Mesh, from: PartyId) -> Result<(), OtError> {
    let ours = mesh.digest_received(from);
    let mut theirs = [0; DIGEST_BYTES];
    mesh.recv(from, &mut theirs)?;
    check_equal(&ours, &theirs, OtError::Altered(from))
}

/// Returns the error if two values differ that are or become known to both parties.
// A function of its own, so that `memcheck` can allow this comparison by its name and no other.
#[inline(never)]
pub(crate) fn check_equal(a: &[u8; 32], b: &[u8; 32], error: OtError) -> Result<(), OtError> {
    if a == b { Ok(()) } else { Err(error) }
}
