//! The problem of a draft at some numbers of rows, of two plans between which all others lie.
//!
//! One plan has every unit on the first domain of tapes where it may choose, the other one on the
//! second. What their steps add is what the same steps add in any other plan in the same tiles;
//! conversions between them are asked of the protocol. Refills count by linear rates, of which
//! they never take less, and set-ups by the transfers that every plan takes and those that single
//! units add.

use super::cut::{FIRST, SECOND};
use super::prices::{Kinds, Prices, TRANSFERS};
use super::problem::{Does, Load, Place, Problem, Unit, Value, Walk};
use crate::cost::works::{Lead, NO_LEAD, Tiles, Work, once, shaped, works};
use crate::draft::{Tensor, UnitWork};
use crate::drafts::Units;
use crate::steps::{Plan, PlanValue, Step, StepOp};
use sealane_protocol::{Algebra, ConvertShape, Correlation, Demand, Domain, Protocol, StepShape};
use std::collections::BTreeMap;

/// Makes the problem of all assignments between those of two plans, with so much computing that
/// each party does alone before.
pub(super) fn problem<P: Protocol>(
    units: &Units,
    plans: [&Plan; 2],
    rows: &[u64],
    alone_ns: u64,
) -> Problem {
    let (steps, reveal) = works::<P>(plans[0], rows);
    let (others, _) = works::<P>(plans[1], rows);
    let mut all = Demand::default();
    for (_, work) in steps.iter().chain(&others) {
        all.merge(&work.demand, 1);
    }
    let prices = Prices::<P>::new(plans[0], &all);
    let builder = Builder {
        units,
        plans,
        rows,
        nodes: nodes(units, plans),
        steps: [steps, others].map(|steps| {
            let written = steps.into_iter();
            let written =
                written.filter_map(|(op, work)| Some((*op.writes().first()?, (op, work))));
            written.collect()
        }),
        prices,
        demands: Vec::new(),
        alike: Kinds::new(),
        parts: parts(plans[0]),
        passed: vec![Kinds::new(); units.draft.tensors.len()],
    };
    builder.finish(&all, &reveal, alone_ns)
}

/// The values of rings of which a plan takes a part of the bits, with those parts.
fn parts(plan: &Plan) -> BTreeMap<PlanValue, PlanValue> {
    let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
    let part = |step: &Step| match &step.op {
        StepOp::Ring(ring) if plan[ring.out].domain.algebra == Algebra::Z2 => {
            Some((ring.of.value, ring.out))
        }
        _ => None,
    };
    steps.filter_map(part).collect()
}

/// The node of each unit on bits: a side where both plans agree.
fn nodes(units: &Units, plans: [&Plan; 2]) -> Vec<Option<usize>> {
    let mut count = SECOND;
    let mut node = |(at, unit): (usize, &crate::draft::Unit)| {
        let moves = matches!(
            &unit.work,
            UnitWork::Step(
                StepOp::Move { .. }
                    | StepOp::Concat { .. }
                    | StepOp::Append { .. }
                    | StepOp::Rearrange(_)
            )
        );
        let given = unit.work.reads().is_empty() && plans[0].taken[at].is_none();
        if units.draft.algebra(unit) != Algebra::Z2 || given {
            return None;
        }
        match plans.map(|plan| plan.taken[at]) {
            [Some(one), Some(other)] if one == other => Some(usize::from(one)),
            [None, _] if !moves => Some(FIRST),
            _ => {
                // Elements move in any domain, for nothing.
                count += 1;
                Some(count)
            }
        }
    };
    units
        .draft
        .units
        .iter()
        .enumerate()
        .map(&mut node)
        .collect()
}

/// Steps of a plan by the value that they write first.
type Steps<'a> = BTreeMap<PlanValue, (&'a StepOp, Work)>;

