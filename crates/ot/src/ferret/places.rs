//! Errors at any places (Ferret, section 4.1, Figure 5: multi-point OTs from single-point ones by
//! cuckoo hashing).
//!
//! Each of three tables has every row once, in an order of its own, and is cut into *bins*. A bin
//! is a tree: its leaves are the rows of the bin. The receiver puts each error into the bin of its
//! row in one of the tables, so that no bin has two; a row is the sum of its three leaves.
//!
//! ```text
//! slot of row x in a table   a x + b mod n, with a and b public and new in each iteration
//! bin, leaf                  the upper bits of the slot, the lower ones
//! ```
//!
//! A bin without an error has it at leaf 0, which both parties drop: a row whose leaf that is in a
//! table has two leaves instead of three. The paths of trees follow from places now and no longer
//! from correlations alone, so a bit for each level tells the sender how its correlation changes.
//!
//! **Which order the tables have** is no matter for security. The receiver draws distinct rows,
//! all sets alike, and draws again while they do not fit into bins; so an attack works at most
//! `1 / s` times as often as against all sets, where `s` is the share of those that fit: all but
//! one in thousands.
//!
//! **No branch and no address** depends on the places. An insertion that goes on with what it
//! displaced takes turns with the tables, and looks at every bin of a table in each turn. That a
//! draw was refused shows, and tells nothing about the one that is used.

use sealane_block::silent::trees::TREES;
use sealane_block::{Block, Prg, PublicStream};
use std::hint::black_box;
use zeroize::{Zeroize, Zeroizing};

use super::params::{Lpn, TABLES};

/// Turns of an insertion for each error. Most take two.
const TURNS: usize = 8;

/// The tables of an iteration, which both parties know.
pub(super) struct Places {
    tables: [Table; TABLES],
    modulus: Modulus,
    errors: usize,
    depth: usize,
    /// Bins of a table.
    bins: usize,
}

/// An order of the rows.
struct Table {
    factor: u64,
    inverse: u64,
    shift: u64,
}

impl Places {
    /// Draws the tables.
    pub(super) fn new(lpn: &Lpn, stream: &mut PublicStream) -> Places {
        let modulus = Modulus::new(lpn.rows() as u64);
        let mut table = || {
            let (low, high) = {
                let block = stream.block().value();
                (block as u64, (block >> 64) as u64)
            };
            let inverted = (0..)
                .map(|step| modulus.below(low).wrapping_add(step) % modulus.rows)
                .find_map(|factor| Some((factor, modulus.inverse(factor)?)));
            let (factor, inverse) = inverted.expect("1 has an inverse");
            Table {
                factor,
                inverse,
                shift: modulus.below(high),
            }
        };
        Places {
            tables: [table(), table(), table()],
            modulus,
            errors: lpn.errors(),
            depth: lpn.depth(),
            bins: lpn.trees_of_table(),
        }
    }

    /// Adds the leaves of a batch to their rows, but for leaf 0 of each tree.
    pub(super) fn scatter(&self, batch: usize, leaves: &[Block], rows: &mut [Block]) {
        let modulus = self.modulus.rows;
        let first_tree = batch * TREES;
        let table = &self.tables[first_tree / self.bins];
        // The row of the next leaf is a constant further.
        let mut at: [u64; TREES] = std::array::from_fn(|tree| {
            let slot = ((first_tree % self.bins + tree) << self.depth) as u64;
            let from_shift = slot + modulus - table.shift;
            self.modulus.reduce(table.inverse * (from_shift % modulus))
        });
        for (node, leaves) in leaves.as_chunks::<TREES>().0.iter().enumerate() {
            for (leaf, at) in leaves.iter().zip(&mut at) {
                if node > 0 {
                    rows[*at as usize] ^= *leaf;
                }
                let next = *at + table.inverse;
                *at = if next >= modulus {
                    next - modulus
                } else {
                    next
                };
            }
        }
    }

    /// Draws errors, and returns the leaf of each tree where its error is: 0 if it has none.
    pub(super) fn choose(&self, random: &mut Prg) -> Zeroizing<Vec<u32>> {
        loop {
            let rows = self.distinct(random);
            let mut settled = self.settle(&rows);
            if is_so(settled.all) {
                self.to_leaves(&mut settled.bins);
                return settled.bins;
            }
        }
    }

