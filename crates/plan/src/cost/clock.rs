//! Clocks of parties and payload by pair: what flights do to them.

use sealane_protocol::{Flight, PartyId};
use std::collections::BTreeMap;

/// Flights that cross one after the other, `times` over: a batch, a level, a loop.
pub(super) struct Exchange {
    pub times: u64,
    pub flights: Vec<Flight>,
}

/// The clock of each party and the largest stamp so far.
pub(super) struct Clocks {
    clocks: Vec<u64>,
    pub rounds: u64,
}

impl Clocks {
    pub fn new(parties: usize) -> Clocks {
        Clocks {
            clocks: vec![0; parties],
            rounds: 0,
        }
    }

    pub fn pass(&mut self, exchange: &Exchange) {
        for _ in 0..exchange.times {
            exchange
                .flights
                .iter()
                .for_each(|flight| self.flight(flight));
        }
    }

    /// All messages are written before any is read.
    fn flight(&mut self, flight: &Flight) {
        let before = self.clocks.clone();
        for message in flight.iter().filter(|message| message.bytes > 0) {
            let stamp = before[usize::from(message.from.0)] + 1;
            let clock = &mut self.clocks[usize::from(message.to.0)];
            *clock = stamp.max(*clock);
            self.rounds = stamp.max(self.rounds);
        }
    }
}

/// Flight `f` of each step becomes part of flight `f` of all.
pub(super) fn together(flights: impl IntoIterator<Item = Vec<Flight>>) -> Vec<Flight> {
    let mut merged: Vec<Flight> = Vec::new();
    for flights in flights {
        merged.resize(merged.len().max(flights.len()), Flight::new());
        merged
            .iter_mut()
            .zip(flights)
            .for_each(|(into, flight)| into.extend(flight));
    }
    merged
}

/// Payload bytes by sender and receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Payload(pub BTreeMap<(PartyId, PartyId), u64>);

impl Payload {
    pub fn add(&mut self, flights: &[Flight], times: u64) {
        for message in flights.iter().flatten().filter(|message| message.bytes > 0) {
            *self.0.entry((message.from, message.to)).or_insert(0) += times * message.bytes;
        }
    }

    pub fn merge(&mut self, other: &Payload, times: u64) {
        for (pair, bytes) in &other.0 {
            *self.0.entry(*pair).or_insert(0) += times * bytes;
        }
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}
