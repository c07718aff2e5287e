//! Pass `choose`: the domain in which each value is held.
//!
//! The pass `algebra` has chosen the algebra in which each step computes; the protocol names the
//! domain of each algebra. Of several domains in which tapes can run, a step runs in the one of
//! the least time on a number of rows, counted with the conversions of what it reads and of what
//! it makes to the main domain of bits, which most other steps need. Other [`Choice`]s take one
//! domain for all tapes; each makes a plan, and rows decide which of them runs. A value stays in
//! the domain in which its step leaves it. Where a step needs it in another one, convert steps
//! stand between them, on the route of the least time: once for each value and domain, as soon as
//! the value exists. Inputs and public values are made again there, where the protocol can. A
//! result is revealed from the main domain of its algebra.
//!
//! For protocols that have operations on ring elements as steps, a choice takes the place of a
//! product by a shared bit, and of a ring element only those bits are converted that tapes read.
//!
//! Inputs and constants are made in each algebra that needs them, with a step of their own for
//! each: sharing an input again costs its owner less than a conversion costs all parties. With
//! malicious parties, though, an input that is needed twice is shared as bits and converted, since
//! nothing forces an owner to share the same number both times; and where arithmetic is modulo a
//! prime every input is, since nothing holds an element to its range.

use crate::cost::{first_step_ns, step_ns};
use crate::draft::{Draft, Phase, Tensor};
use crate::known::Known;
use crate::ring_steps;
use crate::silent;
use crate::steps::{Plan, PlanValue, Segment, Step, StepOp, TapeId, ValuePlan};
use sealane_program::types::RowId;
use sealane_protocol::{Algebra, Choice, ConvertShape, Corruption, Domain, Protocol, StepShape};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Conversions that share a round where sums are gates: many products are converted side by side.
const SHARED: u32 = 64;

/// Steps with their phases.
type Steps = Vec<(Phase, Step)>;

/// Gives every value its domain and inserts conversions; `forms` holds the steps of all units in
/// each domain of tapes. A unit for which `taken` has a number takes that one. Fills in the values
/// of the plan and what each unit took, and drops the tapes of other domains. Returns all steps,
/// and the value of each result of the program.
pub(crate) fn domains<P: Protocol>(
    draft: &Draft,
    forms: &[Vec<Step>],
    (choice, taken): (Choice, &[Option<u8>]),
    plan: &mut Plan,
) -> (Steps, Vec<PlanValue>) {
    let met = read_all_at_once(draft);
    let there = draft.tensors.iter().enumerate().map(|(at, tensor)| {
        let there = draft.there_in(at);
        let made = draft.units[tensor.unit].phase.level;
        match tensor.rows {
            // Rows that are made all at once are converted tile by tile, in a walk after: the first
            // one if the next level reads them all at once, too.
            Some(_) => Phase {
                level: if met[at] { made } else { there.level },
                rows: tensor.rows,
            },
            None => there,
        }
    });
    plan.values = plain(draft);
    plan.taken = vec![None; draft.units.len()];
    // Times are those of the transfers that a run takes.
    plan.setting.silent = silent::expected::<P>(&plan.setting, choice);
    let mut chooser = Chooser {
        draft,
        choice,
        plan,
        there: there.collect(),
        steps: vec![],
        copies: HashMap::new(),
        given: HashMap::new(),
        converted: HashMap::new(),
        known: Known::default(),
        parts: HashMap::new(),
    };
    if P::ring_steps() {
        chooser.parts = ring_steps::parts(draft, chooser.plan, forms);
    }
    let wants = wants(draft);
    let domains = P::tape_domains();
    for (at, unit) in draft.units.iter().enumerate() {
        let options = forms.iter().map(|steps| &steps[at]);
        let options = domains.iter().copied().zip(options).collect::<Vec<_>>();
        let (_, mut step) = options[0];
        let domain = match &step.op {
            StepOp::Input { out, .. } => {
                let mut wants = wants[out.0 as usize].clone();
                // Nothing holds an element of a prime field to the range of an input.
                if wants.len() > 1 && is_malicious::<P>() || P::prime() && !wants.is_empty() {
                    wants = vec![(Algebra::Z2, unit.phase)];
                }
                chooser.given(step, unit.phase, &wants, P::input_domain);
                continue;
            }
            StepOp::Constant { out, .. } | StepOp::RowNumber { out } => {
                chooser.given(step, unit.phase, &wants[out.0 as usize], P::domain);
                continue;
            }
            // Elements move in the domain that they are in.
            op @ (StepOp::Move { .. }
            | StepOp::Concat { .. }
            | StepOp::Append { .. }
            | StepOp::Rearrange(_)) => {
                chooser.moved::<P>(&op.reads(), P::domain(draft.algebra(unit)))
            }
            _ => match draft.algebra(unit) {
                Algebra::Z2 => {
                    let given = taken.get(at).copied().flatten().map(usize::from);
                    let best = given.unwrap_or_else(|| chooser.best::<P>(unit.phase, &options));
                    chooser.plan.taken[at] = (options.len() > 1).then_some(best as u8);
                    let domain;
                    (domain, step) = options[best];
                    domain
                }
                ring => P::domain(ring),
            },
        };
        let mut step = step.clone();
        if P::ring_steps() {
            chooser.select::<P>(unit.phase, domain, &mut step);
        }
        match &mut step.op {
            StepOp::Ring(ring) => {
                if let Some(bit) = &mut ring.bit {
                    bit.value = chooser.convert::<P>(bit.value, P::domain(Algebra::Z2));
                }
                ring.of.value = chooser.convert::<P>(ring.of.value, domain);
            }
            op => op.redirect(|value| chooser.convert::<P>(value, domain)),
        }
        for out in step.op.writes() {
            chooser.plan[out].domain = domain;
        }
        chooser.mark_known(&mut step.op);
        chooser.steps.push((unit.phase, step));
    }
    let mut result = |id: &PlanValue| {
        let algebra = chooser.domain(*id).algebra;
        chooser.convert::<P>(*id, P::domain(algebra))
    };
    let results = draft.results.iter().map(&mut result).collect();
    let mut steps = chooser.steps;
    plan.setting.silent = false;
    if domains.len() > 1 {
        drop_tapes(plan, &mut steps);
    }
    (steps, results)
}

