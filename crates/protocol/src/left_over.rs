//! Correlations that refills of pools leave over, where correlations are made many at once.

use crate::cost::{Correlation, Demand};
use crate::describe::Protocol;
use crate::profile::Setting;

/// Correlations that refills made and no tile was supplied with. Planning and every party count
/// them alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOver(Demand);

impl LeftOver {
    /// Correlations that the set-up of a run with this demand makes.
    pub fn after_set_up<P: Protocol>(setting: &Setting, demand: &Demand) -> LeftOver {
        LeftOver(P::set_up_counts(setting, demand))
    }

    /// Supplies tiles with this demand: returns what a refill makes for it, which is nothing if
    /// enough is left over.
    pub fn refill<P: Protocol>(&mut self, setting: &Setting, demand: &Demand) -> Demand {
        let mut lacking = Demand::default();
        for (kind, count) in &demand.0 {
            lacking.add(*kind, count.saturating_sub(self.count(*kind)));
        }
        let made = if lacking.is_empty() {
            lacking
        } else {
            P::refill_counts(setting, &lacking)
        };
        self.0.merge(&made, 1);
        for (kind, count) in &demand.0 {
            let left = self.0.0.remove(kind).unwrap_or(0);
            assert!(left >= *count, "a refill of less than is lacking");
            self.0.add(*kind, left - count);
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
        let mut refills = Refills::default();
        // What is left over determines all that follows, so it comes back in the end. It is
        // compared with an earlier state, and that one replaced after twice as many refills each
        // time (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980).
        let (mut then, mut since, mut patience) = (self.clone(), 0, 1);
        let mut cycle = 0;
        while cycle == 0 && (refills.order.len() as u64) < times {
            let made = self.refill::<P>(setting, demand);
            let known = refills.made.iter().position(|other| *other == made);
            refills.order.push(known.unwrap_or(refills.made.len()));
            if known.is_none() {
                refills.made.push(made);
            }
            refills.most.raise(&self.0);
            since += 1;
            if *self == then {
                cycle = since;
            } else if since == patience {
                (then, since, patience) = (self.clone(), 0, 2 * patience);
            }
        }
        refills.ahead = refills.order.len() - cycle;
        let (left, length) = (times - refills.ahead as u64, cycle.max(1) as u64);
        (refills.cycles, refills.rest) = (left / length, (left % length) as usize);
        for _ in 0..refills.rest {
            self.refill::<P>(setting, demand);
        }
        refills
    }
}

/// Refills that supply as many tiles each: some by themselves, then a cycle, over and over, and a
/// part of it.
#[derive(Clone, Debug, Default)]
pub struct Refills {
    made: Vec<Demand>,
    /// Those before the cycle, then the cycle, by numbers of `made`.
    order: Vec<usize>,
    /// Refills before the cycle.
    ahead: usize,
    cycles: u64,
    /// Refills of the part.
    rest: usize,
    /// The most that was left over of each kind.
    most: Demand,
}

impl Refills {
    /// Demands that refills make, in order, and how often all of them come: those before the cycle,
    /// those of the cycle, and its first ones that follow.
    pub fn series(&self) -> [(Vec<&Demand>, u64); 3] {
        let (ahead, cycle) = self.order.split_at(self.ahead);
        let parts = [(ahead, 1), (cycle, self.cycles), (&cycle[..self.rest], 1)];
        parts.map(|(part, times)| (part.iter().map(|at| &self.made[*at]).collect(), times))
    }

    /// Each different refill that makes something, and how often it comes.
    pub fn counts(&self) -> Vec<(&Demand, u64)> {
        let mut counts = self.made.iter().map(|made| (made, 0)).collect::<Vec<_>>();
        for (place, at) in self.order.iter().enumerate() {
            counts[*at].1 += match place.checked_sub(self.ahead) {
                None => 1,
                Some(place) => self.cycles + u64::from(place < self.rest),
            };
        }
        counts.retain(|(made, _)| !made.is_empty());
        counts
    }

    /// The most correlations of a kind that any of them left over.
    pub fn most_left(&self, kind: Correlation) -> u64 {
        self.most.count(kind)
    }
}
