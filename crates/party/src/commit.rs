//! Commitments of two parties to a value each, which both open only when they have the other's.
//!
//! | flight | from, to | bytes |
//! |---|---|---|
//! | 1 | each to the other | 32: BLAKE3 of session, purpose, committer, value and 32 random bytes |
//! | 2 | each to the other | 64: value, random bytes |
//!
//! A commitment names the party that commits, so that a copy of another one opens as nothing; its
//! session, what it is for, and a number there, so that it is good in one place.
//!
//! **Security**: a party that deviates in any way cannot open its commitment as another value, nor
//! choose its value by the other's. It can stop after it has read the other's value. BLAKE3 is
//! assumed to be a random oracle.

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

/// The purpose of commitments. Both parties state the same, and nothing else in the session.
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

/// This party has read the commitment of the other one.
pub struct Heard([u8; 32]);

/// This party has opened its commitment.
pub struct Opened([u8; 32]);

/// An exchange of two values under way; `S` is what has happened.
pub(crate) struct Exchange<S> {
    of: Purpose,
    session: SessionId,
    me: PartyId,
    peer: PartyId,
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
            peer: self.peer,
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

    /// Returns whether this party's number is the lower one.
    pub(crate) fn is_first(&self) -> bool {
        self.me < self.peer
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
        peer: PartyId,
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
            peer,
            own,
            state: Committed,
        };
        let commitment = exchange.commitment(exchange.me, &exchange.own);
        mesh.send(peer, &commitment)?;
        Ok(exchange)
    }

    /// Reads the commitment of the other party.
    pub(crate) fn hear(self, mesh: &mut Mesh) -> Result<Exchange<Heard>> {
        let mut theirs = [0; 32];
        mesh.recv(self.peer, &mut theirs)?;
        Ok(self.then(|Committed| Heard(theirs)))
    }
}

impl Exchange<Heard> {
    /// Writes what this party has committed to.
    pub(crate) fn open(self, mesh: &mut Mesh) -> Result<Exchange<Opened>> {
        mesh.send(self.peer, &self.own[..])?;
        Ok(self.then(|Heard(theirs)| Opened(theirs)))
    }
}

impl Exchange<Opened> {
    /// Reads the value of the other party.
    ///
    /// # Errors
    /// [`Fault::Deviated`] if it is not what it has committed to.
    pub(crate) fn finish(&self, mesh: &mut Mesh) -> Result<[u8; VALUE]> {
        let mut opening = [0; 2 * VALUE];
        mesh.recv(self.peer, &mut opening)?;
        // Both are public by now.
        if self.commitment(self.peer, &opening) != self.state.0 {
            return Err(self.failed());
        }
        let mut value = [0; VALUE];
        value.copy_from_slice(&opening[..VALUE]);
        Ok(value)
    }

    /// The fault of a party that fails the check.
    pub(crate) fn failed(&self) -> Fault {
        let (party, check) = (self.peer, self.of.check);
        Fault::Deviated { party, check }
    }
}
