//! Comparisons before any proof: of the session, of what crossed and of digests that two parties
//! have in common; and the fault of those who differ.

use crate::reveal;
use crate::role_index;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Fault, Result, check_digests, send_digests};
use sealane_protocol::Setting;

/// Bytes of a session.
pub(super) const SESSION_BYTES: u64 = 32;

/// The parties of a settlement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// All of them, before results are opened.
    All,
    /// Those with a role, before a step of theirs goes on.
    Roles,
}

impl Among {
    /// Those with whom a party of the settlement compares what crossed.
    fn peers(self, setting: &Setting, me: PartyId) -> Vec<PartyId> {
        let mut peers = reveal::peers(setting, me);
        peers.retain(|peer| self == Among::All || role_index::role(setting, *peer).is_some());
        peers
    }
}

/// Writes the session and the digest of what crossed, for each peer.
pub(super) fn send_crossed(
    (setting, me): (&Setting, PartyId),
    among: Among,
    mesh: &mut Mesh,
) -> Result<()> {
    let session = mesh.session();
    for peer in among.peers(setting, me) {
        mesh.send(peer, session.as_bytes())?;
        send_digests(mesh, [peer])?;
    }
    Ok(())
}

/// Compares the session, then the digest, of each peer.
pub(super) fn check_crossed(
    (setting, me): (&Setting, PartyId),
    among: Among,
    mesh: &mut Mesh,
) -> Result<()> {
    for peer in among.peers(setting, me) {
        let mut theirs = [0; SESSION_BYTES as usize];
        mesh.recv(peer, &mut theirs)?;
        let others = setting.everyone().filter(|party| *party != me);
        let check = "the comparison of the session";
        check_same(mesh.session().as_bytes(), &theirs, others, check)?;
        check_digests(mesh, [peer])?;
    }
    Ok(())
}

/// The comparison of a session or a digest with another party's, which the run makes public: both
/// have sent it, or one has sent what it is the digest of.
///
/// # Errors
/// [`Fault::Disputed`] if they differ.
// A function of its own, so that `memcheck` can allow this comparison by its name and no other.
#[inline(never)]
pub(super) fn check_same(
    ours: &[u8; 32],
    theirs: &[u8; 32],
    between: impl IntoIterator<Item = PartyId>,
    check: &'static str,
) -> Result<()> {
    if ours == theirs {
        Ok(())
    } else {
        Err(disputed(between, check))
    }
}

/// One of these deviated, and this party cannot know which.
pub(super) fn disputed(between: impl IntoIterator<Item = PartyId>, check: &'static str) -> Fault {
    let between = PartySet::of(between);
    Fault::Disputed { between, check }
}