struct Builder<'a, P> {
    units: &'a Units,
    plans: [&'a Plan; 2],
    rows: &'a [u64],
    nodes: Vec<Option<usize>>,
    steps: [Steps<'a>; 2],
    prices: Prices<'a, P>,
    /// Nodes that take correlations on shares, with the kinds.
    demands: Vec<(usize, Kinds)>,
    /// Kinds that every assignment takes.
    alike: Kinds,
    /// Parts of bits by the values of which they are, in the first plan.
    parts: BTreeMap<PlanValue, PlanValue>,
    /// For each tensor, kinds that a way of it to labels takes.
    passed: Vec<Kinds>,
}

impl<P: Protocol> Builder<'_, P> {
    fn finish(mut self, all: &Demand, reveal: &Work, alone_ns: u64) -> Problem {
        let made = (0..self.nodes.len())
            .map(|at| self.unit(at))
            .collect::<Vec<_>>();
        let values = self.values();
        self.pass();
        let setting = &self.plans[0].setting;
        let base = all.only(|kind| self.alike.contains(&kind));
        let set_up = |demand: &Demand| once(setting, &P::set_up_cost(setting, demand));
        let (least, most) = (set_up(&base), set_up(all));
        let mut constant = self.prices.load(&least);
        let mut add = |load: &Load| {
            constant
                .iter_mut()
                .zip(load)
                .for_each(|(sum, of)| *sum += of)
        };
        add(&self.prices.load(reveal));
        for (op, work) in self.steps[0].values() {
            let out = op.writes()[0];
            let tensor = (out.0 as usize) < self.units.draft.tensors.len();
            let again = matches!(op, StepOp::Input { .. }) && !tensor;
            let labels = P::tape_domains()[SECOND];
            if again && self.plans[0][out].domain != labels {
                add(&self.prices.load(work));
            }
        }
        constant[0] += alone_ns as f64 / 1e9;
        for (sum, banked) in constant[self.prices.resources()..]
            .iter_mut()
            .zip(&self.prices.banked)
        {
            *sum -= banked.1 as f64;
        }
        let any = self
            .prices
            .set_ups([&base, all], &self.alike, &self.demands);
        let begin = |work: &Work| {
            let lead = after(&work.leads[0], &self.first_refill());
            [0, 1].map(|to| lead[0][to].max(lead[1][to]))
        };
        let [one, other] = [begin(&least), begin(&most)];
        Problem {
            latency: setting.network.round_trip().as_secs_f64() / 2.0,
            resources: self.prices.resources(),
            constant,
            nodes: 1 + self
                .nodes
                .iter()
                .flatten()
                .copied()
                .max()
                .unwrap_or(0)
                .max(SECOND),
            walks: self.walks(),
            units: made,
            values,
            any,
            start: [0, 1].map(|at| f64::min(one[at], other[at])),
            reveal: [0, 1].map(|from| reveal.leads[0][from][0]),
            banked: self.prices.banks(),
        }
    }

    fn walks(&self) -> Vec<Walk> {
        let mut walks = Vec::<Walk>::new();
        let mut last = None;
        for (at, unit) in self.units.draft.units.iter().enumerate() {
            if last != Some(unit.phase) {
                last = Some(unit.phase);
                walks.push(Walk {
                    tiles: Tiles::of(self.plans[0], self.rows, unit.phase.rows),
                    units: at..at,
                });
            }
            walks.last_mut().expect("a walk has begun").units.end = at + 1;
        }
        walks
    }

    /// Leads of the refill before the first unit, of correlations that every assignment takes.
    fn first_refill(&self) -> Lead {
        let setting = &self.plans[0].setting;
        let first = self.units.draft.units.first().map(|unit| unit.phase);
        let mut demand = Demand::default();
        for (at, unit) in self.units.draft.units.iter().enumerate() {
            if Some(unit.phase) == first {
                for kind in self.kinds_in_both(at) {
                    let pooled = P::pool_bits(setting, kind) > 0;
                    let count = match kind {
                        Correlation::Cot { .. } => TRANSFERS,
                        _ => 1,
                    };
                    demand.add(kind, count * u64::from(pooled));
                }
            }
        }
        // What is made of transfers of a pool may take no message.
        if setting.pooled {
            return NO_LEAD;
        }
        // Those of a set-up may be enough.
        let mut made = P::refill_counts(setting, &demand);
        made.0.retain(|kind, _| !self.prices.is_banked(*kind));
        once(setting, &P::refill_cost(setting, &made)).leads[0]
    }

    /// The step of a unit in one of the plans.
    fn step(&self, at: usize, plan: usize) -> Option<&(&StepOp, Work)> {
        let written = self.units.draft.units[at].work.writes();
        self.steps[plan].get(written.first()?)
    }

    /// Kinds that a unit takes in any domain that it can have.
    fn kinds_in_both(&self, at: usize) -> Kinds {
        let [one, other] = [0, 1].map(|plan| {
            let work = self.step(at, plan).map(|(_, work)| kinds(&work.demand));
            work.unwrap_or_default()
        });
        match self.nodes[at] {
            Some(FIRST) => one,
            _ => one.intersection(&other).copied().collect(),
        }
    }

    fn unit(&mut self, at: usize) -> Unit {
        let mut options = [0, 1].map(|plan| {
            let nothing = || Does {
                load: self.prices.nothing(),
                leads: [NO_LEAD; 2],
                carries: None,
            };
            self.step(at, plan).map_or_else(nothing, |(_, work)| Does {
                load: self.prices.load(work),
                leads: work.leads,
                carries: work.carries,
            })
        });
        if self.nodes[at].is_none() && self.differs(at) {
            // Either may be taken.
            let [one, other] = &mut options;
            one.load
                .iter_mut()
                .zip(&other.load)
                .for_each(|(a, b)| *a = a.min(*b));
            let leads = one.leads.as_flattened_mut().as_flattened_mut().iter_mut();
            let others = other.leads.as_flattened().as_flattened();
            leads.zip(others).for_each(|(a, b)| *a = a.min(*b));
        }
        let same = self.kinds_in_both(at);
        if let (Some(node), Some((_, work))) = (self.nodes[at], self.step(at, 0)) {
            let kinds = kinds(&work.demand).difference(&same).copied().collect();
            self.demands.push((node, kinds));
        }
        self.alike.extend(same);
        Unit {
            node: self.nodes[at],
            options,
        }
    }

    /// Returns whether a unit in a ring is another operation in the other plan.
    fn differs(&self, at: usize) -> bool {
        let [one, other] = [0, 1].map(|plan| {
            let step = self.step(at, plan);
            step.map(|(op, _)| std::mem::discriminant(*op))
        });
        one != other
    }

    /// All values that are read, with their readers.
    fn values(&mut self) -> Vec<Value> {
        let draft = &self.units.draft;
        let mut reads = vec![Vec::new(); draft.tensors.len()];
        for (at, unit) in draft.units.iter().enumerate() {
            let mut values = unit.work.reads();
            values.sort_unstable();
            values.dedup();
            let bit = self.chooses(at);
            for value in values {
                let wants = match self.nodes[at] {
                    Some(node) => Place::Node(node),
                    None if bit == Some(value) && self.differs(at) => continue,
                    None if bit == Some(value) => Place::Node(FIRST),
                    None => Place::Ring,
                };
                reads[value.0 as usize].push((Some(at), wants));
            }
        }
        for value in &draft.results {
            let wants = match draft.tensor(*value).algebra {
                Algebra::Z2 => Place::Node(FIRST),
                _ => Place::Ring,
            };
            reads[value.0 as usize].push((None, wants));
        }
        let reads = reads.into_iter().enumerate();
        let reads = reads.filter(|(_, reads)| !reads.is_empty());
        reads
            .map(|(at, reads)| self.value(PlanValue(at as u32), reads))
            .collect()
    }

    /// Notes kinds that units take on shares, and on labels the ways of what they read: of values
    /// that are not on labels yet, or that follow from such.
    fn pass(&mut self) {
        for (at, unit) in self.units.draft.units.iter().enumerate() {
            if self.nodes[at].is_none() {
                continue;
            }
            let reads = unit.work.reads().into_iter();
            let reads = reads.flat_map(|value| self.passed[value.0 as usize].clone());
            let reads = reads.collect::<Kinds>();
            let own = self.step(at, 0).map(|(_, work)| kinds(&work.demand));
            let own = own.unwrap_or_default();
            self.alike.extend(reads.intersection(&own));
            for out in unit.work.writes() {
                self.passed[out.0 as usize].retain(|kind| reads.contains(kind));
            }
        }
    }

    /// The bit by which a unit in a ring chooses, in either plan.
    fn chooses(&self, at: usize) -> Option<PlanValue> {
        let UnitWork::Step(StepOp::Product(product)) = &self.units.draft.units[at].work else {
            return None;
        };
        let ring = |plan| matches!(self.step(at, plan), Some((StepOp::Ring(_), _)));
        let is_bit = |value: &PlanValue| {
            let planned = &self.plans[0][value];
            let tensor = self.units.draft.tensor(*value);
            let bit = (planned.bits, planned.signed) == (1, false);
            bit && self.nodes[tensor.unit].is_some()
        };
        let both = [product.left.value, product.right.value];
        let chooses = ring(0) || ring(1);
        both.into_iter().find(is_bit).filter(|_| chooses)
    }

    fn value(&mut self, value: PlanValue, reads: Vec<(Option<usize>, Place)>) -> Value {
        let draft = &self.units.draft;
        let tensor = draft.tensor(value);
        let [shares, labels] = [0, 1].map(|at| P::tape_domains()[at]);
        let ways = |works: &[&Work]| works.iter().map(|work| self.prices.way(work)).collect();
        let convert = |from, to| self.convert(value, from, to);
        let mut made = Value {
            maker: tensor.unit,
            made: Place::Given,
            to: [Vec::new(), Vec::new()],
            to_ring: [Vec::new(), Vec::new()],
            on: None,
            reads,
        };
        let on = convert(shares, labels);
        let passed;
        match (self.nodes[tensor.unit], tensor.algebra) {
            (Some(node), _) => {
                made.made = Place::Node(node);
                passed = kinds(&on.demand);
                made.to = [ways(&[&on]), ways(&[&convert(labels, shares)])];
                let ring = made.reads.iter().find(|(_, wants)| *wants == Place::Ring);
                let ring = ring.and_then(|(unit, _)| Some(&draft.units[(*unit)?]));
                if let Some(ring) = ring.map(|unit| P::domain(draft.algebra(unit))) {
                    let [one, other] = [shares, labels].map(|from| convert(from, ring));
                    made.to_ring = [ways(&[&one]), ways(&[&other, &one])];
                    self.demands.push((node, kinds(&one.demand)));
                }
            }
            (None, Algebra::Z2) => {
                let given = self.given(value, tensor).unwrap_or(on);
                made.to[0] = ways(&[&given]);
                passed = kinds(&given.demand);
            }
            (None, algebra) => {
                made.made = Place::Ring;
                let ring = P::domain(algebra);
                let (whole, direct) = (convert(ring, shares), convert(ring, labels));
                let part = self.part(value);
                let read = part.unwrap_or(&whole);
                let mut by_shares = self.prices.way(&whole);
                let further = self.prices.way(&on);
                by_shares
                    .load
                    .iter_mut()
                    .zip(&further.load)
                    .for_each(|(sum, of)| *sum += of);
                by_shares.lead = after(&by_shares.lead, &further.lead);
                made.to = [vec![self.prices.way(&direct), by_shares], ways(&[read])];
                made.on = part.is_none().then_some(further);
                let (by_labels, on) = (kinds(&direct.demand), kinds(&on.demand));
                passed = by_labels.intersection(&on).copied().collect();
                let nodes = |(_, wants): &(Option<usize>, Place)| matches!(wants, Place::Node(_));
                if made.reads.iter().any(nodes) {
                    self.alike
                        .extend(kinds(&read.demand).intersection(&by_labels));
                }
            }
        }
        self.passed[value.0 as usize] = passed;
        made
    }

    /// The step that takes a part of the bits of a value of a ring, if readers take no more.
    fn part(&self, value: PlanValue) -> Option<&Work> {
        Some(&self.steps[0].get(self.parts.get(&value)?)?.1)
    }

    fn convert(&self, value: PlanValue, from: Domain, to: Domain) -> Work {
        let planned = &self.plans[0][value];
        shaped::<P>(self.plans[0], self.rows, planned.rows, |rows| {
            StepShape::Convert(ConvertShape {
                from,
                to,
                elements: planned.elements * planned.rows.map_or(1, |_| rows),
                bits: planned.bits.into(),
                signed: planned.signed,
            })
        })
    }

    /// The step that makes an input or a public value on labels, if it can be made there.
    fn given(&self, value: PlanValue, tensor: &Tensor) -> Option<Work> {
        let labels = P::tape_domains()[SECOND];
        let (plan, unit) = (self.plans[0], &self.units.draft.units[tensor.unit]);
        let owner = match &unit.work {
            _ if !P::gives(labels) => return None,
            UnitWork::Step(StepOp::Input { input, .. }) => plan.owners[*input as usize],
            _ => return Some(once(&plan.setting, &Default::default())),
        };
        plan.setting.role_of(owner)?;
        let planned = &plan[value];
        Some(shaped::<P>(plan, self.rows, planned.rows, |rows| {
            let elements = planned.elements * planned.rows.map_or(1, |_| rows);
            StepShape::input(owner, labels, elements, planned.bits.into())
        }))
    }
}

/// Leads of flights after others.
fn after(first: &Lead, then: &Lead) -> Lead {
    let lead = |from: usize, to: usize| {
        let [one, other] = [0, 1].map(|by| first[from][by] + then[by][to]);
        one.max(other)
    };
    [0, 1].map(|from| [0, 1].map(|to| lead(from, to)))
}

fn kinds(demand: &Demand) -> Kinds {
    demand.0.keys().copied().collect()
}
