//! The distance of a plan from the best of all assignments of domains to its units, and fast
//! assignments for plans that are too large to try single ones.
//!
//! Where assignments are few all are tried. Elsewhere a bound from below stands for the best one.
//! The estimated time of an assignment is the latency of its rounds and the load of its busiest
//! resource: a maximum over all chains of steps and all resources. So an adversary who weights
//! chains and resources before he sees the assignment gets no more than one who answers it, and
//! what he gets at least is a sum over steps and conversions, which a cut minimises (`cut.rs`). He
//! plays against the minimiser: each answers the average of what the other has played so far
//! (Brown, "Iterative solution of games by fictitious play", 1951), he with the longest chain and
//! the busiest resource. The largest of all minima is the bound, and the fastest of all minimisers
//! an assignment that a plan may take.
//!
//! Numbers are floating point: sums, products and comparisons in an order that is the same
//! everywhere, which every machine rounds alike. All parties find the same assignments.

mod cut;
mod model;
mod paths;
mod prices;
mod problem;

use crate::forms::settled;
use crate::pipeline::{Drafted, Made, TRIED_STEPS};
use crate::silent;
use crate::steps::Plan;
use crate::variants::Variants;
use problem::{Flows, Leads, Load, Problem, Weights, mix};
use sealane_diagnostic::Diagnostic;
use sealane_protocol::{Protocol, Setting};

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

/// Most answers of the adversary: for a bound, and for a plan, which needs fewer.
const TURNS: usize = 200;
const FEW_TURNS: usize = 64;
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
        if !plays::<P>(&self.plan.setting) {
            return Ok(None);
        }
        let free = self.assignments().free(&[]);
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
        let mut all = self.assignments();
        for (plans, exact) in all.between::<P>(fixed)? {
            if exact {
                least = seconds::<P>(&plans[0], rows, alone_ns).min(least);
                continue;
            }
            for problem in all.problems::<P>(&plans, rows, alone_ns) {
                let enough = least.min(wanted / (1.0 + NEAR));
                least = play(&problem, all.sides(&problem), (enough, TURNS))
                    .least_s
                    .min(least);
            }
        }
        Ok(least)
    }

    fn assignments(&mut self) -> Assignments<'_> {
        Assignments {
            drafted: &self.drafted,
            made: &mut self.made,
            plan: self.plan,
            most_rows: self.most_rows,
        }
    }
}

/// Returns whether the assignments of a plan with this setting are a game.
pub(crate) fn plays<P: Protocol>(setting: &Setting) -> bool {
    let profile = P::profile();
    let two = setting.roles.len() == 2 && setting.roles.iter().all(|role| role.len() == 1);
    two && P::tape_domains().len() == 2 && !profile.offline && !profile.settles
}

/// All assignments of domains to the units of a plan.
pub(crate) struct Assignments<'a> {
    pub drafted: &'a Drafted,
    pub made: &'a mut Made,
    pub plan: &'a Plan,
    pub most_rows: u64,
}

