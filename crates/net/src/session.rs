//! Identifier of a session, which distinguishes it from all others.

use sealane_block::Block;
#[cfg(doc)]
use sealane_block::PolyHash;
use sealane_parties::PartyId;

/// Bytes of an identifier, and of a party's contribution to it.
const BYTES: usize = 32;

/// Identifier of a session: a hash of the job instance and of a random contribution of every party.
/// It is public. A party with a fresh contribution never gets the same identifier twice, whatever
/// the others contribute; so values hashed together with it (labels, keys of oblivious transfer,
/// initial states of generators, transcripts) are bound to this session, and work spent on the
/// secrets of one session does not help against another.
///
/// The default is the identifier of a mesh whose parties have agreed on none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionId([u8; BYTES]);

impl SessionId {
    /// Derives the identifier of a session that runs `instance`, with the contributions of all
    /// parties in their order.
    pub fn new(instance: &[u8; BYTES], contributions: &[[u8; BYTES]]) -> SessionId {
        let mut hasher = blake3::Hasher::new_derive_key("sealane 3 session");
        hasher.update(instance);
        hasher.update(contributions.as_flattened());
        SessionId(*hasher.finalize().as_bytes())
    }

    /// Makes the identifier with these bytes, of a session that nobody agreed on: for tests.
    pub fn danger_fixed(bytes: [u8; BYTES]) -> SessionId {
        SessionId(bytes)
    }

    /// Bytes of the identifier, for hashing them together with something else.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Digest of the payload that `from` has sent to `to` in this session, where `payload` is the
    /// BLAKE3 hash of all but bulk, and `bulk` the [`PolyHash`] of that under
    /// [`SessionId::bulk_key`], if there was any.
    pub fn transcript(
        &self,
        from: PartyId,
        to: PartyId,
        payload: &[u8; BYTES],
        bulk: Option<&[u8; 16]>,
    ) -> [u8; BYTES] {
        let mut hasher = blake3::Hasher::new_derive_key("sealane 3 transcript");
        hasher.update(&self.0).update(&[from.0, to.0]);
        hasher.update(payload).update(bulk.map_or(&[], |hash| hash));
        *hasher.finalize().as_bytes()
    }

    /// Key under which the bulk is hashed that `from` sends to `to`. It is public, like
    /// the identifier, and uniformly random where one party's contribution is.
    pub fn bulk_key(&self, from: PartyId, to: PartyId) -> Block {
        let mut hasher = blake3::Hasher::new_derive_key("sealane 5 key for the hash of tables");
        hasher.update(&self.0).update(&[from.0, to.0]);
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        Block::from_bytes(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_contribution_and_the_instance_count_in_their_order() {
        let (i, x, y) = ([1; BYTES], [2; BYTES], [3; BYTES]);
        let ids = [
            SessionId::default(),
            SessionId::new(&i, &[x, y]),
            SessionId::new(&x, &[i, y]),
            SessionId::new(&i, &[y, x]),
            SessionId::new(&i, &[x, x]),
            SessionId::new(&i, &[y, y]),
            SessionId::new(&i, &[x, y, y]),
        ];
        assert_eq!(HashSet::from(ids).len(), ids.len());
        assert_eq!(ids[1], SessionId::new(&i, &[x, y]));
    }

    #[test]
    fn a_transcript_belongs_to_a_session_and_a_direction() {
        let [a, b] = [0, 1].map(PartyId);
        let id = SessionId::new(&[1; BYTES], &[[2; BYTES]]);
        let digests = [
            id.transcript(a, b, &[7; BYTES], None),
            id.transcript(b, a, &[7; BYTES], None),
            id.transcript(a, b, &[8; BYTES], None),
            id.transcript(a, b, &[7; BYTES], Some(&[0; 16])),
            id.transcript(a, b, &[7; BYTES], Some(&[1; 16])),
            SessionId::default().transcript(a, b, &[7; BYTES], None),
        ];
        assert_eq!(HashSet::from(digests).len(), digests.len());
        let sessions = [(id, a, b), (id, b, a), (SessionId::default(), a, b)];
        let keys = sessions.map(|(id, from, to)| id.bulk_key(from, to).value());
        assert_eq!(HashSet::from(keys).len(), keys.len());
    }
}
