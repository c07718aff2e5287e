//! Reductions, level by level of a tree.

use super::Next;
use crate::execute::walker::Walker;
use crate::execute::{Result, ShareRef, internal};
use sealane_party::{Shares, Step, Steps};
use sealane_plan::steps::{self, PlanValue, TapeId};
use sealane_protocol::View;
use std::sync::Arc;

/// Reduction tree over the outermost dimension; see [`steps::Fold`].
pub(in crate::execute) struct Fold<W: Steps> {
    pub(super) current: ShareRef<W>,
    /// Remaining elements along the dimension, and the number of elements in the other dimensions.
    pub(super) length: usize,
    pub(super) lanes: usize,
    /// Elements that are left in the end.
    pub(super) to: usize,
    pub(super) level: usize,
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    /// Returns the next level of a tree; after the last one, writes the result.
    pub(super) fn fold_step(&mut self, planned: &steps::Fold, fold: &mut Fold<W>) -> Next<'a, W> {
        if fold.length > fold.to {
            return self.pairs(fold, &planned.levels, planned.out).map(Some);
        }
        let last = planned.bits.last().copied();
        let last = last.ok_or_else(|| internal("a fold without widths"))?;
        let total = fold.current.resize(0, last.into(), planned.signed);
        self.write_total(planned.out, fold.repeated(total))?;
        Ok(None)
    }

    /// The step of the next level of a tree.
    pub(super) fn pairs(
        &mut self,
        fold: &Fold<W>,
        levels: &[TapeId],
        out: PlanValue,
    ) -> Result<Step<'a, W>> {
        let half = fold.half();
        let pair = [fold.part(0, half), fold.part(half, half)];
        let tape = levels.get(fold.level);
        let tape = *tape.ok_or_else(|| internal("a fold with too few levels"))?;
        let operands = pair.map(Arc::new).into();
        Ok(self.run_tape(tape, out, half * fold.lanes, operands))
    }
}

impl<W: Steps> Fold<W> {
    /// The number of pairs of the next level.
    fn half(&self) -> usize {
        steps::pairs(self.length as u64, self.to as u64) as usize
    }

    /// Consumes the result of a level; elements without a partner are passed on unchanged.
    pub(super) fn level(&mut self, pairs: W::Share, bits: &[u8], signed: bool) {
        let wide = usize::from(bits[self.level + 1]);
        let half = self.half();
        self.current = Arc::new(match self.length - 2 * half {
            0 => pairs,
            rest => {
                let rest = self.part(2 * half, rest).resize(0, wide, signed);
                W::Share::concat(&[&pairs, &rest])
            }
        });
        self.length -= half;
        self.level += 1;
    }

    /// The elements that are left, over and over where there were fewer from the start.
    fn repeated(&self, left: W::Share) -> W::Share {
        let whole = self.to / self.length;
        if whole == 1 && self.to == self.length {
            return left;
        }
        let first = View::new(0, vec![(self.to % self.length * self.lanes, 1)]);
        let rest = left.gather(&first, &View::whole(1));
        let mut parts = vec![&left; whole];
        parts.push(&rest);
        W::Share::concat(&parts)
    }

    /// Returns the elements `first..first + count` along the dimension.
    fn part(&self, first: usize, count: usize) -> W::Share {
        let view = View::new(first * self.lanes, vec![(count * self.lanes, 1)]);
        self.current.gather(&view, &View::whole(1))
    }
}
