//! Payload of steps by parts, and batches of products.

use super::clock::Payload;
use sealane_protocol::{Batch, Flight, Parts};

/// Parts of a tally.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Divided {
    pub parts: Vec<(&'static str, Payload)>,
    pub batches: Vec<(Batch, u64)>,
}

impl Divided {
    /// Adds messages of a part.
    pub fn add(&mut self, part: &'static str, flights: &[Flight], times: u64) {
        entry(&mut self.parts, part).add(flights, times);
    }

    /// Adds refills.
    pub fn refill(&mut self, made: Parts, times: u64) {
        for (part, flight) in made.parts {
            self.add(part, &[flight], times);
        }
        for (batch, made) in made.batches {
            *entry(&mut self.batches, batch) += made * times;
        }
    }

    /// Adds those of another tally.
    pub fn merge(&mut self, other: &Divided) {
        for (part, payload) in &other.parts {
            entry(&mut self.parts, *part).merge(payload, 1);
        }
        for (batch, times) in &other.batches {
            *entry(&mut self.batches, *batch) += times;
        }
    }
}

/// The value of a key, in the order in which keys come.
pub(super) fn entry<K: PartialEq, V: Default>(all: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = all.iter().position(|(known, _)| *known == key);
    let at = at.unwrap_or_else(|| {
        all.push((key, V::default()));
        all.len() - 1
    });
    &mut all[at].1
}
