//! Rows times rows: maps whose bodies reduce all rows of a table.
//!
//! Such a body is cut where rows are reduced. A map over the same elements comes before each
//! reduction, with the values of an element that it takes, so that they are computed once for each
//! element and not for each pair. Then come the reductions of one table together, as a map that
//! returns nothing else, of which the pass `fuse` makes one unit; and at the end a map with what
//! the body makes of them.

use super::Expander;
use sealane_program::graph::{Graph, Loop, Op, Value, ValueId};
use sealane_program::types::{Dim, RowId};
use std::collections::BTreeMap;

/// For each value of a body the number of reductions of whole rows that stand behind it, one after
/// the other. None if the body does anything else with whole rows than to compute on each and to
/// reduce them.
pub(crate) fn levels(body: &Graph) -> Option<Vec<u32>> {
    let rows = |id: &ValueId| body[id].shape.rows;
    let mut levels: Vec<u32> = Vec::with_capacity(body.values.len());
    for value in &body.values {
        let operands = value.op.operands();
        let before = operands.iter().map(|id| levels[id.0 as usize]).max();
        let before = before.unwrap_or(0);
        let of_rows = operands.iter().any(|id| rows(id).is_some());
        let fits = match (&value.op, of_rows) {
            _ if reduces(body, value).is_some() => true,
            (Op::Param(_), _) => true,
            (_, false) => value.shape.rows.is_none(),
            (op, true) => value.shape.rows.is_some() && row_by_row(op, rows),
        };
        if !fits {
            return None;
        }
        levels.push(before + u32::from(reduces(body, value).is_some()));
    }
    Some(levels)
}

/// The table all of whose rows a value of a body reduces.
pub(crate) fn reduces(body: &Graph, value: &Value) -> Option<RowId> {
    match &value.op {
        Op::Reduce(_, of, 0) => body[of].shape.rows,
        _ => None,
    }
}

/// Returns whether an operation computes on each row alone.
fn row_by_row(op: &Op, rows: impl Fn(&ValueId) -> Option<RowId>) -> bool {
    match op {
        op if op.is_element_wise() => true,
        Op::Call(..)
        | Op::Slice(_)
        | Op::View { .. }
        | Op::Concat(..)
        | Op::Stack(..)
        | Op::Part(..) => true,
        Op::Reduce(_, _, axis) | Op::Accumulate(_, _, axis) => *axis > 0,
        Op::Lookup { table, .. } => rows(table).is_none(),
        Op::Dot(_, b) => rows(b).is_none(),
        Op::Map(of) => {
            let walks = of.over.iter().all(|id| rows(id).is_some());
            let whole = of.captured.iter().any(|id| rows(id).is_some());
            walks
                && !whole
                && of
                    .body
                    .values
                    .iter()
                    .all(|value| value.shape.rows.is_none())
        }
        _ => false,
    }
}

/// A map that is cut.
struct Cut<'a> {
    value: &'a Value,
    of: &'a Loop,
}

