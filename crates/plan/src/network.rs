//! Networks: which elements of an axis meet, stage by stage, whatever they are.
//!
//! All pairs of a stage are independent, so that a stage is one batch of lanes; the pairs depend on
//! the length alone, so that they tell nothing about the elements.

use sealane_protocol::View;
use serde::Serialize;

/// Kind of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Exchanges the two of a pair if they are out of order: the merge exchange of Batcher (Knuth,
    /// "The Art of Computer Programming", volume 3, section 5.2.2, algorithm M), for any length.
    Sort,
    /// Combines the first of a pair into the second, until each element is combined with all before
    /// it: Brent and Kung, "A Regular Layout for Parallel Adders", IEEE Transactions on Computers
    /// C-31, 1982; twice as many combinations as elements, in twice as many stages as the length
    /// has bits.
    Prefix,
    /// Lets every place take the element `distance` places behind it, or keep its own: elements
    /// that all move to the front by numbers of places that never decrease from one to the next
    /// move by the bits of these numbers, lowest first, and no two of them ever meet in one place
    /// (Goodrich, "Data-Oblivious External-Memory Algorithms for the Compaction, Selection, and
    /// Sorting of Outsourced Data", SPAA 2011, section 3). Only the first `most` places are read
    /// afterwards: a stage fills the places from which the later ones can bring an element there,
    /// and what is left elsewhere means nothing.
    Compact {
        /// Number of first places that are read.
        most: usize,
    },
}

/// The pairs of a stage: element `i` and element `i + distance`, for each `i` from `start` on in
/// runs of `run` elements that begin `stride` apart, as long as `i` is below `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    start: usize,
    run: usize,
    stride: usize,
    limit: usize,
    distance: usize,
    /// Elements of the axis.
    length: usize,
}

impl Stage {
    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        let left = self.limit.saturating_sub(self.start);
        left / self.stride * self.run + (left % self.stride).min(self.run)
    }

    /// The first elements of all pairs, ascending: at most two views, one after the other.
    pub fn firsts(&self) -> Vec<View> {
        self.views(0)
    }

    /// The second elements of the same pairs. In a [`Network::Compact`] the last places have none.
    pub fn seconds(&self) -> Vec<View> {
        let limit = self.limit.min(self.length.saturating_sub(self.distance));
        Stage { limit, ..*self }.views(self.distance)
    }

    fn views(&self, shift: usize) -> Vec<View> {
        let left = self.limit.saturating_sub(self.start);
        let (full, rest) = (left / self.stride, (left % self.stride).min(self.run));
        let runs = View {
            offset: self.start + shift,
            dims: vec![(full, self.stride as isize), (self.run, 1)],
        };
        let last = View {
            offset: runs.offset + full * self.stride,
            dims: vec![(rest, 1)],
        };
        let some = [runs, last].into_iter().filter(|view| view.count() > 0);
        some.collect()
    }
}

impl Network {
    /// Name in the text form of a plan.
    pub fn name(self) -> &'static str {
        match self {
            Network::Sort => "sort",
            Network::Prefix => "prefix",
            Network::Compact { .. } => "compact",
        }
    }

    /// Returns whether a stage writes the first and the second elements of its pairs.
    pub fn writes(self) -> [bool; 2] {
        match self {
            Network::Sort => [true, true],
            Network::Prefix => [false, true],
            Network::Compact { .. } => [true, false],
        }
    }

    /// The stages for an axis of `length` elements.
    pub fn stages(self, length: usize) -> Vec<Stage> {
        let powers = (0..usize::BITS).map(|bit| 1usize << bit);
        let below = powers.take_while(|power| *power < length);
        let below = below.collect::<Vec<_>>();
        match self {
            Network::Sort => merge_exchange(length, &below),
            Network::Prefix => {
                let pairs = |start: usize, distance: usize| Stage {
                    start,
                    run: 1,
                    stride: 2 * distance,
                    limit: length.saturating_sub(distance),
                    distance,
                    length,
                };
                let up = below.iter().map(|&d| pairs(d - 1, d));
                let down = below.iter().rev().map(|&d| pairs(2 * d - 1, d));
                let all = up.chain(down).filter(|stage| stage.pairs() > 0);
                all.collect()
            }
            Network::Compact { most } => {
                // Later stages move by multiples of twice the distance.
                let stage = |&distance: &usize| Stage {
                    start: 0,
                    run: most.min(2 * distance),
                    stride: 2 * distance,
                    limit: length,
                    distance,
                    length,
                };
                below.iter().map(stage).collect()
            }
        }
    }
}

