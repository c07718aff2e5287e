//! Pass `choose`: the domain in which each value is held.
//!
//! The pass `algebra` has chosen the algebra in which each step computes; the protocol names the
//! domain of each algebra. A value stays in the domain in which its step leaves it. Where a step
//! needs it in another one, a convert step stands between them: once for each value and domain, as
//! soon as the value exists. A result is revealed from the domain that it is in.
//!
//! Inputs and constants are made in each algebra that needs them, with a step of their own for
//! each: sharing an input again costs its owner less than a conversion costs all parties. With
//! malicious parties, though, an input that is needed twice is shared as bits and converted, since
//! nothing forces an owner to share the same number both times.

use crate::draft::{Draft, Phase, Rearrange, Tensor, TensorId, UnitWork};
use crate::lower::Lowered;
use crate::steps::{PlanValue, Step, StepOp, ValuePlan};
use sealane_circuit::Tape;
use sealane_protocol::{Algebra, Corruption, Domain, Protocol};
use std::collections::HashMap;

/// Steps with their phases, over values with their domains.
pub(crate) struct Chosen {
    pub values: Vec<ValuePlan>,
    pub steps: Vec<(Phase, Step)>,
    pub tapes: Vec<Tape>,
    /// The value of each result of the program.
    pub results: Vec<PlanValue>,
}

/// Gives every value its domain and inserts conversions.
pub(crate) fn domains<P: Protocol>(draft: &Draft, lowered: Lowered) -> Chosen {
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
    let mut chooser = Chooser {
        draft,
        values: plain(draft),
        there: there.collect(),
        steps: vec![],
        copies: HashMap::new(),
        converted: HashMap::new(),
    };
    let wants = wants(draft);
    for (unit, mut step) in draft.units.iter().zip(lowered.steps) {
        let domain = match &unit.work {
            UnitWork::Input { out, .. } => {
                let mut wants = wants[out.0 as usize].clone();
                if wants.len() > 1 && is_malicious::<P>() {
                    wants = vec![(Algebra::Z2, unit.phase)];
                }
                chooser.given(&step, unit.phase, &wants, P::input_domain);
                continue;
            }
            UnitWork::Constant { out, .. } | UnitWork::RowNumber { out } => {
                chooser.given(&step, unit.phase, &wants[out.0 as usize], P::domain);
                continue;
            }
            // Elements move in the domain that they are in.
            work @ (UnitWork::Move { .. }
            | UnitWork::Concat { .. }
            | UnitWork::Append { .. }
            | UnitWork::Rearrange(Rearrange { .. })) => {
                chooser.moved(&work.reads(), P::domain(draft.algebra(unit)))
            }
            work => match draft.algebra(unit) {
                Algebra::Z2 => P::tape_domain(work.tape_use()),
                ring => P::domain(ring),
            },
        };
        step.op
            .redirect(|value| chooser.convert::<P>(value, domain));
        for out in step.op.writes() {
            chooser.values[out.0 as usize].domain = domain;
        }
        chooser.steps.push((unit.phase, step));
    }
    let mut result = |id: &TensorId| {
        let algebra = chooser.values[id.0 as usize].domain.algebra;
        chooser.convert::<P>(PlanValue(id.0), P::domain(algebra))
    };
    let results = draft.results.iter().map(&mut result).collect();
    Chosen {
        values: chooser.values,
        steps: chooser.steps,
        tapes: lowered.tapes,
        results,
    }
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
    let mut want = |id: TensorId, algebra: Algebra, phase: Phase| {
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
        Algebra::Z2k(k) | Algebra::Gf2k(k) => *k,
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
    values: Vec<ValuePlan>,
    /// The first phase that may read each value.
    there: Vec<Phase>,
    steps: Vec<(Phase, Step)>,
    /// Inputs and constants that exist in several algebras.
    copies: HashMap<(PlanValue, Algebra), PlanValue>,
    converted: HashMap<(PlanValue, Domain), PlanValue>,
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
            let by_rows = self.values[value.0 as usize].rows.is_some();
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
                self.values[out.0 as usize].domain = domain(*algebra);
                self.there[out.0 as usize] = phase;
                self.copies.insert((value, *algebra), out);
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
                self.steps.push((phase, Step { op, label, span }));
            }
        }
    }

    /// The domain of elements that move: the one that they are all in, or else the main one of the
    /// algebra.
    fn moved(&self, from: &[TensorId], main: Domain) -> Domain {
        let domain = |tensor: &TensorId| {
            let value = PlanValue(tensor.0);
            let copy = self.copies.get(&(value, main.algebra)).copied();
            self.values[copy.unwrap_or(value).0 as usize].domain
        };
        let mut domains = from.iter().map(domain);
        match domains.next() {
            Some(first) if first.algebra == main.algebra && domains.all(|own| own == first) => {
                first
            }
            _ => main,
        }
    }

    /// Makes a new value of the same form.
    fn like(&mut self, value: PlanValue) -> PlanValue {
        self.values.push(self.values[value.0 as usize].clone());
        self.there.push(self.there[value.0 as usize]);
        PlanValue(self.values.len() as u32 - 1)
    }

    /// Returns a tensor in the given algebra, converted if necessary.
    fn convert<P: Protocol>(&mut self, tensor: PlanValue, wanted: Domain) -> PlanValue {
        let copy = self.copies.get(&(tensor, wanted.algebra));
        let mut value = copy.copied().unwrap_or(tensor);
        let span = &self.draft.units[self.draft.tensors[tensor.0 as usize].unit].span;
        // Conversions between algebras are between the main domains of each; others stay within an
        // algebra.
        let from = self.values[value.0 as usize].domain.algebra;
        for domain in [P::domain(from), P::domain(wanted.algebra), wanted] {
            let there = self.values[value.0 as usize].domain;
            if there == wanted || there == domain {
                continue;
            }
            let known = self.converted.get(&(value, domain)).copied();
            value = known.unwrap_or_else(|| {
                let out = self.like(value);
                self.values[out.0 as usize].domain = domain;
                self.converted.insert((value, domain), out);
                let step = Step {
                    op: StepOp::Convert { value, out },
                    label: "convert".into(),
                    span: span.clone(),
                };
                self.steps.push((self.there[value.0 as usize], step));
                out
            });
        }
        value
    }
}
