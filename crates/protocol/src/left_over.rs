//! Correlations that refills of pools leave over, where correlations are made many at once.

use crate::cost::{Correlation, Demand};
use crate::describe::Protocol;
use crate::profile::Setting;

/// Correlations that refills made and no tile was supplied with. Planning and every party count
/// them alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOver(Demand);

impl LeftOver {
    /// Supplies tiles with this demand: returns what a refill makes for it, which is nothing if
    /// enough is left over.
    pub fn refill<P: Protocol>(&mut self, setting: &Setting, demand: &Demand) -> Demand {
        let mut made = Demand::default();
        for (kind, count) in &demand.0 {
            let left = self.count(*kind);
            let unit = P::refill_unit(setting, *kind);
            let more = count.saturating_sub(left).next_multiple_of(unit);
            made.add(*kind, more);
            self.0.0.remove(kind);
            self.0.add(*kind, left + more - count);
        }
        made
    }

    /// Number of correlations of a kind that are left over.
    pub fn count(&self, kind: Correlation) -> u64 {
        self.0.count(kind)
    }

    /// Supplies groups of tiles, `times` over, each with the same demand.
    pub fn refills<P: Protocol>(
        &mut self,
        setting: &Setting,
        demand: &Demand,
        times: u64,
    ) -> Refills {
        let start = self.clone();
        let mut refills = Refills::default();
        // What is left over of a kind goes down by the demand, modulo the unit, so it comes back.
        while (refills.order.len() as u64) < times {
            let made = self.refill::<P>(setting, demand);
            let known = refills.made.iter().position(|other| *other == made);
            refills.order.push(known.unwrap_or(refills.made.len()));
            if known.is_none() {
                refills.made.push(made);
            }
            if *self == start {
                break;
            }
        }
        let length = (refills.order.len() as u64).max(1);
        (refills.cycles, refills.rest) = (times / length, (times % length) as usize);
        for _ in 0..refills.rest {
            self.refill::<P>(setting, demand);
        }
        refills
    }
}

/// Refills that supply as many tiles each: a cycle, over and over, and a part of it.
#[derive(Clone, Debug, Default)]
pub struct Refills {
    made: Vec<Demand>,
    /// The cycle, by numbers of `made`.
    order: Vec<usize>,
    cycles: u64,
    /// Refills of the part.
    rest: usize,
}

impl Refills {
    /// Demands that the refills of the cycle make, how often the cycle comes, and how many of its
    /// first refills follow.
    pub fn cycle(&self) -> (impl ExactSizeIterator<Item = &Demand>, u64, usize) {
        let made = self.order.iter().map(|at| &self.made[*at]);
        (made, self.cycles, self.rest)
    }

    /// Each different refill that makes something, and how often it comes.
    pub fn counts(&self) -> Vec<(&Demand, u64)> {
        let mut counts = self.made.iter().map(|made| (made, 0)).collect::<Vec<_>>();
        for (place, at) in self.order.iter().enumerate() {
            counts[*at].1 += self.cycles + u64::from(place < self.rest);
        }
        counts.retain(|(made, _)| !made.is_empty());
        counts
    }
}
