//! Costs of all assignments of domains to the units of a draft, as sums that a cut minimises.
//!
//! Everything on bits is on one of two sides: the first domain of tapes, *shares*, or the second
//! one, *labels*. A value has ways to where its readers want it, each taken once.

use super::cut::{Cut, FIRST, SECOND};
use crate::cost::works::{Lead, NO_LEAD, Tiles};

/// Seconds on each resource, then counts of correlations that set-ups bank.
pub(super) type Load = Vec<f64>;

/// A correlation of a kind of which set-ups make some, where refills make it.
pub(super) struct Banked {
    /// Seconds on each resource.
    pub seconds: Load,
    /// Rounds by which it makes the clocks of both players later. Those of several kinds may be the
    /// same ones, so the kind with the most counts.
    pub rounds: f64,
}

/// A unit of work, in each domain.
pub(super) struct Unit {
    /// The node of its domain; none in a ring.
    pub node: Option<usize>,
    pub options: [Does; 2],
}

/// Load and leads of a unit in a domain.
#[derive(Clone)]
pub(super) struct Does {
    pub load: Load,
    /// Leads in a full tile, in the last tile, and of combinations of tiles.
    pub leads: [Lead; 2],
    pub carries: Option<Lead>,
}

/// A conversion.
#[derive(Clone)]
pub(super) struct Way {
    pub load: Load,
    pub lead: Lead,
}

/// Where a value is made, or wanted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// In the domain of this node.
    Node(usize),
    /// In a ring.
    Ring,
    /// In every domain, with a step of its own.
    Given,
}

/// A value that units read.
pub(super) struct Value {
    pub maker: usize,
    pub made: Place,
    /// Ways to labels, and to shares: of each kind a run takes one.
    pub to: [Vec<Way>; 2],
    /// Ways to a ring from shares, and from labels.
    pub to_ring: [Vec<Way>; 2],
    /// The way from shares to labels, for a value of a ring; none if its shares lack bits.
    pub on: Option<Way>,
    /// Units that read it, none for a result, and where they want it.
    pub reads: Vec<(Option<usize>, Place)>,
}

/// A walk over a table, or a segment that runs once: its units.
pub(super) struct Walk {
    pub tiles: Tiles,
    pub units: std::ops::Range<usize>,
}

/// All assignments of a draft.
pub(super) struct Problem {
    /// Seconds of a round.
    pub latency: f64,
    /// Number of resources: computing, and each direction of each link.
    pub resources: usize,
    /// Kinds that set-ups bank.
    pub banked: Vec<Banked>,
    /// Load of every assignment.
    pub constant: Load,
    /// Nodes, those of both sides among them.
    pub nodes: usize,
    pub units: Vec<Unit>,
    pub walks: Vec<Walk>,
    pub values: Vec<Value>,
    /// Nodes of which any on shares makes a load due.
    pub any: Vec<(Vec<usize>, Load)>,
    /// Clocks of both players when units begin, and rounds of the reveal after each of them.
    pub start: [f64; 2],
    pub reveal: [f64; 2],
}

/// A number for each entry `[from][to]` of leads: for each unit those in a full tile, in the last
/// one and of combinations; for each read of each value, in order.
#[derive(Clone, Default)]
pub(super) struct Leads {
    pub units: Vec<[Lead; 3]>,
    pub reads: Vec<Lead>,
}

/// Paths through steps, weighted: how often they take each lead.
#[derive(Clone)]
pub(super) struct Flows {
    /// Rounds that no domain changes.
    pub fixed: f64,
    pub taken: Leads,
}

/// Weights of an adversary: paths, and resources as in [`Load`].
#[derive(Clone)]
pub(super) struct Weights {
    pub flows: Flows,
    pub loads: Load,
}

pub(super) fn dot(weights: &[f64], load: &[f64]) -> f64 {
    weights
        .iter()
        .zip(load)
        .map(|(one, other)| one * other)
        .sum()
}

/// Weighted rounds of a lead.
fn rounds(flow: &Lead, lead: &Lead) -> f64 {
    dot(flow.as_flattened(), lead.as_flattened())
}

fn add(sum: &mut Load, load: &[f64], times: f64) {
    sum.iter_mut()
        .zip(load)
        .for_each(|(sum, more)| *sum += times * more);
}

impl Value {
    /// Numbers of reads that want it in a ring.
    fn in_ring(&self) -> impl Iterator<Item = usize> {
        let reads = self.reads.iter().enumerate();
        reads.filter_map(|(at, (_, wants))| (*wants == Place::Ring).then_some(at))
    }

    /// Nodes of readers, with the numbers of their reads.
    fn nodes(&self) -> impl Iterator<Item = (usize, usize)> {
        let reads = self.reads.iter().enumerate();
        reads.filter_map(|(at, (_, wants))| match wants {
            Place::Node(node) => Some((at, *node)),
            _ => None,
        })
    }

