//! Sources and lifetimes of shares: earlier steps, kept rows, constants, and this party's inputs.

use super::tasks::{in_elements, one_lane};
use super::walker::Walker;
use super::{Result, ShareRef, internal};
use sealane_party::{Factor, Selected, Shares, Steps, Term, Words};
use sealane_plan::flow::TileRun;
use sealane_plan::steps::{
    LinearFactor, LinearTerm, Operand, Plan, PlanValue, Produced, ResultPlan, StepOp,
};
use sealane_program::types::{Data, RowId};
use sealane_protocol::{View, Walk};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Shares by plan value.
type ShareMap<W> = HashMap<PlanValue, ShareRef<W>>;

/// Values of a walk.
pub(super) struct Values<W: Steps> {
    /// Blocks in flight.
    tiles: HashMap<TileRun, Tile<W>>,
    /// Values without rows, and kept values with all their rows.
    stored: ShareMap<W>,
    /// Tiles so far of the kept values.
    kept: HashMap<PlanValue, KeptTiles<W>>,
    /// Number of steps of a segment that read each value, by segment.
    readers: Vec<HashMap<PlanValue, usize>>,
    /// Number of blocks that have still to read each stored value, but for results.
    blocks: HashMap<PlanValue, u64>,
    /// Values that are opened tile by tile and read nowhere else.
    passing: HashSet<PlanValue>,
    /// Elements of the tiles that were opened to this party, by result.
    opened: BTreeMap<u32, BTreeMap<u64, Words>>,
}

/// Values of a block in flight. A value is freed when all steps that read it have done so, so that
/// only live values take memory.
struct Tile<W: Steps> {
    values: ShareMap<W>,
    /// Number of steps that have still to read each value.
    readers: HashMap<PlanValue, usize>,
    /// Partial results of carrying steps for this tile, until they are combined with the earlier
    /// ones.
    partial: ShareMap<W>,
}

/// Tiles so far of a value whose rows are kept. The list grows as tiles are made, since the number
/// of rows may come from a peer.
struct KeptTiles<W: Steps> {
    parts: Vec<Option<ShareRef<W>>>,
    missing: usize,
}

impl<W: Steps> Values<W> {
    pub fn new(plan: &Plan, rows: &[u64]) -> Values<W> {
        Values {
            blocks: blocks(plan, rows),
            passing: passing(plan, rows),
            opened: BTreeMap::new(),
            tiles: HashMap::new(),
            stored: HashMap::new(),
            kept: HashMap::new(),
            readers: readers(plan),
        }
    }

    /// Makes room for the values of a block, unless it is in flight; returns whether it was.
    pub fn enter(&mut self, block: TileRun) -> bool {
        let known = self.tiles.contains_key(&block);
        self.tiles.entry(block).or_insert_with(|| Tile {
            values: HashMap::new(),
            readers: self.readers[block.segment].clone(),
            partial: HashMap::new(),
        });
        known
    }

    /// Drops the values of a block, and stored ones that no other block reads.
    pub fn leave(&mut self, block: &TileRun) {
        if self.tiles.remove(block).is_none() {
            return;
        }
        for value in self.readers[block.segment].keys() {
            if let Some(left) = self.blocks.get_mut(value) {
                *left -= 1;
                if *left == 0 {
                    self.stored.remove(value);
                }
            }
        }
    }

    /// Takes the tiles of a result that were opened to this party.
    pub fn take_opened(&mut self, result: u32) -> Vec<Words> {
        let tiles = self.opened.remove(&result).unwrap_or_default();
        tiles.into_values().collect()
    }

    /// A value without rows, or with all of them.
    pub fn stored(&self, value: PlanValue) -> Option<ShareRef<W>> {
        self.stored.get(&value).cloned()
    }

    /// Stores a value without rows, or the state of a loop.
    pub fn store(&mut self, value: PlanValue, share: ShareRef<W>) {
        self.stored.insert(value, share);
    }

    fn tile(&mut self, block: TileRun) -> Result<&mut Tile<W>> {
        let tile = self.tiles.get_mut(&block);
        tile.ok_or_else(|| internal("a block is not in flight"))
    }

