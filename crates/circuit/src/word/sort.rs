//! Sorting networks: Batcher's odd-even merge sort for any number of rows, in the iterative form
//! of Knuth, The Art of Computer Programming 3, section 5.2.2, algorithm M.

use crate::builder::{Builder, Word};
use crate::word::Int;

impl Builder {
    /// Sorts `rows` in ascending order of their keys. The key of a row is its first `key_width`
    /// bits, signed or not; the rest travels with it. Equal keys may change places. Each
    /// comparator of [`sorting_network`] takes `key_width` ANDs and one for each bit of a row.
    ///
    /// # Panics
    /// If rows differ in width or are narrower than the key.
    pub fn sort(&mut self, rows: &mut [Word], key_width: usize, signed: bool) {
        for (i, j) in sorting_network(rows.len()) {
            let key = |row: usize| Int {
                bits: &rows[row][..key_width],
                signed,
            };
            let swap = self.lt(key(j), key(i));
            // One AND swaps a pair of bits: add their difference to both, or to neither.
            let change = self.zip(&rows[i], &rows[j], |b, x, y| {
                let differ = b.xor(x, y);
                b.and(swap, differ)
            });
            rows[i] = self.zip(&rows[i], &change, Builder::xor);
            rows[j] = self.zip(&rows[j], &change, Builder::xor);
        }
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
