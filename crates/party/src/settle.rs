//! Digests of the transcript, compared before anything is revealed.
//!
//! Each party sends every other the digest of the payload that it sent to it; the other compares
//! that with the payload received. So accidental corruption below the protocol never becomes a
//! wrong result. This does not detect a party that lies about its own messages: it is no defence
//! against malicious parties.

use crate::fault::{Fault, Result};
use sealane_net::Mesh;
use sealane_parties::PartyId;

/// Bytes that each party sends to each peer.
pub const DIGEST_BYTES: u64 = 32;

/// Writes to each peer the digest of all payload sent to it before.
pub fn send_digests(mesh: &mut Mesh, peers: impl IntoIterator<Item = PartyId>) -> Result<()> {
    for peer in peers {
        let digest = mesh.digest_sent(peer);
        mesh.send(peer, &digest)?;
    }
    Ok(())
}

/// Reads the digest of each peer and compares it with the payload received.
///
/// # Errors
/// [`Fault::Altered`] if one differs from the digest of the payload received from this peer.
// A function of its own, so that `memcheck` can allow this comparison by its name and no other.
#[inline(never)]
pub fn check_digests(mesh: &mut Mesh, peers: impl IntoIterator<Item = PartyId>) -> Result<()> {
    for peer in peers {
        let ours = mesh.digest_received(peer);
        let mut theirs = [0; DIGEST_BYTES as usize];
        mesh.recv(peer, &mut theirs)?;
        // Both are public to anybody who saw the transcript of this protocol.
        if ours != theirs {
            return Err(Fault::Altered(peer));
        }
    }
    Ok(())
}
