//! Clocks of parties and payload by pair: what flights do to them.

use sealane_protocol::{Flight, PartyId};
use std::collections::{BTreeMap, VecDeque};

/// The clock of each party and the largest stamp so far.
#[derive(Clone, PartialEq, Eq)]
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

    /// Flights that cross one after the other, `times` over: a step by itself, a loop.
    ///
    /// What a turn adds depends on the differences of the clocks alone. So once some turns together
    /// have moved all clocks by the same amount, they do so for ever, and what is left of them need
    /// not be walked: a loop of any length costs a few turns. (Where parties drift apart, every
    /// turn is walked.)
    pub fn pass(&mut self, times: u64, flights: &[Flight]) {
        let mut past: VecDeque<Clocks> = VecDeque::new();
        let mut left = times;
        while left > 0 {
            past.push_front(self.clone());
            past.truncate(self.clocks.len());
            for flight in flights {
                let before = self.clone();
                self.flight(flight, &before);
            }
            left -= 1;
            let periods = (1..).zip(&past);
            let mut steps = periods.filter_map(|(turns, then)| Some((turns, self.since(then)?)));
            if let Some((turns, step)) = steps.next() {
                let skipped = left / turns;
                self.shift(skipped * step);
                left -= skipped * turns;
                past.clear();
            }
        }
    }

    /// Messages that left when the clocks stood as in `before` are read.
    pub fn flight(&mut self, flight: &Flight, before: &Clocks) {
        for message in flight.iter().filter(|message| message.bytes > 0) {
            let stamp = before.clocks[message.from.index()] + 1;
            let clock = &mut self.clocks[message.to.index()];
            *clock = stamp.max(*clock);
            self.rounds = stamp.max(self.rounds);
        }
    }

    /// By how much all clocks and the largest stamp have moved since `then`, if by the same.
    pub fn since(&self, then: &Clocks) -> Option<u64> {
        let step = self.rounds - then.rounds;
        let mut pairs = self.clocks.iter().zip(&then.clocks);
        pairs.all(|(now, then)| now - then == step).then_some(step)
    }

    /// Moves all clocks and the largest stamp.
    pub fn shift(&mut self, step: u64) {
        self.clocks.iter_mut().for_each(|clock| *clock += step);
        self.rounds += step;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_protocol::Message;

    fn flight(pairs: &[(u8, u8)]) -> Flight {
        let message = |(from, to): &(u8, u8)| Message {
            from: PartyId(*from),
            to: PartyId(*to),
            bytes: 1,
        };
        pairs.iter().map(message).collect()
    }

    /// Turns of every shape: one way, back and forth, a ring, a party that only hears, one that
    /// nobody talks to, nothing at all; each after clocks that differ.
    #[test]
    fn repeated_turns_count_as_if_each_were_walked() {
        let turns: [&[&[(u8, u8)]]; 8] = [
            &[],
            &[&[(0, 1)]],
            &[&[(0, 1), (1, 0)]],
            &[&[(0, 1)], &[(1, 0)]],
            &[&[(0, 1)], &[(1, 2)], &[(2, 0)]],
            &[&[(0, 1)], &[(1, 0), (1, 2)]],
            &[&[(0, 1), (1, 2), (2, 0)], &[(2, 1)]],
            &[&[(2, 0)], &[(1, 2)]],
        ];
        for (first, turn) in turns.iter().flat_map(|a| turns.iter().map(move |b| (a, b))) {
            let flights = |turn: &[&[(u8, u8)]]| turn.iter().map(|f| flight(f)).collect::<Vec<_>>();
            let (first, turn) = (flights(first), flights(turn));
            for times in 0..12 {
                let mut fast = Clocks::new(3);
                let mut walked = Clocks::new(3);
                fast.pass(1, &first);
                walked.pass(1, &first);
                fast.pass(times, &turn);
                (0..times).for_each(|_| walked.pass(1, &turn));
                assert_eq!(fast.clocks, walked.clocks, "{turn:?} x {times}");
                assert_eq!(fast.rounds, walked.rounds, "{turn:?} x {times}");
            }
        }
    }
}
