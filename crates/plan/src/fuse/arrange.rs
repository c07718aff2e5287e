//! Views and concatenations: elements that move, or that strides reach where they are.

use super::site::{Access, Fuser};
use crate::draft::{Phase, UnitWork};
use crate::place::{Placement, lens};
use crate::steps::Len;
use sealane_program::graph::{Op, Value, ValueId};
use sealane_protocol::Algebra;

impl Fuser<'_> {
    /// Places a view of a value, whose elements are wanted in an algebra. Where no strides reach
    /// them, the value is first copied in row-major order, where strides reach all of its elements.
    pub(super) fn view(
        &mut self,
        of: ValueId,
        placed: Placement,
        (start, dims): (u64, &[(u64, i64)]),
        algebra: Algebra,
    ) -> Placement {
        if let Some(view) = placed.clone().view(start, dims) {
            return view;
        }
        let tensor = self.copied(of, placed, algebra);
        let whole = Placement::whole(tensor, &lens(&self.main(of).shape));
        let Some(view) = whole.view(start, dims) else {
            unreachable!("check has seen that the elements of a view exist")
        };
        view
    }

    /// Stores a part of a concatenation in the form of the whole one's range.
    pub(super) fn widened(&mut self, part: ValueId, phase: Phase, whole: &Value) -> Placement {
        let placed = self.stored(part);
        let range = self.draft.tensor(placed.store).range;
        if (range.bits(), range.signed()) == (whole.range.bits(), whole.range.signed()) {
            return placed;
        }
        let lanes = lens(&self.main(part).shape);
        let access = Access { id: part, inner: 0 };
        let (unit, ids) = self.join(phase, &lanes, &[access], whole);
        let cast = Op::Cast(ids[0]);
        let node = self
            .body(unit)
            .push(cast, whole.ty, Vec::new(), whole.range);
        self.export(unit, node, None)
    }

    /// Adds rows of tables under one another.
    pub(super) fn append(
        &mut self,
        value: &Value,
        phase: Phase,
        parts: &[(ValueId, Placement)],
        algebra: Algebra,
    ) -> Placement {
        let part = |(id, placed): &(ValueId, Placement)| {
            let read = placed.read(&[Len::Rows], placed.dims.len() - 1);
            Some((self.main(*id).shape.rows?, read))
        };
        let reads = parts.iter().filter_map(part).collect::<Vec<_>>();
        let Some(rows) = value.shape.rows else {
            unreachable!("check has seen that they are rows")
        };
        let tensors = reads.iter().map(|(_, read)| read.tensor);
        let rank = self.rank_after(&tensors.collect::<Vec<_>>(), phase);
        let out = self.tensor_in(algebra, Some(rows), &value.shape.fixed, value.range);
        let parts = reads;
        self.unit(phase, rank, UnitWork::Append { parts, rows, out }, value);
        Placement::whole(out, &lens(&value.shape))
    }

    /// Adds a concatenation: one lane for each place before the axis.
    pub(super) fn concat(
        &mut self,
        value: &Value,
        phase: Phase,
        parts: &[Placement],
        axis: usize,
        algebra: Algebra,
    ) -> Placement {
        let all = lens(&value.shape);
        let (lanes, rest) = all.split_at(axis);
        let part = |placed: &Placement| placed.read(lanes, rest.len());
        let reads = parts.iter().map(part).collect::<Vec<_>>();
        let tensors = reads.iter().map(|read| read.tensor).collect::<Vec<_>>();
        let rank = self.rank_after(&tensors, phase);
        let (rows, fixed) = (value.shape.rows, &value.shape.fixed);
        let out = self.tensor_in(algebra, rows, fixed, value.range);
        let work = UnitWork::Concat { parts: reads, out };
        self.unit(phase, rank, work, value);
        Placement::whole(out, &all)
    }
}
