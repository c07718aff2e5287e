//! Costs of all assignments of domains to the units of a draft, as sums that a cut minimises.
//!
//! Everything on bits is on one of two sides: the first domain of tapes, *shares*, or the second
//! one, *labels*. A value has ways to where its readers want it, each taken once.

use super::cut::{Cut, FIRST, SECOND};
use crate::cost::works::{Lead, NO_LEAD, Tiles};

/// Seconds on each resource, then counts of correlations that set-ups bank.
pub(super) type Load = Vec<f64>;

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

/// Number of [`Value::to`] for each side.
const SIDES: [usize; 2] = [1, 0];

/// A cost that is due if a node is on a side, and any of some others is not.
struct Term {
    side: usize,
    node: usize,
    others: Vec<usize>,
    load: Load,
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
    /// Of each kind that set-ups bank, seconds on each resource of one beyond those.
    pub banked: Vec<Load>,
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

/// Rounds of paths through steps, weighted: for each unit as in [`Does`], for each read of each
/// value in order; entries `[from][to]` as those of leads.
#[derive(Clone)]
pub(super) struct Flows {
    /// Rounds that no domain changes.
    pub fixed: f64,
    pub units: Vec<[Lead; 3]>,
    pub reads: Vec<Lead>,
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

/// The cheapest way.
fn cheapest<'a>(ways: &'a [Way], weights: &[f64]) -> Option<&'a Way> {
    let cost = |way: &&Way| dot(weights, &way.load);
    ways.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

fn add(sum: &mut Load, load: &[f64], times: f64) {
    sum.iter_mut()
        .zip(load)
        .for_each(|(sum, more)| *sum += times * more);
}

impl Value {
    /// Nodes of where it is made and of where a reader wants it; the first side where there is
    /// none.
    pub fn ends(&self, wants: Place) -> [usize; 2] {
        [self.made, wants].map(|place| match place {
            Place::Node(node) => node,
            Place::Ring | Place::Given => FIRST,
        })
    }

    /// The ways of which one leads to a reader, if the nodes at its ends are on these sides.
    pub fn ways(&self, wants: Place, sides: [bool; 2]) -> &[Way] {
        let [made, wanted] = sides.map(usize::from);
        match (self.made, wants) {
            (Place::Node(_), Place::Ring) => &self.to_ring[made],
            (Place::Node(_), Place::Node(_)) if made != wanted => &self.to[SIDES[wanted]],
            (Place::Ring, Place::Node(_)) => &self.to[SIDES[wanted]],
            (Place::Given, Place::Node(_)) if wanted == SECOND => &self.to[SIDES[wanted]],
            _ => &[],
        }
    }

    /// Costs of all conversions, by the ways that are cheapest under these weights.
    fn terms(&self, weights: &[f64]) -> Vec<Term> {
        let nodes = self.reads.iter().filter_map(|(_, wants)| match wants {
            Place::Node(node) => Some(*node),
            _ => None,
        });
        let nodes = nodes.collect::<Vec<_>>();
        let load = |ways: &[Way]| cheapest(ways, weights).map(|way| way.load.clone());
        let mut terms = Vec::new();
        let mut due = |side, node, others: &[usize], load: Option<Load>| {
            let others = others.to_vec();
            terms.extend(load.filter(|_| !others.is_empty()).map(|load| Term {
                side,
                node,
                others,
                load,
            }));
        };
        match self.made {
            Place::Node(node) => {
                due(FIRST, node, &nodes, load(&self.to[0]));
                due(SECOND, node, &nodes, load(&self.to[1]));
                if self.reads.iter().any(|(_, wants)| *wants == Place::Ring) {
                    due(SECOND, SECOND, &[node], load(&self.to_ring[0]));
                    due(FIRST, FIRST, &[node], load(&self.to_ring[1]));
                }
            }
            Place::Given => due(FIRST, FIRST, &nodes, load(&self.to[0])),
            Place::Ring => {
                let (Some(shares), Some(mut labels)) = (load(&self.to[1]), load(&self.to[0]))
                else {
                    return terms;
                };
                // Both cost as much as shares and the way on, where that is less. What they have in
                // common is due for any reader.
                let mut common = vec![0.0; shares.len()];
                let less = |on: &&Way| dot(weights, &on.load) < dot(weights, &labels);
                if let Some(on) = self.on.as_ref().filter(less) {
                    common.clone_from(&labels);
                    add(&mut common, &on.load, -1.0);
                    labels.clone_from(&on.load);
                }
                let mut alone = shares;
                add(&mut alone, &common, -1.0);
                if !nodes.is_empty() {
                    due(FIRST, FIRST, &[SECOND], Some(common));
                }
                due(SECOND, SECOND, &nodes, Some(alone));
                due(FIRST, FIRST, &nodes, Some(labels));
            }
        }
        terms
    }
}

impl Problem {
    /// All costs of conversions and set-ups under these weights.
    fn terms(&self, weights: &[f64]) -> Vec<Term> {
        let values = self.values.iter().flat_map(|value| value.terms(weights));
        let any = self.any.iter().map(|(nodes, load)| Term {
            side: SECOND,
            node: SECOND,
            others: nodes.clone(),
            load: load.clone(),
        });
        values.chain(any).collect()
    }

