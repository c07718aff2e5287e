//! The distance of a plan from the best of all assignments of domains to its units.
//!
//! Where these are few all are tried. Elsewhere a bound from below stands for the best one. The
//! estimated time of an assignment is the latency of its rounds and the load of its busiest
//! resource: a maximum over all chains of steps and all resources. So an adversary who weights
//! chains and resources before he sees the assignment gets no more than one who answers it, and
//! what he gets at least is a sum over steps and conversions, which a cut minimises (`cut.rs`). He
//! plays against the minimiser, and answers each assignment with its longest chain and its busiest
//! resource; his weights are the average of all answers (Brown, "Iterative solution of games by
//! fictitious play", 1951), and the largest of all minima is the bound.
//!
//! The bound decides nothing: plans do not depend on it, so that its numbers may be floating point.

mod cut;
mod model;
mod paths;
mod prices;
mod problem;

use crate::forms::settled;
use crate::pipeline::TRIED_STEPS;
use crate::silent;
use crate::steps::Plan;
use crate::variants::Variants;
use problem::{Flows, Problem, Weights};
use sealane_diagnostic::Diagnostic;
use sealane_protocol::Protocol;

/// The distance of a plan from the best of all assignments of domains to its units of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Estimated seconds of the plan.
    pub run_s: f64,
    /// Seconds that no assignment is faster than.
    pub least_s: f64,
    /// Number of the assignments, if all have been tried: the best of them takes those seconds.
    pub tried: Option<u64>,
}

impl Gap {
    /// By how much the plan takes longer, at most, as a part of the time of the best assignment.
    pub fn above(&self) -> f64 {
        (self.run_s / self.least_s - 1.0).max(0.0)
    }
}

/// Most answers of the adversary.
const TURNS: usize = 200;
/// Most nodes of all cuts of a game together: a large program has fewer turns, and its bound says
/// less, so that nobody waits for it.
const NODES: usize = 400_000;
/// The gap from which on no smaller one is looked for.
const NEAR: f64 = 0.01;

impl Variants<'_> {
    /// The gap of the plan at some numbers of rows, where each party computes alone for so many
    /// nanoseconds before. None if no unit has a choice, or of a protocol that does not have two
    /// roles of one and two domains of tapes.
    ///
    /// # Errors
    /// The errors of [`plan()`](crate::plan()).
    ///
    /// # Panics
    /// As [`cost`](fn@crate::cost::cost).
    pub fn gap<P: Protocol>(
        &mut self,
        rows: &[u64],
        alone_ns: u64,
    ) -> Result<Option<Gap>, Diagnostic> {
        let (profile, roles) = (P::profile(), &self.plan.setting.roles);
        let two = roles.len() == 2 && roles.iter().all(|role| role.len() == 1);
        if P::tape_domains().len() != 2 || profile.offline || profile.settles || !two {
            return Ok(None);
        }
        let free = self.free(&[]);
        if free.is_empty() {
            return Ok(None);
        }
        let seconds = |plan: &Plan| seconds::<P>(plan, rows, alone_ns);
        let run_s = seconds(self.plan);
        let steps = self.plan.segments.iter().map(|segment| segment.steps.len());
        let tries = TRIED_STEPS / steps.sum::<usize>().max(1);
        let all = u32::try_from(free.len()).ok();
        let all = all.and_then(|free| 2usize.checked_pow(free));
        let Some(all) = all.filter(|all| *all <= tries) else {
            let least_s = self.bound::<P>(&[], (rows, alone_ns), run_s)?;
            return Ok(Some(Gap {
                run_s,
                least_s,
                tried: None,
            }));
        };
        let mut least_s = run_s;
        for number in 0..all {
            let changes = free.iter().zip(0..);
            let changes = changes.map(|(unit, at)| (*unit, (number >> at & 1) as u8));
            let plan = self.with::<P>(&changes.collect::<Vec<_>>())?;
            least_s = seconds(&plan).min(least_s);
        }
        Ok(Some(Gap {
            run_s,
            least_s,
            tried: Some(all as u64),
        }))
    }

    /// Seconds that no assignment is faster than that gives some units the domains of these
    /// numbers: close to the most that can be said, or to `wanted`.
    ///
    /// # Errors
    /// The errors of [`plan()`](crate::plan()).
    ///
    /// # Panics
    /// As [`cost`](fn@crate::cost::cost), or for a protocol that [`Variants::gap`] has none of.
    pub fn bound<P: Protocol>(
        &mut self,
        fixed: &[(usize, u8)],
        (rows, alone_ns): (&[u64], u64),
        wanted: f64,
    ) -> Result<f64, Diagnostic> {
        let mut least = wanted;
        for (plans, exact) in self.between::<P>(fixed)? {
            if exact {
                least = seconds::<P>(&plans[0], rows, alone_ns).min(least);
                continue;
            }
            let units = self.drafted.units(self.plan.lookups, self.plan.choice);
            let problem = |plans: [&Plan; 2]| model::problem::<P>(units, plans, rows, alone_ns);
            let enough = |least: f64| least.min(wanted / (1.0 + NEAR));
            least = play(&problem([&plans[0], &plans[1]]), enough(least)).min(least);
            if silent::can::<P>(&self.plan.setting) {
                let silent = plans.map(|plan| silent::silent::<P>(&plan));
                least = play(&problem([&silent[0], &silent[1]]), enough(least)).min(least);
            }
        }
        Ok(least)
    }

    /// Units that have a choice beside some whose domain is given.
    fn free(&self, fixed: &[(usize, u8)]) -> Vec<usize> {
        let units = self.drafted.units(self.plan.lookups, self.plan.choice);
        let units = self.plan.taken.iter().zip(&units.pinned).enumerate();
        let free = units.filter(|(at, (taken, pinned))| {
            let given = fixed.iter().any(|(unit, _)| unit == at);
            taken.is_some() && pinned.is_none() && !given
        });
        free.map(|(at, _)| at).collect()
    }

    /// Pairs of plans between which all assignments lie, each between the plans of some pair, and
    /// whether nothing but the first one does. Those with rows in the second domain have smaller
    /// tiles.
    fn between<P: Protocol>(
        &mut self,
        fixed: &[(usize, u8)],
    ) -> Result<Vec<([Plan; 2], bool)>, Diagnostic> {
        let draft = &self
            .drafted
            .units(self.plan.lookups, self.plan.choice)
            .draft;
        let by_rows = |at: usize| {
            let work = &draft.units[at].work;
            let values = work.reads().into_iter().chain(work.writes());
            values
                .into_iter()
                .any(|value| draft.tensor(value).rows.is_some())
        };
        let free = self.free(fixed);
        let (walk, once) = free.iter().partition::<Vec<usize>, _>(|at| by_rows(**at));
        let mut given = self.plan.taken.clone();
        fixed
            .iter()
            .for_each(|(unit, domain)| given[*unit] = Some(*domain));
        // A unit by rows whose domain is given decides for all.
        let second = given.iter().enumerate();
        let mut second = second.filter(|(at, taken)| !free.contains(at) && **taken == Some(1));
        let wide = second.any(|(at, _)| by_rows(at));
        let mut pairs = Vec::new();
        for is_wide in [false, true] {
            if is_wide && !wide && walk.is_empty() || wide && !is_wide {
                continue;
            }
            let movable = if is_wide { &free } else { &once };
            let mut plan = |side: u8| {
                let mut taken = given.clone();
                for at in &free {
                    taken[*at] = Some(if movable.contains(at) { side } else { 0 });
                }
                let choice = (self.plan.choice, &taken[..]);
                let tiles = (self.most_rows, is_wide);
                (self.drafted).in_tiles::<P>(self.plan, tiles, choice, &mut self.made)
            };
            let plans = [plan(0)?, plan(1)?];
            pairs.push((plans, !is_wide && movable.is_empty() && !free.is_empty()));
        }
        Ok(pairs)
    }
}

