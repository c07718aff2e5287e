//! Execution of a call. Most calls run one step of the protocol; reductions, loops and networks run
//! a tape several times.

mod cross;
mod network;

use super::walker::Walker;
use super::{ShareRef, internal};
use cross::Cross;
use network::CompareExchange;
use sealane_parties::PartySet;
use sealane_party::{Factor, Fault, KeyBit, Opened, Shares, Step, Steps, Term};
use sealane_plan::flow::{Call, TileRun};
use sealane_plan::steps::{
    Len, Operand, PlanValue, Produced, Rearrangement, SortKey, StepOp, TapeId,
};
use sealane_program::types::RowId;
use sealane_protocol::View;
use std::sync::Arc;

/// State of a call between two steps of the protocol.
pub(super) enum Task<W: Steps> {
    /// A single step, whose result is written where the operation says.
    Once,
    /// Reduction.
    Fold(Fold<W>),
    /// Loop.
    Scan(Scan<W>),
    /// Network.
    CompareExchange(CompareExchange<W>),
    /// Elements that meet all rows of a table.
    Cross(Cross<W>),
    /// Combination of the result of a tile with the results of the tiles before it.
    Carry(PlanValue),
}

/// Reduction tree over the outermost dimension; see [`StepOp::Fold`].
pub(super) struct Fold<W: Steps> {
    current: ShareRef<W>,
    /// Remaining elements along the dimension, and the number of elements in the other dimensions.
    length: usize,
    lanes: usize,
    level: usize,
}

/// Loop with carried state; see [`StepOp::Scan`].
pub(super) struct Scan<W: Steps> {
    /// Index of the current iteration.
    index: usize,
    state: Vec<ShareRef<W>>,
    over: Vec<ShareRef<W>>,
    captured: Vec<ShareRef<W>>,
    /// Shares that the iterations have written, by output.
    written: Vec<Vec<W::Share>>,
}

