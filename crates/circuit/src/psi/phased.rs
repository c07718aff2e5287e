//! Circuit phasing: one side lays its items into a cuckoo table, each into one of the few bins that
//! hash functions name; the other one lays each of its items into all of its bins. Equal items are
//! in the same bin, so a bin compares one item with at most `load` others instead of all.
//!
//! Hashing is permutation-based (Arbitman, Naor and Segev, "Backyard cuckoo hashing", FOCS 2010):
//! the bin determines a part of the item, and only the rest is stored, with the number of the hash
//! function. [`Sizes::stored`] bits stand for an item of `width` bits in its bin.
//!
//! The few items that fit nowhere in the cuckoo table go to a stash; each place of the stash is
//! compared with all items of the other side.
//!
//! # Size of a bin
//!
//! k hash functions throw k n balls into m bins. The probability that some bin gets more than L of
//! them is at most m times the tail of a binomial distribution (the union bound over bins): m * sum
//! over i > L of C(k n, i) (1/m)^i (1 - 1/m)^(k n - i). [`Sizes::new`] takes the smallest L for
//! which this is at most 2^-40. The bound is for hash functions that are independent and uniform.

use crate::builder::{Builder, Wire, Word};
use crate::circuit::Circuit;
use crate::psi::is_in;

/// Hash functions of the cuckoo table.
pub const HASHES: usize = 3;
/// Places of the stash.
pub const STASH: usize = 1;
/// Bits of the number that is stored beside an item; one number is reserved for no item.
pub const NUMBER_BITS: usize = 2;
/// The logarithm of the probability that a bin overflows.
const OVERFLOW: f64 = -40.0;

/// Sizes of the tables, which both sides know: they follow from the number of items and their
/// width, and are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Items on each side.
    pub items: usize,
    /// Bits of an item.
    pub width: usize,
    /// Bins: 1.2 n, rounded up (the paper's epsilon of 0.2 above one bin for each item).
    pub bins: usize,
    /// Places of a bin of the side that lays each item into all of its bins.
    pub load: usize,
    /// Bits that are stored and compared in a bin.
    pub stored: usize,
}

impl Sizes {
    /// Computes the sizes for sets of `items` items of `width` bits.
    ///
    /// # Panics
    /// If there are no items, or they are wider than 64 bits or too narrow for the number of bins.
    pub fn new(items: usize, width: usize) -> Sizes {
        assert!(items > 0 && width <= 64, "items of at most 64 bits");
        let bins = (6 * items).div_ceil(5);
        // The largest quotient of an item by the number of bins.
        let largest = ((1u128 << width) - 1) / bins as u128;
        assert!(largest > 0, "items wider than the number of a bin");
        Sizes {
            items,
            width,
            bins,
            load: load(HASHES * items, bins),
            stored: (u128::BITS - largest.leading_zeros()) as usize + NUMBER_BITS,
        }
    }

    /// The AND gates of [`circuit`].
    pub fn ands(&self) -> usize {
        self.bins * self.load * (self.stored - 1) + STASH * self.items * (self.width - 1)
    }
}

/// Computes the smallest load that a bin exceeds with a probability of at most 2^-40, if `balls`
/// balls fall into `bins` bins; at most all of them.
fn load(balls: usize, bins: usize) -> usize {
    if bins == 1 {
        return balls;
    }
    let (n, p) = (balls as f64, 1.0 / bins as f64);
    // Logarithms of C(n, i) p^i (1 - p)^(n - i), i from 0, in base 2.
    let first = n * (-p).ln_1p() / std::f64::consts::LN_2;
    let terms: Vec<f64> = (0..balls)
        .scan(first, |term, i| {
            let i = i as f64;
            *term += ((n - i) / (i + 1.0) * p / (1.0 - p)).log2();
            Some(*term)
        })
        .collect();
    let mut tail = 0.0;
    for i in (0..balls).rev() {
        // Before this line, the tail counts more than i + 1 balls.
        tail += terms[i].exp2();
        if (tail * bins as f64).log2() > OVERFLOW {
            return i + 1;
        }
    }
    0
}