    /// Counts down the readers of these values after a step has read them. A stored value is freed
    /// at once if this block is the last that reads it.
    pub fn release(&mut self, block: TileRun, values: &[PlanValue]) -> Result<()> {
        let tile = self.tiles.get_mut(&block);
        let tile = tile.ok_or_else(|| internal("a block is not in flight"))?;
        for value in values {
            let left = tile.readers.entry(*value).or_insert(1);
            *left -= 1;
            if *left == 0 {
                tile.values.remove(value);
                if self.blocks.get(value) == Some(&1) {
                    self.stored.remove(value);
                }
            }
        }
        Ok(())
    }
}

/// Counts the blocks that read each value that is stored. Results stay until the end.
fn blocks(plan: &Plan, rows: &[u64]) -> HashMap<PlanValue, u64> {
    let mut blocks = HashMap::new();
    for (segment, readers) in plan.segments.iter().zip(readers(plan)) {
        let runs = segment.rows.map_or(1, |table| {
            let table = usize::from(table.0);
            rows[table].div_ceil(plan.rows[table].tile)
        });
        for value in readers.into_keys() {
            let mut results = plan.results.iter().filter(|result| result.value == value);
            let result = results.any(|result| !plan.in_tiles(result, rows));
            if !result {
                *blocks.entry(value).or_insert(0) += runs;
            }
        }
    }
    blocks
}

/// Returns the values that are opened tile by tile and that no segment reads but their own.
fn passing(plan: &Plan, rows: &[u64]) -> HashSet<PlanValue> {
    let results = plan.results.iter();
    let in_tiles = results.filter(|result| plan.in_tiles(result, rows));
    let readers = readers(plan);
    let read_once = |value: &PlanValue| {
        let reading = readers.iter().filter(|readers| readers.contains_key(value));
        reading.count() == 1
    };
    let values = in_tiles.map(|result| result.value);
    values.filter(read_once).collect()
}

