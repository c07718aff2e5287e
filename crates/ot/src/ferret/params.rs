//! Parameters: sizes of the two instances of learning parity with noise, and what a corrupt party
//! may do.

use sealane_block::silent::trees::TREES;

use crate::Security;

/// Correlations that mask the receiver's part of a check.
pub(super) const CHECK: usize = 128;
/// Tables in which an error at any place may lie.
pub(super) const TABLES: usize = 3;

/// Where errors may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noise {
    /// One in each of as many runs of rows as there are errors.
    Regular,
    /// At any rows. Fewer attacks apply, but there are three leaves for each row instead of one.
    Uniform,
}

/// An instance of learning parity with noise with a local code: a secret of `k` bits, `n` rows with
/// ten ones each, and `t` errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lpn {
    /// `k = 2^log_secret`.
    log_secret: u32,
    noise: Noise,
    /// `t`. With regular errors, the number of trees.
    errors: usize,
    /// Trees, as many in each table.
    trees: usize,
    /// Levels of a tree below its root: in each table there is a leaf for each row.
    depth: usize,
}

impl Lpn {
    const fn regular(log_secret: u32, errors: usize, depth: usize) -> Lpn {
        Lpn {
            log_secret,
            noise: Noise::Regular,
            errors,
            trees: errors,
            depth,
        }
    }

    /// Errors at any of the rows, `table << depth` of them, where `table` is the number of trees of
    /// a table.
    const fn uniform(log_secret: u32, errors: usize, table: usize, depth: usize) -> Lpn {
        Lpn {
            log_secret,
            noise: Noise::Uniform,
            errors,
            trees: TABLES * table,
            depth,
        }
    }

    /// Bits of the secret.
    pub fn secret(&self) -> usize {
        1 << self.log_secret
    }

    /// Where errors may be.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Errors.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Rows.
    pub const fn rows(&self) -> usize {
        self.trees_of_table() << self.depth
    }

    /// Trees whose leaves are one table of all rows.
    pub(super) const fn trees_of_table(&self) -> usize {
        match self.noise {
            Noise::Regular => self.trees,
            Noise::Uniform => self.trees / TABLES,
        }
    }

    /// Levels of a tree below its root.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Batches of trees.
    pub(super) fn batches(&self) -> usize {
        self.trees / TREES
    }

    /// Leaves of a batch.
    pub(super) fn batch_leaves(&self) -> usize {
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

/// The sizes that are offered, each at least 128 bits by every attack of
/// [`estimate`](super::estimate).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Set {
    /// Regular errors and the fewest bits an OT.
    #[default]
    Compact,
    /// Regular errors and a secret of half the size, which fits caches better.
    Quick,
    /// Errors at any places, which fewer attacks apply to.
    Uniform,
}

impl Set {
    /// All of them.
    pub const ALL: [Set; 3] = [Set::Compact, Set::Quick, Set::Uniform];
}

/// Parameters of Ferret. They are public, and the same at both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) first: Lpn,
    pub(super) main: Lpn,
    security: Security,
}

impl Params {
    /// The sizes in use by default.
    pub const fn new(security: Security) -> Params {
        Params::of(Set::Compact, security)
    }

    /// The sizes of a set. The first iteration makes the secret and the other correlations that a
    /// main one takes.
    pub const fn of(set: Set, security: Security) -> Params {
        let (first, main) = match set {
            Set::Compact => (Lpn::regular(15, 4200, 7), Lpn::regular(19, 1024, 12)),
            Set::Quick => (Lpn::regular(15, 2232, 7), Lpn::regular(18, 2048, 11)),
            Set::Uniform => (
                Lpn::uniform(15, 2104, 1080, 9),
                Lpn::uniform(19, 1280, 640, 13),
            ),
        };
        Params {
            first,
            main,
            security,
        }
    }

    /// Parameters that anybody can break, for tests that have to be quick.
    pub const fn danger_tiny(security: Security) -> Params {
        Params {
            first: Lpn::regular(6, 24, 5),
            main: Lpn::regular(9, 16, 7),
            security,
        }
    }

    /// As [`danger_tiny`](Params::danger_tiny), with errors at any places.
    pub const fn danger_tiny_uniform(security: Security) -> Params {
        Params {
            first: Lpn::uniform(6, 40, 32, 5),
            main: Lpn::uniform(9, 14, 16, 7),
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

    /// Bits of the statistical security that the check of an iteration leaves against a sender that
    /// deviates: wrong rows pass with probability at most `sqrt(n / 2^128)`, for `n` rows (module
    /// `check`). None where there is no check.
    pub const fn proved_bits(&self) -> Option<u32> {
        let rows = self.main.rows().next_power_of_two().trailing_zeros();
        match self.security {
            Security::SemiHonest => None,
            Security::Malicious => Some((128 - rows) / 2),
        }
    }

    /// Most leaves of a batch of trees.
    pub(super) fn leaves(&self) -> usize {
        self.first.batch_leaves().max(self.main.batch_leaves())
    }

    /// Most levels of a tree.
    pub(super) fn depth(&self) -> usize {
        self.first.depth.max(self.main.depth)
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

    /// # Panics
    /// If OTs with this security do not do as a source.
    pub(super) fn check_source(&self, source: Security) {
        let sound = self.security == Security::SemiHonest || source == Security::Malicious;
        assert!(
            sound,
            "a source for malicious Ferret is secure against corrupt parties as well"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ferret::cost::path_bytes;

    #[test]
    fn iterations_feed_each_other_and_fill_blocks_of_bits() {
        for security in [Security::SemiHonest, Security::Malicious] {
            let tiny = [
                Params::danger_tiny(security),
                Params::danger_tiny_uniform(security),
            ];
            let sets = Set::ALL.map(|set| Params::of(set, security));
            for params in sets.into_iter().chain(tiny) {
                assert!(params.first.rows() >= params.taken(&params.main));
                for lpn in [params.first, params.main] {
                    assert_eq!(lpn.trees_of_table() % TREES, 0);
                    assert_eq!(lpn.rows() % lpn.batch_leaves(), 0);
                    assert_eq!(lpn.batch_leaves() % 128, 0);
                    assert!(lpn.depth >= 2 && params.given() > 0);
                    // Three tables are filled without a draw that fails up to nine tenths.
                    assert!(lpn.noise == Noise::Regular || 10 * lpn.errors < 8 * lpn.trees);
                }
            }
        }
    }

    /// At most 0.7 bits an OT, but for the set that trades them for speed.
    #[test]
    fn bits_of_an_ot_are_few() {
        for (set, most) in [
            (Set::Compact, 0.44),
            (Set::Quick, 0.74),
            (Set::Uniform, 0.7),
        ] {
            for security in [Security::SemiHonest, Security::Malicious] {
                let params = Params::of(set, security);
                let bytes = 16 * params.main.levels() as u64 + path_bytes(&params.main) + 144;
                let bits = 8.0 * bytes as f64 / params.given() as f64;
                assert!(bits < most, "{set:?}: {bits}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "secure against corrupt parties as well")]
    fn a_semi_honest_source_does_not_do_for_the_malicious_form() {
        let params = Params::new(Security::Malicious);
        params.check_source(Security::Malicious);
        params.check_source(Security::SemiHonest);
    }
}
