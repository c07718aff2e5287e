//! Steps that run a tape many times: reductions by a tree, and loops with carried state.

use super::{Run, Tile, drive, internal};
use sealane_plan::steps::{Len, Produced, StepOp, TapeId};
use sealane_protocol::{Fault, Protocol, Shares, Step, View};
use std::sync::Arc;

impl<P: Protocol> Run<'_, P> {
    /// A tree over the outermost dimension; see [`StepOp::Fold`].
    pub(super) fn fold(&mut self, op: &StepOp, tile: &mut Tile<P>, id: u32) -> Result<(), Fault> {
        let StepOp::Fold {
            operand,
            length,
            levels,
            bits,
            signed,
            carry,
            out,
            ..
        } = op
        else {
            return Err(internal("not a fold"));
        };
        let mut current = self.operand(operand, tile)?;
        let mut length_left = length.at(tile.rows) as usize;
        let lanes = current.elements() / length_left.max(1);
        for (level, wide) in levels.iter().zip(&bits[1..]) {
            if length_left <= 1 {
                break;
            }
            let half = length_left / 2;
            let part = |first: usize, count: usize| View {
                offset: first * lanes,
                dims: vec![(count * lanes, 1)],
            };
            let pair = [part(0, half), part(half, half)];
            let pair = pair.map(|view| Arc::new(current.gather(&view, &View::whole(1))));
            let mut next = self.tape(*level, half * lanes, &pair, id)?;
            if length_left % 2 == 1 {
                let odd = current.gather(&part(2 * half, 1), &View::whole(1));
                let odd = odd.resize(0, usize::from(*wide), *signed);
                next = P::Share::concat(&[&next, &odd]);
            }
            current = Arc::new(next);
            length_left = length_left.div_ceil(2);
        }
        let last = usize::from(
            *bits
                .last()
                .ok_or_else(|| internal("a fold without widths"))?,
        );
        let mut total = Arc::new(current.resize(0, last, *signed));
        if *length != Len::Rows {
            tile.values.insert(*out, total);
            return Ok(());
        }
        if let Some(before) = self.stored.remove(out) {
            let carry = carry.ok_or_else(|| internal("a fold by rows without a carry"))?;
            total = Arc::new(self.tape(carry, lanes, &[before, total], id)?);
        }
        self.stored.insert(*out, total);
        Ok(())
    }

    /// A loop with carried state; see [`StepOp::Scan`].
    pub(super) fn scan(&mut self, op: &StepOp, tile: &mut Tile<P>, id: u32) -> Result<(), Fault> {
        let StepOp::Scan {
            tape,
            length,
            init,
            over,
            captured,
            carries,
            outs,
        } = op
        else {
            return Err(internal("not a scan"));
        };
        let by_rows = *length == Len::Rows;
        let mut state = Vec::new();
        for (init, carry) in init.iter().zip(carries) {
            let bits = usize::from(self.plan.values[carry.0 as usize].bits);
            let before = self.stored.get(carry).filter(|_| by_rows).cloned();
            state.push(match before {
                Some(share) => share,
                None => {
                    let signed = self.plan.values[init.0 as usize].signed;
                    Arc::new(self.value(*init, tile)?.resize(0, bits, signed))
                }
            });
        }
        let over = over.iter().map(|operand| self.operand(operand, tile));
        let over = over.collect::<Result<Vec<_>, _>>()?;
        let captured = captured.iter().map(|value| self.value(*value, tile));
        let captured = captured.collect::<Result<Vec<_>, _>>()?;
        let one_lane = |share: &P::Share| {
            Arc::new(share.gather(&View::whole(1), &View::whole(share.elements())))
        };
        let captured = captured
            .iter()
            .map(|share| one_lane(share))
            .collect::<Vec<_>>();
        let mut written = outs.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        for i in 0..length.at(tile.rows) as usize {
            let mut operands = state
                .iter()
                .map(|share| one_lane(share))
                .collect::<Vec<_>>();
            let element = View {
                offset: i,
                dims: vec![],
            };
            operands.extend(
                over.iter()
                    .map(|share| Arc::new(share.gather(&element, &View::whole(1)))),
            );
            operands.extend(captured.iter().cloned());
            let result = self.tape(*tape, 1, &operands, id)?;
            let mut first = 0;
            for (share, carry) in state.iter_mut().zip(carries) {
                let plan = &self.plan.values[carry.0 as usize];
                let out = Produced {
                    value: *carry,
                    first,
                    inner: plan.elements as u32,
                };
                *share = Arc::new(self.produced(&result, &out));
                first += out.inner * u32::from(plan.bits);
            }
            for (parts, out) in written.iter_mut().zip(outs) {
                parts.push(self.produced(&result, out));
            }
        }
        for (out, parts) in outs.iter().zip(written) {
            let parts = parts.iter().collect::<Vec<_>>();
            tile.values
                .insert(out.value, Arc::new(P::Share::concat(&parts)));
        }
        let target = if by_rows {
            &mut self.stored
        } else {
            &mut tile.values
        };
        target.extend(carries.iter().copied().zip(state));
        Ok(())
    }

    /// One tape as a batch of its own.
    pub(super) fn tape(
        &mut self,
        tape: TapeId,
        lanes: usize,
        operands: &[Arc<P::Share>],
        id: u32,
    ) -> Result<P::Share, Fault> {
        self.count(tape, lanes as u64);
        let operands = operands.iter().map(Arc::as_ref).collect();
        let step = Step::Tape {
            tape: &self.plan.tapes[tape.0 as usize],
            lanes,
            operands,
        };
        let mut outcomes = drive(&mut self.party, self.mesh, vec![(id, step)])?;
        let outcome = outcomes
            .pop()
            .ok_or_else(|| internal("a step without an outcome"))?;
        self.share(outcome)
    }
}