    /// The least weighted cost of an assignment, and one that has it.
    pub fn least(&self, weights: &Weights) -> (f64, Vec<bool>) {
        let (flows, loads) = (&weights.flows, &weights.loads);
        let mut cut = Cut::new(self.nodes);
        let mut fixed = self.latency * flows.fixed + dot(loads, &self.constant);
        for (unit, flow) in self.units.iter().zip(&flows.units) {
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
        for term in self.terms(loads) {
            cut.apart(term.side, term.node, &term.others, dot(loads, &term.load));
        }
        for ((value, wants), flow) in self.reads().zip(&flows.reads) {
            fixed += self.latency * rounds(flow, &NO_LEAD);
            let more = |sides| {
                let ways = value.ways(wants, sides).iter();
                let more = ways.map(|way| rounds(flow, &way.lead) - rounds(flow, &NO_LEAD));
                self.latency * more.reduce(f64::min).unwrap_or(0.0)
            };
            let [made, wanted] = value.ends(wants);
            match (made, wanted) {
                (FIRST, node) => cut.either(node, [false, true].map(|side| more([false, side]))),
                (node, FIRST) if wants == Place::Ring => {
                    cut.either(node, [false, true].map(|side| more([side, false])));
                }
                _ => {
                    cut.apart(FIRST, made, &[wanted], more([false, true]));
                    cut.apart(SECOND, made, &[wanted], more([true, false]));
                }
            }
        }
        let (least, mut second) = cut.least();
        second.truncate(self.nodes);
        (fixed + least, second)
    }

    /// Every read of every value, in order.
    pub fn reads(&self) -> impl Iterator<Item = (&Value, Place)> {
        let values = self.values.iter();
        values.flat_map(|value| value.reads.iter().map(move |(_, wants)| (value, *wants)))
    }

    /// The load of an assignment, by ways that are cheapest under these weights.
    pub fn load(&self, second: &[bool], weights: &[f64]) -> Load {
        let mut sum = self.constant.clone();
        for unit in &self.units {
            let option = unit.node.is_some_and(|node| second[node]);
            add(&mut sum, &unit.options[usize::from(option)].load, 1.0);
        }
        for term in self.terms(weights) {
            let side = term.side == SECOND;
            let others = term.others.iter();
            if second[term.node] == side && others.into_iter().any(|of| second[*of] != side) {
                add(&mut sum, &term.load, 1.0);
            }
        }
        sum
    }

    /// Leads of every read in an assignment, by ways that are cheapest under these weights.
    pub fn leads(&self, second: &[bool], weights: &[f64]) -> Vec<Lead> {
        let lead = |(value, wants): (&Value, Place)| {
            let sides = value.ends(wants).map(|node| second[node]);
            cheapest(value.ways(wants, sides), weights).map_or(NO_LEAD, |way| way.lead)
        };
        self.reads().map(lead).collect()
    }
}
