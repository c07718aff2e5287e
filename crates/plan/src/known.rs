//! Values that one party knows: its inputs, and what it makes of them alone, of which the shares of
//! others are zero. So a public number may multiply, but not be added.

use std::collections::HashMap;

use sealane_parties::PartyId;

use crate::steps::{Linear, PlanValue, StepOp};

/// The values of a plan that one party knows, of the steps so far.
#[derive(Default)]
pub(crate) struct Known(HashMap<PlanValue, PartyId>);

impl Known {
    /// Takes the next step of a plan whose inputs have these owners. Returns the parties that know
    /// the operands of a product.
    pub(crate) fn take(&mut self, op: &StepOp, owners: &[PartyId]) -> [Option<PartyId>; 2] {
        let known_to = |value: &PlanValue| self.0.get(value).copied();
        let (out, owner) = match op {
            StepOp::Product(product) => {
                let known = [&product.left, &product.right].map(|of| known_to(&of.value));
                if known[0] == known[1] {
                    self.0.extend(known[0].map(|owner| (product.out, owner)));
                }
                return known;
            }
            StepOp::Input { input, out } => (*out, owners.get(*input as usize).copied()),
            StepOp::Move { out, .. }
            | StepOp::Concat { out, .. }
            | StepOp::Linear(Linear { out, .. }) => {
                let mut its = op.reads().into_iter().map(|value| known_to(&value));
                let first = its.next().flatten();
                (*out, first.filter(|_| its.all(|other| other == first)))
            }
            _ => return [None; 2],
        };
        self.0.extend(owner.map(|owner| (out, owner)));
        [None; 2]
    }
}
