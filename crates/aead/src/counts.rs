//! Counts of the messages under one key, against its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Cipher, Error};

/// Counts of sealed blocks and failed openings under one key. New counts are zero; clones count
/// together.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Number of blocks sealed; a message may count as more.
    spent: AtomicU64,
    /// Number of messages that were not authentic. Threads that open at the same time may each
    /// exceed the limit by one.
    failed: AtomicU64,
}

impl Counts {
    /// Returns the number of sealed blocks of texts and associated data: of each, one more than its
    /// bytes fill. Where a mode limits messages, each has counted as its share of all blocks at
    /// least.
    pub fn blocks(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    /// Returns the number of messages that were not authentic.
    pub fn failures(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Adds to the number of messages that were not authentic.
    pub fn count_failures(&self, more: u64) {
        let sum = |before: u64| Some(before.saturating_add(more));
        let failed = &self.0.failed;
        let _ = failed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}

impl Cipher {
    /// Counts messages that were sealed under this key elsewhere, by another process or before a
    /// restart, towards the limits of the key, with all blocks of their texts and associated data:
    /// of each, one more than its bytes fill.
    ///
    /// # Errors
    /// [`Error::KeyWornOut`] if the key has less left; then nothing is counted.
    pub fn count_elsewhere(&self, messages: u64, blocks: u64) -> Result<(), Error> {
        Ok(self.spend(messages.saturating_mul(self.share).max(blocks))?)
    }

    /// Counts failed openings under this key elsewhere, by another process or before a restart,
    /// towards [`Suite::most_failures`](crate::Suite::most_failures). Once there are as many, the
    /// key opens nothing any more ([`Error::TooManyFailures`]).
    pub fn count_failures_elsewhere(&self, failures: u64) {
        self.counts.count_failures(failures);
    }

    /// Counts the cost of messages that are about to be sealed.
    pub(crate) fn spend(&self, more: u64) -> Result<(), Box<Error>> {
        let limits = self.suite.limits();
        // A refused message does not count, not even temporarily.
        let sum = |before: u64| before.checked_add(more).filter(|sum| *sum <= limits.blocks);
        let spent = self
            .counts
            .0
            .spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        spent.map(|_| ()).map_err(|_| {
            Box::new(Error::KeyWornOut {
                suite: self.suite,
                messages: limits.messages,
                blocks: limits.blocks,
            })
        })
    }
}
