//! The longest chain of rounds of an assignment, for clocks of two parties.
//!
//! A chain leads through units and the values between them. In a walk over more tiles than are in
//! flight it can take some steps once for each group of these, from the end of one tile to the
//! begin of another; or all combinations of tiles, which wait for each other.

use super::problem::{Flows, Leads, Problem, Walk};

/// Predecessor of a unit in a chain, for one of the clocks that it begins with.
#[derive(Clone, Copy)]
enum Before {
    /// The begin of the walk, or of the run.
    Start,
    /// A value: the number of the read, the unit that makes it, and its clock.
    Read(usize, usize, usize),
    /// Groups of tiles of the same walk.
    Groups,
}

/// Clocks of a unit: when it begins, and when it ends.
#[derive(Clone, Copy)]
struct Clocks {
    begins: [(f64, Before); 2],
    /// With the clock at its begin, and the number of its leads.
    ends: [(f64, usize, usize); 2],
}

/// The last unit of a chain through a tile, which groups of tiles repeat.
struct Group {
    clocks: Vec<Clocks>,
    begin: usize,
    last: (usize, usize),
    /// Clocks when it first begins and after all repetitions.
    from: (f64, Before),
    after: f64,
}

const NEVER: (f64, Before) = (f64::NEG_INFINITY, Before::Start);

/// Number of the leads of combinations of tiles.
const CARRIES: usize = 2;

struct Chains<'a> {
    problem: &'a Problem,
    leads: &'a Leads,
    /// For each unit its reads: their numbers and the units that make the values.
    before: Vec<Vec<(usize, usize)>>,
    clocks: Vec<Clocks>,
    groups: Vec<Option<Group>>,
}

/// The rounds of an assignment with these leads, or of several on average, and the path through its
/// steps that has so many.
pub(super) fn longest(problem: &Problem, leads: &Leads) -> (f64, Flows) {
    let mut before = vec![Vec::new(); problem.units.len()];
    let reads = problem.values.iter().flat_map(|value| {
        let readers = value.reads.iter().map(|(reader, _)| *reader);
        readers.map(|reader| (value.maker, reader))
    });
    for (number, (maker, reader)) in reads.enumerate() {
        if let Some(reader) = reader {
            before[reader].push((number, maker));
        }
    }
    let mut chains = Chains {
        problem,
        leads,
        before,
        clocks: Vec::new(),
        groups: Vec::new(),
    };
    for walk in &problem.walks {
        let group = chains.group(walk);
        chains.groups.push(group);
        chains.walk(walk);
    }
    chains.path()
}

