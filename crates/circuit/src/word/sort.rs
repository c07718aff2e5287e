//! Sorting networks: Batcher's odd-even merge sort for any number of rows, in the iterative form
//! of Knuth, The Art of Computer Programming 3, section 5.2.2, algorithm M. And merging networks:
//! Batcher's bitonic merger ("Sorting networks and their applications", AFIPS 1968), cut to any
//! number of rows as if those that lack were the largest of all and stood at the end.

use crate::builder::{Builder, Wire, Word};
use crate::word::Int;

impl Builder {
    /// Sorts `rows` in ascending order of their keys. The key of a row is its first `key_width`
    /// bits, signed or not; the rest travels with it. Equal keys may change places. Each
    /// comparator of [`sorting_network`] takes `key_width` ANDs and one for each bit of a row.
    ///
    /// # Panics
    /// If rows differ in width or are narrower than the key.
    pub fn sort(&mut self, rows: &mut [Word], key_width: usize, signed: bool) {
        self.compare(rows, &sorting_network(rows.len()), key_width, signed);
    }

    /// Puts the rows of each comparator (i, j) in order, one comparator after the other: the row of
    /// the smaller key goes to i.
    ///
    /// # Panics
    /// If rows differ in width or are narrower than the key, or a comparator names none.
    pub fn compare(
        &mut self,
        rows: &mut [Word],
        network: &[(usize, usize)],
        key_width: usize,
        signed: bool,
    ) {
        for &(i, j) in network {
            let key = |row: usize| Int::new(&rows[row][..key_width], signed);
            let swap = self.lt(key(j), key(i));
            self.swap_if(swap, rows, i, j);
        }
    }

    /// Swaps rows i and j where `condition` is 1: an AND a bit.
    pub(crate) fn swap_if(&mut self, condition: Wire, rows: &mut [Word], i: usize, j: usize) {
        // One AND swaps a pair of bits: add their difference to both, or to neither.
        let change = self.zip(&rows[i], &rows[j], |b, x, y| {
            let differ = b.xor(x, y);
            b.and(condition, differ)
        });
        rows[i] = self.zip(&rows[i], &change, Builder::xor);
        rows[j] = self.zip(&rows[j], &change, Builder::xor);
    }
}

/// The comparators (i, j), i < j, of a network that sorts `n` rows: after each, the smaller is at
/// i. About n (log n)^2 / 4 of them.
pub fn sorting_network(n: usize) -> Vec<(usize, usize)> {
    let mut network = Vec::new();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            network.extend(
                (0..n.saturating_sub(d))
                    .filter(|i| i & p == r)
                    .map(|i| (i, i + d)),
            );
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    network
}

/// The comparators (i, j), i < j, of a network that merges: it sorts `n` rows of which the first
/// ones descend and the others ascend, wherever the change is. n log2(n) / 2 of them if n is a
/// power of two.
pub fn merging_network(n: usize) -> Vec<(usize, usize)> {
    let mut network = Vec::new();
    let mut parts = vec![(0, n)];
    // Each part becomes two, of which no row of the first is larger than one of the second, and
    // each of which falls before it rises.
    while let Some((start, end)) = parts.pop() {
        if end - start < 2 {
            continue;
        }
        let half = (end - start).next_power_of_two() / 2;
        network.extend((start + half..end).map(|j| (j - half, j)));
        parts.extend([(start, start + half), (start + half, end)]);
    }
    network
}

#[cfg(test)]
mod tests {
    use super::merging_network;

    /// Knuth's 0-1 principle for merging: a property of all inputs of zeros and ones that fall and
    /// rise holds for all inputs.
    #[test]
    fn whatever_falls_and_rises_is_merged() {
        for n in 0..40 {
            let network = merging_network(n);
            for (ones, zeros) in (0..=n).flat_map(|ones| (0..=n - ones).map(move |z| (ones, z))) {
                let mut rows = vec![1; n];
                rows[ones..ones + zeros].fill(0);
                for &(i, j) in &network {
                    (rows[i], rows[j]) = (rows[i].min(rows[j]), rows[i].max(rows[j]));
                }
                assert!(rows.is_sorted(), "{n} rows, zeros from {ones}: {rows:?}");
            }
        }
        assert_eq!(merging_network(2048).len(), 11 * 1024);
    }
}
