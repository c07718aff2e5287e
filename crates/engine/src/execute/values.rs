//! Where values come from: earlier steps, kept rows, constants, this party's inputs.

use super::{Run, Tile, internal};
use crate::bits::to_planes;
use sealane_plan::steps::{Operand, PlanValue, Produced, TapeId};
use sealane_program::types::Data;
use sealane_protocol::{Fault, Outcome, Protocol, Shares, View};
use std::sync::Arc;
use zeroize::Zeroizing;

impl<P: Protocol> Run<'_, P> {
    pub(super) fn value(
        &self,
        value: PlanValue,
        tile: &mut Tile<P>,
    ) -> Result<Arc<P::Share>, Fault> {
        if let Some(share) = tile.values.get(&value) {
            return Ok(share.clone());
        }
        let stored = self
            .stored
            .get(&value)
            .ok_or_else(|| internal("a value is not there yet"))?;
        let plan = &self.plan.values[value.0 as usize];
        if plan.rows.is_none() {
            return Ok(stored.clone());
        }
        let (first, count) = (tile.start * plan.elements, tile.rows * plan.elements);
        let view = View {
            offset: first as usize,
            dims: vec![(count as usize, 1)],
        };
        let share = Arc::new(stored.gather(&view, &View::whole(1)));
        tile.values.insert(value, share.clone());
        Ok(share)
    }

    /// The planes that a tape wants of an operand. A view of everything in order costs nothing.
    pub(super) fn operand(
        &self,
        operand: &Operand,
        tile: &mut Tile<P>,
    ) -> Result<Arc<P::Share>, Fault> {
        let share = self.value(operand.value, tile)?;
        let (lanes, inner) = (operand.lanes.at(tile.rows), operand.inner.at(tile.rows));
        if inner.count() == 1 && inner.offset == 0 && lanes.is_whole(share.elements()) {
            return Ok(share);
        }
        Ok(Arc::new(share.gather(&lanes, &inner)))
    }

    pub(super) fn produced(&self, share: &P::Share, out: &Produced) -> P::Share {
        let bits = u32::from(self.plan.values[out.value.0 as usize].bits);
        let planes = share.resize(out.first as usize, (out.inner * bits) as usize, false);
        if out.inner == 1 {
            planes
        } else {
            planes.spread(out.inner as usize)
        }
    }

    pub(super) fn constant(&mut self, data: &Data, out: PlanValue) -> P::Share {
        let planes = usize::from(self.plan.values[out.0 as usize].bits);
        let bits = to_planes(&data.elements, planes);
        self.party.constant(planes, data.elements.len(), &bits)
    }

    /// The bits of the tile's part of an input, at its owner.
    pub(super) fn input_bits(
        &self,
        input: u32,
        out: PlanValue,
        tile: &Tile<P>,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let data = self.inputs[input as usize]?;
        let plan = &self.plan.values[out.0 as usize];
        let rows = plan.rows.map_or(1, |_| tile.rows);
        let (first, count) = (tile.start * plan.elements, rows * plan.elements);
        let elements = &data.elements[first as usize..(first + count) as usize];
        Some(Zeroizing::new(to_planes(elements, usize::from(plan.bits))))
    }

    pub(super) fn share(&mut self, outcome: Outcome<P>) -> Result<P::Share, Fault> {
        match outcome {
            Outcome::Share(share, checks) => {
                self.checks.extend(checks);
                Ok(share)
            }
            Outcome::Revealed(_) => Err(internal("a step revealed what it should share")),
        }
    }

    pub(super) fn count(&mut self, tape: TapeId, lanes: u64) {
        self.ands += self.plan.tapes[tape.0 as usize].ands.len() as u64 * lanes;
    }
}