/// Counts the steps of each segment that read each value, once for each operand.
fn readers(plan: &Plan) -> Vec<HashMap<PlanValue, usize>> {
    let of_segment = |segment: &sealane_plan::steps::Segment| {
        let mut readers = HashMap::new();
        for value in segment.steps.iter().flat_map(|step| step.op.reads()) {
            *readers.entry(value).or_insert(0) += 1;
        }
        readers
    };
    plan.segments.iter().map(of_segment).collect()
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    fn tile(&mut self) -> Result<&mut Tile<W>> {
        self.state.values.tile(self.run)
    }

    /// Returns a value of the current block, or a stored one.
    pub(super) fn value(&mut self, value: PlanValue) -> Result<ShareRef<W>> {
        if let Some(share) = self.tile()?.values.get(&value) {
            return Ok(share.clone());
        }
        let stored = self.state.values.stored(value);
        let stored = stored.ok_or_else(|| internal("a value is not there yet"))?;
        let plan = &self.plan[value];
        if plan.rows.is_none() {
            return Ok(stored);
        }
        let (first, count) = (
            self.run.start * plan.elements,
            self.run.rows * plan.elements,
        );
        let view = View::new(first as usize, vec![(count as usize, 1)]);
        let share = Arc::new(stored.gather(&view, &View::whole(1)));
        self.tile()?.values.insert(value, share.clone());
        Ok(share)
    }

    /// Writes the result of a step. In a segment that runs once it is stored for other segments as
    /// well; a value whose rows are kept is stored after its last tile.
    pub(super) fn write(&mut self, value: PlanValue, share: impl Into<ShareRef<W>>) -> Result<()> {
        let share = share.into();
        let segment = &self.plan.segments[self.run.segment];
        let plan = &self.plan[value];
        match segment.rows {
            None => drop(self.state.values.stored.insert(value, share.clone())),
            Some(table) if plan.kept && !self.state.values.passing.contains(&value) => {
                let table = usize::from(table.0);
                let tiles = self.rows[table].div_ceil(self.plan.rows[table].tile) as usize;
                let kept = self.state.values.kept.entry(value);
                let kept = kept.or_insert_with(|| KeptTiles {
                    parts: Vec::new(),
                    missing: tiles,
                });
                let known = kept.parts.len().max(self.run.tile as usize + 1);
                kept.parts.resize(known, None);
                kept.parts[self.run.tile as usize] = Some(share.clone());
                kept.missing -= 1;
                if kept.missing == 0 {
                    let parts = kept.parts.iter().flatten().map(Arc::as_ref);
                    let whole = W::Share::concat(&parts.collect::<Vec<_>>());
                    self.state.values.stored.insert(value, Arc::new(whole));
                    self.state.values.kept.remove(&value);
                }
            }
            Some(_) => {}
        }
        let tile = self.tile()?;
        if tile.readers.contains_key(&value) {
            tile.values.insert(value, share);
        }
        Ok(())
    }

    /// Writes the result of a step for a tile, which a carrying step combines with those of others.
    pub(super) fn write_total(&mut self, value: PlanValue, share: W::Share) -> Result<()> {
        if self.op.carries() {
            self.write_partial(value, share)
        } else {
            self.write(value, share)
        }
    }

    /// Writes the partial result of a carrying step for a tile.
    fn write_partial(&mut self, value: PlanValue, share: W::Share) -> Result<()> {
        self.tile()?.partial.insert(value, Arc::new(share));
        Ok(())
    }

    /// Returns the carried value of the tiles before this one, if there are any, and the partial
    /// result of this one.
    pub(super) fn carried(&mut self, of: PlanValue) -> Result<(Option<ShareRef<W>>, ShareRef<W>)> {
        let partial = self.tile()?.partial.remove(&of);
        let partial = partial.ok_or_else(|| internal("a tile has nothing to carry"))?;
        Ok((self.state.values.stored.remove(&of), partial))
    }

    /// Returns the elements of an operand that a step reads, as a view of its value.
    pub(super) fn selected(&mut self, operand: &Operand) -> Result<Selected<W::Share>> {
        Ok(Selected {
            share: self.value(operand.value)?,
            lanes: operand.lanes.at(self.run.rows),
            inner: operand.inner.at(self.run.rows),
            numbers: self.plan[operand.value].numbers(None),
        })
    }

    /// Returns the elements of an operand of a step on all rows of a table; without a table, as
    /// [`Walker::selected`] does.
    pub(super) fn selected_of_all(
        &mut self,
        operand: &Operand,
        table: Option<RowId>,
    ) -> Result<Selected<W::Share>> {
        let Some(table) = table else {
            return self.selected(operand);
        };
        let rows = self.rows[usize::from(table.0)];
        let share = self.state.values.stored(operand.value);
        Ok(Selected {
            share: share.ok_or_else(|| internal("rows are not there yet"))?,
            lanes: operand.lanes.at(rows),
            inner: operand.inner.at(rows),
            numbers: self.plan[operand.value].numbers(None),
        })
    }

    /// Returns the planes of an operand that a step reads. A view of everything in order is not
    /// copied.
    pub(super) fn operand(&mut self, operand: &Operand) -> Result<ShareRef<W>> {
        Ok(self.selected(operand)?.gathered())
    }

    /// Returns the planes of several operands.
    pub(super) fn operands(&mut self, operands: &[Operand]) -> Result<Vec<ShareRef<W>>> {
        let shares = operands.iter().map(|operand| self.operand(operand));
        shares.collect()
    }

    /// Returns the planes of several operands of a step on all rows of a table, if it has one.
    pub(super) fn operands_of_all(
        &mut self,
        operands: &[Operand],
        table: Option<RowId>,
    ) -> Result<Vec<ShareRef<W>>> {
        let all = operands.iter();
        let all = all.map(|operand| Ok(self.selected_of_all(operand, table)?.gathered()));
        all.collect()
    }

    /// Returns the elements of each captured value as the planes of one lane.
    pub(super) fn captured(&mut self, values: &[PlanValue]) -> Result<Vec<ShareRef<W>>> {
        let shares = values.iter().map(|value| self.value(*value));
        shares.map(|share| Ok(one_lane::<W>(&*share?))).collect()
    }

    /// Returns a part of the result of a tape.
    pub(super) fn produced(&self, share: &W::Share, out: &Produced) -> W::Share {
        let bits = u32::from(self.plan[out.value].bits);
        let planes = share.resize(out.first as usize, (out.inner * bits) as usize, false);
        in_elements(planes, out.inner as usize)
    }

    pub(super) fn constant(&mut self, elements: &[u64], out: PlanValue) -> W::Share {
        let plan = &self.plan[out];
        let bits = plan.plain_bits() as usize;
        self.party.constant(plan.domain, bits, elements)
    }

    /// Keeps an opened tile of a result, or writes an opened value as a public constant; in the
    /// offline walk, where it is not known, as zero.
    pub(super) fn opened(&mut self, words: Option<Words>) -> Result<()> {
        let (value, out) = match self.op {
            StepOp::Open { value, out } => (value, out),
            StepOp::Reveal { result, .. } => {
                let tiles = self.state.values.opened.entry(*result).or_default();
                tiles.extend(words.map(|words| (self.run.tile, words)));
                return Ok(());
            }
            _ => return Err(internal("a step opened what it should share")),
        };
        let share = match (words, self.walk) {
            (Some(words), Walk::Online) => self.constant(&words, *out),
            (_, Walk::Online) => return Err(internal("an opening to all told nothing")),
            (_, Walk::Offline) => {
                let zeros = vec![0; self.value(*value)?.elements()];
                self.constant(&zeros, *out)
            }
        };
        self.write(*out, share)
    }

    /// Computes a linear map of operands.
    pub(super) fn linear(
        &mut self,
        terms: &[LinearTerm],
        out: PlanValue,
        lanes: usize,
    ) -> Result<W::Share> {
        let shares = terms.iter().map(|term| self.operand(&term.operand));
        let shares = shares.collect::<Result<Vec<_>>>()?;
        let factor = |factor: &LinearFactor| match factor {
            LinearFactor::Number(number) => Factor::Number(*number),
            LinearFactor::Table { data, lanes, inner } => {
                let lanes = lanes.at(self.run.rows).indices();
                let inner = inner.at(self.run.rows).indices();
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
        let domain = self.domain(out);
        self.party.linear(domain, lanes, &terms.collect::<Vec<_>>())
    }

    /// Returns the block's part of an input, at its owner: the bits that count of each element.
    pub(super) fn input_words(&self, input: u32, out: PlanValue) -> Option<Words> {
        let data = self.inputs.get(input as usize).copied().flatten()?;
        let plan = &self.plan[out];
        let rows = plan.rows.map_or(1, |_| self.run.rows);
        let (first, count) = (self.run.start * plan.elements, rows * plan.elements);
        let elements = &data.elements[first as usize..(first + count) as usize];
        let mask = u64::MAX >> (64 - plan.plain_bits().clamp(1, 64));
        let words = elements.iter().map(|element| element & mask);
        Some(Zeroizing::new(words.collect()))
    }
}

/// Makes the data of a result from its elements: sign-extends them, if they are two's complement.
pub(super) fn revealed(plan: &Plan, rows: &[u64], of: &ResultPlan, mut tiles: Vec<Words>) -> Data {
    let value = &plan[of.value];
    let rows = value.rows.map(|id| rows[usize::from(id.0)]);
    let shape = rows.into_iter().chain(of.fixed.iter().copied());
    let shift = 64 - value.plain_bits().clamp(1, 64);
    let mut elements = match &mut tiles[..] {
        [all] => std::mem::take(&mut **all),
        tiles => tiles.iter().flat_map(|tile| tile.iter().copied()).collect(),
    };
    for element in elements.iter_mut().filter(|_| value.signed) {
        *element = ((*element << shift) as i64 >> shift) as u64;
    }
    Data {
        ty: of.ty,
        shape: shape.collect(),
        elements,
    }
}