    /// Adds the costs of its conversions under some weights, those of its reads among them.
    fn cost(&self, cut: &mut Cut, weighted: &Weighted<'_>) {
        let nodes = self.nodes().map(|(_, node)| node).collect::<Vec<_>>();
        let load = |ways: &[Way]| Some(weighted.load(&weighted.cheapest(ways, &[])?.load));
        match self.made {
            Place::Node(node) => {
                for (side, ways) in [FIRST, SECOND].into_iter().zip(&self.to) {
                    cut.apart(side, node, &nodes, load(ways).unwrap_or(0.0));
                    for (at, reader) in self.nodes() {
                        cut.apart(side, node, &[reader], weighted.more(ways, at));
                    }
                }
                let reads = self.in_ring().collect::<Vec<_>>();
                if !reads.is_empty() {
                    let cost = |ways: &Vec<Way>| {
                        let way = weighted.cheapest(ways, &reads);
                        way.map_or(0.0, |way| weighted.cost(way, &reads))
                    };
                    cut.either(node, self.to_ring.each_ref().map(cost));
                }
            }
            Place::Given => {
                cut.apart(FIRST, FIRST, &nodes, load(&self.to[0]).unwrap_or(0.0));
                for (at, reader) in self.nodes() {
                    cut.either(reader, [0.0, weighted.more(&self.to[0], at)]);
                }
            }
            Place::Ring => {
                let (Some(shares), Some(mut labels)) = (load(&self.to[1]), load(&self.to[0]))
                else {
                    return;
                };
                self.of_two_ways(cut, weighted);
                // Both cost as much as shares and the way on, where that is less. What they have in
                // common is due for any reader.
                let mut common = 0.0;
                let on = self.on.as_ref().map(|on| weighted.load(&on.load));
                if let Some(on) = on.filter(|on| *on < labels) {
                    (common, labels) = (labels - on, on);
                }
                if !nodes.is_empty() {
                    cut.either(SECOND, [0.0, common]);
                }
                cut.apart(SECOND, SECOND, &nodes, shares - common);
                cut.apart(FIRST, FIRST, &nodes, labels);
                for (at, reader) in self.nodes() {
                    let more = [1, 0].map(|to| weighted.more(&self.to[to], at));
                    cut.either(reader, more);
                }
            }
        }
    }

    /// Adds what the cheapest way to labels has more rounds than the one of the fewest, for all
    /// readers there, or what that one costs more.
    fn of_two_ways(&self, cut: &mut Cut, weighted: &Weighted<'_>) {
        let ways = &self.to[0];
        let Some(least) = weighted.cheapest(ways, &[]) else {
            return;
        };
        let others = ways.iter().filter(|way| !std::ptr::eq(*way, least));
        let others = others.map(|way| weighted.load(&way.load) - weighted.load(&least.load));
        let Some(over) = others.reduce(f64::min) else {
            return;
        };
        let any = cut.node();
        cut.either(any, [0.0, over]);
        for (at, reader) in self.nodes() {
            let more = weighted.rounds(least, at) - weighted.more(ways, at);
            cut.apart(FIRST, any, &[reader], more);
        }
    }

    /// Adds its conversions in an assignment to a load, and the leads of its reads to others, by
    /// the ways that cost least under some weights.
    fn take(
        &self,
        second: &[bool],
        weighted: &Weighted<'_>,
        (load, leads): (&mut Load, &mut Vec<Lead>),
    ) {
        let made = match self.made {
            Place::Node(node) => usize::from(second[node]),
            Place::Ring | Place::Given => FIRST,
        };
        let mut own = vec![NO_LEAD; self.reads.len()];
        let on = |side: usize| {
            let reads = self.nodes();
            let reads = reads.filter(move |(_, node)| usize::from(second[*node]) == side);
            reads.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut to = |ways: &[Way], reads: Vec<usize>| {
            let way = weighted
                .cheapest(ways, &reads)
                .filter(|_| !reads.is_empty())?;
            add(load, &way.load, 1.0);
            reads.iter().for_each(|at| own[*at] = way.lead);
            Some(std::ptr::eq(way, ways.last()?))
        };
        match self.made {
            Place::Node(_) => {
                to(&self.to[made], on(1 - made));
                to(&self.to_ring[made], self.in_ring().collect());
            }
            Place::Given => drop(to(&self.to[0], on(SECOND))),
            Place::Ring => {
                let shares = to(&self.to[1], on(FIRST)).is_some();
                let by_shares = to(&self.to[0], on(SECOND)) == Some(true);
                if let (true, true, Some(_)) = (shares, by_shares, &self.on) {
                    // Once for both.
                    self.to[1]
                        .iter()
                        .take(1)
                        .for_each(|way| add(load, &way.load, -1.0));
                }
            }
        }
        leads.extend(own);
    }
}

/// Weights of an adversary, as the reads of a value see them.
struct Weighted<'a> {
    latency: f64,
    loads: &'a [f64],
    reads: &'a [Lead],
}