/// The circuit for tables of these sizes. Inputs: the cuckoo table, `bins` words of `stored` bits;
/// its stash, `STASH` words of `width` bits; the bins of the other side, each `load` words of
/// `stored` bits; its items, of `width` bits. Outputs: a bit for each bin and one for each place of
/// the stash.
pub fn circuit(sizes: &Sizes) -> Circuit {
    let mut b = Builder::new();
    let mut words = |count: usize, width: usize| {
        let all = b.input(count * width);
        let words = all.chunks(width).map(<[Wire]>::to_vec);
        words.collect::<Vec<Word>>()
    };
    let table = words(sizes.bins, sizes.stored);
    let stash = words(STASH, sizes.width);
    let candidates = words(sizes.bins * sizes.load, sizes.stored);
    let items = words(sizes.items, sizes.width);
    let bins = candidates.chunks(sizes.load);
    let in_bins = table.iter().zip(bins);
    let in_bins = in_bins.map(|(item, bin)| is_in(&mut b, item, bin));
    let in_bins: Word = in_bins.collect();
    let in_stash = stash.iter().map(|item| is_in(&mut b, item, &items));
    let in_stash: Word = in_stash.collect();
    b.finish(vec![in_bins, in_stash])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, compile};
    use proptest::prelude::*;

    /// Compares with the same bound in exact fractions, computed with Python's integers.
    #[test]
    fn bins_are_as_large_as_the_bound_asks() {
        let small = [(1, 2, 3), (2, 3, 6), (3, 4, 9), (7, 9, 17)];
        let large = [(16, 20, 19), (64, 77, 22), (128, 154, 22), (256, 308, 23)];
        let exact = small.into_iter().chain(large);
        for (items, bins, load) in exact {
            let sizes = Sizes::new(items, 32);
            assert_eq!((sizes.bins, sizes.load), (bins, load));
        }
    }

    proptest! {
        /// The circuit gives for each item if the other side has it. Cells are small, so that many
        /// are equal.
        #[test]
        fn it_gives_for_each_item_whether_the_other_side_has_it(
            items in 1usize..=64,
            seed in prop::collection::vec(any::<u64>(), 64),
        ) {
            let sizes = Sizes { items, width: 7, bins: items, load: 9, stored: 5 };
            let cell = |i: usize, width: usize| seed[i % 64].rotate_left(i as u32) % (1 << width);
            let table: Vec<u64> = (0..items).map(|i| cell(i, 5)).collect();
            let stash = cell(items, 7);
            // Cells of a bin are different: they go up from some start.
            let bins: Vec<u64> = (0..9 * items).map(|i| (cell(i / 9, 5) + i as u64 % 9) % 32).collect();
            let others: Vec<u64> = (0..items).map(|i| (cell(7, 7) + i as u64) % 128).collect();
            let bits = |words: &[u64], width: usize| -> Vec<bool> {
                let bit = |word: u64| (0..width).map(move |i| word >> i & 1 == 1);
                words.iter().flat_map(|&word| bit(word)).collect()
            };
            let inputs = [bits(&table, 5), bits(&[stash], 7), bits(&bins, 5), bits(&others, 7)];
            let found = circuit(&sizes).eval(&inputs);
            let in_bin = |(item, bin): (&u64, &[u64])| bin.contains(item);
            let wanted: Vec<bool> = table.iter().zip(bins.chunks(9)).map(in_bin).collect();
            prop_assert_eq!(&found[0], &wanted);
            prop_assert_eq!(&found[1], &[others.contains(&stash)]);
        }
    }

    #[test]
    fn the_circuit_of_the_paper_has_the_size_that_is_stated() {
        let sizes = Sizes::new(1024, 32);
        let circuit = circuit(&sizes);
        assert_eq!((sizes.bins, sizes.load, sizes.stored), (1229, 23, 24));
        assert_eq!((circuit.info().ands, sizes.ands()), (681_885, 681_885));
        compile(&circuit, &Machine::CPU).check().unwrap();
    }
}
