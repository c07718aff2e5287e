//! Errors at any places (Ferret, section 4.1, Figure 5: multi-point OTs from single-point ones by
//! cuckoo hashing).
//!
//! Each of three tables has every row once, in an order of its own, and is cut into *bins*. A bin
//! is a tree: its leaves are the rows of the bin. The receiver puts each error into the bin of its
//! row in one of the tables, so that no bin has two; a row is the sum of its three leaves.
//!
//! ```text
//! rows 8g to 8g + 7   leaf m of the eight trees of batch b, where in this table
//!                     g = s (b 2^depth + m) + r mod n / 8, with s and r public and new in each
//!                     iteration; of which tree a row is turns with g
//! ```
//!
//! So the leaves of a row of a batch are of neighbouring rows, which caches like. The steps `s` are
//! 1, a number from 16 on and one from 256 on: few of the rows of a bin share one in another table.
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
    tables: [GroupOrder; TABLES],
    /// The number of groups of eight rows.
    groups: Modulus,
    errors: usize,
    depth: usize,
    /// Bins of a table.
    bins: usize,
}

/// An order of the groups: at place `i` is group `step i + first`.
struct GroupOrder {
    step: u64,
    /// The inverse of the step.
    factor: u64,
    first: u64,
    /// Place of the three bits of a group's number by which its trees turn.
    turn: u32,
}

impl GroupOrder {
    /// Number by which the trees of a group turn; as many as a row has are all of them.
    fn turn(&self, group: u64) -> u64 {
        group >> self.turn
    }
}

/// Least step of each table, a step is below twice that; and by which bits of a group its trees
/// turn. Those of the first table do not.
const STEPS: [(u64, u32); TABLES] = [(1, 63), (16, 0), (256, 3)];

impl Places {
    /// Draws the tables.
    pub(super) fn new(lpn: &Lpn, stream: &mut PublicStream) -> Places {
        let groups = Modulus::new((lpn.rows() / TREES) as u64);
        let mut dropped = Vec::with_capacity(TABLES);
        let tables = STEPS.map(|(least, turn)| {
            let random = stream.block().value();
            let from = least + random as u64 % least;
            let steps = (from..2 * least).chain(least..=from);
            let mut steps = steps.map(|step| step % groups.value);
            let inverted = steps.find_map(|step| Some((step, groups.inverse(step)?)));
            let (step, factor) = inverted.expect("one of them is coprime to the groups");
            // The groups at leaf 0, which come to no row, are those with the remainder of the first
            // one, since the number of groups is a multiple of the leaves of a tree. So no two
            // tables drop the same groups, or a row would be known to have no error.
            let remainder = |group: u64| group & ((1 << lpn.depth()) - 1);
            let mut first = below((random >> 64) as u64, groups.value);
            while dropped.contains(&remainder(first)) {
                first = groups.reduce(first + 1);
            }
            dropped.push(remainder(first));
            GroupOrder {
                step,
                factor,
                first,
                turn,
            }
        });
        Places {
            tables,
            groups,
            errors: lpn.errors(),
            depth: lpn.depth(),
            bins: lpn.trees_of_table(),
        }
    }

    /// Adds the leaves of a batch to their rows, but for leaf 0 of each tree.
    pub(super) fn scatter(&self, batch: usize, leaves: &[Block], rows: &mut [Block]) {
        let first_tree = batch * TREES;
        let table = &self.tables[first_tree / self.bins];
        let first = ((first_tree % self.bins / TREES) << self.depth) as u64;
        let mut group = self.groups.reduce(table.step * first + table.first);
        for (node, leaves) in leaves.as_chunks::<TREES>().0.iter().enumerate() {
            if node > 0 {
                let turn = table.turn(group);
                let rows = &mut rows[TREES * group as usize..][..TREES];
                for (tree, leaf) in (0..).zip(leaves) {
                    rows[(turn + tree) as usize % TREES] ^= *leaf;
                }
            }
            group += table.step;
            if group >= self.groups.value {
                group -= self.groups.value;
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
        let rows_in_all = TREES as u64 * self.groups.value;
        let mut rows = Zeroizing::new(Vec::with_capacity(self.errors));
        while rows.len() < self.errors {
            let row = below(random(), rows_in_all) as u32;
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
        let table = &self.tables[table];
        let row = u64::from(row.wrapping_sub(1) & !equal(row, 0));
        let (group, within) = (row / TREES as u64, row % TREES as u64);
        let from_first = group + self.groups.value - table.first;
        let place = self.groups.reduce(table.factor * from_first);
        let tree = within.wrapping_sub(table.turn(group)) % TREES as u64;
        let bin = (place >> self.depth) * TREES as u64 + tree;
        (bin as u32, place as u32 & ((1 << self.depth) - 1))
    }
}

/// The rows of bins, each plus 1, and all ones if none is left over.
struct Settled {
    bins: Zeroizing<Vec<u32>>,
    all: u32,
}

/// Arithmetic modulo a number, for secrets: a division takes a time of its own.
struct Modulus {
    value: u64,
    reciprocal: u64,
}

impl Modulus {
    fn new(value: u64) -> Modulus {
        assert!(value > 1 && value < 1 << 31, "products fit");
        let reciprocal = u64::MAX / value;
        Modulus { value, reciprocal }
    }

    /// The remainder of a number below twice the square of the modulus.
    fn reduce(&self, value: u64) -> u64 {
        // The quotient, or less by at most 2: `reciprocal` is below `2^64 / value` by at most 1.
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut rest = value - quotient * self.value;
        for _ in 0..2 {
            let less = rest.wrapping_sub(self.value);
            rest = less.wrapping_add(self.value & (less as i64 >> 63) as u64);
        }
        rest
    }

    /// The inverse of a public number.
    fn inverse(&self, value: u64) -> Option<u64> {
        let modulus = self.value as i64;
        let (mut old, mut new) = ((value as i64, 1), (modulus, 0));
        while new.0 != 0 {
            let quotient = old.0 / new.0;
            (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
        }
        (old.0 == 1).then(|| old.1.rem_euclid(modulus) as u64)
    }
}

/// A random number below `bound`, from one of 64 bits.
fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// All ones if the two are equal, else 0.
fn equal(a: u32, b: u32) -> u32 {
    let difference = a ^ b;
    ((difference | difference.wrapping_neg()) >> 31).wrapping_sub(1)
}

/// Returns true if a mask is set that says something of a draw as a whole: this shows.
// The branch is here, in a stack frame of its own, by which the check of secrets tells it from all
// others; `black_box` keeps the compiler from leaving it to the caller.
#[inline(never)]
fn is_so(mask: u32) -> bool {
    match mask {
        0 => false,
        _ => black_box(true),
    }
}

#[cfg(test)]
mod tests;
