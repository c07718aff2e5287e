//! Levels of many binary trees of pseudorandom blocks at once (Goldreich, Goldwasser and Micali,
//! "How to Construct Random Functions", J. ACM 1986), in the correlated form of Guo, Yang, Wang,
//! Zhang, Xie, Liu and Zhao, "Half-Tree: Halving the Cost of Tree Expansion in COT and DPF"
//! (Eurocrypt 2023, section 4): a node `x` has the children
//!
//! ```text
//! left = H(x)    right = x ^ H(x)    H(x) = pi(sigma(x)) ^ sigma(x)
//! ```
//!
//! with AES under a public key as `pi`. Two children cost one AES, and every level has the sum of
//! its root. `H` is assumed to be circular correlation robust, which it is if `pi` is a random
//! permutation (paper above, section 2; Guo, Katz, Wang and Yu, IEEE S&P 2020, section 7.3).
//!
//! # Layout
//! [`TREES`] trees form a batch, and neighbouring blocks belong to different trees:
//!
//! ```text
//! row      0                  1                      m
//! block    t0 t1 ... t7  |  t0 t1 ... t7  | ... |  t0 t1 ... t7      node m of each tree
//! ```
//!
//! Rows are independent of each other from the root on, so that lanes are full, and a sum over a
//! level of every tree is a sum over rows. A level is expanded in place, from its last row to its
//! first: the children of row `m` are rows `2m` and `2m + 1`. [`Paths`] says how a receiver leaves
//! out a node of each level that is secret.

use zeroize::Zeroizing;

use crate::{Aes128, Block, Cpu, Kernel, Lanes};

mod paths;
pub use paths::Paths;

/// Trees of a batch: blocks of a row.
pub const TREES: usize = 8;

/// One block of each tree of a batch.
pub type Row = [Block; TREES];

/// The hash of the trees, under a public key.
#[derive(Clone)]
pub struct TreeHash {
    cpu: Cpu,
    aes: Aes128,
}

impl TreeHash {
    /// Creates the hash with this key.
    pub fn new(cpu: Cpu, key: Block) -> TreeHash {
        TreeHash {
            cpu,
            aes: Aes128::new(cpu, key),
        }
    }

    /// Replaces the first half of `rows`, a level, by the next level, which fills them, and returns
    /// the sums of the left children.
    ///
    /// # Panics
    /// If `rows` does not hold a power of two of rows, two at least.
    pub fn expand(&self, rows: &mut [Block]) -> Row {
        let parents = parents(rows);
        self.cpu.run(Expand::<false> {
            keys: self.aes.round_keys(),
            rows,
            parents,
            scaled: &[],
            lower: &[],
        })
    }

    /// As [`expand`](TreeHash::expand), with `correction` added before to both nodes of each tree
    /// that have the node of `paths` as their parent.
    ///
    /// # Panics
    /// As [`expand`](TreeHash::expand), or if the paths do not end one level above.
    pub fn expand_corrected(&self, rows: &mut [Block], paths: &mut Paths, correction: &Row) -> Row {
        let parents = parents(rows);
        assert_eq!(parents >> 1, 1 << paths.level(), "one pair for each mask");
        let (scaled, lower) = paths.scaled([*correction; 1]);
        self.cpu.run(Expand::<true> {
            keys: self.aes.round_keys(),
            rows,
            parents,
            scaled,
            lower,
        })
    }

    /// Finishes the leaves of a receiver: adds `correction` to both leaves below the node of
    /// `paths`, and replaces bit 0 of every leaf by 1 where `last` is 0 and the leaf is the left
    /// of the two, or `last` is all ones and it is the right one, and by 0 elsewhere.
    ///
    /// # Panics
    /// If the paths do not end one level above the leaves.
    pub fn finish(&self, leaves: &mut [Block], paths: &mut Paths, correction: &Row, last: &Row) {
        let count = (2 * TREES) << paths.level();
        assert_eq!(leaves.len(), count, "two leaves a mask");
        let mut added = Zeroizing::new([*correction; 2]);
        for tree in 0..TREES {
            let even = added[0][tree] & BUT_ONE;
            let right = last[tree] & ONE;
            added[0][tree] = even ^ right ^ ONE;
            added[1][tree] = even ^ right;
        }
        let (scaled, lower) = paths.scaled(*added);
        self.cpu.run(Finish {
            leaves,
            scaled,
            lower,
        });
    }
}

const ONE: Block = Block::new(1);
const BUT_ONE: Block = Block::new(!1);

/// Number of parents in the first half of `rows`.
fn parents(rows: &[Block]) -> usize {
    let parents = rows.len() / (2 * TREES);
    assert!(parents.is_power_of_two(), "a level has 2^l nodes a tree");
    assert_eq!(rows.len(), 2 * TREES * parents, "whole rows");
    parents
}

/// Expands a level; with `CORRECTED`, node `m` is first added to the product of two masks: row
/// `(m / 2) / n` of `scaled` and row `(m / 2) % n` of `lower`, which has `n` rows.
struct Expand<'a, const CORRECTED: bool> {
    keys: &'a [Block; 11],
    rows: &'a mut [Block],
    parents: usize,
    scaled: &'a [Block],
    lower: &'a [Block],
}

/// Rows of a batch of eight vectors, on the widest tier.
const MAX_ROWS: usize = 4;

