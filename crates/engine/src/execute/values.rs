//! Sources and lifetimes of shares: earlier steps, kept rows, constants, and this party's inputs.

use super::{PlanRun, ShareMap, ShareRef, internal};
use crate::bits::{from_planes, to_planes};
use sealane_plan::flow::TileRun;
use sealane_plan::steps::{
    LinearFactor, LinearTerm, Operand, Plan, PlanValue, Produced, ResultPlan,
};
use sealane_program::types::Data;
use sealane_protocol::{Factor, Fault, Protocol, Shares, Term, View};
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Values of a block in flight. A value is freed when all steps that read it have done so, so that
/// only live values take memory.
pub(super) struct Tile<P: Protocol> {
    values: ShareMap<P>,
    /// Number of steps that have still to read each value.
    readers: HashMap<PlanValue, usize>,
    /// Partial results of carrying steps for this tile, until they are combined with the earlier
    /// ones.
    partial: ShareMap<P>,
    /// Set if the journal reported the start of the tile, and so has to report its end.
    pub reported: bool,
}

/// Tiles so far of a value whose rows are kept. The list grows as tiles are made, since the number
/// of rows may come from a peer.
pub(super) struct KeptTiles<P: Protocol> {
    parts: Vec<Option<ShareRef<P>>>,
    missing: usize,
}

impl<P: Protocol> Tile<P> {
    pub fn new(readers: HashMap<PlanValue, usize>, reported: bool) -> Tile<P> {
        Tile {
            values: HashMap::new(),
            readers,
            partial: HashMap::new(),
            reported,
        }
    }

    /// Counts down the readers of these values after a step has read them.
    pub fn release(&mut self, values: &[PlanValue]) {
        for value in values {
            let left = self.readers.entry(*value).or_insert(1);
            *left -= 1;
            if *left == 0 {
                self.values.remove(value);
            }
        }
    }
}

/// Counts the steps of each segment that read each value, once for each operand.
pub(super) fn readers(plan: &Plan) -> Vec<HashMap<PlanValue, usize>> {
    let of_segment = |segment: &sealane_plan::steps::Segment| {
        let mut readers = HashMap::new();
        for value in segment.steps.iter().flat_map(|step| step.op.reads()) {
            *readers.entry(value).or_insert(0) += 1;
        }
        readers
    };
    plan.segments.iter().map(of_segment).collect()
}

impl<P: Protocol> PlanRun<'_, '_, P> {
    pub(super) fn tile(&mut self, block: TileRun) -> Result<&mut Tile<P>, Fault> {
        let tile = self.tiles.get_mut(&block);
        tile.ok_or_else(|| internal("a block is not in flight"))
    }

    /// Returns a value of the current block, or a stored one.
    pub(super) fn value(&mut self, value: PlanValue, block: TileRun) -> Result<ShareRef<P>, Fault> {
        if let Some(share) = self.tile(block)?.values.get(&value) {
            return Ok(share.clone());
        }
        let stored = self.stored.get(&value);
        let stored = stored
            .ok_or_else(|| internal("a value is not there yet"))?
            .clone();
        let plan = &self.plan.values[value.0 as usize];
        if plan.rows.is_none() {
            return Ok(stored);
        }
        let (first, count) = (block.start * plan.elements, block.rows * plan.elements);
        let view = View {
            offset: first as usize,
            dims: vec![(count as usize, 1)],
        };
        let share = Arc::new(stored.gather(&view, &View::whole(1)));
        self.tile(block)?.values.insert(value, share.clone());
        Ok(share)
    }

    /// Writes the result of a step. In a segment that runs once it is stored for other segments as
    /// well; a value whose rows are kept is stored after its last tile.
    pub(super) fn write(
        &mut self,
        value: PlanValue,
        share: impl Into<ShareRef<P>>,
        block: TileRun,
    ) -> Result<(), Fault> {
        let share = share.into();
        let segment = &self.plan.segments[block.segment];
        let plan = &self.plan.values[value.0 as usize];
        match segment.rows {
            None => drop(self.stored.insert(value, share.clone())),
            Some(table) if plan.kept => {
                let table = usize::from(table.0);
                let tiles = self.rows[table].div_ceil(self.plan.rows[table].tile) as usize;
                let kept = self.kept.entry(value);
                let kept = kept.or_insert_with(|| KeptTiles {
                    parts: Vec::new(),
                    missing: tiles,
                });
                let known = kept.parts.len().max(block.tile as usize + 1);
                kept.parts.resize(known, None);
                kept.parts[block.tile as usize] = Some(share.clone());
                kept.missing -= 1;
                if kept.missing == 0 {
                    let parts = kept.parts.iter().flatten().map(Arc::as_ref);
                    let whole = P::Share::concat(&parts.collect::<Vec<_>>());
                    self.stored.insert(value, Arc::new(whole));
                    self.kept.remove(&value);
                }
            }
            Some(_) => {}
        }
        let tile = self.tile(block)?;
        if tile.readers.contains_key(&value) {
            tile.values.insert(value, share);
        }
        Ok(())
    }

