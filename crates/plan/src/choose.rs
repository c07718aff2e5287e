//! Pass `choose`: in which domain each value lives.
//!
//! A value lives where the step that makes it leaves it. Where a step wants it elsewhere, a
//! convert step stands between them: once for each value and domain, as soon as the value is
//! there. Tapes come before this pass, since every domain that a protocol has today is reached and
//! wanted by tapes; a protocol that multiplies without gates will make this choice on bodies.

use crate::draft::{Draft, Phase, Tensor};
use crate::lower::Lowered;
use crate::steps::{PlanValue, Step, StepOp, ValuePlan};
use sealane_circuit::Tape;
use sealane_protocol::{Algebra, Domain, Protocol, Sharing};
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
    let mut chooser = Chooser {
        draft,
        values: plain(draft),
        steps: vec![],
        converted: HashMap::new(),
    };
    for (unit, mut step) in draft.units.iter().zip(lowered.steps) {
        let wanted = match &step.op {
            StepOp::Move { operand, .. } => chooser.values[operand.value.0 as usize].domain,
            _ => P::domain(Algebra::Z2),
        };
        let made = match &step.op {
            StepOp::Input { .. } => P::input_domain(Algebra::Z2),
            _ => wanted,
        };
        step.op.redirect(|value| chooser.convert(value, wanted));
        for out in step.op.writes() {
            chooser.values[out.0 as usize].domain = made;
        }
        chooser.steps.push((unit.phase, step));
    }
    let reveal = P::domain(Algebra::Z2);
    let results = draft
        .results
        .iter()
        .map(|id| chooser.convert(PlanValue(id.0), reveal));
    let results = results.collect();
    Chosen {
        values: chooser.values,
        steps: chooser.steps,
        tapes: lowered.tapes,
        results,
    }
}

/// Values as tensors are, in a domain that the step which makes them replaces.
fn plain(draft: &Draft) -> Vec<ValuePlan> {
    let value = |tensor: &Tensor| ValuePlan {
        rows: tensor.rows,
        elements: tensor.elements,
        bits: tensor.range.bits(),
        signed: tensor.range.signed(),
        domain: PUBLIC,
        kept: false,
    };
    draft.tensors.iter().map(value).collect()
}

const PUBLIC: Domain = Domain {
    sharing: Sharing::Public,
    algebra: Algebra::Z2,
    authenticated: false,
};

struct Chooser<'a> {
    draft: &'a Draft,
    values: Vec<ValuePlan>,
    steps: Vec<(Phase, Step)>,
    converted: HashMap<(PlanValue, Domain), PlanValue>,
}

impl Chooser<'_> {
    /// The value in the domain that is wanted.
    fn convert(&mut self, value: PlanValue, wanted: Domain) -> PlanValue {
        let plan = self.values[value.0 as usize].clone();
        if plan.domain == wanted {
            return value;
        }
        let next = PlanValue(self.values.len() as u32);
        let out = *self.converted.entry((value, wanted)).or_insert(next);
        if out == next {
            self.values.push(ValuePlan {
                domain: wanted,
                ..plan
            });
            let op = StepOp::Convert { value, out };
            let maker = &self.draft.units[self.draft.tensors[value.0 as usize].unit];
            let phase = self.draft.there_in(value.0 as usize);
            let span = maker.span.clone();
            self.steps.push((
                phase,
                Step {
                    op,
                    label: "convert".into(),
                    span,
                },
            ));
        }
        out
    }
}
