//! Digests of what crossed: their kind, and how they are compared before a check that altered
//! messages would fail.
//!
//! A failed check says that the peer deviated. A message that was altered on the way, by a fault of
//! the programs, would fail it as well; so each party tells the digest of what it sent, and the two
//! cases are told apart. Nothing is secured by it: a peer that deviates may claim anything.

use crate::{OtError, Result, Security};
use sealane_block::Cpu;
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// Writes the digest of all that was sent to a party before.
pub(crate) fn send_digest(mesh: &mut Mesh, to: PartyId) -> Result<()> {
    let digest = mesh.digest_sent(to);
    Ok(mesh.send(to, &digest)?)
}

/// Reads the digest of a party and compares it with what came from it.
///
/// # Errors
/// [`OtError::Altered`] if they differ; the network failed.
pub(crate) fn check_digest(mesh: &mut Mesh, from: PartyId) -> Result<()> {
    let ours = mesh.digest_received(from);
    let mut theirs = [0; DIGEST_BYTES];
    mesh.recv(from, &mut theirs)?;
    check_equal(&ours, &theirs, OtError::Altered(from))
}

/// Returns the error if two values differ that are or become known to both parties.
// A function of its own, so that `memcheck` can allow this comparison by its name and no other.
#[inline(never)]
pub(crate) fn check_equal(a: &[u8; 32], b: &[u8; 32], error: OtError) -> Result<()> {
    if a == b { Ok(()) } else { Err(error) }
}

/// Messages of a protocol of some security, which decides how they are digested: those of a
/// semi-honest one against accidents alone.
#[derive(Clone, Copy)]
pub(crate) struct Digested {
    pub cpu: Cpu,
    pub security: Security,
}

impl Digested {
    /// See [`Mesh::mark_written`].
    pub(crate) fn mark_written(
        self,
        mesh: &mut Mesh,
        to: PartyId,
        bytes: usize,
    ) -> Result<(), NetError> {
        match self.security {
            Security::SemiHonest => mesh.mark_bulk_written(self.cpu, to, bytes),
            Security::Malicious => mesh.mark_written(to, bytes),
        }
    }

    /// See [`Mesh::consume`].
    pub(crate) fn consume(
        self,
        mesh: &mut Mesh,
        from: PartyId,
        bytes: usize,
    ) -> Result<(), NetError> {
        match self.security {
            Security::SemiHonest => mesh.consume_bulk(self.cpu, from, bytes),
            Security::Malicious => mesh.consume(from, bytes),
        }
    }
}