/// A step that makes an input or a public value, of another value.
fn again(step: &Step, out: PlanValue) -> Step {
    let op = match &step.op {
        StepOp::Input { input, .. } => StepOp::Input { input: *input, out },
        StepOp::Constant { data, .. } => StepOp::Constant {
            data: data.clone(),
            out,
        },
        StepOp::RowNumber { .. } => StepOp::RowNumber { out },
        _ => unreachable!("an input or a constant"),
    };
    let (label, span) = (step.label.clone(), step.span.clone());
    Step { op, label, span }
}

/// Keeps the tapes that steps run.
fn drop_tapes(plan: &mut Plan, steps: &mut Steps) {
    let ids = steps.iter_mut().flat_map(|(_, step)| step.op.tapes());
    let ids = ids.collect::<Vec<_>>();
    let mut kept = BTreeMap::from_iter(ids.iter().map(|id| (**id, **id)));
    let tapes = kept.keys().map(|id| Arc::clone(&plan.tapes[id.0 as usize]));
    plan.tapes = tapes.collect();
    for (new, id) in kept.values_mut().enumerate() {
        *id = TapeId(new as u32);
    }
    ids.into_iter().for_each(|id| *id = kept[id]);
}

/// Returns for each tensor whether a unit reads all its rows at once.
fn read_all_at_once(draft: &Draft) -> Vec<bool> {
    let mut met = vec![false; draft.tensors.len()];
    for unit in &draft.units {
        let all = unit.work.all_rows();
        for id in unit.work.reads() {
            met[id.0 as usize] |= draft
                .tensor(id)
                .rows
                .is_some_and(|rows| all.contains(&rows));
        }
    }
    met
}

/// Returns whether the protocol assumes malicious parties.
fn is_malicious<P: Protocol>() -> bool {
    matches!(P::profile().corruption, Corruption::Malicious(_))
}

