//! Public keys of the trees, fresh for every batch, and of the matrix, for every iteration.
//!
//! Work that is spent on one key, or on one matrix, helps against one iteration of one pair of
//! parties alone. Both parties contribute to the keys, and so does the session. The party whose
//! contribution comes last can choose among as many keys as it computes; no share of keys or
//! matrices that it could find so is known to be weak.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::TreeHash;
use sealane_block::{Coins, Cpu, Nonce, PublicStream};
use sealane_net::Mesh;
use sealane_parties::PartyId;

use crate::{OtError, Role};

/// Bytes of a party's contribution.
pub(super) const NONCE_BYTES: u64 = Nonce::BYTES as u64;

/// The keys of all iterations to come.
pub(super) struct Keys(PublicStream);

impl Keys {
    /// Exchanges contributions, which belong to this run of the extension.
    pub(super) fn agree(
        mesh: &mut Mesh,
        peer: PartyId,
        role: Role,
        coins: &mut Coins,
    ) -> Result<Keys, OtError> {
        let ours = coins.public("ot ferret: contribution to keys").nonce();
        let mut theirs = [0; Nonce::BYTES];
        mesh.send(peer, ours.as_bytes())?;
        mesh.flush()?;
        mesh.recv(peer, &mut theirs)?;
        let (us, them) = ((mesh.me(), *ours.as_bytes()), (peer, theirs));
        let order = match role {
            Role::Sender => [us, them],
            Role::Receiver => [them, us],
        };
        let mut hasher = blake3::Hasher::new_derive_key("sealane 6 ot ferret keys");
        for (party, nonce) in order {
            hasher.update(&[party.0]).update(&nonce);
        }
        let nonce = Nonce::from_bytes(*hasher.finalize().as_bytes());
        let stream = nonce.stream("ot ferret: keys", mesh.session().as_bytes());
        Ok(Keys(stream))
    }

    /// Draws the matrix of the next iteration.
    pub(super) fn matrix(&mut self, cpu: Cpu) -> LocalMatrix {
        LocalMatrix::new(cpu, self.0.block())
    }

    /// Draws the hash of the next batch of trees. All hashes of a receiver's known values under one
    /// key are targets of one search for the offset, so a key serves few of them.
    pub(super) fn hash(&mut self, cpu: Cpu) -> TreeHash {
        TreeHash::new(cpu, self.0.block())
    }
}