    /// Draws as many rows as there are errors, no two alike.
    fn distinct(&self, random: &mut Prg) -> Zeroizing<Vec<u32>> {
        let mut rows = Zeroizing::new(Vec::with_capacity(self.errors));
        while rows.len() < self.errors {
            let row = self.modulus.below(random.block().value() as u64) as u32;
            let seen = rows.iter().fold(0, |seen, &other| seen | equal(row, other));
            if !is_so(seen) {
                rows.push(row);
            }
        }
        rows
    }

    /// Puts every row into the bin of one of its slots.
    fn settle(&self, rows: &[u32]) -> Settled {
        // A row plus 1, or 0 for none.
        let mut bins = Zeroizing::new(vec![0u32; TABLES * self.bins]);
        let (mut moving, mut next) = (0u32, 0u32);
        for turn in 0..TURNS * rows.len() {
            let free = black_box(equal(moving, 0));
            let numbered = rows.iter().zip(0u32..);
            let row = numbered.fold(0, |sum, (row, i)| sum | (row + 1) & equal(i, next));
            moving |= row & free;
            next += free & 1;

            let table = turn % TABLES;
            let (bin, leaf) = self.place(table, moving);
            let enters = black_box(!equal(moving, 0) & !equal(leaf, 0));
            let mut change = 0;
            let bins = &mut bins[table * self.bins..][..self.bins];
            for (bin_row, i) in bins.iter_mut().zip(0u32..) {
                let difference = (*bin_row ^ moving) & equal(i, bin) & enters;
                *bin_row ^= difference;
                change |= difference;
            }
            moving ^= change;
        }
        let left = (rows.len() as u32).wrapping_sub(next) as i32 > 0;
        let all = equal(moving, 0) & equal(u32::from(left), 0);
        moving.zeroize();
        Settled { bins, all }
    }

    /// Replaces the row of each bin by its leaf.
    fn to_leaves(&self, bins: &mut [u32]) {
        for (table, bins) in bins.chunks_exact_mut(self.bins).enumerate() {
            for row in bins {
                let leaf = self.place(table, *row).1;
                *row = leaf & !equal(*row, 0);
            }
        }
    }

    /// Bin and leaf of a row, given as this row plus 1, in a table; of any row if it is 0.
    fn place(&self, table: usize, row: u32) -> (u32, u32) {
        let Table { factor, shift, .. } = self.tables[table];
        let row = u64::from(row.wrapping_sub(1) & !equal(row, 0));
        let slot = self.modulus.reduce(factor * row + shift) as u32;
        (slot >> self.depth, slot & ((1 << self.depth) - 1))
    }
}

/// The rows of bins, each plus 1, and all ones if none is left over.
struct Settled {
    bins: Zeroizing<Vec<u32>>,
    all: u32,
}

/// Arithmetic modulo the number of rows, for secrets: a division takes a time of its own.
struct Modulus {
    rows: u64,
    reciprocal: u64,
}

impl Modulus {
    fn new(rows: u64) -> Modulus {
        assert!(rows > 1 && rows < 1 << 31, "products fit");
        let reciprocal = u64::MAX / rows;
        Modulus { rows, reciprocal }
    }

    /// The remainder of a number below `rows^2 + rows`.
    fn reduce(&self, value: u64) -> u64 {
        // The quotient, or less by at most 2: `reciprocal` is below `2^64 / rows` by at most 1.
        let quotient = (u128::from(value) * u128::from(self.reciprocal) >> 64) as u64;
        let mut rest = value - quotient * self.rows;
        for _ in 0..2 {
            let less = rest.wrapping_sub(self.rows);
            rest = less.wrapping_add(self.rows & (less as i64 >> 63) as u64);
        }
        rest
    }

    /// A random number below `rows`, from one of 64 bits.
    fn below(&self, random: u64) -> u64 {
        (u128::from(random) * u128::from(self.rows) >> 64) as u64
    }