/// Knuth's algorithm M; `powers` are those of two below the length.
fn merge_exchange(length: usize, powers: &[usize]) -> Vec<Stage> {
    let mut stages = Vec::new();
    let Some(&largest) = powers.last() else {
        return stages;
    };
    for &p in powers.iter().rev() {
        let mut push = |start: usize, distance: usize| {
            stages.push(Stage {
                start,
                run: p,
                stride: 2 * p,
                limit: length.saturating_sub(distance),
                distance,
                length,
            });
        };
        push(0, p);
        let mut q = largest;
        while q != p {
            push(p, q - p);
            q /= 2;
        }
    }
    stages.retain(|stage| stage.pairs() > 0);
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs; an element that is missing is behind the last one.
    fn pairs(stage: &Stage) -> Vec<(usize, usize)> {
        let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
        let (firsts, seconds) = (all(stage.firsts()), all(stage.seconds()));
        assert_eq!(firsts.len(), stage.pairs(), "{stage:?}");
        let missing = std::iter::repeat(stage.length);
        firsts
            .into_iter()
            .zip(seconds.into_iter().chain(missing))
            .collect()
    }

    #[test]
    fn no_two_pairs_of_a_stage_share_an_element_that_is_written() {
        for network in [Network::Sort, Network::Prefix] {
            for length in 1..70 {
                for stage in network.stages(length) {
                    let mut met = vec![0; length];
                    for (i, j) in pairs(&stage) {
                        met[i] += 1;
                        met[j] += 1;
                    }
                    assert!(met.iter().all(|times| *times < 2), "{network:?} {length}");
                }
            }
        }
    }

    /// A network sorts everything if it sorts all sequences of zeros and ones (Knuth, theorem Z).
    #[test]
    fn all_sequences_of_zeros_and_ones_are_sorted() {
        for length in 1..=16usize {
            let stages = Network::Sort.stages(length);
            let all = stages.iter().flat_map(pairs).collect::<Vec<_>>();
            for bits in 0..1u32 << length {
                let mut sequence = bits;
                for (i, j) in &all {
                    let exchange = sequence >> i & !(sequence >> j) & 1;
                    sequence ^= exchange << i | exchange << j;
                }
                let ones = bits.count_ones();
                let sorted = ((1u64 << ones) - 1) << (length as u32 - ones);
                assert_eq!(u64::from(sequence), sorted, "{bits:b} of {length}");
            }
        }
    }

    /// Of 100,000 elements, as many exchanges as the theory counts for algorithm M.
    #[test]
    fn a_sort_takes_as_many_exchanges_as_algorithm_m() {
        // Knuth gives 1 for 2 elements, 3 for 3, 5 for 4, 9 for 5, 12 for 6, 16 for 7, 19 for 8 and
        // 63 for 16; of 2^t elements there are (t^2 - t + 4) 2^(t-2) - 1.
        let count = |length| {
            let stages = Network::Sort.stages(length);
            stages.iter().map(Stage::pairs).sum::<usize>()
        };
        let few = [2, 3, 4, 5, 6, 7, 8, 16].map(count);
        assert_eq!(few, [1, 3, 5, 9, 12, 16, 19, 63]);
        assert_eq!(count(1 << 17), (17 * 17 - 17 + 4) * (1 << 15) - 1);
        let stages = Network::Sort.stages(1 << 17).len();
        assert_eq!(stages, 17 * 18 / 2);
    }

    #[test]
    fn each_element_of_a_prefix_is_combined_with_all_before_it_once() {
        for length in 1..200usize {
            let mut ranges = (0..length).map(|at| (at, at)).collect::<Vec<_>>();
            let mut combined = 0;
            for stage in Network::Prefix.stages(length) {
                for (i, j) in pairs(&stage) {
                    assert_eq!(ranges[i].1 + 1, ranges[j].0, "neighbours of {length}");
                    ranges[j].0 = ranges[i].0;
                    combined += 1;
                }
            }
            assert!(
                ranges
                    .iter()
                    .enumerate()
                    .all(|(at, range)| *range == (0, at))
            );
            assert!(combined < 2 * length);
        }
    }

    #[test]
    fn what_is_kept_moves_to_the_front_in_order() {
        for (length, most) in (1..=13).flat_map(|length| [1, 3, 4, 13].map(|most| (length, most))) {
            for kept in 0..1u32 << length {
                let mut skipped = 0;
                let place = |at: usize| {
                    let keep = kept >> at & 1 == 1;
                    skipped += usize::from(!keep);
                    keep.then_some((skipped, at))
                };
                let mut places = (0..length).map(place).collect::<Vec<_>>();
                for stage in (Network::Compact { most }).stages(length) {
                    let before = places.clone();
                    for (i, j) in pairs(&stage) {
                        let taken = before.get(j).copied().flatten();
                        let taken = taken.filter(|(by, _)| by & 1 == 1);
                        let own = before[i].filter(|(by, _)| by & 1 == 0);
                        assert!(taken.is_none() || own.is_none(), "{kept:b} of {length}");
                        places[i] = taken.or(own).map(|(by, at)| (by >> 1, at));
                    }
                }
                let front = places.iter().take(most);
                let front = front.map_while(|place| place.map(|(_, at)| at));
                let wanted = (0..length).filter(|at| kept >> at & 1 == 1);
                assert!(front.eq(wanted.take(most)), "{kept:b} of {length}");
            }
        }
    }
}
