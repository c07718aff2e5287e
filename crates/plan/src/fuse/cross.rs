//! Rows times rows: reductions of all rows of a table for each element of another axis.

use super::site::{At, Fuser, Storage, numbered};
use crate::draft::{Cross, Crossed, UnitWork};
use crate::expand::{levels, reduces};
use crate::place::{Placement, lens};
use crate::steps::Len;
use sealane_diagnostic::Diagnostic;
use sealane_program::graph::{Graph, Loop, Op, Slice, Value, ValueId};
use sealane_program::types::RowId;
use std::collections::HashMap;

impl Fuser<'_> {
    /// Adds a map whose body sees whole rows: a unit of its own, if the body returns reductions of
    /// the rows of one table.
    pub(super) fn cross(&mut self, at: At<'_>, of: &Loop) -> Result<Vec<Storage>, Diagnostic> {
        let (over, captured, body) = (&of.over, &of.captured, &of.body);
        let Some(rows) = crossed(body) else {
            return self.refuse_rows(captured, at.value).map(|()| Vec::new());
        };
        let across = captured.iter().copied();
        let across = across.filter(|id| self.main(*id).shape.rows.is_some());
        let across = across.collect::<Vec<_>>();
        let mut graph = pair(body);
        let (mut numbers, mut stored) = (Vec::new(), Vec::new());
        for id in captured {
            let op = match &self.main(*id).op {
                Op::Const(data) => Op::Const(data.clone()),
                _ if across.contains(id) => {
                    let at = across.iter().position(|other| other == id).unwrap_or(0);
                    Op::Param((over.len() + at) as u32)
                }
                _ => {
                    stored.push(self.stored_bits(*id));
                    Op::Param((over.len() + across.len() + stored.len() - 1) as u32)
                }
            };
            numbers.push(op);
        }
        let params = graph.values.iter_mut().skip(over.len());
        params.zip(numbers).for_each(|(param, op)| param.op = op);
        let length = lens(&self.main(over[0]).shape)[0];
        let over_reads = over.iter().map(|id| self.walked(*id, length));
        let over_reads: Vec<_> = over_reads.collect();
        let across = across.iter().map(|id| self.walked(*id, Len::Rows));
        let across = across.collect();
        let (mut outs, mut parts) = (Vec::new(), Vec::new());
        for (id, from) in body.returns.iter().zip(&graph.returns) {
            let of = &body[id];
            let Op::Reduce(reduction, ..) = of.op else {
                unreachable!("`crossed` has seen it")
            };
            let dims = [vec![length], lens(&of.shape)].concat();
            let fixed = match length {
                Len::Rows => of.shape.fixed.clone(),
                Len::Fixed(length) => [&[length], &of.shape.fixed[..]].concat(),
            };
            let tensor = self.tensor(self.main(over[0]).shape.rows, &fixed, of.range);
            outs.push(Crossed {
                reduction,
                from: graph[from].range,
                inner: of.shape.fixed.iter().product::<u64>() as u32,
                value: tensor,
            });
            parts.push(Storage::Placed(Placement::whole(tensor, &dims)));
        }
        let work = UnitWork::Cross(Cross {
            graph,
            length,
            rows,
            over: over_reads,
            across,
            captured: stored,
            outs,
        });
        self.add(at, work);
        Ok(parts)
    }
}

/// The table whose rows the body of a map reduces, if it returns such reductions alone.
fn crossed(body: &Graph) -> Option<RowId> {
    let levels = levels(body).filter(|_| numbered(body).is_none())?;
    let mut tables = body.returns.iter().map(|id| {
        let value = &body[id];
        reduces(body, value).filter(|_| levels[id.0 as usize] == 1)
    });
    let first = tables.next()??;
    tables.all(|rows| rows == Some(first)).then_some(first)
}

/// The graph of one element and one row, which returns what is reduced, in the form of the result.
fn pair(body: &Graph) -> Graph {
    let mut pair = Graph {
        params: body.params,
        ..Graph::default()
    };
    // The values of the body here, and the parts of maps over rows, whose bodies stand in it.
    let mut renamed: Vec<ValueId> = Vec::with_capacity(body.values.len());
    let mut parts: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    let mut push = |value: Value| pair.push(value);
    let mut returns: HashMap<ValueId, ValueId> = HashMap::new();
    for (index, value) in body.values.iter().enumerate() {
        let id = ValueId(index as u32);
        let new = |id: ValueId| renamed[id.0 as usize];
        let by_rows = value.shape.rows.is_some();
        let own = match &value.op {
            Op::Reduce(_, of, 0) if reduces(body, value).is_some() => {
                let from = &body[of];
                let mut reduced = new(*of);
                // A sum may need another form than its terms, and its width grows level by level.
                if from.range.signed() != value.range.signed() {
                    let mut cast = value.clone();
                    cast.op = Op::Cast(reduced);
                    reduced = push(cast);
                }
                returns.insert(id, reduced);
                reduced
            }
            Op::Map(of) if by_rows => {
                let (operands, inner) = (of.over.iter().chain(&of.captured), &of.body);
                let operands: Vec<_> = operands.map(|id| new(*id)).collect();
                let mut own: Vec<ValueId> = Vec::with_capacity(inner.values.len());
                for value in &inner.values {
                    let made = match &value.op {
                        Op::Param(number) => operands[*number as usize],
                        _ => {
                            let mut value = value.clone();
                            value.op.renumber(|id| own[id.0 as usize]);
                            push(value)
                        }
                    };
                    own.push(made);
                }
                let made: Vec<_> = inner.returns.iter().map(|id| own[id.0 as usize]).collect();
                let first = made[0];
                parts.insert(id, made);
                first
            }
            Op::Part(of, part) if parts.contains_key(of) => parts[of][*part as usize],
            _ => {
                let mut value = value.clone();
                value.op.renumber(new);
                if by_rows {
                    without_rows(&mut value.op);
                    value.shape.rows = None;
                }
                push(value)
            }
        };
        renamed.push(own);
    }
    pair.returns = body.returns.iter().map(|id| returns[id]).collect();
    pair
}

/// Counts the axes of an operation without the one of rows.
fn without_rows(op: &mut Op) {
    match op {
        Op::Slice(Slice { axis, .. })
        | Op::Stack(_, axis)
        | Op::Concat(_, axis)
        | Op::Reduce(_, _, axis)
        | Op::Accumulate(_, _, axis) => *axis -= 1,
        _ => {}
    }
}