fn seconds<P: Protocol>(plan: &Plan, rows: &[u64], alone_ns: u64) -> f64 {
    let mut cost = settled::<P>(plan, rows);
    cost.compute_ns += alone_ns;
    cost.estimate_s(plan.setting.network)
}

/// Seconds that no assignment of a problem is faster than: more than `enough`, or close to the most
/// that can be said.
fn play(problem: &Problem, enough: f64) -> f64 {
    let even = vec![1.0 / problem.resources as f64; problem.constant.len()];
    let mut first = vec![false; problem.nodes];
    first[cut::SECOND] = true;
    let (mut fastest, mut weights) = answer(problem, &first, &even);
    let mut best = 0.0f64;
    for turn in 0..(NODES / problem.nodes.max(1)).clamp(10, TURNS) {
        let (least, second) = problem.least(&weights);
        best = best.max(least);
        let (time, other) = answer(problem, &second, &weights.loads);
        fastest = fastest.min(time);
        if best >= enough || best * (1.0 + NEAR / 10.0) >= fastest {
            break;
        }
        weights.mix(&other, 2.0 / (turn + 3) as f64);
    }
    best
}

/// The time of an assignment, and the weights under which it takes it: its longest chain, and its
/// busiest resource.
fn answer(problem: &Problem, second: &[bool], weights: &[f64]) -> (f64, Weights) {
    let load = problem.load(second, weights);
    let (mut seconds, counts) = (
        load[..problem.resources].to_vec(),
        &load[problem.resources..],
    );
    for (banked, over) in problem.banked.iter().zip(counts) {
        let each = seconds.iter_mut().zip(banked);
        each.for_each(|(sum, each)| *sum += over.max(0.0) * each);
    }
    let busiest = (0..problem.resources).max_by(|a, b| seconds[*a].total_cmp(&seconds[*b]));
    let busiest = busiest.unwrap_or(0);
    let mut loads = vec![0.0; load.len()];
    loads[busiest] = 1.0;
    for (at, (banked, over)) in problem.banked.iter().zip(counts).enumerate() {
        if *over > 0.0 {
            loads[problem.resources + at] = banked[busiest];
        }
    }
    let (rounds, flows) = paths::longest(problem, second, weights);
    let time = problem.latency * rounds + seconds[busiest];
    (time, Weights { flows, loads })
}

impl Weights {
    /// Moves towards other weights by a part of the way.
    fn mix(&mut self, other: &Weights, part: f64) {
        let mix = |one: &mut f64, other: &f64| *one += part * (other - *one);
        let (
            Flows {
                fixed,
                units,
                reads,
            },
            to,
        ) = (&mut self.flows, &other.flows);
        mix(fixed, &to.fixed);
        let numbers = units
            .as_flattened_mut()
            .as_flattened_mut()
            .as_flattened_mut()
            .iter_mut();
        let others = to.units.as_flattened().as_flattened().as_flattened();
        numbers.zip(others).for_each(|(one, other)| mix(one, other));
        let numbers = reads.as_flattened_mut().as_flattened_mut().iter_mut();
        let others = to.reads.as_flattened().as_flattened();
        numbers.zip(others).for_each(|(one, other)| mix(one, other));
        self.loads
            .iter_mut()
            .zip(&other.loads)
            .for_each(|(one, other)| mix(one, other));
    }
}
