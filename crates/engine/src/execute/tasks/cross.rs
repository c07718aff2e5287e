//! Rows times rows: pairs of elements and rows, block by block, and the reductions of each.

use super::{Fold, Next, Started, Task, in_elements};
use crate::execute::walker::Walker;
use crate::execute::{Result, ShareRef, internal};
use sealane_party::{Shares, Step, Steps};
use sealane_plan::cross;
use sealane_plan::steps::{self, Crossed, StepOp};
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
    pub(super) fn begin_cross(&mut self, planned: &steps::Cross) -> Started<'a, W> {
        let mut cross = Cross {
            captured: self.captured(&planned.captured)?,
            over: self.operands(&planned.over)?,
            across: self.operands_of_all(&planned.across, Some(planned.rows))?,
            lanes: planned.length.at(self.run.rows) as usize,
            rows: self.rows[usize::from(planned.rows.0)] as usize,
            done: 0,
            block: 0,
            parts: Vec::new(),
            state: CrossState::Pairs,
            totals: Vec::new(),
        };
        let step = self.block_of_rows(planned, &mut cross)?;
        Ok(Some((Task::Cross(cross), step)))
    }

    /// The step of the pairs of the next block of rows.
    fn block_of_rows(
        &mut self,
        planned: &steps::Cross,
        cross: &mut Cross<W>,
    ) -> Result<Step<'a, W>> {
        let full = cross::block(cross.lanes as u64, cross.rows as u64) as usize;
        let (first, lanes) = (cross.done, cross.lanes);
        let rows = full.min(cross.rows - first);
        (cross.block, cross.done) = (rows, first + rows);
        let view = |offset, dims: [_; 2]| View::new(offset, dims.into());
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
        let out = planned.outs[0].value;
        Ok(self.run_tape(planned.tape, out, rows * lanes, operands.concat()))
    }

    /// Consumes the result of a step of rows times rows; returns the next one, and after the last
    /// writes the reductions.
    pub(super) fn cross_step(&mut self, cross: &mut Cross<W>, share: W::Share) -> Next<'a, W> {
        let StepOp::Cross(planned) = self.op else {
            return Err(internal("no rows times rows"));
        };
        let outs = &planned.outs;
        let mut next = match std::mem::replace(&mut cross.state, CrossState::Pairs) {
            CrossState::Pairs => {
                let part = |out: &Crossed| {
                    let (inner, bits) = (out.inner as usize, usize::from(out.bits[0]));
                    in_elements(share.resize(out.first as usize, inner * bits, false), inner)
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
                    return self.block_of_rows(planned, cross).map(Some);
                }
                (_, 0) => break,
                _ => Fold {
                    current: Arc::new(cross.parts.pop().ok_or_else(|| internal("no part"))?),
                    length: cross.block,
                    lanes: cross.lanes * outs[next].inner as usize,
                    to: 1,
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
            self.write(out.value, total)?;
        }
        Ok(None)
    }
}
