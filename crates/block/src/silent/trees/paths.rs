//! The secret leaf of each tree.
//!
//! A receiver knows all nodes of a level but one, on a path that is its secret. Neither a branch
//! nor an address may depend on the path, so [`Paths`] holds, as masks, which node of a level lies
//! on it. A mask of level `l` is the product of one for the upper levels and one for those below,
//! so that the masks of 4096 nodes take the crate of 128.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Row, TREES};
use crate::Block;

/// A secret path from the root of each tree of a batch, as masks of the nodes of a level.
pub struct Paths {
    /// Levels above [`Paths::lower`].
    split: usize,
    level: usize,
    /// Masks of the first `split` levels, then those of the levels below: a row for each node.
    upper: Vec<Block>,
    lower: Vec<Block>,
    /// Masks of the upper levels times a row, or two.
    scratch: Vec<Block>,
}

impl Paths {
    /// Creates paths that end at the root, of trees that have `depth` levels below it.
    pub fn new(depth: usize) -> Paths {
        let split = depth / 2;
        Paths {
            split,
            level: 0,
            upper: vec![Block::ONES; TREES << split],
            lower: vec![Block::ONES; TREES << (depth - split)],
            scratch: vec![Block::ZERO; (2 * TREES) << split],
        }
    }

    /// The level of the nodes at which the paths end, 0 at the root.
    pub(super) fn level(&self) -> usize {
        self.level
    }

    /// Goes back to the root.
    pub fn restart(&mut self) {
        self.level = 0;
        self.upper[..TREES].fill(Block::ONES);
        self.lower[..TREES].fill(Block::ONES);
    }

    /// Goes one level down: to the left where the mask of the tree is 0, to the right where it is
    /// all ones.
    ///
    /// # Panics
    /// If the paths are as long as they may be.
    pub fn descend(&mut self, right: &Row) {
        let (masks, level) = if self.level < self.split {
            (&mut self.upper, self.level)
        } else {
            (&mut self.lower, self.level - self.split)
        };
        for node in (0..1 << level).rev() {
            for tree in 0..TREES {
                let mask = masks[node * TREES + tree];
                let on_right = mask & right[tree];
                masks[2 * node * TREES + tree] = mask ^ on_right;
                masks[(2 * node + 1) * TREES + tree] = on_right;
            }
        }
        self.level += 1;
    }

    /// Returns the masks of the upper levels times each of `rows`, interleaved, and those of the
    /// lower levels.
    pub(super) fn scaled<const N: usize>(&mut self, rows: [Row; N]) -> (&[Block], &[Block]) {
        let (upper, lower) = (self.level.min(self.split), self.level.max(self.split));
        let scaled = &mut self.scratch[..(N * TREES) << upper];
        let masks = self.upper.chunks_exact(TREES);
        for (out, masks) in scaled.chunks_exact_mut(N * TREES).zip(masks) {
            for (out, row) in out.chunks_exact_mut(TREES).zip(&rows) {
                for tree in 0..TREES {
                    out[tree] = masks[tree] & row[tree];
                }
            }
        }
        (scaled, &self.lower[..TREES << (lower - self.split)])
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        self.upper.zeroize();
        self.lower.zeroize();
        self.scratch.zeroize();
    }
}

impl ZeroizeOnDrop for Paths {}