impl<const CORRECTED: bool> Kernel for Expand<'_, CORRECTED> {
    type Output = Row;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Row {
        let at_once = L::WIDTH;
        let (scaled, lower) = (self.scaled.as_chunks().0, self.lower.as_chunks().0);
        let bits = lower.len().max(1).trailing_zeros();
        // Sums of the vectors of a batch; they lie in memory, where registers are for the rounds.
        let mut sums = [l.splat(Block::ZERO); 8];
        let mut first = self.parents;
        while first > at_once.max(1) {
            first -= at_once;
            let (parents, children) = self.rows.split_at_mut(2 * first * TREES);
            let parents = &mut parents[first * TREES..][..8 * L::WIDTH];
            let children = &mut children[..16 * L::WIDTH];
            if CORRECTED {
                correct(l, parents, first, bits, scaled, lower);
            }
            expand_batch(l, self.keys, parents, children, &mut sums);
        }
        let mut sum = Zeroizing::new([Block::ZERO; TREES]);
        let vectors = TREES / L::WIDTH;
        for i in 0..vectors {
            let mut total = sums[i];
            for j in 1..8 / vectors {
                total = l.xor(total, sums[i + j * vectors]);
            }
            l.store(&mut sum[i * L::WIDTH..], total);
        }
        l.wipe(&mut sums);
        // The first rows overlap with their children, and may not fill a batch.
        let mut own = Zeroizing::new([Block::ZERO; MAX_ROWS * TREES]);
        let mut children = Zeroizing::new([Block::ZERO; 2 * MAX_ROWS * TREES]);
        own[..first * TREES].copy_from_slice(&self.rows[..first * TREES]);
        if CORRECTED {
            // Rows that are padding have no masks.
            for row in 0..first {
                let pair = row >> 1;
                let (scaled, lower) = (&scaled[pair >> bits], &lower[pair & ((1 << bits) - 1)]);
                for tree in 0..TREES {
                    own[row * TREES + tree] ^= scaled[tree] & lower[tree];
                }
            }
        }
        expand_batch(
            l,
            self.keys,
            &own[..8 * L::WIDTH],
            &mut children[..16 * L::WIDTH],
            &mut sums,
        );
        self.rows[..2 * first * TREES].copy_from_slice(&children[..2 * first * TREES]);
        for row in 0..first {
            for tree in 0..TREES {
                sum[tree] ^= children[2 * row * TREES + tree];
            }
        }
        l.wipe(&mut sums);
        *sum
    }
}

/// Adds the products of masks to the parents of a batch, of which `first` is the number of the
/// first row.
#[inline(always)]
fn correct<L: Lanes>(
    l: L,
    parents: &mut [Block],
    first: usize,
    bits: u32,
    scaled: &[Row],
    lower: &[Row],
) {
    let parents = &mut parents[..8 * L::WIDTH];
    // Two rows, or all of them where there are fewer, have one parent and so one mask.
    let together = (2 * TREES).min(8 * L::WIDTH);
    for start in (0..8 * L::WIDTH).step_by(together) {
        let pair = (first + start / TREES) >> 1;
        let (scaled, lower) = (&scaled[pair >> bits], &lower[pair & ((1 << bits) - 1)]);
        for at in (start..start + together).step_by(L::WIDTH) {
            let within = at % TREES;
            let mask = l.and(l.load(&scaled[within..]), l.load(&lower[within..]));
            let parent = l.load(&parents[at..]);
            l.store(&mut parents[at..], l.xor(parent, mask));
        }
    }
}

/// Computes the children of eight vectors of parents, and adds the left ones to `sums`. Nine
/// registers are for the rounds, so that parents are loaded twice.
#[inline(always)]
fn expand_batch<L: Lanes>(
    l: L,
    keys: &[Block; 11],
    parents: &[Block],
    children: &mut [Block],
    sums: &mut [L::V; 8],
) {
    let (parents, children) = (&parents[..8 * L::WIDTH], &mut children[..16 * L::WIDTH]);
    let mut turned = [l.splat(Block::ZERO); 8];
    let mut states = turned;
    let key = l.splat(keys[0]);
    for i in 0..8 {
        turned[i] = l.sigma(l.load(&parents[i * L::WIDTH..]));
        states[i] = l.xor(turned[i], key);
    }
    l.nine_rounds(&mut states, keys);
    let key = l.splat(keys[10]);
    let vectors = TREES / L::WIDTH;
    for i in 0..8 {
        let parent = l.load(&parents[i * L::WIDTH..]);
        let left = l.aes_last(states[i], l.xor(turned[i], key));
        let at = 2 * (i / vectors) * TREES + (i % vectors) * L::WIDTH;
        l.store(&mut children[at..], left);
        l.store(&mut children[at + TREES..], l.xor(left, parent));
        sums[i] = l.xor(sums[i], left);
    }
}

/// Adds products of masks to pairs of leaves, two rows of `scaled` for each row of masks, and
/// leaves bit 0 of a leaf to them.
struct Finish<'a> {
    leaves: &'a mut [Block],
    scaled: &'a [Block],
    lower: &'a [Block],
}

impl Kernel for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let kept = l.splat(BUT_ONE);
        let (masks, _) = self.lower.as_chunks::<TREES>();
        let (scaled, _) = self.scaled.as_chunks::<{ 2 * TREES }>();
        let (leaves, _) = self.leaves.as_chunks_mut::<{ 2 * TREES }>();
        for (leaves, scaled) in leaves.chunks_exact_mut(masks.len()).zip(scaled) {
            for (leaves, masks) in leaves.iter_mut().zip(masks) {
                for at in (0..2 * TREES).step_by(L::WIDTH) {
                    let mask = l.and(l.load(&masks[at % TREES..]), l.load(&scaled[at..]));
                    let leaf = l.and(l.load(&leaves[at..]), kept);
                    l.store(&mut leaves[at..], l.xor(leaf, mask));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
