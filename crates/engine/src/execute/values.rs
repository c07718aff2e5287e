//! Where shares come from and how long they stay: earlier steps, kept rows, constants, this party's
//! inputs.

use super::{Held, Run, Stored, internal};
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

/// The values of a block in flight. One that all steps have read which read it is forgotten, so
/// that only what is alive takes memory.
pub(super) struct Tile<P: Protocol> {
    values: Stored<P>,
    /// How many steps have still to read each value.
    readers: HashMap<PlanValue, usize>,
    /// What steps that carry have made of this tile, until it is combined with what came before.
    partial: Stored<P>,
    /// Whether the journal has told that it was taken up, and tells of its end.
    pub told: bool,
}

/// The tiles so far of a value whose rows are kept. Their list grows as they are made, since the
/// number of rows may be what a peer says.
pub(super) struct Kept<P: Protocol> {
    parts: Vec<Option<Held<P>>>,
    missing: usize,
}

impl<P: Protocol> Tile<P> {
    pub fn new(readers: HashMap<PlanValue, usize>, told: bool) -> Tile<P> {
        Tile {
            values: HashMap::new(),
            readers,
            partial: HashMap::new(),
            told,
        }
    }

    /// A step has read these values.
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

/// How many steps of each segment read each value, counted once for each operand.
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

impl<P: Protocol> Run<'_, '_, P> {
    pub(super) fn tile(&mut self, block: TileRun) -> Result<&mut Tile<P>, Fault> {
        let tile = self.tiles.get_mut(&block);
        tile.ok_or_else(|| internal("a block is not in flight"))
    }

    /// A value of the block at hand, or one that was stored.
    pub(super) fn value(&mut self, value: PlanValue, block: TileRun) -> Result<Held<P>, Fault> {
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

    /// What a step made. In a segment that runs once it is stored for others as well; a value whose
    /// rows are kept is stored when the last tile has been made.
    pub(super) fn write(
        &mut self,
        value: PlanValue,
        share: impl Into<Held<P>>,
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
                let kept = kept.or_insert_with(|| Kept {
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

    /// What a step that carries made of a tile.
    pub(super) fn write_partial(
        &mut self,
        value: PlanValue,
        share: P::Share,
        block: TileRun,
    ) -> Result<(), Fault> {
        self.tile(block)?.partial.insert(value, Arc::new(share));
        Ok(())
    }

    /// What the tiles before this one left of a value that is carried, if there are any; and what
    /// this one has made.
    pub(super) fn carried(
        &mut self,
        value: PlanValue,
        block: TileRun,
    ) -> Result<(Option<Held<P>>, Held<P>), Fault> {
        let partial = self.tile(block)?.partial.remove(&value);
        let partial = partial.ok_or_else(|| internal("a tile has nothing to carry"))?;
        Ok((self.stored.remove(&value), partial))
    }

    /// The planes that a step wants of an operand. A view of everything in order costs nothing.
    pub(super) fn operand(&mut self, operand: &Operand, block: TileRun) -> Result<Held<P>, Fault> {
        let share = self.value(operand.value, block)?;
        let (lanes, inner) = (operand.lanes.at(block.rows), operand.inner.at(block.rows));
        if inner.count() == 1 && inner.offset == 0 && lanes.is_whole(share.elements()) {
            return Ok(share);
        }
        Ok(Arc::new(share.gather(&lanes, &inner)))
    }

    /// Several operands.
    pub(super) fn operands(
        &mut self,
        operands: &[Operand],
        block: TileRun,
    ) -> Result<Vec<Held<P>>, Fault> {
        let shares = operands.iter().map(|operand| self.operand(operand, block));
        shares.collect()
    }

    /// Part of what a tape made.
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

    /// A linear map of operands.
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

    /// The bits of the block's part of an input, at its owner.
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

    /// A result from its bits.
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