/// Task with its first step.
type StartedTask<'a, W> = (Task<W>, Step<'a, W>);

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    /// Executes an operation that needs no step, or returns the task and its first step.
    pub(super) fn task(&mut self, call: &Call) -> Result<Option<StartedTask<'a, W>>, Fault> {
        let (op, block) = (self.op(call), call.run);
        if call.carry {
            return self.carry(op, block);
        }
        let rows = block.rows;
        let count = |lanes: &[Len]| lanes.iter().map(|len| len.at(rows)).product::<u64>() as usize;
        let step = match op {
            StepOp::Constant { data, out } => {
                let share = self.constant(&data.elements, *out);
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::Move { operand, out } => {
                let share = self.operand(operand, block)?;
                let share = share.spread(operand.inner.count(rows) as usize);
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::RowNumber { out } => {
                let numbers = (block.start..block.start + rows).collect::<Vec<_>>();
                let share = self.constant(&numbers, *out);
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::Rearrange {
                how,
                rows: table,
                operand,
                out,
            } => {
                let share = self.rearranged(*how, *table, operand, block)?;
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::Append { parts, out, .. } => {
                let share = self.appended(parts, block)?;
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::Concat { parts, out } => {
                let elements = parts.iter().map(|part| part.inner.count(rows)).sum::<u64>();
                let parts = self.operands(parts, block)?;
                let parts = parts.iter().map(Arc::as_ref).collect::<Vec<_>>();
                let share = W::Share::concatenate(&parts).spread(elements as usize);
                self.write(*out, share, block)?;
                return Ok(None);
            }
            StepOp::Linear {
                terms,
                lanes,
                carried,
                out,
            } => {
                let share = self.linear(terms, *out, count(lanes), block)?;
                if *carried {
                    self.write_partial(*out, share, block)?
                } else {
                    self.write(*out, share, block)?
                }
                return Ok(None);
            }
            StepOp::Input { input, out } => {
                let plan = &self.plan.values[out.0 as usize];
                let rows = plan.rows.map_or(1, |_| block.rows);
                Step::Input {
                    owner: self.plan.owners[*input as usize],
                    domain: plan.domain,
                    elements: (plan.elements * rows) as usize,
                    bits: plan.plain_bits() as usize,
                    values: self.input_words(*input, *out, block),
                }
            }
            StepOp::Convert { value, out } => {
                let from = &self.plan.values[value.0 as usize];
                Step::Convert {
                    from: from.domain,
                    to: self.plan.values[out.0 as usize].domain,
                    bits: from.bits.into(),
                    signed: from.signed,
                    share: self.value(*value, block)?,
                }
            }
            StepOp::Product {
                left, right, out, ..
            } => Step::Product {
                domain: self.plan.values[out.0 as usize].domain,
                left: self.selected(left, block)?,
                right: self.selected(right, block)?,
            },
            StepOp::Tape {
                tape,
                lanes,
                operands,
                outs,
            } => {
                let operands = self.operands(operands, block)?;
                self.run_tape(*tape, outs[0].value, count(lanes), operands)
            }
            StepOp::Settle => Step::Settle {
                checks: std::mem::take(&mut self.settled),
            },
            StepOp::Reveal { value, result } => {
                let result = &self.plan.results[*result as usize];
                if !self.plan.in_tiles(result, self.rows) {
                    return Ok(None);
                }
                let opened = Opened {
                    share: self.value(*value, block)?,
                    domain: self.plan.values[value.0 as usize].domain,
                    to: result.to,
                };
                Step::Open {
                    results: vec![opened],
                }
            }
            StepOp::Open { value, .. } => {
                let opened = Opened {
                    share: self.value(*value, block)?,
                    domain: self.plan.values[value.0 as usize].domain,
                    to: PartySet::of(self.plan.setting.everyone()),
                };
                Step::Open {
                    results: vec![opened],
                }
            }
            StepOp::Fold {
                operand,
                length,
                lanes,
                ..
            } => {
                let fold = Fold {
                    current: self.operand(operand, block)?,
                    length: length.at(rows) as usize,
                    lanes: count(lanes),
                    level: 0,
                };
                return self.begin_fold(op, fold, block);
            }
            StepOp::Scan { .. } => return self.begin_scan(op, block),
            StepOp::CompareExchange { .. } => return self.begin_network(op, block),
            StepOp::Cross { .. } => return self.begin_cross(op, block),
            StepOp::Sort {
                keys,
                rows,
                over,
                outs,
                ..
            } => {
                let columns = over.iter().map(|operand| {
                    let all = self.selected_of_all(operand, *rows, block)?;
                    Ok(all.gathered())
                });
                let columns = columns.collect::<Result<Vec<_>, Fault>>()?;
                let columns = columns.iter().map(Arc::as_ref).collect::<Vec<_>>();
                let out = outs.first();
                let out = out.ok_or_else(|| internal("a sort of nothing"))?;
                Step::Sort {
                    domain: self.plan.values[out.0 as usize].domain,
                    key: self.key_bits(keys, over, &columns),
                    share: Arc::new(W::Share::concatenate(&columns)),
                }
            }
        };
        Ok(Some((Task::Once, step)))
    }

    /// Consumes the result of a step; returns the next step, if there is one.
    pub(super) fn next(
        &mut self,
        call: &Call,
        task: &mut Task<W>,
        share: W::Share,
    ) -> Result<Option<Step<'a, W>>, Fault> {
        let (op, block) = (self.op(call), call.run);
        match task {
            Task::Once => {
                match op {
                    StepOp::Tape { outs, .. } => {
                        for out in outs {
                            let part = self.produced(&share, out);
                            self.write(out.value, part, block)?;
                        }
                    }
                    StepOp::Input { out, .. }
                    | StepOp::Convert { out, .. }
                    | StepOp::Product { out, .. } => self.write(*out, share, block)?,
                    StepOp::Sort { over, outs, .. } => {
                        let mut first = 0;
                        for (out, operand) in outs.iter().zip(over) {
                            let inner = operand.inner.count(block.rows) as usize;
                            let bits = usize::from(self.plan.values[out.0 as usize].bits);
                            let column = share.resize(first, inner * bits, false);
                            first += inner * bits;
                            self.write(*out, in_elements(column, inner), block)?;
                        }
                    }
                    _ => return Err(internal("an operation that runs no step ran one")),
                }
                Ok(None)
            }
            Task::Carry(out) => {
                self.state.values.store(*out, Arc::new(share));
                Ok(None)
            }
            Task::Fold(fold) => {
                let StepOp::Fold { bits, signed, .. } = op else {
                    return Err(internal("not a fold"));
                };
                fold.level(share, bits, *signed);
                self.fold_step(op, fold, block)
            }
            Task::Scan(scan) => {
                self.end_iteration(op, scan, &share)?;
                self.iteration(op, scan, block)
            }
            Task::CompareExchange(network_step) => {
                network_step.end_stage(&share)?;
                self.stage(op, network_step, block)
            }
            Task::Cross(cross) => self.cross_step(op, cross, share, block),
        }
    }

    /// Consumes the columns of a stage of a network; returns the next step, if there is one.
    pub(super) fn next_stage(
        &mut self,
        call: &Call,
        task: &mut Task<W>,
        columns: Vec<W::Share>,
    ) -> Result<Option<Step<'a, W>>, Fault> {
        let Task::CompareExchange(network_step) = task else {
            return Err(internal("columns of a step that is no network"));
        };
        network_step.end_in_place(columns)?;
        self.stage(self.op(call), network_step, call.run)
    }

    /// Combines the result of a tile with the results of the tiles before it.
    fn carry(
        &mut self,
        op: &'a StepOp,
        block: TileRun,
    ) -> Result<Option<StartedTask<'a, W>>, Fault> {
        let Some(out) = op.writes().first().copied() else {
            return Err(internal("a step that carries writes nothing"));
        };
        let (before, partial) = self.carried(out, block)?;
        let Some(before) = before else {
            self.state.values.store(out, partial);
            return Ok(None);
        };
        let lanes = partial.elements();
        match op {
            StepOp::Fold {
                carry: Some(tape), ..
            } => {
                let step = self.run_tape(*tape, out, lanes, vec![before, partial]);
                Ok(Some((Task::Carry(out), step)))
            }
            StepOp::Linear { .. } => {
                let domain = self.plan.values[out.0 as usize].domain;
                let terms = [&before, &partial].map(|share| Term {
                    share: share.as_ref(),
                    factor: Factor::Number(1),
                });
                let sum = self.party.linear(domain, lanes, &terms)?;
                self.state.values.store(out, Arc::new(sum));
                Ok(None)
            }
            _ => Err(internal("a second tile where none was planned")),
        }
    }

    fn begin_fold(
        &mut self,
        op: &'a StepOp,
        mut fold: Fold<W>,
        block: TileRun,
    ) -> Result<Option<StartedTask<'a, W>>, Fault> {
        let step = self.fold_step(op, &mut fold, block)?;
        Ok(step.map(|step| (Task::Fold(fold), step)))
    }

    /// Returns the next level of a tree; after the last one, writes the result.
    fn fold_step(
        &mut self,
        op: &'a StepOp,
        fold: &mut Fold<W>,
        block: TileRun,
    ) -> Result<Option<Step<'a, W>>, Fault> {
        let StepOp::Fold {
            levels,
            bits,
            signed,
            out,
            ..
        } = op
        else {
            return Err(internal("not a fold"));
        };
        if fold.length > 1 {
            return self.pairs(fold, levels, *out).map(Some);
        }
        let last = bits.last().copied();
        let last = last.ok_or_else(|| internal("a fold without widths"))?;
        let total = fold.current.resize(0, last.into(), *signed);
        if op.carries() {
            self.write_partial(*out, total, block)?
        } else {
            self.write(*out, total, block)?
        }
        Ok(None)
    }

    /// The step of the next level of a tree.
    fn pairs(
        &mut self,
        fold: &Fold<W>,
        levels: &[TapeId],
        out: PlanValue,
    ) -> Result<Step<'a, W>, Fault> {
        let half = fold.length / 2;
        let pair = [fold.part(0, half), fold.part(half, half)];
        let tape = levels.get(fold.level);
        let tape = *tape.ok_or_else(|| internal("a fold with too few levels"))?;
        let operands = pair.map(Arc::new).into();
        Ok(self.run_tape(tape, out, half * fold.lanes, operands))
    }

    fn begin_scan(
        &mut self,
        op: &'a StepOp,
        block: TileRun,
    ) -> Result<Option<StartedTask<'a, W>>, Fault> {
        let StepOp::Scan {
            init,
            over,
            captured,
            carries,
            outs,
            ..
        } = op
        else {
            return Err(internal("not a scan"));
        };
        let mut state = Vec::new();
        for (init, carry) in init.iter().zip(carries) {
            let bits = usize::from(self.plan.values[carry.0 as usize].bits);
            // The tile before this one stored the state under the name of the final state.
            let before = self.state.values.stored(*carry).filter(|_| op.in_order());
            state.push(match before {
                Some(share) => share,
                None => {
                    let signed = self.plan.values[init.0 as usize].signed;
                    Arc::new(self.value(*init, block)?.resize(0, bits, signed))
                }
            });
        }
        let captured = captured.iter().map(|value| self.value(*value, block));
        let captured = captured.map(|share| Ok(one_lane::<W>(&*share?)));
        let mut scan = Scan {
            index: 0,
            state,
            captured: captured.collect::<Result<_, Fault>>()?,
            over: self.operands(over, block)?,
            written: outs.iter().map(|_| Vec::new()).collect(),
        };
        let step = self.iteration(op, &mut scan, block)?;
        Ok(step.map(|step| (Task::Scan(scan), step)))
    }

    /// Returns the next iteration of a loop; after the last one, writes its outputs.
    fn iteration(
        &mut self,
        op: &'a StepOp,
        scan: &mut Scan<W>,
        block: TileRun,
    ) -> Result<Option<Step<'a, W>>, Fault> {
        let StepOp::Scan {
            tape,
            length,
            carries,
            outs,
            ..
        } = op
        else {
            return Err(internal("not a scan"));
        };
        if scan.index < length.at(block.rows) as usize {
            let element = View::new(scan.index, vec![]);
            let state = scan.state.iter().map(|share| one_lane::<W>(share));
            let element = |share: &ShareRef<W>| share.gather(&element, &View::whole(1));
            let over = scan.over.iter().map(|share| Arc::new(element(share)));
            let captured = scan.captured.iter().cloned();
            let operands = state.chain(over).chain(captured).collect();
            let out = carries.first().copied();
            let out = out.unwrap_or_else(|| outs[0].value);
            return Ok(Some(self.run_tape(*tape, out, 1, operands)));
        }
        for (out, parts) in outs.iter().zip(&scan.written) {
            let parts = parts.iter().collect::<Vec<_>>();
            self.write(out.value, W::Share::concat(&parts), block)?;
        }
        for (carry, share) in carries.iter().zip(scan.state.drain(..)) {
            if op.in_order() {
                self.state.values.store(*carry, share)
            } else {
                self.write(*carry, share, block)?
            }
        }
        Ok(None)
    }

    /// Consumes the result of an iteration: the next state, and the outputs of the iteration.
    fn end_iteration(
        &mut self,
        op: &StepOp,
        scan: &mut Scan<W>,
        result: &W::Share,
    ) -> Result<(), Fault> {
        let StepOp::Scan { carries, outs, .. } = op else {
            return Err(internal("not a scan"));
        };
        let mut first = 0;
        for (share, carry) in scan.state.iter_mut().zip(carries) {
            let plan = &self.plan.values[carry.0 as usize];
            let out = Produced {
                value: *carry,
                first,
                inner: plan.elements as u32,
            };
            *share = Arc::new(self.produced(result, &out));
            first += out.inner * u32::from(plan.bits);
        }
        for (parts, out) in scan.written.iter_mut().zip(outs) {
            parts.push(self.produced(result, out));
        }
        scan.index += 1;
        Ok(())
    }
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    /// The rows of tables under one another.
    fn appended(&mut self, parts: &[(RowId, Operand)], block: TileRun) -> Result<W::Share, Fault> {
        let rows = parts.iter().map(|(table, operand)| {
            let all = self.selected_of_all(operand, Some(*table), block)?;
            let inner = all.inner.count();
            let rows = all.gathered();
            Ok(if inner == 1 {
                rows
            } else {
                Arc::new(rows.spread(inner))
            })
        });
        let rows = rows.collect::<Result<Vec<_>, Fault>>()?;
        let rows = rows.iter().map(Arc::as_ref).collect::<Vec<_>>();
        Ok(W::Share::concat(&rows))
    }

    /// The rows of a table in other places.
    fn rearranged(
        &mut self,
        how: Rearrangement,
        table: RowId,
        operand: &Operand,
        block: TileRun,
    ) -> Result<W::Share, Fault> {
        let all = self.selected_of_all(operand, Some(table), block)?;
        let share = all.gathered();
        let inner = all.inner.count();
        let (rows, planes) = (share.elements(), share.planes());
        let part = |offset: usize, count: usize| {
            let view = View::new(offset, vec![(count, 1)]);
            share.gather(&view, &View::whole(1))
        };
        let moved = match how {
            Rearrangement::Roll(by) => {
                let first = (-by).rem_euclid(rows as i64) as usize;
                W::Share::concat(&[&part(first, rows - first), &part(0, first)])
            }
            Rearrangement::Head(len) => {
                let there = rows.min(len as usize);
                let zeros = W::Share::zeros(planes, len as usize - there);
                W::Share::concat(&[&part(0, there), &zeros])
            }
        };
        Ok(in_elements(moved, inner))
    }

    /// The bits of the keys of a sort in rows that consist of these columns, lowest first.
    fn key_bits(&self, keys: &[SortKey], over: &[Operand], columns: &[&W::Share]) -> Vec<KeyBit> {
        let key = |key: &SortKey| {
            let (at, descending) = (key.operand as usize, key.descending);
            let first = columns[..at].iter().map(|column| column.planes());
            let first = first.sum::<usize>();
            let value = &self.plan.values[over[at].value.0 as usize];
            let (bits, signed) = (usize::from(value.bits), value.signed);
            (0..bits).map(move |bit| KeyBit {
                plane: first + bit,
                // Two's complement has the ones of its highest bit first.
                inverted: descending != (signed && bit + 1 == bits),
            })
        };
        keys.iter().rev().flat_map(key).collect()
    }
}

/// Planes of `inner` elements a lane as neighbouring elements.
fn in_elements<S: Shares>(share: S, inner: usize) -> S {
    match inner {
        1 => share,
        _ => share.spread(inner),
    }
}

impl<W: Steps> Fold<W> {
    /// Consumes the result of a level; an odd element is passed on unchanged.
    fn level(&mut self, pairs: W::Share, bits: &[u8], signed: bool) {
        let wide = usize::from(bits[self.level + 1]);
        let half = self.length / 2;
        self.current = Arc::new(match self.length % 2 {
            0 => pairs,
            _ => {
                let odd = self.part(2 * half, 1).resize(0, wide, signed);
                W::Share::concat(&[&pairs, &odd])
            }
        });
        self.length -= half;
        self.level += 1;
    }

    /// Returns the elements `first..first + count` along the dimension.
    fn part(&self, first: usize, count: usize) -> W::Share {
        let view = View::new(first * self.lanes, vec![(count * self.lanes, 1)]);
        self.current.gather(&view, &View::whole(1))
    }
}

/// Reshapes all elements into the planes of one lane.
fn one_lane<W: Steps>(share: &W::Share) -> ShareRef<W> {
    Arc::new(share.gather(&View::whole(1), &View::whole(share.elements())))
}