impl Assignments<'_> {
    /// Fast ones at some numbers of rows, as numbers of domains: the fastest that each game comes
    /// upon, by the sums of its costs.
    ///
    /// # Errors
    /// The errors of [`plan()`](crate::plan()).
    pub fn fast<P: Protocol>(&mut self, rows: &[u64]) -> Result<Vec<Vec<Option<u8>>>, Diagnostic> {
        let (mut found, free) = (Vec::new(), self.free(&[]));
        for (plans, exact) in self.between::<P>(&[])? {
            for mut problem in self.problems::<P>(&plans, rows, 0) {
                if exact {
                    continue;
                }
                // Plans are those of rounds of steps alone.
                (problem.banked.iter_mut()).for_each(|banked| banked.rounds = 0.0);
                let second = play(&problem, self.sides(&problem), (f64::MAX, FEW_TURNS)).second;
                let mut taken = self.plan.taken.clone();
                for at in &free {
                    let node = problem.units[*at].node;
                    taken[*at] = node.map(|node| second[node].into());
                }
                found.push(taken);
            }
        }
        Ok(found)
    }

    /// The problems between two plans: with transfers of an extension of base OTs, and of a silent
    /// one.
    fn problems<P: Protocol>(
        &self,
        plans: &[Plan; 2],
        rows: &[u64],
        alone_ns: u64,
    ) -> Vec<Problem> {
        let units = self.drafted.units(self.plan.lookups, self.plan.choice);
        let problem = |plans: [&Plan; 2]| model::problem::<P>(units, plans, rows, alone_ns);
        let mut problems = vec![problem(plans.each_ref())];
        if silent::can::<P>(&self.plan.setting) {
            let silent = plans.each_ref().map(silent::silent::<P>);
            problems.push(problem(silent.each_ref()));
        }
        problems
    }

    /// The sides of all nodes of a problem in the plan itself.
    fn sides(&self, problem: &Problem) -> Vec<bool> {
        let mut second = vec![false; problem.nodes];
        second[cut::SECOND] = true;
        for (unit, taken) in problem.units.iter().zip(&self.plan.taken) {
            if let Some(node) = unit.node.filter(|node| *node > cut::SECOND) {
                second[node] = *taken == Some(1);
            }
        }
        second
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
                (self.drafted).in_tiles::<P>(self.plan, tiles, choice, self.made)
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

/// Outcome of a game.
struct Played {
    /// Seconds that no assignment of a problem is faster than.
    least_s: f64,
    /// The fastest assignment that was found.
    second: Vec<bool>,
}

/// Plays from an assignment on, until no assignment is faster than `enough` or this is close to the
/// most that can be said, for so many turns at most.
fn play(problem: &Problem, first: Vec<bool>, (enough, turns): (f64, usize)) -> Played {
    let mut all = Taken::by(problem, &first, &problem.even());
    let (mut fastest, mut weights) = all.answer(problem);
    let mut played = Played {
        least_s: 0.0,
        second: first,
    };
    for turn in 0..(NODES / problem.nodes.max(1)).clamp(10, turns) {
        let (least, second) = problem.least(&weights);
        played.least_s = played.least_s.max(least);
        let taken = Taken::by(problem, &second, &weights);
        let (time, _) = taken.answer(problem);
        if time < fastest {
            (fastest, played.second) = (time, second);
        }
        let part = 2.0 / (turn + 3) as f64;
        all.mix(&taken, part);
        let (_, other) = all.answer(problem);
        let least = played.least_s;
        if least >= enough || least * (1.0 + NEAR / 10.0) >= fastest {
            break;
        }
        weights.mix(&other, part);
    }
    played
}

/// Load and leads of assignments, on average.
struct Taken {
    /// Seconds on each resource, and counts.
    load: Load,
    leads: Leads,
}

impl Taken {
    fn by(problem: &Problem, second: &[bool], weights: &Weights) -> Taken {
        let (load, leads) = problem.taken(second, weights);
        Taken { load, leads }
    }

    fn mix(&mut self, other: &Taken, part: f64) {
        mix(&mut self.load, &other.load, part);
        self.leads.mix(&other.leads, part);
    }

    /// The time, and the weights under which it is that: those of the longest chain, and of the
    /// busiest resource.
    fn answer(&self, problem: &Problem) -> (f64, Weights) {
        let (seconds, counts) = self.load.split_at(problem.resources);
        let mut seconds = seconds.to_vec();
        let over = || problem.banked.iter().zip(counts).enumerate();
        for (_, (banked, over)) in over() {
            let each = seconds.iter_mut().zip(&banked.seconds);
            each.for_each(|(sum, each)| *sum += over.max(0.0) * each);
        }
        let busiest = (0..problem.resources).max_by(|a, b| seconds[*a].total_cmp(&seconds[*b]));
        let busiest = busiest.unwrap_or(0);
        let mut loads = vec![0.0; self.load.len()];
        loads[busiest] = 1.0;
        for (at, (banked, over)) in over() {
            if *over > 0.0 {
                loads[problem.resources + at] = banked.seconds[busiest];
            }
        }
        let (mut rounds, flows) = paths::longest(problem, &self.leads);
        let refills = over().map(|(at, (banked, over))| (at, over.max(0.0) * banked.rounds));
        if let Some((at, more)) = refills.max_by(|a, b| a.1.total_cmp(&b.1))
            && more > 0.0
        {
            rounds += more;
            loads[problem.resources + at] += problem.latency * problem.banked[at].rounds;
        }
        let time = problem.latency * rounds + seconds[busiest];
        (time, Weights { flows, loads })
    }
}

impl Weights {
    fn mix(&mut self, other: &Weights, part: f64) {
        let Flows { fixed, taken } = &mut self.flows;
        mix([fixed], [&other.flows.fixed], part);
        taken.mix(&other.flows.taken, part);
        mix(&mut self.loads, &other.loads, part);
    }
}
