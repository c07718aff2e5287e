//! Public keys of the trees, fresh for every batch, and of the matrix, for every iteration.
//!
//! Work that is spent on one key, or on one matrix, helps against one iteration of one pair of
//! parties alone. Both parties contribute to the keys, and so does the session. The party whose
//! contribution comes last can choose among as many keys as it computes, also after it has seen the
//! base transfers of the other one, which are pseudorandom to it; no share of keys or matrices that
//! it could find so is known to be weak. Two runs of the extension between the same
//! parties in one session have contributions of their own, and so share no key.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::TreeHash;
use sealane_block::{Block, Coins, Cpu, Nonce, PublicStream};

use super::params::{Lpn, Noise};
use super::places::Places;
use super::run::Link;
use crate::{Result, Role};

/// Bytes of a party's contribution.
pub(super) const NONCE_BYTES: u64 = Nonce::BYTES as u64;

/// The keys of all iterations to come.
pub(super) struct Keys {
    stream: PublicStream,
    /// Names this run of the extension, in hashes that belong to it.
    instance: Nonce,
}

impl Keys {
    /// Exchanges contributions, which belong to this run of the extension.
    pub(super) fn agree(link: &mut Link<'_>, role: Role, coins: &mut Coins) -> Result<Keys> {
        let ours = Keys::contribute(link, coins)?;
        link.flush()?;
        Keys::agreed(link, role, ours)
    }

    /// Writes a contribution, and does not flush.
    pub(super) fn contribute(link: &mut Link<'_>, coins: &mut Coins) -> Result<Nonce> {
        let ours = coins.public("ot ferret: contribution to keys").nonce();
        link.mesh.send(link.peer, ours.as_bytes())?;
        Ok(ours)
    }

    /// Reads the other party's contribution; this is one's own.
    pub(super) fn agreed(link: &mut Link<'_>, role: Role, ours: Nonce) -> Result<Keys> {
        let mut theirs = [0; Nonce::BYTES];
        let Link { mesh, peer } = link;
        mesh.recv(*peer, &mut theirs)?;
        let (us, them) = ((mesh.me(), *ours.as_bytes()), (*peer, theirs));
        let order = match role {
            Role::Sender => [us, them],
            Role::Receiver => [them, us],
        };
        let mut hasher = blake3::Hasher::new_derive_key("sealane 6 ot ferret keys");
        for (party, nonce) in order {
            hasher.update(&[party.0]).update(&nonce);
        }
        let nonce = Nonce::from_bytes(*hasher.finalize().as_bytes());
        let stream = |label| nonce.stream(label, mesh.session().as_bytes());
        Ok(Keys {
            stream: stream("ot ferret: keys"),
            instance: stream("ot ferret: instance").nonce(),
        })
    }

    /// The name of this run of the extension.
    pub(super) fn instance(&self) -> Nonce {
        self.instance
    }

    /// Draws the matrix of the next iteration.
    pub(super) fn matrix(&mut self, cpu: Cpu) -> LocalMatrix {
        LocalMatrix::new(cpu, self.key())
    }

    /// Draws the tables of the next iteration, if its errors are at any places.
    pub(super) fn places(&mut self, lpn: &Lpn) -> Option<Places> {
        match lpn.noise() {
            Noise::Regular => None,
            Noise::Uniform => Some(Places::new(lpn, &mut self.stream)),
        }
    }

    /// Draws the hash of the next batch of trees. All hashes of a receiver's known values under one
    /// key are targets of one search for the offset, so a key serves few of them.
    pub(super) fn hash(&mut self, cpu: Cpu) -> TreeHash {
        TreeHash::new(cpu, self.key())
    }

    fn key(&mut self) -> Block {
        self.stream.block()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ferret::tests::support::{RECEIVER, SENDER, both, in_memory};
    use sealane_net::Mesh;
    use sealane_net::SessionId;
    use sealane_parties::PartyId;
    use std::collections::HashSet;

    /// Instances, keys of some batches and rows of some matrices, of two runs that one party has
    /// with a peer.
    fn two_runs(mut mesh: Mesh, peer: PartyId, role: Role, coins: u64) -> Vec<[u8; 32]> {
        let coins = &mut Coins::danger_fixed_seed(coins);
        let mut all = Vec::new();
        for _ in 0..2 {
            let mesh = &mut mesh;
            let mut keys = Keys::agree(&mut Link { mesh, peer }, role, coins).expect("memory");
            all.push(*keys.instance().as_bytes());
            for _ in 0..100 {
                let mut key = [0; 32];
                key[..16].copy_from_slice(&keys.key().to_bytes());
                all.push(key);
                let (places, _) = keys.matrix(Cpu::best()).row(0, 1 << 20);
                let places = places.map(usize::to_le_bytes).concat();
                all.push(*blake3::hash(&places).as_bytes());
            }
        }
        all
    }

    #[test]
    fn runs_of_one_session_or_with_the_same_coins_share_no_key_no_matrix_and_no_name() {
        let mut all = HashSet::new();
        for session in [1, 2] {
            let mut meshes = in_memory();
            let session = SessionId::new(&[session; 32], &[]);
            meshes.iter_mut().for_each(|mesh| mesh.set_session(session));
            let (sender, receiver) = both(
                meshes,
                |mesh| two_runs(mesh, RECEIVER, Role::Sender, 1),
                |mesh| two_runs(mesh, SENDER, Role::Receiver, 2),
            );
            assert_eq!(sender, receiver);
            all.extend(sender);
        }
        assert_eq!(all.len(), 4 * (1 + 2 * 100));
    }
}
