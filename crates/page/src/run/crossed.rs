//! Transfers between two parties, with their times: from the step rounds of the sender and of the
//! receiver, matched by the number of bytes before. If only one of the two has recorded events, its
//! times are used for both.

use super::{RunRecord, Side};
use sealane_engine::events::StepRound;

/// Bytes written in one or several step rounds of the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
    /// Beginning and end of writing, in microseconds since 1970.
    pub leaves: (u64, u64),
    /// Beginning and end of reading.
    pub arrives: (u64, u64),
    /// Rounds of the run up to then.
    pub rounds: u64,
}

/// Most crossings that are drawn between two parties in one direction; more are joined.
const MOST: usize = 120;

/// Returns all crossings, in the order of parties and then of time.
pub(super) fn crossings(run: &RunRecord) -> Vec<Crossing> {
    let side = |party: usize| run.sides.iter().find(|side| side.party == party);
    let parties = run.plan.parties().len();
    let pairs = (0..parties).flat_map(|from| (0..parties).map(move |to| (from, to)));
    let mut all = Vec::new();
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let sent = side(from).map(|side| moves(side, |step_round| step_round.sent.get(to)));
        let received = side(to).map(|side| moves(side, |step_round| step_round.received.get(from)));
        let matched = match (sent, received) {
            (Some(sent), received) => matched(&sent, &received.unwrap_or_default()),
            (None, Some(received)) => matched(&received, &[]),
            (None, None) => Vec::new(),
        };
        let between = |crossing| Crossing {
            from,
            to,
            ..crossing
        };
        let matched = matched.into_iter().map(between);
        all.extend(joined(matched.collect()));
    }
    all
}

/// Bytes that one party wrote or read in a step round.
struct Move {
    bytes: u64,
    span: (u64, u64),
    rounds: u64,
}

fn moves(side: &Side, of: impl Fn(&StepRound) -> Option<&u64>) -> Vec<Move> {
    let at = |at_us| side.started.unix_us.saturating_add(at_us);
    let of_step_round = |(at_us, step_round): &(u64, StepRound)| Move {
        bytes: of(step_round).copied().unwrap_or(0),
        span: (at(step_round.from_us), at(*at_us)),
        rounds: step_round.rounds,
    };
    let moves = side.step_rounds.iter().map(of_step_round);
    moves.filter(|moved| moved.bytes > 0).collect()
}

/// Matches each move of the sender with the moves of the receiver in which its bytes were read.
fn matched(sent: &[Move], received: &[Move]) -> Vec<Crossing> {
    let mut reads = received.iter().scan(0u64, |sum, read| {
        *sum = sum.saturating_add(read.bytes);
        Some((*sum, read.span))
    });
    let mut read = reads.next();
    let mut sum = 0u64;
    let crossing = |moved: &Move| {
        // Skips reads that ended before these bytes began.
        while read.is_some_and(|(until, _)| until <= sum) {
            read = reads.next();
        }
        let first = read;
        sum = sum.saturating_add(moved.bytes);
        while read.is_some_and(|(until, _)| until < sum) {
            read = reads.next();
        }
        let last = read.or(first);
        let arrives = match (first, last) {
            (Some((_, (from, _))), Some((_, (_, to)))) => (from, to),
            _ => moved.span,
        };
        Crossing {
            from: 0,
            to: 0,
            bytes: moved.bytes,
            leaves: moved.span,
            // Reading follows writing, even if the clocks disagree.
            arrives: (arrives.0.max(moved.span.0), arrives.1.max(moved.span.0)),
            rounds: moved.rounds,
        }
    };
    sent.iter().map(crossing).collect()
}

/// Joins neighbours until few enough are left.
fn joined(crossings: Vec<Crossing>) -> Vec<Crossing> {
    let together = crossings.len().div_ceil(MOST).max(1);
    let join = |part: &[Crossing]| {
        let (first, rest) = part.split_first()?;
        Some(rest.iter().fold(first.clone(), |all, one| Crossing {
            bytes: all.bytes.saturating_add(one.bytes),
            leaves: (all.leaves.0, one.leaves.1.max(all.leaves.1)),
            arrives: (all.arrives.0, one.arrives.1.max(all.arrives.1)),
            rounds: one.rounds,
            ..all
        }))
    };
    crossings.chunks(together).filter_map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved((bytes, span): (u64, (u64, u64))) -> Move {
        let rounds = 1;
        Move {
            bytes,
            span,
            rounds,
        }
    }

    #[test]
    fn bytes_are_read_where_as_many_had_been_read_before() {
        let sent = [(10, (0, 1)), (5, (1, 2)), (7, (2, 3)), (9, (3, 4))].map(moved);
        let received = [(4, (5, 6)), (11, (6, 8)), (2, (8, 9)), (5, (9, 10))].map(moved);
        let arrives = matched(&sent, &received);
        let arrives = arrives.iter().map(|crossing| crossing.arrives);
        let arrives = arrives.collect::<Vec<_>>();
        // The last one was never read.
        assert_eq!(arrives, [(5, 8), (6, 8), (8, 10), (3, 4)]);
    }

    #[test]
    fn many_are_joined_and_nothing_is_lost() {
        let sent = (0..1000).map(|i| moved((i + 1, (i, i + 1))));
        let all = joined(matched(&sent.collect::<Vec<_>>(), &[]));
        assert!(all.len() <= MOST, "{}", all.len());
        let bytes = all.iter().map(|crossing| crossing.bytes);
        assert_eq!(bytes.sum::<u64>(), 500_500);
        assert_eq!((all[0].leaves.0, all.last().unwrap().leaves.1), (0, 1000));
    }
}
