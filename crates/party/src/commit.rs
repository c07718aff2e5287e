//! Commitments of several parties to a value each, which all open only when they have those of all
//! others.
//!
//! | flight | from, to | bytes |
//! |---|---|---|
//! | 1 | each to each | 32: BLAKE3 of session, purpose, committer, value and 32 random bytes |
//! | 2 | each to each | 64: value, random bytes |
//!
//! A commitment names the party that commits, so that a copy of another one opens as nothing; its
//! session, what it is for, and a number there, so that it is good in one place.
//!
//! **Security**: a party that deviates in any way cannot open its commitment as another value, nor
//! choose its value by another's. It can stop after it has read the others' values. Among more
//! than two it can commit to other values towards other parties, so these compare what they got
//! ([`Broadcast::agree`](crate::Broadcast::agree)). BLAKE3 is assumed to be a random oracle.

use crate::fault::{Fault, Result};
use blake3::Hasher;
use sealane_block::Coins;
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Bytes of a value.
pub(crate) const VALUE: usize = 32;

/// Bytes of a commitment.
pub const COMMITMENT_BYTES: u64 = 32;

/// Bytes by which it is opened.
pub const OPENING_BYTES: u64 = 2 * VALUE as u64;

/// The purpose of commitments. All parties state the same, and nothing else in the session.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// Its name.
    pub name: &'static str,
    /// Which one of this name it is.
    pub number: u64,
    /// The check that a party fails by a false opening, as errors have it.
    pub check: &'static str,
}

/// This party has written its commitment.
pub struct Committed;

/// This party has read the commitments of all others.
pub struct Heard(Vec<[u8; 32]>);

/// This party has opened its commitment.
pub struct Opened(Vec<[u8; 32]>);

/// An exchange of values under way; `S` is what has happened.
pub(crate) struct Exchange<S> {
    of: Purpose,
    session: SessionId,
    me: PartyId,
    peers: Vec<PartyId>,
    /// Value and random bytes of this party.
    pub(crate) own: Zeroizing<[u8; 2 * VALUE]>,
    state: S,
}

impl<S> Exchange<S> {
    /// The commitment of a party to this value with these random bytes.
    fn commitment(&self, of: PartyId, opening: &[u8; 2 * VALUE]) -> [u8; 32] {
        let mut hasher = Hasher::new_derive_key("sealane 1 commitment");
        hasher.update(self.session.as_bytes());
        hasher.update(&[of.0]).update(&self.of.number.to_le_bytes());
        hasher.update(opening).update(self.of.name.as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn then<T>(self, next: impl FnOnce(S) -> T) -> Exchange<T> {
        Exchange {
            of: self.of,
            session: self.session,
            me: self.me,
            peers: self.peers,
            own: self.own,
            state: next(self.state),
        }
    }

    /// The purpose.
    pub(crate) fn purpose(&self) -> Purpose {
        self.of
    }

    /// The session.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// This party.
    pub(crate) fn me(&self) -> PartyId {
        self.me
    }

    /// This party's value.
    pub(crate) fn value(&self) -> &[u8] {
        &self.own[..VALUE]
    }
}

impl Exchange<Committed> {
    /// Writes a commitment to a value.
    pub(crate) fn commit(
        of: Purpose,
        value: &[u8; VALUE],
        peers: &[PartyId],
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Exchange<Committed>> {
        let mut own = Zeroizing::new([0; 2 * VALUE]);
        own[..VALUE].copy_from_slice(value);
        let mut random = coins.secret("commitment");
        random.fill_bytes(&mut own[VALUE..]);
        let exchange = Exchange {
            of,
            session: mesh.session(),
            me: mesh.me(),
            peers: peers.to_vec(),
            own,
            state: Committed,
        };
        let commitment = exchange.commitment(exchange.me, &exchange.own);
        for peer in peers {
            mesh.send(*peer, &commitment)?;
        }
        Ok(exchange)
    }

    /// Reads the commitments of the others.
    pub(crate) fn hear(self, mesh: &mut Mesh) -> Result<Exchange<Heard>> {
        let mut theirs = vec![[0; 32]; self.peers.len()];
        for (peer, theirs) in self.peers.iter().zip(&mut theirs) {
            mesh.recv(*peer, theirs)?;
        }
        Ok(self.then(|Committed| Heard(theirs)))
    }
}

impl Exchange<Heard> {
    /// Writes what this party has committed to.
    pub(crate) fn open(self, mesh: &mut Mesh) -> Result<Exchange<Opened>> {
        for peer in &self.peers {
            mesh.send(*peer, &self.own[..])?;
        }
        Ok(self.then(|Heard(theirs)| Opened(theirs)))
    }
}

impl Exchange<Opened> {
    /// Reads the values of the others, each with its party.
    ///
    /// # Errors
    /// [`Fault::Deviated`] of a party whose value is not what it has committed to.
    pub(crate) fn finish(&self, mesh: &mut Mesh) -> Result<Vec<(PartyId, [u8; VALUE])>> {
        let mut openings = vec![[0; 2 * VALUE]; self.peers.len()];
        for (peer, opening) in self.peers.iter().zip(&mut openings) {
            mesh.recv(*peer, opening)?;
        }
        let openings = self.peers.iter().zip(&openings).zip(&self.state.0);
        let values = openings.map(|((peer, opening), commitment)| {
            // Both are public by now.
            if self.commitment(*peer, opening) != *commitment {
                return Err(self.failed(*peer));
            }
            let mut value = [0; VALUE];
            value.copy_from_slice(&opening[..VALUE]);
            Ok((*peer, value))
        });
        values.collect()
    }

    /// The fault of a party that fails the check.
    pub(crate) fn failed(&self, party: PartyId) -> Fault {
        let check = self.of.check;
        Fault::Deviated { party, check }
    }
}
