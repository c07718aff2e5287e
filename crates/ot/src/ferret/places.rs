//! Errors at any places (Ferret, section 4.1, Figure 5: multi-point OTs from single-point ones by
//! cuckoo hashing).
//!
//! Each of three tables has every row once, in an order of its own, and is cut into *bins*. A bin
//! is a tree: its leaves are the rows of the bin. The receiver puts each error into the bin of its
//! row in one of the tables, so that no bin has two; a row is the sum of its three leaves.
//!
//! ```text
//! row of slot y in a table   s y + r mod n, with r public and new in each iteration
//! bin, leaf                  the upper bits of the slot, the lower ones
//! ```
//!
//! The steps `s` are 1, a number from 16 on and one from 256 on: neighbouring leaves are of rows
//! that are near each other, which caches like, and few of the rows of a bin share one in another
//! table.
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

/// An order of the rows: slot `y` has row `step y + first`.
struct Table {
    step: u64,
    /// The inverse of the step.
    factor: u64,
    first: u64,
}

/// Least step of each table; a step is below twice that.
const STEPS: [u64; TABLES] = [1, 16, 256];

impl Places {
    /// Draws the tables.
    pub(super) fn new(lpn: &Lpn, stream: &mut PublicStream) -> Places {
        let modulus = Modulus::new(lpn.rows() as u64);
        let tables = STEPS.map(|least| {
            let random = stream.block().value();
            let from = least + random as u64 % least;
            let mut steps = (from..2 * least).chain(least..=from);
            let inverted = steps.find_map(|step| Some((step, modulus.inverse(step)?)));
            let (step, factor) = inverted.expect("one of them is coprime to the rows");
            Table {
                step,
                factor,
                first: modulus.below((random >> 64) as u64),
            }
        });
        Places {
            tables,
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
        let mut at: [u64; TREES] = std::array::from_fn(|tree| {
            let slot = ((first_tree % self.bins + tree) << self.depth) as u64;
            self.modulus.reduce(table.step * slot + table.first)
        });
        for (node, leaves) in leaves.as_chunks::<TREES>().0.iter().enumerate() {
            for (leaf, at) in leaves.iter().zip(&mut at) {
                if node > 0 {
                    rows[*at as usize] ^= *leaf;
                }
                let next = *at + table.step;
                *at = if next >= modulus {
                    next - modulus
                } else {
                    next
                };
            }
        }
    }

    /// Draws errors, and returns the leaf of each tree where its error is: 0 if it has none. The
    /// correlations are added to what is drawn, so that the check of secrets follows the places
    /// from there; randomness of this party's own hides them.
    pub(super) fn choose(&self, random: &mut Prg, levels: &[Block]) -> Zeroizing<Vec<u32>> {
        let mut levels = levels.iter().cycle();
        let mut next = || {
            let level = levels.next().expect("trees have levels");
            (random.block() ^ *level).value() as u64
        };
        loop {
            let rows = self.distinct(&mut next);
            let mut settled = self.settle(&rows);
            if is_so(settled.all) {
                self.to_leaves(&mut settled.bins);
                return settled.bins;
            }
        }
    }

    /// Draws as many rows as there are errors, no two alike.
    fn distinct(&self, random: &mut impl FnMut() -> u64) -> Zeroizing<Vec<u32>> {
        let mut rows = Zeroizing::new(Vec::with_capacity(self.errors));
        while rows.len() < self.errors {
            let row = self.modulus.below(random()) as u32;
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
        let Table { factor, first, .. } = self.tables[table];
        let row = u64::from(row.wrapping_sub(1) & !equal(row, 0));
        let from_first = row + self.modulus.rows - first;
        let slot = self.modulus.reduce(factor * from_first) as u32;
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

    /// The remainder of a number below `2 rows^2`.
    fn reduce(&self, value: u64) -> u64 {
        // The quotient, or less by at most 2: `reciprocal` is below `2^64 / rows` by at most 1.
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut rest = value - quotient * self.rows;
        for _ in 0..2 {
            let less = rest.wrapping_sub(self.rows);
            rest = less.wrapping_add(self.rows & (less as i64 >> 63) as u64);
        }
        rest
    }

    /// A random number below `rows`, from one of 64 bits.
    fn below(&self, random: u64) -> u64 {
        ((u128::from(random) * u128::from(self.rows)) >> 64) as u64
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

/// Returns true if a mask is set that says something of a draw as a whole: this shows.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others.
#[inline(never)]
fn is_so(mask: u32) -> bool {
    mask != 0
}

#[cfg(test)]
mod tests;
