//! The sessions that clients of a server may have.
//!
//! All sessions take the same input of the server, and each gives its client another output: a
//! comparison that is asked eight times finds eight bits. So an operator may bound the sessions of
//! each client, however they end, since a client that has its output can end in any way.
//!
//! A client of whom a check has found that it deviated has perhaps guessed bits of the offset of
//! that session. It is sent away from then on, since no person is there to find out why.

use crate::{Refusal, ServeError};
use sealane_party::Fault;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Clients by their numbers, with what they have had.
#[derive(Default)]
pub struct Guests {
    /// Most sessions of a client; none is no bound.
    most: Option<u64>,
    guests: Mutex<BTreeMap<usize, Guest>>,
}

#[derive(Clone, Copy, Default)]
struct Guest {
    sessions: u64,
    deviated: bool,
}

impl Guests {
    /// Creates the account of a server at which nobody has been. Each client may have `most`
    /// sessions; none is no bound.
    pub fn new(most: Option<u64>) -> Guests {
        Guests {
            most,
            guests: Mutex::default(),
        }
    }

    /// Admits a client to a session, which counts from here on.
    ///
    /// # Errors
    /// It has had as many as it may, or has deviated.
    pub fn admit(&self, client: usize) -> Result<(), Refusal> {
        let mut guests = self.lock();
        let guest = guests.entry(client).or_default();
        if guest.deviated {
            return Err(Refusal::Deviated);
        }
        if self.most.is_some_and(|most| guest.sessions >= most) {
            return Err(Refusal::Spent);
        }
        guest.sessions += 1;
        Ok(())
    }

    /// Remembers how a session of a client failed.
    pub fn failed(&self, client: usize, error: &ServeError) {
        if let ServeError::Fault(Fault::Deviated { .. }) = error {
            self.lock().entry(client).or_default().deviated = true;
        }
    }

    /// The clients. No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Guest>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