impl Chains<'_> {
    /// The latest clocks with which a unit can begin, by the values whose makers `clocks` knows.
    fn begins<'c>(
        &self,
        unit: usize,
        mut latest: [(f64, Before); 2],
        clocks: impl Fn(usize) -> Option<&'c Clocks>,
    ) -> [(f64, Before); 2] {
        for (read, maker) in &self.before[unit] {
            let Some(clocks) = clocks(*maker) else {
                continue;
            };
            for (from, (end, ..)) in clocks.ends.iter().enumerate() {
                for to in [0, 1] {
                    let clock = end + self.leads.reads[*read][from][to];
                    if clock > latest[to].0 {
                        latest[to] = (clock, Before::Read(*read, *maker, from));
                    }
                }
            }
        }
        latest
    }

    /// The clocks with which a unit ends that begins with these.
    fn ends(&self, unit: usize, at: usize, begins: [(f64, Before); 2]) -> Clocks {
        let lead = &self.leads.units[unit][at];
        let end = |to: usize| {
            let [one, other] = [0, 1].map(|from| begins[from].0 + lead[from][to]);
            if one >= other {
                (one, 0, at)
            } else {
                (other, 1, at)
            }
        };
        let ends = [end(0), end(1)];
        Clocks { begins, ends }
    }

    /// The begin of a run.
    fn start(&self) -> [(f64, Before); 2] {
        self.problem.start.map(|clock| (clock, Before::Start))
    }

    /// The longest chain that the groups of tiles of a walk repeat; none if there is one group.
    fn group(&self, walk: &Walk) -> Option<Group> {
        let times = repetitions(walk);
        if times == 0 {
            return None;
        }
        let mut best: Option<Group> = None;
        for begin in [0, 1] {
            let mut start = [NEVER; 2];
            start[begin].0 = 0.0;
            let mut clocks = Vec::<Clocks>::new();
            for unit in walk.units.clone() {
                let of = |maker: usize| clocks.get(maker.checked_sub(walk.units.start)?);
                let begins = self.begins(unit, start, of);
                clocks.push(self.ends(unit, 0, begins));
            }
            let all = clocks.iter().enumerate();
            let all = all
                .flat_map(|(at, of)| [0, 1].map(|to| (of.ends[to].0 - away(begin, to), (at, to))));
            let Some((rounds, last)) = all.max_by(|a, b| a.0.total_cmp(&b.0)) else {
                continue;
            };
            let mut first = last;
            loop {
                let clocks = &clocks[first.0];
                match clocks.begins[clocks.ends[first.1].1].1 {
                    Before::Read(_, maker, from) => first = (maker - walk.units.start, from),
                    _ => break,
                }
            }
            let first = first.0 + walk.units.start;
            let from = self.begins(first, self.start(), |maker| self.clocks.get(maker))[begin];
            let after = from.0 + times as f64 * rounds;
            if best.as_ref().is_none_or(|best| after > best.after) {
                let group = Group {
                    clocks,
                    begin,
                    last,
                    from,
                    after,
                };
                best = Some(group);
            }
        }
        best
    }

    /// Clocks of the units of a walk in its last tile.
    fn walk(&mut self, walk: &Walk) {
        let group = self.groups.last().and_then(Option::as_ref);
        let mut start = self.start();
        if let Some(group) = group {
            for (to, start) in start.iter_mut().enumerate() {
                let clock = group.after - away(group.begin, to);
                if clock > start.0 {
                    *start = (clock, Before::Groups);
                }
            }
        }
        let last = usize::from(walk.tiles.rest);
        for unit in walk.units.clone() {
            let begins = self.begins(unit, start, |maker| self.clocks.get(maker));
            let mut clocks = self.ends(unit, last, begins);
            if self.problem.units[unit].options[0].carries.is_some() {
                let outside = |maker: usize| {
                    let clocks = self.clocks.get(maker);
                    clocks.filter(|_| !walk.units.contains(&maker))
                };
                let begins = self.begins(unit, self.start(), outside);
                let carried = self.ends(unit, CARRIES, begins);
                // All combinations wait for each other.
                let rounds = |of: &Clocks| of.ends[0].0.max(of.ends[1].0);
                if rounds(&carried) > rounds(&clocks) {
                    clocks = carried;
                }
            }
            self.clocks.push(clocks);
        }
    }

    /// The longest chain of all, up to the reveal.
    fn path(&self) -> (f64, Flows) {
        let problem = self.problem;
        let mut flows = Flows {
            fixed: 0.0,
            taken: Leads {
                units: vec![Default::default(); problem.units.len()],
                reads: vec![Default::default(); self.leads.reads.len()],
            },
        };
        let ends = self.clocks.iter().enumerate();
        let ends = ends.flat_map(|(unit, of)| {
            [0, 1].map(|to| (of.ends[to].0 + problem.reveal[to], (unit, to)))
        });
        let start = [0, 1].map(|to| problem.start[to] + problem.reveal[to]);
        let Some((rounds, (mut unit, mut to))) = ends.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            flows.fixed = start[0].max(start[1]);
            return (flows.fixed, flows);
        };
        flows.fixed += problem.reveal[to];
        loop {
            let clocks = &self.clocks[unit];
            let (_, from, at) = clocks.ends[to];
            flows.taken.units[unit][at][from][to] += 1.0;
            let mut before = clocks.begins[from];
            if let Before::Groups = before.1 {
                before = self.repeat(unit, from, &mut flows);
                if let Before::Read(read, _, end) = before.1 {
                    let begin = self.group_of(unit).map_or(0, |(_, group)| group.begin);
                    flows.taken.reads[read][end][begin] += 1.0;
                }
            } else if let Before::Read(read, _, end) = before.1 {
                flows.taken.reads[read][end][from] += 1.0;
            }
            match before.1 {
                Before::Read(_, maker, end) => (unit, to) = (maker, end),
                _ => {
                    flows.fixed += before.0;
                    return (rounds, flows);
                }
            }
        }
    }

    fn group_of(&self, unit: usize) -> Option<(&Walk, &Group)> {
        let mut walks = self.problem.walks.iter().zip(&self.groups);
        let (walk, group) = walks.find(|(walk, _)| walk.units.contains(&unit))?;
        Some((walk, group.as_ref()?))
    }

    /// Adds the repetitions that a unit follows with this clock; returns what stands before them.
    fn repeat(&self, unit: usize, clock: usize, flows: &mut Flows) -> (f64, Before) {
        let Some((walk, group)) = self.group_of(unit) else {
            return NEVER;
        };
        let times = repetitions(walk) as f64;
        let (mut at, mut to) = group.last;
        flows.fixed -= times * away(group.begin, to) + away(group.begin, clock);
        loop {
            let clocks = &group.clocks[at];
            let (_, from, kind) = clocks.ends[to];
            flows.taken.units[at + walk.units.start][kind][from][to] += times;
            match clocks.begins[from].1 {
                Before::Read(read, maker, end) => {
                    flows.taken.reads[read][end][from] += times;
                    (at, to) = (maker - walk.units.start, end);
                }
                _ => return group.from,
            }
        }
    }
}

/// Groups of full tiles of a walk before its last tile.
fn repetitions(walk: &Walk) -> u64 {
    let last = u64::from(!walk.tiles.rest);
    walk.tiles.loops.saturating_sub(last)
}

/// Rounds by which one clock may be behind another.
fn away(one: usize, other: usize) -> f64 {
    if one == other { 0.0 } else { 1.0 }
}
