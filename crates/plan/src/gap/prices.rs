//! Prices of steps in seconds on each resource, with the correlations that they take at linear
//! rates, of which refills never take less.

use super::problem::{Banked, Load, Way};
use crate::cost::works::{NO_LEAD, Work, once};
use crate::steps::Plan;
use sealane_protocol::{Correlation, Demand, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

/// Kinds of correlations.
pub(super) type Kinds = BTreeSet<Correlation>;

/// Prices of correlations in a setting.
pub(super) struct Prices<'a, P> {
    plan: &'a Plan,
    /// Kinds of which set-ups make some, with their number.
    pub banked: Vec<(Correlation, u64)>,
    rates: BTreeMap<Correlation, Load>,
    protocol: PhantomData<P>,
}

/// Number of transfers, of which other correlations are made, in refills by which rates are found.
pub(super) const TRANSFERS: u64 = 1 << 32;

impl<'a, P: Protocol> Prices<'a, P> {
    pub fn new(plan: &'a Plan, all: &Demand) -> Prices<'a, P> {
        let setting = &plan.setting;
        let made = P::set_up_counts(setting, all);
        let mut prices = Prices {
            plan,
            banked: made.0.into_iter().collect(),
            rates: BTreeMap::new(),
            protocol: PhantomData,
        };
        for kind in all
            .0
            .keys()
            .filter(|kind| P::pool_bits(setting, **kind) > 0)
        {
            let count = match kind {
                Correlation::Cot { .. } => TRANSFERS,
                Correlation::Matrix { .. } => 1,
                _ => 1 << 12,
            };
            let [one, two] = [count, 2 * count].map(|count| {
                let mut demand = all.only(|of| matches!(of, Correlation::Cot { .. }));
                demand.0.values_mut().for_each(|of| *of = TRANSFERS);
                demand.0.insert(*kind, count);
                let made = P::refill_counts(setting, &demand);
                let cost = P::refill_cost(setting, &made);
                (made.count(*kind), prices.seconds(&once(setting, &cost)))
            });
            let each = one.1.iter().zip(&two.1).map(|(one, two)| two - one);
            let rate = each
                .map(|more| more / (two.0 - one.0).max(1) as f64)
                .collect();
            prices.rates.insert(*kind, rate);
        }
        prices
    }

    pub fn resources(&self) -> usize {
        1 + self.plan.setting.parties * self.plan.setting.parties
    }

    pub fn nothing(&self) -> Load {
        vec![0.0; self.resources() + self.banked.len()]
    }

    pub fn is_banked(&self, kind: Correlation) -> bool {
        self.banked.iter().any(|(of, _)| *of == kind)
    }

    /// Seconds on each resource.
    fn seconds(&self, work: &Work) -> Load {
        let setting = &self.plan.setting;
        let mut load = self.nothing();
        load[0] = work.compute_ns as f64 / 1e9;
        for ((from, to), bytes) in &work.payload {
            let at = 1 + from.index() * setting.parties + to.index();
            load[at] = *bytes as f64 / setting.network.bytes_per_s() as f64;
        }
        load
    }

    /// The same with correlations.
    pub fn load(&self, work: &Work) -> Load {
        let mut load = self.seconds(work);
        for (kind, count) in &work.demand.0 {
            let count = *count as f64;
            if let Some(banked) = self.banked.iter().position(|(of, _)| of == kind) {
                load[self.resources() + banked] += count;
            } else if let Some(rate) = self.rates.get(kind) {
                load.iter_mut()
                    .zip(rate)
                    .for_each(|(sum, each)| *sum += count * each);
            }
        }
        load
    }

    pub fn way(&self, work: &Work) -> Way {
        Way {
            load: self.load(work),
            lead: work.leads[usize::from(work.leads[0] == NO_LEAD)],
        }
    }

    /// The kinds of which set-ups make some.
    pub fn banks(&self) -> Vec<Banked> {
        let bank = |(kind, _): &(Correlation, u64)| {
            let mut seconds = self.rates[kind].clone();
            seconds.truncate(self.resources());
            Banked {
                seconds,
                rounds: self.rounds(*kind),
            }
        };
        self.banked.iter().map(bank).collect()
    }

    /// Rounds by which refills of a kind make both clocks later, for each of its correlations.
    ///
    /// No step is under way while pools are refilled. So a chain of steps stops at one of the
    /// players, whichever it is, and goes on there when his clock is later by the rounds that a
    /// refill takes from him back to him. Where iterations make many correlations each, one after
    /// the other, those rounds are in proportion to their number.
    fn rounds(&self, kind: Correlation) -> f64 {
        let setting = &self.plan.setting;
        let [one, two] = [TRANSFERS, 2 * TRANSFERS].map(|count| {
            let mut demand = Demand::default();
            demand.add(kind, count);
            let made = P::refill_counts(setting, &demand);
            let [lead, _] = once(setting, &P::refill_cost(setting, &made)).leads;
            (made.count(kind), lead[0][0].min(lead[1][1]))
        });
        (two.1 - one.1) / (two.0 - one.0).max(1) as f64
    }

    /// Loads of set-ups beyond the least of all, each due where any of some nodes is on shares;
    /// `demands` are nodes with the kinds that they take there. For each kind what it adds to all
    /// others, and for each resource what the first of several kinds adds at least beside that.
    pub fn set_ups(
        &self,
        [least, most]: [&Demand; 2],
        alike: &Kinds,
        demands: &[(usize, Kinds)],
    ) -> Vec<(Vec<usize>, Load)> {
        let setting = &self.plan.setting;
        let load = |demand: &Demand| self.load(&once(setting, &P::set_up_cost(setting, demand)));
        let beyond = |one: &Load, other: &Load| -> Load {
            let pairs = one.iter().zip(other);
            pairs.map(|(one, other)| (one - other).max(0.0)).collect()
        };
        let (begin, end) = (load(least), load(most));
        let (mut any, mut firsts) = (Vec::new(), Vec::new());
        for kind in most.0.keys().filter(|kind| !alike.contains(*kind)) {
            let with = demands.iter().filter(|(_, kinds)| kinds.contains(kind));
            let nodes = with.map(|(node, _)| *node).collect::<Vec<_>>();
            if nodes.is_empty() {
                continue;
            }
            let mut more = least.clone();
            more.add(*kind, most.count(*kind));
            let first = beyond(&load(&more), &begin);
            let last = beyond(&end, &load(&most.only(|of| of != *kind)));
            let added = first.iter().zip(&last).map(|(one, other)| one.min(*other));
            let added = added.collect::<Load>();
            firsts.push((nodes.clone(), beyond(&first, &added)));
            any.push((nodes, added));
        }
        for at in 0..begin.len() {
            let with = firsts.iter().filter(|(_, first)| first[at] > 0.0);
            let least = with.clone().map(|(_, first)| first[at]).reduce(f64::min);
            let mut load = self.nothing();
            load[at] = least.unwrap_or(0.0);
            let nodes = with.flat_map(|(nodes, _)| nodes).collect::<BTreeSet<_>>();
            any.push((nodes.into_iter().copied().collect(), load));
        }
        any.retain(|(_, load)| load.iter().any(|of| *of > 0.0));
        any
    }
}
