//! Division of the payload of a run into parts, for a protocol that states them.

use super::clock::Payload;
use super::parts::{Divided, entry};
use super::tally::Tally;
use super::walk::Counts;
use sealane_parties::PartyId;
use sealane_protocol::{Algebra, Batch, Correlation, Timing};
use std::collections::BTreeMap;

/// Payload bytes by sender and receiver.
pub type BytesByLink = BTreeMap<(PartyId, PartyId), u64>;

/// Payload of a run by parts, and the batches in which its products are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// Parts in the order of a run, each with its payload bytes: all of the run. Empty for a
    /// protocol that states none.
    pub parts: Vec<(&'static str, BytesByLink)>,
    /// Batches of products, each with how often there is one like it.
    pub batches: Vec<(Batch, u64)>,
    /// Products that are made and that no step takes.
    pub left_over: u64,
}

/// The division of a run. What of the preparation is no refill is its set-up.
pub(super) fn of(counts: &Counts, timing: Timing) -> Division {
    let mut all = Divided::default();
    let mut refills = Payload::default();
    for (_, payload) in &counts.prepare.divided.parts {
        refills.merge(payload, 1);
    }
    let set_up = counts.prepare.payload.without(&refills);
    entry(&mut all.parts, "set-up").merge(&set_up, 1);
    all.merge(&counts.prepare.divided);
    let steps = || counts.steps.iter().flat_map(|steps| steps.iter());
    for walk in timing.walks() {
        let of_walk = steps().chain([&counts.reveal]);
        of_walk.for_each(|both: &[Tally; 2]| all.merge(&both[walk.index()].divided));
    }
    if all.parts.len() == 1 {
        // No part but the set-up, which is stated nowhere.
        return Division::default();
    }
    let made = all.batches.iter();
    let made = made.map(|(batch, times)| batch.products * times);
    let taken = counts.demand.count(Correlation::Triple {
        algebra: Algebra::Z2,
    });
    Division {
        left_over: made.sum::<u64>().saturating_sub(taken),
        parts: all
            .parts
            .into_iter()
            .map(|(part, of)| (part, of.0))
            .collect(),
        batches: all.batches,
    }
}
