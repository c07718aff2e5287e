//! Views and concatenations: elements that move, or that strides reach where they are.

use super::site::{Access, At, Fuser};
use crate::place::{Placement, lens};
use crate::steps::{Len, StepOp};
use sealane_program::graph::{Op, ValueId};
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
    pub(super) fn widened(&mut self, part: ValueId, at: At<'_>) -> Placement {
        let whole = at.value;
        let placed = self.stored(part);
        let range = self.draft.tensor(placed.store).range;
        if (range.bits(), range.signed()) == (whole.range.bits(), whole.range.signed()) {
            return placed;
        }
        let lanes = lens(&self.main(part).shape);
        let access = Access { id: part, inner: 0 };
        let (unit, ids) = self.join(at, &lanes, &[access]);
        let (cast, body) = (Op::Cast(ids[0]), self.body(unit));
        let node = body.push(cast, whole.ty, Vec::new(), whole.range);
        self.export(unit, node, None)
    }

    /// Adds rows of tables under one another.
    pub(super) fn append(
        &mut self,
        at: At<'_>,
        parts: &[(ValueId, Placement)],
        algebra: Algebra,
    ) -> Placement {
        let value = at.value;
        let part = |(id, placed): &(ValueId, Placement)| {
            let read = placed.read(&[Len::Rows], placed.dims.len() - 1);
            Some((self.main(*id).shape.rows?, read))
        };
        let parts: Vec<_> = parts.iter().filter_map(part).collect();
        let Some(rows) = value.shape.rows else {
            unreachable!("check has seen that they are rows")
        };
        let out = self.tensor_in(algebra, Some(rows), &value.shape.fixed, value.range);
        self.add(at, StepOp::Append { parts, rows, out });
        Placement::whole(out, &lens(&value.shape))
    }

    /// Adds a concatenation: one lane for each place before the axis.
    pub(super) fn concat(
        &mut self,
        at: At<'_>,
        parts: &[Placement],
        axis: usize,
        algebra: Algebra,
    ) -> Placement {
        let value = at.value;
        let all = lens(&value.shape);
        let (lanes, rest) = all.split_at(axis);
        let part = |placed: &Placement| placed.read(lanes, rest.len());
        let parts = parts.iter().map(part).collect();
        let (rows, fixed) = (value.shape.rows, &value.shape.fixed);
        let out = self.tensor_in(algebra, rows, fixed, value.range);
        self.add(at, StepOp::Concat { parts, out });
        Placement::whole(out, &all)
    }
}