    /// The inverse of a public number.
    fn inverse(&self, value: u64) -> Option<u64> {
        let modulus = self.rows as i64;
        let (mut old, mut new) = ((value as i64, 1), (modulus, 0));
        while new.0 != 0 {
            let quotient = old.0 / new.0;
            (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
        }
        (old.0 == 1).then(|| old.1.rem_euclid(modulus) as u64)
    }
}

/// All ones if the two are equal, else 0.
fn equal(a: u32, b: u32) -> u32 {
    let difference = a ^ b;
    ((difference | difference.wrapping_neg()) >> 31).wrapping_sub(1)
}

/// Whether a mask is set that says something of a draw as a whole: this shows.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others.
#[inline(never)]
fn is_so(mask: u32) -> bool {
    mask != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Security;
    use crate::ferret::{Params, Set};
    use sealane_block::{Coins, Cpu};
    use std::collections::HashSet;

    fn places(lpn: &Lpn, seed: u64) -> (Places, Prg) {
        let mut coins = Coins::danger_fixed_seed(seed);
        let places = Places::new(lpn, &mut coins.public("tables"));
        (places, coins.secret("errors").prg(Cpu::best()))
    }

    #[test]
    fn remainders_are_those_of_division() {
        for rows in [2, 3, 1024, 2048, 552_960, 5_242_880, (1 << 31) - 1] {
            let modulus = Modulus::new(rows);
            let most = rows * rows + rows - 1;
            for value in [0, 1, rows - 1, rows, rows + 1, most / 3, most - 1, most] {
                assert_eq!(modulus.reduce(value), value % rows, "{value} {rows}");
            }
            assert_eq!(modulus.below(u64::MAX), rows - 1);
        }
    }

    /// Leaves that are their own slots come to the rows of these slots; leaf 0 comes to none.
    #[test]
    fn every_row_gets_its_leaf_of_each_table() {
        let params = Params::danger_tiny_uniform(Security::SemiHonest);
        for lpn in [params.first(), params.main()] {
            let (places, _) = places(&lpn, 5);
            let mut seen = vec![Vec::new(); lpn.rows()];
            for batch in 0..lpn.batches() {
                let slot = |i: usize| {
                    let tree = batch * TREES + i % TREES;
                    Block::new((tree << lpn.depth() | i / TREES) as u128)
                };
                let leaves: Vec<Block> = (0..lpn.batch_leaves()).map(slot).collect();
                let mut rows = vec![Block::ZERO; lpn.rows()];
                places.scatter(batch, &leaves, &mut rows);
                for (row, block) in rows.iter().enumerate().filter(|(_, b)| b.value() != 0) {
                    seen[row].push(block.value() as u32);
                }
            }
            for (row, seen) in (0u32..).zip(&seen) {
                let expected: Vec<u32> = (0..TABLES)
                    .map(|table| (table, places.place(table, row + 1)))
                    .filter(|(_, (_, leaf))| *leaf > 0)
                    .map(|(table, (bin, leaf))| {
                        let tree = (table * lpn.trees_of_table()) as u32 + bin;
                        tree << lpn.depth() | leaf
                    })
                    .collect();
                assert_eq!(*seen, expected, "row {row}");
            }
        }
    }

    /// Of 200 draws at least 99 in 100 fit: the loss of security is a hundredth of a bit.
    #[test]
    fn nearly_all_draws_fit_into_bins() {
        let [first, main] = {
            let params = Params::of(Set::Uniform, Security::SemiHonest);
            [params.first(), params.main()]
        };
        for lpn in [first, main] {
            let mut refused = 0;
            for seed in 0..100 {
                let (places, mut random) = places(&lpn, seed);
                let rows = places.distinct(&mut random);
                refused += usize::from(places.settle(&rows).all == 0);
            }
            assert!(refused <= 1, "{refused} of 100");
        }
    }

    #[test]
    fn bins_hold_exactly_the_errors_and_every_place_comes_up() {
        let lpn = Params::danger_tiny_uniform(Security::SemiHonest).main();
        let mut of_rows = vec![0; lpn.rows()];
        let runs = 2000;
        for seed in 0..runs {
            let (places, mut random) = places(&lpn, seed);
            let leaves = places.choose(&mut random);
            let mut errors = HashSet::new();
            for (tree, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| **leaf > 0) {
                let (table, bin) = (tree / places.bins, tree % places.bins);
                let place = (bin as u32, *leaf);
                let row = (0..lpn.rows() as u32).find(|x| places.place(table, x + 1) == place);
                errors.insert(row.expect("every slot has a row"));
            }
            assert_eq!(errors.len(), lpn.errors());
            for row in errors {
                of_rows[row as usize] += 1;
            }
        }
        // Chi-square over 2048 rows: 2047 degrees of freedom, quantile at 1 - 10^-6 about 2366.
        let expected = (runs as usize * lpn.errors()) as f64 / lpn.rows() as f64;
        let chi: f64 = of_rows
            .iter()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum();
        assert!(chi < 2366.0, "{chi}");
    }
}