impl Weighted<'_> {
    fn load(&self, load: &[f64]) -> f64 {
        dot(self.loads, load)
    }

    /// Weighted seconds of the rounds by which a way makes a read later.
    fn rounds(&self, way: &Way, read: usize) -> f64 {
        let flow = &self.reads[read];
        self.latency * (rounds(flow, &way.lead) - rounds(flow, &NO_LEAD))
    }

    /// The same by the way of the fewest rounds.
    fn more(&self, ways: &[Way], read: usize) -> f64 {
        let more = ways.iter().map(|way| self.rounds(way, read));
        more.reduce(f64::min).unwrap_or(0.0)
    }

    /// Cost of a way for some reads.
    fn cost(&self, way: &Way, reads: &[usize]) -> f64 {
        let rounds = reads.iter().map(|read| self.rounds(way, *read));
        self.load(&way.load) + rounds.sum::<f64>()
    }

    fn cheapest<'w>(&self, ways: &'w [Way], reads: &[usize]) -> Option<&'w Way> {
        let cost = |way: &&Way| self.cost(way, reads);
        ways.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}

impl Problem {
    /// Weights of all resources alike, and of no path.
    pub fn even(&self) -> Weights {
        let reads = self.values.iter().map(|value| value.reads.len());
        let taken = Leads {
            units: vec![Default::default(); self.units.len()],
            reads: vec![Default::default(); reads.sum()],
        };
        let loads = vec![1.0 / self.resources as f64; self.constant.len()];
        let flows = Flows { fixed: 0.0, taken };
        Weights { flows, loads }
    }

    /// All values, with weights as their reads see them.
    fn weighted<'w>(
        &'w self,
        weights: &'w Weights,
    ) -> impl Iterator<Item = (&'w Value, Weighted<'w>)> {
        let mut left = &weights.flows.taken.reads[..];
        self.values.iter().map(move |value| {
            let (reads, rest) = left.split_at(value.reads.len());
            left = rest;
            let weighted = Weighted {
                latency: self.latency,
                loads: &weights.loads,
                reads,
            };
            (value, weighted)
        })
    }

    /// The least weighted cost of an assignment, and one that has it.
    pub fn least(&self, weights: &Weights) -> (f64, Vec<bool>) {
        let (flows, loads) = (&weights.flows, &weights.loads);
        let mut cut = Cut::new(self.nodes);
        let mut fixed = self.latency * flows.fixed + dot(loads, &self.constant);
        for (unit, flow) in self.units.iter().zip(&flows.taken.units) {
            let cost = |does: &Does| {
                let [full, last] = [0, 1].map(|at| rounds(&flow[at], &does.leads[at]));
                let carries = does.carries.map_or(0.0, |lead| rounds(&flow[2], &lead));
                dot(loads, &does.load) + self.latency * (full + last + carries)
            };
            match unit.node {
                Some(node) => cut.either(node, [0, 1].map(|at| cost(&unit.options[at]))),
                None => fixed += cost(&unit.options[0]),
            }
        }
        for (nodes, load) in &self.any {
            cut.apart(SECOND, SECOND, nodes, dot(loads, load));
        }
        for (value, weighted) in self.weighted(weights) {
            let stay = weighted.reads.iter().map(|flow| rounds(flow, &NO_LEAD));
            fixed += self.latency * stay.sum::<f64>();
            value.cost(&mut cut, &weighted);
        }
        let (least, mut second) = cut.least();
        second.truncate(self.nodes);
        (fixed + least, second)
    }

    /// Load and leads of an assignment, by the ways that cost least under these weights.
    pub fn taken(&self, second: &[bool], weights: &Weights) -> (Load, Leads) {
        let (mut load, mut leads) = (self.constant.clone(), Leads::default());
        for unit in &self.units {
            let option = unit.node.is_some_and(|node| second[node]);
            let does = &unit.options[usize::from(option)];
            add(&mut load, &does.load, 1.0);
            let [full, last] = does.leads;
            leads
                .units
                .push([full, last, does.carries.unwrap_or_default()]);
        }
        for (nodes, of) in &self.any {
            if nodes.iter().any(|node| !second[*node]) {
                add(&mut load, of, 1.0);
            }
        }
        for (value, weighted) in self.weighted(weights) {
            value.take(second, &weighted, (&mut load, &mut leads.reads));
        }
        (load, leads)
    }
}

/// Moves numbers towards others by a part of the way.
pub(super) fn mix<'a>(
    numbers: impl IntoIterator<Item = &'a mut f64>,
    to: impl IntoIterator<Item = &'a f64>,
    part: f64,
) {
    let pairs = numbers.into_iter().zip(to);
    pairs.for_each(|(number, to)| *number += part * (to - *number));
}

impl Leads {
    /// The same of all numbers.
    pub fn mix(&mut self, to: &Leads, part: f64) {
        let Leads { units, reads } = self;
        let units = units.as_flattened_mut().as_flattened_mut();
        let others = to.units.as_flattened().as_flattened();
        mix(units.as_flattened_mut(), others.as_flattened(), part);
        let reads = reads.as_flattened_mut().as_flattened_mut();
        mix(reads, to.reads.as_flattened().as_flattened(), part);
    }
}