impl Expander<'_> {
    /// Cuts a map whose body sees whole rows, and returns the last of its pieces, which has the
    /// same parts. None for another map, and for a body whose work on rows has no such form.
    pub(super) fn cut(&mut self, value: &Value) -> Option<ValueId> {
        let Op::Map(of) = &value.op else {
            return None;
        };
        let body = &of.body;
        if of
            .captured
            .iter()
            .all(|id| self.of(*id).shape.rows.is_none())
        {
            return None;
        }
        let levels = levels(body)?;
        let cut = Cut { value, of };
        let mut made = BTreeMap::new();
        for level in 1..=levels.iter().copied().max()? {
            let mut tables: BTreeMap<RowId, Vec<ValueId>> = BTreeMap::new();
            for (index, (value, own)) in body.values.iter().zip(&levels).enumerate() {
                if let (Some(rows), true) = (reduces(body, value), *own == level) {
                    tables.entry(rows).or_default().push(ValueId(index as u32));
                }
            }
            let all: Vec<_> = tables.values().flatten().copied().collect();
            let mut missing = cut.taken(&all);
            missing.retain(|id| !made.contains_key(id));
            let pieces = [missing].into_iter().chain(tables.into_values());
            for wanted in pieces.filter(|wanted| !wanted.is_empty()) {
                let map = self.piece(&cut, &wanted, &made);
                for (part, id) in wanted.iter().enumerate() {
                    let of = self.stacked(&cut, *id, Op::Part(map, part as u32));
                    made.insert(*id, self.push(of));
                }
            }
        }
        Some(self.piece(&cut, &body.returns, &made))
    }

    /// A map over the same elements that returns some values of the body, those that are `made`
    /// apart.
    fn piece(
        &mut self,
        cut: &Cut,
        wanted: &[ValueId],
        made: &BTreeMap<ValueId, ValueId>,
    ) -> ValueId {
        let values = &cut.of.body.values;
        let mut live = vec![false; values.len()];
        wanted.iter().for_each(|id| live[id.0 as usize] = true);
        // A map has an operand to walk, whatever its body takes.
        live[0] = true;
        for (index, value) in values.iter().enumerate().rev() {
            if live[index] && !made.contains_key(&ValueId(index as u32)) {
                let operands = value.op.operands();
                operands.iter().for_each(|id| live[id.0 as usize] = true);
            }
        }
        let walked = cut.of.over.len();
        let own = cut.of.over.iter().chain(&cut.of.captured).enumerate();
        let own = own.map(|(index, outer)| (ValueId(index as u32), *outer));
        let own = own.filter(|(id, _)| live[id.0 as usize]);
        let (over, captured) = own.partition::<Vec<_>, _>(|(id, _)| (id.0 as usize) < walked);
        let before = made.iter().map(|(id, outer)| (*id, *outer));
        let before = before.filter(|(id, _)| live[id.0 as usize]);
        let over = over.into_iter().chain(before).collect::<Vec<_>>();
        let mut graph = Graph::default();
        let mut renamed = vec![None; values.len()];
        for (number, (id, _)) in over.iter().chain(&captured).enumerate() {
            renamed[id.0 as usize] = Some(ValueId(number as u32));
            let mut param = values[id.0 as usize].clone();
            param.op = Op::Param(number as u32);
            graph.push(param);
        }
        graph.params = graph.values.len() as u32;
        let new = |renamed: &[Option<ValueId>], id: ValueId| match renamed[id.0 as usize] {
            Some(new) => new,
            None => unreachable!("what a value takes is live and stands before it"),
        };
        for (index, value) in values.iter().enumerate() {
            if live[index] && renamed[index].is_none() {
                let mut value = value.clone();
                value.op.renumber(|id| new(&renamed, id));
                renamed[index] = Some(graph.push(value));
            }
        }
        graph.returns = wanted.iter().map(|id| new(&renamed, *id)).collect();
        let outer = |pairs: &[(ValueId, ValueId)]| pairs.iter().map(|(_, id)| *id).collect();
        let of = Loop {
            captured: outer(&captured),
            body: Box::new(graph),
            ..Loop::over(outer(&over))
        };
        let map = self.stacked(cut, wanted[0], Op::Map(of));
        self.push(map)
    }

    /// A value of the body for each of the elements that the map walks.
    fn stacked(&self, cut: &Cut, id: ValueId, op: Op) -> Value {
        let each = &cut.of.body[id];
        let mut shape = each.shape.clone();
        match self.of(cut.of.over[0]).shape.dim(0) {
            Some(Dim::Fixed(length)) => shape.fixed.insert(0, length),
            Some(Dim::Rows(rows)) => shape.rows = Some(rows),
            None => unreachable!("check has seen an axis 0"),
        }
        let like = cut.value.clone().with_type(each.ty, each.range);
        like.with_shape(shape).with_op(op)
    }
}

impl Cut<'_> {
    /// The values of an element that the work on rows before some reductions takes, apart from
    /// parameters and constants.
    fn taken(&self, reductions: &[ValueId]) -> Vec<ValueId> {
        let values = &self.of.body.values;
        let mut live = vec![false; values.len()];
        reductions.iter().for_each(|id| live[id.0 as usize] = true);
        let mut taken = Vec::new();
        for (index, value) in values.iter().enumerate().rev() {
            let id = ValueId(index as u32);
            if !live[index] {
                continue;
            }
            let given = matches!(value.op, Op::Param(_) | Op::Const(_));
            if value.shape.rows.is_some() || reductions.contains(&id) {
                let operands = value.op.operands();
                operands.iter().for_each(|id| live[id.0 as usize] = true);
            } else if !given {
                taken.push(id);
            }
        }
        taken.reverse();
        taken
    }
}