/// Returns for each tensor the algebras in which it is needed, bits first, and the first phase of
/// each.
fn wants(draft: &Draft) -> Vec<Vec<(Algebra, Phase)>> {
    let mut wants: Vec<Vec<(Algebra, Phase)>> = vec![Vec::new(); draft.tensors.len()];
    let mut want = |id: PlanValue, algebra: Algebra, phase: Phase| {
        let wants = &mut wants[id.0 as usize];
        match wants.iter_mut().find(|(known, _)| *known == algebra) {
            Some((_, first)) => *first = phase.min(*first),
            None => wants.push((algebra, phase)),
        }
    };
    for unit in &draft.units {
        for id in unit.work.reads() {
            let tensor = draft.tensor(id);
            let all = unit.work.all_rows();
            // Rows that are read all at once are shared in the walk over them, before it.
            let phase = if tensor.rows.is_some_and(|rows| all.contains(&rows)) {
                draft.units[tensor.unit].phase
            } else {
                unit.phase
            };
            want(id, draft.algebra(unit), phase);
        }
    }
    for id in &draft.results {
        let tensor = draft.tensor(*id);
        want(*id, tensor.algebra, draft.units[tensor.unit].phase);
    }
    let bits = |algebra: &Algebra| match algebra {
        Algebra::Z2 => 0,
        other => other.bits(),
    };
    let sort = |wants: &mut Vec<(Algebra, Phase)>| wants.sort_by_key(|(algebra, _)| bits(algebra));
    wants.iter_mut().for_each(sort);
    wants
}

/// Makes a value for each tensor, in a domain that the step which makes it replaces.
fn plain(draft: &Draft) -> Vec<ValuePlan> {
    let value = |tensor: &Tensor| ValuePlan {
        rows: tensor.rows,
        elements: tensor.elements,
        bits: tensor.range.bits(),
        signed: tensor.range.signed(),
        domain: Domain::public(Algebra::Z2),
        kept: false,
    };
    draft.tensors.iter().map(value).collect()
}

struct Chooser<'a> {
    draft: &'a Draft,
    choice: Choice,
    /// The plan, so far without steps; the ones whose time is asked for are its only ones.
    plan: &'a mut Plan,
    /// The first phase that may read each value.
    there: Vec<Phase>,
    steps: Vec<(Phase, Step)>,
    /// Inputs and constants that exist in several algebras.
    copies: HashMap<(PlanValue, Algebra), PlanValue>,
    /// Steps that make inputs and constants.
    given: HashMap<PlanValue, Step>,
    converted: HashMap<(PlanValue, Domain), PlanValue>,
    known: Known,
    /// The bits that are read of each value that becomes bits, where not all are.
    parts: HashMap<PlanValue, [u8; 2]>,
}