    /// Writes the partial result of a carrying step for a tile.
    pub(super) fn write_partial(
        &mut self,
        value: PlanValue,
        share: P::Share,
        block: TileRun,
    ) -> Result<(), Fault> {
        self.tile(block)?.partial.insert(value, Arc::new(share));
        Ok(())
    }

    /// Returns the carried value of the tiles before this one, if there are any, and the partial
    /// result of this one.
    pub(super) fn carried(
        &mut self,
        value: PlanValue,
        block: TileRun,
    ) -> Result<(Option<ShareRef<P>>, ShareRef<P>), Fault> {
        let partial = self.tile(block)?.partial.remove(&value);
        let partial = partial.ok_or_else(|| internal("a tile has nothing to carry"))?;
        Ok((self.stored.remove(&value), partial))
    }

    /// Returns the planes of an operand that a step reads. A view of everything in order is not
    /// copied.
    pub(super) fn operand(
        &mut self,
        operand: &Operand,
        block: TileRun,
    ) -> Result<ShareRef<P>, Fault> {
        let share = self.value(operand.value, block)?;
        let (lanes, inner) = (operand.lanes.at(block.rows), operand.inner.at(block.rows));
        if inner.count() == 1 && inner.offset == 0 && lanes.is_whole(share.elements()) {
            return Ok(share);
        }
        Ok(Arc::new(share.gather(&lanes, &inner)))
    }

    /// Returns the planes of several operands.
    pub(super) fn operands(
        &mut self,
        operands: &[Operand],
        block: TileRun,
    ) -> Result<Vec<ShareRef<P>>, Fault> {
        let shares = operands.iter().map(|operand| self.operand(operand, block));
        shares.collect()
    }

    /// Returns a part of the result of a tape.
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
        let plan = &self.plan.values[out.0 as usize];
        let planes = plan.plain_bits() as usize;
        let bits = to_planes(&data.elements, planes);
        self.party
            .constant(plan.domain, planes, data.elements.len(), &bits)
    }

    /// Computes a linear map of operands.
    pub(super) fn linear(
        &mut self,
        terms: &[LinearTerm],
        out: PlanValue,
        lanes: usize,
        block: TileRun,
    ) -> Result<P::Share, Fault> {
        let shares = terms.iter().map(|term| self.operand(&term.operand, block));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let factor = |factor: &LinearFactor| match factor {
            LinearFactor::Number(number) => Factor::Number(*number),
            LinearFactor::Table { data, lanes, inner } => {
                let lanes = lanes.at(block.rows).indices();
                let inner = inner.at(block.rows).indices();
                let plane = |i: &usize| {
                    let i = *i;
                    lanes.iter().map(move |lane| data.elements[lane + i])
                };
                Factor::Table(inner.iter().flat_map(plane).collect())
            }
        };
        let terms = terms.iter().zip(&shares).map(|(term, share)| Term {
            share: share.as_ref(),
            factor: factor(&term.factor),
        });
        let domain = self.plan.values[out.0 as usize].domain;
        self.party.linear(domain, lanes, &terms.collect::<Vec<_>>())
    }

    /// Returns the bits of the block's part of an input, at its owner.
    pub(super) fn input_bits(
        &self,
        input: u32,
        out: PlanValue,
        block: TileRun,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let data = self.inputs[input as usize]?;
        let plan = &self.plan.values[out.0 as usize];
        let rows = plan.rows.map_or(1, |_| block.rows);
        let (first, count) = (block.start * plan.elements, rows * plan.elements);
        let elements = &data.elements[first as usize..(first + count) as usize];
        Some(Zeroizing::new(to_planes(
            elements,
            plan.plain_bits() as usize,
        )))
    }

    /// Decodes a result from its bits.
    pub(super) fn revealed(&self, result: &ResultPlan, bits: &[u8]) -> Data {
        let plan = &self.plan.values[result.value.0 as usize];
        let rows = plan.rows.map(|id| self.rows[usize::from(id.0)]);
        let shape = rows.into_iter().chain(result.fixed.iter().copied());
        Data {
            ty: result.ty,
            shape: shape.collect(),
            elements: from_planes(bits, plan.plain_bits() as usize, plan.signed),
        }
    }
}
