//! Broadcast with abort: every party gets the same message of a sender, or all stop.
//!
//! The sender sends its message to each other party. Before anything that depends on it is opened,
//! all parties compare a digest of all that each sender has broadcast (echo broadcast: Goldwasser
//! and Lindell, "Secure Multi-Party Computation without Agreement", J. Cryptology 2005, section 3),
//! so that a sender who told one party something else is found out. The digest is BLAKE3, bound to
//! the session; collision resistance is assumed.

use crate::fault::{Fault, Result};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Bytes that each party sends to each other one to compare broadcasts.
pub const ECHO_BYTES: u64 = 32;

/// Broadcasts of all parties of a session, from its start on. All parties take part, also those
/// without a role.
pub struct Broadcast {
    me: PartyId,
    session: SessionId,
    /// One hash by sender.
    sent: Vec<Zeroizing<blake3::Hasher>>,
    /// Bytes that all parties have to have alike beside messages.
    agreed: Zeroizing<blake3::Hasher>,
}

impl Broadcast {
    /// No broadcast yet, among `parties` parties.
    pub fn new(me: PartyId, parties: usize, session: SessionId) -> Broadcast {
        let hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 1 broadcast"));
        Broadcast {
            me,
            session,
            sent: vec![hasher.clone(); parties],
            agreed: hasher,
        }
    }

    fn others(&self) -> impl Iterator<Item = PartyId> + use<> {
        let me = self.me;
        let all = (0..self.sent.len()).map(PartyId::from_index);
        all.filter(move |party| *party != me)
    }

    /// Writes a message to all others.
    ///
    /// # Errors
    /// The network fails.
    pub fn send(&self, message: &[u8], mesh: &mut Mesh) -> Result<()> {
        for to in self.others() {
            mesh.send(to, message)?;
        }
        Ok(())
    }

    /// Reads a message of `from`, of a length that both know. If `from` is this party, `message` is
    /// the one that it sent: it counts when others have read it, so that at any step all parties
    /// have counted the same messages.
    ///
    /// # Errors
    /// The network fails.
    pub fn recv(&mut self, from: PartyId, message: &mut [u8], mesh: &mut Mesh) -> Result<()> {
        if from != self.me {
            mesh.recv(from, message)?;
        }
        self.sent[from.index()].update(message);
        Ok(())
    }

    /// Adds bytes of a fixed length that all parties have to have alike, as a coin is: the next
    /// echo compares them too. Until one has been added, an echo compares messages alone.
    pub fn agree(&mut self, bytes: &[u8]) {
        self.agreed.update(bytes);
    }

    /// Digest of all broadcasts of all parties, in the order of parties. The number of messages and
    /// their lengths follow from the plan, so that streams need no separators.
    fn digest(&self) -> [u8; ECHO_BYTES as usize] {
        let mut all = blake3::Hasher::new_derive_key("sealane 1 broadcasts of all");
        all.update(self.session.as_bytes());
        for sender in &self.sent {
            all.update(sender.finalize().as_bytes());
        }
        if self.agreed.count() > 0 {
            all.update(self.agreed.finalize().as_bytes());
        }
        *all.finalize().as_bytes()
    }

    /// Writes the digest of all broadcasts so far to all others, [`ECHO_BYTES`] each, and returns
    /// it: more may be broadcast before those of the others arrive.
    ///
    /// # Errors
    /// The network fails.
    pub fn send_echo(&self, mesh: &mut Mesh) -> Result<[u8; ECHO_BYTES as usize]> {
        let digest = self.digest();
        for to in self.others() {
            mesh.send(to, &digest)?;
        }
        Ok(digest)
    }

    /// Reads the digests of all others and compares them with the one that this party sent.
    ///
    /// # Errors
    /// [`Fault::CheckFailed`] if one differs: somebody sent different messages to different
    /// parties, or lies about it; nobody can say who.
    pub fn check_echo(&self, sent: &[u8; ECHO_BYTES as usize], mesh: &mut Mesh) -> Result<()> {
        let mut same = true;
        for from in self.others() {
            let mut theirs = [0; ECHO_BYTES as usize];
            mesh.recv(from, &mut theirs)?;
            // Both are digests of messages that all parties may see.
            same &= *sent == theirs;
        }
        if same {
            Ok(())
        } else {
            Err(Fault::CheckFailed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parties that have heard the same, and agree on these bytes.
    fn echoed(agreed: [&[u8]; 3]) -> Vec<Result<()>> {
        let session = SessionId::danger_fixed([1; 32]);
        let mut meshes = Mesh::in_memory(3);
        let mut sent = Vec::new();
        for (mesh, bytes) in meshes.iter_mut().zip(agreed) {
            let mut broadcast = Broadcast::new(mesh.me(), 3, session);
            broadcast.agree(bytes);
            let echo = broadcast.send_echo(mesh).expect("a mesh in memory");
            mesh.flush().expect("a mesh in memory");
            sent.push((broadcast, echo));
        }
        let ends = sent.into_iter().zip(&mut meshes);
        ends.map(|((broadcast, echo), mesh)| broadcast.check_echo(&echo, mesh))
            .collect()
    }

    #[test]
    fn an_echo_compares_what_all_have_to_have_alike() {
        assert!(echoed([b"coin"; 3]).iter().all(Result::is_ok));
        for other in [&b"toin"[..], b""] {
            let ends = echoed([b"coin", other, b"coin"]);
            let failed = |end: &Result<()>| matches!(end, Err(Fault::CheckFailed));
            assert!(ends.iter().all(failed));
        }
    }
}