impl Chooser<'_> {
    /// Makes an input or a constant in each algebra that needs it. Rows that are shared twice are
    /// shared when they are needed, so that no copy has to be kept.
    fn given(
        &mut self,
        step: &Step,
        phase: Phase,
        wants: &[(Algebra, Phase)],
        domain: fn(Algebra) -> Domain,
    ) {
        for value in step.op.writes() {
            let by_rows = self.plan[value].rows.is_some();
            for (at, (algebra, first)) in wants.iter().enumerate() {
                let phase = if by_rows && wants.len() > 1 {
                    *first
                } else {
                    phase
                };
                let out = match at {
                    0 => value,
                    _ => self.like(value),
                };
                self.plan[out].domain = domain(*algebra);
                self.there[out.0 as usize] = phase;
                self.copies.insert((value, *algebra), out);
                let step = again(step, out);
                self.known.take(&step.op, &self.plan.owners);
                self.given.insert(out, step.clone());
                self.steps.push((phase, step));
            }
        }
    }

    /// The domain of elements that move: the one that they are all in, beside public ones that the
    /// protocol gives in it as well, or else the main one of the algebra.
    fn moved<P: Protocol>(&self, from: &[PlanValue], main: Domain) -> Domain {
        let own = |value: &PlanValue| {
            let copy = self.copies.get(&(*value, main.algebra)).copied();
            copy.unwrap_or(*value)
        };
        let public = |value: &PlanValue| {
            let given = self.given.get(value).map(|step| &step.op);
            matches!(
                given,
                Some(StepOp::Constant { .. } | StepOp::RowNumber { .. })
            )
        };
        let (public, shared): (Vec<_>, Vec<_>) = from.iter().map(own).partition(public);
        let mut domains = shared.into_iter().map(|value| self.domain(value));
        match domains.next() {
            Some(first)
                if first.algebra == main.algebra
                    && (public.is_empty() || P::gives(first))
                    && domains.all(|own| own == first) =>
            {
                first
            }
            _ => main,
        }
    }

    /// Notes the parties that know the operands of a product, and what a step makes.
    fn mark_known(&mut self, op: &mut StepOp) {
        let known = self.known.take(op, &self.plan.owners);
        if let StepOp::Product(product) = op {
            product.known_to = known;
        }
    }

    /// Makes a new value of the same form.
    fn like(&mut self, value: PlanValue) -> PlanValue {
        let values = &mut self.plan.values;
        values.push(values[value.0 as usize].clone());
        self.there.push(self.there[value.0 as usize]);
        PlanValue(values.len() as u32 - 1)
    }

    fn domain(&self, value: PlanValue) -> Domain {
        self.plan[value].domain
    }

    /// The index of the step of least time among those of a unit in several domains.
    fn best<P: Protocol>(&mut self, phase: Phase, options: &[(Domain, &Step)]) -> usize {
        if options.len() == 1 {
            return 0;
        }
        if let Choice::Only(domain) | Choice::Gates(domain) | Choice::Sums(domain) = self.choice {
            return domain.into();
        }
        let main = P::domain(Algebra::Z2);
        let time = |(domain, step): &(Domain, &Step)| {
            let mut reads = step.op.reads();
            reads.sort_unstable();
            reads.dedup();
            let reads = reads.iter().map(|value| self.route::<P>(*value, *domain).0);
            let mut ns = reads.sum::<f64>();
            for out in step.op.writes() {
                self.plan[out].domain = *domain;
                ns += self.route::<P>(out, main).0;
            }
            ns + self.step_ns::<P>(phase, step)
        };
        let times = options.iter().map(time).collect::<Vec<_>>();
        let best = (0..times.len()).min_by(|a, b| times[*a].total_cmp(&times[*b]));
        best.unwrap_or(0)
    }

    /// Replaces a product of a shared bit by a choice, if that takes less time.
    fn select<P: Protocol>(&mut self, phase: Phase, ring: Domain, step: &mut Step) {
        let is_bit = |value: PlanValue| {
            let planned = &self.plan[value];
            let given = self.copies.contains_key(&(value, ring.algebra));
            let bit = (planned.bits, planned.signed) == (1, false);
            bit && !given && planned.domain.algebra == Algebra::Z2
        };
        let Some((bit, choice)) = ring_steps::choice(step, is_bit) else {
            return;
        };
        let to = |domain| self.route::<P>(bit, domain).0;
        let [to_bits, to_ring] = [P::domain(Algebra::Z2), ring].map(to);
        let product = to_ring + self.step_ns::<P>(phase, step);
        if to_bits + self.step_ns::<P>(phase, &choice) < product {
            *step = choice;
        }
    }

    /// Nanoseconds of a step whose operands are in its domain.
    fn step_ns<P: Protocol>(&mut self, phase: Phase, step: &Step) -> f64 {
        self.plan.segments = vec![Segment {
            rows: phase.rows,
            refill: None,
            steps: vec![step.clone()],
        }];
        first_step_ns::<P>(self.plan, self.rows(phase.rows), self.together())
    }

    /// Number of steps that share each round.
    fn together(&self) -> u32 {
        match self.choice {
            Choice::Least { together, .. } => together,
            // Conversions of products, which wait for no sum.
            Choice::Sums(_) => SHARED,
            Choice::Only(_) | Choice::Gates(_) | Choice::Improved => 1,
        }
    }

    /// Rows of a tile that times are counted for.
    fn rows(&self, rows: Option<RowId>) -> u64 {
        let full = self.plan.full_tile(rows);
        match self.choice {
            Choice::Least { rows, .. } => full.min(rows),
            _ => full,
        }
    }

    /// The step that makes an input or a public value again in a domain, where it can be.
    fn given_in<P: Protocol>(&self, value: PlanValue, to: Domain) -> Option<&Step> {
        let step = self.given.get(&value).filter(|_| P::gives(to))?;
        let here = match &step.op {
            StepOp::Input { input, .. } => {
                let owner = self.plan.owners[*input as usize];
                self.plan.setting.role_of(owner).is_some()
            }
            _ => true,
        };
        here.then_some(step)
    }

    /// The step that converts a value: with `part`, only to the bits that are read.
    fn conversion(&self, tensor: PlanValue, [value, out]: [PlanValue; 2], part: bool) -> StepOp {
        let planned = &self.plan[value];
        match self.parts.get(&tensor) {
            Some(of) if part => ring_steps::extract(*of, (value, planned), out),
            _ => StepOp::Convert { value, out },
        }
    }

    /// The route by which a value gets to a domain in the least time, and that time in nanoseconds.
    fn route<P: Protocol>(&self, tensor: PlanValue, to: Domain) -> (f64, Vec<Domain>) {
        let copy = self.copies.get(&(tensor, to.algebra));
        let value = copy.copied().unwrap_or(tensor);
        let planned = &self.plan[value];
        if planned.domain == to {
            return (0.0, vec![]);
        }
        let timed = |route: Vec<Domain>| {
            let (mut from, mut there, mut ns) = (planned.domain, Some(value), 0.0);
            for to in &route {
                there = there.and_then(|value| self.converted.get(&(value, *to)).copied());
                if there.is_none() {
                    let elements = planned.elements * self.rows(planned.rows);
                    let given = self.given_in::<P>(value, *to);
                    let shape = match given.map(|step| &step.op) {
                        Some(StepOp::Input { input, .. }) => {
                            let owner = self.plan.owners[*input as usize];
                            StepShape::input(owner, *to, elements, planned.bits.into())
                        }
                        // A public value costs nothing.
                        Some(_) => {
                            from = *to;
                            continue;
                        }
                        None => StepShape::Convert(ConvertShape {
                            from,
                            to: *to,
                            elements,
                            bits: planned.bits.into(),
                            signed: planned.signed,
                        }),
                    };
                    ns += step_ns::<P>(&self.plan.setting, &shape, self.together());
                }
                from = *to;
            }
            (ns, route)
        };
        let routes = P::routes(planned.domain, to).into_iter().map(timed);
        let best = routes.min_by(|(a, _), (b, _)| a.total_cmp(b));
        best.unwrap_or((0.0, vec![to]))
    }

    /// Returns a tensor in the given algebra, converted if necessary.
    fn convert<P: Protocol>(&mut self, tensor: PlanValue, wanted: Domain) -> PlanValue {
        let copy = self.copies.get(&(tensor, wanted.algebra));
        let mut value = copy.copied().unwrap_or(tensor);
        let span = &self.draft.units[self.draft.tensors[tensor.0 as usize].unit].span;
        let from = self.domain(value);
        let mut routes = P::routes(from, wanted);
        if routes.len() > 1 {
            routes = vec![self.route::<P>(tensor, wanted).1];
        }
        let route = routes.into_iter().flatten();
        for domain in route.filter(|_| from != wanted) {
            // Bits of which some are left out lead no further: a route by way of them needs all.
            let ring = self.domain(value).algebra != Algebra::Z2;
            let read = ring && domain == P::domain(Algebra::Z2) && self.parts.contains_key(&tensor);
            let (part, whole) = (read && domain == wanted, read && domain != wanted);
            let known = self.converted.get(&(value, domain)).copied();
            value = known.filter(|_| !whole).unwrap_or_else(|| {
                let out = self.like(value);
                self.plan[out].domain = domain;
                if !whole {
                    self.converted.insert((value, domain), out);
                }
                let given = self.given_in::<P>(value, domain);
                let step = given.map(|step| again(step, out)).unwrap_or_else(|| Step {
                    op: self.conversion(tensor, [value, out], part),
                    label: "convert".into(),
                    span: span.clone(),
                });
                self.steps.push((self.there[value.0 as usize], step));
                out
            });
        }
        value
    }
}
