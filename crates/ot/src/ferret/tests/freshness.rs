//! Nothing that hides a secret serves twice.

use std::collections::HashSet;

use sealane_block::Block;
use sealane_block::silent::trees::TREES;

use super::support::*;
use crate::Security;
use crate::ferret::run::Batch;

/// Iterations after the first.
const ITERATIONS: usize = 6;

/// Values of one party in all iterations.
#[derive(Default)]
struct Seen {
    /// Correlations that mask messages of trees and checks.
    masks: Vec<u128>,
    /// Of each batch an output of its hash under a key of its own, at one input.
    keys: Vec<u128>,
    /// Of each batch the choices of its paths.
    paths: Vec<Vec<u8>>,
}

impl Hooks for Seen {
    fn levels(&mut self, levels: &mut [Block], batch: Batch<'_>) {
        self.masks.extend(levels.iter().map(|mask| mask.value()));
        self.paths
            .push(levels.iter().map(|mask| mask.lsb()).collect());
        let mut rows = [Block::new(12345); 2 * TREES];
        batch.hash.expand(&mut rows);
        self.keys.push(rows[0].value());
    }

    fn rows(&mut self, _: &mut [Block], masks: &[Block]) {
        self.masks.extend(masks.iter().map(|mask| mask.value()));
    }
}

#[test]
fn masks_keys_and_places_of_errors_are_new_in_each_iteration() {
    for params in tiny(Security::Malicious) {
        let count = ITERATIONS * params.given();
        let hooks = (Seen::default(), Seen::default());
        let (sender, receiver) = hooked(params, 3, count, hooks);
        let seen = [sender, receiver].map(|seen| seen.expect("honest parties"));
        let main = params.main();
        let batches = params.first().batches() + ITERATIONS * main.batches();
        for seen in &seen {
            for (values, expected) in [
                (&seen.keys, batches),
                (
                    &seen.masks,
                    params.first().levels() + ITERATIONS * main.levels() + 128 * (ITERATIONS + 1),
                ),
            ] {
                assert_eq!(values.len(), expected);
                assert_eq!(values.iter().collect::<HashSet<_>>().len(), expected);
            }
        }
        // Both parties have the same keys. The places of errors are the choices of the receiver.
        assert_eq!(seen[0].keys, seen[1].keys);
        let mains = &seen[1].paths[params.first().batches()..];
        let paths: HashSet<_> = mains.chunks(main.batches()).collect();
        assert_eq!(paths.len(), ITERATIONS);
    }
}
