//! Networks: which elements of an axis meet, stage by stage, whatever they are.
//!
//! All pairs of a stage are independent, so that a stage is one batch of lanes; the pairs depend on
//! the length alone, so that they tell nothing about the elements.

use sealane_protocol::View;

/// Kind of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// Exchanges the two of a pair if they are out of order: the merge exchange of Batcher (Knuth,
    /// "The Art of Computer Programming", volume 3, section 5.2.2, algorithm M), for any length.
    Sort,
    /// Combines the first of a pair into the second, until each element is combined with all before
    /// it: Brent and Kung, "A Regular Layout for Parallel Adders", IEEE Transactions on Computers
    /// C-31, 1982; twice as many combinations as elements, in twice as many stages as the length
    /// has bits.
    Prefix,
    /// Exchanges the two of a pair if one of them is kept and belongs into the other place. Elements
    /// that are kept, with the place from behind to which each moves, come to the front in order:
    /// their places are settled bit by bit, lowest first, and since places of two elements differ by
    /// no more than those where they are, no two meet in one place (Leighton, "Introduction to
    /// Parallel Algorithms and Architectures", 1992, section 3.4.3, of butterflies). Places count
    /// from behind, so that no element leaves an axis whose length is no power of two. Only the
    /// first `most` places are read afterwards: a stage has the pairs from which the later ones can
    /// bring an element there, and what is left elsewhere means nothing.
    Compact {
        /// Number of first places that are read.
        most: usize,
    },
}

/// The pairs of a stage: element `i` and element `i + distance`, for each `i` of some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    runs: Vec<Runs>,
    distance: usize,
}

/// The numbers from `start` on in runs of `run` that begin `stride` apart, as long as they are below
/// `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    start: usize,
    run: usize,
    stride: usize,
    limit: usize,
}

impl Runs {
    /// Number of full runs, and of numbers behind them.
    fn counts(&self) -> (usize, usize) {
        let left = self.limit.saturating_sub(self.start);
        (left / self.stride, (left % self.stride).min(self.run))
    }

    fn views(&self, shift: usize) -> impl Iterator<Item = View> {
        let (full, rest) = self.counts();
        let runs = View {
            offset: self.start + shift,
            dims: vec![(full, self.stride as isize), (self.run, 1)],
        };
        let last = View {
            offset: runs.offset + full * self.stride,
            dims: vec![(rest, 1)],
        };
        let some = [runs, last].into_iter();
        some.filter(|view| view.count() > 0)
    }
}

impl Stage {
    fn new(distance: usize, runs: Runs) -> Stage {
        Stage {
            runs: vec![runs],
            distance,
        }
    }

    /// The bit of a place that a stage of [`Network::Compact`] looks at.
    pub fn bit(&self) -> u32 {
        self.distance.trailing_zeros()
    }

    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        let pairs = self.runs.iter().map(|runs| {
            let (full, rest) = runs.counts();
            full * runs.run + rest
        });
        pairs.sum()
    }

    /// The first elements of all pairs: a few views, one after the other.
    pub fn firsts(&self) -> Vec<View> {
        self.views(0)
    }

    /// The second elements of the same pairs.
    pub fn seconds(&self) -> Vec<View> {
        self.views(self.distance)
    }

    fn views(&self, shift: usize) -> Vec<View> {
        self.runs
            .iter()
            .flat_map(|runs| runs.views(shift))
            .collect()
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
            Network::Sort | Network::Compact { .. } => [true, true],
            Network::Prefix => [false, true],
        }
    }

    /// The number of the tensor whose bit [`Stage::bit`] has to be its lowest one in each stage, if
    /// there is one: at all places, those that no pair has among them.
    pub fn places(self) -> Option<usize> {
        match self {
            Network::Compact { .. } => Some(1),
            Network::Sort | Network::Prefix => None,
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
                let pairs = |start: usize, distance: usize| {
                    let runs = Runs {
                        start,
                        run: 1,
                        stride: 2 * distance,
                        limit: length.saturating_sub(distance),
                    };
                    Stage::new(distance, runs)
                };
                let up = below.iter().map(|&d| pairs(d - 1, d));
                let down = below.iter().rev().map(|&d| pairs(2 * d - 1, d));
                let all = up.chain(down).filter(|stage| stage.pairs() > 0);
                all.collect()
            }
            Network::Compact { most } => {
                let stages = below.iter().map(|&d| compaction(length, most, d));
                stages.filter(|stage| stage.pairs() > 0).collect()
            }
        }
    }
}

/// The pairs of a compaction whose places from behind differ by `distance` in the bit of that value.
fn compaction(length: usize, most: usize, distance: usize) -> Stage {
    let period = 2 * distance;
    // Firsts modulo the period: those with a 1 in the place from behind.
    let begin = length % period;
    let firsts = match begin <= distance {
        true => [(begin, begin + distance), (0, 0)],
        false => [(0, begin - distance), (begin, period)],
    };
    // Those that, or whose seconds, later stages bring to the places that are read.
    let read = match most < distance {
        true => [(0, most), (distance, distance + most)],
        false => [(0, period), (0, 0)],
    };
    let both = firsts.iter().flat_map(|f| read.iter().map(move |r| (f, r)));
    let both = both.map(|(f, r)| (f.0.max(r.0), f.1.min(r.1)));
    let runs = both.filter(|(from, to)| from < to).map(|(from, to)| Runs {
        start: from,
        run: to - from,
        stride: period,
        limit: length - distance,
    });
    Stage {
        runs: runs.collect(),
        distance,
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
            let runs = Runs {
                start,
                run: p,
                stride: 2 * p,
                limit: length.saturating_sub(distance),
            };
            stages.push(Stage::new(distance, runs));
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

    fn pairs(stage: &Stage) -> Vec<(usize, usize)> {
        let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
        let (firsts, seconds) = (all(stage.firsts()), all(stage.seconds()));
        assert_eq!(firsts.len(), stage.pairs(), "{stage:?}");
        assert_eq!(seconds.len(), stage.pairs(), "{stage:?}");
        firsts.into_iter().zip(seconds).collect()
    }

    #[test]
    fn no_two_pairs_of_a_stage_share_an_element_that_is_written() {
        let most = [1, 5, 70].map(|most| Network::Compact { most });
        for network in [&most[..], &[Network::Sort, Network::Prefix]].concat() {
            for length in 1..70 {
                for stage in network.stages(length) {
                    let mut met = vec![0; length];
                    for (i, j) in pairs(&stage) {
                        met[i] += 1;
                        met[j] += 1;
                        assert!(i < j && j < length);
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
                let behind = |at: usize| length - 1 - at;
                let mut rank = 0;
                let place = |at: usize| {
                    let keep = kept >> at & 1 == 1;
                    rank += usize::from(keep);
                    keep.then(|| (behind(rank - 1), at))
                };
                let mut places = (0..length).map(place).collect::<Vec<_>>();
                for stage in (Network::Compact { most }).stages(length) {
                    let distance = stage.distance;
                    for (i, j) in pairs(&stage) {
                        assert!(behind(i) & distance != 0 && behind(j) & distance == 0);
                        let stays = places[i].map(|(to, _)| to & distance != 0);
                        let moves = places[j].map(|(to, _)| to & distance != 0);
                        if let (Some(stays), Some(moves)) = (stays, moves)
                            && most >= length
                        {
                            assert!(stays != moves, "{kept:b} of {length}");
                        }
                        if stays == Some(false) || moves == Some(true) {
                            places.swap(i, j);
                        }
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
