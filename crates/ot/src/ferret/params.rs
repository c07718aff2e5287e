//! Parameters: sizes of the two instances of learning parity with noise, and what a corrupt party
//! may do.

use sealane_block::silent::trees::TREES;

use crate::Security;

/// Correlations that mask the receiver's part of a check.
pub(super) const CHECK: usize = 128;

/// An instance of learning parity with noise with a local code and regular noise: a secret of `k`
/// bits, `n` rows with ten ones each, and `t` errors, one in each of `t` runs of `n / t` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lpn {
    /// `k = 2^log_secret`.
    log_secret: u32,
    /// `t`, a multiple of the trees of a batch.
    trees: usize,
    /// `n = t 2^depth`: a tree has a leaf for each row of a run.
    depth: usize,
}

impl Lpn {
    /// The instance of all iterations but the first.
    pub(super) const MAIN: Lpn = Lpn {
        log_secret: 19,
        trees: 1024,
        depth: 12,
    };
    /// The instance of the first iteration, whose rows are the secret and the other correlations
    /// that an iteration of [`Lpn::MAIN`] takes.
    pub(super) const FIRST: Lpn = Lpn {
        log_secret: 15,
        trees: 2104,
        depth: 8,
    };

    /// Bits of the secret.
    pub fn secret(&self) -> usize {
        1 << self.log_secret
    }

    /// Errors, one in each tree.
    pub fn errors(&self) -> usize {
        self.trees
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.trees << self.depth
    }

    /// Levels of a tree below its root.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Batches of trees.
    pub(super) fn batches(&self) -> usize {
        self.trees / TREES
    }

    /// Rows of a batch.
    pub(super) fn batch_rows(&self) -> usize {
        TREES << self.depth
    }

    /// Correlations that the paths of a batch take, one for each level of each tree, and blocks of
    /// its message.
    pub(super) fn batch_levels(&self) -> usize {
        TREES * self.depth
    }

    /// Correlations that the paths take.
    pub(super) fn levels(&self) -> usize {
        self.trees * self.depth
    }
}

/// Parameters of Ferret. They are public, and the same at both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) first: Lpn,
    pub(super) main: Lpn,
    security: Security,
}

impl Params {
    /// The parameters in use, at least 128 bits by every attack of
    /// [`estimate`](super::estimate).
    pub const fn new(security: Security) -> Params {
        Params {
            first: Lpn::FIRST,
            main: Lpn::MAIN,
            security,
        }
    }

    /// Parameters that anybody can break, for tests that have to be quick.
    pub const fn danger_tiny(security: Security) -> Params {
        Params {
            first: Lpn {
                log_secret: 6,
                trees: 24,
                depth: 5,
            },
            main: Lpn {
                log_secret: 9,
                trees: 16,
                depth: 7,
            },
            security,
        }
    }

    /// Corruption that the protocol withstands.
    pub fn security(&self) -> Security {
        self.security
    }

    /// The instance of the first iteration, at set-up.
    pub fn first(&self) -> Lpn {
        self.first
    }

    /// The instance of all other iterations.
    pub fn main(&self) -> Lpn {
        self.main
    }

    /// Most leaves of a batch of trees.
    pub(super) fn leaves(&self) -> usize {
        self.first.batch_rows().max(self.main.batch_rows())
    }

    /// Correlations that an iteration takes: the secret, those of the paths, those of the check.
    pub(super) fn taken(&self, lpn: &Lpn) -> usize {
        let check = match self.security {
            Security::SemiHonest => 0,
            Security::Malicious => CHECK,
        };
        lpn.secret() + lpn.levels() + check
    }

    /// Correlations that the source has to make for the set-up.
    pub fn from_source(&self) -> usize {
        self.taken(&self.first)
    }

    /// Correlations that an iteration gives: its rows but those that the next one takes.
    pub fn given(&self) -> usize {
        self.main.rows() - self.taken(&self.main)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_feed_each_other_and_fill_blocks_of_bits() {
        for security in [Security::SemiHonest, Security::Malicious] {
            for params in [Params::new(security), Params::danger_tiny(security)] {
                assert!(params.first.rows() >= params.taken(&params.main));
                for lpn in [params.first, params.main] {
                    assert_eq!(lpn.trees % TREES, 0);
                    assert_eq!(lpn.batch_rows() % 128, 0);
                    assert!(lpn.depth >= 2 && params.given() > 0);
                }
            }
            // At most 0.7 bits an OT.
            let params = Params::new(security);
            let bits = 128 * params.main.levels();
            assert!(10 * bits < 7 * params.given(), "{bits}");
        }
    }
}
