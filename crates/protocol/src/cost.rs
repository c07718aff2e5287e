//! What a step costs, exactly.
//!
//! A [`Flight`] is what crosses at the same time: every message of a flight is written before any
//! of it is read, and a flight is read before the next one is written. Payload bytes and rounds of
//! a run follow from the flights of its steps alone, so the promise of a plan and the meaning of
//! the trait are the same thing.

use sealane_net::PartyId;
use std::collections::BTreeMap;

/// Payload bytes from one party to another in one flight. A message of 0 bytes is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who writes.
    pub from: PartyId,
    /// Who reads.
    pub to: PartyId,
    /// Payload bytes.
    pub bytes: u64,
}

/// Messages that cross at the same time.
pub type Flight = Vec<Message>;

/// What one piece of work costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// What crosses, in order.
    pub flights: Vec<Flight>,
    /// AND gates, counted once for each lane.
    pub ands: u64,
    /// Checks that stay pending until a reveal settles them.
    pub checks: u64,
    /// Nanoseconds of computing on the slowest party, on a nominal core of 2.4 GHz with VAES-256:
    /// for estimates only, never part of a hash.
    pub compute_ns: u64,
}

impl Cost {
    /// A cost of messages alone.
    pub fn of(flights: Vec<Flight>) -> Cost {
        Cost {
            flights,
            ..Cost::default()
        }
    }
}

/// A kind of correlation that preparation makes and online steps consume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Correlation {
    /// Correlated OTs with the sender's global offset.
    Cot {
        /// Holder of the offset.
        sender: PartyId,
        /// Holder of the choices.
        receiver: PartyId,
    },
    /// Common randomness between a party that does not compute and those that do, so that a part
    /// of its shares need not be sent. One is enough for any number of inputs.
    Seed {
        /// The party without a role.
        owner: PartyId,
    },
}

/// What a plan wants prepared, in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand(pub BTreeMap<Correlation, u64>);

impl Demand {
    /// Adds `count` correlations.
    pub fn add(&mut self, kind: Correlation, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_insert(0) += count;
        }
    }
    /// How many of a kind are wanted.
    pub fn count(&self, kind: Correlation) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }
    /// Adds everything that another demand wants.
    pub fn merge(&mut self, other: &Demand) {
        for (kind, count) in &other.0 {
            self.add(*kind, *count);
        }
    }
}
