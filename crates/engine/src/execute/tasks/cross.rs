//! Rows times rows: pairs of elements and rows, block by block, and the reductions of each.

use super::{Fold, StartedTask, Task, one_lane};
use crate::execute::walker::Walker;
use crate::execute::{ShareRef, internal};
use sealane_party::{Fault, Shares, Step, Steps};
use sealane_plan::cross;
use sealane_plan::flow::TileRun;
use sealane_plan::steps::{Crossed, StepOp};
use sealane_protocol::View;
use std::sync::Arc;

/// Reductions of all rows of a table for each element; see [`StepOp::Cross`].
pub(in crate::execute) struct Cross<W: Steps> {
    over: Vec<ShareRef<W>>,
    across: Vec<ShareRef<W>>,
    captured: Vec<ShareRef<W>>,
    /// Elements, and rows of the table.
    lanes: usize,
    rows: usize,
    /// Rows of the blocks so far, that under way among them, and the rows of that.
    done: usize,
    block: usize,
    /// Parts of the block that have still to be reduced, the next output last.
    parts: Vec<W::Share>,
    state: CrossState<W>,
    /// The reductions of the blocks so far, by output.
    totals: Vec<ShareRef<W>>,
}

/// Step of the protocol that a [`Cross`] is at.
enum CrossState<W: Steps> {
    /// Pairs of a block.
    Pairs,
    /// A level of the tree of an output.
    Tree(usize, Fold<W>),
    /// Combination of the result of a block with that of the blocks before it.
    Carry(usize),
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    pub(super) fn begin_cross(
        &mut self,
        op: &'a StepOp,
        block: TileRun,
    ) -> Result<Option<StartedTask<'a, W>>, Fault> {
        let StepOp::Cross {
            rows,
            length,
            over,
            across,
            captured,
            ..
        } = op
        else {
            return Err(internal("no rows times rows"));
        };
        let across = across.iter().map(|operand| {
            let all = self.selected_of_all(operand, Some(*rows), block)?;
            Ok(all.gathered())
        });
        let across = across.collect::<Result<Vec<_>, Fault>>()?;
        let captured = captured.iter().map(|value| self.value(*value, block));
        let captured = captured.map(|share| Ok(one_lane::<W>(&*share?)));
        let mut cross = Cross {
            captured: captured.collect::<Result<_, Fault>>()?,
            over: self.operands(over, block)?,
            across,
            lanes: length.at(block.rows) as usize,
            rows: self.rows[usize::from(rows.0)] as usize,
            done: 0,
            block: 0,
            parts: Vec::new(),
            state: CrossState::Pairs,
            totals: Vec::new(),
        };
        let step = self.block_of_rows(op, &mut cross)?;
        Ok(Some((Task::Cross(cross), step)))
    }

    /// The step of the pairs of the next block of rows.
    fn block_of_rows(
        &mut self,
        op: &'a StepOp,
        cross: &mut Cross<W>,
    ) -> Result<Step<'a, W>, Fault> {
        let StepOp::Cross { tape, outs, .. } = op else {
            return Err(internal("no rows times rows"));
        };
        let full = cross::block(cross.lanes as u64, cross.rows as u64) as usize;
        let (first, lanes) = (cross.done, cross.lanes);
        let rows = full.min(cross.rows - first);
        (cross.block, cross.done) = (rows, first + rows);
        let view = |offset: usize, dims: [(usize, isize); 2]| {
            let dims = dims.into();
            View { offset, dims }
        };
        let each = view(0, [(rows, 0), (lanes, 1)]);
        let row = view(first, [(rows, 1), (lanes, 0)]);
        let same = view(0, [(rows, 0), (lanes, 0)]);
        let read = |shares: &[ShareRef<W>], lanes: &View| {
            let shares = shares.iter();
            let read = shares.map(|share| Arc::new(share.gather(lanes, &View::whole(1))));
            read.collect::<Vec<_>>()
        };
        let operands = [
            read(&cross.over, &each),
            read(&cross.across, &row),
            read(&cross.captured, &same),
        ];
        cross.state = CrossState::Pairs;
        Ok(self.run_tape(*tape, outs[0].value, rows * lanes, operands.concat()))
    }

    /// Consumes the result of a step of rows times rows; returns the next one, and after the last
    /// writes the reductions.
    pub(super) fn cross_step(
        &mut self,
        op: &'a StepOp,
        cross: &mut Cross<W>,
        share: W::Share,
        block: TileRun,
    ) -> Result<Option<Step<'a, W>>, Fault> {
        let StepOp::Cross { outs, .. } = op else {
            return Err(internal("no rows times rows"));
        };
        let mut next = match std::mem::replace(&mut cross.state, CrossState::Pairs) {
            CrossState::Pairs => {
                let part = |out: &Crossed| {
                    let (inner, bits) = (out.inner as usize, usize::from(out.bits[0]));
                    let planes = share.resize(out.first as usize, inner * bits, false);
                    if inner == 1 {
                        planes
                    } else {
                        planes.spread(inner)
                    }
                };
                cross.parts = outs.iter().rev().map(part).collect();
                0
            }
            CrossState::Tree(at, mut fold) => {
                fold.level(share, &outs[at].bits, outs[at].signed);
                cross.state = CrossState::Tree(at, fold);
                at
            }
            CrossState::Carry(at) => {
                cross.totals[at] = Arc::new(share);
                at + 1
            }
        };
        loop {
            let state = std::mem::replace(&mut cross.state, CrossState::Pairs);
            let fold = match (state, cross.parts.len()) {
                (CrossState::Tree(_, fold), _) => fold,
                (_, 0) if cross.done < cross.rows => {
                    return self.block_of_rows(op, cross).map(Some);
                }
                (_, 0) => break,
                _ => Fold {
                    current: Arc::new(cross.parts.pop().ok_or_else(|| internal("no part"))?),
                    length: cross.block,
                    lanes: cross.lanes * outs[next].inner as usize,
                    level: 0,
                },
            };
            let out = &outs[next];
            if fold.length > 1 {
                let step = self.pairs(&fold, &out.levels, out.value)?;
                cross.state = CrossState::Tree(next, fold);
                return Ok(Some(step));
            }
            let last = out.bits.last().copied();
            let last = last.ok_or_else(|| internal("a fold without widths"))?;
            let total = Arc::new(fold.current.resize(0, last.into(), out.signed));
            let Some(before) = cross.totals.get(next).cloned() else {
                cross.totals.push(total);
                next += 1;
                continue;
            };
            cross.state = CrossState::Carry(next);
            let step = self.run_tape(out.carry, out.value, fold.lanes, vec![before, total]);
            return Ok(Some(step));
        }
        for (out, total) in outs.iter().zip(cross.totals.drain(..)) {
            self.write(out.value, total, block)?;
        }
        Ok(None)
    }
}
