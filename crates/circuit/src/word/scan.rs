//! All prefixes of a sequence under an associative operation: one after the other for
//! [`Goal::Size`], as a parallel prefix network for [`Goal::Depth`].
//!
//! The network is that of Ladner and Fischer ("Parallel prefix computation", Journal of the ACM
//! 27(4), 1980): of minimal depth, with fewer than 4 n joins, where Sklansky's takes n/2 log n (at
//! 64 items 168 and 192). Every join is an AND or two that cross a network, so size matters even
//! here; fan-out, which is costly in hardware, is free.
//!
//! Ladner and Fischer cut in halves. Here the lower part is a whole power of two, so that a
//! length just beyond one, such as n = 2^k bits and a carry in, leaves the spare level to the long
//! part: 63 joins for 33 items, where halves take 75.

use crate::builder::{Builder, Goal};

/// Joins the results of two neighbouring runs of items, the lower first.
pub type Join<T> = fn(&mut Builder, T, T) -> T;

impl Builder {
    /// For each i the join of `items[0..=i]`. For [`Goal::Depth`] at most ceil(log2 n) joins lie on
    /// a chain, or as many more as [`Builder::with_slack`] allows.
    pub fn scan<T: Copy>(&mut self, items: &[T], join: Join<T>) -> Vec<T> {
        match self.goal() {
            Goal::Size => {
                let mut prefixes: Vec<T> = Vec::with_capacity(items.len());
                for &item in items {
                    prefixes.push(match prefixes.last() {
                        Some(&low) => join(self, low, item),
                        None => item,
                    });
                }
                prefixes
            }
            Goal::Depth => self.prefixes(items, self.slack(), join),
        }
    }

    /// The last prefix with at most ceil(log2 n) joins on a chain, the others with at most `slack`
    /// more.
    fn prefixes<T: Copy>(&mut self, items: &[T], slack: u32, join: Join<T>) -> Vec<T> {
        if items.len() < 2 {
            return items.to_vec();
        }
        if slack == 0 {
            let half = items.len().next_power_of_two() / 2;
            let (low, high) = items.split_at(half);
            let spare = half.ilog2() - high.len().next_power_of_two().ilog2();
            let mut prefixes = self.prefixes(low, 1, join);
            let high = self.prefixes(high, spare, join);
            let below = prefixes[half - 1];
            prefixes.extend(high.into_iter().map(|high| join(self, below, high)));
            return prefixes;
        }
        // The prefixes of pairs are those of every other item; each item between is a join away.
        let pairs: Vec<T> = items
            .chunks(2)
            .map(|pair| match *pair {
                [low, high] => join(self, low, high),
                _ => pair[0],
            })
            .collect();
        let pairs = self.prefixes(&pairs, slack - 1, join);
        (0..items.len())
            .map(|i| match i {
                0 => items[0],
                _ if i % 2 == 1 || i + 1 == items.len() => pairs[i / 2],
                _ => join(self, pairs[i / 2 - 1], items[i]),
            })
            .collect()
    }
}
