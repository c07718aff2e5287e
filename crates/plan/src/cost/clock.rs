//! Clocks of parties and payload by pair, advanced by flights.
//!
//! A flight maps the clocks before it to those after it by additions and maxima alone, so any
//! sequence of flights is a matrix over the (max, +) semiring, and `times` repetitions of a
//! sequence are a power of it (Baccelli, Cohen, Olsder and Quadrat, "Synchronization and
//! Linearity", 1992, chapter 3). A loop of any length costs as many products as its length has
//! bits, also where some parties send and never wait, so that clocks drift apart.

use sealane_parties::PartyId;
use sealane_protocol::Flight;
use std::collections::BTreeMap;

/// Clocks of all parties as a function of those at an earlier moment: entry `[to][from]` is the
/// least lead of the clock of `to` over the earlier clock of `from`; none where the one does not
/// depend on the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delays(Vec<Vec<Option<u64>>>);

impl Delays {
    /// Returns the delays of no flight.
    pub fn none(parties: usize) -> Delays {
        let entry = |to: usize, from: usize| (to == from).then_some(0);
        let row = |to| (0..parties).map(|from| entry(to, from)).collect();
        Delays((0..parties).map(row).collect())
    }

    /// Applies a flight whose messages were sent when the clocks stood as in `before`.
    pub fn flight(&mut self, flight: &Flight, before: &Delays) {
        for message in flight.iter().filter(|message| message.bytes > 0) {
            let sender = &before.0[message.from.index()];
            for (clock, sent) in self.0[message.to.index()].iter_mut().zip(sender) {
                *clock = sent.map(|sent| sent + 1).max(*clock);
            }
        }
    }

    /// Applies flights that cross one after the other, `times` over: a step by itself, a loop.
    pub fn pass(&mut self, times: u64, flights: &[Flight]) {
        let mut once = Delays::none(self.0.len());
        for flight in flights {
            let before = once.clone();
            once.flight(flight, &before);
        }
        *self = self.then(&once.power(times));
    }

    /// Composes these delays with `later` ones.
    pub fn then(&self, later: &Delays) -> Delays {
        let row = |later: &Vec<Option<u64>>| {
            let mut row = vec![None; self.0.len()];
            for (delay, through) in later.iter().zip(&self.0) {
                let Some(delay) = delay else { continue };
                for (clock, earlier) in row.iter_mut().zip(through) {
                    *clock = earlier.map(|earlier| earlier + delay).max(*clock);
                }
            }
            row
        };
        Delays(later.0.iter().map(row).collect())
    }

    /// Composes these delays `times` over.
    pub fn power(&self, times: u64) -> Delays {
        let mut power = Delays::none(self.0.len());
        for bit in (0..times.checked_ilog2().map_or(0, |log| log + 1)).rev() {
            power = power.then(&power);
            if times >> bit & 1 == 1 {
                power = power.then(self);
            }
        }
        power
    }

    /// The least lead of the clock of a party over the earlier one of another; none where it does
    /// not depend on that.
    pub fn lead(&self, from: PartyId, to: PartyId) -> Option<u64> {
        self.0[to.index()][from.index()]
    }

    /// Largest clock, which is the largest stamp of any message, if all clocks started at 0.
    pub fn rounds(&self) -> u64 {
        self.0
            .iter()
            .flatten()
            .flatten()
            .max()
            .copied()
            .unwrap_or(0)
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

    /// Payload that is left beside a part of it.
    pub fn without(&self, part: &Payload) -> Payload {
        let left = self.0.iter().map(|(pair, bytes)| {
            let of_part = part.0.get(pair).copied().unwrap_or(0);
            (*pair, bytes.saturating_sub(of_part))
        });
        Payload(left.filter(|(_, bytes)| *bytes > 0).collect())
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
        let message = |(from, to): &(u8, u8)| Message::new(PartyId(*from), PartyId(*to), 1);
        pairs.iter().map(message).collect()
    }

    /// Step rounds of all shapes: one way, back and forth, a ring, a party that only receives, one
    /// that receives nothing, no messages at all; each after clocks that differ.
    #[test]
    fn repeated_step_rounds_count_as_if_each_were_walked() {
        let step_rounds: [&[&[(u8, u8)]]; 8] = [
            &[],
            &[&[(0, 1)]],
            &[&[(0, 1), (1, 0)]],
            &[&[(0, 1)], &[(1, 0)]],
            &[&[(0, 1)], &[(1, 2)], &[(2, 0)]],
            &[&[(0, 1)], &[(1, 0), (1, 2)]],
            &[&[(0, 1), (1, 2), (2, 0)], &[(2, 1)]],
            &[&[(2, 0)], &[(1, 2)]],
        ];
        for (first, step_round) in step_rounds
            .iter()
            .flat_map(|a| step_rounds.iter().map(move |b| (a, b)))
        {
            let flights = |step_round: &[&[(u8, u8)]]| {
                step_round.iter().map(|f| flight(f)).collect::<Vec<_>>()
            };
            let (first, step_round) = (flights(first), flights(step_round));
            for times in 0..12 {
                let mut fast = Delays::none(3);
                fast.pass(1, &first);
                let mut walked = [0; 3];
                walk(&mut walked, &first);
                fast.pass(times, &step_round);
                (0..times).for_each(|_| walk(&mut walked, &step_round));
                assert_eq!(clocks(&fast), walked, "{step_round:?} x {times}");
                assert_eq!(Some(fast.rounds()), walked.into_iter().max());
            }
        }
    }

    /// Advances the clocks themselves, flight by flight.
    fn walk(clocks: &mut [u64; 3], flights: &[Flight]) {
        for flight in flights {
            let before = *clocks;
            for message in flight {
                let stamp = before[message.from.index()] + 1;
                let clock = &mut clocks[message.to.index()];
                *clock = stamp.max(*clock);
            }
        }
    }

    /// Clocks of all parties, if they started at 0.
    fn clocks(delays: &Delays) -> [u64; 3] {
        let clock = |row: &Vec<Option<u64>>| row.iter().flatten().max().copied();
        [0, 1, 2].map(|party| clock(&delays.0[party]).unwrap_or(0))
    }

    #[test]
    fn parties_that_drift_apart_are_not_walked() {
        let mut delays = Delays::none(3);
        delays.pass(1 << 40, &[flight(&[(0, 1), (1, 2)]), flight(&[(2, 1)])]);
        // Parties 1 and 2 go back and forth; 0 sends and receives nothing.
        assert_eq!(clocks(&delays), [0, 1 << 41, (1 << 41) - 1]);
    }
}
