//! Counts of the messages that each key of a list has sealed and failed to open, in all windows of
//! a call.

use sealane_aead::Counts;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The counts of each key of a call.
///
/// Keys are neither kept nor compared, but 128-bit values of SipHash under random keys. Two keys
/// whose values collide count together, with a probability below `n^2 / 2^129` for `n` keys.
pub struct Ledger {
    hashers: [RandomState; 2],
    counts: HashMap<u128, Counts>,
    /// Failures of each key before the call.
    failures: u64,
}

impl Ledger {
    /// Makes a ledger of keys that have failed to open so many messages each.
    pub fn new(failures: u64) -> Ledger {
        Ledger {
            hashers: Default::default(),
            counts: HashMap::new(),
            failures,
        }
    }

    /// Counts of a key: the same ones for equal keys.
    pub fn counts(&mut self, key: &[u8]) -> &Counts {
        let half = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            hasher.write(key);
            u128::from(hasher.finish())
        };
        let hash = half(&self.hashers[0]) << 64 | half(&self.hashers[1]);
        self.counts.entry(hash).or_insert_with(|| {
            let counts = Counts::default();
            counts.count_failures(self.failures);
            counts
        })
    }
}
